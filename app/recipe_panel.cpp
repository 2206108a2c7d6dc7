#include "app/recipe_panel.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <exception>

#include "app/action_button.h"
#include "app/paths.h"
#include "app/recipes.h"
#include "app/training_actions.h"
#include "engine/json_io.h"
#include "widgets/config_form.h"
#include "widgets/figure_export.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kLabelWidth = 116;  // as in the form below

}  // namespace

RecipePanel::RecipePanel(TrainingActions& actions, QWidget* parent)
    : QWidget(parent),
      recipes_(new QComboBox(this)),
      form_(new widgets::ConfigForm(this)),
      open_(make_action(this, tr("Open a recipe file…"), Qt::ALT | Qt::SHIFT | Qt::Key_O, [this] { open_file(); })),
      save_(make_action(this, tr("Save the recipe to a file…"), Qt::CTRL | Qt::Key_S, [this] { save_file(); })) {
  recipes_->addItems(recipe_names());
  recipes_->addItem(tr("Open a file…"));
  recipes_->setAccessibleName(tr("Recipe"));
  recipes_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  recipes_->setMinimumContentsLength(12);
  auto* label = new QLabel(tr("Recipe"), this);
  widgets::set_kind(*label, "secondary");
  label->setMinimumWidth(kLabelWidth);

  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(label);
  row->addWidget(recipes_, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(6);
  layout->addLayout(row);
  layout->addWidget(form_);
  layout->addSpacing(2);
  layout->addWidget(make_buttons(actions));
  connect(recipes_, &QComboBox::activated, this, &RecipePanel::choose);
  connect(form_, &widgets::ConfigForm::edited, this, [this] {
    show_name();
    emit changed();
  });
}

QWidget* RecipePanel::make_buttons(TrainingActions& actions) {
  auto* box = new QWidget(this);
  auto* stop = new QPushButton(tr("Stop…"), box);
  auto* stop_menu = new QMenu(stop);
  stop_menu->addActions({actions.stop_save, actions.finish, actions.stop_discard});
  stop->setMenu(stop_menu);
  stop->setAccessibleName(tr("Stop the training"));
  auto* first = new QHBoxLayout;
  first->addWidget(make_button(actions.main, box, "primary"));
  first->addWidget(make_button(actions.step, box));
  first->addWidget(stop);
  auto* second = new QHBoxLayout;
  for (QAction* action : {actions.rewind, actions.new_seed, actions.go_on}) second->addWidget(make_button(action, box));
  auto* rows = new QVBoxLayout(box);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(8);
  for (QHBoxLayout* row : {first, second}) {
    row->setSpacing(8);
    row->addStretch(1);
    rows->addLayout(row);
  }
  const auto refresh = [stop, &actions] {
    stop->setEnabled(actions.stop_save->isEnabled() || actions.stop_discard->isEnabled());
  };
  connect(actions.stop_save, &QAction::changed, stop, refresh);
  connect(actions.stop_discard, &QAction::changed, stop, refresh);
  refresh();
  return box;
}

// The box names the recipe that the form was filled from; a name of its own otherwise.
void RecipePanel::show_name() {
  const QString name = QString::fromStdString(form_->recipe().name);
  recipes_->setCurrentIndex(recipes_->findText(name));
  recipes_->setPlaceholderText(name);
  recipes_->setToolTip(QString::fromStdString(form_->recipe().claim));
}

void RecipePanel::set_recipe(const engine::Recipe& recipe, std::uint64_t seed) {
  form_->set_recipe(recipe);
  form_->set_seed(seed);
  show_name();
}

const engine::Recipe& RecipePanel::recipe() const { return form_->recipe(); }
std::uint64_t RecipePanel::seed() const { return form_->seed(); }
QString RecipePanel::problem() const { return form_->problem(); }
void RecipePanel::focus_recipe() { recipes_->setFocus(); }

void RecipePanel::set_locked(bool locked) {
  form_->set_locked(locked);
  recipes_->setEnabled(!locked);
  open_->setEnabled(!locked);
}

void RecipePanel::choose(int index) {
  if (index == recipes_->count() - 1) {
    show_name();
    open_file();
    return;
  }
  try {
    set_recipe(shipped_recipe(recipes_->itemText(index)), form_->seed());
    emit changed();
  } catch (const std::exception& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

void RecipePanel::open_file() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open a recipe"), {}, tr("Recipes (*.json)"));
  if (file.isEmpty()) return;
  try {
    set_recipe(engine::load_recipe(to_path(file)), form_->seed());
    emit changed();
  } catch (const std::exception& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

void RecipePanel::save_file() {
  const QString name = QString::fromStdString(form_->recipe().name) + ".json";
  const QString file = QFileDialog::getSaveFileName(this, tr("Save the recipe"), name, tr("Recipes (*.json)"));
  if (file.isEmpty()) return;
  try {
    widgets::write_file(file, QByteArray::fromStdString(engine::dump_json(engine::to_json(form_->recipe()), 2) + "\n"));
  } catch (const std::exception& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

}  // namespace app
