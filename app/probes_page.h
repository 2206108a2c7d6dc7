// The Probes page: what a linear probe reads at a prompt's end by depth and way of reading, the sweep over distractors,
// and beside it whether the model's own answer follows the carried state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/analysis_page.h"
#include "app/probe_series.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace widgets {
class Plot;
}  // namespace widgets

namespace app {

class ProbesPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit ProbesPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  [[nodiscard]] const std::optional<ProbeMeasurement>& measurement() const { return measurement_; }

 protected:
  void measure() override;
  void clear() override;

 private:
  void build();
  void add_controls();
  QWidget* make_sweep();
  QWidget* make_reading();
  void task_changed();
  void take(ProbeMeasurement measurement);
  void show_slices();
  void show_empty(const QString& text);
  [[nodiscard]] std::optional<engine::ProbeRequest> request();

  QComboBox* task_ = nullptr;
  QLineEdit* lengths_ = nullptr;
  QSpinBox* seed_ = nullptr;
  widgets::Plot* depths_ = nullptr;
  widgets::Plot* slices_ = nullptr;
  QComboBox* depth_ = nullptr;
  widgets::DotChart* answers_ = nullptr;
  widgets::StatTable* stats_ = nullptr;
  QLabel* reading_ = nullptr;
  std::optional<ProbeMeasurement> measurement_;
};

}  // namespace app
