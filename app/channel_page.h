// The Channel page: what passes between two positions. Gates, spectra, the residual stream plain against fused, what
// replacing state or gate costs, and the boundary between plain and fused positions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/analysis_page.h"
#include "app/channel_series.h"
#include "app/intervention_chooser.h"
#include "app/ladder_history.h"
#include "app/page_parts.h"

namespace widgets {
class Plot;
}  // namespace widgets

namespace app {

class ChannelPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit ChannelPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  /// The selected run's first.
  [[nodiscard]] const ChannelMeasurements& measurements() const { return measurements_; }
  /// Of the selected run; nullptr before there is one.
  [[nodiscard]] const ChannelMeasurement* measurement() const {
    return measurements_.empty() ? nullptr : &measurements_.front();
  }

 protected:
  void measure() override;
  void clear() override;

 private:
  void add_controls();
  void build();
  QWidget* make_costs();
  QWidget* make_gates();
  QWidget* make_rms();
  widgets::Plot* add_plot(const QString& title, const QString& x_title, const QString& y_title, bool log_y = false);
  void measure_changes_alone();
  void take(ChannelMeasurement measurement);
  void take_changes(const std::string& key, const engine::InterventionReport& changes);
  void draw();
  void draw_words();
  void show_curves(widgets::Plot* plot,
                   const std::function<std::vector<widgets::Series>(const ChannelMeasurement&)>& of);
  void fill_tokens();
  void fill_depths();
  void show_gates();
  void show_rms();
  void show_empty(const QString& text);
  [[nodiscard]] ChannelRequest request() const;

  QSpinBox* rows_ = nullptr;
  QSpinBox* passes_ = nullptr;
  QSpinBox* seed_ = nullptr;
  widgets::DotChart* costs_ = nullptr;
  InterventionChooser* changes_ = nullptr;
  widgets::Plot* gates_ = nullptr;
  QComboBox* token_ = nullptr;
  widgets::Plot* boundary_ = nullptr;
  widgets::Plot* exposure_ = nullptr;
  widgets::Plot* rms_ = nullptr;
  QComboBox* rms_over_ = nullptr;  ///< depth, or training at one depth
  widgets::Plot* change_ = nullptr;
  widgets::Plot* weights_ = nullptr;
  widgets::Plot* states_ = nullptr;
  std::vector<widgets::Plot*> plots_;
  ReadingCard reading_;
  ChannelMeasurements measurements_;
  LadderHistory history_;
  bool fresh_ = false;  ///< the next result is the first of its measurement
};

}  // namespace app
