// A message above a page that blocks nothing: information, a warning or an error, with at most one action.
#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QPushButton;
class QToolButton;

namespace widgets {

enum class Severity { information, warning, error };

class Banner : public QFrame {
  Q_OBJECT

 public:
  explicit Banner(QWidget* parent = nullptr);
  /// Shows one sentence; a message that is already shown is replaced. `action` runs once, and closes the banner.
  void show_message(Severity severity, const QString& sentence, const QString& action_text = {},
                    std::function<void()> action = {});
  void dismiss();
  [[nodiscard]] QString message() const;
  [[nodiscard]] Severity severity() const { return severity_; }

 signals:
  void dismissed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void run_action();
  void refresh_colors();

  Severity severity_ = Severity::information;
  std::function<void()> action_;
  QLabel* symbol_;
  QLabel* text_;
  QPushButton* button_;
  QToolButton* close_;
};

}  // namespace widgets
