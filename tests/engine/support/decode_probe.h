// Decoding written with parallel passes alone, without any cache: what cached decoding must equal.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/batch_decoder.h"
#include "engine/device_copy.h"
#include "engine/pass_runner.h"
#include "tests/engine/support/test_model.h"

namespace support {

using Tokens = std::vector<std::int32_t>;

inline Tokens places(std::size_t count) {
  Tokens values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<std::int32_t>(n);
  return values;
}

/// 0 for the first `plain` positions, 1 for the others.
inline Tokens flags_after(std::size_t plain, std::size_t count) {
  Tokens flags(count, 1);
  std::fill_n(flags.begin(), std::min(plain, count), 0);
  return flags;
}

inline Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Rebuilds decoding pass by pass until every position is exact.
class UncachedDecoder {
 public:
  UncachedDecoder(TestModel& test, const Tokens& prompt, const Tokens& continuation)
      : test_(&test),
        runner_(*test.backend, test.parameters),
        prompt_(prompt.size()),
        count_(prompt.size() + continuation.size()) {
    runner_.begin(joined(prompt, continuation), places(count_));
  }

  /// Logits after the prompt and after each token of the continuation, [1 + continuation, V] row-major.
  std::vector<float> logits(engine::DecodeMode mode, int prefill_passes = 1) {
    runner_.plain_pass();
    if (mode == engine::DecodeMode::soft) run_soft();
    if (mode == engine::DecodeMode::fused) run_fused(prefill_passes);
    const Tokens all = places(count_);
    return runner_.logits({all.begin() + static_cast<std::ptrdiff_t>(prompt_) - 1, all.end()});
  }

 private:
  void run_soft() {
    for (std::size_t pass = prompt_; pass < count_; ++pass) {
      runner_.feedback_pass(flags_after(prompt_, count_), {}, /*plain_as_in_pass1=*/true);
    }
  }

  /// The prompt always reads the states before its last prefill pass; later positions read exact states.
  void run_fused(int prefill_passes) {
    const Tokens flags = flags_after(1, count_);
    for (int pass = 1; pass < prefill_passes; ++pass) runner_.feedback_pass(flags);
    const std::size_t kept = (prompt_ - 1) * static_cast<std::size_t>(runner_.carried().cols);
    std::vector<float> states = download(runner_.carried());
    for (std::size_t pass = prompt_; pass <= count_; ++pass) {
      engine::Arena arena(*test_->backend);
      runner_.feedback_pass(flags, {}, false, upload_matrix(*test_->backend, arena, states, runner_.carried().cols));
      const std::vector<float> next = download(runner_.carried());
      std::copy(next.begin() + static_cast<std::ptrdiff_t>(kept), next.end(),
                states.begin() + static_cast<std::ptrdiff_t>(kept));
    }
  }

  [[nodiscard]] std::vector<float> download(kernels::ConstView view) const {
    return engine::download_matrix(*test_->backend, view);
  }

  TestModel* test_;
  engine::PassRunner runner_;
  std::size_t prompt_;
  std::size_t count_;
};

/// Logits of cached decoding of one row along a given continuation, as UncachedDecoder gives them.
inline std::vector<float> cached_logits(TestModel& test, const Tokens& prompt, const Tokens& continuation,
                                        engine::DecodeMode mode, int prefill_passes = 1) {
  engine::BatchDecoder decoder(*test.backend, test.parameters);
  decoder.prefill({prompt}, mode, static_cast<std::int64_t>(continuation.size()), prefill_passes);
  std::vector<float> logits = engine::download_matrix(*test.backend, decoder.logits());
  for (const std::int32_t token : continuation) {
    decoder.step({token});
    const std::vector<float> row = engine::download_matrix(*test.backend, decoder.logits());
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

}  // namespace support
