// One training as its driver sees it. Trainer is the real one; tests drive slow or failing fakes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/checkpoint.h"
#include "engine/error.h"
#include "engine/metrics.h"
#include "kernels/backend.h"

namespace engine {

/// Made, used and destroyed on one thread (it owns a backend).
class TrainingJob {
 public:
  virtual ~TrainingJob() = default;
  [[nodiscard]] virtual std::int64_t step() const = 0;  ///< steps done
  [[nodiscard]] virtual std::int64_t total_steps() const = 0;
  [[nodiscard]] virtual std::filesystem::path run_folder() const = 0;
  [[nodiscard]] virtual kernels::DeviceInfo device() const = 0;
  /// One optimiser step, logged to the run; NonFiniteError leaves the last good checkpoint as it was.
  virtual StepMetrics train_step() = 0;
  /// The validation that the recipe asks for after the step just done; nothing when none is due.
  virtual std::optional<ValidationMetrics> validate_if_due() = 0;
  /// Writes the checkpoint that the recipe asks for after the step just done.
  virtual void checkpoint_if_due() = 0;
  /// Checkpoint at the current step, whatever the recipe asks for; `state` ("done", "stopped", "failed") goes into
  /// run.json.
  virtual void save(const char* state) = 0;
  /// The model as it is now, without the optimiser's state: for measuring it while the training goes on.
  [[nodiscard]] virtual Checkpoint snapshot() { throw Error("this training cannot be measured while it runs"); }
  /// Removes the run folder: stop and discard.
  virtual void discard() = 0;
};

}  // namespace engine
