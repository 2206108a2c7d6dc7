// A matrix as coloured cells, in one hue from light to dark: position against pass, layer against layer, influence.
// Keys: arrows move the cell cursor, whose value is shown; Escape ends it.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "widgets/figure_export.h"
#include "widgets/palette.h"

namespace widgets {

/// Values row by row, row 0 drawn at the bottom. NaN: nothing was measured there, the cell stays empty.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

/// One point a column, drawn as a line over the cells: the wavefront. In row units, NaN breaks it.
using MatrixLine = std::vector<double>;

class Heatmap : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit Heatmap(QWidget* parent = nullptr);
  void set_title(const QString& title);
  /// With units: "position t", "pass k", "update norm".
  void set_axes(const QString& x_title, const QString& y_title, const QString& value_title);
  /// Number that the first column and row stand for.
  void set_origin(int first_column, int first_row);
  void set_matrix(Matrix matrix);
  /// Log colour scale: exact zeros are hatched, negative values count as not drawable.
  void set_log(bool log);
  /// Blue, card, orange about zero, instead of one hue.
  void set_diverging(bool diverging);
  void set_line(MatrixLine line, const QString& label);
  void set_empty_text(const QString& text);

  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  /// Cell cursor as (column, row) from 0; nothing: none.
  [[nodiscard]] std::optional<QPoint> current() const { return current_; }
  void set_current(std::optional<QPoint> cell);
  [[nodiscard]] QString describe(const QPoint& cell) const;
  [[nodiscard]] std::optional<QPoint> cell_at(const QPointF& position) const;
  [[nodiscard]] QRectF cell_rect(const QPoint& cell) const;

  [[nodiscard]] QString figure_title() const override { return title_; }
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;
  [[nodiscard]] QSize sizeHint() const override { return {360, 260}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 150}; }

 signals:
  void current_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Frame {
    QRectF head, cells, bar;
  };
  [[nodiscard]] Frame frame_in(const QRectF& area) const;
  [[nodiscard]] QRectF cell_in(const QRectF& cells, const QPoint& cell) const;
  [[nodiscard]] double share(double value) const;
  [[nodiscard]] QColor color(const Theme& theme, double value) const;
  void find_limits();
  void paint(QPainter& painter, const Theme& theme, const QRectF& area) const;
  void draw_cells(QPainter& painter, const Theme& theme, const QRectF& cells) const;
  void draw_axes(QPainter& painter, const Theme& theme, const QRectF& cells) const;
  void draw_bar(QPainter& painter, const Theme& theme, const QRectF& bar) const;
  void draw_line(QPainter& painter, const Theme& theme, const QRectF& cells) const;

  QString title_, x_title_, y_title_, value_title_, line_label_, empty_text_;
  Matrix matrix_;
  MatrixLine line_;
  int first_column_ = 1;
  int first_row_ = 1;
  bool log_ = false;
  bool diverging_ = false;
  bool any_ = false;  // at least one value can be drawn
  double low_ = 0;
  double high_ = 1;
  std::optional<QPoint> current_;
};

}  // namespace widgets
