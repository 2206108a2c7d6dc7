// fullband-cli reproduce [NAME]: trains a finding's variants over its seeds, measures them, and writes the table. What
// is already trained is not trained again, so an interrupted reproduction goes on.
#include <CLI/CLI.hpp>
#include <cctype>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/finding_table.h"
#include "engine/atomic_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/run_store.h"

namespace app::cli {
namespace {

struct ReproduceOptions {
  std::vector<std::string> names;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> overrides;
  std::string out = "out/findings";
  int threads = 0;
  bool list = false;
  bool json = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of today, in UTC.
std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

/// The command that makes the same again; a finding's own seeds are not named.
std::string command_text(const std::string& name, const ReproduceOptions& options) {
  std::string text = "fullband-cli reproduce " + name;
  if (options.threads != 0) text += " --threads " + std::to_string(options.threads);
  if (!options.seeds.empty()) text += " --seeds";
  for (const std::uint64_t seed : options.seeds) text += " " + std::to_string(seed);
  for (const std::string& assignment : options.overrides) text += " --set '" + assignment + "'";
  return text;
}

/// Runs another verb and gives back its JSON.
nlohmann::json call_verb(std::vector<std::string> arguments, const Streams& streams) {
  arguments.insert(arguments.begin(), "fullband-cli");
  arguments.emplace_back("--json");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  if (run(static_cast<int>(argv.size()), argv.data(), {out, streams.err, streams.progress}) != 0) {
    throw engine::Error("the step \"" + arguments[1] + "\" of the reproduction failed");
  }
  return engine::parse_json(out.str(), arguments[1]);
}

void train_if_needed(const FindingVariant& variant, std::uint64_t seed, const ReproduceOptions& options,
                     const std::filesystem::path& folder, const Streams& streams) {
  std::vector<std::string> arguments = {"train", "--out", folder.string(), "--threads",
                                        std::to_string(options.threads)};
  if (std::filesystem::exists(folder / "run.json")) {
    if (engine::summarize_run(folder).state == "done") return;
    arguments.emplace_back("--resume");
  } else {
    arguments.insert(arguments.end(), {"--recipe", variant.recipe, "--seed", std::to_string(seed)});
    for (const std::string& assignment : variant.overrides) arguments.insert(arguments.end(), {"--set", assignment});
    for (const std::string& assignment : options.overrides) arguments.insert(arguments.end(), {"--set", assignment});
  }
  call_verb(arguments, streams);
}

/// What the training of a run took, whenever it was trained.
double training_seconds(const std::filesystem::path& folder) {
  std::uint64_t offset = 0;
  const std::vector<nlohmann::json> lines = engine::read_metrics(folder, offset);
  return lines.empty() ? 0 : lines.back().value("wall", 0.0);
}

/// Letters, digits and hyphens of a variant's name: a folder on any system.
std::string folder_name(const std::string& name, std::uint64_t seed) {
  std::string folder;
  for (const char c : name) folder += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return folder + "-seed" + std::to_string(seed);
}

/// The JSON of every measure of one run, null where it is not taken of the variant.
nlohmann::json measure_run(const Finding& finding, const std::string& variant, const std::filesystem::path& folder,
                           const Streams& streams) {
  nlohmann::json measured = nlohmann::json::array();
  for (const FindingMeasure& measure : finding.measures) {
    measured.push_back(nullptr);
    if (!measure.takes(variant)) continue;
    std::vector<std::string> arguments = {measure.verb, "--run", folder.string()};
    arguments.insert(arguments.end(), measure.arguments.begin(), measure.arguments.end());
    measured.back() = call_verb(arguments, streams);
    measured.back().erase("run");  // a folder of this machine
  }
  return measured;
}

void write_tables(const Finding& finding, const FindingResults& results, const FindingOrigin& origin,
                  const std::filesystem::path& folder) {
  engine::write_file_atomically(folder / "table.md", to_markdown(finding, results, origin));
  engine::write_file_atomically(folder / "table.csv", to_csv(finding, value_rows(finding, results)));
  engine::write_file_atomically(folder / "curves.csv", to_csv(finding, curve_points(finding, results)));
  engine::write_file_atomically(folder / "results.json", engine::dump_json(results) + "\n");
}

FindingResults reproduce(const Finding& finding, const ReproduceOptions& options, const Streams& streams) {
  const std::filesystem::path folder = std::filesystem::path(options.out) / finding.name;
  FindingOrigin origin{command_text(finding.name, options), date_text(), options.threads, 0, 0};
  FindingResults results = nlohmann::json::object();
  for (const FindingVariant& variant : finding.variants) {
    for (const std::uint64_t seed : finding.seeds) {
      if (!options.json) streams.err << finding.name << ": " << variant.name << ", seed " << seed << "\n";
      const std::filesystem::path run_folder = folder / "runs" / folder_name(variant.name, seed);
      train_if_needed(variant, seed, options, run_folder, streams);
      origin.training_seconds += training_seconds(run_folder);
      const auto start = std::chrono::steady_clock::now();
      results[variant.name][std::to_string(seed)] = measure_run(finding, variant.name, run_folder, streams);
      origin.measuring_seconds += seconds_since(start);
    }
  }
  write_tables(finding, results, origin, folder);
  if (!options.json) {
    streams.out << to_markdown(finding, results, origin) << "\nFigures: fullband --figures " << folder.string() << "\n";
  }
  return results;
}

int reproduce_all(const ReproduceOptions& options, const Streams& streams) {
  if (options.list) {
    for (const std::string& name : finding_names()) streams.out << name << ": " << find_finding(name).claim << "\n";
    return 0;
  }
  nlohmann::json all = nlohmann::json::object();
  for (const std::string& name : options.names.empty() ? finding_names() : options.names) {
    Finding finding = find_finding(name);
    if (!options.seeds.empty()) finding.seeds = options.seeds;
    all[name] = reproduce(finding, options, streams);
  }
  if (options.json) streams.out << engine::dump_json(all) << "\n";
  return 0;
}

}  // namespace

void add_reproduce_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command =
      app.add_subcommand("reproduce", "Train, measure and tabulate a finding of the paper (default: all)");
  command->add_option("name", options->names, "Findings; see --list");
  command->add_option("--seeds", options->seeds, "Other seeds than the finding's")->check(seed_number());
  command->add_option("--set", options->overrides, "Change a field of every variant (repeatable)");
  command->add_option("--out", options->out, "Folder for runs and tables")->check(not_empty())->capture_default_str();
  command->add_option("--threads", options->threads, "CPU threads of the trainings, 0 = all")
      ->check(whole_number(0, kMostThreads))
      ->capture_default_str();
  command->add_flag("--list", options->list, "Say what there is");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback(
      [options, &action] { action = [options](const Streams& s) { return reproduce_all(*options, s); }; });
}

}  // namespace app::cli
