#include "app/cache_measure.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/analysis_model.h"
#include "app/question_set.h"
#include "widgets/numbers.h"
#include "widgets/token_layout.h"

namespace app {

namespace {

using engine::Estimate;
using widgets::Role;
using widgets::Series;

constexpr double kNearFloor = 4;  // times the floor

QString tr(const char* text) { return QCoreApplication::translate("CachePage", text); }

struct Prompts {
  std::vector<std::vector<std::int32_t>> tokens;
  std::string source;
};

Prompts prompts_of(const AnalysisModel& model, const CacheRequest& request) {
  if (!request.given.generated.empty()) return {{request.given.prompt}, request.given.name.toStdString()};
  const QuestionSet set = find_questions(recipe_of(model).data, {}, request.seed, request.rows);
  return {prompt_tokens(set, model.model.tokenizer(), request.prompt_tokens), set.name};
}

engine::RecordSettings record_settings(const AnalysisModel& model, const CacheRequest& request) {
  engine::RecordSettings settings;
  settings.max_tokens = request.max_tokens;
  settings.sampler.temperature = request.temperature;
  settings.sampler.seed = request.seed;
  settings.end_of_text = model.model.tokenizer().end_of_text();
  settings.generated = request.given.generated;
  return settings;
}

std::vector<PositionText> positions_of(AnalysisModel& model, const std::vector<std::int32_t>& prompt,
                                       const engine::RecordSettings& settings) {
  engine::BatchDecoder decoder(model.model.backend(), model.model.parameters());
  std::vector<PositionText> texts;
  for (const engine::PositionRow& row :
       engine::position_table(engine::record_soft_rollout(decoder, model.model.backend(), prompt, settings))) {
    texts.push_back({row, model.model.tokenizer().label(row.token)});
  }
  return texts;
}

Series make_series(const QString& label, Role role, const std::vector<int>& passes, const std::vector<Estimate>& values,
                   double unit = 1) {
  Series series;
  series.label = label.toStdString();
  series.style.role = role;
  series.style.markers = true;
  series.style.smooth = false;
  series.spread = widgets::Spread::bars;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!std::isfinite(values[i].value)) continue;  // what was not measured is not drawn
    const double error = std::isfinite(values[i].error) ? values[i].error : 0;
    series.x.push_back(passes[i]);
    series.y.push_back(unit * values[i].value);
    series.low.push_back(unit * (values[i].value - error));
    series.high.push_back(unit * (values[i].value + error));
  }
  return series;
}

/// A log axis has no place for a floor of exactly 0.
std::vector<widgets::ReferenceLine> line_above_zero(double y, const QString& label) {
  if (!(y > 0)) return {};
  return {{y, label}};
}

/// First number of passes whose error lies within a few times what rounding leaves; 0 when none does.
int passes_to_floor(const CacheResult& result) {
  for (std::size_t i = 0; i < result.rebuild.passes.size(); ++i) {
    if (result.rebuild.key_error[i].value <= kNearFloor * result.rebuild.key_floor.value &&
        result.rebuild.value_error[i].value <= kNearFloor * result.rebuild.value_floor.value)
      return result.rebuild.passes[i];
  }
  return 0;
}

QString with_error(const Estimate& estimate) {
  QString text = widgets::short_number(estimate.value);
  if (std::isfinite(estimate.error)) text += QStringLiteral(" ± ") + widgets::short_number(estimate.error, 2);
  return text;
}

}  // namespace

CacheResult measure_cache(AnalysisModel& model, const CacheRequest& request, const AnalysisControl& control) {
  const Prompts prompts = prompts_of(model, request);
  const engine::RecordSettings settings = record_settings(model, request);
  const auto rollouts = static_cast<std::int64_t>(prompts.tokens.size());
  const auto tell = [&](std::int64_t done) {
    if (control.progress) control.progress(done, 2 * rollouts);
  };
  CacheResult result;
  result.request = request;
  result.source = prompts.source;
  result.run = measured_on(model);
  result.step = model.step;
  kernels::Backend& backend = model.model.backend();
  const engine::Parameters& parameters = model.model.parameters();
  result.rebuild =
      engine::measure_rebuild(backend, parameters, prompts.tokens, settings, request.passes, tell, control.stop);
  result.likelihood = engine::measure_likelihood(
      backend, parameters, prompts.tokens, settings, request.passes, [&](std::int64_t done) { tell(rollouts + done); },
      control.stop);
  if (!prompts.tokens.empty()) result.positions = positions_of(model, prompts.tokens.front(), settings);
  return result;
}

std::vector<Series> rebuild_series(const CacheResult& result) {
  const auto& report = result.rebuild;
  if (report.rollouts == 0) return {};
  return {make_series(tr("keys"), Role::soft, report.passes, report.key_error),
          make_series(tr("values"), Role::fused, report.passes, report.value_error)};
}

std::vector<widgets::ReferenceLine> rebuild_floor(const CacheResult& result) {
  return line_above_zero(std::max(result.rebuild.key_floor.value, result.rebuild.value_floor.value),
                         tr("recorded states"));
}

std::vector<Series> agreement_series(const CacheResult& result) {
  if (result.rebuild.rollouts == 0) return {};
  return {make_series(tr("same token"), Role::accent, result.rebuild.passes, result.rebuild.argmax_agreement, 100)};
}

std::vector<Series> likelihood_series(const CacheResult& result) {
  return {make_series(tr("parallel passes"), Role::accent, result.likelihood.passes, result.likelihood.parallel)};
}

std::vector<widgets::ReferenceLine> sequential_line(const CacheResult& result) {
  if (!std::isfinite(result.likelihood.sequential.value)) return {};
  return {{result.likelihood.sequential.value, tr("decoding itself")}};
}

std::vector<Series> miss_series(const CacheResult& result) {
  return {make_series(tr("parallel passes"), Role::accent, result.likelihood.passes, result.likelihood.absolute_error)};
}

std::vector<widgets::ReferenceLine> miss_floor(const CacheResult& result) {
  return line_above_zero(result.likelihood.floor.value, tr("recorded states"));
}

std::vector<widgets::NumberColumn> position_columns() {
  return {{tr("token"), {}}, {tr("part"), {}}, {tr("in the cache"), {}}, {tr("reads state of"), {}}};
}

std::vector<widgets::NumberRow> position_rows(const CacheResult& result) {
  std::vector<widgets::NumberRow> rows;
  for (const PositionText& position : result.positions) {
    const engine::PositionRow& row = position.row;
    const QString reads = row.reads_state < 0 ? QStringLiteral("–") : QString::number(row.reads_state);
    rows.push_back({QString::number(row.position),
                    {{widgets::visible_text(QString::fromStdString(position.text)), {}},
                     {row.generated ? tr("generated") : tr("prompt"), {}},
                     {row.cached ? tr("yes") : tr("no"), {}},
                     {reads, {}}},
                    {}});
  }
  return rows;
}

widgets::FigureMetadata cache_metadata(const CacheResult& result) {
  const CacheRequest& request = result.request;
  widgets::FigureMetadata metadata = {{"step", QString::number(result.step)},
                                      {"prompts of", QString::fromStdString(result.source)},
                                      {"rollouts", QString::number(result.likelihood.rollouts)}};
  if (!request.given.generated.empty()) return metadata;
  metadata.push_back({"prompt tokens", QString::number(request.prompt_tokens)});
  metadata.push_back({"max tokens", QString::number(request.max_tokens)});
  metadata.push_back({"temperature", widgets::exact_number(request.temperature)});
  metadata.push_back({"measuring seed", QString::number(request.seed)});
  return metadata;
}

std::vector<widgets::Stat> cache_stats(const CacheResult& result) {
  const CacheRequest& request = result.request;
  QString sampler =
      request.temperature > 0 ? tr("temperature %1").arg(widgets::short_number(request.temperature)) : tr("greedy");
  if (!request.given.generated.empty()) sampler = tr("given tokens");
  std::vector<widgets::Stat> stats = {
      {tr("run"), QString::fromStdString(result.run), {}},
      {tr("rollouts"),
       tr("%1, %2").arg(QString::fromStdString(result.source), widgets::count_text(result.likelihood.rollouts)),
       tr("%1 with a response position").arg(widgets::count_text(result.rebuild.rollouts))},
      {tr("response positions"), widgets::count_text(result.rebuild.response_positions),
       tr("Generated tokens that entered the cache: all but each rollout's last one.")},
      {tr("ended at the cap"), widgets::count_text(result.likelihood.capped), {}},
      {tr("tokens, seed"), tr("%1, %2").arg(sampler).arg(request.seed), {}},
      {tr("log-likelihood"), tr("%1 nats").arg(with_error(result.likelihood.sequential)), tr("A token, of decoding.")}};
  return stats;
}

QString cache_reading(const CacheResult& result) {
  if (result.rebuild.rollouts == 0)
    return tr("No rollout went past its first token, so there is no cache to rebuild; cut the prompts shorter.");
  const int enough = passes_to_floor(result);
  QString text = enough > 0
                     ? tr("%1 parallel passes rebuild keys and values to within %2 times of what rounding leaves.")
                           .arg(enough)
                           .arg(kNearFloor)
                     : tr("None of these numbers of passes comes near what rounding leaves.");
  const auto& likelihood = result.likelihood;
  if (!likelihood.passes.empty())
    text += tr(" With %1 the likelihood misses decoding's own by %2 nats a token, with %3 by %4.")
                .arg(likelihood.passes.front())
                .arg(widgets::short_number(likelihood.absolute_error.front().value, 2))
                .arg(likelihood.passes.back())
                .arg(widgets::short_number(likelihood.absolute_error.back().value, 2));
  return text;
}

}  // namespace app
