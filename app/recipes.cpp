#include "app/recipes.h"

#include <algorithm>

#include "app/paths.h"
#include "engine/json_io.h"
#include "resources/embedded.h"

namespace app {

QStringList recipe_names() {
  const QString folder = "recipes/";
  QStringList names;
  for (const resources::File& file : resources::files()) {
    const QString name = QString::fromUtf8(file.name.data(), static_cast<qsizetype>(file.name.size()));
    if (name.startsWith(folder) && name.endsWith(".json")) names << name.mid(folder.size()).chopped(5);
  }
  std::stable_partition(names.begin(), names.end(), [](const QString& name) { return name == "demo"; });
  return names;
}

engine::Recipe shipped_recipe(const QString& name) {
  const std::string text = resource("recipes/" + name + ".json").toStdString();
  return engine::recipe_from_json(engine::parse_json(text, name.toStdString() + ".json"));
}

}  // namespace app
