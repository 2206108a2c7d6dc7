// The fusion of the previous state with the token (paper, Eqs. 4 and 8), with the norm that follows it.
#include <algorithm>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES void gate_row(const float* state, const float* token, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = state[i] * sigmoid_float(token[i]);
}

FULLBAND_CLONES void gate_gradient_row(const float* dfused, const float* state, const float* token, std::int64_t n,
                                       bool accumulate, float* dstate, float* dtoken) {
  const float keep = accumulate ? 1.0F : 0.0F;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float gate = sigmoid_float(token[i]);
    dstate[i] = dfused[i] * gate;
    const float value = dfused[i] * state[i] * gate * (1.0F - gate);
    dtoken[i] = keep != 0.0F ? dtoken[i] + value : value;
  }
}

FULLBAND_CLONES void add_row(const float* a, const float* b, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

void combine_row(FusionKind kind, const float* state, const float* token, std::int64_t n, float* y) {
  kind == FusionKind::gate ? gate_row(state, token, n, y) : add_row(state, token, n, y);
}

void split_gradient_row(FusionKind kind, const float* dfused, const float* state, const float* token, std::int64_t n,
                        bool accumulate, float* dstate, float* dtoken) {
  if (kind == FusionKind::gate) {
    gate_gradient_row(dfused, state, token, n, accumulate, dstate, dtoken);
  } else {
    std::copy_n(dfused, n, dstate);
    accumulate ? add_scaled(dfused, 1.0F, n, dtoken) : scale_into(dfused, 1.0F, n, dtoken);
  }
}

/// State rows that no fused row reads get no gradient: those before the first reader and the last `shift` ones.
void clear_unread_states(ConstIndexView fused, std::int64_t shift, Range part, View dstate) {
  for (std::int64_t m = part.begin; m < part.end; ++m) {
    const std::int64_t reader = m + shift;
    if (reader >= fused.count || fused.data[reader] == 0) std::fill_n(dstate.row(m), dstate.cols, 0.0F);
  }
}

void plain_gradient_row(const float* dy, bool is_fused, Write write, std::int64_t n, float* dplain) {
  if (write == Write::accumulate) {
    if (!is_fused) add_scaled(dy, 1.0F, n, dplain);
  } else if (is_fused) {
    std::fill_n(dplain, n, 0.0F);
  } else {
    std::copy_n(dy, n, dplain);
  }
}

}  // namespace

void CpuBackend::fuse(const FusionShape& shape, ConstView state, ConstView token, ConstView plain, ConstView gain,
                      ConstIndexView fused, View y, View inv_rms) {
  shapes::fuse(shape, state, token, plain, gain, fused, y, inv_rms);
  shapes::check_fused("fuse", fused, shape.shift);
  for_rows(threads_, y.rows, 2 * y.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      const bool is_fused = fused.data[n] != 0;
      if (!is_fused) {
        std::copy_n(plain.row(n), y.cols, y.row(n));
      } else {
        combine_row(shape.kind, state.row(n - shape.shift), token.row(n), y.cols, y.row(n));
      }
      if (!shape.normalize) continue;
      const float r = is_fused ? inverse_rms(y.row(n), y.cols) : 0.0F;
      inv_rms.row(n)[0] = r;
      if (is_fused) apply_norm(y.row(n), r, gain.data, y.cols, y.row(n));
    }
  });
}

void CpuBackend::fuse_backward(const FusionShape& shape, ConstView dy, ConstView state, ConstView token, ConstView gain,
                               ConstView inv_rms, ConstIndexView fused, View dstate, View dtoken, Write dtoken_write,
                               View dplain, Write dplain_write, View dgain, Write dgain_write) {
  shapes::fuse_backward(shape, dy, state, token, gain, inv_rms, fused, dstate, dtoken, dplain, dgain);
  shapes::check_fused("fuse_backward", fused, shape.shift);
  const std::int64_t cols = dy.cols;
  const int team = team_size(threads_, 4 * dy.size());
  const std::int64_t part_floats = padded(cols);
  // A part's gain gradient, then its scratch for the fused vector and its gradient.
  float* partials = zeroed_partials(3 * team, cols);
  run_team(team, [&](int index) {
    const Range part = part_of(dy.rows, index, team);
    clear_unread_states(fused, shape.shift, part, dstate);
    float* own_gain = gain.present() ? partials + index * part_floats : nullptr;
    float* vector = partials + (team + 2 * index) * part_floats;
    float* dvector = vector + part_floats;
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      plain_gradient_row(dy.row(n), fused.data[n] != 0, dplain_write, cols, dplain.row(n));
      if (fused.data[n] == 0) {
        if (dtoken_write == Write::assign) std::fill_n(dtoken.row(n), cols, 0.0F);
        continue;
      }
      const float* source = state.row(n - shape.shift);
      const float* upstream = dy.row(n);
      if (shape.normalize) {
        combine_row(shape.kind, source, token.row(n), cols, vector);
        apply_norm_gradient(upstream, vector, gain.data, inv_rms.row(n)[0], cols, false, dvector, own_gain);
        upstream = dvector;
      }
      split_gradient_row(shape.kind, upstream, source, token.row(n), cols, dtoken_write == Write::accumulate,
                         dstate.row(n - shape.shift), dtoken.row(n));
    }
  });
  if (dgain.present()) reduce_parts(partials, team, cols, dgain_write == Write::accumulate, dgain.data);
}

}  // namespace kernels::cpu
