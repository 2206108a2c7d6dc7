// What a finding's measurements say: numbers over the seeds, points of curves, in how many seeds each expectation held,
// as Markdown and CSV.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/finding.h"

namespace app::cli {

/// {variant: {seed: [JSON of each measure, null where it is not taken]}}
using FindingResults = nlohmann::json;

/// One number of one variant over the seeds; NaN where nothing was measured.
struct FindingRow {
  std::string variant;
  std::string label;
  std::string paper;
  std::vector<double> by_seed;

  [[nodiscard]] double mean() const;
  [[nodiscard]] double smallest() const;
  [[nodiscard]] double largest() const;
};
/// FormatError names a pointer that leads to no number.
std::vector<FindingRow> value_rows(const Finding& finding, const FindingResults& results);

/// One point of one variant's curve over the seeds.
struct CurvePoint {
  const FindingCurve* curve = nullptr;  ///< of the finding
  std::int64_t x = 0;
  FindingRow row;
};
std::vector<CurvePoint> curve_points(const Finding& finding, const FindingResults& results);

/// An expectation, and the seeds that met it.
struct CheckedSeeds {
  std::string expected;
  std::size_t held = 0;
  std::size_t seeds = 0;
};
std::vector<CheckedSeeds> checked_seeds(const Finding& finding, const FindingResults& results);

/// Where and how the numbers came about.
struct FindingOrigin {
  std::string command;
  std::string date;  ///< YYYY-MM-DD
  int threads = 0;   ///< that trained; 0: all of the machine
  double training_seconds = 0;
  double measuring_seconds = 0;
};

/// The page: claim, paper, expectations, numbers, origin.
std::string to_markdown(const Finding& finding, const FindingResults& results, const FindingOrigin& origin);
/// One row a number and variant.
std::string to_csv(const Finding& finding, const std::vector<FindingRow>& rows);
/// One row a point: curve, axes, variant, x, the seeds, mean, smallest, largest. The figures are drawn from it.
std::string to_csv(const Finding& finding, const std::vector<CurvePoint>& points);

}  // namespace app::cli
