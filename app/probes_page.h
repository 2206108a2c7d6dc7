// The Probes page: what a linear probe reads at a prompt's end by depth and way of reading, the sweep over distractors,
// and beside it whether the model's own answer follows the carried state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/analysis_page.h"
#include "app/page_parts.h"
#include "app/probe_series.h"

class QLineEdit;

namespace widgets {
class Plot;
}  // namespace widgets

namespace app {

class ProbesPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit ProbesPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  /// The selected run's first.
  [[nodiscard]] const ProbeMeasurements& measurements() const { return measurements_; }
  /// Of the selected run; nullptr before there is one.
  [[nodiscard]] const ProbeMeasurement* measurement() const {
    return measurements_.empty() ? nullptr : &measurements_.front();
  }

 protected:
  void measure() override;
  void clear() override;

 private:
  void build();
  void add_controls();
  QWidget* make_sweep();
  void task_changed();
  void take(ProbeMeasurement measurement);
  void draw();
  void show_slices();
  [[nodiscard]] std::size_t condition() const;
  void show_empty(const QString& text);
  [[nodiscard]] std::optional<engine::ProbeRequest> request();

  QComboBox* task_ = nullptr;
  QLineEdit* lengths_ = nullptr;
  QSpinBox* seed_ = nullptr;
  widgets::Plot* depths_ = nullptr;
  widgets::Plot* slices_ = nullptr;
  QComboBox* depth_ = nullptr;
  QComboBox* condition_ = nullptr;  ///< which one is shown of several runs
  widgets::DotChart* answers_ = nullptr;
  ReadingCard reading_;
  ProbeMeasurements measurements_;
  bool fresh_ = false;  ///< the next result is the first of its measurement
};

}  // namespace app
