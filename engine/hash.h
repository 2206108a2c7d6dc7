// The 64-bit hash (XXH64) behind tensor_hash, config_hash and data hashes: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace engine {

class Hash64 {
 public:
  Hash64();
  ~Hash64();
  Hash64(Hash64&&) noexcept;
  Hash64& operator=(Hash64&&) noexcept;

  void add_bytes(const void* data, std::size_t size);
  /// The length, then the bytes, so that "ab" + "c" and "a" + "bc" differ.
  void add_text(std::string_view text);
  /// Little-endian.
  void add_number(std::int64_t value);
  /// 16 lower-case hex digits of everything added so far.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace engine
