// RMS norms over rows and heads, the residual sum before them, and the rotation by position (method page,
// "The stack"). Leaf loops work on one row.
#include <algorithm>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES void residual_row(const float* x, const float* branch, float scale, std::int64_t n, float* sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = x[i] + scale * branch[i];
}

/// dbranch = scale * total; dx (=, +=) total, where dbranch holds the total on entry.
FULLBAND_CLONES void split_total_row(float scale, std::int64_t n, bool accumulate, float* dx, float* dbranch) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float total = dbranch[i];
    dx[i] = accumulate ? dx[i] + total : total;
    dbranch[i] = scale * total;
  }
}

/// y = rotation of factor * x; `direction` -1 turns back.
[[gnu::always_inline]] inline void rotate_head(const float* x, const float* turn, float factor, float direction,
                                               std::int64_t half, float* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < half; ++i) {
    const float c = turn[i];
    const float s = turn[half + i] * direction;
    const float a = x[i] * factor;
    const float b = x[half + i] * factor;
    y[i] = a * c - b * s;
    y[half + i] = b * c + a * s;
  }
}

/// The heads of one row, each normed when `inv_rms` is there, then rotated.
FULLBAND_CLONES void norm_rope_row(const float* x, const float* turn, std::int64_t heads, std::int64_t head_dim,
                                   float* y, float* inv_rms) {
  for (std::int64_t h = 0; h < heads; ++h, x += head_dim, y += head_dim) {
    const float r = inv_rms == nullptr ? 1.0F : inverse_root(lane_dot(x, x, head_dim), head_dim);
    if (inv_rms != nullptr) inv_rms[h] = r;
    rotate_head(x, turn, r, 1.0F, head_dim / 2, y);
  }
}

/// The gradients of the heads of one row.
FULLBAND_CLONES void norm_rope_gradient_row(const float* dy, const float* x, const float* turn, const float* inv_rms,
                                            std::int64_t heads, std::int64_t head_dim, float* dx) {
  for (std::int64_t h = 0; h < heads; ++h, dy += head_dim, x += head_dim, dx += head_dim) {
    rotate_head(dy, turn, 1.0F, -1.0F, head_dim / 2, dx);
    if (inv_rms == nullptr) continue;
    const float r = inv_rms[h];
    const float along = lane_dot(dx, x, head_dim) * (r * r * r / static_cast<float>(head_dim));
#pragma omp simd
    for (std::int64_t i = 0; i < head_dim; ++i) dx[i] = r * dx[i] - along * x[i];
  }
}

std::int64_t position_count(ConstIndexView positions) {
  if (positions.count == 0) return 0;
  return std::int64_t{*std::max_element(positions.data, positions.data + positions.count)} + 1;
}

}  // namespace

void CpuBackend::rms_norm(ConstView x, ConstView gain, View y, View inv_rms) {
  shapes::rms_norm(x, gain, y, inv_rms);
  for_rows(threads_, x.rows, x.cols / 2, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      const float r = inverse_rms(x.row(n), x.cols);
      inv_rms.row(n)[0] = r;
      apply_norm(x.row(n), r, gain.data, x.cols, y.row(n));
    }
  });
}

void CpuBackend::rms_norm_backward(ConstView dy, ConstView x, ConstView gain, ConstView inv_rms, View dx,
                                   Write dx_write, View dgain, Write dgain_write) {
  shapes::rms_norm_backward(dy, x, gain, inv_rms, dx, dgain);
  const int team = team_size(threads_, x.size() / 2);
  float* partials = zeroed_partials(team, x.cols);
  run_team(team, [&](int index) {
    const Range part = part_of(x.rows, index, team);
    float* own = gain.present() ? partials + index * padded(x.cols) : nullptr;
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      apply_norm_gradient(dy.row(n), x.row(n), gain.data, inv_rms.row(n)[0], x.cols, dx_write == Write::accumulate,
                          dx.row(n), own);
    }
  });
  if (dgain.present()) reduce_parts(partials, team, dgain.cols, dgain_write == Write::accumulate, dgain.data);
}

void CpuBackend::residual_rms_norm(ConstView x, ConstView branch, float scale, ConstView gain, View sum, View y,
                                   View inv_rms) {
  shapes::residual_rms_norm(x, branch, gain, sum, y, inv_rms);
  for_rows(threads_, x.rows, x.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      residual_row(x.row(n), branch.row(n), scale, x.cols, sum.row(n));
      const float r = inverse_rms(sum.row(n), x.cols);
      inv_rms.row(n)[0] = r;
      apply_norm(sum.row(n), r, gain.data, x.cols, y.row(n));
    }
  });
}

void CpuBackend::residual_rms_norm_backward(ConstView dy, ConstView dsum, ConstView sum, ConstView gain,
                                            ConstView inv_rms, float scale, View dx, Write dx_write, View dbranch,
                                            View dgain, Write dgain_write) {
  shapes::residual_rms_norm_backward(dy, dsum, sum, gain, inv_rms, dx, dbranch, dgain);
  const std::int64_t cols = sum.cols;
  const int team = team_size(threads_, sum.size());
  float* partials = zeroed_partials(team, cols);
  run_team(team, [&](int index) {
    const Range part = part_of(sum.rows, index, team);
    float* own = gain.present() ? partials + index * padded(cols) : nullptr;
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      float* total = dbranch.row(n);
      if (dsum.present()) {
        std::copy_n(dsum.row(n), cols, total);
      } else {
        std::fill_n(total, cols, 0.0F);
      }
      if (dy.present())
        apply_norm_gradient(dy.row(n), sum.row(n), gain.data, inv_rms.row(n)[0], cols, true, total, own);
      split_total_row(scale, cols, dx_write == Write::accumulate, dx.row(n), total);
    }
  });
  if (dgain.present()) reduce_parts(partials, team, dgain.cols, dgain_write == Write::accumulate, dgain.data);
}

void CpuBackend::norm_rope(ConstView x, ConstIndexView positions, std::int64_t head_dim, float rope_base,
                           bool normalize, View y, View inv_rms) {
  shapes::norm_rope(x, positions, head_dim, normalize, y, inv_rms);
  shapes::check_range("norm_rope", "positions", positions, 0, std::int64_t{1} << 31);
  rope_.prepare(head_dim, rope_base, position_count(positions));
  const std::int64_t heads = x.cols / head_dim;
  for_rows(threads_, x.rows, x.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      norm_rope_row(x.row(n), rope_.row(positions.data[n]), heads, head_dim, y.row(n),
                    normalize ? inv_rms.row(n) : nullptr);
    }
  });
}

void CpuBackend::norm_rope_backward(ConstView dy, ConstView x, ConstView inv_rms, ConstIndexView positions,
                                    std::int64_t head_dim, float rope_base, bool normalize, View dx) {
  shapes::norm_rope_backward(dy, x, inv_rms, positions, head_dim, normalize, dx);
  shapes::check_range("norm_rope_backward", "positions", positions, 0, std::int64_t{1} << 31);
  rope_.prepare(head_dim, rope_base, position_count(positions));
  const std::int64_t heads = x.cols / head_dim;
  for_rows(threads_, x.rows, x.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      norm_rope_gradient_row(dy.row(n), x.row(n), rope_.row(positions.data[n]), normalize ? inv_rms.row(n) : nullptr,
                             heads, head_dim, dx.row(n));
    }
  });
}

}  // namespace kernels::cpu
