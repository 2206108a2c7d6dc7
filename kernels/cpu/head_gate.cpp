// The head-wise output gate: one number a head scales that head's output.
#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/shapes.h"

namespace kernels::cpu {

void CpuBackend::head_gate(ConstView x, ConstView logits, View y) {
  shapes::head_gate(x, logits, y);
  const std::int64_t width = x.cols / logits.cols;
  for_rows(threads_, x.rows, x.cols / 2, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      for (std::int64_t h = 0; h < logits.cols; ++h) {
        const float gate = sigmoid_float(logits.row(n)[h]);
        scale_into(x.row(n) + h * width, gate, width, y.row(n) + h * width);
      }
    }
  });
}

void CpuBackend::head_gate_backward(ConstView dy, ConstView x, ConstView logits, View dx, View dlogits) {
  shapes::head_gate_backward(dy, x, logits, dx, dlogits);
  const std::int64_t width = x.cols / logits.cols;
  for_rows(threads_, x.rows, x.cols, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) {
      for (std::int64_t h = 0; h < logits.cols; ++h) {
        const float gate = sigmoid_float(logits.row(n)[h]);
        const float* d = dy.row(n) + h * width;
        scale_into(d, gate, width, dx.row(n) + h * width);
        dlogits.row(n)[h] = dot(d, x.row(n) + h * width, width) * gate * (1.0F - gate);
      }
    }
  });
}

}  // namespace kernels::cpu
