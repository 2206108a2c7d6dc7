// AdamW and the clipping of the global norm, in place. The norm stays on the device: the host waits for nothing.
#include <cmath>

#include "kernels/adam_factors.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/squared_norm.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

__global__ void adamw_kernel(AdamFactors f, View parameter, ConstView gradient, View first_moment, View second_moment) {
  for_elements(parameter.rows, parameter.cols, [&](std::int64_t r, std::int64_t c) {
    const float g = gradient.row(r)[c];
    const float m = f.beta1 * first_moment.row(r)[c] + (1.0F - f.beta1) * g;
    const float v = f.beta2 * second_moment.row(r)[c] + (1.0F - f.beta2) * g * g;
    first_moment.row(r)[c] = m;
    second_moment.row(r)[c] = v;
    float& p = parameter.row(r)[c];
    p = f.keep * p - f.step_size * m / (sqrtf(v * f.moment_scale) + f.epsilon);
  });
}

/// sums[piece] = the squares of one piece of a row; a warp is one piece.
__global__ void piece_squares_kernel(ConstView x, double* sums) {
  const std::int64_t per_row = (x.cols + kPiece - 1) / kPiece;
  for (std::int64_t piece = first_warp(); piece < x.rows * per_row; piece += all_warps()) {
    const std::int64_t row = piece / per_row;
    const std::int64_t begin = (piece - row * per_row) * kPiece;
    double sum = 0.0;
    for (std::int64_t c = begin + lane_index(); c < begin + kPiece && c < x.cols; c += kWarp) {
      sum += static_cast<double>(x.row(row)[c]) * static_cast<double>(x.row(row)[c]);
    }
    sum = warp_sum(sum);
    if (lane_index() == 0) sums[piece] = sum;
  }
}

/// One block adds up all pieces.
__global__ void total_kernel(const double* sums, std::int64_t count, double* total) {
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  sum = block_sum(sum, shared_memory<double>());
  if (threadIdx.x == 0) *total = sum;
}

__global__ void clip_kernel(View gradients, float max_norm, const double* squares, float* norm) {
  const double total = sqrt(*squares);
  if (first_thread() == 0) *norm = static_cast<float>(total);
  if (!isfinite(total) || !(max_norm > 0.0F) || total <= static_cast<double>(max_norm)) return;
  const auto factor = static_cast<float>(static_cast<double>(max_norm) / total);
  for_elements(gradients.rows, gradients.cols, [&](std::int64_t r, std::int64_t c) { gradients.row(r)[c] *= factor; });
}

}  // namespace

void squared_norm(const Queue& queue, ConstView x, double* room) {
  const std::int64_t pieces = squared_norm_room(x) - 1;
  launch(queue, "squared norm", piece_squares_kernel, warps_over(pieces), x, room + 1);
  launch(queue, "squared norm", total_kernel, Grid{1, 512, 16 * sizeof(double)}, room + 1, pieces, room);
}

void CudaBackend::adamw(View parameter, ConstView gradient, View first_moment, View second_moment,
                        const AdamStep& step) {
  shapes::adamw(parameter, gradient, first_moment, second_moment, step);
  launch(queue_, "adamw", adamw_kernel, elements_of(parameter.rows, parameter.cols), factors_of(step), parameter,
         gradient, first_moment, second_moment);
}

void CudaBackend::clip_by_norm(View gradients, float max_norm, View norm) {
  shapes::clip_by_norm(gradients, norm);
  auto* room = reinterpret_cast<double*>(workspace_.floats(2 * squared_norm_room(gradients)));
  squared_norm(queue_, gradients, room);
  Grid grid = elements_of(gradients.rows, gradients.cols);
  grid.blocks = std::max<std::int64_t>(grid.blocks, 1);  // the norm of nothing is written too
  launch(queue_, "clip_by_norm", clip_kernel, grid, gradients, max_norm, room, norm.data);
}

}  // namespace kernels::cuda
