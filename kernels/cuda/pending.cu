#include "kernels/cuda/backend.h"

namespace kernels::cuda {

void CudaBackend::embed(ConstView, ConstIndexView, View) { throw DeviceError("embed does not run on the GPU."); }
void CudaBackend::embed_backward(ConstView, ConstIndexView, View, Write) {
  throw DeviceError("embed_backward does not run on the GPU.");
}
void CudaBackend::rms_norm(ConstView, ConstView, View, View) { throw DeviceError("rms_norm does not run on the GPU."); }
void CudaBackend::rms_norm_backward(ConstView, ConstView, ConstView, ConstView, View, Write, View, Write) {
  throw DeviceError("rms_norm_backward does not run on the GPU.");
}
void CudaBackend::residual_rms_norm(ConstView, ConstView, float, ConstView, View, View, View) {
  throw DeviceError("residual_rms_norm does not run on the GPU.");
}
void CudaBackend::residual_rms_norm_backward(ConstView, ConstView, ConstView, ConstView, ConstView, float, View, Write,
                                             View, View, Write) {
  throw DeviceError("residual_rms_norm_backward does not run on the GPU.");
}
void CudaBackend::norm_rope(ConstView, ConstIndexView, std::int64_t, float, bool, View, View) {
  throw DeviceError("norm_rope does not run on the GPU.");
}
void CudaBackend::norm_rope_backward(ConstView, ConstView, ConstView, ConstIndexView, std::int64_t, float, bool, View) {
  throw DeviceError("norm_rope_backward does not run on the GPU.");
}
void CudaBackend::head_gate(ConstView, ConstView, View) { throw DeviceError("head_gate does not run on the GPU."); }
void CudaBackend::head_gate_backward(ConstView, ConstView, ConstView, View, View) {
  throw DeviceError("head_gate_backward does not run on the GPU.");
}
void CudaBackend::swiglu(ConstView, View) { throw DeviceError("swiglu does not run on the GPU."); }
void CudaBackend::swiglu_backward(ConstView, ConstView, View) {
  throw DeviceError("swiglu_backward does not run on the GPU.");
}
void CudaBackend::scaled(ConstView, float, View, Write) { throw DeviceError("scaled does not run on the GPU."); }
void CudaBackend::fill(View, float) { throw DeviceError("fill does not run on the GPU."); }
void CudaBackend::add_uniform(ConstView, float, const PhiloxStream&, View) {
  throw DeviceError("add_uniform does not run on the GPU.");
}
void CudaBackend::gather_rows(ConstView, ConstIndexView, View) {
  throw DeviceError("gather_rows does not run on the GPU.");
}
void CudaBackend::scatter_rows(ConstView, ConstIndexView, View) {
  throw DeviceError("scatter_rows does not run on the GPU.");
}
void CudaBackend::row_distance(ConstView, ConstView, View) {
  throw DeviceError("row_distance does not run on the GPU.");
}
void CudaBackend::fuse(const FusionShape&, ConstView, ConstView, ConstView, ConstView, ConstIndexView, View, View) {
  throw DeviceError("fuse does not run on the GPU.");
}
void CudaBackend::fuse_backward(const FusionShape&, ConstView, ConstView, ConstView, ConstView, ConstView,
                                ConstIndexView, View, View, Write, View, Write, View, Write) {
  throw DeviceError("fuse_backward does not run on the GPU.");
}
void CudaBackend::sample(ConstView, const SamplerShape&, ConstView, IndexView, View, View) {
  throw DeviceError("sample does not run on the GPU.");
}
void CudaBackend::adamw(View, ConstView, View, View, const AdamStep&) {
  throw DeviceError("adamw does not run on the GPU.");
}
void CudaBackend::normuon(View, ConstView, View, View, const NorMuonStep&) {
  throw DeviceError("normuon does not run on the GPU.");
}
void CudaBackend::clip_by_norm(View, float, View) { throw DeviceError("clip_by_norm does not run on the GPU."); }
}  // namespace kernels::cuda
