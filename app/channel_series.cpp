#include "app/channel_series.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/analysis_model.h"
#include "app/ladder_history.h"
#include "engine/data/tokenizer.h"
#include "engine/multipass.h"
#include "widgets/numbers.h"

namespace app {

namespace {

using engine::Estimate;
using engine::Intervention;

QString tr(const char* text) { return QCoreApplication::translate("ChannelPage", text); }

widgets::Series series_of(const QString& label, widgets::Role role) {
  widgets::Series series;
  series.label = label.toStdString();
  series.style.role = role;
  series.style.smooth = false;
  return series;
}

void add_estimate(widgets::Series& series, double x, const Estimate& estimate, double unit = 1) {
  series.spread = widgets::Spread::bars;
  series.style.markers = true;
  series.x.push_back(x);
  series.y.push_back(unit * estimate.value);
  series.low.push_back(unit * (estimate.value - estimate.error));
  series.high.push_back(unit * (estimate.value + estimate.error));
}

// Two points a bin, so that the curve has the bin's width.
void add_steps(widgets::Series& series, const std::vector<std::int64_t>& histogram) {
  std::int64_t total = 0;
  for (const std::int64_t count : histogram) total += count;
  const auto bins = static_cast<double>(histogram.size());
  for (std::size_t bin = 0; bin < histogram.size() && total > 0; ++bin) {
    for (const std::size_t edge : {bin, bin + 1}) {
      series.x.push_back(static_cast<double>(edge) / bins);
      series.y.push_back(100.0 * static_cast<double>(histogram[bin]) / static_cast<double>(total));
    }
  }
}

engine::InterventionSettings intervention_settings(const ChannelRequest& request) {
  engine::InterventionSettings settings;
  settings.seed = request.seed;
  settings.choices = request.choices;
  return settings;
}

std::vector<widgets::Series> ladder_series(const ChannelMeasurement& measurement, Estimate engine::LadderRung::*plain,
                                           Estimate engine::LadderRung::*fused, std::int64_t first) {
  std::vector<widgets::Series> all = {series_of(tr("plain"), widgets::Role::standard),
                                      series_of(tr("fused"), widgets::Role::fused)};
  for (const engine::LadderRung& rung : measurement.report.ladder) {
    if (rung.depth < first) continue;
    add_estimate(all[0], static_cast<double>(rung.depth), rung.*plain);
    add_estimate(all[1], static_cast<double>(rung.depth), rung.*fused);
  }
  return all;
}

QString with_error(const Estimate& estimate) {
  QString text = widgets::short_number(estimate.value);
  if (std::isfinite(estimate.error)) text += QStringLiteral(" ± ") + widgets::short_number(estimate.error, 2);
  return text;
}

QString name_of(const engine::InterventionResult& result) {
  switch (result.kind) {
    case Intervention::shuffled_state:
      return tr("shuffled state");
    case Intervention::constant_gate:
      return tr("constant gate");
    case Intervention::gate_temperature:
      return tr("gate temp. %1").arg(widgets::short_number(result.amount));
    case Intervention::zero_state:
      return tr("zero state *");
    case Intervention::seed_scale:
      return tr("input × %1").arg(widgets::short_number(result.amount));
  }
  return {};
}

const engine::InterventionResult* result_of(const ChannelMeasurement& measurement, Intervention kind) {
  for (const engine::InterventionResult& result : measurement.report.interventions.results) {
    if (result.kind == kind) return &result;
  }
  return nullptr;
}

std::vector<widgets::Stat> stats_of_several(const ChannelMeasurements& measurements) {
  std::vector<widgets::Stat> stats;
  for (const ChannelMeasurement& one : measurements) {
    const auto& results = one.report.interventions.results;
    if (results.empty()) continue;
    stats.push_back({QString::fromStdString(one.run), tr("%1 nats").arg(with_error(results.front().cost)),
                     tr("%1, all tokens").arg(name_of(results.front()))});
  }
  const engine::GateReport& first = measurements.front().report;
  stats.push_back({tr("held-out rows"), tr("%1 × %2 tokens").arg(first.rows).arg(first.seq), {}});
  stats.push_back(
      {tr("feedback pass, seed"), tr("%1, %2").arg(first.feedback_passes).arg(measurements.front().request.seed), {}});
  return stats;
}

QString one_reading(const ChannelMeasurement& measurement) {
  QStringList sentences;
  if (const engine::InterventionResult* shuffled = result_of(measurement, Intervention::shuffled_state)) {
    const bool used = shuffled->cost.value > 2 * shuffled->cost.error;
    sentences << (used ? tr("Another row's states cost %1 nats a token: the model uses what its states carry.")
                       : tr("Another row's states cost %1 nats a token: no use of what states carry is to be seen."))
                     .arg(with_error(shuffled->cost));
  }
  if (const engine::InterventionResult* constant = result_of(measurement, Intervention::constant_gate)) {
    const bool matters = constant->cost.value > 2 * constant->cost.error;
    sentences << (matters ? tr("Gates held at their means cost %1, so they do more than scale channels.")
                          : tr("Gates held at their means cost %1, so they do little but scale channels."))
                     .arg(with_error(constant->cost));
  }
  return sentences.join(QLatin1Char(' '));
}

}  // namespace

ChannelMeasurement measure_channel(AnalysisModel& model, const ChannelRequest& request,
                                   const AnalysisControl& control) {
  const engine::Recipe& recipe = recipe_of(model);
  engine::GateReportSettings settings;
  settings.feedback_passes = request.feedback_passes;
  settings.interventions = intervention_settings(request);
  settings.exposure.seed = request.seed;
  settings.exposure.prefix_mixin = recipe.train.prefix_mixin;
  settings.exposure.fully_fused_share = recipe.train.fully_fused_share;
  const engine::data::Batch batch = validation_source(model)->validation(0, request.rows);
  const auto progress = [&](const std::string&, std::int64_t done, std::int64_t parts) {
    if (control.progress) control.progress(done, parts);
  };
  ChannelMeasurement measurement;
  measurement.request = request;
  measurement.report = engine::measure_gate_report(model.model.backend(), model.model.parameters(), batch, settings,
                                                   progress, control.stop);
  measurement.earlier = measure_ladder_history(model, batch, request.feedback_passes, control);
  measurement.run = measured_on(model);
  measurement.key = model.key;
  measurement.name = model.name;
  measurement.step = model.step;
  if (!measurement.report.gates) return measurement;
  for (const engine::TokenGates& token : measurement.report.gates->tokens) {
    measurement.labels[token.token] = model.model.tokenizer().label(token.token);
  }
  return measurement;
}

engine::InterventionReport measure_changes(AnalysisModel& model, const ChannelRequest& request) {
  const engine::data::Batch batch = validation_source(model)->validation(0, request.rows);
  engine::ChannelProbe probe(model.model.backend(), model.model.parameters(), batch);
  const std::vector<std::int64_t> plain(static_cast<std::size_t>(batch.rows), 1);
  probe.prepare(engine::fused_flags(batch, plain), request.feedback_passes);
  return engine::measure_interventions(probe, model.model.config().fusion, intervention_settings(request));
}

std::vector<widgets::Series> gate_series(const ChannelMeasurement& measurement, std::optional<std::int32_t> token) {
  if (!measurement.report.gates) return {};
  const engine::GateValues& gates = *measurement.report.gates;
  std::vector<widgets::Series> all = {series_of(tr("all tokens"), widgets::Role::standard)};
  add_steps(all[0], gates.histogram);
  for (const engine::TokenGates& one : gates.tokens) {
    if (!token || one.token != *token) continue;
    all.push_back(series_of(QString::fromStdString(measurement.labels.at(one.token)), widgets::Role::accent));
    add_steps(all.back(), one.histogram);
  }
  return all;
}

std::vector<widgets::Series> spectrum_series(const std::vector<engine::Spectrum>& spectra, bool counted) {
  constexpr widgets::Role kRoles[] = {widgets::Role::soft, widgets::Role::fused};
  std::vector<widgets::Series> all;
  for (const engine::Spectrum& spectrum : spectra) {
    const QString name = QString::fromStdString(spectrum.name);
    const QString label = tr("%1 (≈ %2)").arg(name).arg(QString::number(spectrum.participation, 'f', 1));
    all.push_back(series_of(counted ? label : name, kRoles[all.size() % 2]));
    for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
      all.back().x.push_back(static_cast<double>(i + 1));
      all.back().y.push_back(spectrum.values[i]);
    }
  }
  return all;
}

std::vector<widgets::Series> rms_series(const ChannelMeasurement& measurement) {
  return ladder_series(measurement, &engine::LadderRung::plain_rms, &engine::LadderRung::fused_rms, 0);
}

// Nothing comes before depth 0, so there is no change to it.
std::vector<widgets::Series> change_series(const ChannelMeasurement& measurement) {
  return ladder_series(measurement, &engine::LadderRung::plain_change, &engine::LadderRung::fused_change, 1);
}

std::vector<widgets::Series> boundary_series(const ChannelMeasurement& measurement) {
  std::vector<widgets::Series> all = {series_of(tr("plain"), widgets::Role::standard),
                                      series_of(tr("fused"), widgets::Role::fused)};
  for (const engine::BoundaryPoint& point : measurement.report.boundary) {
    const double middle = 0.5 * static_cast<double>(point.first + point.last);
    add_estimate(all[0], middle, point.plain_loss);
    add_estimate(all[1], middle, point.fused_loss);
  }
  return all;
}

std::vector<widgets::Series> exposure_series(const ChannelMeasurement& measurement) {
  widgets::Series series = series_of(tr("fused"), widgets::Role::fused);
  for (const engine::ExposurePoint& point : measurement.report.exposure) {
    add_estimate(series, static_cast<double>(point.position), point.fused_share, 100);
  }
  return {series};
}

std::vector<QString> cost_measurements(const ChannelMeasurements& measurements) {
  if (measurements.size() == 1) return {tr("all tokens"), tr("answer tokens")};
  std::vector<QString> names;
  for (const ChannelMeasurement& one : measurements) names.push_back(QString::fromStdString(one.name));
  return names;
}

std::vector<widgets::SeriesStyle> cost_styles(const ChannelMeasurements& measurements) {
  std::vector<widgets::SeriesStyle> styles;
  if (measurements.size() == 1) return styles;
  for (const ChannelMeasurement& one : measurements) {
    styles.emplace_back().role = widgets::Role::run;
    styles.back().run = one.color;
  }
  return styles;
}

// A change that a run's fusion does not have leaves its dot out.
std::vector<widgets::DotRow> cost_rows(const ChannelMeasurements& measurements) {
  std::vector<widgets::DotRow> rows;
  if (measurements.empty()) return rows;
  const bool several = measurements.size() > 1;
  for (const engine::InterventionResult& result : measurements.front().report.interventions.results) {
    widgets::DotRow row{name_of(result), {}};
    if (!several) {
      row.values = {{result.cost.value, result.cost.error}, {result.answer_cost.value, result.answer_cost.error}};
    }
    for (std::size_t i = 0; several && i < measurements.size(); ++i) {
      const auto& results = measurements[i].report.interventions.results;
      const auto same = std::find_if(results.begin(), results.end(), [&](const engine::InterventionResult& other) {
        return other.kind == result.kind && other.amount == result.amount;
      });
      row.values.push_back(same == results.end() ? widgets::DotValue{std::nan(""), std::nan("")}
                                                 : widgets::DotValue{same->cost.value, same->cost.error});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<widgets::Stat> channel_stats(const ChannelMeasurements& measurements) {
  if (measurements.size() > 1) return stats_of_several(measurements);
  const ChannelMeasurement& measurement = measurements.front();
  const engine::GateReport& report = measurement.report;
  std::vector<widgets::Stat> stats = {
      {tr("run"), QString::fromStdString(measurement.run), {}},
      {tr("held-out rows"), tr("%1 × %2 tokens").arg(report.rows).arg(report.seq),
       tr("%1 positions are fused").arg(widgets::count_text(report.fused_positions))},
      {tr("feedback pass, seed"), tr("%1, %2").arg(report.feedback_passes).arg(measurement.request.seed), {}},
      {tr("loss there"), tr("%1 nats").arg(with_error(report.interventions.loss)), {}}};
  if (report.gates) {
    const QString gate =
        tr("%1 (%2)").arg(widgets::short_number(report.gates->mean), widgets::short_number(report.gates->deviation));
    stats.push_back({tr("gate, mean (deviation)"), gate, tr("Over channels and occurrences of tokens")});
  }
  return stats;
}

QString channel_reading(const ChannelMeasurements& measurements) {
  if (measurements.size() == 1) return one_reading(measurements.front());
  return tr(
      "Below stands what the first change costs in each run, each on its own held-out rows. A cost within two "
      "standard errors says that no use is to be seen.");
}

widgets::FigureMetadata channel_metadata(const ChannelMeasurements& measurements) {
  const ChannelMeasurement& first = measurements.front();
  widgets::FigureMetadata metadata = {{"step", QString::number(first.step)},
                                      {"rows", QString::number(first.report.rows)},
                                      {"feedback passes", QString::number(first.report.feedback_passes)},
                                      {"measuring seed", QString::number(first.request.seed)}};
  for (std::size_t i = 1; i < measurements.size(); ++i) {
    metadata.push_back({QStringLiteral("run %1").arg(i + 1), QString::fromStdString(measurements[i].run)});
  }
  return metadata;
}

}  // namespace app
