#include <algorithm>
#include <cmath>

#include "engine/device_copy.h"
#include "engine/error.h"
#include "engine/stability.h"

namespace engine {
namespace {

/// Sums over one row's scored positions after one pass.
struct RowSums {
  double loss = 0, standard = 0, update = 0, movable_update = 0, exact_loss = 0, exact_standard = 0;
  std::int64_t scored = 0, movable = 0, exact = 0;
};

/// What is kept of one pass: its size does not depend on the rows.
struct PassMeans {
  RowMean loss, change, update, movable_update, exact_loss, exact_standard;
  std::int64_t movable = 0, exact = 0;

  void add(const RowSums& row) {
    loss.add_row(row.loss, row.scored);
    change.add_row(row.loss - row.standard, row.scored);
    update.add_row(row.update, row.scored);
    movable_update.add_row(row.movable_update, row.movable);
    exact_loss.add_row(row.exact_loss, row.exact);
    exact_standard.add_row(row.exact_standard, row.exact);
    movable += row.movable;
    exact += row.exact;
  }
};

/// Sums of update norms by place in the document.
struct PlaceSums {
  std::vector<double> sum;
  std::vector<std::int64_t> count;

  void add(std::int32_t place, float update) {
    const auto index = static_cast<std::size_t>(place);
    if (index >= sum.size()) {
      sum.resize(index + 1, 0.0);
      count.resize(index + 1, 0);
    }
    sum[index] += double{update};
    count[index] += 1;
  }
};

struct Totals {
  std::vector<PassMeans> passes;  // [n+1]
  std::vector<PlaceSums> places;  // [computed]
};

/// Some rows without their padding, and the numbers of the last pass over them.
class Chunk {
 public:
  Chunk(const data::Batch& batch, int shift)
      : places_(real_places(batch)), tokens_(without_padding(batch, places_)), seq_(batch.seq), shift_(shift) {
    for (const std::int32_t position : tokens_.positions) {
      longest_ = std::max(longest_, position);
      fused_.push_back(position > 0 ? 1 : 0);
    }
    update_.assign(places_.size(), 0.0F);
  }

  /// Feedback passes after which nothing moves any more.
  [[nodiscard]] int needed_passes() const { return longest_ + shift_; }

  void start(PassRunner& runner, kernels::Backend& backend) {
    const auto count = static_cast<std::int64_t>(places_.size());
    distance_ = backend.allocate(count * std::int64_t{sizeof(float)});
    runner.begin(tokens_.tokens, tokens_.positions);
    runner.plain_pass();
    nll_ = standard_ = runner.score(tokens_.targets).nll;
  }

  void feedback(PassRunner& runner, kernels::Backend& backend) {
    runner.feedback_pass(fused_);
    const kernels::View norms = distance_.matrix(static_cast<std::int64_t>(places_.size()), 1);
    backend.row_distance(runner.carried(), runner.previous_carried(), norms);
    update_ = download_matrix(backend, norms);
    nll_ = runner.score(tokens_.targets).nll;
  }
  void nothing_moves() { std::fill(update_.begin(), update_.end(), 0.0F); }

  void add_means(int pass, PassMeans& means) const {
    RowSums sums;
    for (std::size_t n = 0; n < places_.size(); ++n) {
      add_position(n, pass, sums);
      const bool last_of_row = n + 1 == places_.size() || places_[n + 1] / seq_ != places_[n] / seq_;
      if (!last_of_row) continue;
      means.add(sums);
      sums = {};
    }
  }
  void add_places(PlaceSums& sums) const {
    for (std::size_t n = 0; n < places_.size(); ++n) sums.add(tokens_.positions[n], update_[n]);
  }

 private:
  void add_position(std::size_t n, int pass, RowSums& sums) const {
    if (tokens_.targets[n] < 0 || tokens_.weights[n] <= 0.0F) return;
    sums.scored += 1;
    sums.loss += double{nll_[n]};
    sums.standard += double{standard_[n]};
    sums.update += double{update_[n]};
    const int settled =
        pass - shift_;  // positions up to here are exact after the pass, and from here on can move in it
    if (tokens_.positions[n] >= settled) {
      sums.movable += 1;
      sums.movable_update += double{update_[n]};
    }
    if (tokens_.positions[n] <= settled) {
      sums.exact += 1;
      sums.exact_loss += double{nll_[n]};
      sums.exact_standard += double{standard_[n]};
    }
  }

  std::vector<std::int32_t> places_;  // in the padded rows
  data::Batch tokens_;
  std::int64_t seq_;
  int shift_;
  std::int32_t longest_ = 0;
  std::vector<std::int32_t> fused_;
  std::vector<float> nll_, standard_, update_;
  kernels::Buffer distance_;
};

/// The mean by place, NaN where no document is that long.
std::vector<double> means_of(const PlaceSums& sums, std::size_t longest) {
  std::vector<double> means(longest, std::nan(""));
  for (std::size_t place = 0; place < sums.sum.size(); ++place) {
    if (sums.count[place] > 0) means[place] = sums.sum[place] / static_cast<double>(sums.count[place]);
  }
  return means;
}

StabilityCurves curves_of(const Totals& totals) {
  StabilityCurves curves;
  curves.computed_passes = static_cast<int>(totals.places.size());
  curves.passes = static_cast<int>(totals.passes.size()) - 1;
  for (std::size_t f = 0; f < totals.passes.size(); ++f) {
    const PassMeans& pass = totals.passes[f];
    curves.loss.push_back(pass.loss.estimate());
    curves.loss_change.push_back(pass.change.estimate());
    curves.exact_loss.push_back(pass.exact_loss.estimate());
    curves.exact_standard_loss.push_back(pass.exact_standard.estimate());
    curves.exact_positions.push_back(pass.exact);
    if (f == 0) continue;
    curves.update_all.push_back(pass.update.estimate());
    curves.update_movable.push_back(pass.movable > 0 ? pass.movable_update.estimate() : Estimate{});
    curves.movable_positions.push_back(pass.movable);
  }
  std::size_t longest = 0;
  for (const PlaceSums& sums : totals.places) longest = std::max(longest, sums.sum.size());
  for (const PlaceSums& sums : totals.places) curves.at_position.push_back(means_of(sums, longest));
  curves.scored_positions = curves.loss.front().counts;
  return curves;
}

/// The mean over all rows of estimates on different rows.
Estimate pooled_estimate(const std::vector<Estimate>& parts) {
  Estimate pooled;
  double squares = 0;
  for (const Estimate& part : parts) {
    if (part.counts == 0) continue;
    const auto count = static_cast<double>(part.counts);
    pooled.value += part.value * count;
    squares += part.error * count * part.error * count;
    pooled.rows += part.rows;
    pooled.counts += part.counts;
  }
  if (pooled.counts == 0) return parts.front();
  const auto count = static_cast<double>(pooled.counts);
  return {pooled.value / count, std::sqrt(squares) / count, pooled.rows, pooled.counts};
}

}  // namespace

StabilityCurves measure_stability_curves(kernels::Backend& backend, const Parameters& parameters,
                                         const data::Batch& batch, int passes, std::int64_t rows_at_once,
                                         const std::function<void(std::int64_t, std::int64_t)>& on_progress,
                                         const std::stop_token& stop) {
  if (passes < 0) throw ConfigError("passes", "must not be negative");
  if (batch.real_tokens() == 0) throw ConfigError("rows", "hold no token to measure on");
  const int shift = parameters.config().norm_reading == NormReading::listing3 ? 1 : 0;
  const std::int64_t at_once = std::max<std::int64_t>(1, rows_at_once);
  const std::int64_t total = (batch.rows + at_once - 1) / at_once * passes;
  std::int64_t done = 0;
  Totals totals;
  totals.passes.resize(static_cast<std::size_t>(passes) + 1);
  PassRunner runner(backend, parameters);
  for (std::int64_t first = 0; first < batch.rows; first += at_once) {
    Chunk chunk(data::row_range(batch, first, std::min(at_once, batch.rows - first)), shift);
    chunk.start(runner, backend);
    chunk.add_means(0, totals.passes[0]);
    for (int pass = 1; pass <= passes; ++pass) {
      if (stop.stop_requested()) throw Cancelled();
      if (pass <= chunk.needed_passes()) {
        chunk.feedback(runner, backend);
        if (totals.places.size() < static_cast<std::size_t>(pass)) totals.places.emplace_back();
        chunk.add_places(totals.places[static_cast<std::size_t>(pass - 1)]);
      } else {
        chunk.nothing_moves();
      }
      chunk.add_means(pass, totals.passes[static_cast<std::size_t>(pass)]);
      if (on_progress) on_progress(++done, total);
    }
  }
  StabilityCurves curves = curves_of(totals);
  curves.rows = batch.rows;
  return curves;
}

StabilityCurves pooled(const std::vector<StabilityCurves>& repeats) {
  if (repeats.empty()) return {};
  StabilityCurves all = repeats.front();
  for (auto curve :
       {&StabilityCurves::loss, &StabilityCurves::loss_change, &StabilityCurves::update_all,
        &StabilityCurves::update_movable, &StabilityCurves::exact_loss, &StabilityCurves::exact_standard_loss}) {
    for (std::size_t f = 0; f < (all.*curve).size(); ++f) {
      std::vector<Estimate> parts;
      for (const StabilityCurves& repeat : repeats) parts.push_back((repeat.*curve)[f]);
      (all.*curve)[f] = pooled_estimate(parts);
    }
  }
  for (std::size_t i = 1; i < repeats.size(); ++i) {
    const StabilityCurves& repeat = repeats[i];
    all.rows += repeat.rows;
    all.scored_positions += repeat.scored_positions;
    all.computed_passes = std::max(all.computed_passes, repeat.computed_passes);
    for (auto counts : {&StabilityCurves::movable_positions, &StabilityCurves::exact_positions}) {
      std::transform((all.*counts).begin(), (all.*counts).end(), (repeat.*counts).begin(), (all.*counts).begin(),
                     std::plus<>());
    }
  }
  return all;
}

std::vector<double> spread_over_repeats(const std::vector<StabilityCurves>& repeats,
                                        std::vector<Estimate> StabilityCurves::*curve) {
  if (repeats.empty()) return {};
  std::vector<double> spread((repeats.front().*curve).size(), std::nan(""));
  if (repeats.size() < 2) return spread;
  const auto count = static_cast<double>(repeats.size());
  for (std::size_t f = 0; f < spread.size(); ++f) {
    double mean = 0;
    double squares = 0;
    for (const StabilityCurves& repeat : repeats) mean += (repeat.*curve)[f].value / count;
    for (const StabilityCurves& repeat : repeats) squares += std::pow((repeat.*curve)[f].value - mean, 2);
    spread[f] = std::sqrt(squares / (count - 1));
  }
  return spread;
}

}  // namespace engine
