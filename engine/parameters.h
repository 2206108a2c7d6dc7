// A model's parameters: one flat device buffer for the values and one for the gradients, with a named view each.
// Matrices that are multiplied with the same input lie next to each other, so that one product serves them all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/config.h"
#include "kernels/backend.h"

namespace engine {

/// Name, shape and place of one parameter. A gain is [D]; a matrix is [out, in] and acts as x W^T.
struct ParameterInfo {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t rows = 0;  ///< as a matrix: 1 for a gain
  std::int64_t cols = 0;
  std::int64_t offset = 0;  ///< floats from the start of the buffer

  [[nodiscard]] std::int64_t size() const { return rows * cols; }
  [[nodiscard]] bool is_gain() const { return shape.size() == 1; }
};

/// Names and shapes in storage order (method page, "Parameters").
std::vector<ParameterInfo> parameter_layout(const ModelConfig& config);
/// Block and fusion matrices, which NorMuon steps; the embedding, an untied head and gains go to Adam.
bool is_muon_matrix(const ParameterInfo& info);
/// Floats of the whole buffer, gaps for alignment included.
std::int64_t parameter_floats(const std::vector<ParameterInfo>& layout);

/// Start values: linear weights uniform +-1/sqrt(in), fusion uniform with standard deviation 1/sqrt(D), embedding
/// normal 0.05, gains 1, input gain 0.05. Every tensor has a random stream of its own, named after it.
std::vector<HostTensor> initial_parameters(const ModelConfig& config, std::uint64_t seed);

class Parameters {
 public:
  Parameters(kernels::Backend& backend, const ModelConfig& config, bool with_gradients);

  [[nodiscard]] const std::vector<ParameterInfo>& layout() const { return layout_; }
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] const ParameterInfo& info(std::string_view name) const;

  [[nodiscard]] kernels::View value(const ParameterInfo& info) const;
  /// Absent without gradients.
  [[nodiscard]] kernels::View gradient(const ParameterInfo& info) const;
  /// All parameters, or all gradients, as one row (gaps are zero).
  [[nodiscard]] kernels::View all_values() const;
  [[nodiscard]] kernels::View all_gradients() const;

  /// Strict: FormatError for a missing, extra or mis-shaped tensor, naming `source`.
  void load(const std::vector<HostTensor>& tensors, const std::string& source);
  [[nodiscard]] std::vector<HostTensor> store() const;
  [[nodiscard]] std::vector<HostTensor> store_gradients() const;

 private:
  /// Memory for all floats; TooLarge says so when there is none.
  [[nodiscard]] kernels::Buffer allocate_all();
  [[nodiscard]] std::vector<HostTensor> download(const kernels::Buffer& buffer) const;

  kernels::Backend* backend_;
  ModelConfig config_;
  std::vector<ParameterInfo> layout_;
  std::int64_t floats_ = 0;
  kernels::Buffer values_;
  kernels::Buffer gradients_;
};

}  // namespace engine
