// The Batch part of the Rollouts page: every mode answers the same prompts of a task or a file. Accuracy, pass@k,
// tokens, lengths with what was cut, accuracy at matched caps, and the modes in pairs.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "app/analysis_page.h"
#include "app/batch_measure.h"
#include "app/page_parts.h"

class QCheckBox;

namespace widgets {
class NumberTable;
class Plot;
}  // namespace widgets

namespace app {

class BatchPage : public AnalysisPage {
  Q_OBJECT

 public:
  explicit BatchPage(AnalysisWorker::Opener open, QWidget* parent = nullptr);

  [[nodiscard]] std::vector<const widgets::FigureSource*> figures() const override;
  [[nodiscard]] std::vector<QAction*> actions() const override { return {strip().action(), save_}; }
  [[nodiscard]] const std::optional<BatchResult>& result() const { return result_; }
  /// Chooses a JSON Lines file as the source of prompts.
  void set_file(const QString& file);

 protected:
  void measure() override;
  void clear() override;

 private:
  void add_controls();
  void add_modes();
  void remember_controls();
  void build();
  widgets::Plot* add_plot(const QString& title, const QString& x_title, const QString& y_title);
  void source_chosen();
  void take(BatchResult result);
  void show_empty(const QString& text);
  void save_answers();
  [[nodiscard]] BatchRequest request() const;

  QComboBox* source_ = nullptr;
  int chosen_source_ = 0;  ///< the one before a file dialog that is closed without a file
  QSpinBox* rows_ = nullptr;
  QSpinBox* samples_ = nullptr;
  QSpinBox* max_tokens_ = nullptr;
  QSpinBox* seed_ = nullptr;
  QSpinBox* fused_passes_ = nullptr;
  QDoubleSpinBox* temperature_ = nullptr;
  std::array<QCheckBox*, 3> modes_{};
  QAction* save_ = nullptr;
  widgets::NumberTable* table_ = nullptr;
  widgets::NumberTable* pairs_ = nullptr;
  widgets::Plot* lengths_ = nullptr;
  widgets::Plot* caps_ = nullptr;
  widgets::Plot* passes_ = nullptr;
  std::vector<widgets::Plot*> plots_;
  ReadingCard reading_;
  std::optional<BatchResult> result_;
};

}  // namespace app
