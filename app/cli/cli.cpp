#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string>

#include "engine/error.h"
#include "engine/version.h"

namespace app::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kBadArguments = 2;

/// The first line of a message, so that every failure is one sentence.
std::string one_sentence(const std::string& message) {
  const std::size_t end = message.find('\n');
  return message.substr(0, end);
}

/// The first argument where it should be a verb and is none.
std::string unknown_verb(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  const std::string first = argv[1];
  const auto verbs = app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == first; });
  return verbs.empty() ? first : "";
}

int perform(const Action& action, const Streams& streams) {
  try {
    return action(streams);
  } catch (const engine::ConfigError& error) {
    streams.err << "fullband-cli: " << one_sentence(error.what()) << "\n";
    return kBadArguments;
  } catch (const std::bad_alloc&) {
    streams.err << "fullband-cli: out of memory; lower train.rows or data.seq\n";
  } catch (const std::exception& error) {
    streams.err << "fullband-cli: " << one_sentence(error.what()) << "\n";
  }
  return kFailed;
}

}  // namespace

int run(int argc, const char* const* argv, const Streams& streams) {
  CLI::App app("Trains and decodes full-bandwidth transformers without a screen.", "fullband-cli");
  app.set_version_flag("--version", std::string("fullband-cli ") + engine::version());
  app.require_subcommand(1);
  Action action;
  add_train_command(app, action);
  add_rollout_command(app, action);
  add_evaluate_command(app, action);
  add_golden_command(app, action);
  add_info_command(app, action);
  add_probe_command(app, action);
  add_reach_command(app, action);
  add_stability_command(app, action);
  add_rebuild_command(app, action);
  add_likelihood_command(app, action);
  add_prefill_command(app, action);
  add_gate_command(app, action);
  add_lengths_command(app, action);
  add_reproduce_command(app, action);
  add_bench_command(app, action);
  if (const std::string verb = unknown_verb(app, argc, argv); !verb.empty()) {
    streams.err << "fullband-cli: there is no verb called " << verb << " (see --help)\n";
    return kBadArguments;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return app.exit(request, streams.out, streams.err);
  } catch (const CLI::ParseError& error) {
    streams.err << "fullband-cli: " << one_sentence(error.what()) << " (see --help)\n";
    return kBadArguments;
  }
  return perform(action, streams);
}

}  // namespace app::cli
