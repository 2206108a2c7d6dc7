// Stable 64-bit hashes: which contents are held out and which data a run was made from must not change between
// machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace engine::data {

/// Hash of a sequence of numbers and texts, the same on every machine and in every version. Not cryptographic.
class ContentHash {
 public:
  ContentHash& add(std::int64_t value) {
    state_ = mix(state_ ^ mix(static_cast<std::uint64_t>(value) + 0x9E3779B97F4A7C15U));
    return *this;
  }
  ContentHash& add(std::string_view text);
  [[nodiscard]] std::uint64_t value() const { return mix(state_); }
  /// 16 lower-case hex digits.
  [[nodiscard]] std::string hex() const;

 private:
  // The finaliser of SplitMix64 (Steele et al. 2014): every input bit reaches every output bit.
  static constexpr std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27U)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31U);
  }

  std::uint64_t state_ = 0x243F6A8885A308D3U;
};

}  // namespace engine::data
