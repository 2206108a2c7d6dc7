// The line of a page that measures: what the page shows was measured on, progress, and one button that measures or
// cancels. Owns the page's worker and reads its mailbox 25 times a second.
#pragma once

#include <QTimer>
#include <QWidget>
#include <string>
#include <vector>

#include "app/analysis_worker.h"

class QAction;
class QCheckBox;
class QHBoxLayout;
class QLabel;
class QProgressBar;

namespace app {

class AnalysisStrip : public QWidget {
  Q_OBJECT

 public:
  /// `action` is the page's own: its text is "Measure …" at rest and "Cancel …" while measuring.
  AnalysisStrip(AnalysisWorker::Opener open, const QString& measure_text, const QString& cancel_text,
                const QKeySequence& keys, QWidget* parent = nullptr);

  /// Results are handed out by poll(); what is under way is cancelled.
  void run(std::vector<AnalysisWorker::Job> jobs);
  void cancel();
  void forget_model() { worker_.forget_model(); }
  [[nodiscard]] bool busy() const { return state_ != AnalysisSnapshot::State::idle; }
  /// What it is doing, for the status line; empty when it rests.
  [[nodiscard]] QString activity() const;
  [[nodiscard]] QAction* action() const { return action_; }
  /// "demo, step 2,000 · 64 rows · seed 1": shown while nothing is under way.
  void set_measured_on(const QString& text);
  /// Whether the page shows a run in training, which it can follow.
  void offer_follow(bool offered);
  [[nodiscard]] bool following() const;
  [[nodiscard]] QCheckBox* follow() const { return follow_; }
  /// Controls of the page stand at the left of the line.
  void add_control(QWidget* control);
  void poll();

 signals:
  /// The button asks for a measurement.
  void wanted();
  /// The last job ended, or all were cancelled.
  void finished(bool cancelled);
  void failed(const QString& sentence, bool needs_training);
  void busy_changed();

 private:
  void show_state(const AnalysisSnapshot& snapshot);

  QString measure_text_, cancel_text_, measured_on_;
  QAction* action_;
  QHBoxLayout* row_;
  QLabel* text_;
  QCheckBox* follow_;
  QProgressBar* progress_;
  AnalysisSnapshot::State state_ = AnalysisSnapshot::State::idle;
  QTimer timer_;
  AnalysisWorker worker_;  // last: its thread ends first
};

}  // namespace app
