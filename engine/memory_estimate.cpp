#include "engine/memory_estimate.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "engine/dry_backend.h"
#include "engine/error.h"
#include "engine/parameters.h"
#include "engine/pass_runner.h"
#include "engine/schedule.h"
#include "engine/trainer.h"
#include "engine/training_step.h"

namespace engine {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
/// Of a token of the batch on the host: padded and cut into slices, seven numbers and some flags each.
constexpr double kHostBytes = 64;

/// The output head's scratch, by far the largest: each thread has a chunk of logits and its part of a weight gradient.
std::int64_t workspace_bytes(const ModelConfig& c) {
  constexpr std::int64_t kChunkLogits = 262144;
  constexpr std::int64_t kFewestRows = 128;
  const std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t logits = std::max(kChunkLogits, kFewestRows * c.vocab);
  const std::int64_t packed_weight = c.vocab * c.dim;
  return kFloat * (threads * (logits + c.vocab * c.dim) + packed_weight);
}

}  // namespace

std::int64_t step_bytes(const ModelConfig& config, const TrainConfig& train, std::int64_t tokens, int passes) {
  return plan_step(config, train, tokens, passes).total();
}

std::int64_t pass_runner_bytes(const ModelConfig& config, std::int64_t tokens) {
  // Memory grows with the tokens alone, so a sample tells: large enough for blocks of the arena's smallest size.
  constexpr std::int64_t kSample = 4096;
  const std::vector<std::int32_t> zeros(kSample, 0);
  DryBackend backend;
  const Parameters parameters(backend, config, false);
  const std::int64_t before = backend.info().memory_used;
  PassRunner runner(backend, parameters);
  for (int round = 0; round < 2; ++round) {  // the second round has its memory in one piece
    runner.begin(zeros, zeros);
    runner.plain_pass();
    for (int pass = 0; pass < 2; ++pass) runner.feedback_pass(zeros);
  }
  const double each = static_cast<double>(backend.info().memory_used - before) / kSample;
  return static_cast<std::int64_t>(each * static_cast<double>(tokens));
}

MemoryEstimate memory_estimate(const Recipe& recipe, std::int64_t tokens_at_once) {
  const std::int64_t parameters = kFloat * parameter_floats(parameter_layout(recipe.model));
  const std::int64_t tokens = longest_slice(recipe.train.rows, recipe.data.seq, tokens_at_once);
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

std::int64_t estimate_memory(const Recipe& recipe) {
  static const std::int64_t tokens_at_once = kernels::automatic_tokens_at_once();
  return memory_estimate(recipe, tokens_at_once).total();
}

std::string memory_text(double bytes) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  const bool large = bytes >= 1024 * kMebibyte;
  char text[32];
  std::snprintf(text, sizeof(text), large ? "%.1f GiB" : "%.1f MiB", bytes / kMebibyte / (large ? 1024 : 1));
  return text;
}

void require_memory(const Recipe& recipe, std::int64_t tokens, std::int64_t slice, std::int64_t available) {
  if (available <= 0) return;
  const auto most = static_cast<double>(available);
  const std::string device = ", and the device has " + memory_text(most) + "; lower ";
  const std::int64_t parameters = parameter_floats(parameter_layout(recipe.model));
  const double weights = 4.0 * static_cast<double>(kFloat * parameters);  // values, gradients and both moments
  if (weights > most) {
    throw TooLarge("training the model's " + std::to_string(parameters) + " parameters needs " + memory_text(weights) +
                   device + "model.dim, model.ffn or model.layers");
  }
  // Of fewer tokens, because the bytes of very many do not fit into an integer.
  const std::int64_t sample = std::clamp<std::int64_t>(slice, 1, 65536);
  const double scale = static_cast<double>(slice) / static_cast<double>(sample);
  const std::int64_t some = step_bytes(recipe.model, recipe.train, sample, largest_passes(recipe.train));
  const double step = scale * static_cast<double>(some) + kHostBytes * static_cast<double>(tokens);
  if (weights + step > most) {
    throw TooLarge("a training step of " + std::to_string(tokens) + " tokens needs " + memory_text(step) +
                   " beside the " + memory_text(weights) + " of the model" + device + "train.rows or data.seq");
  }
}

}  // namespace engine
