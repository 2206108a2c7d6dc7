// Operations that treat every element or every row alone.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES void swiglu_row(const float* gate, const float* up, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = gate[i] * sigmoid_float(gate[i]) * up[i];
}

FULLBAND_CLONES void swiglu_gradient_row(const float* dy, const float* gate, const float* up, std::int64_t n,
                                         float* dgate, float* dup) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float s = sigmoid_float(gate[i]);
    const float silu = gate[i] * s;
    dgate[i] = dy[i] * up[i] * (s + silu * (1.0F - s));
    dup[i] = dy[i] * silu;
  }
}

/// Elements [first, first + n) of the stream, in blocks of four; the ends of the row may cut a block.
constexpr std::int64_t kStreamPiece = 64;

/// The stream's elements of `kStreamPiece` / 4 blocks from `block` on, each in [-1, 1). One loop over blocks, so that
/// it vectorises.
FULLBAND_CLONES void uniform_piece(const PhiloxStream& stream, std::uint64_t block, float* out) {
  for (std::uint64_t i = 0; i < kStreamPiece / 4; ++i) {
    const std::array<std::uint32_t, 4> words = philox_block(stream, block + i);
    for (std::uint64_t w = 0; w < 4; ++w) out[4 * i + w] = 2.0F * unit_float(words[w]) - 1.0F;
  }
}

void add_uniform_row(const float* x, float amplitude, const PhiloxStream& stream, std::int64_t first, std::int64_t n,
                     float* y) {
  float uniform[kStreamPiece];
  std::int64_t i = 0;
  while (i < n) {
    const std::int64_t inside = (first + i) % 4;
    const std::int64_t count = std::min(n - i, kStreamPiece - inside);
    uniform_piece(stream, static_cast<std::uint64_t>((first + i) / 4), uniform);
    for (std::int64_t k = 0; k < count; ++k) y[i + k] = x[i + k] + amplitude * uniform[inside + k];
    i += count;
  }
}

FULLBAND_CLONES double squared_distance(const float* a, const float* b, std::int64_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

void CpuBackend::swiglu(ConstView gate_up, View y) {
  shapes::swiglu(gate_up, y);
  for_rows(threads_, y.rows, y.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      swiglu_row(gate_up.row(n), gate_up.row(n) + y.cols, y.cols, y.row(n));
    }
  });
}

void CpuBackend::swiglu_backward(ConstView dy, ConstView gate_up, View dgate_up) {
  shapes::swiglu_backward(dy, gate_up, dgate_up);
  for_rows(threads_, dy.rows, 2 * dy.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      swiglu_gradient_row(dy.row(n), gate_up.row(n), gate_up.row(n) + dy.cols, dy.cols, dgate_up.row(n),
                          dgate_up.row(n) + dy.cols);
    }
  });
}

void CpuBackend::scaled(ConstView x, float alpha, View y, Write write) {
  shapes::scaled(x, y);
  for_pieces(threads_, y, 1, [&](std::int64_t row, Range cols) {
    const float* from = x.row(row) + cols.begin;
    float* to = y.row(row) + cols.begin;
    write == Write::assign ? scale_into(from, alpha, cols.count(), to) : add_scaled(from, alpha, cols.count(), to);
  });
}

void CpuBackend::fill(View y, float value) {
  shapes::fill(y);
  for_pieces(threads_, y, 1,
             [&](std::int64_t row, Range cols) { std::fill_n(y.row(row) + cols.begin, cols.count(), value); });
}

void CpuBackend::add_uniform(ConstView x, float amplitude, const PhiloxStream& stream, View y) {
  shapes::add_uniform(x, y);
  for_rows(threads_, x.rows, 4 * x.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      const std::int64_t first = static_cast<std::int64_t>(stream.first) + n * x.cols;
      add_uniform_row(x.row(n), amplitude, stream, first, x.cols, y.row(n));
    }
  });
}

void CpuBackend::gather_rows(ConstView x, ConstIndexView rows, View y) {
  shapes::gather_rows(x, rows, y);
  shapes::check_range("gather_rows", "rows", rows, 0, x.rows);
  for_rows(threads_, y.rows, y.cols / 4, [&](Range part) {
    for (std::int64_t i = part.begin; i < part.end; ++i) std::copy_n(x.row(rows.data[i]), x.cols, y.row(i));
  });
}

void CpuBackend::scatter_rows(ConstView x, ConstIndexView rows, View y) {
  shapes::scatter_rows(x, rows, y);
  shapes::check_range("scatter_rows", "rows", rows, 0, y.rows);
  for_rows(threads_, x.rows, x.cols / 4, [&](Range part) {
    for (std::int64_t i = part.begin; i < part.end; ++i) std::copy_n(x.row(i), x.cols, y.row(rows.data[i]));
  });
}

void CpuBackend::row_distance(ConstView a, ConstView b, View out) {
  shapes::row_distance(a, b, out);
  for_rows(threads_, a.rows, a.cols / 2, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      out.row(n)[0] = static_cast<float>(std::sqrt(squared_distance(a.row(n), b.row(n), a.cols)));
    }
  });
}

}  // namespace kernels::cpu
