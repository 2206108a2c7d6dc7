#include "widgets/config_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStyle>
#include <QVBoxLayout>

#include "engine/error.h"
#include "widgets/style.h"

namespace widgets {
namespace {

constexpr int kLabelWidth = 116;

// An error's text without the field, which the row's label says.
QString sentence_of(const engine::ConfigError& error) {
  QString text = QString::fromUtf8(error.what());
  const QString prefix = QString::fromStdString(error.field()) + QStringLiteral(": ");
  if (text.startsWith(prefix)) text = text.mid(prefix.size());
  for (const RecipeField& field : recipe_fields()) {  // other rows are named as the form names them
    text.replace(
        QRegularExpression(QStringLiteral("\\b%1\\b").arg(QRegularExpression::escape(QLatin1String(field.path)))),
        ConfigForm::tr(field.label));
  }
  return text;
}

QGridLayout* make_grid() {
  auto* grid = new QGridLayout;
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(0);
  grid->setColumnMinimumWidth(0, kLabelWidth);
  grid->setColumnStretch(1, 1);
  return grid;
}

}  // namespace

ConfigForm::ConfigForm(QWidget* parent) : QWidget(parent) {
  build();
  set_recipe(recipe_);
}

void ConfigForm::build() {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->setSpacing(6);
  QGridLayout* basic = make_grid();
  outer->addLayout(basic);
  more_ = new QPushButton(this);
  more_->setCheckable(true);
  set_kind(*more_, "link");
  connect(more_, &QPushButton::toggled, this, &ConfigForm::set_expanded);
  folded_ = new QWidget(this);
  QGridLayout* all = make_grid();
  folded_->setLayout(all);
  FieldGroup group = FieldGroup::basic;
  for (const RecipeField& field : recipe_fields()) {
    if (field.group == FieldGroup::basic) {
      add_row(*basic, &field, tr(field.label), tr(field.hint));
      continue;
    }
    if (group == FieldGroup::basic)
      add_row(*basic, nullptr, tr("Seed"), tr("of the weights, the batches and the noise"));
    if (field.group != group) {
      add_heading(*all, field.group == FieldGroup::model  ? tr("Model")
                        : field.group == FieldGroup::data ? tr("Data")
                                                          : tr("Training"));
    }
    group = field.group;
    add_row(*all, &field, tr(field.label), tr(field.hint));
  }
  general_ = new QLabel(this);
  general_->setWordWrap(true);
  set_kind(*general_, "error");
  general_->hide();
  outer->addWidget(more_, 0, Qt::AlignLeft);
  outer->addWidget(folded_);
  outer->addWidget(general_);
  set_expanded(false);
}

void ConfigForm::add_heading(QGridLayout& grid, const QString& text) {
  auto* heading = new QLabel(text, this);
  set_kind(*heading, "heading");
  heading->setContentsMargins(0, 8, 0, 4);
  grid.addWidget(heading, grid.rowCount(), 0, 1, 2);
}

ConfigForm::Row& ConfigForm::add_row(QGridLayout& grid, const RecipeField* field, const QString& label,
                                     const QString& hint) {
  Row row;
  row.field = field;
  row.label = new QLabel(label, this);
  set_kind(*row.label, "secondary");
  row.input = make_input(field);
  row.input->setAccessibleName(label);
  row.input->setAccessibleDescription(hint);
  row.input->setToolTip(hint);
  row.label->setToolTip(hint);
  row.label->setBuddy(row.input);
  row.message = new QLabel(this);
  row.message->setWordWrap(true);
  row.message->setTextFormat(Qt::PlainText);
  set_kind(*row.message, "error");
  row.message->hide();
  const int line = grid.rowCount();
  grid.addWidget(row.label, line, 0, Qt::AlignVCenter);
  grid.addWidget(row.input, line, 1);
  grid.addWidget(row.message, line + 1, 1);
  grid.setRowMinimumHeight(line, 32);
  rows_.push_back(row);
  return rows_.back();
}

QWidget* ConfigForm::make_input(const RecipeField* field) {
  if (field && field->kind == FieldKind::choice) {
    auto* box = new QComboBox(this);
    box->addItems(field->choices);
    box->setMinimumContentsLength(6);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    connect(box, &QComboBox::currentTextChanged, this, &ConfigForm::read_inputs);
    return box;
  }
  if (field && field->kind == FieldKind::flag) {
    auto* box = new QCheckBox(this);
    connect(box, &QCheckBox::toggled, this, &ConfigForm::read_inputs);
    return box;
  }
  auto* edit = new QLineEdit(this);
  connect(edit, &QLineEdit::textChanged, this, &ConfigForm::read_inputs);
  return edit;
}

QString ConfigForm::input_text(const Row& row) const {
  if (const auto* box = qobject_cast<QComboBox*>(row.input)) return box->currentText();
  if (const auto* box = qobject_cast<QCheckBox*>(row.input)) {
    return box->isChecked() ? QStringLiteral("true") : QStringLiteral("false");
  }
  return static_cast<QLineEdit*>(row.input)->text();
}

void ConfigForm::set_input_text(const Row& row, const QString& text) {
  if (auto* combo = qobject_cast<QComboBox*>(row.input))
    combo->setCurrentText(text);
  else if (auto* check = qobject_cast<QCheckBox*>(row.input))
    check->setChecked(text == QLatin1String("true"));
  else
    static_cast<QLineEdit*>(row.input)->setText(text);
}

void ConfigForm::set_recipe(const engine::Recipe& recipe) {
  filling_ = true;
  recipe_ = recipe;
  for (const Row& row : rows_) {
    if (row.field)
      set_input_text(row, field_text(*row.field, recipe));
    else
      set_input_text(row, QString::number(seed_));
  }
  filling_ = false;
  read_inputs();
}

void ConfigForm::set_seed(std::uint64_t seed) {
  seed_ = seed;
  filling_ = true;
  set_input_text(*row_of("seed"), QString::number(seed));
  filling_ = false;
  read_inputs();
}

bool ConfigForm::read_seed(const Row& row) {
  bool good = false;
  const qulonglong seed = input_text(row).trimmed().toULongLong(&good);
  set_message(row, good ? QString() : tr("needs a whole number, 0 or more"));
  if (good) seed_ = seed;
  return good;
}

// Every row is read, so that every wrong one says so; the whole is checked only when all rows can be read.
void ConfigForm::read_inputs() {
  if (filling_) return;
  engine::Recipe candidate = recipe_;
  bool readable = true;
  for (const Row& row : rows_) {
    if (!row.field) {
      readable = read_seed(row) && readable;
      continue;
    }
    try {
      if (input_text(row) != field_text(*row.field, candidate)) set_field(candidate, *row.field, input_text(row));
      set_message(row, {});
    } catch (const engine::ConfigError& error) {
      set_message(row, sentence_of(error));
      readable = false;
    }
  }
  general_->hide();
  valid_ = readable;
  try {
    if (readable) candidate.validate();
  } catch (const engine::ConfigError& error) {
    show_problem(error.field(), sentence_of(error));
  }
  if (valid_) recipe_ = candidate;
  emit edited(valid_);
}

void ConfigForm::show_problem(const std::string& field, const QString& sentence) {
  valid_ = false;
  for (const Row& row : rows_) {
    if (row.field ? !owns_field(*row.field, field) : field != "seed") continue;
    set_message(row, sentence);
    if (folded_->isAncestorOf(row.input)) set_expanded(true);
    return;
  }
  general_->setText(QString::fromStdString(field) + QStringLiteral(": ") + sentence);
  general_->show();
}

void ConfigForm::set_message(const Row& row, const QString& text) {
  if (row.message->text() == text && row.message->isHidden() == text.isEmpty()) return;
  row.message->setText(text);
  row.message->setVisible(!text.isEmpty());
  row.input->setProperty("invalid", !text.isEmpty());
  row.input->style()->unpolish(row.input);
  row.input->style()->polish(row.input);
  const QString hint = row.field ? tr(row.field->hint) : row.label->toolTip();
  row.input->setAccessibleDescription(text.isEmpty() ? hint : text);
}

QString ConfigForm::problem() const {
  if (valid_) return {};
  for (const Row& row : rows_) {
    if (!row.message->isHidden()) return row.label->text() + QStringLiteral(": ") + row.message->text();
  }
  return general_->text();
}

void ConfigForm::set_locked(bool locked) {
  for (const Row& row : rows_) row.input->setDisabled(locked);
}

void ConfigForm::set_expanded(bool expanded) {
  folded_->setVisible(expanded);
  more_->setChecked(expanded);
  more_->setText(expanded ? tr("▾ All settings") : tr("▸ All settings"));
  more_->setAccessibleName(tr("All settings"));
}

bool ConfigForm::expanded() const { return more_->isChecked(); }

const ConfigForm::Row* ConfigForm::row_of(const std::string& path) const {
  for (const Row& row : rows_) {
    if (row.field ? owns_field(*row.field, path) : path == "seed") return &row;
  }
  return nullptr;
}

QWidget* ConfigForm::input(const std::string& path) const {
  const Row* row = row_of(path);
  return row ? row->input : nullptr;
}

QString ConfigForm::message(const std::string& path) const {
  const Row* row = row_of(path);
  return row ? row->message->text() : QString();
}

}  // namespace widgets
