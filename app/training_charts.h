// The charts of the Training page: loss by pass, the pass schedule, validation, rate, gradient norm and speed, over one
// x axis with a shared crosshair and zoom.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/chart_series.h"
#include "app/run_data.h"
#include "app/view_state.h"

class QGridLayout;

namespace widgets {
class Card;
class PassScheduleStrip;
class Plot;
class PlotLink;
}  // namespace widgets

namespace app {

/// A run as it is overlaid.
struct ShownRun {
  std::shared_ptr<const RunData> data;
  int color = 0;  ///< index into the run colours
};

class TrainingCharts : public QWidget {
  Q_OBJECT

 public:
  explicit TrainingCharts(QWidget* parent = nullptr);
  /// The first run is the selected one: the schedule strip is its own.
  void set_runs(std::vector<ShownRun> runs);
  void set_view(const ChartView& view);
  /// Values of a shown run have changed: redrawn at once or soon, however often this is called, and at the latest when
  /// the charts are seen again.
  void values_changed();
  /// While a training runs: lines that are quick to draw.
  void set_live(bool live);
  /// Gives the plots the present values now.
  void update_now();
  void follow();
  [[nodiscard]] bool following() const;
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// In the order on the page; each can be exported.
  [[nodiscard]] const std::vector<widgets::Plot*>& plots() const { return plots_; }

 signals:
  void following_changed(bool following);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  widgets::Plot* add_plot(const QString& title, const QString& y_title);
  void arrange(int columns);
  void update_strip();
  void draw_values();
  [[nodiscard]] ChartInput chart_input() const;
  /// A plot of steps and what makes its curves.
  struct Chart {
    widgets::Plot* plot;
    std::vector<widgets::Series> (*curves)(const ChartInput& input);
  };
  [[nodiscard]] std::vector<Chart> charts() const;
  void give_all(const ChartInput& input);
  [[nodiscard]] bool only_grown() const;
  [[nodiscard]] bool give_new_points(ChartInput input);
  void remember_given();

  /// What of a run the plots have.
  struct Given {
    std::size_t steps = 0;
    std::size_t validations = 0;
    std::int64_t total_steps = 0;
    int rewrites = 0;
  };

  std::vector<ShownRun> runs_;
  std::vector<Given> given_;  ///< of runs_; empty when the plots must be given all anew
  ChartView view_;
  widgets::Plot* loss_ = nullptr;
  widgets::Plot* validation_ = nullptr;
  widgets::Plot* rate_ = nullptr;
  widgets::Plot* gradient_ = nullptr;
  widgets::Plot* speed_ = nullptr;
  std::vector<widgets::Plot*> plots_;
  std::vector<QString> y_titles_;  ///< of plots_
  std::vector<widgets::Card*> small_cards_;
  widgets::PassScheduleStrip* strip_;
  widgets::PlotLink* link_;
  QGridLayout* grid_;
  int columns_ = 0;
  QTimer soon_;
  QElapsedTimer drawn_;    ///< since values were drawn last
  std::int64_t wait_ = 0;  ///< ms from one drawing of values to the next
  bool behind_ = false;    ///< values came while nobody saw the charts
};

}  // namespace app
