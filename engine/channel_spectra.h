// Gates, and what the fusion's matrices and the states that pass through them span (method page, "Inside the channel").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/parameters.h"

namespace engine {

/// Gates sigmoid(W_G e) of one token, over the D channels.
struct TokenGates {
  std::int32_t token = 0;
  std::int64_t occurrences = 0;
  double mean = 0;
  double deviation = 0;  ///< over channels
  double smallest = 0;
  double largest = 0;
  std::vector<std::int64_t> histogram;  ///< channels in each of the bins over [0,1]
};

struct GateValues {
  std::vector<TokenGates> tokens;       ///< by token id
  std::vector<std::int64_t> histogram;  ///< channels of all occurrences
  double mean = 0;                      ///< over channels and occurrences
  double deviation = 0;
  double between_tokens = 0;  ///< deviation between tokens of a channel's gate, root mean square over channels
};
/// Gates of the tokens given (each as often as it occurs). ConfigError unless the model's fusion is a gate.
GateValues measure_gates(kernels::Backend& backend, const Parameters& parameters,
                         const std::vector<std::int32_t>& tokens, int bins = 20);

/// Numbers in descending order.
struct Spectrum {
  std::string name;
  std::vector<double> values;
  double participation = 0;  ///< (sum v)^2 / sum v^2: about how many directions count; of singular values their squares
};
/// Singular values of the fusion's matrices: fusion.wu and fusion.wg or fusion.we, or both halves of fusion.wc.
std::vector<Spectrum> fusion_spectra(kernels::Backend& backend, const Parameters& parameters);
/// Variances along the principal axes of rows [N, cols] (row-major), with divisor N - 1.
Spectrum variance_spectrum(const std::string& name, const std::vector<float>& rows, std::int64_t cols);
/// The states and the states times W_U^T, [N,D] row-major.
std::vector<Spectrum> state_spectra(kernels::Backend& backend, const Parameters& parameters,
                                    const std::vector<float>& states);

}  // namespace engine
