#include "engine/rollout_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/error.h"

namespace engine {
namespace {

double log_likelihood(const std::vector<double>& nll) { return -std::accumulate(nll.begin(), nll.end(), 0.0); }

double largest_miss(const std::vector<double>& nll, const std::vector<float>& logprob) {
  double most = 0;
  for (std::size_t i = 0; i < nll.size(); ++i) most = std::max(most, std::abs(-nll[i] - double{logprob[i]}));
  return most;
}

}  // namespace

RolloutLikelihood rollout_likelihood(kernels::Backend& backend, const Parameters& parameters,
                                     const RecordedRollout& rollout, const std::vector<int>& passes) {
  RolloutLikelihood result;
  result.tokens = static_cast<std::int64_t>(rollout.generated.size());
  result.sequential = std::accumulate(rollout.logprob.begin(), rollout.logprob.end(), 0.0);
  RolloutPasses run(backend, parameters, rollout);
  const int most = passes.empty() ? 1 : std::max(1, *std::max_element(passes.begin(), passes.end()));
  for (int pass = 1; pass <= most; ++pass) {
    run.next();
    if (std::find(passes.begin(), passes.end(), pass) == passes.end()) continue;
    const std::vector<double> nll = run.score().nll;
    result.parallel.push_back(log_likelihood(nll));
    result.largest_miss.push_back(largest_miss(nll, rollout.logprob));
  }
  run.on_recorded_states();
  result.on_recorded_states = log_likelihood(run.score().nll);
  return result;
}

LikelihoodReport measure_likelihood(kernels::Backend& backend, const Parameters& parameters,
                                    const std::vector<std::vector<std::int32_t>>& prompts,
                                    const RecordSettings& settings, const std::vector<int>& passes,
                                    const std::function<void(std::int64_t)>& on_progress, const std::stop_token& stop) {
  LikelihoodReport report;
  report.passes = passes;
  RowMean sequential;
  RowMean floor;
  std::vector<RowMean> parallel(passes.size()), difference(passes.size()), error(passes.size());
  BatchDecoder decoder(backend, parameters);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (stop.stop_requested()) throw Cancelled();
    RecordSettings own = settings;
    own.row += static_cast<std::int64_t>(i);
    const RecordedRollout rollout = record_soft_rollout(decoder, backend, prompts[i], own);
    const RolloutLikelihood one = rollout_likelihood(backend, parameters, rollout, passes);
    report.rollouts += 1;
    report.capped += rollout.generated.back() != settings.end_of_text ? 1 : 0;
    sequential.add_row(one.sequential, one.tokens);
    floor.add_row(std::abs(one.on_recorded_states - one.sequential), one.tokens);
    for (std::size_t k = 0; k < passes.size(); ++k) {
      parallel[k].add_row(one.parallel[k], one.tokens);
      difference[k].add_row(one.parallel[k] - one.sequential, one.tokens);
      error[k].add_row(std::abs(one.parallel[k] - one.sequential), one.tokens);
    }
    if (on_progress) on_progress(static_cast<std::int64_t>(i) + 1);
  }
  report.sequential = sequential.estimate();
  report.floor = floor.estimate();
  for (std::size_t k = 0; k < passes.size(); ++k) {
    report.parallel.push_back(parallel[k].estimate());
    report.difference.push_back(difference[k].estimate());
    report.absolute_error.push_back(error[k].estimate());
  }
  return report;
}

}  // namespace engine
