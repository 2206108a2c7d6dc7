#include "engine/data/task_options.h"

#include <algorithm>
#include <utility>

#include "engine/error.h"

namespace engine::data {

TaskOptions::TaskOptions(const nlohmann::json& object, std::string field) : object_(object), field_(std::move(field)) {
  if (!object.is_object() || !object.contains("name") || !object["name"].is_string()) {
    throw ConfigError(field_, "a task is an object with a \"name\", such as {\"name\": \"completion\"}");
  }
  name_ = object["name"].get<std::string>();
}

std::int64_t TaskOptions::checked(const nlohmann::json& value, const std::string& member, std::int64_t least,
                                  std::int64_t most) const {
  const std::string range = "from " + std::to_string(least) + " to " + std::to_string(most);
  if (!value.is_number_integer()) throw ConfigError(field(member), "this must be an integer " + range);
  // An unsigned value above the signed range would wrap: compare it as unsigned first.
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (huge || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    throw ConfigError(field(member), value.dump() + " is out of range; use an integer " + range);
  }
  return value.get<std::int64_t>();
}

std::int64_t TaskOptions::integer(const std::string& member, std::int64_t otherwise, std::int64_t least,
                                  std::int64_t most) {
  known_.insert(member);
  return object_.contains(member) ? checked(object_[member], member, least, most) : otherwise;
}

std::vector<std::int64_t> TaskOptions::integers(const std::string& member, std::vector<std::int64_t> otherwise,
                                                std::int64_t least, std::int64_t most) {
  known_.insert(member);
  if (!object_.contains(member)) return otherwise;
  const nlohmann::json& value = object_[member];
  if (!value.is_array()) return {checked(value, member, least, most)};
  if (value.empty()) throw ConfigError(field(member), "the list is empty; give at least one integer");
  std::vector<std::int64_t> result;
  for (const nlohmann::json& item : value) result.push_back(checked(item, member, least, most));
  return result;
}

std::string TaskOptions::word(const std::string& member, const std::string& otherwise,
                              const std::vector<std::string>& words) {
  known_.insert(member);
  if (!object_.contains(member)) return otherwise;
  const nlohmann::json& value = object_[member];
  if (value.is_string() && std::find(words.begin(), words.end(), value.get<std::string>()) != words.end()) {
    return value.get<std::string>();
  }
  std::string choices;
  for (const std::string& choice : words) choices += (choices.empty() ? "\"" : " or \"") + choice + "\"";
  throw ConfigError(field(member), value.dump() + " is unknown; use " + choices);
}

void TaskOptions::finish() const {
  for (const auto& item : object_.items()) {
    if (known_.count(item.key()) != 0) continue;
    std::string names;
    for (const std::string& known : known_) names += (names.empty() ? "" : ", ") + known;
    throw ConfigError(field(item.key()), "the task \"" + name_ + "\" has no such option; it knows " + names);
  }
}

}  // namespace engine::data
