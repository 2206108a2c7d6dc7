#include "widgets/run_list.h"

#include <QPainter>
#include <QStringList>
#include <QStyledItemDelegate>
#include <algorithm>
#include <utility>

#include "widgets/numbers.h"
#include "widgets/palette.h"
#include "widgets/style.h"

namespace widgets {
namespace {

constexpr int kRowHeight = 50;

class RunDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {200, kRowHeight + 4}; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& theme = theme_of(option.palette);
    const QRectF row = QRectF(option.rect).adjusted(1, 1, -1, -3);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    draw_ground(*painter, theme, option, row);
    const QColor color = run_color(theme, index.data(RunListModel::kColor).toInt());
    painter->setPen(Qt::NoPen);
    painter->setBrush(color);
    painter->drawEllipse(QPointF(row.left() + 13, row.center().y()), 5, 5);
    const bool active = index.data(RunListModel::kActive).toBool();
    if (active) painter->drawEllipse(QPointF(row.right() - 14, row.center().y()), 4, 4);
    draw_texts(*painter, theme, index, row.adjusted(26, 0, active ? -24 : -8, 0));
    painter->restore();
  }

 private:
  static void draw_ground(QPainter& painter, const Theme& theme, const QStyleOptionViewItem& option,
                          const QRectF& row) {
    const bool selected = option.state & QStyle::State_Selected;
    const bool focused = option.state & QStyle::State_HasFocus;
    painter.setPen(focused ? QPen(theme.accent, 1.5) : QPen(Qt::NoPen));
    painter.setBrush(selected                                 ? theme.tint
                     : option.state & QStyle::State_MouseOver ? theme.hover
                                                              : QColor(Qt::transparent));
    painter.drawRoundedRect(row, 6, 6);
  }

  static void draw_texts(QPainter& painter, const Theme& theme, const QModelIndex& index, const QRectF& area) {
    painter.setFont(body_font());
    painter.setPen(theme.text);
    painter.drawText(QRectF(area.left(), area.top() + 8, area.width(), 18), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(body_font()).elidedText(index.data().toString(), Qt::ElideMiddle, area.width()));
    painter.setFont(caption_font());
    painter.setPen(index.data(RunListModel::kProblem).toString().isEmpty() ? theme.secondary : theme.error);
    const QString caption = index.data(RunListModel::kCaption).toString();
    painter.drawText(QRectF(area.left(), area.top() + 26, area.width(), 16), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(caption_font()).elidedText(caption, Qt::ElideRight, area.width()));
  }
};

}  // namespace

void RunListModel::set_runs(std::vector<RunRow> runs) {
  const auto same_folder = [](const RunRow& a, const RunRow& b) { return a.folder == b.folder; };
  const bool in_place =
      runs.size() >= runs_.size() && std::equal(runs_.begin(), runs_.end(), runs.begin(), same_folder);
  if (!in_place) {
    beginResetModel();
    runs_ = std::move(runs);
    endResetModel();
    return;
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i] == runs[i]) continue;
    runs_[i] = runs[i];
    emit dataChanged(index(static_cast<int>(i)), index(static_cast<int>(i)));
  }
  if (runs.size() == runs_.size()) return;
  beginInsertRows({}, static_cast<int>(runs_.size()), static_cast<int>(runs.size()) - 1);
  runs_ = std::move(runs);
  endInsertRows();
}

int RunListModel::row_of(const QString& folder) const {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].folder == folder) return static_cast<int>(i);
  }
  return -1;
}

int RunListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

QVariant RunListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const RunRow& run = runs_[static_cast<std::size_t>(index.row())];
  const QString caption = tr("step %1 · %2").arg(count_text(run.step), run.state);
  switch (role) {
    case Qt::DisplayRole:
      return run.name;
    case Qt::ToolTipRole:
      return run.problem.isEmpty() ? run.folder : run.problem;
    case Qt::AccessibleTextRole:
      return run.name + QStringLiteral(", ") + caption;
    case kFolder:
      return run.folder;
    case kCaption:
      return caption;
    case kColor:
      return run.color;
    case kActive:
      return run.state == QLatin1String("training");
    case kProblem:
      return run.problem;
    default:
      return {};
  }
}

RunList::RunList(QWidget* parent) : QListView(parent), model_(new RunListModel(this)) {
  setModel(model_);
  setItemDelegate(new RunDelegate(this));
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setUniformItemSizes(true);
  setMouseTracking(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setAccessibleName(tr("Runs"));
  setFocusPolicy(Qt::NoFocus);
  set_kind(*this, "runs");
}

// A reset forgets the selection, so it is put back by folder.
void RunList::set_runs(std::vector<RunRow> runs) {
  const QString current = current_folder();
  const QStringList selected = selected_folders();
  model_->set_runs(std::move(runs));
  setFocusPolicy(model_->rowCount() > 0 ? Qt::StrongFocus : Qt::NoFocus);  // the focus ring is a row's
  if (current.isEmpty() || current == current_folder()) return;
  const int row = model_->row_of(current);
  if (row < 0) return;
  setCurrentIndex(model_->index(row));
  for (const QString& folder : selected) {
    const int at = model_->row_of(folder);
    if (at >= 0) selectionModel()->select(model_->index(at), QItemSelectionModel::Select);
  }
}

QString RunList::current_folder() const { return currentIndex().data(RunListModel::kFolder).toString(); }

QStringList RunList::selected_folders() const {
  QModelIndexList rows = selectionModel()->selectedIndexes();
  std::sort(rows.begin(), rows.end());
  QStringList folders;
  for (const QModelIndex& index : rows) folders << index.data(RunListModel::kFolder).toString();
  return folders;
}

void RunList::select(const QString& folder) {
  const int row = model_->row_of(folder);
  if (row >= 0) setCurrentIndex(model_->index(row));
}

void RunList::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QListView::currentChanged(current, previous);
  if (current.isValid()) emit current_run_changed(current.data(RunListModel::kFolder).toString());
}

void RunList::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
  QListView::selectionChanged(selected, deselected);
  emit selection_changed(selected_folders());
}

}  // namespace widgets
