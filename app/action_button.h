// Buttons that mirror an action: text, enabled and checked state follow it, a click triggers it.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QPushButton>
#include <functional>

namespace app {

/// `kind` as in the style sheet ("primary", "page", "link" or ""). Shows `text`, or the action's icon text when empty;
/// the action's text is the tool tip and the accessible name.
QPushButton* make_button(QAction* action, QWidget* parent, const char* kind = "", const QString& text = {});

/// An action of `owner` with a shortcut that works in the whole window.
QAction* make_action(QObject* owner, const QString& text, const QKeySequence& keys, std::function<void()> run);
QAction* make_toggle(QObject* owner, const QString& text, const QKeySequence& keys, std::function<void(bool)> run);

}  // namespace app
