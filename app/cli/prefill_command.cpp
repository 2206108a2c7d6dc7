// fullband-cli prefill: loss and accuracy of answers against the number of fused passes over the prompt (the paper's
// Fig. 5).
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/prefill_scaling.h"

namespace app::cli {
namespace {

struct PrefillOptions {
  MeasureOptions measure;
  std::string task;
  std::int64_t rows = 64;
  engine::PrefillSettings settings;
};

nlohmann::json to_json(const std::vector<engine::PrefillPoint>& points) {
  std::vector<int> passes;
  std::vector<std::int64_t> capped;
  std::vector<engine::Estimate> loss, change, accuracy;
  for (const engine::PrefillPoint& point : points) {
    passes.push_back(point.fused_passes);
    capped.push_back(point.capped);
    loss.push_back(point.loss);
    change.push_back(point.loss_change);
    accuracy.push_back(point.accuracy);
  }
  return {{"passes", passes},
          {"loss", values_of(loss)},
          {"loss_error", errors_of(loss)},
          {"loss_change", values_of(change)},
          {"loss_change_error", errors_of(change)},
          {"accuracy", values_of(accuracy)},
          {"accuracy_error", errors_of(accuracy)},
          {"capped", capped}};
}

void print(const std::vector<engine::PrefillPoint>& points, std::ostream& out) {
  out << "fused passes   loss of the answer (nats/token)   change by this pass    right\n" << std::fixed;
  for (const engine::PrefillPoint& point : points) {
    out << std::left << std::setw(15) << point.fused_passes << std::setprecision(5) << point.loss.value << " ± "
        << point.loss.error << "               ";
    if (point.fused_passes > 0) {
      out << point.loss_change.value << " ± " << point.loss_change.error;
    } else {
      out << "(Soft)            ";
    }
    out << "   " << std::setprecision(1) << 100 * point.accuracy.value << " ± " << 100 * point.accuracy.error << " %, "
        << point.capped << " capped\n";
  }
}

int measure(const PrefillOptions& options, const Streams& streams) {
  MeasuredRun run = open_run(options.measure, streams);
  const QuestionSet set = find_questions(run.loaded, options.task, options.measure.seed, options.rows);
  engine::PrefillSettings settings = options.settings;
  settings.sampler.seed = options.measure.seed;
  ProgressLine progress(streams, "prefill", settings.most_passes + 1);
  const auto points = engine::measure_prefill_scaling(run.model, set.questions, settings,
                                                      [&](std::int64_t done) { progress.update(done); });
  if (!options.measure.json) {
    streams.out << set.name << ", " << measured_on_text(options.measure, run.loaded) << ", " << set.questions.size()
                << " rows\n";
    print(points, streams.out);
    return 0;
  }
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result["task"] = set.name;
  result["rows"] = set.questions.size();
  result["max_tokens"] = settings.max_tokens;
  result["temperature"] = settings.sampler.temperature;
  result.update(to_json(points));
  streams.out << json_line(result);
  return 0;
}

}  // namespace

void add_prefill_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<PrefillOptions>();
  engine::PrefillSettings& settings = options->settings;
  CLI::App* command = app.add_subcommand("prefill", "Loss and accuracy against the number of fused prefill passes");
  add_measure_options(*command, options->measure);
  command->add_option("--task", options->task,
                      "Task name, or JSON Lines with prompt and answer (default: the run's first task)");
  command->add_option("--rows", options->rows, "Prompts")->check(whole_number(1, kMostCount))->capture_default_str();
  command->add_option("--passes", settings.most_passes, "Most fused passes over the prompt; 0 is Soft")
      ->check(whole_number(0, kMostFusedPasses))
      ->capture_default_str();
  command->add_option("--max-tokens", settings.max_tokens, "Most tokens to generate")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command->add_option("--temperature", settings.sampler.temperature, "0 = greedy")
      ->check(number_not_negative())
      ->capture_default_str();
  command->callback([options, &action] { action = [options](const Streams& s) { return measure(*options, s); }; });
}

}  // namespace app::cli
