// The settings of a recipe as rows of a form: how each is called, read from a recipe and put back.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "engine/recipe.h"

namespace widgets {

enum class FieldKind { text, integer, number, choice, flag, schedule, rows };
enum class FieldGroup { basic, model, data, training };

struct RecipeField {
  const char* path;  ///< dotted, as ConfigError names it; rows and schedule: the first of theirs
  const char* label;
  FieldKind kind = FieldKind::number;
  FieldGroup group = FieldGroup::basic;
  const char* hint = "";
  QStringList choices = {};
};

const std::vector<RecipeField>& recipe_fields();
/// What the form shows for a recipe: "2e-3", "40 / 35 / 25", "64 × 44".
QString field_text(const RecipeField& field, const engine::Recipe& recipe);
/// Puts a text back; throws engine::ConfigError naming the field.
void set_field(engine::Recipe& recipe, const RecipeField& field, const QString& text);
/// Whether an error about `name` belongs to this row ("data.seq" to the rows × tokens row).
bool owns_field(const RecipeField& field, const std::string& name);

/// "40 / 35 / 25" (K = 1, 2, 3 in per cent), or "75x2 / 25x4" with passes named.
QString schedule_text(const std::vector<engine::Stage>& stages);
std::vector<engine::Stage> parse_schedule(const QString& text);

}  // namespace widgets
