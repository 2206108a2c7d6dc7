// Recipe, seed and the buttons of a training: the upper half of the Training page's right side.
#pragma once

#include <QWidget>
#include <cstdint>

#include "engine/recipe.h"

class QAction;
class QComboBox;

namespace widgets {
class ConfigForm;
}

namespace app {

class TrainingActions;

class RecipePanel : public QWidget {
  Q_OBJECT

 public:
  explicit RecipePanel(TrainingActions& actions, QWidget* parent = nullptr);
  void set_recipe(const engine::Recipe& recipe, std::uint64_t seed);
  [[nodiscard]] const engine::Recipe& recipe() const;
  [[nodiscard]] std::uint64_t seed() const;
  /// First thing that is wrong with the fields; empty when all can be used.
  [[nodiscard]] QString problem() const;
  /// While a training runs the form shows it and cannot be changed.
  void set_locked(bool locked);
  [[nodiscard]] QAction* open_action() const { return open_; }
  [[nodiscard]] QAction* save_action() const { return save_; }
  void focus_recipe();

 signals:
  void changed();
  void failed(const QString& sentence);

 private:
  QWidget* make_buttons(TrainingActions& actions);
  void show_name();
  void choose(int index);
  void open_file();
  void save_file();

  QComboBox* recipes_;
  widgets::ConfigForm* form_;
  QAction* open_;
  QAction* save_;
};

}  // namespace app
