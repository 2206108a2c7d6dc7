// What a probe looks at (method page, "Linear probes"; paper, Sec. 4.4): the residuals at each prompt's last position
// under one way of reading the prompt, and whether the answer follows a carried state that is exchanged for another
// prompt's.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/parameters.h"
#include "kernels/backend.h"

namespace engine {

/// One prompt; states are read at its last token.
struct ProbePrompt {
  std::vector<std::int32_t> tokens;  ///< at least two
  int label = 0;                     ///< 0 or 1
  std::int64_t group = 0;            ///< must not span two folds
  std::int64_t slice = 0;            ///< what accuracies are told apart by: a length, a number of registers or writes
};

/// How a prompt is read. Positions before the last `recurrent` keep their plain inputs and states of pass 1; the last
/// ones are computed one after the other, each fused with the carried state before it. That is what as many passes
/// beyond the first would give.
struct PrefillCondition {
  std::string name;
  std::int64_t recurrent = 0;  ///< 0: Standard, every position plain
};
/// Every position but the first is recurrent, which nothing comes before.
inline constexpr std::int64_t kAllPositions = std::numeric_limits<std::int64_t>::max();
/// standard, recurrent-1, recurrent-2, recurrent-4 and full.
std::vector<PrefillCondition> prefill_conditions();

/// The two answers as tokens: what both begin with, then the token that tells them apart.
struct AnswerTokens {
  std::vector<std::int32_t> shared;
  std::int32_t zero = 0;
  std::int32_t one = 0;
};

/// Of N prompts, in their order. An answer is the likelier of the two, 0 or 1.
struct ProbeReading {
  std::vector<std::vector<float>> states;  ///< depth 0..L: [N,D] row-major
  std::vector<int> answer;                 ///< after the prompt as it was read
  /// The same with the carried state that enters the last position taken from a prompt of another group, of the same
  /// length and slice, with this prompt's label or with the other. -1 where no prompt read at the same time fits. Both
  /// are empty in Standard, which carries no state.
  std::vector<int> with_same_label;
  std::vector<int> with_other_label;
};

/// Reads every prompt once; other prompts' states are drawn with `seed`. Memory beyond the result does not grow with
/// the number of prompts. `on_progress` gets the prompts read so far. Cancelled when a stop is requested.
ProbeReading read_prompts(kernels::Backend& backend, const Parameters& parameters,
                          const std::vector<ProbePrompt>& prompts, const AnswerTokens& answers,
                          const PrefillCondition& condition, std::uint64_t seed,
                          const std::function<void(std::int64_t)>& on_progress = {}, const std::stop_token& stop = {});

}  // namespace engine
