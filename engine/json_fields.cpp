#include "engine/json_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/json_io.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53: every integer up to it is a double

std::string shown(const json& value) { return value.is_string() ? printable(value.get<std::string>()) : value.dump(); }

[[noreturn]] void wrong_type(const std::string& field, const char* wanted, const json& value) {
  std::string text = shown(value);
  if (text.size() > 90) {
    text = text.substr(0, 90) + "...";
  }
  throw ConfigError(field, std::string("must be ") + wanted + ", not " + text);
}

/// Accepts 2000 and 2e3, never 2.5 and never a number that int64 cannot hold.
std::int64_t integer_of(const std::string& field, const json& value) {
  const char* const wanted = "a whole number";
  if (value.is_number_unsigned()) {
    if (value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      wrong_type(field, wanted, value);
    }
    return static_cast<std::int64_t>(value.get<std::uint64_t>());
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  const double number = value.is_number_float() ? value.get<double>() : std::nan("");
  if (!(std::abs(number) <= kMaxExactInteger) || number != std::trunc(number)) {
    wrong_type(field, wanted, value);
  }
  return static_cast<std::int64_t>(number);
}

double number_of(const std::string& field, const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    wrong_type(field, "a finite number", value);
  }
  return value.get<double>();
}

/// Levenshtein distance.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// "; did you mean rate?", or the known names when none is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const std::string start = name.substr(0, 64);
  const std::string* nearest = nullptr;
  std::size_t distance = 3;
  for (const std::string& candidate : known) {
    if (const std::size_t d = edit_distance(start, candidate); d < distance) {
      distance = d;
      nearest = &candidate;
    }
  }
  return nearest != nullptr ? "did you mean \"" + *nearest + "\"?" : "known are " + or_list(known);
}

}  // namespace

std::string or_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

FieldReader::FieldReader(const json& object, std::string prefix) : object_(object), prefix_(std::move(prefix)) {
  if (!object.is_object()) {
    const std::string whole = prefix_.empty() ? "recipe" : prefix_.substr(0, prefix_.size() - 1);
    wrong_type(whole, "an object", object);
  }
}

const json* FieldReader::find(const char* name) {
  known_.emplace_back(name);
  const auto member = object_.find(name);
  return member == object_.end() ? nullptr : &*member;
}

void FieldReader::read(const char* name, std::int64_t& value) {
  if (const json* member = find(name)) {
    value = integer_of(field(name), *member);
  }
}

void FieldReader::read(const char* name, int& value) {
  if (const json* member = find(name)) {
    const std::int64_t number = integer_of(field(name), *member);
    require_range(field(name), number, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    value = static_cast<int>(number);
  }
}

void FieldReader::read(const char* name, double& value) {
  if (const json* member = find(name)) {
    value = number_of(field(name), *member);
  }
}

void FieldReader::read(const char* name, float& value) {
  if (const json* member = find(name)) {
    const double number = number_of(field(name), *member);
    const double limit = std::numeric_limits<float>::max();
    require_range(field(name), number, -limit, limit);
    value = static_cast<float>(number);
  }
}

void FieldReader::read(const char* name, bool& value) {
  if (const json* member = find(name)) {
    if (!member->is_boolean()) {
      wrong_type(field(name), "true or false", *member);
    }
    value = member->get<bool>();
  }
}

void FieldReader::read(const char* name, std::string& value) {
  if (const json* member = find(name)) {
    if (!member->is_string()) {
      wrong_type(field(name), "a text", *member);
    }
    value = member->get<std::string>();
  }
}

std::size_t FieldReader::choice(const char* name, const json& member, const std::vector<std::string>& allowed) const {
  const auto found =
      member.is_string() ? std::find(allowed.begin(), allowed.end(), member.get<std::string>()) : allowed.end();
  if (found == allowed.end()) {
    wrong_type(field(name), or_list(allowed).c_str(), member);
  }
  return static_cast<std::size_t>(found - allowed.begin());
}

void FieldReader::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      const std::string shown_name = printable(name);
      throw ConfigError(prefix_ + shown_name.substr(1, shown_name.size() - 2),
                        "there is no such field; " + suggestion(name, known_));
    }
  }
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto printed = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), printed.ptr};
}

void require_range(const std::string& field, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    throw ConfigError(field, "must be from " + std::to_string(low) + " to " + std::to_string(high) + ", not " +
                                 std::to_string(value));
  }
}

void require_range(const std::string& field, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw ConfigError(field,
                      "must be from " + number_text(low) + " to " + number_text(high) + ", not " + number_text(value));
  }
}

void require_positive(const std::string& field, double value, double high) {
  if (!(value > 0 && value <= high)) {
    throw ConfigError(field, "must be above 0 and at most " + number_text(high) + ", not " + number_text(value));
  }
}

}  // namespace engine
