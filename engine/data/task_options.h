// Reads a task's options strictly: wrong types, values out of range and unknown members name their field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace engine::data {

/// One entry of `data.tasks`. Every error is a ConfigError naming "field.member".
class TaskOptions {
 public:
  /// `field` is where the entry stands, such as "data.tasks[0]". ConfigError unless it is an object with a name.
  TaskOptions(const nlohmann::json& object, std::string field);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string field(const std::string& member) const { return field_ + "." + member; }
  /// An integer from `least` to `most`.
  std::int64_t integer(const std::string& member, std::int64_t otherwise, std::int64_t least, std::int64_t most);
  /// A list of at least one such integer; a single integer counts as a list of one.
  std::vector<std::int64_t> integers(const std::string& member, std::vector<std::int64_t> otherwise, std::int64_t least,
                                     std::int64_t most);
  /// One of the given words.
  std::string word(const std::string& member, const std::string& otherwise, const std::vector<std::string>& words);
  /// Refuses members that were not asked for.
  void finish() const;

 private:
  [[nodiscard]] std::int64_t checked(const nlohmann::json& value, const std::string& member, std::int64_t least,
                                     std::int64_t most) const;

  const nlohmann::json& object_;
  std::string field_;
  std::string name_;
  std::set<std::string> known_ = {"name", "share"};
};

}  // namespace engine::data
