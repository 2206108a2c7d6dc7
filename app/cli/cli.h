// fullband-cli as a function: the engine's verbs without a screen. Each verb has a file of its own
// (<verb>_command.cpp).
#pragma once

#include <functional>
#include <ostream>

namespace CLI {
class App;
}

namespace app::cli {

/// Where a verb writes. Standard output carries results alone (with --json one object); everything else goes to `err`.
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool progress = false;  ///< `err` is a terminal: progress lines may be drawn
};

/// What the chosen verb does after the arguments were understood; returns the exit code.
using Action = std::function<int(const Streams&)>;

/// Arguments in, exit code out: 0 done, 1 failed, 2 bad arguments; each failure is one sentence on `err`.
int run(int argc, const char* const* argv, const Streams& streams);

void add_train_command(CLI::App& app, Action& action);
void add_rollout_command(CLI::App& app, Action& action);
void add_evaluate_command(CLI::App& app, Action& action);
void add_golden_command(CLI::App& app, Action& action);
void add_info_command(CLI::App& app, Action& action);
void add_probe_command(CLI::App& app, Action& action);
void add_reach_command(CLI::App& app, Action& action);
void add_stability_command(CLI::App& app, Action& action);
void add_rebuild_command(CLI::App& app, Action& action);
void add_likelihood_command(CLI::App& app, Action& action);
void add_prefill_command(CLI::App& app, Action& action);
void add_gate_command(CLI::App& app, Action& action);
void add_lengths_command(CLI::App& app, Action& action);
void add_reproduce_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);

}  // namespace app::cli
