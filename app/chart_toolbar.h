// The line above the charts: x axis, log axes, smoothing, follow.
#pragma once

#include <QWidget>

#include "app/view_state.h"

class QAction;
class QComboBox;
class QLabel;
class QPushButton;
class QSlider;

namespace app {

class ChartToolbar : public QWidget {
  Q_OBJECT

 public:
  explicit ChartToolbar(QWidget* parent = nullptr);
  void set_view(const ChartView& view);
  [[nodiscard]] const ChartView& view() const { return view_; }
  /// Follow is offered while the charts are frozen.
  void set_following(bool following);
  [[nodiscard]] std::vector<QAction*> actions() const { return {log_x_, log_y_, outliers_, next_x_, follow_}; }

 signals:
  void changed();
  void follow_wanted();

 private:
  void show_smoothing();

  ChartView view_;
  QComboBox* x_;
  QSlider* smoothing_;
  QLabel* smoothing_text_;
  QAction* log_x_;
  QAction* log_y_;
  QAction* outliers_;
  QAction* next_x_;
  QAction* follow_;
};

/// The slider's places, 0..100, and the smoothing that each stands for: fine near 0.999.
double smoothing_at(int place);
int place_of(double smoothing);

}  // namespace app
