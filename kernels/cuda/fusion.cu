// The fusion of the previous state with the token (paper, Eqs. 4 and 8), with the shift to the previous row, the mix-in
// of plain rows and the norm that follows, in one kernel. A warp is one row.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

/// The operands that both directions read.
struct Sources {
  FusionKind kind;
  bool normalize;
  std::int64_t shift;
  ConstView state;
  ConstView token;
  ConstIndexView fused;

  /// A row without a row `shift` before it counts as plain.
  __device__ bool is_fused(std::int64_t n) const { return n < fused.count && n >= shift && fused.data[n] != 0; }
  __device__ float combined(std::int64_t n, std::int64_t c) const {
    const float s = state.row(n - shift)[c];
    const float t = token.row(n)[c];
    return kind == FusionKind::gate ? s * sigmoid(t) : s + t;
  }
};

Sources sources_of(const FusionShape& shape, ConstView state, ConstView token, ConstIndexView fused) {
  return {shape.kind, shape.normalize, shape.shift, state, token, fused};
}

__global__ void fuse_kernel(Sources from, ConstView plain, const float* gain, View y, View inv_rms) {
  for (std::int64_t n = first_warp(); n < y.rows; n += all_warps()) {
    const bool is_fused = from.is_fused(n);
    float squares = 0.0F;
    for (std::int64_t c = lane_index(); c < y.cols; c += kWarp) {
      const float value = is_fused ? from.combined(n, c) : plain.row(n)[c];
      squares += value * value;
      y.row(n)[c] = value;
    }
    if (!from.normalize) continue;
    const float r = is_fused ? inverse_rms_of(warp_sum(squares), y.cols) : 0.0F;
    if (lane_index() == 0) inv_rms.row(n)[0] = r;
    if (is_fused) apply_norm(y.row(n), r, gain, y.cols, y.row(n));
  }
}

/// The gradient of a fused row for its state and its token.
__device__ void split_gradient(const Sources& from, ConstView dy, const float* gain, float r, std::int64_t n,
                               View dstate, View dtoken, bool token_accumulates) {
  float along = 0.0F;
  if (from.normalize) {
    float sum = 0.0F;
    for (std::int64_t c = lane_index(); c < dy.cols; c += kWarp) {
      sum += before_gain(dy.row(n), gain, c) * from.combined(n, c);
    }
    along = warp_sum(sum) * (r * r * r / static_cast<float>(dy.cols));
  }
  for (std::int64_t c = lane_index(); c < dy.cols; c += kWarp) {
    float d = dy.row(n)[c];
    if (from.normalize) d = r * before_gain(dy.row(n), gain, c) - along * from.combined(n, c);
    float d_state = d;
    float d_token = d;
    if (from.kind == FusionKind::gate) {
      const float gate = sigmoid(from.token.row(n)[c]);
      d_state = d * gate;
      d_token = d * from.state.row(n - from.shift)[c] * gate * (1.0F - gate);
    }
    dstate.row(n - from.shift)[c] = d_state;
    store(dtoken.row(n) + c, d_token, token_accumulates);
  }
}

__global__ void fuse_backward_kernel(Sources from, ConstView dy, const float* gain, ConstView inv_rms, View dstate,
                                     View dtoken, bool token_accumulates, View dplain, bool plain_accumulates) {
  for (std::int64_t n = first_warp(); n < dy.rows; n += all_warps()) {
    const bool is_fused = from.is_fused(n);
    const bool is_read = from.is_fused(n + from.shift);
    for (std::int64_t c = lane_index(); c < dy.cols; c += kWarp) {
      if (!is_read) dstate.row(n)[c] = 0.0F;
      if (!is_fused && !token_accumulates) dtoken.row(n)[c] = 0.0F;
      if (!is_fused || !plain_accumulates) {
        store(dplain.row(n) + c, is_fused ? 0.0F : dy.row(n)[c], plain_accumulates);
      }
    }
    if (!is_fused) continue;
    const float r = from.normalize ? inv_rms.row(n)[0] : 0.0F;
    split_gradient(from, dy, gain, r, n, dstate, dtoken, token_accumulates);
  }
}

struct FusedGainTerm {
  Sources from;
  ConstView dy;
  ConstView inv_rms;
  __device__ float operator()(std::int64_t n, std::int64_t c) const {
    return from.is_fused(n) ? dy.row(n)[c] * from.combined(n, c) * inv_rms.row(n)[0] : 0.0F;
  }
};

}  // namespace

void CudaBackend::fuse(const FusionShape& shape, ConstView state, ConstView token, ConstView plain, ConstView gain,
                       ConstIndexView fused, View y, View inv_rms) {
  shapes::fuse(shape, state, token, plain, gain, fused, y, inv_rms);
  launch(queue_, "fuse", fuse_kernel, warps_over(y.rows), sources_of(shape, state, token, fused), plain, gain.data, y,
         inv_rms);
}

void CudaBackend::fuse_backward(const FusionShape& shape, ConstView dy, ConstView state, ConstView token,
                                ConstView gain, ConstView inv_rms, ConstIndexView fused, View dstate, View dtoken,
                                Write dtoken_write, View dplain, Write dplain_write, View dgain, Write dgain_write) {
  shapes::fuse_backward(shape, dy, state, token, gain, inv_rms, fused, dstate, dtoken, dplain, dgain);
  const Sources from = sources_of(shape, state, token, fused);
  launch(queue_, "fuse_backward", fuse_backward_kernel, warps_over(dy.rows), from, dy, gain.data, inv_rms, dstate,
         dtoken, dtoken_write == Write::accumulate, dplain, dplain_write == Write::accumulate);
  if (!dgain.present()) return;
  if (shape.normalize) {
    column_sums(queue_, workspace_, dy.rows, FusedGainTerm{from, dy, inv_rms}, dgain_write, dgain);
  } else if (dgain_write == Write::assign) {
    fill(dgain, 0.0F);
  }
}

}  // namespace kernels::cuda
