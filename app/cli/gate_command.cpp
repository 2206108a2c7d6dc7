// fullband-cli gate: what passes between two positions: gates, spectra, the residual stream plain against fused, what
// replacing state or gate costs, and the boundary between plain and fused positions.
#include <CLI/CLI.hpp>
#include <cmath>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/gate_report.h"
#include "engine/recipe.h"

namespace app::cli {
namespace {

struct GateOptions {
  MeasureOptions measure;
  std::int64_t rows = 64;
  engine::GateReportSettings settings;
};

nlohmann::json gates_json(const engine::GateValues& gates, const engine::data::Tokenizer& tokenizer) {
  nlohmann::json tokens = nlohmann::json::array();
  for (const engine::TokenGates& token : gates.tokens) {
    tokens.push_back({{"token", token.token},
                      {"text", tokenizer.label(token.token)},
                      {"occurrences", token.occurrences},
                      {"mean", token.mean},
                      {"deviation", token.deviation},
                      {"smallest", token.smallest},
                      {"largest", token.largest},
                      {"histogram", token.histogram}});
  }
  return {{"mean", gates.mean},
          {"deviation", gates.deviation},
          {"between_tokens", gates.between_tokens},
          {"histogram", gates.histogram},
          {"tokens", tokens}};
}

nlohmann::json spectra_json(const std::vector<engine::Spectrum>& spectra) {
  nlohmann::json result = nlohmann::json::array();
  for (const engine::Spectrum& spectrum : spectra) {
    result.push_back({{"name", spectrum.name}, {"values", spectrum.values}, {"participation", spectrum.participation}});
  }
  return result;
}

nlohmann::json ladder_json(const std::vector<engine::LadderRung>& ladder) {
  nlohmann::json result = nlohmann::json::array();
  for (const engine::LadderRung& rung : ladder) {
    result.push_back({{"depth", rung.depth},
                      {"plain_rms", to_json(rung.plain_rms)},
                      {"fused_rms", to_json(rung.fused_rms)},
                      {"plain_change", to_json(rung.plain_change)},
                      {"fused_change", to_json(rung.fused_change)}});
  }
  return result;
}

nlohmann::json interventions_json(const engine::InterventionReport& report) {
  nlohmann::json results = nlohmann::json::array();
  for (const engine::InterventionResult& result : report.results) {
    results.push_back({{"name", engine::to_string(result.kind)},
                       {"amount", result.amount},
                       {"out_of_distribution", result.out_of_distribution},
                       {"cost", to_json(result.cost)},
                       {"answer_cost", to_json(result.answer_cost)}});
  }
  return {{"unit", "nats per token"}, {"loss", to_json(report.loss)}, {"results", results}};
}

nlohmann::json boundary_json(const std::vector<engine::BoundaryPoint>& boundary) {
  nlohmann::json result = nlohmann::json::array();
  for (const engine::BoundaryPoint& point : boundary) {
    result.push_back({{"first", point.first},
                      {"last", point.last},
                      {"fused_loss", to_json(point.fused_loss)},
                      {"plain_loss", to_json(point.plain_loss)},
                      {"difference", to_json(point.difference)}});
  }
  return result;
}

nlohmann::json exposure_json(const std::vector<engine::ExposurePoint>& exposure) {
  nlohmann::json result = nlohmann::json::array();
  for (const engine::ExposurePoint& point : exposure) {
    result.push_back({{"position", point.position}, {"fused_share", to_json(point.fused_share)}});
  }
  return result;
}

void print_interventions(const engine::InterventionReport& report, std::ostream& out) {
  out << "loss at fused positions " << report.loss.value << " ± " << report.loss.error
      << " nats a token; what a change costs:\n";
  for (const engine::InterventionResult& result : report.results) {
    std::string name = engine::to_string(result.kind);
    if (result.kind == engine::Intervention::gate_temperature || result.kind == engine::Intervention::seed_scale) {
      std::ostringstream amount;
      amount << " " << result.amount;
      name += amount.str();
    }
    out << "  " << std::left << std::setw(20) << name << std::right << std::setw(9) << result.cost.value << " ± "
        << result.cost.error;
    if (result.answer_cost.rows > 0) {
      out << "   answers " << std::setw(9) << result.answer_cost.value << " ± " << result.answer_cost.error;
    }
    out << (result.out_of_distribution ? "   (out of distribution: says nothing about use)" : "") << "\n";
  }
}

void print(const engine::GateReport& report, std::ostream& out) {
  out << std::fixed << std::setprecision(4);
  if (report.gates) {
    out << "gates: mean " << report.gates->mean << ", deviation " << report.gates->deviation << ", between tokens "
        << report.gates->between_tokens << " (" << report.gates->tokens.size() << " tokens)\n";
  }
  for (const auto* spectra : {&report.weights, &report.states}) {
    for (const engine::Spectrum& spectrum : *spectra) {
      if (spectrum.values.empty()) continue;
      out << spectrum.name << ": " << spectrum.values.size() << " directions, largest " << spectrum.values.front()
          << ", about " << std::setprecision(1) << spectrum.participation << std::setprecision(4) << " count\n";
    }
  }
  out << "depth   rms plain   rms fused   change plain   change fused\n";
  for (const engine::LadderRung& rung : report.ladder) {
    out << std::setw(5) << rung.depth << std::setw(12) << rung.plain_rms.value << std::setw(12) << rung.fused_rms.value;
    if (rung.depth > 0) out << std::setw(15) << rung.plain_change.value << std::setw(15) << rung.fused_change.value;
    out << "\n";
  }
  print_interventions(report.interventions, out);
  out << "fused less plain loss by distance from the boundary:\n";
  for (const engine::BoundaryPoint& point : report.boundary) {
    out << "  " << point.first << (point.last > point.first ? ".." + std::to_string(point.last) : "") << ": "
        << point.difference.value << " ± " << point.difference.error << " (" << point.difference.counts << ")\n";
  }
}

engine::GateReportSettings settings_of(const GateOptions& options, const LoadedRun& run) {
  engine::GateReportSettings settings = options.settings;
  const engine::Recipe recipe = engine::recipe_from_json(run.description.at("recipe"));
  settings.interventions.seed = options.measure.seed;
  settings.exposure.seed = options.measure.seed;
  settings.exposure.prefix_mixin = recipe.train.prefix_mixin;
  settings.exposure.fully_fused_share = recipe.train.fully_fused_share;
  return settings;
}

nlohmann::json report_json(const engine::GateReport& report, const engine::data::Tokenizer& tokenizer) {
  return {{"rows", report.rows},
          {"seq", report.seq},
          {"feedback_passes", report.feedback_passes},
          {"fused_positions", report.fused_positions},
          {"gates", report.gates ? gates_json(*report.gates, tokenizer) : nlohmann::json()},
          {"weight_spectra", spectra_json(report.weights)},
          {"state_spectra", spectra_json(report.states)},
          {"ladder", ladder_json(report.ladder)},
          {"interventions", interventions_json(report.interventions)},
          {"boundary", boundary_json(report.boundary)},
          {"exposure", exposure_json(report.exposure)}};
}

int measure(const GateOptions& options, const Streams& streams) {
  MeasuredRun run = open_run(options.measure, streams);
  const engine::data::Batch batch = validation_source(run.loaded)->validation(0, options.rows);
  ProgressLine progress(streams, "gate", 6);
  const engine::GateReport report = engine::measure_gate_report(
      run.model.backend(), run.model.parameters(), batch, settings_of(options, run.loaded),
      [&](const std::string& part, std::int64_t done, std::int64_t) { progress.update(done, part); });
  if (!options.measure.json) {
    streams.out << measured_on_text(options.measure, run.loaded) << ", " << report.rows << " held-out rows, "
                << report.fused_positions << " fused positions, feedback pass " << report.feedback_passes << "\n";
    print(report, streams.out);
    return 0;
  }
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result.update(report_json(report, run.model.tokenizer()));
  streams.out << json_line(result);
  return 0;
}

}  // namespace

void add_gate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<GateOptions>();
  engine::GateReportSettings& settings = options->settings;
  CLI::App* command = app.add_subcommand("gate", "What passes between positions: gates, spectra, interventions");
  add_measure_options(*command, options->measure);
  command->add_option("--rows", options->rows, "Held-out rows")
      ->check(whole_number(2, kMostCount))
      ->capture_default_str();
  command->add_option("--passes", settings.feedback_passes, "Feedback passes; the last one is looked into")
      ->check(whole_number(1, kMostPasses))
      ->capture_default_str();
  command->add_option("--temperatures", settings.interventions.temperatures, "Gate temperatures, such as 0.5,2")
      ->delimiter(',')
      ->check(number_above_zero())
      ->capture_default_str();
  command->add_option("--seed-scales", settings.interventions.seed_scales, "Scales of fused layer-0 inputs")
      ->delimiter(',')
      ->check(number_not_negative())
      ->capture_default_str();
  command->add_option("--draws", settings.boundary_draws, "Draws of plain lengths for the boundary")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command->callback([options, &action] { action = [options](const Streams& s) { return measure(*options, s); }; });
}

}  // namespace app::cli
