// Each byte is a token; end of text is token 256.
#include <nlohmann/json.hpp>

#include "engine/data/tokenizer.h"
#include "engine/data/utf8.h"

namespace engine::data {
namespace {

constexpr std::int32_t kEndOfText = 256;

class ByteTokenizer : public Tokenizer {
 public:
  [[nodiscard]] std::string kind() const override { return "byte"; }
  [[nodiscard]] std::int64_t vocab() const override { return kEndOfText + 1; }

  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }

  [[nodiscard]] std::string bytes(std::int32_t token) const override {
    if (token < 0 || token >= kEndOfText) return "";
    return std::string(1, static_cast<char>(static_cast<unsigned char>(token)));
  }

  [[nodiscard]] std::string label(std::int32_t token) const override {
    if (token < 0 || token >= kEndOfText) return "<eot>";
    return token < 0x80 ? bytes(token) : byte_label(static_cast<unsigned char>(token));
  }

  [[nodiscard]] std::int32_t end_of_text() const override { return kEndOfText; }
  [[nodiscard]] nlohmann::json to_json() const override { return {{"kind", "byte"}}; }
};

}  // namespace

std::unique_ptr<Tokenizer> make_byte_tokenizer() { return std::make_unique<ByteTokenizer>(); }

}  // namespace engine::data
