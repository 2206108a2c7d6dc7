// The bar at the top: name, pages, export and the menu.
#pragma once

#include <QFrame>
#include <QMenu>
#include <vector>

class QAction;
class QPushButton;

namespace app {

class WindowBar : public QFrame {
  Q_OBJECT

 public:
  /// `pages` are checkable actions; `menu` and `export_menu` hang below their buttons.
  WindowBar(const std::vector<QAction*>& pages, QMenu* export_menu, QMenu* menu, QWidget* parent = nullptr);
  /// Opens the menu below its button (keyboard).
  void open_menu();
  void open_export();

 private:
  QPushButton* export_;
  QPushButton* menu_;
};

}  // namespace app
