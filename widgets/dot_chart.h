// Shares of named rows as dots with error bars on one line each: what several measurements say about a few conditions.
// Each measurement has one symbol and colour, told apart without colour, too.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "widgets/figure_export.h"
#include "widgets/palette.h"

namespace widgets {

struct DotValue {
  double value = 0;  ///< NaN: not measured, nothing is drawn
  double error = 0;  ///< standard error; NaN: unknown
};

struct DotRow {
  QString label;
  std::vector<DotValue> values;  ///< one a measurement
};

class DotChart : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit DotChart(QWidget* parent = nullptr);
  void set_title(const QString& title);
  /// Title of the axis, with its unit.
  void set_axis(const QString& title);
  /// Fixed ends of the axis; nothing: those of the data.
  void set_limits(std::optional<std::pair<double, double>> limits);
  /// A dashed vertical line, such as chance.
  void set_reference(std::optional<double> value, const QString& label = {});
  /// At most four measurements have symbols of their own. `styles` gives them other colours than the chart's, such as
  /// those of runs.
  void set_data(std::vector<QString> measurements, std::vector<DotRow> rows, std::vector<SeriesStyle> styles = {});
  /// Writes the first measurement at the right end of each row, as a table does.
  void set_values_shown(bool shown);
  void set_empty_text(const QString& text);
  [[nodiscard]] const std::vector<DotRow>& rows() const { return rows_; }

  [[nodiscard]] QString figure_title() const override { return title_; }
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;
  [[nodiscard]] QSize sizeHint() const override { return {360, 220}; }
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Frame {
    QRectF head, dots;
    double row_height = 0;
    double low = 0, high = 1;
    [[nodiscard]] double x_of(double value) const { return dots.left() + (value - low) / (high - low) * dots.width(); }
  };
  [[nodiscard]] Frame frame_in(const QRectF& area) const;
  [[nodiscard]] int head_lines(double width) const;
  [[nodiscard]] double value_width() const;
  [[nodiscard]] QColor color_of(const Theme& theme, std::size_t measurement) const;
  void paint(QPainter& painter, const Theme& theme, const QRectF& area) const;
  void draw_head(QPainter& painter, const Theme& theme, const Frame& frame) const;
  void draw_axis(QPainter& painter, const Theme& theme, const Frame& frame) const;
  void draw_rows(QPainter& painter, const Theme& theme, const Frame& frame) const;
  [[nodiscard]] QString describe(const DotRow& row) const;

  QString title_, axis_title_, empty_text_, reference_label_;
  std::optional<std::pair<double, double>> limits_;
  std::optional<double> reference_;
  std::vector<QString> measurements_;
  std::vector<SeriesStyle> styles_;
  std::vector<DotRow> rows_;
  bool values_shown_ = false;
};

}  // namespace widgets
