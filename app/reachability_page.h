// The Reachability page: what a state can read in Standard and with latent feedback, and what it does read in the
// loaded model.
#pragma once

#include <QTimer>
#include <QWidget>
#include <optional>
#include <vector>

#include "app/analysis_page.h"
#include "app/reach_clock.h"
#include "app/reachability_measure.h"

class QBoxLayout;
class QComboBox;
class QLabel;
class QSlider;

namespace widgets {
class Heatmap;
class ReachGrid;
}  // namespace widgets

namespace app {

class ReachabilityPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit ReachabilityPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  [[nodiscard]] std::vector<QAction*> actions() const override {
    return {strip().action(), play_, back_, forward_, order_action_};
  }
  [[nodiscard]] const ReachClock& clock() const { return clock_; }
  [[nodiscard]] const std::optional<ReachResult>& result() const { return result_; }
  [[nodiscard]] bool playing() const { return beat_.isActive(); }

 protected:
  void measure() override;
  void clear() override;
  void resizeEvent(QResizeEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void build_transport();
  void build_panels();
  void arrange();
  void set_playing(bool playing);
  void beat();
  void choose(engine::Cell cell);
  void step_by(int instants);
  void take(ReachResult result);
  void draw();
  void draw_grids();
  void draw_influence();
  [[nodiscard]] QString explanation() const;
  [[nodiscard]] QString measured_words() const;

  ReachClock clock_;
  std::optional<ReachResult> result_;
  bool chosen_ = false;  ///< a cell was chosen on this run
  QComboBox* mode_ = nullptr;
  QComboBox* order_ = nullptr;
  QAction* play_ = nullptr;
  QAction* back_ = nullptr;
  QAction* forward_ = nullptr;
  QAction* order_action_ = nullptr;
  QSlider* scrub_ = nullptr;
  QLabel* place_ = nullptr;
  QLabel* words_ = nullptr;
  QBoxLayout* panels_ = nullptr;
  widgets::ReachGrid* standard_ = nullptr;
  widgets::ReachGrid* latent_ = nullptr;
  widgets::Heatmap* influence_ = nullptr;
  QTimer beat_;
  QTimer measure_soon_;
};

}  // namespace app
