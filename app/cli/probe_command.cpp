// fullband-cli probe: what a linear probe reads at a prompt's last position, by depth and way of reading the prompt,
// and whether the model's own answer follows an exchanged state.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/probe.h"
#include "engine/probe_task.h"
#include "engine/recipe.h"

namespace app::cli {
namespace {

struct ProbeOptions {
  MeasureOptions measure;
  engine::ProbeRequest request;
};

/// Adds "accuracy" and "spread", each by depth.
void add_scores(nlohmann::json& object, const std::vector<engine::FoldScore>& by_depth) {
  object["accuracy"] = nlohmann::json::array();
  object["spread"] = nlohmann::json::array();
  for (const engine::FoldScore& score : by_depth) {
    object["accuracy"].push_back(finite_or_null(score.accuracy));
    object["spread"].push_back(finite_or_null(score.spread));
  }
}

nlohmann::json swap_json(const engine::ProbeCurve& curve) {
  if (!curve.swap) return nullptr;
  return {{"same_label_stays_right", to_json(curve.swap->same_label)},
          {"other_label_followed", to_json(curve.swap->follows_other)}};
}

nlohmann::json curve_json(const engine::ProbeCurve& curve, const std::string& slice_title) {
  nlohmann::json object = {{"model_answers_right", to_json(curve.answers)}, {"swap", swap_json(curve)}};
  add_scores(object, curve.by_depth);
  nlohmann::json& slices = object["by_" + slice_title] = nlohmann::json::object();
  for (const engine::ProbeSlice& slice : curve.slices) {
    nlohmann::json& member = slices[std::to_string(slice.value)] = {{"examples", slice.examples}};
    add_scores(member, slice.by_depth);
  }
  return object;
}

nlohmann::json report_json(const engine::ProbeReport& report, const engine::ProbeTask& task) {
  nlohmann::json conditions = nlohmann::json::object();
  for (const engine::ProbeCurve& curve : report.curves) {
    conditions[curve.condition.name] = curve_json(curve, task.slice_title);
  }
  return {{"conditions", conditions},        {"chance", report.chance},
          {"examples", report.examples},     {"groups", report.groups},
          {"folds", report.folds},           {"labels", task.answer_words},
          {"distractors", task.lengths},     {"longest_prompt", task.longest_prompt},
          {"trained_on_task", task.trained}, {"fits_trained_rows", task.fits_training}};
}

std::string percent(double share, double error) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * share << " +- " << 100 * error;
  return text.str();
}

void print_scores(const std::string& title, const std::vector<engine::FoldScore>& by_depth, std::ostream& out) {
  out << std::left << std::setw(18) << title << std::right;
  for (const engine::FoldScore& score : by_depth) out << std::setw(14) << percent(score.accuracy, score.spread);
  out << "\n";
}

void print_answers(const engine::ProbeCurve& curve, std::ostream& out) {
  out << "  the model's own answer is right in " << percent(curve.answers.value, curve.answers.error) << " %";
  if (curve.swap) {
    out << "; with another prompt's state of the same label "
        << percent(curve.swap->same_label.value, curve.swap->same_label.error)
        << " %, and it follows a state of the other "
        << "label in " << percent(curve.swap->follows_other.value, curve.swap->follows_other.error) << " % of "
        << curve.swap->follows_other.counts;
  }
  out << "\n";
}

void print(const engine::ProbeReport& report, const engine::ProbeTask& task, std::ostream& out) {
  out << "accuracy in % by depth, mean and standard deviation over " << report.folds << " folds (" << report.examples
      << " examples in " << report.groups << " groups, chance " << std::fixed << std::setprecision(1)
      << 100 * report.chance << " %); own answers with standard errors over groups\n";
  for (const engine::ProbeCurve& curve : report.curves) {
    print_scores(curve.condition.name, curve.by_depth, out);
    for (const engine::ProbeSlice& slice : curve.slices) {
      if (curve.slices.size() > 1) {
        print_scores("  " + task.slice_title + " " + std::to_string(slice.value), slice.by_depth, out);
      }
    }
    print_answers(curve, out);
  }
}

int measure(const ProbeOptions& options, const Streams& streams) {
  MeasuredRun run = open_run(options.measure, streams);
  engine::ProbeRequest request = options.request;
  request.seed = options.measure.seed;
  const engine::Recipe recipe = engine::recipe_from_json(run.loaded.description.at("recipe"));
  const engine::ProbeTask task = make_probe_task(request, run.model.tokenizer(), recipe.data);
  engine::ProbeSettings settings;
  settings.seed = options.measure.seed;
  const auto examples = static_cast<std::int64_t>(task.prompts.size());
  const std::int64_t parts = run.model.config().layers + 2;  // reading, and one probe a depth
  ProgressLine progress(streams, "probe", examples * parts * static_cast<std::int64_t>(settings.conditions.size()));
  const engine::ProbeReport report =
      run_probe(run.model.backend(), run.model.parameters(), task.prompts, task.answers, settings,
                [&](std::int64_t done, std::int64_t) { progress.update(done); });
  if (!options.measure.json) {
    streams.out << measured_on_text(options.measure, run.loaded) << ", " << request.task << "\n";
    print(report, task, streams.out);
    return 0;
  }
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result["task"] = request.task;
  result.update(report_json(report, task));
  streams.out << json_line(result);
  return 0;
}

}  // namespace

void add_probe_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ProbeOptions>();
  CLI::App* command = app.add_subcommand("probe", "What a linear probe reads at a prompt's end, by depth");
  add_measure_options(*command, options->measure);
  command->add_option("--task", options->request.task, "completion, memory, registers or overwrites")
      ->check(one_of(engine::probe_task_names()))
      ->capture_default_str();
  command
      ->add_option("--distractors", options->request.lengths,
                   "Null updates or scratch operations, such as 0,8,32 (default: 0,8,32,128,256 where they fit)")
      ->delimiter(',')
      ->check(whole_number(0, 4096));
  command->add_option("--examples", options->request.most_examples, "About so many, in whole groups (default: all)")
      ->check(whole_number(1, kMostCount));
  command->callback([options, &action] { action = [options](const Streams& s) { return measure(*options, s); }; });
}

}  // namespace app::cli
