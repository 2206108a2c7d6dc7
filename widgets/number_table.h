// Several measurements side by side: names on the left, a column a measurement, a hairline under each row. Exported as
// a figure, with all digits as CSV.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "widgets/figure_export.h"
#include "widgets/palette.h"
#include "widgets/series.h"

namespace widgets {

struct NumberColumn {
  QString name;
  std::optional<SeriesStyle> style;  ///< gives a square of its colour
};

struct NumberCell {
  QString text;
  QString exact;  ///< for files; empty: the text
};

struct NumberRow {
  QString name;
  std::vector<NumberCell> cells;  ///< one a column
  QString hint;                   ///< tool tip; empty: none
};

class NumberTable : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit NumberTable(QWidget* parent = nullptr);
  void set_title(const QString& title);
  void set_data(std::vector<NumberColumn> columns, std::vector<NumberRow> rows);
  void set_empty_text(const QString& text);
  [[nodiscard]] const std::vector<NumberRow>& rows() const { return rows_; }

  [[nodiscard]] QString figure_title() const override { return title_; }
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] std::vector<double> column_widths() const;
  [[nodiscard]] double row_height(double height) const;
  void paint(QPainter& painter, const Theme& theme, const QRectF& area) const;
  void paint_head(QPainter& painter, const Theme& theme, const QRectF& area, const std::vector<double>& widths) const;
  void paint_row(QPainter& painter, const Theme& theme, const QRectF& area, const NumberRow& row,
                 const std::vector<double>& widths) const;

  QString title_, empty_text_;
  std::vector<NumberColumn> columns_;
  std::vector<NumberRow> rows_;
};

}  // namespace widgets
