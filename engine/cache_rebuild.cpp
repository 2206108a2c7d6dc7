#include "engine/cache_rebuild.h"

#include <algorithm>
#include <cmath>

#include "engine/device_copy.h"

namespace engine {
namespace {

/// Sums of squares over all layers, for ||a - b|| / ||b||.
class RelativeError {
 public:
  void add(const std::vector<float>& rebuilt, const std::vector<float>& recorded) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const double difference = double{rebuilt[i]} - double{recorded[i]};
      difference_ += difference * difference;
      reference_ += double{recorded[i]} * double{recorded[i]};
    }
  }
  [[nodiscard]] double value() const { return reference_ > 0 ? std::sqrt(difference_ / reference_) : 0.0; }

 private:
  double difference_ = 0;
  double reference_ = 0;
};

/// A cache for one row of `length` positions.
struct RowCache {
  Arena arena;
  std::vector<LayerCache> layers;

  RowCache(kernels::Backend& backend, const ModelConfig& config, std::int64_t length) : arena(backend) {
    const std::int64_t width = config.kv_heads * config.head_dim();
    for (std::int64_t i = 0; i < config.layers; ++i) {
      layers.push_back({arena.matrix(length, width), arena.matrix(length, width)});
    }
  }
};

RebuildError compare(kernels::Backend& backend, const std::vector<LayerCache>& cache, const RecordedRollout& rollout,
                     int passes) {
  RelativeError key;
  RelativeError value;
  const auto start = static_cast<std::int64_t>(rollout.prompt.size());
  for (std::size_t layer = 0; layer < cache.size(); ++layer) {
    const std::int64_t count = cache[layer].key.rows - start;
    key.add(download_matrix(backend, cache[layer].key.row_range(start, count)), rollout.key[layer]);
    value.add(download_matrix(backend, cache[layer].value.row_range(start, count)), rollout.value[layer]);
  }
  return {passes, key.value(), value.value()};
}

}  // namespace

std::int32_t greedy_token(const std::vector<float>& logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

RecordedRollout record_soft_rollout(BatchDecoder& decoder, kernels::Backend& backend,
                                    const std::vector<std::int32_t>& prompt, std::int64_t new_tokens) {
  RecordedRollout rollout;
  rollout.prompt = prompt;
  decoder.prefill({prompt}, DecodeMode::soft, new_tokens);
  for (std::int64_t i = 0; i < new_tokens; ++i) {
    rollout.generated.push_back(greedy_token(download_matrix(backend, decoder.logits())));
    if (i + 1 < new_tokens) decoder.step({rollout.generated.back()});
  }
  const auto start = static_cast<std::int64_t>(prompt.size());
  for (const LayerCache& layer : decoder.cache()) {
    rollout.key.push_back(download_matrix(backend, layer.key.row_range(start, new_tokens - 1)));
    rollout.value.push_back(download_matrix(backend, layer.value.row_range(start, new_tokens - 1)));
  }
  return rollout;
}

std::vector<RebuildError> rebuild_errors(kernels::Backend& backend, const Parameters& parameters,
                                         const RecordedRollout& rollout, const std::vector<int>& passes) {
  std::vector<std::int32_t> tokens = rollout.prompt;
  tokens.insert(tokens.end(), rollout.generated.begin(), rollout.generated.end() - 1);
  std::vector<std::int32_t> places(tokens.size());
  std::vector<std::int32_t> fused(tokens.size());
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    places[n] = static_cast<std::int32_t>(n);
    fused[n] = n >= rollout.prompt.size() ? 1 : 0;
  }
  RowCache cache(backend, parameters.config(), static_cast<std::int64_t>(tokens.size()));
  PassRunner runner(backend, parameters);
  runner.begin(tokens, places);
  StackHooks store;
  store.cache = &cache.layers;
  store.cache_rows = runner.keep_indices(places);
  std::vector<RebuildError> errors;
  const int most = passes.empty() ? 0 : *std::max_element(passes.begin(), passes.end());
  for (int pass = 1; pass <= most; ++pass) {
    if (pass == 1) {
      runner.plain_pass(store);
    } else {
      runner.feedback_pass(fused, store, /*plain_as_in_pass1=*/true);
    }
    if (std::find(passes.begin(), passes.end(), pass) != passes.end()) {
      errors.push_back(compare(backend, cache.layers, rollout, pass));
    }
  }
  return errors;
}

}  // namespace engine
