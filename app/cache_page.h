// The Cache part of the Rollouts page: how many parallel passes over a Soft rollout's tokens rebuild its cache and give
// its likelihood, against the floor that recorded states leave. On held-out prompts, or on a finished rollout.
#pragma once

#include <optional>
#include <vector>

#include "app/analysis_page.h"
#include "app/cache_measure.h"
#include "app/page_parts.h"
#include "engine/rollout_types.h"

class QLineEdit;

namespace widgets {
class NumberTable;
class Plot;
}  // namespace widgets

namespace app {

class CachePage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit CachePage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  /// Measures this rollout's tokens, whatever mode they came from, as Soft reads them.
  void show_rollout(const engine::Rollout& rollout);
  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  [[nodiscard]] const std::optional<CacheResult>& result() const { return result_; }

 protected:
  void measure() override;
  void clear() override;

 private:
  void add_controls();
  void build();
  widgets::Plot* add_plot(const QString& title, const QString& y_title, bool log_y);
  void source_chosen();
  void take(CacheResult result);
  void show_empty(const QString& text);
  [[nodiscard]] std::optional<CacheRequest> request();

  QComboBox* source_ = nullptr;
  QSpinBox* rows_ = nullptr;
  QSpinBox* prompt_tokens_ = nullptr;
  QSpinBox* max_tokens_ = nullptr;
  QDoubleSpinBox* temperature_ = nullptr;
  QSpinBox* seed_ = nullptr;
  QLineEdit* numbers_ = nullptr;
  GivenRollout given_;
  widgets::Plot* errors_ = nullptr;
  widgets::Plot* agreement_ = nullptr;
  widgets::Plot* likelihood_ = nullptr;
  widgets::Plot* miss_ = nullptr;
  widgets::NumberTable* positions_ = nullptr;
  std::vector<widgets::Plot*> plots_;
  ReadingCard reading_;
  std::optional<CacheResult> result_;
};

}  // namespace app
