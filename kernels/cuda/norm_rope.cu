// RMS norms over rows and heads, the residual sum before them, and the rotation by position (method page, "The stack").
// A warp is one row; in norm_rope a group of lanes is one head of one row.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

__global__ void rms_norm_kernel(ConstView x, const float* gain, View y, View inv_rms) {
  for (std::int64_t n = first_warp(); n < x.rows; n += all_warps()) {
    const float r = inverse_rms(x.row(n), x.cols);
    if (lane_index() == 0) inv_rms.row(n)[0] = r;
    apply_norm(x.row(n), r, gain, x.cols, y.row(n));
  }
}

__global__ void rms_norm_backward_kernel(ConstView dy, ConstView x, const float* gain, ConstView inv_rms, View dx,
                                         bool accumulate) {
  for (std::int64_t n = first_warp(); n < x.rows; n += all_warps()) {
    const float r = inv_rms.row(n)[0];
    const float along = along_norm(dy.row(n), x.row(n), gain, r, x.cols);
    for (std::int64_t c = lane_index(); c < x.cols; c += kWarp) {
      store(dx.row(n) + c, r * before_gain(dy.row(n), gain, c) - along * x.row(n)[c], accumulate);
    }
  }
}

__global__ void residual_rms_norm_kernel(ConstView x, ConstView branch, float scale, const float* gain, View sum,
                                         View y, View inv_rms) {
  for (std::int64_t n = first_warp(); n < x.rows; n += all_warps()) {
    float squares = 0.0F;
    for (std::int64_t c = lane_index(); c < x.cols; c += kWarp) {
      const float value = x.row(n)[c] + scale * branch.row(n)[c];
      sum.row(n)[c] = value;
      squares += value * value;
    }
    const float r = inverse_rms_of(warp_sum(squares), x.cols);
    if (lane_index() == 0) inv_rms.row(n)[0] = r;
    apply_norm(sum.row(n), r, gain, x.cols, y.row(n));
  }
}

/// dy and dsum may be absent.
__global__ void residual_rms_norm_backward_kernel(ConstView dy, ConstView dsum, ConstView sum, const float* gain,
                                                  ConstView inv_rms, float scale, View dx, bool accumulate,
                                                  View dbranch) {
  for (std::int64_t n = first_warp(); n < sum.rows; n += all_warps()) {
    const float r = dy.present() ? inv_rms.row(n)[0] : 0.0F;
    const float along = dy.present() ? along_norm(dy.row(n), sum.row(n), gain, r, sum.cols) : 0.0F;
    for (std::int64_t c = lane_index(); c < sum.cols; c += kWarp) {
      float total = dsum.present() ? dsum.row(n)[c] : 0.0F;
      if (dy.present()) total += r * before_gain(dy.row(n), gain, c) - along * sum.row(n)[c];
      dbranch.row(n)[c] = scale * total;
      store(dx.row(n) + c, total, accumulate);
    }
  }
}

struct GainTerm {
  ConstView dy;
  ConstView x;
  ConstView inv_rms;
  __device__ float operator()(std::int64_t n, std::int64_t c) const {
    return dy.row(n)[c] * x.row(n)[c] * inv_rms.row(n)[0];
  }
};

/// The heads of a matrix and how lanes share them: `lanes` of a warp, a power of two, work on one head.
struct Heads {
  std::int64_t rows;
  std::int64_t count;
  std::int64_t half;  ///< pairs of a head
  int lanes;
  const std::int32_t* positions;
  const double* frequencies;

  [[nodiscard]] std::int64_t items() const { return rows * count; }
  [[nodiscard]] Grid grid() const { return warps_over((items() * lanes + kWarp - 1) / kWarp); }
};

/// Where a group of lanes is: which head of which row. Lanes of a group beyond the last head go along without one.
struct Place {
  bool inside;
  std::int64_t n;
  std::int64_t h;
  std::int64_t first_pair;
};

__device__ Place place_of(const Heads& heads, std::int64_t warp) {
  const int groups = kWarp / heads.lanes;
  const std::int64_t item = warp * groups + lane_index() / heads.lanes;
  const std::int64_t n = item / heads.count;
  return {item < heads.rows * heads.count, n, item - n * heads.count, lane_index() % heads.lanes};
}

/// Cosine and sine of pair i at a position. The angle is reduced in double precision, because at a late position a
/// float32 angle has lost the digits that matter.
__device__ void turn_of(const Heads& heads, std::int64_t n, std::int64_t i, float* cosine, float* sine) {
  constexpr double kTurn = 6.283185307179586476925;
  const double angle = static_cast<double>(heads.positions[n]) * heads.frequencies[i];
  const double rest = angle - kTurn * rint(angle / kTurn);
  *cosine = cosf(static_cast<float>(rest));
  *sine = sinf(static_cast<float>(rest));
}

__global__ void norm_rope_kernel(ConstView x, Heads heads, bool normalize, View y, View inv_rms) {
  const std::int64_t warps = (heads.rows * heads.count * heads.lanes + kWarp - 1) / kWarp;
  for (std::int64_t warp = first_warp(); warp < warps; warp += all_warps()) {
    const Place at = place_of(heads, warp);
    const float* from = at.inside ? x.row(at.n) + at.h * 2 * heads.half : nullptr;
    float squares = 0.0F;
    for (std::int64_t i = at.first_pair; at.inside && i < heads.half; i += heads.lanes) {
      squares += from[i] * from[i] + from[heads.half + i] * from[heads.half + i];
    }
    squares = group_sum(squares, heads.lanes);
    if (!at.inside) continue;
    const float r = normalize ? inverse_rms_of(squares, 2 * heads.half) : 1.0F;
    if (normalize && at.first_pair == 0) inv_rms.row(at.n)[at.h] = r;
    float* to = y.row(at.n) + at.h * 2 * heads.half;
    for (std::int64_t i = at.first_pair; i < heads.half; i += heads.lanes) {
      float cosine = 0.0F;
      float sine = 0.0F;
      turn_of(heads, at.n, i, &cosine, &sine);
      const float a = from[i] * r;
      const float b = from[heads.half + i] * r;
      to[i] = a * cosine - b * sine;
      to[heads.half + i] = b * cosine + a * sine;
    }
  }
}

/// First turns dy back into dx, then takes the norm's gradient in place; each lane reads only what it wrote itself.
__global__ void norm_rope_backward_kernel(ConstView dy, ConstView x, ConstView inv_rms, Heads heads, bool normalize,
                                          View dx) {
  const std::int64_t warps = (heads.rows * heads.count * heads.lanes + kWarp - 1) / kWarp;
  for (std::int64_t warp = first_warp(); warp < warps; warp += all_warps()) {
    const Place at = place_of(heads, warp);
    const std::int64_t offset = at.h * 2 * heads.half;
    float product = 0.0F;
    for (std::int64_t i = at.first_pair; at.inside && i < heads.half; i += heads.lanes) {
      const float* d = dy.row(at.n) + offset;
      float* to = dx.row(at.n) + offset;
      float cosine = 0.0F;
      float sine = 0.0F;
      turn_of(heads, at.n, i, &cosine, &sine);
      const float a = d[i] * cosine + d[heads.half + i] * sine;
      const float b = d[heads.half + i] * cosine - d[i] * sine;
      to[i] = a;
      to[heads.half + i] = b;
      if (normalize) product += a * x.row(at.n)[offset + i] + b * x.row(at.n)[offset + heads.half + i];
    }
    product = group_sum(product, heads.lanes);
    if (!normalize || !at.inside) continue;
    const float r = inv_rms.row(at.n)[at.h];
    const float along = product * (r * r * r / static_cast<float>(2 * heads.half));
    for (std::int64_t i = at.first_pair; i < heads.half; i += heads.lanes) {
      for (const std::int64_t c : {offset + i, offset + heads.half + i}) {
        dx.row(at.n)[c] = r * dx.row(at.n)[c] - along * x.row(at.n)[c];
      }
    }
  }
}

Heads heads_of(ConstView x, std::int64_t head_dim, ConstIndexView positions, const double* frequencies) {
  int lanes = 1;
  while (lanes < kWarp && lanes < head_dim / 2) lanes *= 2;
  return {x.rows, x.cols / head_dim, head_dim / 2, lanes, positions.data, frequencies};
}

}  // namespace

void CudaBackend::rms_norm(ConstView x, ConstView gain, View y, View inv_rms) {
  shapes::rms_norm(x, gain, y, inv_rms);
  launch(queue_, "rms_norm", rms_norm_kernel, warps_over(x.rows), x, gain.data, y, inv_rms);
}

void CudaBackend::rms_norm_backward(ConstView dy, ConstView x, ConstView gain, ConstView inv_rms, View dx,
                                    Write dx_write, View dgain, Write dgain_write) {
  shapes::rms_norm_backward(dy, x, gain, inv_rms, dx, dgain);
  launch(queue_, "rms_norm_backward", rms_norm_backward_kernel, warps_over(x.rows), dy, x, gain.data, inv_rms, dx,
         dx_write == Write::accumulate);
  if (dgain.present()) column_sums(queue_, workspace_, x.rows, GainTerm{dy, x, inv_rms}, dgain_write, dgain);
}

void CudaBackend::residual_rms_norm(ConstView x, ConstView branch, float scale, ConstView gain, View sum, View y,
                                    View inv_rms) {
  shapes::residual_rms_norm(x, branch, gain, sum, y, inv_rms);
  launch(queue_, "residual_rms_norm", residual_rms_norm_kernel, warps_over(x.rows), x, branch, scale, gain.data, sum, y,
         inv_rms);
}

void CudaBackend::residual_rms_norm_backward(ConstView dy, ConstView dsum, ConstView sum, ConstView gain,
                                             ConstView inv_rms, float scale, View dx, Write dx_write, View dbranch,
                                             View dgain, Write dgain_write) {
  shapes::residual_rms_norm_backward(dy, dsum, sum, gain, inv_rms, dx, dbranch, dgain);
  launch(queue_, "residual_rms_norm_backward", residual_rms_norm_backward_kernel, warps_over(sum.rows), dy, dsum, sum,
         gain.data, inv_rms, scale, dx, dx_write == Write::accumulate, dbranch);
  if (!dgain.present()) return;
  if (dy.present()) {
    column_sums(queue_, workspace_, sum.rows, GainTerm{dy, sum, inv_rms}, dgain_write, dgain);
  } else if (dgain_write == Write::assign) {
    fill(dgain, 0.0F);
  }
}

void CudaBackend::norm_rope(ConstView x, ConstIndexView positions, std::int64_t head_dim, float rope_base,
                            bool normalize, View y, View inv_rms) {
  shapes::norm_rope(x, positions, head_dim, normalize, y, inv_rms);
  const double* frequencies = rope_.get(head_dim, rope_base, uploads_, stream_.get());
  const Heads heads = heads_of(x, head_dim, positions, frequencies);
  launch(queue_, "norm_rope", norm_rope_kernel, heads.grid(), x, heads, normalize, y, inv_rms);
}

void CudaBackend::norm_rope_backward(ConstView dy, ConstView x, ConstView inv_rms, ConstIndexView positions,
                                     std::int64_t head_dim, float rope_base, bool normalize, View dx) {
  shapes::norm_rope_backward(dy, x, inv_rms, positions, head_dim, normalize, dx);
  const double* frequencies = rope_.get(head_dim, rope_base, uploads_, stream_.get());
  const Heads heads = heads_of(x, head_dim, positions, frequencies);
  launch(queue_, "norm_rope_backward", norm_rope_backward_kernel, heads.grid(), dy, x, inv_rms, heads, normalize, dx);
}

}  // namespace kernels::cuda
