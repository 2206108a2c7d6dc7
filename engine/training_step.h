// One optimiser step in parts: batch on the host, forward and backward of each slice of its rows, clipping, optimiser.
// The trainer runs them one after the other; a benchmark times each. Once its memory is there, a step allocates nothing
// on the device.
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

/// Rows that go forward and backward together. The gradients of a step are sums over its slices.
struct StepSlice {
  data::Batch tokens;                            ///< the real tokens of the rows, without padding, in one row
  std::vector<float> loss_weights;               ///< weights of the targets over those of the whole batch
  std::int64_t first_token = 0;                  ///< real tokens in the batch's rows before
  std::vector<std::vector<std::int32_t>> fused;  ///< flags of each feedback pass, passes - 1 of them
};

/// What one step trains on, on the host.
struct StepBatch {
  int passes = 1;
  std::vector<StepSlice> slices;  ///< of this process's rows; at least one
  double weight_sum = 0;          ///< of all rows, those of other processes, too
  std::int64_t all_tokens = 0;    ///< real tokens in all rows
};
/// Takes the padding out of the share's rows of a batch, cuts them into slices of at most `tokens_at_once` real tokens
/// (0: one slice; a longer row is a slice of its own) and draws the plain prefixes of step `step` (from 0). Whatever is
/// random is drawn for the whole batch, so that neither processes nor slices change it.
StepBatch make_step_batch(const data::Batch& padded, const TrainConfig& train, std::uint64_t seed, std::int64_t step,
                          int passes, const RowShare& rows, std::int64_t tokens_at_once = 0);

/// Tokens of the longest slice that make_step_batch() can give for rows of `seq` tokens.
std::int64_t longest_slice(std::int64_t rows, std::int64_t seq, std::int64_t tokens_at_once);

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

  /// Tokens of the longest slice of `rows` rows of `seq` tokens on this device.
  [[nodiscard]] std::int64_t slice_tokens(std::int64_t rows, std::int64_t seq) const;
  [[nodiscard]] std::int64_t tokens_at_once() const { return tokens_at_once_; }
  /// Takes the memory of the longest slice, so that no step takes any later.
  void reserve(const TrainConfig& train, std::int64_t tokens);

  /// Gradients of the objective over the whole batch, clipped to `train.clip`: every slice, then finish().
  void run(const StepBatch& batch, const TrainConfig& train, std::uint64_t seed, std::int64_t step);
  /// Losses of all passes of one slice; slices come in order, each before its backward().
  void forward(const StepBatch& batch, std::size_t slice, const TrainConfig& train, std::uint64_t seed,
               std::int64_t step);
  /// Adds the slice's gradients and losses to those of the slices before.
  void backward(const StepBatch& batch, std::size_t slice);
  /// Gradients of other processes and of parameters without any; clips.
  void finish(const StepBatch& batch, const TrainConfig& train);
  /// One step of the optimiser with the rate of step `step`.
  void optimise(const TrainConfig& train, std::int64_t step);

  /// Weighted mean loss of each pass over the whole batch, in nats.
  [[nodiscard]] const std::vector<double>& pass_losses() const { return pass_losses_; }
  /// The norm before clipping; waits for the device.
  [[nodiscard]] double gradient_norm();

 private:
  PassSettings& pass_settings(const StepBatch& batch, const StepSlice& slice, const TrainConfig& train,
                              std::uint64_t seed, std::int64_t step);

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
  std::int64_t tokens_at_once_;
  std::vector<double> pass_losses_;
  PassSettings settings_;  // kept for its memory, as the next two
  std::vector<PassRows> rows_;
  std::vector<float> host_loss_;
  std::vector<float> host_gradients_;
};

}  // namespace engine
