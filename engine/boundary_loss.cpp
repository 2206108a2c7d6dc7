#include "engine/boundary_loss.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/multipass.h"
#include "kernels/philox.h"

namespace engine {
namespace {

constexpr std::int64_t kSingleDistances = 16;

/// 0..15 have a range each; range 16 + i holds 16 * 2^i and up.
std::size_t range_of(std::int64_t distance) {
  if (distance < kSingleDistances) return static_cast<std::size_t>(distance);
  std::size_t range = kSingleDistances;
  for (std::int64_t first = 2 * kSingleDistances; first <= distance; first *= 2) ++range;
  return range;
}

std::int64_t first_of(std::size_t range) {
  if (range < kSingleDistances) return static_cast<std::int64_t>(range);
  return kSingleDistances << (range - kSingleDistances);
}

/// Sums of one row at one range of distances.
struct RangeSums {
  double fused = 0;
  double plain = 0;
  std::int64_t count = 0;
};

struct RangeMeans {
  RowMean fused, plain, difference;

  void add_row(const RangeSums& sums) {
    fused.add_row(sums.fused, sums.count);
    plain.add_row(sums.plain, sums.count);
    difference.add_row(sums.fused - sums.plain, sums.count);
  }
};

std::int64_t row_of(const data::Batch& batch, std::size_t n) { return static_cast<std::int64_t>(n) / batch.seq; }
bool is_real(const data::Batch& batch, std::size_t n) {
  const std::int64_t row = row_of(batch, n);
  return static_cast<std::int64_t>(n) - row * batch.seq < batch.row_length[static_cast<std::size_t>(row)];
}

/// sums[row][range] += the scored positions of one draw.
void add_draw(std::vector<std::vector<RangeSums>>& sums, const data::Batch& batch,
              const std::vector<std::int64_t>& distances, const std::vector<float>& plain,
              const std::vector<float>& fused) {
  for (std::size_t n = 0; n < distances.size(); ++n) {
    if (distances[n] < 0 || batch.targets[n] < 0) continue;
    RangeSums& range = sums[static_cast<std::size_t>(row_of(batch, n))][range_of(distances[n])];
    range.fused += fused[n];
    range.plain += plain[n];
    range.count += 1;
  }
}

std::vector<std::int32_t> drawn_flags(const data::Batch& batch, std::uint64_t seed, int draw, double fully_fused) {
  const kernels::PhiloxStream stream{seed, kernels::Purpose::analysis, static_cast<std::uint64_t>(draw), 0};
  return fused_flags(batch, draw_plain_lengths(batch, stream, fully_fused));
}

}  // namespace

std::vector<std::int64_t> boundary_distances(const data::Batch& batch, const std::vector<std::int32_t>& fused) {
  std::vector<std::int64_t> distances(fused.size(), -1);
  for (std::size_t n = 0; n < fused.size(); ++n) {
    if (fused[n] == 0 || !is_real(batch, n)) continue;
    distances[n] = fused[n - 1] != 0 ? distances[n - 1] + 1 : 0;
  }
  return distances;
}

std::vector<BoundaryPoint> measure_boundary_loss(ChannelProbe& probe, const BoundarySettings& settings,
                                                 const std::stop_token& stop) {
  const data::Batch& batch = probe.batch();
  const std::size_t ranges = range_of(std::max<std::int64_t>(0, batch.seq - 1)) + 1;
  std::vector<std::vector<RangeSums>> sums(static_cast<std::size_t>(batch.rows), std::vector<RangeSums>(ranges));
  for (int draw = 0; draw < settings.draws; ++draw) {
    if (stop.stop_requested()) throw Cancelled();
    const std::vector<std::int32_t> fused = drawn_flags(batch, settings.seed, draw, 0.0);
    const std::vector<float> plain_nll = probe.prepare(fused, settings.feedback_passes);
    add_draw(sums, batch, boundary_distances(batch, fused), plain_nll, probe.run({}));
  }
  std::vector<BoundaryPoint> points;
  for (std::size_t range = 0; range < ranges; ++range) {
    RangeMeans means;
    for (const auto& row : sums) means.add_row(row[range]);
    BoundaryPoint point{first_of(range), first_of(range + 1) - 1, means.fused.estimate(), means.plain.estimate(),
                        means.difference.estimate()};
    if (point.difference.counts > 0) points.push_back(point);
  }
  return points;
}

std::vector<ExposurePoint> measure_exposure(const data::Batch& batch, const ExposureSettings& settings) {
  std::vector<RowMean> shares(static_cast<std::size_t>(batch.seq));
  const double fully_fused = settings.prefix_mixin ? settings.fully_fused_share : 1.0;
  for (int draw = 0; draw < settings.draws; ++draw) {
    const std::vector<std::int32_t> fused = drawn_flags(batch, settings.seed, draw, fully_fused);
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      std::vector<std::int64_t> hits(shares.size(), 0);
      std::vector<std::int64_t> seen(shares.size(), 0);
      for (std::int64_t place = 0; place < batch.row_length[static_cast<std::size_t>(row)]; ++place) {
        const auto n = static_cast<std::size_t>(row * batch.seq + place);
        const auto position = static_cast<std::size_t>(batch.positions[n]);
        hits[position] += fused[n];
        seen[position] += 1;
      }
      for (std::size_t p = 0; p < shares.size(); ++p) shares[p].add_row(static_cast<double>(hits[p]), seen[p]);
    }
  }
  std::vector<ExposurePoint> points;
  for (std::size_t p = 0; p < shares.size(); ++p) {
    const Estimate share = shares[p].estimate();
    if (share.counts > 0) points.push_back({static_cast<std::int64_t>(p), share});
  }
  return points;
}

}  // namespace engine
