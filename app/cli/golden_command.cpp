// fullband-cli golden DIR: every tensor of every golden file, its error and its share of the tolerance.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "engine/golden.h"

namespace app::cli {
namespace {

struct GoldenOptions {
  std::string folder;
  std::string device = "cpu";
  bool json = false;
};

void print_check(std::ostream& out, const engine::GoldenCheck& check) {
  out << (check.passed() ? "  ok    " : "  FAILED") << "  " << std::left << std::setw(44) << check.tensor << std::right;
  if (!check.problem.empty()) {
    out << "  " << check.problem << "\n";
    return;
  }
  out << "  error " << std::scientific << std::setprecision(2) << check.error << std::defaultfloat;
  if (check.tolerance > 0) {
    out << "  " << std::fixed << std::setprecision(1) << 100 * check.error / check.tolerance << " % of the tolerance"
        << std::defaultfloat;
  } else {
    out << "  exact";
  }
  out << "\n";
}

int check_golden(const GoldenOptions& options, const Streams& streams) {
  const auto backend = with_device_of_option([&] { return kernels::make_backend(options.device); });
  nlohmann::json files = nlohmann::json::object();
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  for (const auto& file : engine::find_golden_files(options.folder)) {
    if (!options.json) streams.out << file.filename().string() << "\n";
    for (const engine::GoldenCheck& check : engine::check_golden_file(file, *backend)) {
      (check.passed() ? passed : failed) += 1;
      if (!options.json) print_check(streams.out, check);
      files[file.filename().string()][check.tensor] = {
          {"error", check.error}, {"tolerance", check.tolerance}, {"passed", check.passed()}};
    }
  }
  if (options.json) {
    streams.out << json_line({{"files", files}, {"passed", passed}, {"failed", failed}});
  } else {
    streams.out << passed << " passed, " << failed << " failed\n";
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

void add_golden_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<GoldenOptions>();
  CLI::App* command = app.add_subcommand("golden", "Compare this engine with golden files of the float64 reference");
  command->add_option("folder", options->folder, "Folder with *.safetensors")->required();
  command->add_option("--device", options->device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &action] { action = [options](const Streams& s) { return check_golden(*options, s); }; });
}

}  // namespace app::cli
