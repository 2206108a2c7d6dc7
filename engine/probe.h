// Linear probes (method page, "Linear probes"; paper, Sec. 4.4 and App. F): how well a logistic regression on the
// residuals at a prompt's last position tells the label, for every depth and every way of reading the prompt; and
// beside it whether the model's own answer follows the carried state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/estimate.h"
#include "engine/logistic_regression.h"
#include "engine/parameters.h"
#include "engine/probe_reading.h"
#include "kernels/backend.h"

namespace engine {

/// Mean over the test folds and standard deviation between them.
struct FoldScore {
  double accuracy = 0;
  double spread = 0;
};

/// Labels [N] as the model of the other folds tells them from features [N, dim] (row-major). Error when a group spans
/// two folds: the accuracy would be too high.
std::vector<int> cross_validate(const std::vector<float>& features, std::int64_t dim, const std::vector<int>& labels,
                                const std::vector<std::int64_t>& groups, const std::vector<int>& fold,
                                const LogisticSettings& settings = {});
/// Score of predictions on these examples.
FoldScore score_folds(const std::vector<int>& predicted, const std::vector<int>& labels, const std::vector<int>& fold,
                      const std::vector<std::size_t>& examples);
/// Accuracy of always saying the training folds' more frequent label: what features that say nothing give, exactly.
double chance_accuracy(const std::vector<int>& labels, const std::vector<int>& fold);

struct ProbeSettings {
  std::vector<PrefillCondition> conditions = prefill_conditions();
  int folds = 4;
  LogisticSettings regression;
  std::uint64_t seed = 1;  ///< of folds and exchanged states
};

/// The examples of one length, or one number of registers or writes, scored by the probe of all examples.
struct ProbeSlice {
  std::int64_t value = 0;
  std::int64_t examples = 0;
  std::vector<FoldScore> by_depth;  ///< 0..L
};

/// The model's own answers after an exchange of the carried state; groups are the units of the standard errors.
struct SwapScore {
  Estimate same_label;     ///< answers that stay right with the state of a prompt with the same label
  Estimate follows_other;  ///< answers that become the other's with the state of a prompt with the other label
};

struct ProbeCurve {
  PrefillCondition condition;
  std::vector<FoldScore> by_depth;  ///< 0 = layer-0 input, then after each block
  std::vector<ProbeSlice> slices;   ///< ascending
  Estimate answers;                 ///< the model's own answers that are right
  std::optional<SwapScore> swap;    ///< none in Standard, which carries no state
};

struct ProbeReport {
  std::vector<ProbeCurve> curves;
  double chance = 0.5;
  std::int64_t examples = 0;
  std::int64_t groups = 0;
  int folds = 0;
};

/// `on_progress` gets done and total. Cancelled when a stop is requested.
ProbeReport run_probe(kernels::Backend& backend, const Parameters& parameters, const std::vector<ProbePrompt>& prompts,
                      const AnswerTokens& answers, const ProbeSettings& settings = {},
                      const std::function<void(std::int64_t, std::int64_t)>& on_progress = {},
                      const std::stop_token& stop = {});

}  // namespace engine
