// NorMuon (arXiv 2510.05491): orthogonalised momentum with one second moment a row.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

// Quintic Newton-Schulz of Jordan et al.'s Muon.
constexpr int kIterations = 5;
constexpr float kA = 3.4445F;
constexpr float kB = -4.7750F;
constexpr float kC = 2.0315F;

/// to = factor * from, transposed when asked; in blocks, because one of the two sides is read down its columns.
void copy_scaled(ConstView from, float factor, bool transpose, View to) {
  constexpr std::int64_t kBlock = 16;
  if (!transpose) {
    for (std::int64_t r = 0; r < to.rows; ++r) scale_into(from.row(r), factor, to.cols, to.row(r));
    return;
  }
  for (std::int64_t first = 0; first < to.cols; first += kBlock) {
    const std::int64_t last = std::min(to.cols, first + kBlock);
    for (std::int64_t r = 0; r < to.rows; ++r) {
      for (std::int64_t c = first; c < last; ++c) to.row(r)[c] = factor * from.row(c)[r];
    }
  }
}

FULLBAND_CLONES void momentum_row(const float* gradient, float beta, std::int64_t n, float* momentum) {
  for (std::int64_t i = 0; i < n; ++i) momentum[i] = beta * momentum[i] + (1.0F - beta) * gradient[i];
}

/// Memory of the iteration, all contiguous: x and next [short, long], the others [short, short], and packed operands.
struct Scratch {
  View x;
  View next;
  View gram;
  View linear;      ///< b + c g
  View polynomial;  ///< g (b + c g)
  float* operands;

  static std::int64_t square_floats(std::int64_t small) { return padded(small * small); }
  static std::int64_t operand_floats(std::int64_t small, std::int64_t large) {
    return panel_floats(large, small) + panel_floats(small, small) + panel_floats(small, large);
  }
  static std::int64_t floats(std::int64_t small, std::int64_t large) {
    return 2 * padded(small * large) + 3 * square_floats(small) + operand_floats(small, large);
  }
  Scratch(float* data, std::int64_t small, std::int64_t large)
      : x{data, small, large, large},
        next{data + padded(small * large), small, large, large},
        gram{next.data + padded(small * large), small, small, small},
        linear{gram.data + square_floats(small), small, small, small},
        polynomial{linear.data + square_floats(small), small, small, small},
        operands(polynomial.data + square_floats(small)) {}
};

/// Rows of g = x x^T and of b + c g.
void gram_rows(const Scratch& s, Panels transposed_x, Range part) {
  const View gram = s.gram.row_range(part.begin, part.count());
  const View linear = s.linear.row_range(part.begin, part.count());
  product(plain_left(s.x.row_range(part.begin, part.count())), transposed_x, s.x.cols, false, gram);
  copy_scaled(gram, kC, false, linear);
  for (std::int64_t r = 0; r < linear.rows; ++r) linear.row(r)[part.begin + r] += kB;
}

/// Rows of g (b + c g) and of a x + g (b + c g) x.
void next_rows(const Scratch& s, Panels linear, Panels x, Range part) {
  const View polynomial = s.polynomial.row_range(part.begin, part.count());
  const View next = s.next.row_range(part.begin, part.count());
  product(plain_left(s.gram.row_range(part.begin, part.count())), linear, s.gram.cols, false, polynomial);
  copy_scaled(s.x.row_range(part.begin, part.count()), kA, false, next);
  product(plain_left(polynomial), x, polynomial.cols, true, next);
}

/// One step: x <- a x + (b g + c g g) x with g = x x^T. Each product is shared out by its rows.
void newton_schulz_step(int threads, Scratch& s) {
  const std::int64_t small = s.x.rows, large = s.x.cols;
  pack_panels_transposed(s.x, 0, panel_count(small), s.operands);
  const Panels transposed_x = packed_panels(s.operands, large);
  for_rows(threads, small, small * large / 16, [&](Range part) { gram_rows(s, transposed_x, part); });
  float* plain = s.operands + panel_floats(large, small);
  const Panels linear = in_place_or_packed(s.linear, plain);
  const Panels x = in_place_or_packed(s.x, plain + panel_floats(small, small));
  for_rows(threads, small, small * (small + large) / 16, [&](Range part) { next_rows(s, linear, x, part); });
  std::swap(s.x, s.next);
}

/// Divides each row by its running root mean square.
void normalise_rows(const NorMuonStep& step, View o, View row_moment) {
  for (std::int64_t r = 0; r < o.rows; ++r) {
    const float mean = sum_of_squares(o.row(r), o.cols) / static_cast<float>(o.cols);
    float& v = row_moment.row(r)[0];
    v = step.beta2 * v + (1.0F - step.beta2) * mean;
    scale_into(o.row(r), 1.0F / (std::sqrt(v) + step.epsilon), o.cols, o.row(r));
  }
}

FULLBAND_CLONES void step_row(const float* o, float keep, float factor, std::int64_t n, float* parameter) {
  for (std::int64_t i = 0; i < n; ++i) parameter[i] = keep * parameter[i] - factor * o[i];
}

}  // namespace

void CpuBackend::normuon(View parameter, ConstView gradient, View momentum, View row_moment, const NorMuonStep& step) {
  shapes::normuon(parameter, gradient, momentum, row_moment);
  if (parameter.size() == 0) return;
  for (std::int64_t r = 0; r < momentum.rows; ++r) {
    momentum_row(gradient.row(r), step.beta1, momentum.cols, momentum.row(r));
  }
  const std::int64_t small = std::min(parameter.rows, parameter.cols);
  const std::int64_t large = std::max(parameter.rows, parameter.cols);
  const bool transpose = parameter.rows > parameter.cols;
  // Before the matrices take the workspace, since the norm uses it too.
  const auto factor = static_cast<float>(1.0 / (std::sqrt(squared_norm(momentum)) + 1e-7));
  Scratch s(workspace_.floats(Scratch::floats(small, large)), small, large);
  copy_scaled(momentum, factor, transpose, s.x);
  for (int i = 0; i < kIterations; ++i) newton_schulz_step(threads_, s);
  const View o{s.next.data, parameter.rows, parameter.cols, parameter.cols};
  copy_scaled(s.x, 1.0F, transpose, o);
  normalise_rows(step, o, row_moment);
  double squares = 0.0;
  for (std::int64_t r = 0; r < o.rows; ++r) squares += static_cast<double>(sum_of_squares(o.row(r), o.cols));
  const double size = 0.2 * static_cast<double>(step.rate) * std::sqrt(static_cast<double>(parameter.size()));
  const float keep = 1.0F - step.rate * step.weight_decay;
  for (std::int64_t r = 0; r < o.rows; ++r) {
    step_row(o.row(r), keep, static_cast<float>(size / std::sqrt(squares)), o.cols, parameter.row(r));
  }
}

}  // namespace kernels::cpu
