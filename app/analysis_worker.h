// The engine thread of a page that measures: opens a run's newest checkpoint as a model of its own and runs jobs on it.
// Results come back through a mailbox that the page reads at its own pace. Knows no widgets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/inference.h"
#include "engine/recipe.h"

namespace app {

/// A snapshot of a run, ready to be measured. A training that goes on does not change it.
struct AnalysisModel {
  AnalysisModel(const engine::Checkpoint& checkpoint, int threads = 0) : model(checkpoint, "auto", threads) {}

  engine::InferenceModel model;
  std::string key;   ///< of the run
  std::string name;  ///< for people
  std::int64_t step = 0;
  std::uint64_t seed = 0;                ///< the run's own
  std::optional<engine::Recipe> recipe;  ///< absent when the run's settings could not be understood
};

/// What a job is given besides the model. Both may be used on the worker's thread alone.
struct AnalysisControl {
  std::stop_token stop;                                      ///< pass it on to the engine's calls
  std::function<void(std::int64_t, std::int64_t)> progress;  ///< done, total
};

/// Why a job failed.
struct AnalysisProblem {
  std::string sentence;
  bool needs_training = false;  ///< the run has no checkpoint: training it would help
};

/// Thrown by an opener when the run has no checkpoint to measure; the sentence says what to do.
class NoCheckpoint : public engine::FileError {
 public:
  using FileError::FileError;
};

struct AnalysisSnapshot {
  enum class State { idle, loading, measuring };
  State state = State::idle;
  std::size_t job = 0;   ///< index of the one under way, of `jobs`
  std::size_t jobs = 0;  ///< of the last request
  std::int64_t done = 0;
  std::int64_t total = 0;                      ///< 0: not known
  std::vector<std::function<void()>> results;  ///< since the last poll; call them on the page's thread
  std::vector<AnalysisProblem> problems;       ///< since the last poll
  bool cancelled = false;                      ///< the last request was cancelled before its end
};

class AnalysisWorker {
 public:
  /// Runs on the worker's thread; may throw the engine's errors.
  using Opener = std::function<std::unique_ptr<AnalysisModel>(const std::string& key)>;
  /// Runs on the worker's thread, may throw, and gives what to do with its result on the page's thread. Nothing shared
  /// may be touched but in that.
  using Work = std::function<std::function<void()>(AnalysisModel&, const AnalysisControl&)>;
  struct Job {
    std::string run;  ///< key of the run whose model is needed
    Work work;
  };

  explicit AnalysisWorker(Opener open);
  /// Cancels and joins.
  ~AnalysisWorker();
  AnalysisWorker(const AnalysisWorker&) = delete;
  AnalysisWorker& operator=(const AnalysisWorker&) = delete;

  /// Runs the jobs one after the other; what is under way is cancelled first, and results of it that were not polled
  /// are dropped. A job that fails does not end the others.
  void run(std::vector<Job> jobs);
  void cancel();
  /// The model is read again before the next job: its run has been trained on.
  void forget_model();
  /// Never waits for a measurement.
  AnalysisSnapshot poll();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace app
