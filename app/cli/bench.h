// How fast a model of given sizes trains, reads and decodes here, next to what the machine's matrix products reach
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/recipe.h"

namespace app::cli {

struct BenchSettings {
  engine::ModelConfig model;
  engine::TrainConfig train;
  std::int64_t batch = 32;              ///< rows of a training step
  std::int64_t seq = 128;               ///< tokens a row
  std::vector<int> passes = {1, 2, 3};  ///< numbers of passes K that are trained
  std::int64_t decode = 64;             ///< tokens to generate
  std::int64_t decode_rows = 32;        ///< rows of the batched decoding
  std::string device = "auto";
  int threads = 0;              ///< 0 = all cores
  bool processor_time = false;  ///< count the program's processor time, for one thread on a busy machine
  int repeats = 5;              ///< measurements of one thing; the median counts
  double seconds = 4;           ///< after this long no further repeat of one thing is begun (at least one is made)
};

/// Median seconds of the parts of a training step with one number of passes.
struct StepTimes {
  double data = 0;  ///< batch and prefixes on the host
  double forward = 0;
  double backward = 0;  ///< gradients and clipping
  double optimiser = 0;
  double whole = 0;  ///< median of whole steps, so not quite the sum of the parts
  double tokens_per_second = 0;
  std::int64_t allocations = 0;  ///< of the heap and of the device in forward, backward and optimiser
};

struct BenchResult {
  std::map<int, StepTimes> training;  ///< by number of passes
  std::int64_t parameters = 0;
  std::int64_t peak_memory = 0;    ///< bytes of the process after training
  std::int64_t device_memory = 0;  ///< bytes held for the training on the device
  double product_flops = 0;        ///< a second, of the products of a step with one pass alone
  double step_flops = 0;           ///< a second, counting all products of the model, at one pass
  double prefill_tokens_per_second = 0;
  std::map<std::string, double> decode_seconds;  ///< a token of one row, prefill included, by mode
  double batch_speedup = 0;                      ///< tokens a second of many rows over those of one
};

/// Says what is being measured.
using BenchProgress = std::function<void(const std::string& what)>;

BenchResult run_bench(const BenchSettings& settings, const BenchProgress& progress);

/// Operations of all products of a step with one pass over batch x seq tokens: two a multiply-add, forward and
/// backward.
double step_flop_count(const BenchSettings& settings);

}  // namespace app::cli
