// The Stability page: what repeated feedback passes do to loss and states, on held-out rows of the selected runs.
#pragma once

#include <QWidget>
#include <vector>

#include "app/analysis_page.h"
#include "app/stability_measure.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QSpinBox;

namespace widgets {
class Heatmap;
class Plot;
class PlotLink;
}  // namespace widgets

namespace app {

class StabilityPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit StabilityPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  [[nodiscard]] std::vector<QAction*> actions() const override { return {strip().action(), log_x_}; }
  [[nodiscard]] const StabilityResults& results() const { return results_; }
  [[nodiscard]] QString verdict() const;

 protected:
  void measure() override;
  void clear() override;

 private:
  void build_controls();
  void build_charts();
  widgets::Plot* add_plot(const QString& title, const QString& y_title);
  void set_log_x(bool log);
  void take(StabilityResult result);
  void draw();
  void draw_matrix();
  void show_verdict();
  [[nodiscard]] StabilityRequest request() const;

  QComboBox* passes_ = nullptr;
  QSpinBox* rows_ = nullptr;
  QSpinBox* repeats_ = nullptr;
  QAction* log_x_ = nullptr;
  QLabel* verdict_ = nullptr;
  widgets::Plot* loss_ = nullptr;
  widgets::Plot* update_ = nullptr;
  widgets::Plot* exact_ = nullptr;
  widgets::Heatmap* matrix_ = nullptr;
  widgets::PlotLink* link_ = nullptr;
  StabilityResults results_;
  bool log_ = false;
  bool fresh_ = false;  ///< the next result is the first of its measurement
};

}  // namespace app
