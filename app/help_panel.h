// Help beside the page: what this page shows, and the method behind it.
#pragma once

#include <QFrame>

class QComboBox;
class QTextBrowser;

namespace app {

class HelpPanel : public QFrame {
  Q_OBJECT

 public:
  explicit HelpPanel(QWidget* parent = nullptr);
  /// "training", "rollouts" or "method": a page of resources/help.
  void show_page(const QString& name);
  [[nodiscard]] QString page() const { return page_; }

 signals:
  void closed();

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void render();

  QString page_ = "training";
  QComboBox* pages_;
  QTextBrowser* text_;
};

}  // namespace app
