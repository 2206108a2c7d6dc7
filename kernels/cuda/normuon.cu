// NorMuon (arXiv 2510.05491): orthogonalised momentum with one second moment a row.
#include <cmath>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/row_math.cuh"
#include "kernels/cuda/squared_norm.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

// Quintic Newton-Schulz of Jordan et al.'s Muon.
constexpr int kIterations = 5;
constexpr float kA = 3.4445F;
constexpr float kB = -4.7750F;
constexpr float kC = 2.0315F;

__global__ void momentum_kernel(ConstView gradient, float beta, View momentum) {
  for_elements(momentum.rows, momentum.cols, [&](std::int64_t r, std::int64_t c) {
    momentum.row(r)[c] = beta * momentum.row(r)[c] + (1.0F - beta) * gradient.row(r)[c];
  });
}

/// to = from / (its norm + 1e-7), transposed when asked
__global__ void normalised_copy_kernel(ConstView from, const double* squares, bool transpose, View to) {
  const auto factor = static_cast<float>(1.0 / (sqrt(*squares) + 1e-7));
  for_elements(to.rows, to.cols, [&](std::int64_t r, std::int64_t c) {
    to.row(r)[c] = factor * (transpose ? from.row(c)[r] : from.row(r)[c]);
  });
}

__global__ void transpose_kernel(ConstView from, View to) {
  for_elements(to.rows, to.cols, [&](std::int64_t r, std::int64_t c) { to.row(r)[c] = from.row(c)[r]; });
}

/// Divides each row by its running root mean square. A warp is one row.
__global__ void normalise_rows_kernel(NorMuonStep step, View o, View row_moment) {
  for (std::int64_t r = first_warp(); r < o.rows; r += all_warps()) {
    float squares = 0.0F;
    for (std::int64_t c = lane_index(); c < o.cols; c += kWarp) squares += o.row(r)[c] * o.row(r)[c];
    const float mean = warp_sum(squares) / static_cast<float>(o.cols);
    const float v = step.beta2 * row_moment.row(r)[0] + (1.0F - step.beta2) * mean;
    __syncwarp();  // all lanes have read the moment
    if (lane_index() == 0) row_moment.row(r)[0] = v;
    const float factor = 1.0F / (sqrtf(v) + step.epsilon);
    for (std::int64_t c = lane_index(); c < o.cols; c += kWarp) o.row(r)[c] *= factor;
  }
}

/// The step is as long as 0.2 * rate * sqrt(size), whatever the length of o.
__global__ void step_kernel(ConstView o, const double* squares, double size, float keep, View parameter) {
  const auto factor = static_cast<float>(size / sqrt(*squares));
  for_elements(o.rows, o.cols, [&](std::int64_t r, std::int64_t c) {
    parameter.row(r)[c] = keep * parameter.row(r)[c] - factor * o.row(r)[c];
  });
}

/// Scratch of the iteration, all contiguous: x and next are wide or square, gram and polynomial [short, short].
struct Scratch {
  View x;
  View next;
  View gram;
  View polynomial;
};

}  // namespace

void CudaBackend::normuon(View parameter, ConstView gradient, View momentum, View row_moment, const NorMuonStep& step) {
  shapes::normuon(parameter, gradient, momentum, row_moment);
  if (parameter.size() == 0) return;
  const std::int64_t small = std::min(parameter.rows, parameter.cols);
  const std::int64_t large = std::max(parameter.rows, parameter.cols);
  const bool transpose = parameter.rows > parameter.cols;
  const std::int64_t norm_floats = padded(2 * squared_norm_room(momentum));
  const std::int64_t wide = padded(small * large);
  const std::int64_t square = padded(small * small);
  float* data = workspace_.floats(norm_floats + 2 * wide + 2 * square);
  auto* squares = reinterpret_cast<double*>(data);
  float* matrices = data + norm_floats;
  Scratch s{View{matrices, small, large, large}, View{matrices + wide, small, large, large},
            View{matrices + 2 * wide, small, small, small}, View{matrices + 2 * wide + square, small, small, small}};

  const Grid elements = elements_of(parameter.rows, parameter.cols);
  launch(queue_, "normuon", momentum_kernel, elements, gradient, step.beta1, momentum);
  squared_norm(queue_, momentum, squares);
  launch(queue_, "normuon", normalised_copy_kernel, elements_of(small, large), momentum, squares, transpose, s.x);
  for (int i = 0; i < kIterations; ++i) {
    // x <- a x + (b g + c g g) x with g = x x^T
    blas_.multiply(1.0F, {s.x}, {s.x, true}, 0.0F, s.gram);
    scaled(s.gram, kB, s.polynomial, Write::assign);
    blas_.multiply(kC, {s.gram}, {s.gram}, 1.0F, s.polynomial);
    scaled(s.x, kA, s.next, Write::assign);
    blas_.multiply(1.0F, {s.polynomial}, {s.x}, 1.0F, s.next);
    std::swap(s.x, s.next);
  }
  const View o = transpose ? View{s.next.data, parameter.rows, parameter.cols, parameter.cols} : s.x;
  if (transpose) launch(queue_, "normuon", transpose_kernel, elements, s.x, o);
  launch(queue_, "normuon", normalise_rows_kernel, warps_over(o.rows), step, o, row_moment);
  squared_norm(queue_, o, squares);
  const double size = 0.2 * static_cast<double>(step.rate) * std::sqrt(static_cast<double>(parameter.size()));
  launch(queue_, "normuon", step_kernel, elements, o, squares, size, 1.0F - step.rate * step.weight_decay, parameter);
}

}  // namespace kernels::cuda
