// fullband-cli bench: training, prefill and decoding of a model of given sizes on random tokens, timed on this machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/bench.h"
#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "engine/error.h"

namespace app::cli {
namespace {

struct BenchOptions {
  BenchSettings settings;
  std::int64_t kv_heads = 0;  // 0 = as heads
  bool json = false;
};

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kGiga = 1e9;

/// The same refusals as a recipe's, with the names of this verb's options.
void check(const BenchSettings& settings) {
  try {
    settings.model.validate();
  } catch (const engine::ConfigError& error) {
    std::string option = error.field();
    if (const auto dot = option.rfind('.'); dot != std::string::npos) option.erase(0, dot + 1);
    std::replace(option.begin(), option.end(), '_', '-');
    const std::string message = error.what();
    throw engine::ConfigError("--" + option, message.substr(error.field().size() + 2));
  }
  constexpr std::int64_t kMostTokens = 1 << 24;
  if (settings.batch > kMostTokens / settings.seq) {
    throw engine::ConfigError("--batch", "times --seq must be at most " + std::to_string(kMostTokens) + " tokens");
  }
}

nlohmann::json to_json(const StepTimes& t) {
  constexpr double kMilli = 1e3;
  return {{"data_ms", kMilli * t.data},
          {"forward_ms", kMilli * t.forward},
          {"backward_ms", kMilli * t.backward},
          {"optimiser_ms", kMilli * t.optimiser},
          {"whole_ms", kMilli * t.whole}};
}

double share_of_ceiling(const BenchResult& result) { return result.step_flops / result.product_flops; }

nlohmann::json to_json(const BenchSettings& s, const BenchResult& r) {
  nlohmann::json object = {{"sizes",
                            {{"dim", s.model.dim},
                             {"layers", s.model.layers},
                             {"heads", s.model.heads},
                             {"kv_heads", s.model.kv_heads},
                             {"ffn", s.model.ffn},
                             {"vocab", s.model.vocab},
                             {"batch", s.batch},
                             {"seq", s.seq},
                             {"parameters", r.parameters},
                             {"decode", s.decode},
                             {"decode_rows", s.decode_rows}}},
                           {"threads", s.threads},
                           {"processor_time", s.processor_time},
                           {"train_tokens_per_s", nlohmann::json::object()},
                           {"step_parts", nlohmann::json::object()},
                           {"product_ceiling_gflops", r.product_flops / kGiga},
                           {"share_of_ceiling", nullptr},
                           {"decode_ms_per_token", nlohmann::json::object()},
                           {"batched_decode_speedup", r.batch_speedup},
                           {"prefill_tokens_per_s", r.prefill_tokens_per_second},
                           {"peak_memory_mib", static_cast<double>(r.peak_memory) / kMebibyte},
                           {"device_memory_mib", static_cast<double>(r.device_memory) / kMebibyte}};
  std::int64_t allocations = 0;
  for (const auto& [passes, times] : r.training) {
    object["train_tokens_per_s"][std::to_string(passes)] = times.tokens_per_second;
    object["step_parts"][std::to_string(passes)] = to_json(times);
    allocations = std::max(allocations, times.allocations);
  }
  object["allocations_per_step"] = allocations;
  if (r.training.contains(1)) object["share_of_ceiling"] = share_of_ceiling(r);
  for (const auto& [mode, seconds] : r.decode_seconds) object["decode_ms_per_token"][mode] = 1e3 * seconds;
  return object;
}

void print(const BenchSettings& s, const BenchResult& r, std::ostream& out) {
  out << std::fixed << std::setprecision(1) << r.parameters << " parameters, " << s.batch << " rows of " << s.seq
      << " tokens\n\npasses   tokens/s   step ms    data   forward  backward  optimiser  allocations\n";
  for (const auto& [passes, t] : r.training) {
    out << std::setw(6) << passes << std::setw(11) << std::setprecision(0) << t.tokens_per_second
        << std::setprecision(1) << std::setw(10) << 1e3 * t.whole << std::setw(8) << 1e3 * t.data << std::setw(10)
        << 1e3 * t.forward << std::setw(10) << 1e3 * t.backward << std::setw(11) << 1e3 * t.optimiser << std::setw(13)
        << t.allocations << "\n";
  }
  out << "\nproducts alone      " << r.product_flops / kGiga << " GFLOP/s";
  if (r.training.contains(1)) {
    out << ", of which a step with one pass reaches " << 100 * share_of_ceiling(r) << " %";
  }
  out << "\npeak memory         " << static_cast<double>(r.peak_memory) / kMebibyte << " MiB\nprefill             "
      << std::setprecision(0) << r.prefill_tokens_per_second << " tokens/s\n"
      << std::setprecision(3);
  for (const auto& [mode, seconds] : r.decode_seconds) {
    out << "decoding, " << std::left << std::setw(10) << mode << std::right << 1e3 * seconds << " ms/token\n";
  }
  out << std::setprecision(1) << "decoding, " << s.decode_rows << " rows at once: " << r.batch_speedup
      << " times the tokens/s of one\n";
}

int bench(BenchOptions options, const Streams& streams) {
  BenchSettings& settings = options.settings;
  settings.model.kv_heads = options.kv_heads > 0 ? options.kv_heads : settings.model.heads;
  check(settings);
  const BenchProgress progress = [&](const std::string& what) { streams.err << "bench: " << what << "\n"; };
  const BenchResult result = with_device_of_option([&] { return run_bench(settings, progress); });
  if (options.json) {
    streams.out << to_json(settings, result).dump() << "\n";
  } else {
    print(settings, result, streams.out);
  }
  return 0;
}

void add_sizes(CLI::App& command, BenchOptions& options) {
  BenchSettings& s = options.settings;
  const auto size = [&](const std::string& name, std::int64_t& value, const std::string& what) {
    command.add_option(name, value, what)->check(whole_number(1, kMostCount))->capture_default_str();
  };
  s.model.vocab = 96;
  s.model.dim = 128;
  s.model.ffn = 352;
  size("--dim", s.model.dim, "Width");
  size("--layers", s.model.layers, "Blocks");
  size("--heads", s.model.heads, "Query heads");
  size("--kv-heads", options.kv_heads, "Key and value heads (default: as --heads)");
  size("--ffn", s.model.ffn, "Feed-forward width");
  size("--vocab", s.model.vocab, "Vocabulary");
  size("--batch", s.batch, "Rows of a training step");
  size("--seq", s.seq, "Tokens a row");
  size("--decode", s.decode, "Tokens to generate");
  size("--decode-rows", s.decode_rows, "Rows of the batched decoding");
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  BenchSettings& s = options->settings;
  CLI::App* command = app.add_subcommand("bench", "Time training, prefill and decoding on this machine");
  add_sizes(*command, *options);
  command->add_option("--passes", s.passes, "Numbers of passes to train with")
      ->delimiter(',')
      ->check(whole_number(1, 64))
      ->capture_default_str();
  command->add_option("--device", s.device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_option("--threads", s.threads, "CPU threads, 0 = all")->check(whole_number(0, kMostThreads));
  command->add_option("--repeats", s.repeats, "Measurements of one thing, the median counts")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command->add_option("--seconds", s.seconds, "After this long no further repeat of one thing is begun")
      ->check(number_above_zero())
      ->capture_default_str();
  command->add_flag("--processor-time", s.processor_time,
                    "Count processor time: for one thread on a machine that has other work");
  command->add_flag("--recompute", s.train.recompute, "Compute blocks again instead of keeping them");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &action] { action = [options](const Streams& st) { return bench(*options, st); }; });
}

}  // namespace app::cli
