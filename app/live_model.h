// The model of the training under way, for pages that measure it while it goes on. A page's worker asks on its own
// thread; the training hands out a copy between two steps.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/analysis_worker.h"
#include "app/run_data.h"
#include "engine/training_session.h"

namespace app {

class LiveModel {
 public:
  /// A training of this run begins in the session. On the window's thread.
  void begin(const RunData& run, engine::TrainingSession& session);
  /// The session goes: open() finds nothing from here on.
  void end();

  /// A copy of the model as it is after the step under way; nullptr when this run is not in training. On any thread;
  /// waits for that step. Throws what the training says of its copy.
  std::unique_ptr<AnalysisModel> open(const std::string& key);
  /// The same without making a model of it.
  std::shared_ptr<const engine::Checkpoint> copy(const std::string& key);

 private:
  std::mutex mutex_;
  engine::TrainingSession* session_ = nullptr;
  std::string key_, name_;
  std::uint64_t seed_ = 0;
  std::optional<engine::Recipe> recipe_;
};

}  // namespace app
