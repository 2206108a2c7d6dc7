// bfloat16 as in the CUDA toolkit, on the host: the upper half of a float32, rounded to nearest even.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

struct __nv_bfloat16 {
  std::uint16_t bits;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value)) return {0x7FFF};
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  return {static_cast<std::uint16_t>(bits >> 16U)};
}

inline float __bfloat162float(__nv_bfloat16 value) {
  const std::uint32_t bits = std::uint32_t{value.bits} << 16U;
  float result = 0.0F;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}
