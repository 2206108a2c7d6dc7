#include "app/probe_series.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/analysis_model.h"
#include "app/run_overlay.h"
#include "engine/data/tokenizer.h"
#include "widgets/numbers.h"

namespace app {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("ProbesPage", text); }

// A condition of k steps has the states of pass k+1, so it has that pass's form.
widgets::SeriesStyle style_of(const engine::PrefillCondition& condition) {
  widgets::SeriesStyle style;
  style.markers = true;
  style.smooth = false;
  style.role = widgets::Role::pass;
  style.pass = static_cast<int>(std::min<std::int64_t>(condition.recurrent, 8)) + 1;
  if (condition.recurrent == 0) style.role = widgets::Role::standard;
  if (condition.recurrent == engine::kAllPositions) style.role = widgets::Role::fused;
  return style;
}

void add_point(widgets::Series& series, double x, const engine::FoldScore& score) {
  series.x.push_back(x);
  series.y.push_back(100 * score.accuracy);
  series.low.push_back(100 * (score.accuracy - score.spread));
  series.high.push_back(100 * (score.accuracy + score.spread));
}

widgets::Series empty_series(const engine::PrefillCondition& condition) {
  widgets::Series series;
  series.label = condition_name(condition).toStdString();
  series.style = style_of(condition);
  series.spread = widgets::Spread::bars;
  return series;
}

QString percent(double share, double error) {
  QString text = QString::number(100 * share, 'f', 1);
  if (std::isfinite(error)) text += QStringLiteral(" ± ") + QString::number(100 * error, 'f', 1);
  return text + QStringLiteral(" %");
}

widgets::DotValue dot(const engine::Estimate& estimate) { return {100 * estimate.value, 100 * estimate.error}; }

const engine::ProbeCurve* curve_of(const ProbeMeasurement& measurement, std::int64_t recurrent) {
  for (const engine::ProbeCurve& curve : measurement.report.curves) {
    if (curve.condition.recurrent == recurrent) return &curve;
  }
  return nullptr;
}

widgets::DotRow answer_row(const QString& label, const engine::ProbeCurve& curve) {
  const widgets::DotValue none{std::nan(""), std::nan("")};
  return {label,
          {dot(curve.answers), curve.swap ? dot(curve.swap->same_label) : none,
           curve.swap ? dot(curve.swap->follows_other) : none}};
}

/// One condition's curve of each run.
template <typename CurvesOf>
std::vector<widgets::Series> one_condition(const ProbeMeasurements& measurements, std::size_t condition,
                                           const CurvesOf& curves_of) {
  if (measurements.size() == 1) return curves_of(measurements.front());
  std::vector<RunCurves> runs;
  for (const ProbeMeasurement& one : measurements) {
    const std::vector<widgets::Series> curves = curves_of(one);
    if (condition < curves.size()) runs.push_back({one.name, one.color, {curves[condition]}});
  }
  return overlay(runs);
}

QString one_reading(const ProbeMeasurement& measurement) {
  const engine::ProbeCurve* standard = curve_of(measurement, 0);
  const engine::ProbeCurve* one = curve_of(measurement, 1);
  if (standard == nullptr || one == nullptr || standard->by_depth.empty()) return {};
  const auto at_input = [](const engine::ProbeCurve& curve) {
    return percent(curve.by_depth.front().accuracy, curve.by_depth.front().spread);
  };
  QString text = tr("At depth 0 a probe reads %1 in Standard, where every prompt ends in the same token, and %2 after "
                    "one recurrent step; chance is %3.")
                     .arg(at_input(*standard), at_input(*one), percent(measurement.report.chance, std::nan("")));
  if (one->swap) {
    const double other = one->swap->follows_other.value;
    const QString verdict = other > 0.9   ? tr("so the state decides the answer")
                            : other > 0.5 ? tr("so most answers use the state")
                                          : tr("so what is decodable there is mostly not used");
    text += tr(" With the state of a prompt of the other label, %1 of the answers follow it, %2.")
                .arg(percent(other, one->swap->follows_other.error), verdict);
  }
  return text;
}

}  // namespace

ProbeMeasurement measure_probes(AnalysisModel& model, const engine::ProbeRequest& request,
                                const AnalysisControl& control) {
  const engine::ProbeTask task = make_probe_task(request, model.model.tokenizer(), recipe_of(model).data);
  engine::ProbeSettings settings;
  settings.seed = request.seed;
  ProbeMeasurement measurement;
  measurement.request = request;
  measurement.report = run_probe(model.model.backend(), model.model.parameters(), task.prompts, task.answers, settings,
                                 control.progress, control.stop);
  measurement.run = measured_on(model);
  measurement.name = model.name;
  measurement.step = model.step;
  measurement.slice_title = task.slice_title;
  measurement.answer_words = task.answer_words;
  measurement.longest_prompt = task.longest_prompt;
  measurement.trained = task.trained;
  measurement.fits_training = task.fits_training;
  return measurement;
}

QString condition_name(const engine::PrefillCondition& condition) {
  if (condition.recurrent == 0) return tr("Standard");
  if (condition.recurrent == engine::kAllPositions) return tr("full");
  return condition.recurrent == 1 ? tr("1 step") : tr("%1 steps").arg(condition.recurrent);
}

std::vector<widgets::Series> depth_series(const ProbeMeasurement& measurement) {
  std::vector<widgets::Series> all;
  for (const engine::ProbeCurve& curve : measurement.report.curves) {
    widgets::Series series = empty_series(curve.condition);
    for (std::size_t depth = 0; depth < curve.by_depth.size(); ++depth) {
      add_point(series, static_cast<double>(depth), curve.by_depth[depth]);
    }
    all.push_back(std::move(series));
  }
  return all;
}

std::vector<widgets::Series> slice_series(const ProbeMeasurement& measurement, std::size_t depth) {
  std::vector<widgets::Series> all;
  for (const engine::ProbeCurve& curve : measurement.report.curves) {
    widgets::Series series = empty_series(curve.condition);
    for (const engine::ProbeSlice& slice : curve.slices) {
      if (depth >= slice.by_depth.size()) continue;
      add_point(series, static_cast<double>(slice.value), slice.by_depth[depth]);
    }
    all.push_back(std::move(series));
  }
  return all;
}

QString slice_axis(const ProbeMeasurement& measurement) {
  if (measurement.slice_title == "registers") return tr("registers");
  if (measurement.slice_title == "writes") return tr("writes per register");
  return tr("distractors before the question");
}

std::vector<QString> answer_measurements() {
  return {tr("answer right"), tr("right with another's state, same label"), tr("follows the other label's state")};
}

std::vector<widgets::Series> depth_curves(const ProbeMeasurements& measurements, std::size_t condition) {
  return one_condition(measurements, condition, depth_series);
}

std::vector<widgets::Series> slice_curves(const ProbeMeasurements& measurements, std::size_t depth,
                                          std::size_t condition) {
  return one_condition(measurements, condition,
                       [depth](const ProbeMeasurement& one) { return slice_series(one, depth); });
}

std::vector<widgets::DotRow> answer_rows(const ProbeMeasurements& measurements, std::size_t condition) {
  std::vector<widgets::DotRow> rows;
  if (measurements.size() == 1) {
    for (const engine::ProbeCurve& curve : measurements.front().report.curves) {
      rows.push_back(answer_row(condition_name(curve.condition), curve));
    }
    return rows;
  }
  for (const ProbeMeasurement& one : measurements) {
    if (condition >= one.report.curves.size()) continue;
    rows.push_back(answer_row(QString::fromStdString(one.name), one.report.curves[condition]));
  }
  return rows;
}

std::vector<widgets::Stat> probe_stats(const ProbeMeasurements& measurements) {
  const ProbeMeasurement& measurement = measurements.front();
  const engine::ProbeReport& report = measurement.report;
  QString words;
  for (const std::string& word : measurement.answer_words) {
    words += (words.isEmpty() ? QString() : tr(" or ")) + QString::fromStdString(word).trimmed();
  }
  const QString trained = !measurement.trained        ? tr("no")
                          : measurement.fits_training ? tr("yes, at this length")
                                                      : tr("yes, but shorter ones");
  const QString run =
      measurements.size() > 1
          ? tr("%1, and %2 beside it").arg(QString::fromStdString(measurement.run)).arg(measurements.size() - 1)
          : QString::fromStdString(measurement.run);
  return {{tr("run"), run, {}},
          {tr("prompts"), tr("%1 in %2 groups").arg(widgets::count_text(report.examples)).arg(report.groups),
           tr("No group spans two folds")},
          {tr("folds, seed"), tr("%1, %2").arg(report.folds).arg(measurement.request.seed), {}},
          {tr("labels"), words, tr("What the model answers after the colon")},
          {tr("longest prompt"), tr("%1 tokens").arg(measurement.longest_prompt), {}},
          {tr("trained on this"), trained, {}}};
}

QString probe_reading(const ProbeMeasurements& measurements) {
  if (measurements.size() == 1) return one_reading(measurements.front());
  QStringList lines = {
      tr("Read at depth 0 after one recurrent step, and answers that follow the other label's state:")};
  for (const ProbeMeasurement& one : measurements) {
    const engine::ProbeCurve* curve = curve_of(one, 1);
    if (curve == nullptr || curve->by_depth.empty() || !curve->swap) continue;
    lines << tr("%1: %2, %3")
                 .arg(QString::fromStdString(one.name),
                      percent(curve->by_depth.front().accuracy, curve->by_depth.front().spread),
                      percent(curve->swap->follows_other.value, curve->swap->follows_other.error));
  }
  return lines.join(QLatin1Char('\n'));
}

widgets::FigureMetadata probe_metadata(const ProbeMeasurements& measurements) {
  const ProbeMeasurement& first = measurements.front();
  widgets::FigureMetadata metadata = {{"step", QString::number(first.step)},
                                      {"task", QString::fromStdString(first.request.task)},
                                      {"prompts", QString::number(first.report.examples)},
                                      {"groups", QString::number(first.report.groups)},
                                      {"folds", QString::number(first.report.folds)},
                                      {"measuring seed", QString::number(first.request.seed)}};
  for (std::size_t i = 1; i < measurements.size(); ++i) {
    metadata.push_back({QStringLiteral("run %1").arg(i + 1), QString::fromStdString(measurements[i].run)});
  }
  return metadata;
}

}  // namespace app
