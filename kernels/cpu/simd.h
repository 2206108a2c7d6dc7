// FULLBAND_CLONES marks a leaf loop that is compiled for AVX-512, AVX2 and the base processor; the loader picks one at
// run time, so that one program is fast on new processors and starts on old ones.
// A marked function calls only inline functions. FULLBAND_NARROW_CLONES leaves out AVX-512, for a loop that has another
// form there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FULLBAND_HAS_CLONES
#define FULLBAND_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define FULLBAND_NARROW_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FULLBAND_CLONES
#define FULLBAND_NARROW_CLONES
#endif

namespace kernels::cpu {

constexpr std::int64_t kLanes = 16;

/// Sixteen floats at any address: one register of AVX-512, two of AVX2, four of the base processor. Sums over lanes
/// have the same order on all of them.
using Lanes [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;

[[gnu::always_inline]] inline const Lanes& lanes_at(const float* x) { return *reinterpret_cast<const Lanes*>(x); }
[[gnu::always_inline]] inline Lanes& lanes_at(float* x) { return *reinterpret_cast<Lanes*>(x); }

/// The sum of the lanes, by halves. Vectors go by reference because their passing by value differs between processors.
[[gnu::always_inline]] inline float sum_of_lanes(const Lanes& v) {
  using Half [[gnu::vector_size(32)]] = float;
  using Quarter [[gnu::vector_size(16)]] = float;
  const Half h = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                 __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  const Quarter q = __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

/// a . b over n elements, by lanes.
[[gnu::always_inline]] inline float lane_dot(const float* a, const float* b, std::int64_t n) {
  Lanes even{}, odd{};  // two chains hide the latency of the multiply-adds
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even += lanes_at(a + i) * lanes_at(b + i);
    odd += lanes_at(a + i + kLanes) * lanes_at(b + i + kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) even += lanes_at(a + i) * lanes_at(b + i);
  float sum = sum_of_lanes(even + odd);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// The largest lane, by halves; NaN loses against the lane that it is compared with.
[[gnu::always_inline]] inline float largest_lane(const Lanes& v) {
  Lanes top = v;
  const Lanes eight = __builtin_shufflevector(top, top, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  top = eight > top ? eight : top;
  const Lanes four = __builtin_shufflevector(top, top, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  top = four > top ? four : top;
  const float low = top[0] > top[1] ? top[0] : top[1];
  const float high = top[2] > top[3] ? top[2] : top[3];
  return low > high ? low : high;
}

/// x[i] = -inf outside [begin, end), for i below n, a multiple of kLanes. Masks come from a table, because comparisons
/// of integer vectors fall apart into scalars in functions with several targets.
[[gnu::always_inline]] inline void mask_outside(std::int64_t begin, std::int64_t end, std::int64_t n, float* x) {
  using Bits [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = std::int32_t;
  static constexpr std::int32_t kTable[3 * kLanes] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                                      -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                      0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0};
  constexpr std::int32_t kMinusInfinityBits = std::bit_cast<std::int32_t>(-std::numeric_limits<float>::infinity());
  for (std::int64_t first = 0; first < n; first += kLanes) {
    if (first >= begin && first + kLanes <= end) continue;
    const std::int64_t low = std::clamp<std::int64_t>(begin - first, 0, kLanes);
    const std::int64_t high = std::clamp<std::int64_t>(end - first, 0, kLanes);
    const Bits keep = *reinterpret_cast<const Bits*>(kTable + kLanes - low) &
                      *reinterpret_cast<const Bits*>(kTable + 2 * kLanes - high);
    Bits& bits = *reinterpret_cast<Bits*>(x + first);
    bits = (bits & keep) | (~keep & kMinusInfinityBits);
  }
}

/// Largest of x[0, n), n a multiple of kLanes and positive; NaN is passed over, and -inf stands where nothing else is.
[[gnu::always_inline]] inline float largest_of(const float* x, std::int64_t n) {
  Lanes top = Lanes{} - std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < n; i += kLanes) top = lanes_at(x + i) > top ? lanes_at(x + i) : top;
  return largest_lane(top);
}

}  // namespace kernels::cpu
