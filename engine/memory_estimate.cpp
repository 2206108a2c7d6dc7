#include "engine/memory_estimate.h"

#include <algorithm>
#include <thread>

#include "engine/parameters.h"
#include "engine/schedule.h"
#include "engine/trainer.h"

namespace engine {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

/// Floats a token: values that stay until the step ends, and gradients that come in the backward pass.
struct PerToken {
  std::int64_t values = 0;
  std::int64_t gradients = 0;

  /// A result of `width` numbers a token that has a gradient.
  void result(std::int64_t width) {
    values += width;
    gradients += width;
  }
  void scratch(std::int64_t width) { values += width; }
  void rms_norm(std::int64_t width) {
    result(width);
    scratch(1);  // inverse root mean square
  }
  void residual_norm(std::int64_t width) {
    result(2 * width);  // sum and norm
    scratch(1);
  }
  [[nodiscard]] std::int64_t both() const { return values + gradients; }
};

void add_attention(PerToken& sum, const ModelConfig& c) {
  const std::int64_t query = c.heads * c.head_dim();
  const std::int64_t key_value = c.kv_heads * c.head_dim();
  sum.result(query + 2 * key_value + (c.head_gate ? c.heads : 0));  // projections
  sum.result(query);                                                // heads
  sum.scratch(query + key_value);                                   // rotated queries and keys
  sum.gradients += query + key_value;
  sum.scratch(2 * c.heads + c.kv_heads);  // inverse norms and logsumexp
  if (c.head_gate) sum.result(query);     // heads before the gate
  sum.result(c.dim);                      // output product
}

PerToken stack(const ModelConfig& c) {
  PerToken sum;
  sum.rms_norm(c.dim);
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    add_attention(sum, c);
    sum.result(2 * c.ffn + c.ffn + c.dim);  // gate and up, hidden, output product
    for (int branch = 0; branch < 2; ++branch) {
      if (c.sandwich_norm) sum.rms_norm(c.dim);
      sum.residual_norm(c.dim);
    }
  }
  return sum;
}

/// Layer-0 input of plain positions.
PerToken plain_input(const ModelConfig& c, bool feedback_pass) {
  PerToken sum;
  const bool normed = c.norm_reading != NormReading::raw && (feedback_pass || c.norm_reading != NormReading::listing3);
  if (normed) sum.rms_norm(c.dim);
  return sum;
}

PerToken token_side(const ModelConfig& c) {
  PerToken sum;
  if (c.norm_reading != NormReading::raw) sum.rms_norm(c.dim);
  sum.result(c.dim);
  return sum;
}

/// State product and fusion.
PerToken fused_input(const ModelConfig& c) {
  PerToken sum;
  sum.result(2 * c.dim);
  sum.scratch(1);
  return sum;
}

/// The output head's scratch, by far the largest: each thread has a chunk of logits and its part of a weight gradient.
std::int64_t workspace_bytes(const ModelConfig& c) {
  constexpr std::int64_t kChunkLogits = 262144;
  constexpr std::int64_t kFewestRows = 128;
  const std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t logits = std::max(kChunkLogits, kFewestRows * c.vocab);
  return kFloat * threads * (logits + c.vocab * c.dim);
}

}  // namespace

std::int64_t step_bytes(const ModelConfig& c, const TrainConfig& train, std::int64_t tokens, int passes) {
  constexpr std::int64_t kBatch = 4;         // tokens, positions, targets, weights
  constexpr std::int64_t kLoss = 2;          // loss and most likely token of each pass
  std::int64_t floats = kBatch + 2 * c.dim;  // embeddings and their gradient
  floats += plain_input(c, false).both() + passes * (stack(c).both() + kLoss);
  if (passes > 1) floats += token_side(c).both() + plain_input(c, true).both();
  for (int feedback = 1; feedback < passes; ++feedback) {
    constexpr std::int64_t kFlagAndWeight = 2;
    floats += fused_input(c).both() + kFlagAndWeight;
    if (train.jitter > 0) floats += 2 * c.dim;
  }
  return kFloat * tokens * floats;
}

std::int64_t pass_runner_bytes(const ModelConfig& c, std::int64_t tokens) {
  constexpr std::int64_t kIndices = 3;
  constexpr std::int64_t kStates = 3;  // carried states of two passes, normed states of one
  const std::int64_t base = kIndices + (1 + kStates) * c.dim + plain_input(c, false).values +
                            plain_input(c, true).values + token_side(c).values;
  return kFloat * tokens * (base + fused_input(c).values + stack(c).values);
}

MemoryEstimate memory_estimate(const Recipe& recipe) {
  const std::int64_t parameters = kFloat * parameter_floats(parameter_layout(recipe.model));
  const std::int64_t tokens = recipe.train.rows * recipe.data.seq;
  MemoryEstimate estimate;
  estimate.parameters = 2 * parameters;
  estimate.optimizer = 2 * parameters;
  estimate.step = step_bytes(recipe.model, recipe.train, tokens, largest_passes(recipe.train));
  if (recipe.train.validate_every > 0) {
    const std::int64_t rows = std::min(recipe.train.rows, recipe.train.validation_rows);
    estimate.validation = pass_runner_bytes(recipe.model, rows * recipe.data.seq);
  }
  estimate.workspace = workspace_bytes(recipe.model);
  return estimate;
}

std::int64_t estimate_memory(const Recipe& recipe) { return memory_estimate(recipe).total(); }

}  // namespace engine
