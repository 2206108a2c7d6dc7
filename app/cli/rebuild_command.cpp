// fullband-cli rebuild: how well a few parallel passes over a Soft rollout's tokens rebuild the cache that decoding
// left (the paper's Fig. 8).
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/progress_line.h"
#include "app/cli/rollout_measure_options.h"
#include "engine/cache_rebuild.h"

namespace app::cli {
namespace {

nlohmann::json position_rows(const engine::RecordedRollout& rollout, const engine::data::Tokenizer& tokenizer) {
  nlohmann::json rows = nlohmann::json::array();
  for (const engine::PositionRow& row : engine::position_table(rollout)) {
    rows.push_back({{"position", row.position},
                    {"token", row.token},
                    {"text", tokenizer.label(row.token)},
                    {"part", row.generated ? "generated" : "prompt"},
                    {"cached", row.cached},
                    {"reads_state", row.reads_state}});
  }
  return rows;
}

nlohmann::json report_json(const engine::RebuildReport& report) {
  return {{"passes", report.passes},
          {"key_error", values_of(report.key_error)},
          {"key_error_standard_error", errors_of(report.key_error)},
          {"value_error", values_of(report.value_error)},
          {"value_error_standard_error", errors_of(report.value_error)},
          {"argmax_agreement", values_of(report.argmax_agreement)},
          {"argmax_agreement_standard_error", errors_of(report.argmax_agreement)},
          {"floor",
           {{"key_error", finite_or_null(report.key_floor.value)},
            {"value_error", finite_or_null(report.value_floor.value)},
            {"argmax_agreement", finite_or_null(report.argmax_floor.value)}}},
          {"rollouts", report.rollouts},
          {"without_response", report.without_response},
          {"response_positions", report.response_positions},
          {"capped", report.capped}};
}

std::string scientific(const engine::Estimate& estimate) {
  std::ostringstream text;
  text << std::scientific << std::setprecision(2) << estimate.value;
  if (estimate.rows > 1) text << " ± " << estimate.error;
  return text.str();
}

void print_line(const std::string& name, const engine::Estimate& key, const engine::Estimate& value,
                const engine::Estimate& agreement, std::ostream& out) {
  out << std::left << std::setw(16) << name << std::setw(23) << scientific(key) << std::setw(23) << scientific(value)
      << std::fixed << std::setprecision(2) << 100 * agreement.value << " %\n";
}

void print(const engine::RebuildReport& report, std::ostream& out) {
  out << report.rollouts << " rollouts, " << report.response_positions << " response positions, " << report.capped
      << " ended at the cap, " << report.without_response << " without a response position\n"
      << "passes          key error             value error           same most likely token\n";
  for (std::size_t k = 0; k < report.passes.size(); ++k) {
    print_line(std::to_string(report.passes[k]), report.key_error[k], report.value_error[k], report.argmax_agreement[k],
               out);
  }
  print_line("recorded states", report.key_floor, report.value_floor, report.argmax_floor, out);
}

int rebuild(const RolloutMeasureOptions& options, const Streams& streams) {
  MeasuredRun run = open_run(options.measure, streams);
  const MeasuredPrompts prompts = find_prompts(options, run);
  const engine::RecordSettings settings = record_settings(options, run);
  const std::vector<int> passes = ascending(options.passes);
  ProgressLine progress(streams, "rebuild", static_cast<std::int64_t>(prompts.tokens.size()));
  const engine::RebuildReport report =
      engine::measure_rebuild(run.model.backend(), run.model.parameters(), prompts.tokens, settings, passes,
                              [&](std::int64_t done) { progress.update(done); });
  if (!options.measure.json) {
    streams.out << prompts.source << ", " << measured_on_text(options.measure, run.loaded) << "\n";
    print(report, streams.out);
    return 0;
  }
  nlohmann::json result = rollouts_measured_on(options, run, prompts);
  result.update(report_json(report));
  if (!options.prompt.empty()) {
    engine::BatchDecoder decoder(run.model.backend(), run.model.parameters());
    result["positions"] = position_rows(
        engine::record_soft_rollout(decoder, run.model.backend(), prompts.tokens[0], settings), run.model.tokenizer());
  }
  streams.out << json_line(result);
  return 0;
}

}  // namespace

void add_rebuild_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RolloutMeasureOptions>();
  options->record.max_tokens = 64;
  CLI::App* command = app.add_subcommand("rebuild", "Rebuild Soft caches from their tokens with parallel passes");
  add_rollout_measure_options(*command, *options);
  command->callback([options, &action] { action = [options](const Streams& s) { return rebuild(*options, s); }; });
}

}  // namespace app::cli
