#include "app/run_side.h"

#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/action_button.h"
#include "widgets/run_list.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kWidth = 248;

}  // namespace

RunSide::RunSide(QAction* new_run, QAction* open_run, QWidget* parent)
    : QFrame(parent), list_(new widgets::RunList(this)), empty_(new QLabel(this)) {
  widgets::set_kind(*this, "side");
  setFixedWidth(kWidth);
  auto* heading = new QLabel(tr("Runs"), this);
  widgets::set_kind(*heading, "heading");
  empty_->setText(
      tr("No runs yet. Start one with the button on the right of the Training page, or open a run folder."));
  empty_->setWordWrap(true);
  widgets::set_kind(*empty_, "caption");
  list_->setAccessibleName(tr("Runs"));
  list_->setToolTip(tr("Ctrl or Shift and a click lays several runs over each other"));

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(4);
  buttons->addWidget(make_button(new_run, this, "primary"));
  buttons->addWidget(make_button(open_run, this));
  buttons->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 16, 12, 16);
  layout->setSpacing(8);
  layout->addWidget(heading);
  layout->addWidget(empty_);
  layout->addWidget(list_, 1);
  layout->addLayout(buttons);
  connect(list_, &widgets::RunList::selection_changed, this, &RunSide::read_selection);
  connect(list_, &widgets::RunList::current_run_changed, this, &RunSide::read_selection);
  set_entries({});
}

int RunSide::color_of(const std::string& key) {
  return colors_.try_emplace(key, static_cast<int>(colors_.size())).first->second;
}

void RunSide::set_entries(const std::vector<RunEntry>& entries) {
  std::vector<widgets::RunRow> rows;
  for (const RunEntry& entry : entries) {
    widgets::RunRow row;
    row.folder = QString::fromStdString(entry.key);
    row.name = QString::fromStdString(entry.name);
    row.state = QString::fromStdString(entry.state);
    row.problem = QString::fromStdString(entry.problem);
    row.step = entry.step;
    row.total_steps = entry.total_steps;
    row.color = color_of(entry.key);
    rows.push_back(std::move(row));
  }
  selecting_ = true;
  list_->set_runs(std::move(rows));
  selecting_ = false;
  empty_->setVisible(entries.empty());
  list_->setVisible(!entries.empty());
  select_shown();
}

void RunSide::set_shown(const std::vector<std::string>& keys) {
  shown_ = keys;
  select_shown();
}

void RunSide::select_shown() {
  selecting_ = true;
  QItemSelectionModel* selection = list_->selectionModel();
  selection->clear();
  for (auto key = shown_.rbegin(); key != shown_.rend(); ++key) {  // the first one last: it becomes the current one
    const int row = list_->runs().row_of(QString::fromStdString(*key));
    if (row < 0) continue;
    const QModelIndex index = list_->runs().index(row);
    selection->setCurrentIndex(index, QItemSelectionModel::Select);
  }
  selecting_ = false;
}

void RunSide::read_selection() {
  if (selecting_) return;
  std::vector<std::string> keys;
  const QString current = list_->current_folder();
  const QStringList selected = list_->selected_folders();
  if (selected.contains(current)) keys.push_back(current.toStdString());
  for (const QString& folder : selected) {
    if (folder != current) keys.push_back(folder.toStdString());
  }
  if (keys == shown_) return;
  shown_ = std::move(keys);
  emit shown_changed();
}

void RunSide::focus_list() { list_->setFocus(); }

}  // namespace app
