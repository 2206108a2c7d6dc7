// fullband-cli likelihood: how likely Soft rollouts are under Soft, by a few parallel passes against the exact
// sequential value.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/progress_line.h"
#include "app/cli/rollout_measure_options.h"
#include "engine/rollout_likelihood.h"

namespace app::cli {
namespace {

struct LikelihoodOptions {
  RolloutMeasureOptions rollouts;
  std::string completion;
  bool unfinished = false;
};

nlohmann::json report_json(const engine::LikelihoodReport& report) {
  return {{"unit", "nats per token"},
          {"passes", report.passes},
          {"sequential", finite_or_null(report.sequential.value)},
          {"sequential_error", finite_or_null(report.sequential.error)},
          {"parallel", values_of(report.parallel)},
          {"parallel_error", errors_of(report.parallel)},
          {"difference", values_of(report.difference)},
          {"difference_error", errors_of(report.difference)},
          {"absolute_error", values_of(report.absolute_error)},
          {"absolute_error_standard_error", errors_of(report.absolute_error)},
          {"floor", finite_or_null(report.floor.value)},
          {"rollouts", report.rollouts},
          {"tokens", report.sequential.counts},
          {"capped", report.capped}};
}

void print(const engine::LikelihoodReport& report, std::ostream& out) {
  out << report.rollouts << " rollouts, " << report.sequential.counts << " tokens; log-likelihood in nats a token\n"
      << std::fixed << std::setprecision(6) << "sequential      " << report.sequential.value << " ± "
      << report.sequential.error << "\n"
      << "passes          value        parallel - sequential   |difference|\n";
  for (std::size_t k = 0; k < report.passes.size(); ++k) {
    out << std::left << std::setw(16) << report.passes[k] << std::fixed << std::setprecision(6)
        << report.parallel[k].value << "   " << std::scientific << std::setprecision(2) << report.difference[k].value
        << " ± " << report.difference[k].error << "   " << report.absolute_error[k].value << "\n";
  }
  out << "recorded states             " << std::scientific << report.floor.value << "\n";
}

int measure(const LikelihoodOptions& options, const Streams& streams) {
  const RolloutMeasureOptions& rollouts = options.rollouts;
  MeasuredRun run = open_run(rollouts.measure, streams);
  const MeasuredPrompts prompts = find_prompts(rollouts, run);
  engine::RecordSettings settings = record_settings(rollouts, run);
  if (!options.completion.empty()) {
    settings.generated = run.model.tokenizer().encode(options.completion);
    if (!options.unfinished) settings.generated.push_back(run.model.tokenizer().end_of_text());
  }
  const std::vector<int> passes = ascending(rollouts.passes);
  ProgressLine progress(streams, "likelihood", static_cast<std::int64_t>(prompts.tokens.size()));
  const engine::LikelihoodReport report =
      engine::measure_likelihood(run.model.backend(), run.model.parameters(), prompts.tokens, settings, passes,
                                 [&](std::int64_t done) { progress.update(done); });
  if (!rollouts.measure.json) {
    streams.out << prompts.source << ", " << measured_on_text(rollouts.measure, run.loaded) << "\n";
    print(report, streams.out);
    return 0;
  }
  nlohmann::json result = rollouts_measured_on(rollouts, run, prompts);
  result.update(report_json(report));
  streams.out << json_line(result);
  return 0;
}

}  // namespace

void add_likelihood_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<LikelihoodOptions>();
  options->rollouts.record.max_tokens = 64;
  CLI::App* command = app.add_subcommand("likelihood", "Likelihood of Soft rollouts by parallel passes");
  add_rollout_measure_options(*command, options->rollouts);
  CLI::Option* completion = command->add_option("--completion", options->completion,
                                                "Score this text and end of text after --prompt, instead of decoding");
  completion->needs("--prompt");
  command->add_flag("--unfinished", options->unfinished, "Score --completion without end of text")->needs(completion);
  command->callback([options, &action] { action = [options](const Streams& s) { return measure(*options, s); }; });
}

}  // namespace app::cli
