// One optimiser step in parts: batch on the host, forward, backward with clipping, optimiser. The trainer runs them one
// after the other; a benchmark times each. Once its memory is there, a step allocates nothing on the device and nothing
// on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/arena.h"
#include "engine/data/batch_source.h"
#include "engine/multipass.h"
#include "engine/optimizer.h"
#include "engine/parameters.h"
#include "engine/process_group.h"
#include "engine/recipe.h"
#include "engine/tape.h"
#include "engine/transformer.h"

namespace engine {

/// What one step trains on, on the host.
struct StepBatch {
  int passes = 1;
  data::Batch tokens;               ///< the real tokens of this process's rows, without padding, in one row
  std::vector<float> loss_weights;  ///< weights of the targets over `weight_sum`
  double weight_sum = 0;            ///< of all rows, those of other processes, too
  std::int64_t first_token = 0;     ///< real tokens in the rows before this process's
  std::int64_t all_tokens = 0;      ///< real tokens in all rows
  std::vector<std::vector<std::int32_t>> fused;  ///< flags of each feedback pass, passes - 1 of them
};
/// Takes the padding out of the share's rows of a batch and draws the plain prefixes of step `step` (from 0). Whatever
/// is random is drawn for the whole batch, so that the number of processes changes nothing.
StepBatch make_step_batch(const data::Batch& padded, const TrainConfig& train, std::uint64_t seed, std::int64_t step,
                          int passes, const RowShare& rows);
/// The same for all rows.
StepBatch make_step_batch(const data::Batch& padded, const TrainConfig& train, std::uint64_t seed, std::int64_t step,
                          int passes);

/// Bytes of a step's activations, and of the gradients and scratch of one scope of its backward.
struct StepMemory {
  std::int64_t values = 0;
  std::int64_t scratch = 0;

  [[nodiscard]] std::int64_t total() const { return values + scratch; }
};
/// What a step on `tokens` tokens takes, found by running it without a device.
StepMemory plan_step(const ModelConfig& model, const TrainConfig& train, std::int64_t tokens, int passes);

class TrainingStep {
 public:
  /// With a `group`, whose processes all call the same functions, gradients and losses are those of the whole batch.
  TrainingStep(kernels::Backend& backend, const ModelConfig& model, ProcessGroup* group = nullptr);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] Optimizer& optimizer() { return optimizer_; }

  /// Takes the memory of the longest batch, so that no step takes any later.
  void reserve(const TrainConfig& train, std::int64_t tokens);

  /// Losses of all passes; the batch must live until backward() is done.
  void forward(const StepBatch& batch, const TrainConfig& train, std::uint64_t seed, std::int64_t step);
  /// Gradients of the objective, clipped to `train.clip`.
  void backward(const TrainConfig& train);
  /// One step of the optimiser with the rate of step `step`.
  void optimise(const TrainConfig& train, std::int64_t step);

  /// Weighted mean loss of each pass, in nats, and the norm before clipping; they wait for the device.
  void read_losses(const StepBatch& batch, std::vector<double>& pass_loss);
  [[nodiscard]] double gradient_norm();

 private:
  PassSettings& pass_settings(const StepBatch& batch, const TrainConfig& train, std::uint64_t seed, std::int64_t step);

  void add_gradients_of_others();

  kernels::Backend* backend_;
  ProcessGroup* group_;
  Parameters parameters_;
  Optimizer optimizer_;
  Arena arena_;
  Arena scratch_;  // gradients of one scope
  Tape tape_;
  Transformer model_;
  kernels::Buffer norm_;
  PassSettings settings_;  // kept for its memory, as the next two
  std::vector<PassRows> rows_;
  std::vector<float> host_loss_;
  std::vector<float> host_gradients_;
};

}  // namespace engine
