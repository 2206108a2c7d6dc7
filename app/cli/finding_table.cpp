#include "app/cli/finding_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/error.h"

namespace app::cli {
namespace {

using nlohmann::json;

/// The JSON that a measure gave for one seed.
const json& measured(const FindingResults& results, const std::string& variant, std::uint64_t seed,
                     std::size_t measure) {
  return results.at(variant).at(std::to_string(seed)).at(measure);
}

double number_at(const json& result, const std::string& pointer) {
  const json::json_pointer at(pointer);
  if (!result.contains(at) || !(result.at(at).is_number() || result.at(at).is_null())) {
    throw engine::FormatError(pointer, "leads to no number in what was measured");
  }
  return result.at(at).is_null() ? std::nan("") : result.at(at).get<double>();
}

FindingRow row_of(const Finding& finding, const FindingResults& results, const FindingPlace& place,
                  const std::string& label, const std::string& paper = "") {
  FindingRow row{place.variant, label, paper, {}};
  for (const std::uint64_t seed : finding.seeds) {
    row.by_seed.push_back(number_at(measured(results, place.variant, seed, place.measure), place.pointer));
  }
  return row;
}

void add_curve(std::vector<CurvePoint>& points, const Finding& finding, const FindingResults& results,
               const FindingCurve& curve, const FindingPlace& place) {
  const json& first = measured(results, place.variant, finding.seeds.front(), place.measure);
  const std::size_t count = first.at(json::json_pointer(curve.pointer)).size();
  for (std::size_t i = 0; i < count; ++i) {
    const FindingPlace point{place.variant, place.measure, curve.pointer + "/" + std::to_string(i)};
    points.push_back(
        {&curve, curve.first_x + static_cast<std::int64_t>(i), row_of(finding, results, point, curve.label)});
  }
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

std::string csv_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_head(const Finding& finding) {
  std::string text;
  for (const std::uint64_t seed : finding.seeds) text += ",seed " + std::to_string(seed);
  return text + ",mean,smallest,largest\n";
}

std::string csv_numbers(const FindingRow& row) {
  std::string text;
  for (const double value : row.by_seed) text += "," + short_number(value);
  return text + "," + short_number(row.mean()) + "," + short_number(row.smallest()) + "," +
         short_number(row.largest()) + "\n";
}

std::string list_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + short_number(value);
  return text;
}

std::string seeds_text(const Finding& finding) {
  std::string text;
  for (const std::uint64_t seed : finding.seeds) text += (text.empty() ? "" : ", ") + std::to_string(seed);
  return text;
}

std::string checks_text(const std::vector<CheckedSeeds>& checks) {
  if (checks.empty()) return "";
  std::string text = "| expected | found |\n|---|---|\n";
  for (const CheckedSeeds& check : checks) {
    text += "| " + check.expected + " | in " + std::to_string(check.held) + " of " + std::to_string(check.seeds) +
            " seeds |\n";
  }
  return text + "\n";
}

std::string origin_text(const Finding& finding, const FindingOrigin& origin) {
  char seconds[96];
  std::snprintf(seconds, sizeof(seconds), "training took %.0f s, measuring %.0f s", origin.training_seconds,
                origin.measuring_seconds);
  const std::string threads = origin.threads == 0 ? "all threads" : std::to_string(origin.threads) + " thread(s)";
  return "Seeds " + seeds_text(finding) + ". Made on " + origin.date + " with " + threads + " by\n\n    " +
         origin.command + "\n    fullband --figures out/findings/" + finding.name + "\n\n" + seconds + ".\n";
}

}  // namespace

double FindingRow::mean() const {
  double sum = 0;
  for (const double value : by_seed) sum += value;
  return by_seed.empty() ? std::nan("") : sum / static_cast<double>(by_seed.size());
}

double FindingRow::smallest() const {
  return std::isnan(mean()) ? std::nan("") : *std::min_element(by_seed.begin(), by_seed.end());
}

double FindingRow::largest() const {
  return std::isnan(mean()) ? std::nan("") : *std::max_element(by_seed.begin(), by_seed.end());
}

std::vector<FindingRow> value_rows(const Finding& finding, const FindingResults& results) {
  std::vector<FindingRow> rows;
  for (std::size_t m = 0; m < finding.measures.size(); ++m) {
    for (const FindingValue& value : finding.measures[m].values) {
      for (const FindingVariant& variant : finding.variants) {
        if (!finding.measures[m].takes(variant.name)) continue;
        rows.push_back(row_of(finding, results, {variant.name, m, value.pointer}, value.label, value.paper));
      }
    }
  }
  return rows;
}

std::vector<CurvePoint> curve_points(const Finding& finding, const FindingResults& results) {
  std::vector<CurvePoint> points;
  for (std::size_t m = 0; m < finding.measures.size(); ++m) {
    for (const FindingCurve& curve : finding.measures[m].curves) {
      for (const FindingVariant& variant : finding.variants) {
        if (!finding.measures[m].takes(variant.name)) continue;
        add_curve(points, finding, results, curve, {variant.name, m, curve.pointer});
      }
    }
  }
  return points;
}

std::vector<CheckedSeeds> checked_seeds(const Finding& finding, const FindingResults& results) {
  std::vector<CheckedSeeds> checked;
  for (const FindingCheck& check : finding.checks) {
    CheckedSeeds seeds{check.expected, 0, finding.seeds.size()};
    const std::vector<double> values = row_of(finding, results, check.value, "").by_seed;
    std::vector<double> others(values.size(), check.number);
    if (check.other) others = row_of(finding, results, *check.other, "").by_seed;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double difference = check.above ? values[i] - others[i] : others[i] - values[i];
      seeds.held += difference > check.by ? 1 : 0;
    }
    checked.push_back(seeds);
  }
  return checked;
}

std::string to_markdown(const Finding& finding, const FindingResults& results, const FindingOrigin& origin) {
  std::string text = "# " + finding.name + "\n\n" + finding.claim + "\n\nPaper: " + finding.paper + "\n\n" +
                     checks_text(checked_seeds(finding, results)) +
                     "| what | variant | paper | mean | smallest to largest | by seed |\n|---|---|---|---|---|---|\n";
  for (const FindingRow& row : value_rows(finding, results)) {
    text += "| " + row.label + " | " + row.variant + " | " + row.paper + " | " + short_number(row.mean()) + " | " +
            short_number(row.smallest()) + " to " + short_number(row.largest()) + " | " + list_of(row.by_seed) + " |\n";
  }
  return text + "\n" + origin_text(finding, origin);
}

std::string to_csv(const Finding& finding, const std::vector<FindingRow>& rows) {
  std::string text = "what,variant" + csv_head(finding);
  for (const FindingRow& row : rows) text += csv_text(row.label) + "," + csv_text(row.variant) + csv_numbers(row);
  return text;
}

std::string to_csv(const Finding& finding, const std::vector<CurvePoint>& points) {
  std::string text = "curve,x axis,y axis,log y,variant,x" + csv_head(finding);
  for (const CurvePoint& point : points) {
    text += csv_text(point.curve->label) + "," + csv_text(point.curve->x_axis) + "," + csv_text(point.curve->y_axis) +
            "," + (point.curve->log_y ? "1" : "0") + "," + csv_text(point.row.variant) + "," + std::to_string(point.x) +
            csv_numbers(point.row);
  }
  return text;
}

}  // namespace app::cli
