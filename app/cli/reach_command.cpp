// fullband-cli reach: how much every state of a prompt moves a chosen one in a loaded model, beside what theory says.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/influence.h"
#include "engine/recipe.h"

namespace app::cli {
namespace {

struct ReachOptions {
  MeasureOptions measure;
  std::string prompt;
  std::string mode = "soft";
  std::int64_t position = 0;  ///< from 1, as t on the page; 0: the last
  std::int64_t layer = -1;    ///< -1: the top
  std::int64_t plain = 1;
  std::int64_t directions = 0;
};

/// The given prompt, or a held-out one: a prompt of the run's first task, or a row of its text.
std::vector<std::int32_t> prompt_tokens(const ReachOptions& options, const MeasuredRun& run) {
  if (!options.prompt.empty()) {
    return named_by_option("--prompt", [&] { return run.model.tokenizer().encode(options.prompt); });
  }
  const engine::Recipe recipe = engine::recipe_from_json(run.loaded.description.at("recipe"));
  if (!recipe.data.tasks.empty()) {
    const QuestionSet set = find_questions(run.loaded, "", options.measure.seed, 1);
    return run.model.tokenizer().encode(set.questions.front().example.prompt);
  }
  const auto row = static_cast<std::int64_t>((options.measure.seed - 1) % 1000);
  engine::data::Batch batch = validation_source(run.loaded)->validation(row, 1);
  batch.tokens.resize(static_cast<std::size_t>(batch.row_length.front()));
  return batch.tokens;
}

engine::InfluenceRequest request_of(const ReachOptions& options, const MeasuredRun& run) {
  engine::InfluenceRequest request;
  request.tokens = prompt_tokens(options, run);
  for (const auto mode : {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
    if (options.mode == engine::to_string(mode)) request.mode = mode;
  }
  const auto last = static_cast<std::int64_t>(request.tokens.size()) - 1;
  request.cell = {options.position == 0 ? last : options.position - 1,
                  options.layer < 0 ? run.model.config().layers : options.layer};
  request.plain = options.plain;
  request.directions = options.directions;
  request.seed = options.measure.seed;
  return request;
}

nlohmann::json grid_json(const std::vector<double>& values, std::int64_t positions) {
  const auto width = values.size() / static_cast<std::size_t>(positions);
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    nlohmann::json row = nlohmann::json::array();
    for (std::size_t i = begin; i < begin + width; ++i) row.push_back(finite_or_null(values[i]));
    rows.push_back(row);
  }
  return rows;
}

std::int64_t moving_cells(const engine::InfluenceMap& map) {
  return std::count_if(map.influence.begin(), map.influence.end(), [](double value) { return value != 0; });
}

/// Sizes of the theory's sets, with the own position and without it.
nlohmann::json theory_json(const engine::InfluenceMap& map, engine::Cell cell) {
  using engine::Convention;
  const engine::ReachGrid grid{map.positions, map.layers};
  return {{"standard", engine::standard_reach(cell, Convention::own_position)},
          {"standard_earlier", engine::standard_reach(cell, Convention::earlier_positions)},
          {"latent_feedback", engine::latent_reach(grid, cell, Convention::own_position)},
          {"latent_feedback_earlier", engine::latent_reach(grid, cell, Convention::earlier_positions)},
          {"blocked_in_inference", engine::blocked_cells(grid, cell)}};
}

nlohmann::json to_json(const engine::InfluenceRequest& request, const engine::InfluenceMap& map,
                       const engine::data::Tokenizer& tokenizer) {
  nlohmann::json labels = nlohmann::json::array();
  for (const std::int32_t token : request.tokens) labels.push_back(tokenizer.label(token));
  return {{"mode", engine::to_string(request.mode)},
          {"t", request.cell.position + 1},
          {"layer", request.cell.depth},
          {"plain", request.plain},
          {"tokens", labels},
          {"directions", map.directions},
          {"exact", map.exact},
          {"influence", grid_json(map.influence, map.positions)},
          {"influence_error", grid_json(map.error, map.positions)},
          {"moving_cells", moving_cells(map)},
          {"theory", theory_json(map, request.cell)}};
}

void print_cell(double value, bool chosen, std::ostream& out) {
  std::ostringstream text;
  if (chosen) {
    text << "here";
  } else if (value == 0) {
    text << "0";
  } else {
    text << std::scientific << std::setprecision(1) << value;
  }
  out << std::setw(9) << text.str();
}

void print(const engine::InfluenceRequest& request, const engine::InfluenceMap& map,
           const engine::data::Tokenizer& tokenizer, std::ostream& out) {
  out << "influence on position " << request.cell.position + 1 << ", depth " << request.cell.depth << " in "
      << engine::to_string(request.mode) << ", prompt of " << request.plain << " of " << map.positions
      << " tokens: Frobenius norm of the derivative, "
      << (map.exact ? "all " + std::to_string(map.directions) + " directions"
                    : "estimated from " + std::to_string(map.directions) + " random directions")
      << "\n   t  depth:";
  for (std::int64_t depth = 0; depth <= map.layers; ++depth) out << std::setw(depth == 0 ? 7 : 9) << depth;
  out << "  token\n";
  for (std::int64_t position = 0; position < map.positions; ++position) {
    out << std::setw(4) << position + 1 << "     ";
    for (std::int64_t depth = 0; depth <= map.layers; ++depth) {
      const engine::Cell cell{position, depth};
      print_cell(map.at(cell), cell == request.cell, out);
    }
    const std::string label = tokenizer.label(request.tokens[static_cast<std::size_t>(position)]);
    out << "  " << (label == "\n" ? "\\n" : label) << "\n";
  }
  const engine::ReachGrid grid{map.positions, map.layers};
  out << moving_cells(map) << " of " << grid.cells()
      << " cells move it; theory: " << engine::standard_reach(request.cell, engine::Convention::own_position)
      << " in Standard, " << engine::latent_reach(grid, request.cell, engine::Convention::own_position)
      << " with latent feedback, lower depths of its own position included\n";
}

int reach(const ReachOptions& options, const Streams& streams) {
  const MeasuredRun run = open_run(options.measure, streams);
  const engine::InfluenceRequest request = request_of(options, run);
  std::unique_ptr<ProgressLine> progress;
  const engine::InfluenceMap map = engine::measure_influence(
      run.model.backend(), run.model.parameters(), request, [&](std::int64_t done, std::int64_t total) {
        if (!progress) progress = std::make_unique<ProgressLine>(streams, "backward passes", total);
        progress->update(done);
      });
  progress.reset();
  if (!options.measure.json) {
    streams.out << measured_on_text(options.measure, run.loaded) << "\n";
    print(request, map, run.model.tokenizer(), streams.out);
    return 0;
  }
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result.update(to_json(request, map, run.model.tokenizer()));
  streams.out << json_line(result);
  return 0;
}

}  // namespace

void add_reach_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReachOptions>();
  CLI::App* command = app.add_subcommand("reach", "How much every state of a prompt moves a chosen one");
  add_measure_options(*command, options->measure);
  command->add_option("--t", options->position, "Position of the chosen state, counted from 1 (default: the last)")
      ->check(whole_number(1, kMostCount));
  command->add_option("--layer", options->layer, "Its depth: 0 is the layer-0 input (default: the top)")
      ->check(whole_number(0, kMostCount));
  command->add_option("--mode", options->mode, "standard, soft or fused")
      ->check(one_of({"standard", "soft", "fused"}))
      ->capture_default_str();
  command->add_option("--plain", options->plain, "Prompt positions: plain, or in Fused prefilled with feedback")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command->add_option("--prompt", options->prompt, "Text to measure on (default: a held-out prompt of the run)");
  command->add_option("--directions", options->directions, "Random directions; 0 = all, at most 64")
      ->check(whole_number(0, kMostCount))
      ->capture_default_str();
  command->callback([options, &action] { action = [options](const Streams& s) { return reach(*options, s); }; });
}

}  // namespace app::cli
