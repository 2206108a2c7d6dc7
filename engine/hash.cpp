#include "engine/hash.h"

#include <bit>

// Header only: no library to link.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace engine {

static_assert(std::endian::native == std::endian::little, "numbers are hashed and stored as they lie in memory");

struct Hash64::State {
  XXH64_state_t xxh{};
};

Hash64::Hash64() : state_(std::make_unique<State>()) { XXH64_reset(&state_->xxh, 0); }
Hash64::~Hash64() = default;
Hash64::Hash64(Hash64&&) noexcept = default;
Hash64& Hash64::operator=(Hash64&&) noexcept = default;

// Not inlined: g++ 12 warns about reads past the end when it inlines the library into a call of known size.
[[gnu::noinline]] void Hash64::add_bytes(const void* data, std::size_t size) {
  if (size > 0) {
    XXH64_update(&state_->xxh, data, size);
  }
}

void Hash64::add_text(std::string_view text) {
  add_number(static_cast<std::int64_t>(text.size()));
  add_bytes(text.data(), text.size());
}

void Hash64::add_number(std::int64_t value) { add_bytes(&value, sizeof(value)); }

std::string Hash64::hex() const {
  std::uint64_t digest = XXH64_digest(&state_->xxh);
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, digest >>= 4U) {
    *digit = "0123456789abcdef"[digest & 15U];
  }
  return text;
}

}  // namespace engine
