// Philox 4x32-10 (Salmon et al. 2011): numbers from (key, counter) alone, so that resuming, replaying and every device
// agree.
#pragma once

#include <array>
#include <cstdint>

#if defined(__CUDACC__)
#define FULLBAND_HOST_DEVICE __host__ __device__
#else
#define FULLBAND_HOST_DEVICE
#endif

namespace kernels {

/// What random numbers are for: each purpose has a stream of its own.
enum class Purpose : std::uint32_t {
  weights = 1,
  fusion_weights = 2,
  training_data = 3,
  validation_data = 4,
  jitter = 5,
  plain_prefix = 6,
  sampling = 7,
  shuffling = 8,
  analysis = 9,
};

/// Names one stream of numbers: the run's seed, what it is for, and two coordinates (for example step and pass).
/// A matrix that is part of a larger one starts at element `first` of the stream.
struct PhiloxStream {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::weights;
  std::uint64_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t first = 0;
};

/// The four 32-bit words of block `block` of the stream; element i of a stream is word i % 4 of block i / 4.
FULLBAND_HOST_DEVICE inline std::array<std::uint32_t, 4> philox_block(const PhiloxStream& stream, std::uint64_t block) {
  // Counter: block (40 bits used of 64) and minor share the first two words, major fills the others.
  std::uint32_t c0 = static_cast<std::uint32_t>(block);
  std::uint32_t c1 = static_cast<std::uint32_t>(block >> 32U) ^ (stream.minor << 8U);
  std::uint32_t c2 = static_cast<std::uint32_t>(stream.major);
  std::uint32_t c3 =
      static_cast<std::uint32_t>(stream.major >> 32U) ^ (static_cast<std::uint32_t>(stream.purpose) << 24U);
  std::uint32_t k0 = static_cast<std::uint32_t>(stream.seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(stream.seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c2;
    const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32U) ^ c1 ^ k0;
    const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32U) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {c0, c1, c2, c3};
}

/// A word as a float in [0, 1), 24 bits.
FULLBAND_HOST_DEVICE inline float unit_float(std::uint32_t word) { return static_cast<float>(word >> 8U) * 0x1p-24F; }

/// Host-side reader of a stream, in order. A value type: copy it to branch, store `position()` to resume.
class PhiloxReader {
 public:
  explicit PhiloxReader(const PhiloxStream& stream) : stream_(stream) {}

  std::uint32_t next_word() {
    if (index_ % 4 == 0) block_ = philox_block(stream_, index_ / 4);
    return block_[index_++ % 4];
  }
  /// Uniform in [0, 1).
  float next_unit() { return unit_float(next_word()); }
  /// Uniform integer in [0, count), count > 0; free of modulo bias to 2^-32.
  std::uint32_t next_below(std::uint32_t count) {
    return static_cast<std::uint32_t>((std::uint64_t{next_word()} * count) >> 32U);
  }

 private:
  PhiloxStream stream_;
  std::uint64_t index_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace kernels
