// Operations that treat every element or every row alone.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/row_math.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

__global__ void swiglu_kernel(ConstView gate_up, View y) {
  for_elements(y.rows, y.cols, [&](std::int64_t n, std::int64_t c) {
    const float gate = gate_up.row(n)[c];
    y.row(n)[c] = gate * sigmoid(gate) * gate_up.row(n)[y.cols + c];
  });
}

__global__ void swiglu_backward_kernel(ConstView dy, ConstView gate_up, View dgate_up) {
  for_elements(dy.rows, dy.cols, [&](std::int64_t n, std::int64_t c) {
    const float gate = gate_up.row(n)[c];
    const float s = sigmoid(gate);
    const float silu = gate * s;
    const float d = dy.row(n)[c];
    dgate_up.row(n)[c] = d * gate_up.row(n)[dy.cols + c] * (s + silu * (1.0F - s));
    dgate_up.row(n)[dy.cols + c] = d * silu;
  });
}

__global__ void scaled_kernel(ConstView x, float alpha, View y, bool accumulate) {
  for_elements(y.rows, y.cols,
               [&](std::int64_t n, std::int64_t c) { store(y.row(n) + c, alpha * x.row(n)[c], accumulate); });
}

__global__ void fill_kernel(View y, float value) {
  for_elements(y.rows, y.cols, [&](std::int64_t n, std::int64_t c) { y.row(n)[c] = value; });
}

/// A thread is one block of the stream: four elements of the matrix, which may lie on two rows or outside it.
__global__ void add_uniform_kernel(ConstView x, float amplitude, PhiloxStream stream, View y) {
  const auto skipped = static_cast<std::int64_t>(stream.first % 4);
  const std::int64_t size = x.size();
  for (std::int64_t block = first_thread(); block < (skipped + size + 3) / 4; block += all_threads()) {
    const std::array<std::uint32_t, 4> words =
        philox_block(stream, stream.first / 4 + static_cast<std::uint64_t>(block));
    for (int w = 0; w < 4; ++w) {
      const std::int64_t i = 4 * block + w - skipped;
      if (i < 0 || i >= size) continue;
      const std::int64_t n = i / x.cols;
      const std::int64_t c = i - n * x.cols;
      const float uniform = 2.0F * unit_float(words[static_cast<std::size_t>(w)]) - 1.0F;
      y.row(n)[c] = x.row(n)[c] + amplitude * uniform;
    }
  }
}

/// A row number outside the matrix gives a row of NaN.
__global__ void gather_rows_kernel(ConstView x, ConstIndexView rows, View y) {
  for_elements(y.rows, y.cols, [&](std::int64_t i, std::int64_t c) {
    const std::int64_t from = rows.data[i];
    y.row(i)[c] = from >= 0 && from < x.rows ? x.row(from)[c] : nanf("");
  });
}

__global__ void scatter_rows_kernel(ConstView x, ConstIndexView rows, View y) {
  for_elements(x.rows, x.cols, [&](std::int64_t i, std::int64_t c) {
    const std::int64_t to = rows.data[i];
    if (to >= 0 && to < y.rows) y.row(to)[c] = x.row(i)[c];
  });
}

__global__ void row_distance_kernel(ConstView a, ConstView b, View out) {
  for (std::int64_t n = first_warp(); n < a.rows; n += all_warps()) {
    double squares = 0.0;
    for (std::int64_t c = lane_index(); c < a.cols; c += kWarp) {
      const double difference = static_cast<double>(a.row(n)[c]) - static_cast<double>(b.row(n)[c]);
      squares += difference * difference;
    }
    squares = warp_sum(squares);
    if (lane_index() == 0) out.row(n)[0] = static_cast<float>(sqrt(squares));
  }
}

}  // namespace

void CudaBackend::swiglu(ConstView gate_up, View y) {
  shapes::swiglu(gate_up, y);
  launch(queue_, "swiglu", swiglu_kernel, elements_of(y.rows, y.cols), gate_up, y);
}

void CudaBackend::swiglu_backward(ConstView dy, ConstView gate_up, View dgate_up) {
  shapes::swiglu_backward(dy, gate_up, dgate_up);
  launch(queue_, "swiglu_backward", swiglu_backward_kernel, elements_of(dy.rows, dy.cols), dy, gate_up, dgate_up);
}

void CudaBackend::scaled(ConstView x, float alpha, View y, Write write) {
  shapes::scaled(x, y);
  launch(queue_, "scaled", scaled_kernel, elements_of(y.rows, y.cols), x, alpha, y, write == Write::accumulate);
}

void CudaBackend::fill(View y, float value) {
  shapes::fill(y);
  launch(queue_, "fill", fill_kernel, elements_of(y.rows, y.cols), y, value);
}

void CudaBackend::add_uniform(ConstView x, float amplitude, const PhiloxStream& stream, View y) {
  shapes::add_uniform(x, y);
  launch(queue_, "add_uniform", add_uniform_kernel, threads_over(x.size() == 0 ? 0 : x.size() / 4 + 2), x, amplitude,
         stream, y);
}

void CudaBackend::gather_rows(ConstView x, ConstIndexView rows, View y) {
  shapes::gather_rows(x, rows, y);
  launch(queue_, "gather_rows", gather_rows_kernel, elements_of(y.rows, y.cols), x, rows, y);
}

void CudaBackend::scatter_rows(ConstView x, ConstIndexView rows, View y) {
  shapes::scatter_rows(x, rows, y);
  launch(queue_, "scatter_rows", scatter_rows_kernel, elements_of(x.rows, x.cols), x, rows, y);
}

void CudaBackend::row_distance(ConstView a, ConstView b, View out) {
  shapes::row_distance(a, b, out);
  launch(queue_, "row_distance", row_distance_kernel, warps_over(a.rows), a, b, out);
}

}  // namespace kernels::cuda
