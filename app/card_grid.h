// Cards in rows of three, or of two where the page is narrow; below a least height of a card it scrolls.
#pragma once

#include <QWidget>
#include <vector>

class QGridLayout;

namespace app {

class CardGrid : public QWidget {
  Q_OBJECT

 public:
  explicit CardGrid(QWidget* parent = nullptr);
  /// Row by row, in the order of the calls.
  void add(QWidget* card);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange(int columns);

  QWidget* page_;
  QGridLayout* grid_;
  std::vector<QWidget*> cards_;
  int columns_ = 0;
};

}  // namespace app
