#include "app/action_button.h"

#include <utility>

#include "widgets/style.h"

namespace app {

namespace {

QString plain(QString text) { return text.remove('&'); }

void mirror(QPushButton& button, const QAction& action, const QString& text) {
  button.setText(text.isEmpty() ? plain(action.iconText()) : text);
  button.setEnabled(action.isEnabled());
  button.setChecked(action.isChecked());
  const QString keys = action.shortcut().toString(QKeySequence::NativeText);
  button.setToolTip(keys.isEmpty() ? plain(action.text()) : plain(action.text()) + " (" + keys + ")");
  button.setAccessibleName(plain(action.text()));
}

}  // namespace

QPushButton* make_button(QAction* action, QWidget* parent, const char* kind, const QString& text) {
  auto* button = new QPushButton(parent);
  widgets::set_kind(*button, kind);
  button->setCheckable(action->isCheckable());
  mirror(*button, *action, text);
  QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
  QObject::connect(action, &QAction::changed, button, [button, action, text] { mirror(*button, *action, text); });
  return button;
}

QAction* make_action(QObject* owner, const QString& text, const QKeySequence& keys, std::function<void()> run) {
  auto* action = new QAction(text, owner);
  action->setShortcut(keys);
  action->setShortcutContext(Qt::WindowShortcut);
  QObject::connect(action, &QAction::triggered, owner, [run = std::move(run)] { run(); });
  return action;
}

QAction* make_toggle(QObject* owner, const QString& text, const QKeySequence& keys, std::function<void(bool)> run) {
  auto* action = new QAction(text, owner);
  action->setShortcut(keys);
  action->setShortcutContext(Qt::WindowShortcut);
  action->setCheckable(true);
  QObject::connect(action, &QAction::toggled, owner, std::move(run));
  return action;
}

}  // namespace app
