#include "engine/probe.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "engine/error.h"
#include "engine/grouped_folds.h"

namespace engine {
namespace {

int count_folds(const std::vector<int>& fold) {
  return fold.empty() ? 0 : *std::max_element(fold.begin(), fold.end()) + 1;
}

/// Labels, groups and slices as columns, and the folds of the whole probe.
struct Examples {
  std::vector<int> labels;
  std::vector<std::int64_t> groups;
  std::vector<int> fold;
  std::vector<std::size_t> all;
  std::map<std::int64_t, std::vector<std::size_t>> by_slice;

  Examples(const std::vector<ProbePrompt>& prompts, const ProbeSettings& settings) : all(prompts.size()) {
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t n = 0; n < prompts.size(); ++n) {
      labels.push_back(prompts[n].label);
      groups.push_back(prompts[n].group);
      by_slice[prompts[n].slice].push_back(n);
    }
    fold = grouped_folds(groups, labels, settings.folds, settings.seed);
  }
};

/// Share of the given answers (not -1) that are right, or that are wrong. Examples of a group hang together.
Estimate share(const std::vector<int>& answers, const Examples& examples, bool right) {
  std::map<std::int64_t, std::pair<double, std::int64_t>> by_group;
  for (std::size_t n = 0; n < answers.size(); ++n) {
    if (answers[n] < 0) continue;
    auto& [sum, count] = by_group[examples.groups[n]];
    sum += (answers[n] == examples.labels[n]) == right ? 1 : 0;
    ++count;
  }
  RowMean mean;
  for (const auto& [group, member] : by_group) mean.add_row(member.first, member.second);
  return mean.estimate();
}

/// Counts work in prompts: reading one and scoring one at one depth each count once.
class Progress {
 public:
  Progress(std::int64_t total, const std::function<void(std::int64_t, std::int64_t)>& report)
      : total_(total), report_(report) {}
  void finish(std::int64_t work) { show(done_ += work); }
  void show(std::int64_t done) const {
    if (report_) report_(done, total_);
  }
  [[nodiscard]] std::int64_t done() const { return done_; }

 private:
  std::int64_t total_;
  std::int64_t done_ = 0;
  const std::function<void(std::int64_t, std::int64_t)>& report_;
};

void add_depth(ProbeCurve& curve, const std::vector<int>& predicted, const Examples& examples) {
  curve.by_depth.push_back(score_folds(predicted, examples.labels, examples.fold, examples.all));
  for (ProbeSlice& slice : curve.slices) {
    const std::vector<std::size_t>& members = examples.by_slice.at(slice.value);
    slice.by_depth.push_back(score_folds(predicted, examples.labels, examples.fold, members));
  }
}

ProbeCurve begin_curve(const PrefillCondition& condition, const ProbeReading& reading, const Examples& examples) {
  ProbeCurve curve;
  curve.condition = condition;
  for (const auto& [value, members] : examples.by_slice) {
    curve.slices.push_back({value, static_cast<std::int64_t>(members.size()), {}});
  }
  curve.answers = share(reading.answer, examples, true);
  if (!reading.with_other_label.empty()) {
    curve.swap =
        SwapScore{share(reading.with_same_label, examples, true), share(reading.with_other_label, examples, false)};
  }
  return curve;
}

}  // namespace

std::vector<int> cross_validate(const std::vector<float>& features, std::int64_t dim, const std::vector<int>& labels,
                                const std::vector<std::int64_t>& groups, const std::vector<int>& fold,
                                const LogisticSettings& settings) {
  if (const auto leak = group_over_two_folds(groups, fold)) {
    throw Error("group " + std::to_string(*leak) + " has examples in two folds: the probe would be tested on what it " +
                "learned from");
  }
  std::vector<int> predicted(labels.size(), 0);
  for (int test = 0; test < count_folds(fold); ++test) {
    std::vector<std::int64_t> rows;
    for (std::size_t n = 0; n < fold.size(); ++n) {
      if (fold[n] != test) rows.push_back(static_cast<std::int64_t>(n));
    }
    const LogisticRegression model = LogisticRegression::fit(features, dim, rows, labels, settings);
    for (std::size_t n = 0; n < fold.size(); ++n) {
      if (fold[n] == test) predicted[n] = model.decision(&features[n * static_cast<std::size_t>(dim)]) > 0 ? 1 : 0;
    }
  }
  return predicted;
}

FoldScore score_folds(const std::vector<int>& predicted, const std::vector<int>& labels, const std::vector<int>& fold,
                      const std::vector<std::size_t>& examples) {
  std::map<int, std::pair<double, double>> by_fold;  // right, all
  for (const std::size_t n : examples) {
    by_fold[fold[n]].first += predicted[n] == labels[n] ? 1 : 0;
    by_fold[fold[n]].second += 1;
  }
  FoldScore score;
  const auto count = static_cast<double>(by_fold.size());
  for (const auto& [test, sums] : by_fold) score.accuracy += sums.first / sums.second / count;
  double squares = 0;
  for (const auto& [test, sums] : by_fold) squares += std::pow(sums.first / sums.second - score.accuracy, 2);
  score.spread = count > 1 ? std::sqrt(squares / (count - 1)) : std::nan("");
  return score;
}

double chance_accuracy(const std::vector<int>& labels, const std::vector<int>& fold) {
  std::map<int, std::int64_t> balance;  // ones minus zeros
  std::int64_t whole = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const int step = labels[n] == 1 ? 1 : -1;
    balance[fold[n]] += step;
    whole += step;
  }
  std::vector<int> predicted(labels.size());
  std::vector<std::size_t> all(labels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t n = 0; n < labels.size(); ++n) predicted[n] = whole - balance[fold[n]] > 0 ? 1 : 0;
  return score_folds(predicted, labels, fold, all).accuracy;
}

ProbeReport run_probe(kernels::Backend& backend, const Parameters& parameters, const std::vector<ProbePrompt>& prompts,
                      const AnswerTokens& answers, const ProbeSettings& settings,
                      const std::function<void(std::int64_t, std::int64_t)>& on_progress, const std::stop_token& stop) {
  const Examples examples(prompts, settings);
  const ModelConfig& config = parameters.config();
  ProbeReport report;
  report.examples = static_cast<std::int64_t>(prompts.size());
  report.groups = static_cast<std::int64_t>(std::set(examples.groups.begin(), examples.groups.end()).size());
  report.folds = settings.folds;
  report.chance = chance_accuracy(examples.labels, examples.fold);
  const auto conditions = static_cast<std::int64_t>(settings.conditions.size());
  Progress progress(conditions * report.examples * (config.layers + 2), on_progress);
  for (const PrefillCondition& condition : settings.conditions) {
    const ProbeReading reading = read_prompts(
        backend, parameters, prompts, answers, condition, settings.seed,
        [&](std::int64_t read) { progress.show(progress.done() + read); }, stop);
    progress.finish(report.examples);
    ProbeCurve& curve = report.curves.emplace_back(begin_curve(condition, reading, examples));
    for (const std::vector<float>& states : reading.states) {
      if (stop.stop_requested()) throw Cancelled();
      add_depth(
          curve,
          cross_validate(states, config.dim, examples.labels, examples.groups, examples.fold, settings.regression),
          examples);
      progress.finish(report.examples);
    }
  }
  return report;
}

}  // namespace engine
