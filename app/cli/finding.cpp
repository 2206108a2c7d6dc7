#include "app/cli/finding.h"

#include <cmath>
#include <cstdio>

#include "engine/error.h"
#include "engine/json_io.h"
#include "resources/embedded.h"

namespace app::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "findings/";
constexpr std::string_view kJson = ".json";

std::vector<FindingValue> read_values(const json& measure, const char* member, bool curve) {
  std::vector<FindingValue> values;
  for (const json& value : measure.value(member, json::array())) {
    values.push_back({value.at("label"), value.at("pointer"), value.value("paper", ""), curve});
  }
  return values;
}

FindingMeasure read_measure(const json& object) {
  FindingMeasure measure;
  measure.verb = object.at("verb");
  measure.arguments = object.value("arguments", std::vector<std::string>{});
  measure.values = read_values(object, "values", false);
  for (const FindingValue& curve : read_values(object, "curves", true)) measure.values.push_back(curve);
  return measure;
}

Finding read_finding(const std::string& name, const json& object) {
  Finding finding;
  finding.name = name;
  finding.claim = object.at("claim");
  finding.paper = object.at("paper");
  finding.seeds = object.at("seeds").get<std::vector<std::uint64_t>>();
  for (const json& variant : object.at("variants")) {
    finding.variants.push_back(
        {variant.at("name"), variant.at("recipe"), variant.value("set", std::vector<std::string>{})});
  }
  for (const json& measure : object.at("measures")) finding.measures.push_back(read_measure(measure));
  return finding;
}

/// The JSON that a measure gave for one seed.
const json& measured(const json& results, const std::string& variant, std::uint64_t seed, std::size_t measure) {
  return results.at(variant).at(std::to_string(seed)).at(measure);
}

double number_at(const json& result, const std::string& pointer) {
  const json::json_pointer at(pointer);
  if (!result.contains(at) || !(result.at(at).is_number() || result.at(at).is_null())) {
    throw engine::FormatError(pointer, "leads to no number in what was measured");
  }
  return result.at(at).is_null() ? std::nan("") : result.at(at).get<double>();
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

}  // namespace

std::vector<std::string> finding_names() {
  std::vector<std::string> names;
  for (const resources::File& file : resources::files()) {
    if (!file.name.starts_with(kFolder) || !file.name.ends_with(kJson)) continue;
    names.emplace_back(file.name.substr(kFolder.size(), file.name.size() - kFolder.size() - kJson.size()));
  }
  return names;
}

Finding find_finding(const std::string& name) {
  const auto text = resources::find(std::string(kFolder) + name + std::string(kJson));
  if (!text) {
    std::string names;
    for (const std::string& known : finding_names()) names += (names.empty() ? "" : ", ") + known;
    throw engine::ConfigError("name", "no finding is called " + name + "; there are " + names);
  }
  try {
    return read_finding(name, engine::parse_json(*text, name));
  } catch (const json::exception& error) {
    throw engine::FormatError(name, error.what());
  }
}

double FindingRow::mean() const {
  double sum = 0;
  for (const double value : by_seed) sum += value;
  return by_seed.empty() ? std::nan("") : sum / static_cast<double>(by_seed.size());
}

double FindingRow::spread() const {
  if (by_seed.size() < 2) return 0;
  const double centre = mean();
  double squares = 0;
  for (const double value : by_seed) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(by_seed.size() - 1));
}

std::vector<FindingRow> summarize_finding(const Finding& finding, const json& results, bool curves) {
  std::vector<FindingRow> rows;
  for (std::size_t m = 0; m < finding.measures.size(); ++m) {
    for (const FindingValue& value : finding.measures[m].values) {
      if (value.curve != curves) continue;
      for (const FindingVariant& variant : finding.variants) {
        std::size_t points = 1;
        if (curves) {
          points =
              measured(results, variant.name, finding.seeds.front(), m).at(json::json_pointer(value.pointer)).size();
        }
        for (std::size_t i = 0; i < points; ++i) {
          const std::string place = curves ? "/" + std::to_string(i) : "";
          FindingRow row{variant.name, curves ? value.label + " " + std::to_string(i) : value.label, value.paper, {}};
          for (const std::uint64_t seed : finding.seeds) {
            row.by_seed.push_back(number_at(measured(results, variant.name, seed, m), value.pointer + place));
          }
          rows.push_back(std::move(row));
        }
      }
    }
  }
  return rows;
}

std::string to_markdown(const Finding& finding, const std::vector<FindingRow>& rows) {
  std::string text =
      "# " + finding.name + "\n\n" + finding.claim + "\n\nPaper: " + finding.paper + "\n\n" +
      "| what | variant | paper | mean over seeds | standard deviation | by seed |\n|---|---|---|---|---|---|\n";
  for (const FindingRow& row : rows) {
    std::string seeds;
    for (const double value : row.by_seed) seeds += (seeds.empty() ? "" : ", ") + short_number(value);
    text += "| " + row.label + " | " + row.variant + " | " + row.paper + " | " + short_number(row.mean()) + " | " +
            short_number(row.spread()) + " | " + seeds + " |\n";
  }
  return text + "\nSeeds: " + std::to_string(finding.seeds.size()) + ". Made by `fullband-cli reproduce " +
         finding.name + "`.\n";
}

std::string to_csv(const Finding& finding, const std::vector<FindingRow>& rows) {
  std::string text = "what,variant";
  for (const std::uint64_t seed : finding.seeds) text += ",seed " + std::to_string(seed);
  text += ",mean,standard deviation\n";
  for (const FindingRow& row : rows) {
    text += csv_text(row.label) + "," + csv_text(row.variant);
    for (const double value : row.by_seed) text += "," + short_number(value);
    text += "," + short_number(row.mean()) + "," + short_number(row.spread()) + "\n";
  }
  return text;
}

}  // namespace app::cli
