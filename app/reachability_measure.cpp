#include "app/reachability_measure.h"

#include <algorithm>
#include <cmath>

#include "app/analysis_model.h"
#include "engine/data/task.h"
#include "engine/recipe.h"

namespace app {

namespace {

constexpr std::size_t kLongestPrompt = 40;  // cells that can still be told apart

std::vector<std::int32_t> prompt_tokens(const AnalysisModel& model) {
  const engine::Recipe& recipe = recipe_of(model);
  std::vector<std::int32_t> tokens;
  if (!recipe.data.tasks.empty()) {
    const auto task = engine::data::make_task(recipe.data.tasks.front(), recipe.data.validation_share);
    const auto example = task->example(1, engine::data::Split::validation, 0);
    tokens = model.model.tokenizer().encode(example.prompt);
  } else {
    const engine::data::Batch batch = validation_source(model)->validation(0, 1);
    tokens.assign(batch.tokens.begin(), batch.tokens.begin() + batch.row_length.front());
  }
  if (tokens.size() > kLongestPrompt) tokens.resize(kLongestPrompt);
  return tokens;
}

engine::Cell cell_for(const ReachRequest& request, std::int64_t positions, std::int64_t layers) {
  const engine::Cell cell = request.cell.value_or(engine::Cell{positions - 2, (layers + 1) / 2});
  return {std::clamp<std::int64_t>(cell.position, 0, positions - 1), std::clamp<std::int64_t>(cell.depth, 0, layers)};
}

bool is_computed(const ReachResult& result, engine::Cell cell) {
  if (cell.position != result.cell.position) return cell.position < result.cell.position;
  return cell.depth < result.cell.depth;
}

}  // namespace

ReachResult measure_reach(AnalysisModel& model, const ReachRequest& request, const AnalysisControl& control) {
  engine::InfluenceRequest wanted;
  wanted.tokens = prompt_tokens(model);
  wanted.mode = request.mode;
  const auto positions = static_cast<std::int64_t>(wanted.tokens.size());
  wanted.cell = cell_for(request, positions, model.model.config().layers);
  // Fused reads the whole prompt with feedback; Soft starts after one token, so that its rectangle is whole.
  wanted.plain = request.mode == engine::DecodeMode::fused ? positions : 1;
  ReachResult result;
  result.name = model.name;
  result.step = model.step;
  result.mode = request.mode;
  result.cell = wanted.cell;
  result.late_start = model.model.config().norm_reading == engine::NormReading::listing3;
  for (const std::int32_t token : wanted.tokens) result.prompt += model.model.tokenizer().label(token);
  result.map = engine::measure_influence(model.model.backend(), model.model.parameters(), wanted, control.progress,
                                         control.stop);
  return result;
}

widgets::Matrix influence_matrix(const ReachResult& result) {
  widgets::Matrix matrix;
  matrix.rows = static_cast<std::size_t>(result.map.layers + 1);
  matrix.columns = static_cast<std::size_t>(result.map.positions);
  for (std::int64_t depth = 0; depth <= result.map.layers; ++depth) {
    for (std::int64_t position = 0; position < result.map.positions; ++position) {
      const engine::Cell cell{position, depth};
      const double value = result.map.at(cell);
      // An influence of what is not computed yet would be an error of the program: it is shown, too.
      matrix.values.push_back(is_computed(result, cell) || value != 0 ? value : std::nan(""));
    }
  }
  return matrix;
}

ReachTally tally(const ReachResult& result) {
  ReachTally tally;
  for (std::int64_t position = 0; position < result.map.positions; ++position) {
    for (std::int64_t depth = 0; depth <= result.map.layers; ++depth) {
      if (!is_computed(result, {position, depth})) continue;
      tally.computed += 1;
      tally.zeros += result.map.at({position, depth}) == 0 ? 1 : 0;
    }
  }
  return tally;
}

}  // namespace app
