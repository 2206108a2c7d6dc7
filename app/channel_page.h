// The Channel page: what passes between two positions. Gates, spectra, the residual stream plain against fused, what
// replacing state or gate costs, and the boundary between plain and fused positions.
#pragma once

#include <optional>
#include <vector>

#include "app/analysis_page.h"
#include "app/channel_series.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QSpinBox;

namespace widgets {
class Plot;
}  // namespace widgets

namespace app {

class ChannelPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit ChannelPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  [[nodiscard]] const std::optional<ChannelMeasurement>& measurement() const { return measurement_; }

 protected:
  void measure() override;
  void clear() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_controls();
  void build();
  QWidget* make_gates();
  QWidget* make_reading();
  widgets::Plot* add_plot(const QString& title, const QString& x_title, const QString& y_title, bool log_y = false);
  void arrange(int columns);
  void take(ChannelMeasurement measurement);
  void fill_tokens();
  void show_gates();
  void show_empty(const QString& text);

  QSpinBox* rows_ = nullptr;
  QSpinBox* passes_ = nullptr;
  QSpinBox* seed_ = nullptr;
  QGridLayout* grid_ = nullptr;
  std::vector<QWidget*> cards_;
  int columns_ = 0;
  widgets::DotChart* costs_ = nullptr;
  widgets::Plot* gates_ = nullptr;
  QComboBox* token_ = nullptr;
  widgets::Plot* boundary_ = nullptr;
  widgets::Plot* exposure_ = nullptr;
  widgets::Plot* rms_ = nullptr;
  widgets::Plot* change_ = nullptr;
  widgets::Plot* weights_ = nullptr;
  widgets::Plot* states_ = nullptr;
  std::vector<widgets::Plot*> plots_;
  QLabel* reading_ = nullptr;
  widgets::StatTable* stats_ = nullptr;
  std::optional<ChannelMeasurement> measurement_;
};

}  // namespace app
