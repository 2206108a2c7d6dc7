#include "app/cli/rollout_measure_options.h"

#include <algorithm>

#include "app/cli/checks.h"

namespace app::cli {

void add_rollout_measure_options(CLI::App& command, RolloutMeasureOptions& options) {
  add_measure_options(command, options.measure);
  CLI::Option* prompt = command.add_option("--prompt", options.prompt, "One prompt instead of held-out ones");
  command
      .add_option("--task", options.task, "Task name, or JSON Lines with prompt and answer (default: the run's first)")
      ->excludes(prompt);
  command.add_option("--rows", options.rows, "Held-out prompts")
      ->check(whole_number(1, kMostCount))
      ->excludes(prompt)
      ->capture_default_str();
  command.add_option("--passes", options.passes, "Numbers of parallel passes, such as 1,2,4")
      ->delimiter(',')
      ->check(whole_number(1, kMostPasses))
      ->capture_default_str();
  command.add_option("--max-tokens", options.record.max_tokens, "Tokens to generate")
      ->check(whole_number(2, kMostCount))
      ->capture_default_str();
  command
      .add_option("--prompt-tokens", options.prompt_tokens,
                  "Cut held-out prompts to this many tokens, so that answers are longer; 0 = whole prompts")
      ->check(whole_number(0, kMostCount))
      ->excludes(prompt)
      ->capture_default_str();
  command.add_flag("--past-end", options.past_end, "Go on after end of text, up to --max-tokens");
  command
      .add_option("--temperature", options.record.sampler.temperature,
                  "0 = greedy, as on the page Cache and likelihood")
      ->check(number_not_negative())
      ->capture_default_str();
}

MeasuredPrompts find_prompts(const RolloutMeasureOptions& options, const MeasuredRun& run) {
  MeasuredPrompts prompts;
  if (!options.prompt.empty()) {
    prompts.source = "prompt";
    prompts.tokens.push_back(named_by_option("--prompt", [&] { return run.model.tokenizer().encode(options.prompt); }));
    return prompts;
  }
  const QuestionSet set = find_questions(run.loaded, options.task, options.measure.seed, options.rows);
  prompts.source = set.name;
  prompts.tokens = prompt_tokens(set, run.model.tokenizer(), options.prompt_tokens);
  return prompts;
}

std::vector<int> ascending(std::vector<int> passes) {
  std::sort(passes.begin(), passes.end());
  passes.erase(std::unique(passes.begin(), passes.end()), passes.end());
  return passes;
}

engine::RecordSettings record_settings(const RolloutMeasureOptions& options, const MeasuredRun& run) {
  engine::RecordSettings settings = options.record;
  settings.sampler.seed = options.measure.seed;
  if (!options.past_end) settings.end_of_text = run.model.tokenizer().end_of_text();
  return settings;
}

nlohmann::json rollouts_measured_on(const RolloutMeasureOptions& options, const MeasuredRun& run,
                                    const MeasuredPrompts& prompts) {
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result["source"] = prompts.source;
  result["rows"] = prompts.tokens.size();
  result["max_tokens"] = options.record.max_tokens;
  result["temperature"] = options.record.sampler.temperature;
  result["prompt_tokens"] = options.prompt.empty() ? nlohmann::json(options.prompt_tokens) : nlohmann::json();
  result["past_end_of_text"] = options.past_end;
  return result;
}

}  // namespace app::cli
