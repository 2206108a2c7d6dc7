// fullband-cli rollout: decodes one prompt in one mode, or in all three side by side.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/decode_modes.h"
#include "app/cli/json_line.h"
#include "app/cli/run_source.h"
#include "engine/inference.h"

namespace app::cli {
namespace {

struct RolloutOptions {
  std::string run = "demo";
  std::string mode = "all";
  std::string device = "auto";
  engine::RolloutRequest request;
  bool json = false;
};

nlohmann::json to_json(const engine::Rollout& rollout, const engine::data::Tokenizer& tokenizer) {
  nlohmann::json tokens = nlohmann::json::array();
  for (const engine::RolloutToken& token : rollout.tokens) {
    tokens.push_back({{"id", token.id},
                      {"text", tokenizer.label(token.id)},
                      {"logprob", token.logprob},
                      {"entropy", token.entropy},
                      {"milliseconds", token.milliseconds}});
  }
  return {{"text", rollout.text},
          {"tokens", tokens},
          {"token_count", rollout.tokens.size()},
          {"prompt_tokens", rollout.prompt_tokens},
          {"stop", engine::to_string(rollout.stop)},
          {"prefill_passes", rollout.prefill_passes},
          {"prefill_milliseconds", rollout.prefill_milliseconds},
          {"seed", rollout.request.sampler.seed}};
}

void print(const engine::Rollout& rollout, std::ostream& out) {
  double milliseconds = 0;
  for (const engine::RolloutToken& token : rollout.tokens) milliseconds += token.milliseconds;
  const double per_token = rollout.tokens.empty() ? 0 : milliseconds / static_cast<double>(rollout.tokens.size());
  out << std::left << std::setw(9) << engine::to_string(rollout.request.mode) << std::right << rollout.tokens.size()
      << " tokens, prefill " << rollout.prefill_passes << (rollout.prefill_passes == 1 ? " pass, " : " passes, ")
      << std::fixed << std::setprecision(2) << per_token << " ms/token, stopped by " << engine::to_string(rollout.stop)
      << "\n"
      << rollout.text << "\n";
}

int roll_out(const RolloutOptions& options, const Streams& streams) {
  std::vector<std::string> problems;
  const LoadedRun run = load_run(options.run, problems);
  for (const std::string& problem : problems) streams.err << "fullband-cli: " << problem << "\n";
  auto model = with_device_of_option([&] { return engine::InferenceModel(run.checkpoint, options.device); });
  nlohmann::json modes = nlohmann::json::object();
  for (const engine::DecodeMode mode : decode_modes(options.mode)) {
    engine::RolloutRequest request = options.request;
    request.mode = mode;
    const engine::Rollout rollout = named_by_option("--prompt", [&] { return model.rollout(request); });
    if (options.json) {
      modes[engine::to_string(mode)] = to_json(rollout, model.tokenizer());
    } else {
      print(rollout, streams.out);
    }
  }
  if (options.json) {
    streams.out << json_line({{"run", options.run}, {"prompt", options.request.prompt}, {"modes", modes}});
  }
  return 0;
}

}  // namespace

void add_rollout_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RolloutOptions>();
  engine::RolloutRequest& request = options->request;
  CLI::App* command = app.add_subcommand("rollout", "Decode a prompt with Standard, Soft and Fused");
  command->add_option("--run", options->run, "Run folder, or demo for the shipped model")
      ->check(not_empty())
      ->capture_default_str();
  command->add_option("--prompt", request.prompt, "Text to go on from")->required();
  command->add_option("--mode", options->mode, "standard, soft, fused or all")
      ->check(known_mode())
      ->capture_default_str();
  command->add_option("--max-tokens", request.max_tokens, "Most tokens to generate")
      ->check(whole_number(0, kMostCount))
      ->capture_default_str();
  command->add_option("--temperature", request.sampler.temperature, "0 = greedy")
      ->check(number_not_negative())
      ->capture_default_str();
  command->add_option("--top-k", request.sampler.top_k, "0 = off")
      ->check(whole_number(0, kMostCount))
      ->capture_default_str();
  command->add_option("--top-p", request.sampler.top_p, "1 = off")->check(share_above_zero())->capture_default_str();
  command->add_option("--seed", request.sampler.seed, "Seed of the sampler")
      ->check(seed_number())
      ->capture_default_str();
  command->add_option("--stop", request.stop_strings, "Stop at this text (repeatable)");
  command->add_option("--fused-passes", request.fused_prefill_passes, "Fused: feedback passes over the prompt")
      ->check(whole_number(1, kMostFusedPasses))
      ->capture_default_str();
  command->add_option("--device", options->device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &action] { action = [options](const Streams& s) { return roll_out(*options, s); }; });
}

}  // namespace app::cli
