// Compares the engine with golden files: results of the float64 reference, tensor by tensor
// (tests/reference/make_golden.py).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace engine {

/// One expected tensor against ours. Relative l2 error; for rebuild errors that should be zero, the absolute error.
struct GoldenCheck {
  std::string tensor;
  double error = 0;
  double tolerance = 0;
  std::string problem;  ///< why it could not be compared; empty otherwise

  [[nodiscard]] bool passed() const { return problem.empty() && error <= tolerance; }
};

/// Runs training gradients, both optimisers, logits, residuals, decoding, stability and cache rebuild of one file.
/// FormatError when the file is not a golden file.
std::vector<GoldenCheck> check_golden_file(const std::filesystem::path& file, kernels::Backend& backend);

/// All golden files (*.safetensors) of a folder, sorted; FileError when there is none.
std::vector<std::filesystem::path> find_golden_files(const std::filesystem::path& folder);

}  // namespace engine
