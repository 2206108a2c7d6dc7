// Names on the left, numbers on the right, a hairline under each row: what holds now.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

#include "widgets/figure_export.h"
#include "widgets/palette.h"

namespace widgets {

struct Stat {
  QString name;
  QString value;
  QString hint;  ///< tool tip; empty: none

  friend bool operator==(const Stat&, const Stat&) = default;
};

class StatTable : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit StatTable(QWidget* parent = nullptr);
  void set_rows(std::vector<Stat> rows);
  [[nodiscard]] const std::vector<Stat>& rows() const { return rows_; }

  [[nodiscard]] QString figure_title() const override { return accessibleName(); }
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void paint(QPainter& painter, const Theme& theme, const QRectF& area) const;

  std::vector<Stat> rows_;
};

/// Large numbers with a caption below each, side by side: the foot of a rollout column.
class StatRow : public QWidget {
  Q_OBJECT

 public:
  explicit StatRow(QWidget* parent = nullptr);
  void set_stats(std::vector<Stat> stats);
  [[nodiscard]] const std::vector<Stat>& stats() const { return stats_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] double value_scale() const;

  std::vector<Stat> stats_;
};

}  // namespace widgets
