// The pass schedule as one bar: a segment a stage, as wide as its share of the steps, and a cursor at the present step.
#pragma once

#include <QWidget>
#include <cstdint>
#include <vector>

#include "engine/recipe.h"

namespace widgets {

class PassScheduleStrip : public QWidget {
  Q_OBJECT

 public:
  explicit PassScheduleStrip(QWidget* parent = nullptr);
  /// `interleaved`: K is drawn per step with the shares as weights; the strip is then hatched and says so.
  void set_schedule(const std::vector<engine::Stage>& stages, std::int64_t total_steps, bool interleaved = false);
  /// Steps done; below 0: no cursor.
  void set_step(std::int64_t step);
  [[nodiscard]] std::int64_t step() const { return step_; }
  /// Index of the stage under a place, -1 for none.
  [[nodiscard]] int stage_at(const QPoint& position) const;
  [[nodiscard]] QSize sizeHint() const override { return {320, 30}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, 30}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF segment(std::size_t index) const;
  [[nodiscard]] QString describe(std::size_t index) const;
  void describe_all();

  std::vector<engine::Stage> stages_;
  std::int64_t total_steps_ = 0;
  std::int64_t step_ = -1;
  bool interleaved_ = false;
};

}  // namespace widgets
