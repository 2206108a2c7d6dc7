// Reads the members of one JSON object into a configuration. Every error is a ConfigError with the dotted field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/error.h"

namespace engine {

/// An enumerator and the name it has in files.
template <typename Enum>
struct EnumName {
  Enum value;
  const char* name;
};

template <typename Enum>
std::string name_of(Enum value, std::span<const EnumName<Enum>> names) {
  for (const EnumName<Enum>& entry : names) {
    if (entry.value == value) {
      return entry.name;
    }
  }
  return "?";
}

/// "gate, add or concat".
std::string or_list(const std::vector<std::string>& names);

/// Missing members leave the value as it is; finish() refuses members that nothing asked for.
class FieldReader {
 public:
  /// `prefix` is what stands before a member's name in messages: "model." or "".
  FieldReader(const nlohmann::json& object, std::string prefix);

  void read(const char* name, std::int64_t& value);
  void read(const char* name, int& value);
  void read(const char* name, double& value);
  void read(const char* name, float& value);
  void read(const char* name, bool& value);
  void read(const char* name, std::string& value);
  template <typename Enum>
  void read(const char* name, Enum& value, std::span<const EnumName<Enum>> names) {
    std::vector<std::string> allowed;
    for (const EnumName<Enum>& entry : names) {
      allowed.emplace_back(entry.name);
    }
    if (const nlohmann::json* member = find(name)) {
      value = names[choice(name, *member, allowed)].value;
    }
  }
  /// The member itself, or nullptr.
  const nlohmann::json* find(const char* name);
  [[nodiscard]] std::string field(const std::string& name) const { return prefix_ + name; }
  /// ConfigError for an unknown member, with the nearest known name.
  void finish() const;

 private:
  [[nodiscard]] std::size_t choice(const char* name, const nlohmann::json& member,
                                   const std::vector<std::string>& allowed) const;

  const nlohmann::json& object_;
  std::string prefix_;
  std::vector<std::string> known_;
};

/// ConfigError unless `value` lies in [low, high] (NaN never does).
void require_range(const std::string& field, std::int64_t value, std::int64_t low, std::int64_t high);
void require_range(const std::string& field, double value, double low, double high);
/// ConfigError unless 0 < value <= high.
void require_positive(const std::string& field, double value, double high);
/// Shortest text of a number, C locale.
std::string number_text(double value);

}  // namespace engine
