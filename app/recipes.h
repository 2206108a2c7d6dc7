// The recipes that ship with the program.
#pragma once

#include <QString>
#include <QStringList>

#include "engine/recipe.h"

namespace app {

/// Names, "demo" first.
QStringList recipe_names();
/// FormatError or ConfigError when it is missing or broken.
engine::Recipe shipped_recipe(const QString& name);

}  // namespace app
