// A finding: variants of a training over several seeds, verbs that measure them, and the numbers to be compared with
// the paper's. One JSON file each in resources/findings/; what it states is data, what it finds is measured.
//
//   {"claim": "...", "paper": "Fig. 3: ...",
//    "seeds": [1, 2, 3],
//    "variants": [{"name": "K <= 2", "recipe": "two-pass-only", "set": ["train.steps=900"]}, ...],
//    "measures": [{"verb": "stability", "arguments": ["--passes", "30"],
//                  "values": [{"label": "loss at pass 30", "pointer": "/loss/30", "paper": "rises"}],
//                  "curves": [{"label": "loss", "pointer": "/loss"}]}]}
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace app::cli {

struct FindingVariant {
  std::string name;
  std::string recipe;
  std::vector<std::string> overrides;
};

/// A number, or with `curve` a list of numbers, in a verb's JSON.
struct FindingValue {
  std::string label;
  std::string pointer;  ///< JSON pointer
  std::string paper;    ///< what the paper has in its place
  bool curve = false;
};

struct FindingMeasure {
  std::string verb;
  std::vector<std::string> arguments;
  std::vector<FindingValue> values;
};

struct Finding {
  std::string name;
  std::string claim;
  std::string paper;
  std::vector<std::uint64_t> seeds;
  std::vector<FindingVariant> variants;
  std::vector<FindingMeasure> measures;
};

/// ConfigError when there is none of this name (it lists them), FormatError when its file is wrong.
Finding find_finding(const std::string& name);
std::vector<std::string> finding_names();

/// One value of one variant over the seeds.
struct FindingRow {
  std::string variant;
  std::string label;
  std::string paper;
  std::vector<double> by_seed;

  [[nodiscard]] double mean() const;
  /// Standard deviation over the seeds; 0 for one.
  [[nodiscard]] double spread() const;
};

/// `results` is {variant: {seed: {verb: JSON}}}. Numbers come first, curves as one row an index. FormatError names a
/// pointer that leads to no number.
std::vector<FindingRow> summarize_finding(const Finding& finding, const nlohmann::json& results, bool curves);

/// The table as Markdown and as CSV, one row a value and variant.
std::string to_markdown(const Finding& finding, const std::vector<FindingRow>& rows);
std::string to_csv(const Finding& finding, const std::vector<FindingRow>& rows);

}  // namespace app::cli
