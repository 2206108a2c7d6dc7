// One field of a recipe changed by text, as the command line and the form do it.
#include <algorithm>
#include <charconv>

#include "engine/json_fields.h"
#include "engine/json_io.h"
#include "engine/recipe.h"

namespace engine {
namespace {

using nlohmann::json;

/// A text field takes the text as it is ("name=123"); other fields take JSON, or a bare word ("model.fusion=add").
json override_value(const std::string& text, const json& old_value) {
  json value;
  try {
    value = parse_json(text, "value");
  } catch (const FormatError&) {
    return text;
  }
  return old_value.is_string() && !value.is_string() ? json(text) : value;
}

json& array_element(json& array, const std::string& part, const std::string& field) {
  std::size_t index = 0;
  const char* end = part.data() + part.size();
  const auto [stopped, error] = std::from_chars(part.data(), end, index);
  if (error != std::errc() || stopped != end || index >= array.size()) {
    throw ConfigError(field, "there is no such place in a list of " + std::to_string(array.size()));
  }
  return array[index];
}

/// A member that does not exist yet is made here, and refused by name when the recipe is read back.
json& step_into(json& value, const std::string& part, const std::string& field) {
  if (value.is_array()) {
    return array_element(value, part, field);
  }
  if (!value.is_object()) {
    throw ConfigError(field, "there is no such field; what stands before the last dot has no members");
  }
  return value[part];
}

json& locate(json& root, const std::string& field) {
  json* place = &root;
  std::size_t start = 0;
  while (start <= field.size()) {
    const std::size_t dot = std::min(field.find('.', start), field.size());
    place = &step_into(*place, field.substr(start, dot - start), field);
    start = dot + 1;
  }
  return *place;
}

}  // namespace

void apply_override(Recipe& recipe, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError("override " + printable(assignment), "must look like train.rate=0.001");
  }
  json object = to_json(recipe);
  json& place = locate(object, assignment.substr(0, equals));
  place = override_value(assignment.substr(equals + 1), place);
  recipe = recipe_from_json(object);
}

}  // namespace engine
