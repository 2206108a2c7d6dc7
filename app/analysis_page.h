// What every page that measures has: the shown runs, a line with progress and one button, a banner for what went wrong.
// A page measures by itself when it is looked at and its runs are other ones than those it shows.
#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <string>
#include <utility>
#include <vector>

#include "app/analysis_strip.h"
#include "app/form_memory.h"
#include "widgets/figure_export.h"

class QVBoxLayout;

namespace widgets {
class Banner;
}  // namespace widgets

namespace app {

/// A run as a page shows it.
struct MeasuredRun {
  std::string key;
  int color = 0;  ///< index into the run colours

  friend bool operator==(const MeasuredRun&, const MeasuredRun&) = default;
};

/// The words of a page and the keys of its button.
struct AnalysisWords {
  const char* id = "";  ///< "stability": of the help page and the session, too
  QString title;
  QString measure;  ///< "Measure the stability"
  QString cancel;
  QKeySequence keys;
};

class AnalysisPage : public QWidget {
  Q_OBJECT

 public:
  AnalysisPage(AnalysisWorker::Opener open, AnalysisWords words, QWidget* parent);

  [[nodiscard]] const AnalysisWords& words() const { return words_; }
  /// The selected run first; none: the page says what to do.
  void show_runs(std::vector<MeasuredRun> runs);
  [[nodiscard]] const std::vector<MeasuredRun>& runs() const { return runs_; }
  /// The run in training (empty: none) and its step. Of that run a copy of the present model is measured, and measured
  /// again while the user follows the training.
  void set_live(const std::string& key, std::int64_t step);
  /// A run has been trained on: what is shown of it is old.
  void run_changed(const std::string& key);
  [[nodiscard]] virtual std::vector<const widgets::FigureSource*> figures() const = 0;
  [[nodiscard]] virtual std::vector<QAction*> actions() const { return {strip_->action()}; }
  /// The page's controls, for the session.
  [[nodiscard]] FormMemory& settings() { return settings_; }
  /// What the shown figures were measured on: run, step, rows, seed and what else the page asked for.
  [[nodiscard]] const widgets::FigureMetadata& metadata() const { return metadata_; }
  /// What it is doing, for the status line; empty when it rests.
  [[nodiscard]] QString activity() const { return strip_->activity(); }
  [[nodiscard]] bool busy() const { return strip_->busy(); }
  /// Starts to measure if there is a run and nothing of it is shown or under way yet.
  void measure_if_needed();

 signals:
  void busy_changed();
  /// The user wants to train a run that cannot be measured yet.
  void training_wanted();

 protected:
  void showEvent(QShowEvent* event) override;
  /// Starts jobs for runs(), which are not empty.
  virtual void measure() = 0;
  /// Takes away what is shown: it belongs to other runs. Says so in the empty text.
  virtual void clear() = 0;

  [[nodiscard]] AnalysisStrip& strip() const { return *strip_; }
  /// Below the strip.
  [[nodiscard]] QVBoxLayout* content() { return content_; }
  /// A second line of controls, below the strip.
  void add_controls_line(const std::vector<QWidget*>& controls);
  void show_error(const QString& sentence);
  void set_metadata(widgets::FigureMetadata metadata) { metadata_ = std::move(metadata); }
  /// Jobs go through here, so that errors of the last ones are taken away.
  void start(std::vector<AnalysisWorker::Job> jobs);
  [[nodiscard]] QString empty_text() const;

 private:
  void show_problem(const QString& sentence, bool needs_training);

  AnalysisWords words_;
  std::vector<MeasuredRun> runs_;
  [[nodiscard]] bool live() const;

  bool needed_ = false;
  std::string live_key_;
  std::int64_t live_step_ = 0;
  std::int64_t measured_step_ = -1;  ///< of the run in training, when the last measurement began
  QElapsedTimer rest_;               ///< since the last measurement ended
  FormMemory settings_;
  widgets::FigureMetadata metadata_;
  widgets::Banner* banner_;
  QVBoxLayout* head_ = nullptr;
  AnalysisStrip* strip_;
  QVBoxLayout* content_;
};

}  // namespace app
