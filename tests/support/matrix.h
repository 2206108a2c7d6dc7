// Host matrices of the tests: noise to fill operands with, and how far a result may be from its oracle.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace support {

/// Row-major float32 matrix on the host.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<float> values;

  Matrix() = default;
  Matrix(std::int64_t r, std::int64_t c, float value = 0.0F)
      : rows(r), cols(c), values(static_cast<std::size_t>(r * c), value) {}
  float& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * cols + c)]; }
  [[nodiscard]] float at(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * cols + c)];
  }
};

inline Matrix noise(std::int64_t rows, std::int64_t cols, unsigned seed, float scale = 1.0F) {
  Matrix m(rows, cols);
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  for (float& v : m.values) v = normal(generator);
  return m;
}

/// Integers in [low, high).
inline std::vector<std::int32_t> random_indices(std::int64_t count, int low, int high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<std::int32_t> uniform(low, high - 1);
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  for (auto& v : out) v = uniform(generator);
  return out;
}

inline std::vector<double> as_double(const Matrix& m) { return {m.values.begin(), m.values.end()}; }

/// || got - expected || / || expected ||; infinite where a value is not finite.
inline double relative_error(const Matrix& got, const std::vector<double>& expected) {
  if (got.values.size() != expected.size()) return INFINITY;
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(got.values[i]) - expected[i];
    if (!std::isfinite(d)) return INFINITY;
    difference += d * d;
    norm += expected[i] * expected[i];
  }
  return difference == 0.0 ? 0.0 : std::sqrt(difference / norm);
}

inline void expect_close(const char* name, const Matrix& got, const std::vector<double>& expected,
                         double tolerance = 1e-6) {
  EXPECT_LE(relative_error(got, expected), tolerance) << name << " [" << got.rows << ", " << got.cols << "]";
}

}  // namespace support
