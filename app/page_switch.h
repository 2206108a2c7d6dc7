// Parts of one page, one shown at a time, and the buttons that choose between them.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

class QAction;
class QHBoxLayout;
class QStackedWidget;

namespace app {

class PageSwitch : public QWidget {
  Q_OBJECT

 public:
  explicit PageSwitch(QWidget* parent = nullptr);
  /// `action` is what the button mirrors: checkable, and its owner calls show_part.
  void add(const std::string& id, QAction* action, QWidget* part, const QString& text);
  void show_part(const std::string& id);
  [[nodiscard]] bool has(const std::string& id) const;
  /// Id of the part that is shown.
  [[nodiscard]] const std::string& part() const;

 private:
  struct Part {
    std::string id;
    QAction* action = nullptr;
  };
  QHBoxLayout* buttons_;
  QStackedWidget* stack_;
  std::vector<Part> parts_;
};

}  // namespace app
