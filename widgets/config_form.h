// The form of a recipe: a label and an input a row, what is wrong with it below, all further settings folded away. The
// form holds the text as typed; the recipe is what the texts say, as long as they say something usable.
#pragma once

#include <QWidget>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/recipe.h"
#include "widgets/recipe_fields.h"

class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace widgets {

class ConfigForm : public QWidget {
  Q_OBJECT

 public:
  explicit ConfigForm(QWidget* parent = nullptr);

  /// Fills the form; emits nothing.
  void set_recipe(const engine::Recipe& recipe);
  void set_seed(std::uint64_t seed);
  /// The last recipe that was usable; the one shown when valid().
  [[nodiscard]] const engine::Recipe& recipe() const { return recipe_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] bool valid() const { return valid_; }
  /// First thing that is wrong, as a sentence with the row's label; empty when valid.
  [[nodiscard]] QString problem() const;
  /// Shows an error that was found elsewhere (by the trainer) at its row.
  void show_problem(const std::string& field, const QString& sentence);
  /// Read-only while a training runs.
  void set_locked(bool locked);
  void set_expanded(bool expanded);
  [[nodiscard]] bool expanded() const;
  /// The input of a row, by dotted path ("seed" for the seed): for tests and for focus.
  [[nodiscard]] QWidget* input(const std::string& path) const;
  [[nodiscard]] QString message(const std::string& path) const;

 signals:
  void edited(bool valid);

 private:
  struct Row {
    const RecipeField* field = nullptr;  // null: the seed
    QLabel* label = nullptr;
    QWidget* input = nullptr;
    QLabel* message = nullptr;
  };
  void build();
  void add_heading(QGridLayout& grid, const QString& text);
  Row& add_row(QGridLayout& grid, const RecipeField* field, const QString& label, const QString& hint);
  QWidget* make_input(const RecipeField* field);
  [[nodiscard]] const Row* row_of(const std::string& path) const;
  [[nodiscard]] QString input_text(const Row& row) const;
  void set_input_text(const Row& row, const QString& text);
  void set_message(const Row& row, const QString& text);
  void read_inputs();
  bool read_seed(const Row& row);

  engine::Recipe recipe_;
  std::uint64_t seed_ = 1;
  bool valid_ = true;
  bool filling_ = false;
  std::vector<Row> rows_;
  QLabel* general_ = nullptr;
  QPushButton* more_ = nullptr;
  QWidget* folded_ = nullptr;
};

}  // namespace widgets
