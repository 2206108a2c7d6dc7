#include "app/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "app/cli/checks.h"
#include "engine/error.h"
#include "engine/version.h"

namespace app::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kBadArguments = 2;

/// Every failure is one line, also where a name in it holds the end of one.
std::string one_sentence(std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return message;
}

/// The first argument where it should be a verb and is none.
std::string unknown_verb(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  const std::string first = argv[1];
  const auto verbs = app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == first; });
  return verbs.empty() ? first : "";
}

/// The engine's own names of what an option holds become the option's: "max_tokens: ..." is "--max-tokens: ...".
std::string with_option_name(const CLI::App& verb, const engine::ConfigError& error) {
  std::string option = "--" + error.field();
  std::replace(option.begin(), option.end(), '_', '-');
  if (verb.get_option_no_throw(option) == nullptr) return error.what();
  return option + std::string(error.what()).substr(error.field().size());
}

/// What makes the verb's work smaller.
std::string what_to_lower(const CLI::App& verb) {
  if (verb.get_name() == "train" || verb.get_name() == "reproduce") return "train.rows or data.seq with --set";
  for (const char* option : {"--rows", "--batch", "--max-tokens", "--directions"}) {
    if (verb.get_option_no_throw(option) != nullptr) return option;
  }
  return "the size of the model";
}

int perform(const Action& action, const CLI::App& verb, const Streams& streams) {
  try {
    return action(streams);
  } catch (const engine::ConfigError& error) {
    streams.err << "fullband-cli: " << one_sentence(with_option_name(verb, error)) << "\n";
    return kBadArguments;
  } catch (const engine::TooLarge& error) {
    streams.err << "fullband-cli: " << one_sentence(error.what()) << "\n";
  } catch (const engine::OutOfMemory&) {
    streams.err << "fullband-cli: out of memory; lower " << what_to_lower(verb) << "\n";
  } catch (const std::bad_alloc&) {
    streams.err << "fullband-cli: out of memory; lower " << what_to_lower(verb) << "\n";
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
    streams.err << "fullband-cli: " << one_sentence(plain_sentence(app, error)) << " (see --help)\n";
    return kBadArguments;
  }
  return perform(action, *app.get_subcommands().front(), streams);
}

}  // namespace app::cli
