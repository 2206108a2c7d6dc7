// Every action of the window behind one line of text: type a part of its name, press Enter.
#pragma once

#include <QFrame>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace app {

class CommandPalette : public QFrame {
  Q_OBJECT

 public:
  /// Lies over `parent`, which is the window.
  explicit CommandPalette(QWidget* parent);
  void set_actions(const QList<QAction*>& actions) { actions_ = actions; }
  /// Shows it, empty, with the actions that can be used now.
  void open();
  void dismiss();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill(const QString& wanted);
  void run_current();
  void place();

  QList<QAction*> actions_;
  QLineEdit* line_;
  QListWidget* list_;
  QWidget* focus_before_ = nullptr;
};

/// Whether every word of `wanted` occurs in `text`, without regard to case.
bool matches(const QString& text, const QString& wanted);

}  // namespace app
