#include "engine/depth_ladder.h"

#include <cmath>

namespace engine {
namespace {

struct Rung {
  Estimate rms, change;
};

/// Takes the residuals of one pass in the order of depth and keeps the last one only.
class LadderPass {
 public:
  LadderPass(const data::Batch& batch, const std::vector<std::int32_t>& fused, std::int64_t dim)
      : batch_(batch), fused_(fused), dim_(static_cast<std::size_t>(dim)) {}

  void add(const std::vector<float>& residual) {
    RowMean rms;
    RowMean change;
    for (std::int64_t row = 0; row < batch_.rows; ++row) add_row(residual, row, rms, change);
    rungs_.push_back({rms.estimate(), change.estimate()});
    before_ = residual;
  }
  [[nodiscard]] const std::vector<Rung>& rungs() const { return rungs_; }

 private:
  void add_row(const std::vector<float>& residual, std::int64_t row, RowMean& rms, RowMean& change) const {
    double rms_sum = 0;
    double change_sum = 0;
    std::int64_t count = 0;
    for (std::int64_t place = 0; place < batch_.row_length[static_cast<std::size_t>(row)]; ++place) {
      const auto n = static_cast<std::size_t>(row * batch_.seq + place);
      if (fused_[n] == 0) continue;
      rms_sum += std::sqrt(squares(residual, n, nullptr) / static_cast<double>(dim_));
      if (!before_.empty()) change_sum += std::sqrt(squares(residual, n, &before_) / squares(before_, n, nullptr));
      count += 1;
    }
    rms.add_row(rms_sum, count);
    if (!before_.empty()) change.add_row(change_sum, count);
  }

  /// || x[n] - other[n] ||^2, or || x[n] ||^2.
  [[nodiscard]] double squares(const std::vector<float>& x, std::size_t n, const std::vector<float>* other) const {
    double sum = 0;
    for (std::size_t i = n * dim_; i < (n + 1) * dim_; ++i) {
      const double value = double{x[i]} - (other == nullptr ? 0.0 : double{(*other)[i]});
      sum += value * value;
    }
    return sum;
  }

  const data::Batch& batch_;
  const std::vector<std::int32_t>& fused_;
  std::size_t dim_;
  std::vector<float> before_;
  std::vector<Rung> rungs_;
};

}  // namespace

std::vector<LadderRung> measure_ladder(ChannelProbe& probe, const std::vector<std::int32_t>& fused,
                                       int feedback_passes) {
  LadderPass plain(probe.batch(), fused, probe.dim());
  LadderPass last(probe.batch(), fused, probe.dim());
  probe.prepare(fused, feedback_passes, [&](std::int64_t, const std::vector<float>& x) { plain.add(x); });
  probe.run({}, [&](std::int64_t, const std::vector<float>& x) { last.add(x); });
  std::vector<LadderRung> ladder;
  for (std::size_t depth = 0; depth < plain.rungs().size(); ++depth) {
    ladder.push_back({static_cast<std::int64_t>(depth), plain.rungs()[depth].rms, last.rungs()[depth].rms,
                      plain.rungs()[depth].change, last.rungs()[depth].change});
  }
  return ladder;
}

}  // namespace engine
