#include "app/command_palette.h"

#include <QAction>
#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/style.h"

namespace app {

namespace {

constexpr int kWidth = 480;
constexpr int kHeight = 340;

QString plain_text(const QAction& action) { return action.text().remove('&').remove(QChar(0x2026)); }

}  // namespace

bool matches(const QString& text, const QString& wanted) {
  const QStringList words = wanted.split(' ', Qt::SkipEmptyParts);
  return std::all_of(words.begin(), words.end(),
                     [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

CommandPalette::CommandPalette(QWidget* parent)
    : QFrame(parent), line_(new QLineEdit(this)), list_(new QListWidget(this)) {
  widgets::set_kind(*this, "card");
  setAccessibleName(tr("Command palette"));
  line_->setPlaceholderText(tr("Type a command"));
  line_->setAccessibleName(tr("Command"));
  list_->setAccessibleName(tr("Matching commands"));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setUniformItemSizes(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 12, 12, 12);
  layout->addWidget(line_);
  layout->addWidget(list_);
  connect(line_, &QLineEdit::textChanged, this, &CommandPalette::fill);
  connect(line_, &QLineEdit::returnPressed, this, &CommandPalette::run_current);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run_current);
  line_->installEventFilter(this);
  parent->installEventFilter(this);
  hide();
}

void CommandPalette::place() {
  const int width = std::min(kWidth, parentWidget()->width() - 32);
  const int height = std::min(kHeight, parentWidget()->height() - 96);
  setGeometry((parentWidget()->width() - width) / 2, 64, width, height);
}

void CommandPalette::open() {
  if (!isVisible()) focus_before_ = QApplication::focusWidget();
  line_->clear();
  fill({});
  place();
  show();
  raise();
  line_->setFocus();
}

void CommandPalette::dismiss() {
  hide();
  if (focus_before_ != nullptr && parentWidget()->isAncestorOf(focus_before_)) focus_before_->setFocus();
  focus_before_ = nullptr;
}

void CommandPalette::fill(const QString& wanted) {
  list_->clear();
  for (QAction* action : actions_) {
    const QString text = plain_text(*action);
    if (!action->isEnabled() || !matches(text, wanted)) continue;
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(keys.isEmpty() ? text : text + "    " + keys, list_);
    item->setData(Qt::UserRole, QVariant::fromValue(static_cast<QObject*>(action)));
  }
  list_->setCurrentRow(0);
}

void CommandPalette::run_current() {
  const QListWidgetItem* item = list_->currentItem();
  const QPointer<QObject> chosen = item == nullptr ? nullptr : item->data(Qt::UserRole).value<QObject*>();
  dismiss();
  if (auto* action = qobject_cast<QAction*>(chosen.data())) action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parent() && event->type() == QEvent::Resize && isVisible()) place();
  if (watched == line_ && event->type() == QEvent::FocusOut && isVisible()) dismiss();
  if (watched == line_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    if (step != 0) list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, list_->count() - 1));
    if (key == Qt::Key_Escape) dismiss();
    if (step != 0 || key == Qt::Key_Escape) return true;
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace app
