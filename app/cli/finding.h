// A finding: variants of a training over several seeds, verbs that measure them, and what is expected of the numbers.
// One JSON file each in resources/findings/; what it states is data, what it finds is measured.
//
//   {"claim": "...", "paper": "Fig. 3: ...",
//    "seeds": [1, 2, 3],
//    "variants": [{"name": "K <= 2", "recipe": "two-pass-only", "set": ["train.steps=900"]}, ...],
//    "measures": [{"verb": "stability", "arguments": ["--passes", "30"],
//                  "values": [{"label": "loss at pass 30", "pointer": "/loss/30", "paper": "rises"}],
//                  "curves": [{"label": "loss", "pointer": "/loss", "x": "feedback passes", "y": "loss (nats)"}]}],
//    "checks": [{"expected": "the loss rises past the trained depth", "variant": "K <= 2", "measure": 0,
//                "pointer": "/loss/30", "above": {"pointer": "/loss/1"}, "by": 0.05}]}
//
// A check compares a number with another ("above" or "below": a number, or an object whose missing members are those of
// the check itself); it holds in a seed when they differ by more than "by". A measure with "variants" is taken of those
// alone.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace app::cli {

struct FindingVariant {
  std::string name;
  std::string recipe;
  std::vector<std::string> overrides;
};

/// A number in a verb's JSON.
struct FindingValue {
  std::string label;
  std::string pointer;  ///< JSON pointer
  std::string paper;    ///< what the paper has in its place
};

/// A list of numbers in a verb's JSON, drawn over their places.
struct FindingCurve {
  std::string label;
  std::string pointer;
  std::string x_axis;
  std::string y_axis;
  std::int64_t first_x = 0;  ///< x of the first number
  bool log_y = false;
};

struct FindingMeasure {
  std::string verb;
  std::vector<std::string> arguments;
  std::vector<std::string> variants;  ///< of which it is taken; empty: of all
  std::vector<FindingValue> values;
  std::vector<FindingCurve> curves;

  [[nodiscard]] bool takes(const std::string& variant) const;
};

/// One measured number.
struct FindingPlace {
  std::string variant;
  std::size_t measure = 0;
  std::string pointer;
};

struct FindingCheck {
  std::string expected;  ///< in words
  FindingPlace value;
  bool above = true;  ///< of the other, or below it
  double number = 0;  ///< the other, unless `other` is given
  std::optional<FindingPlace> other;
  double by = 0;
};

struct Finding {
  std::string name;
  std::string claim;
  std::string paper;
  std::vector<std::uint64_t> seeds;
  std::vector<FindingVariant> variants;
  std::vector<FindingMeasure> measures;
  std::vector<FindingCheck> checks;
};

/// FormatError when it does not say what it must, or a check names what is not there.
Finding finding_from_json(const std::string& name, const nlohmann::json& object);
/// One that ships. ConfigError when there is none of this name (it lists them).
Finding find_finding(const std::string& name);
std::vector<std::string> finding_names();

}  // namespace app::cli
