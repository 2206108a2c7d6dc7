// Cached decoding of several rows at once in one mode (method page, "Decoding"; paper, Sec. 3.4).
//   Standard: plain prefill, generated tokens plain.   Soft: the same prefill, generated tokens fused with the state
//   before. Fused: as Soft, and the prefill's cache comes from feedback passes over the prompt.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/arena.h"
#include "engine/parameters.h"
#include "engine/pass_runner.h"
#include "engine/rollout_types.h"
#include "engine/tape.h"
#include "engine/transformer.h"

namespace engine {

/// A token drawn from a row's distribution; log-probability and entropy in nats at temperature 1, unfiltered.
struct SampledToken {
  std::int32_t id = 0;
  float logprob = 0;
  float entropy = 0;
};

class BatchDecoder {
 public:
  BatchDecoder(kernels::Backend& backend, const Parameters& parameters);
  BatchDecoder(const BatchDecoder&) = delete;
  BatchDecoder& operator=(const BatchDecoder&) = delete;

  /// Reads the prompts (at least one token each) and leaves room for `max_new` more tokens a row.
  /// Afterwards logits() is the distribution of each row's first new token.
  void prefill(const std::vector<std::vector<std::int32_t>>& prompts, DecodeMode mode, std::int64_t max_new,
               int fused_prefill_passes = 1);
  /// Draws generated token number `index` (from 0) of every row. The numbers depend on seed, index and row alone, so
  /// that the three modes share them; rows count from `first_row`, so that work done in parts draws what it would
  /// whole.
  std::vector<SampledToken> sample(const SamplerSettings& settings, std::int64_t index, std::int64_t first_row = 0);
  /// Called with each residual of a step: depth 0 is the layer-0 input, depth l the stream after block l. [R,D], valid
  /// during the call.
  using ResidualObserver = std::function<void(std::int64_t depth, kernels::ConstView residual)>;
  /// Appends one token a row; logits() then is the distribution of the next.
  void step(const std::vector<std::int32_t>& tokens, const ResidualObserver& observe = {});
  /// Takes each row's last `positions` tokens back, for other steps from the same cache. The states [R,D] that the next
  /// step is fused with are given, as they cannot be recovered.
  void step_back(std::int64_t positions, kernels::ConstView carried);

  /// [R,V] on the device, valid until the next step.
  [[nodiscard]] kernels::ConstView logits() const { return logits_; }
  /// [R,D] carried state of each row's last position.
  [[nodiscard]] kernels::ConstView carried() const { return carried_; }
  /// Positions in the cache, a row.
  [[nodiscard]] const std::vector<std::int32_t>& lengths() const { return lengths_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  /// Cached keys and values; row r of the batch holds cache rows r*capacity() and on.
  [[nodiscard]] const std::vector<LayerCache>& cache() const { return cache_; }

 private:
  void allocate_cache(std::int64_t rows);
  void take_last_positions(const std::vector<std::int32_t>& last_rows);
  /// The operations of one step, on what the step's inputs hold.
  void run_step(const ResidualObserver& observe);

  kernels::Backend* backend_;
  PassRunner prefill_;
  Arena cache_arena_;  // cache and carried states
  Arena step_arena_;   // one step
  Arena sample_arena_;
  Tape tape_;
  Transformer model_;
  DecodeMode mode_ = DecodeMode::standard;
  std::int64_t capacity_ = 0;
  std::vector<LayerCache> cache_;
  std::vector<std::int32_t> lengths_, first_, fused_;
  kernels::IndexView device_first_, device_fused_;
  std::vector<std::int32_t> step_values_;  // of all rows: tokens, then positions, cache rows, and lengths with this one
  kernels::IndexView step_inputs_;         // the same on the device
  kernels::View carried_, logits_;
  std::unique_ptr<kernels::Recording> recorded_step_;  // replayed, because the host is slower than the GPU on one token
};

}  // namespace engine
