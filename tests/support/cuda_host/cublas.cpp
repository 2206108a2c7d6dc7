#include <Eigen/Core>
#include <vector>

#include "tests/support/cuda_host/cublas_v2.h"
#include "tests/support/cuda_host/cuda_bf16.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace {

/// The operand as float32, converted where it is bf16.
const float* as_float(const void* data, cudaDataType type, std::int64_t count, std::vector<float>& room) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data);
  const auto* values = static_cast<const __nv_bfloat16*>(data);
  room.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) room[static_cast<std::size_t>(i)] = __bfloat162float(values[i]);
  return room.data();
}

/// Elements from the first to the last of a column-major matrix.
std::int64_t extent(std::int64_t rows, std::int64_t cols, std::int64_t stride) { return (cols - 1) * stride + rows; }

using ColumnMajor = Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>>;

/// op(x)[rows, cols], of a column-major matrix.
Eigen::MatrixXf operand(const float* data, cublasOperation_t op, std::int64_t rows, std::int64_t cols,
                        std::int64_t stride) {
  if (op == CUBLAS_OP_N) return ColumnMajor(data, rows, cols, Eigen::OuterStride<>(stride));
  return ColumnMajor(data, cols, rows, Eigen::OuterStride<>(stride)).transpose();
}

}  // namespace

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t /*handle*/, void* /*workspace*/, std::size_t /*bytes*/) {
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_INVALID_VALUE";
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
                               std::int64_t n, std::int64_t k, const void* alpha, const void* a, cudaDataType a_type,
                               std::int64_t lda, const void* b, cudaDataType b_type, std::int64_t ldb, const void* beta,
                               void* c, cudaDataType c_type, std::int64_t ldc, cublasComputeType_t /*compute*/,
                               cublasGemmAlgo_t /*algorithm*/) {
  const bool a_fits = lda >= (op_a == CUBLAS_OP_N ? m : k);
  const bool b_fits = ldb >= (op_b == CUBLAS_OP_N ? k : n);
  if (m < 0 || n < 0 || k < 0 || !a_fits || !b_fits || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
  if (c_type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const float scale = *static_cast<const float*>(alpha);
  const float keep = *static_cast<const float*>(beta);
  cuda_host::submit(handle->stream, "cublasGemmEx_64", [=] {
    std::vector<float> a_room, b_room;
    const std::int64_t a_size = op_a == CUBLAS_OP_N ? extent(m, k, lda) : extent(k, m, lda);
    const std::int64_t b_size = op_b == CUBLAS_OP_N ? extent(k, n, ldb) : extent(n, k, ldb);
    const Eigen::MatrixXf left = operand(as_float(a, a_type, a_size, a_room), op_a, m, k, lda);
    const Eigen::MatrixXf right = operand(as_float(b, b_type, b_size, b_room), op_b, k, n, ldb);
    Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>> result(static_cast<float*>(c), m, n,
                                                                Eigen::OuterStride<>(ldc));
    // beta 0 overwrites c whatever it held.
    if (keep == 0.0F) {
      result.noalias() = scale * (left * right);
    } else {
      result = keep * result + scale * (left * right);
    }
    return std::string();
  });
  return CUBLAS_STATUS_SUCCESS;
}
