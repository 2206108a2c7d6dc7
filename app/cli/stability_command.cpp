// fullband-cli stability: what repeated feedback passes do to states and loss, on held-out rows of a run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/recipe.h"
#include "engine/stability_verdict.h"

namespace app::cli {
namespace {

struct StabilityOptions {
  MeasureOptions measure;
  int passes = 30;
  std::int64_t rows = 64;
  std::int64_t repeats = 1;
  bool by_position = false;
};

using engine::StabilityCurves;

nlohmann::json numbers(const std::vector<double>& values) {
  nlohmann::json array = nlohmann::json::array();
  for (const double value : values) array.push_back(finite_or_null(value));
  return array;
}

/// The curves with their standard errors over rows.
nlohmann::json curves_json(const StabilityCurves& curves) {
  nlohmann::json result;
  const auto add = [&](const std::string& name, const std::vector<engine::Estimate>& curve) {
    result[name] = values_of(curve);
    result[name + "_error"] = errors_of(curve);
  };
  add("loss", curves.loss);
  add("loss_change", curves.loss_change);
  add("update_all", curves.update_all);
  add("update_movable", curves.update_movable);
  add("exact_loss", curves.exact_loss);
  add("exact_standard_loss", curves.exact_standard_loss);
  result["movable_positions"] = curves.movable_positions;
  result["exact_positions"] = curves.exact_positions;
  return result;
}

nlohmann::json spread_json(const std::vector<StabilityCurves>& repeats) {
  return {{"loss", numbers(spread_over_repeats(repeats, &StabilityCurves::loss))},
          {"update_all", numbers(spread_over_repeats(repeats, &StabilityCurves::update_all))},
          {"update_movable", numbers(spread_over_repeats(repeats, &StabilityCurves::update_movable))}};
}

nlohmann::json verdict_json(const engine::StabilityVerdict& verdict) {
  return {{"outcome", engine::to_string(verdict.outcome)},
          {"pass", verdict.pass},
          {"update_ratio", finite_or_null(verdict.update_ratio)},
          {"loss_change", to_json(verdict.loss_change)},
          {"text", verdict.text}};
}

/// The most passes that the run was trained with: what lies beyond was never trained.
int trained_passes(const LoadedRun& run) {
  const engine::Recipe recipe = engine::recipe_from_json(run.description.at("recipe"));
  int most = 1;
  for (const engine::Stage& stage : recipe.train.schedule) most = std::max(most, stage.passes);
  return most;
}

/// Rows measured, and how many of them differ: a small held-out part is read again from its start.
class RowCount {
 public:
  void add(const engine::data::Batch& batch) {
    for (auto row = batch.tokens.begin(); row != batch.tokens.end(); row += batch.seq)
      different_.emplace(row, row + batch.seq);
  }
  [[nodiscard]] std::size_t different() const { return different_.size(); }

 private:
  std::set<std::vector<std::int32_t>> different_;
};

struct Measured {
  std::vector<StabilityCurves> repeats;
  RowCount rows;
};

/// One measurement a repeat, each on held-out rows of its own; the seed picks where they start.
Measured measure_repeats(const StabilityOptions& options, const MeasuredRun& run, const Streams& streams) {
  const auto source = validation_source(run.loaded);
  const auto start = static_cast<std::int64_t>((options.measure.seed - 1) % 100000) * options.repeats * options.rows;
  ProgressLine progress(streams, "repeats of " + std::to_string(options.passes) + " passes", 100 * options.repeats);
  Measured measured;
  for (std::int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    const engine::data::Batch batch = source->validation(start + repeat * options.rows, options.rows);
    measured.rows.add(batch);
    measured.repeats.push_back(measure_stability_curves(
        run.model.backend(), run.model.parameters(), batch, options.passes, 64,
        [&](std::int64_t done, std::int64_t total) { progress.update(100 * repeat + 100 * done / total); }));
  }
  return measured;
}

/// One row alone has no error that could be told.
void print_estimate(const engine::Estimate& estimate, std::ostream& out) {
  out << std::setw(11) << estimate.value << " ± " << std::left << std::setw(9);
  if (std::isfinite(estimate.error)) {
    out << estimate.error;
  } else {
    out << (estimate.rows == 1 ? "(1 row)" : "?");
  }
  out << std::right;
}

void print(const StabilityCurves& curves, std::ostream& out) {
  out << "pass   loss, nats              update, all             update, movable         movable  exact loss  Standard "
         "there\n"
      << std::setprecision(4);
  for (std::size_t f = 0; f < curves.loss.size(); ++f) {
    out << std::setw(4) << f;
    print_estimate(curves.loss[f], out);
    if (f > 0) {
      print_estimate(curves.update_all[f - 1], out);
      print_estimate(curves.update_movable[f - 1], out);
      out << std::setw(8) << curves.movable_positions[f - 1];
    } else {
      out << std::setw(54) << "" << std::setw(4) << "";
    }
    out << std::setw(12) << curves.exact_loss[f].value << std::setw(12) << curves.exact_standard_loss[f].value << "\n";
    if (static_cast<int>(f) >= curves.computed_passes && f + 1 < curves.loss.size()) {
      out << "from here to pass " << curves.passes << " nothing can move\n";
      break;
    }
  }
}

nlohmann::json result_json(const StabilityOptions& options, const MeasuredRun& run, const StabilityCurves& curves,
                           const Measured& measured) {
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result.update(curves_json(curves));
  result.update({{"rows", curves.rows},
                 {"different_rows", measured.rows.different()},
                 {"repeats", options.repeats},
                 {"scored_positions", curves.scored_positions},
                 {"passes", curves.passes},
                 {"computed_passes", curves.computed_passes},
                 {"trained_passes", trained_passes(run.loaded)},
                 {"spread_over_repeats", spread_json(measured.repeats)},
                 {"verdict", verdict_json(engine::judge(curves))}});
  if (!options.by_position) return result;
  result["update_by_position"] = nlohmann::json::array();
  for (const auto& pass : curves.at_position) result["update_by_position"].push_back(numbers(pass));
  return result;
}

int measure(const StabilityOptions& options, const Streams& streams) {
  const MeasuredRun run = open_run(options.measure, streams);
  const Measured measured = measure_repeats(options, run, streams);
  const StabilityCurves curves = engine::pooled(measured.repeats);
  if (options.measure.json) {
    streams.out << json_line(result_json(options, run, curves, measured));
    return 0;
  }
  streams.out << measured_on_text(options.measure, run.loaded) << ", " << curves.rows << " held-out rows ("
              << measured.rows.different() << " different), " << curves.scored_positions
              << " scored positions, trained with up to " << trained_passes(run.loaded) << " passes\n";
  print(curves, streams.out);
  streams.out << engine::judge(curves).text << "\n";
  return 0;
}

}  // namespace

void add_stability_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<StabilityOptions>();
  CLI::App* command = app.add_subcommand("stability", "What repeated feedback passes do to states and loss");
  add_measure_options(*command, options->measure);
  command->add_option("--passes", options->passes, "Feedback passes after pass 1")
      ->check(whole_number(1, 100000))
      ->capture_default_str();
  command->add_option("--rows", options->rows, "Held-out rows a repeat")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command->add_option("--repeats", options->repeats, "Repeats, each on rows of its own")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command->add_flag("--by-position", options->by_position, "Add the mean update of every place and pass to the JSON");
  command->callback([options, &action] { action = [options](const Streams& s) { return measure(*options, s); }; });
}

}  // namespace app::cli
