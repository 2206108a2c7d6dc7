#include "widgets/run_table.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>
#include <map>
#include <utility>

#include "widgets/numbers.h"
#include "widgets/palette.h"
#include "widgets/recipe_fields.h"

namespace widgets {
namespace {

// The pass schedule, the one list that people compare, as people write it.
bool is_schedule(const nlohmann::json& value) {
  if (!value.is_array() || value.empty()) return false;
  return std::all_of(value.begin(), value.end(), [](const nlohmann::json& stage) {
    return stage.is_object() && stage.size() == 2 && stage.contains("share") && stage.contains("passes") &&
           stage["share"].is_number() && stage["passes"].is_number_integer();
  });
}

QString value_text(const nlohmann::json& value) {
  if (is_schedule(value)) {
    std::vector<engine::Stage> stages;
    for (const auto& stage : value) stages.push_back({stage["share"].get<double>(), stage["passes"].get<int>()});
    return schedule_text(stages);
  }
  if (value.is_string()) return QString::fromStdString(value.get<std::string>());
  if (value.is_number_float()) return exact_number(value.get<double>());
  return QString::fromStdString(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

// Members of objects become dotted names; lists stay one value.
void flatten(const nlohmann::json& value, const std::string& name, std::map<std::string, QString>& out) {
  if (!value.is_object()) {
    out[name] = value_text(value);
    return;
  }
  for (const auto& [key, member] : value.items()) flatten(member, name.empty() ? key : name + "." + key, out);
}

}  // namespace

void RunTableModel::set_runs(std::vector<RunSettings> runs) {
  beginResetModel();
  runs_ = std::move(runs);
  std::map<std::string, std::vector<QString>> settings;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    std::map<std::string, QString> flat;
    flatten(runs_[i].settings, {}, flat);
    for (const auto& [name, value] : flat) {
      auto& values = settings[name];
      values.resize(runs_.size(), QStringLiteral("–"));
      values[i] = value;
    }
  }
  rows_.clear();
  for (auto& [name, values] : settings) {
    const bool differs = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
    rows_.push_back({QString::fromStdString(name), std::move(values), differs});
  }
  rebuild();
  endResetModel();
}

void RunTableModel::set_only_differences(bool only) {
  beginResetModel();
  only_differences_ = only;
  rebuild();
  endResetModel();
}

void RunTableModel::rebuild() {
  shown_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].differs || !only_differences_) shown_.push_back(static_cast<int>(i));
  }
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& setting = row(index.row());
  if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
    return setting.values[static_cast<std::size_t>(index.column())];
  if (role == Qt::FontRole && setting.differs && !only_differences_) return title_font();
  return {};
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const int count = orientation == Qt::Horizontal ? columnCount() : rowCount();
  if (role != Qt::DisplayRole || section < 0 || section >= count) return {};
  return orientation == Qt::Horizontal ? runs_[static_cast<std::size_t>(section)].name : row(section).name;
}

RunTable::RunTable(QWidget* parent) : QTableView(parent), model_(new RunTableModel(this)) {
  setModel(model_);
  setAccessibleName(tr("Settings that differ between the selected runs"));
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setShowGrid(false);
  setWordWrap(false);
  verticalHeader()->setDefaultSectionSize(26);
  verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  horizontalHeader()->setMaximumSectionSize(320);
}

FigureTable RunTable::to_table() const {
  FigureTable table;
  table.columns.push_back(QStringLiteral("setting"));
  for (int column = 0; column < model_->columnCount(); ++column) {
    table.columns.push_back(model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
  }
  for (int row = 0; row < model_->rowCount(); ++row) {
    std::vector<QString> cells = {model_->headerData(row, Qt::Vertical, Qt::DisplayRole).toString()};
    for (int column = 0; column < model_->columnCount(); ++column)
      cells.push_back(model_->index(row, column).data().toString());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void RunTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QGuiApplication::clipboard()->setText(QString::fromUtf8(to_csv(to_table(), {})));
    return;
  }
  QTableView::keyPressEvent(event);
}

}  // namespace widgets
