#include "app/stability_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/analysis_model.h"
#include "engine/recipe.h"

namespace app {

namespace {

using engine::Estimate;
using engine::StabilityCurves;
using widgets::Role;
using widgets::Series;

constexpr std::int64_t kUnits = 100;  // of progress, a repeat
constexpr std::int64_t kRowsAtOnce = 64;
constexpr std::size_t kMostCells = 400;  // a side of the matrix: more are not told apart on a screen

int most_passes(const engine::Recipe& recipe) {
  int most = 1;
  for (const engine::Stage& stage : recipe.train.schedule) most = std::max(most, stage.passes);
  return most;
}

/// One run has the colours of meaning; several have their own.
Series make_series(const StabilityResults& results, std::size_t index, const std::string& what, Role role) {
  const bool several = results.size() > 1;
  Series series;
  series.label = several ? results[index].name + (what.empty() ? "" : ", " + what) : what;
  series.style.role = several ? Role::run : role;
  series.style.run = results[index].color;
  series.style.smooth = false;
  return series;
}

void add_point(Series& series, double x, const Estimate& estimate, double spread) {
  if (!(estimate.counts > 0)) return;  // what was not measured is not drawn
  const double error = std::isfinite(spread) ? spread : std::isfinite(estimate.error) ? estimate.error : 0;
  series.x.push_back(x);
  series.y.push_back(estimate.value);
  series.low.push_back(estimate.value - error);
  series.high.push_back(estimate.value + error);
  series.spread = widgets::Spread::band;
}

/// `first` is the number of feedback passes that the curve begins with.
void add_curve(Series& series, const std::vector<Estimate>& curve, int first, bool log_x,
               const std::vector<double>& spread = {}) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const int pass = static_cast<int>(i) + first;
    if (log_x && pass == 0) continue;
    add_point(series, pass, curve[i], i < spread.size() ? spread[i] : std::nan(""));
  }
}

}  // namespace

StabilityResult measure_stability_of(AnalysisModel& model, const StabilityRequest& request,
                                     const AnalysisControl& control) {
  const auto source = validation_source(model);
  std::vector<StabilityCurves> repeats;
  for (std::int64_t repeat = 0; repeat < request.repeats; ++repeat) {
    const engine::data::Batch batch = source->validation(repeat * request.rows, request.rows);
    repeats.push_back(engine::measure_stability_curves(
        model.model.backend(), model.model.parameters(), batch, request.passes, kRowsAtOnce,
        [&](std::int64_t done, std::int64_t total) {
          control.progress(kUnits * repeat + kUnits * done / total, kUnits * request.repeats);
        },
        control.stop));
  }
  StabilityResult result;
  result.key = model.key;
  result.name = model.name;
  result.step = model.step;
  result.trained_passes = most_passes(recipe_of(model));
  result.late_start = model.model.config().norm_reading == engine::NormReading::listing3 ? 1 : 0;
  result.repeats = request.repeats;
  result.curves = engine::pooled(repeats);
  result.verdict = engine::judge(result.curves);
  if (repeats.size() < 2) return result;
  result.loss_spread = engine::spread_over_repeats(repeats, &StabilityCurves::loss);
  result.update_spread = engine::spread_over_repeats(repeats, &StabilityCurves::update_movable);
  return result;
}

std::vector<Series> loss_curves(const StabilityResults& results, bool log_x) {
  std::vector<Series> all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Series series = make_series(results, i, results.size() > 1 ? "" : "all scored positions", Role::accent);
    add_curve(series, results[i].curves.loss, 0, log_x, results[i].loss_spread);
    all.push_back(std::move(series));
  }
  return all;
}

std::vector<Series> update_curves(const StabilityResults& results) {
  std::vector<Series> all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Series movable = make_series(results, i, "movable", Role::accent);
    add_curve(movable, results[i].curves.update_movable, 1, false, results[i].update_spread);
    Series blended = make_series(results, i, "blended", Role::neutral);
    blended.style.pass = 2;  // dashed
    add_curve(blended, results[i].curves.update_all, 1, false);
    all.push_back(std::move(movable));
    all.push_back(std::move(blended));
  }
  return all;
}

std::vector<Series> exact_curves(const StabilityResults& results, bool log_x) {
  std::vector<Series> all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Series exact = make_series(results, i, "exact positions", Role::fused);
    add_curve(exact, results[i].curves.exact_loss, 0, log_x);
    Series standard = make_series(results, i, "Standard there", Role::standard);
    standard.style.pass = 2;
    add_curve(standard, results[i].curves.exact_standard_loss, 0, log_x);
    all.push_back(std::move(exact));
    all.push_back(std::move(standard));
  }
  return all;
}

std::vector<widgets::Region> pass_regions(const StabilityResult& result, bool log_x) {
  std::vector<widgets::Region> regions;
  if (result.trained_passes > 1) regions.push_back({log_x ? 1.0 : 0.0, result.trained_passes - 1.0, {}});
  const auto& movable = result.curves.movable_positions;
  const auto exact = std::find(movable.begin(), movable.end(), 0);
  if (exact != movable.end()) {
    regions.push_back({static_cast<double>(exact - movable.begin()) + 1, static_cast<double>(movable.size()), "exact"});
  }
  return regions;
}

widgets::Matrix update_matrix(const StabilityResult& result) {
  const auto& passes = result.curves.at_position;
  widgets::Matrix matrix;
  matrix.rows = std::min(passes.size(), kMostCells);
  matrix.columns = passes.empty() ? 0 : std::min(passes.front().size(), kMostCells);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      matrix.values.push_back(passes[row][column]);
    }
  }
  return matrix;
}

// Between the last pass that moves a position and the first that cannot: half a row above pass t + s, which is row
// t + s - 1.
widgets::MatrixLine wavefront(const StabilityResult& result) {
  const widgets::Matrix matrix = update_matrix(result);
  widgets::MatrixLine line;
  for (std::size_t column = 0; column < matrix.columns; ++column) {
    line.push_back(static_cast<double>(column) + result.late_start - 0.5);
  }
  return line;
}

}  // namespace app
