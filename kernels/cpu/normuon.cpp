// NorMuon (arXiv 2510.05491): orthogonalised momentum with one second moment a row.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/row_math.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

// Quintic Newton-Schulz of Jordan et al.'s Muon.
constexpr int kIterations = 5;
constexpr float kA = 3.4445F;
constexpr float kB = -4.7750F;
constexpr float kC = 2.0315F;

double squared_norm(ConstView x) {
  double sum = 0.0;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c)
      sum += static_cast<double>(x.row(r)[c]) * static_cast<double>(x.row(r)[c]);
  }
  return sum;
}

/// to = factor * from, transposed when the shapes say so.
void copy_scaled(ConstView from, float factor, bool transpose, View to) {
  for (std::int64_t r = 0; r < to.rows; ++r) {
    for (std::int64_t c = 0; c < to.cols; ++c) to.row(r)[c] = factor * (transpose ? from.row(c)[r] : from.row(r)[c]);
  }
}

void update_momentum(ConstView gradient, float beta, View momentum) {
  for (std::int64_t r = 0; r < momentum.rows; ++r) {
    float* m = momentum.row(r);
    const float* g = gradient.row(r);
    for (std::int64_t c = 0; c < momentum.cols; ++c) m[c] = beta * m[c] + (1.0F - beta) * g[c];
  }
}

/// Scratch of the iteration, all contiguous: x and next are wide or square, gram and polynomial [short, short].
struct Scratch {
  View x;
  View next;
  View gram;
  View polynomial;
};

/// One step: x <- a x + (b g + c g g) x with g = x x^T
void newton_schulz_step(Scratch& s) {
  product_nt(1.0F, s.x, s.x, 0.0F, s.gram);
  copy_scaled(s.gram, kB, false, s.polynomial);
  product_nn(kC, s.gram, s.gram, 1.0F, s.polynomial);
  copy_scaled(s.x, kA, false, s.next);
  product_nn(1.0F, s.polynomial, s.x, 1.0F, s.next);
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

void apply_step(const NorMuonStep& step, ConstView o, View parameter) {
  const double size = 0.2 * static_cast<double>(step.rate) * std::sqrt(static_cast<double>(parameter.size()));
  const auto factor = static_cast<float>(size / std::sqrt(squared_norm(o)));
  const float keep = 1.0F - step.rate * step.weight_decay;
  for (std::int64_t r = 0; r < o.rows; ++r) {
    float* p = parameter.row(r);
    for (std::int64_t c = 0; c < o.cols; ++c) p[c] = keep * p[c] - factor * o.row(r)[c];
  }
}

}  // namespace

void CpuBackend::normuon(View parameter, ConstView gradient, View momentum, View row_moment, const NorMuonStep& step) {
  shapes::normuon(parameter, gradient, momentum, row_moment);
  if (parameter.size() == 0) return;
  update_momentum(gradient, step.beta1, momentum);
  const std::int64_t small = std::min(parameter.rows, parameter.cols);
  const std::int64_t large = std::max(parameter.rows, parameter.cols);
  const bool transpose = parameter.rows > parameter.cols;
  float* data = workspace_.floats(2 * padded(small * large) + 2 * padded(small * small));
  Scratch s{View{data, small, large, large}, View{data + padded(small * large), small, large, large},
            View{data + 2 * padded(small * large), small, small, small},
            View{data + 2 * padded(small * large) + padded(small * small), small, small, small}};
  const auto factor = static_cast<float>(1.0 / (std::sqrt(squared_norm(momentum)) + 1e-7));
  copy_scaled(momentum, factor, transpose, s.x);
  {
    const SingleThreadedBlas guard;
    for (int i = 0; i < kIterations; ++i) newton_schulz_step(s);
  }
  const View o{s.next.data, parameter.rows, parameter.cols, parameter.cols};
  copy_scaled(s.x, 1.0F, transpose, o);
  normalise_rows(step, o, row_moment);
  apply_step(step, o, parameter);
}

}  // namespace kernels::cpu
