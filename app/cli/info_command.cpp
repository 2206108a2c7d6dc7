// fullband-cli info: what a run is: configuration, sizes, step, and the hash of its tensors.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/run_source.h"

namespace app::cli {
namespace {

struct InfoOptions {
  std::string run = "demo";
  bool json = false;
};

nlohmann::json describe(const LoadedRun& run) {
  std::int64_t parameters = 0;
  nlohmann::json tensors = nlohmann::json::object();
  for (const engine::HostTensor& tensor : run.checkpoint.model) {
    parameters += static_cast<std::int64_t>(tensor.values.size());
    tensors[tensor.name] = tensor.shape;
  }
  nlohmann::json info = {{"config", engine::to_json(run.checkpoint.config)},
                         {"parameters", parameters},
                         {"tensors", tensors},
                         {"tensor_hash", engine::tensor_hash(run.checkpoint.model)},
                         {"step", step_of(run)}};
  for (const char* member : {"name", "seed", "config_hash", "data_hash", "version", "state", "id"}) {
    if (run.description.contains(member)) info[member] = run.description[member];
  }
  return info;
}

int show_info(const InfoOptions& options, const Streams& streams) {
  std::vector<std::string> problems;
  const LoadedRun run = load_run(options.run, problems);
  for (const std::string& problem : problems) streams.err << "fullband-cli: " << problem << "\n";
  nlohmann::json info = describe(run);
  info["run"] = options.run;
  if (options.json) {
    streams.out << json_line(info);
    return 0;
  }
  info.erase("tensors");
  for (const auto& [member, value] : info.items()) {
    if (member != "config")
      streams.out << member << ": " << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
  }
  for (const auto& [member, value] : info["config"].items())
    streams.out << "config." << member << ": " << value.dump() << "\n";
  return 0;
}

}  // namespace

void add_info_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "Show a run's configuration, sizes and tensor hash");
  command->add_option("--run", options->run, "Run folder, or demo for the shipped model")
      ->check(not_empty())
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &action] { action = [options](const Streams& s) { return show_info(*options, s); }; });
}

}  // namespace app::cli
