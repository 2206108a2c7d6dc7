// AdamW, and NorMuon for matrices with Adam for the rest (method page, "Optimisers").
// A parameter without gradient in a step is neither stepped nor decayed; each keeps its own count of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/parameters.h"
#include "engine/recipe.h"
#include "kernels/backend.h"

namespace engine {

struct OptimizerSettings {
  OptimizerType type = OptimizerType::adamw;
  float rate = 1e-3F;       ///< of AdamW, or of NorMuon's matrices
  float adam_rate = 5e-4F;  ///< with NorMuon: of Adam for the rest, without decay
  float beta1 = 0.9F;
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;
};

class Optimizer {
 public:
  Optimizer(kernels::Backend& backend, const Parameters& parameters);

  /// One step in place; `has_gradient` says which parameters got a gradient.
  void step(const OptimizerSettings& settings, const std::function<bool(const ParameterInfo&)>& has_gradient);
  /// Steps taken, in the order of the layout.
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }

  /// Moments as "first.<name>" and "second.<name>" (a row moment of NorMuon is [rows, 1]).
  [[nodiscard]] std::vector<HostTensor> store(OptimizerType type) const;
  void load(const std::vector<HostTensor>& tensors, const std::vector<std::int64_t>& counts, OptimizerType type,
            const std::string& source);

 private:
  void adam_range(std::size_t first, std::size_t last, const OptimizerSettings& settings, bool rest_of_normuon);
  [[nodiscard]] kernels::View moment(const kernels::Buffer& buffer, const ParameterInfo& info) const;

  kernels::Backend* backend_;
  const Parameters* parameters_;
  kernels::Buffer first_, second_;  // laid out as the parameters
  std::vector<std::int64_t> counts_;
};

}  // namespace engine
