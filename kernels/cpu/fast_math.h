// Branch-free float32 exp and sigmoid that vectorise inside a plain loop; about one unit in the last place.
#pragma once

#include <bit>
#include <cstdint>

namespace kernels::cpu {

/// e^x: 0 at -inf, +inf at +inf and above 88.73, NaN at NaN, subnormal results included. Polynomial as in Cephes' expf.
[[gnu::always_inline]] inline float exp_float(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // few bits, so that n * kLn2High is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
  // Written so that a NaN fails both comparisons and stays.
  x = x < -104.0F ? -104.0F : x;
  x = x > 89.0F ? 89.0F : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  // Two factors, because 2^n alone leaves the exponent range at both ends.
  const std::int32_t power = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const std::int32_t half = power >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23);
  const float second = std::bit_cast<float>((power - half + 127) << 23);
  return p * first * second;
}

/// 1 / (1 + e^-x)
[[gnu::always_inline]] inline float sigmoid_float(float x) { return 1.0F / (1.0F + exp_float(-x)); }

}  // namespace kernels::cpu
