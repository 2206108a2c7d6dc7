// Drives one training for the window: starts jobs in new run folders, reads the mailbox 25 times a second, keeps the
// live values and tells of them six times a second, and knows which command makes sense now. Has no widgets.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/background.h"
#include "app/live_model.h"
#include "app/run_data.h"
#include "engine/recipe.h"
#include "engine/training_session.h"

namespace app {

struct TrainingRequest {
  engine::Recipe recipe;
  std::filesystem::path folder;
  std::uint64_t seed = 1;
  bool resume = false;  ///< goes on with the run in `folder`; recipe and seed are then the run's own
};

/// Makes the job on the engine's thread; tests give a fake.
using JobMaker = std::function<std::unique_ptr<engine::TrainingJob>(const TrainingRequest&)>;
/// engine::make_trainer and engine::resume_trainer on the automatic device.
JobMaker real_jobs();

class TrainingController : public QObject {
  Q_OBJECT

 public:
  explicit TrainingController(JobMaker make_job = real_jobs(), QObject* parent = nullptr);
  ~TrainingController() override;

  void set_runs_folder(const std::filesystem::path& folder) { runs_folder_ = folder; }

  /// A new run of the recipe; false while another runs. ConfigError when the recipe cannot be used.
  bool start(const engine::Recipe& recipe, std::uint64_t seed);
  /// Goes on from a run's newest checkpoint.
  bool continue_run(const std::filesystem::path& folder, const RunData& known);
  void pause() { session_.pause(); }
  void resume() { session_.resume(); }
  void single_step() { session_.single_step(); }
  void stop_and_save() { session_.stop_and_save(); }
  void stop_and_discard() { session_.stop_and_discard(); }
  void finish_now() { session_.finish_now(); }
  /// The last recipe again from its first step: same seed, same initial weights, a new run folder. A training under
  /// way is stopped and saved first.
  void rewind();
  /// As rewind, with other initial weights and data.
  void rewind_with_new_seed();

  /// As of the last poll, so that it agrees with now().
  [[nodiscard]] bool busy() const {
    return now_.state != engine::TrainingState::idle && now_.state != engine::TrainingState::failed;
  }
  [[nodiscard]] bool can_rewind() const { return last_request_.has_value(); }
  [[nodiscard]] const engine::TrainingSnapshot& now() const { return now_; }
  /// The run being trained or trained last; nullptr before the first.
  [[nodiscard]] std::shared_ptr<const RunData> live() const { return live_; }
  [[nodiscard]] std::string live_key() const { return live_ ? live_->key : std::string(); }
  /// For measuring the run in training; outlives the controller.
  [[nodiscard]] std::shared_ptr<LiveModel> live_model() const { return live_model_; }
  /// Seconds left, weighted with the passes that the schedule still has; 0 when unknown.
  [[nodiscard]] double seconds_left() const;
  /// Reads the mailbox now instead of at the next tick.
  void poll();

 signals:
  void progressed();     ///< new values; not more often than they can be read
  void state_changed();  ///< the state, or how the training ended
  void started(const QString& key);

 private:
  bool launch(const TrainingRequest& request, RunData run);
  void start_again(std::uint64_t seed);
  void read_again();
  void take_values();
  void tell_if_due(bool now);
  [[nodiscard]] std::filesystem::path free_folder(const std::string& name, std::uint64_t seed) const;

  JobMaker make_job_;
  std::filesystem::path runs_folder_;
  std::optional<TrainingRequest> last_request_;
  std::optional<std::uint64_t> seed_after_stop_;  ///< a rewind that waits for the stop
  engine::TrainingSnapshot now_;
  std::shared_ptr<RunData> live_;
  std::shared_ptr<LiveModel> live_model_ = std::make_shared<LiveModel>();
  bool reading_again_ = false;
  bool untold_ = false;  ///< values that came since the last progressed()
  QElapsedTimer told_;
  QTimer timer_;
  Background background_;
  engine::TrainingSession session_;  // last: its thread ends first
};

/// Seconds for the steps after `step` when a step's cost is proportional to its passes; `recent` are the newest steps.
double seconds_left(const engine::Recipe& recipe, std::int64_t step, std::int64_t total_steps,
                    const std::vector<engine::StepMetrics>& recent);

}  // namespace app
