// The engine thread of a training: commands go in and are looked at between steps, values come out through a mailbox.
// The caller never waits for a step, and the training never waits for the caller.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "engine/metrics.h"
#include "engine/training_job.h"

namespace engine {

/// Idle -> Starting -> Running <-> Pausing/Paused -> Stopping/Saving -> Idle; Failed holds the message until the next
/// start.
enum class TrainingState { idle, starting, running, pausing, paused, stopping, saving, failed };

/// How the last training ended, valid in Idle and Failed.
enum class TrainingEnd { none, done, stopped, discarded, failed };

struct TrainingSnapshot {
  TrainingState state = TrainingState::idle;
  TrainingEnd end = TrainingEnd::none;
  std::string message;  ///< one sentence: why it failed or paused by itself; empty otherwise
  bool non_finite =
      false;  ///< it paused because a number was not finite; resume is refused, stopping keeps the last good checkpoint
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double seconds_left = 0;  ///< estimate from the recent steps; 0 when unknown
  std::filesystem::path run_folder;
  kernels::DeviceInfo device;
  std::vector<StepMetrics> steps;              ///< new since the last poll
  std::vector<ValidationMetrics> validations;  ///< new since the last poll
  bool overflowed = false;  ///< the mailbox was full and dropped its oldest steps: read metrics.jsonl again
};

class TrainingSession {
 public:
  /// Runs on the engine thread; throws engine errors, which become Failed.
  using JobFactory = std::function<std::unique_ptr<TrainingJob>()>;

  TrainingSession();
  /// Stops without saving beyond the last checkpoint if still running, and joins.
  ~TrainingSession();
  TrainingSession(const TrainingSession&) = delete;
  TrainingSession& operator=(const TrainingSession&) = delete;

  /// Ignored unless Idle or Failed; returns whether it was taken.
  bool start(JobFactory make_job);
  void pause();
  void resume();
  /// One step, then Paused again; valid in Paused.
  void single_step();
  /// Saves a checkpoint and marks the run "stopped": it can be resumed.
  void stop_and_save();
  /// Removes the run folder.
  void stop_and_discard();
  /// Saves and marks the run "done" at the current step.
  void finish_now();

  /// The model as it is after the step under way, copied on the engine thread; the training waits for the copy alone.
  /// Returns at once; the future has nothing when no training is under way or it ends first. The session's end breaks
  /// the promise.
  std::future<std::shared_ptr<const Checkpoint>> request_snapshot();

  /// State and everything new since the last call. Never waits for a step.
  TrainingSnapshot poll();
  [[nodiscard]] TrainingState state() const;
  /// Whether a job exists (any state but Idle and Failed).
  [[nodiscard]] bool busy() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

const char* to_string(TrainingState state);

}  // namespace engine
