// The (t, l) grid at the instant at which one cell is computed: what it reads, what it could, what is out of its reach.
// Or at a feedback pass: which positions hold the sequential recurrence's states already.
// Keys: arrows move the cell. Mouse: the cell under the pointer; a click keeps it.
#pragma once

#include <QWidget>
#include <optional>

#include "engine/reachability.h"
#include "widgets/figure_export.h"
#include "widgets/palette.h"

namespace widgets {

class ReachGrid : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit ReachGrid(QWidget* parent = nullptr);
  void set_title(const QString& title);
  void set_grid(const engine::ReachGrid& grid);
  [[nodiscard]] const engine::ReachGrid& grid() const { return grid_; }
  /// Freezes the instant at which `cell` is computed.
  void set_instant(engine::Clock clock, engine::Cell cell);
  /// Shows the positions after so many feedback passes instead.
  void set_staircase(std::int64_t feedback_passes, bool late_start);
  void set_empty_text(const QString& text);

  [[nodiscard]] engine::Cell cell() const { return cell_; }
  /// What stands below the title: "reachable 12 · computed but out of reach 30".
  [[nodiscard]] QString counts() const;
  [[nodiscard]] QString describe(engine::Cell cell) const;
  [[nodiscard]] QRectF cell_rect(engine::Cell cell) const;
  [[nodiscard]] std::optional<engine::Cell> cell_at(const QPointF& position) const;

  [[nodiscard]] QString figure_title() const override { return title_; }
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;
  [[nodiscard]] QSize sizeHint() const override { return {340, 240}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 150}; }

 signals:
  /// By the user.
  void cell_chosen(engine::Cell cell);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  /// Which of a few forms a cell is drawn in; the staircase borrows those of the instant.
  [[nodiscard]] engine::CellState form_of(engine::Cell cell) const;
  [[nodiscard]] QString word_of(engine::Cell cell) const;
  [[nodiscard]] QRectF cells_in(const QRectF& area) const;
  [[nodiscard]] QRectF cell_in(const QRectF& cells, engine::Cell cell) const;
  void choose(engine::Cell cell);
  void paint(QPainter& painter, const Theme& theme, const QRectF& area) const;
  void draw_cell(QPainter& painter, const Theme& theme, const QRectF& area, engine::CellState form) const;
  void draw_axes(QPainter& painter, const Theme& theme, const QRectF& cells) const;

  QString title_, empty_text_;
  engine::ReachGrid grid_;
  engine::Clock clock_ = engine::Clock::inference;
  engine::Cell cell_;
  std::optional<std::int64_t> feedback_passes_;  ///< set: the staircase
  bool late_start_ = false;
};

}  // namespace widgets
