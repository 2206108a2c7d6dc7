#include "engine/cache_rebuild.h"

#include <algorithm>
#include <cmath>

#include "engine/device_copy.h"
#include "engine/error.h"

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

double agreement(const std::vector<std::int32_t>& rebuilt, const std::vector<std::int32_t>& recorded) {
  if (recorded.empty()) return 1;
  std::int64_t same = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) same += rebuilt[i] == recorded[i] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(recorded.size());
}

RebuildError compare(kernels::Backend& backend, RolloutPasses& run, const RecordedRollout& rollout, int passes) {
  RelativeError key;
  RelativeError value;
  const auto start = static_cast<std::int64_t>(rollout.prompt.size());
  const std::int64_t count = rollout.response_positions();
  for (std::size_t layer = 0; layer < run.cache().size(); ++layer) {
    key.add(download_matrix(backend, run.cache()[layer].key.row_range(start, count)), rollout.key[layer]);
    value.add(download_matrix(backend, run.cache()[layer].value.row_range(start, count)), rollout.value[layer]);
  }
  return {passes, key.value(), value.value(), agreement(run.score().most_likely, rollout.most_likely)};
}

/// Means over rollouts while they come in.
struct RebuildMeans {
  std::vector<RowMean> key, value, argmax;

  explicit RebuildMeans(std::size_t count) : key(count), value(count), argmax(count) {}
  void add(std::size_t index, const RebuildError& error) {
    key[index].add_row(error.key_error, 1);
    value[index].add_row(error.value_error, 1);
    argmax[index].add_row(error.argmax_agreement, 1);
  }
};

}  // namespace

std::int32_t greedy_token(const std::vector<float>& logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

RecordedRollout record_soft_rollout(BatchDecoder& decoder, kernels::Backend& backend,
                                    const std::vector<std::int32_t>& prompt, std::int64_t new_tokens) {
  RecordSettings settings;
  settings.max_tokens = new_tokens;
  return record_soft_rollout(decoder, backend, prompt, settings);
}

std::vector<RebuildError> rebuild_errors(kernels::Backend& backend, const Parameters& parameters,
                                         const RecordedRollout& rollout, const std::vector<int>& passes) {
  RolloutPasses run(backend, parameters, rollout);
  std::vector<RebuildError> errors;
  const int most = passes.empty() ? 0 : *std::max_element(passes.begin(), passes.end());
  for (int pass = 1; pass <= most; ++pass) {
    run.next();
    if (std::find(passes.begin(), passes.end(), pass) != passes.end()) {
      errors.push_back(compare(backend, run, rollout, pass));
    }
  }
  return errors;
}

RebuildError recorded_state_floor(kernels::Backend& backend, const Parameters& parameters,
                                  const RecordedRollout& rollout) {
  RolloutPasses run(backend, parameters, rollout);
  run.next();
  run.on_recorded_states();
  return compare(backend, run, rollout, 2);
}

RebuildReport measure_rebuild(kernels::Backend& backend, const Parameters& parameters,
                              const std::vector<std::vector<std::int32_t>>& prompts, const RecordSettings& settings,
                              const std::vector<int>& passes, const std::function<void(std::int64_t)>& on_progress,
                              const std::stop_token& stop) {
  RebuildReport report;
  report.passes = passes;
  RebuildMeans means(passes.size() + 1);  // the floor comes last
  BatchDecoder decoder(backend, parameters);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (stop.stop_requested()) throw Cancelled();
    RecordSettings own = settings;
    own.row += static_cast<std::int64_t>(i);
    const RecordedRollout rollout = record_soft_rollout(decoder, backend, prompts[i], own);
    report.capped += rollout.generated.back() != settings.end_of_text ? 1 : 0;
    report.response_positions += rollout.response_positions();
    if (rollout.response_positions() == 0) {
      report.without_response += 1;
    } else {
      report.rollouts += 1;
      const std::vector<RebuildError> errors = rebuild_errors(backend, parameters, rollout, passes);
      for (std::size_t k = 0; k < errors.size(); ++k) means.add(k, errors[k]);
      means.add(passes.size(), recorded_state_floor(backend, parameters, rollout));
    }
    if (on_progress) on_progress(static_cast<std::int64_t>(i) + 1);
  }
  for (std::size_t k = 0; k < passes.size(); ++k) {
    report.key_error.push_back(means.key[k].estimate());
    report.value_error.push_back(means.value[k].estimate());
    report.argmax_agreement.push_back(means.argmax[k].estimate());
  }
  report.key_floor = means.key.back().estimate();
  report.value_floor = means.value.back().estimate();
  report.argmax_floor = means.argmax.back().estimate();
  return report;
}

}  // namespace engine
