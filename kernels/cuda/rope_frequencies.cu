#include "kernels/cuda/rope_frequencies.h"

#include <cmath>
#include <vector>

namespace kernels::cuda {

const double* RopeFrequencies::get(std::int64_t head_dim, float base, UploadRing& uploads, cudaStream_t stream) {
  for (const Table& table : tables_) {
    if (table.head_dim == head_dim && table.base == base) return static_cast<const double*>(table.values.data());
  }
  std::vector<double> values(static_cast<std::size_t>(head_dim / 2));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::pow(static_cast<double>(base), -2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
  }
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(double));
  tables_.push_back({head_dim, base, DeviceBytes(bytes)});
  uploads.upload(values.data(), tables_.back().values.data(), bytes, stream);
  return static_cast<const double*>(tables_.back().values.data());
}

}  // namespace kernels::cuda
