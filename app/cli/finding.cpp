#include "app/cli/finding.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/json_io.h"
#include "resources/embedded.h"

namespace app::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "findings/";
constexpr std::string_view kJson = ".json";

FindingMeasure read_measure(const json& object) {
  FindingMeasure measure;
  measure.verb = object.at("verb");
  measure.arguments = object.value("arguments", std::vector<std::string>{});
  measure.variants = object.value("variants", std::vector<std::string>{});
  for (const json& value : object.value("values", json::array())) {
    measure.values.push_back({value.at("label"), value.at("pointer"), value.value("paper", "")});
  }
  for (const json& curve : object.value("curves", json::array())) {
    measure.curves.push_back({curve.at("label"), curve.at("pointer"), curve.at("x"), curve.at("y"),
                              curve.value("first_x", std::int64_t{0}), curve.value("log_y", false)});
  }
  return measure;
}

/// A place whose missing members are those of `otherwise`.
FindingPlace read_place(const json& object, const FindingPlace& otherwise) {
  return {object.value("variant", otherwise.variant), object.value("measure", otherwise.measure),
          object.value("pointer", otherwise.pointer)};
}

FindingCheck read_check(const json& object) {
  FindingCheck check;
  check.expected = object.at("expected");
  check.value = read_place(object, {});
  check.above = object.contains("above");
  check.by = object.value("by", 0.0);
  const json& other = object.at(check.above ? "above" : "below");
  if (other.is_number()) {
    check.number = other.get<double>();
  } else {
    check.other = read_place(other, check.value);
  }
  return check;
}

bool is_measured(const Finding& finding, const FindingPlace& place) {
  const auto named = [&](const FindingVariant& variant) { return variant.name == place.variant; };
  return std::any_of(finding.variants.begin(), finding.variants.end(), named) &&
         place.measure < finding.measures.size() && finding.measures[place.measure].takes(place.variant);
}

void require_measured(const Finding& finding, const FindingCheck& check) {
  if (is_measured(finding, check.value) && (!check.other || is_measured(finding, *check.other))) return;
  throw engine::FormatError(finding.name, "the check \"" + check.expected + "\" names a measure that is not taken");
}

}  // namespace

bool FindingMeasure::takes(const std::string& variant) const {
  return variants.empty() || std::find(variants.begin(), variants.end(), variant) != variants.end();
}

Finding finding_from_json(const std::string& name, const json& object) {
  try {
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
    for (const json& check : object.value("checks", json::array())) finding.checks.push_back(read_check(check));
    for (const FindingCheck& check : finding.checks) require_measured(finding, check);
    return finding;
  } catch (const json::exception& error) {
    throw engine::FormatError(name, error.what());
  }
}

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
  if (text) return finding_from_json(name, engine::parse_json(*text, name));
  std::string names;
  for (const std::string& known : finding_names()) names += (names.empty() ? "" : ", ") + known;
  throw engine::ConfigError("name", "no finding is called " + name + "; there are " + names);
}

}  // namespace app::cli
