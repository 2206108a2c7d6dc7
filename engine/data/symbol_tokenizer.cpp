// A closed vocabulary: every symbol is a text, and the longest one that matches is taken at each place.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/data/tokenizer.h"
#include "engine/data/utf8.h"
#include "engine/error.h"

namespace engine::data {
namespace {

class SymbolTokenizer : public Tokenizer {
 public:
  explicit SymbolTokenizer(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].empty() || first_invalid_byte(symbols_[i]) != std::string::npos ||
          !seen.insert(symbols_[i]).second) {
        throw FormatError("tokenizer", "symbol " + std::to_string(i) + " is empty, repeated or not valid UTF-8");
      }
      buckets_[static_cast<unsigned char>(symbols_[i][0])].push_back(static_cast<std::int32_t>(i));
    }
    const auto longer = [this](std::int32_t a, std::int32_t b) { return symbol(a).size() > symbol(b).size(); };
    for (std::vector<std::int32_t>& bucket : buckets_) std::stable_sort(bucket.begin(), bucket.end(), longer);
  }

  [[nodiscard]] std::string kind() const override { return "symbols"; }
  [[nodiscard]] std::int64_t vocab() const override { return end_of_text() + 1; }

  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size() / 2);
    for (std::size_t at = 0; at < text.size();) {
      const std::int32_t token = longest_match(text.substr(at));
      if (token < 0) refuse(text, at);
      tokens.push_back(token);
      at += symbol(token).size();
    }
    return tokens;
  }

  [[nodiscard]] std::string bytes(std::int32_t token) const override {
    return token < 0 || token >= end_of_text() ? "" : symbol(token);
  }
  [[nodiscard]] std::string label(std::int32_t token) const override {
    return token < 0 || token >= end_of_text() ? "<eot>" : symbol(token);
  }
  [[nodiscard]] std::int32_t end_of_text() const override { return static_cast<std::int32_t>(symbols_.size()); }
  [[nodiscard]] nlohmann::json to_json() const override { return {{"kind", "symbols"}, {"symbols", symbols_}}; }

 private:
  [[nodiscard]] const std::string& symbol(std::int32_t token) const {
    return symbols_[static_cast<std::size_t>(token)];
  }

  /// -1 where no symbol matches.
  [[nodiscard]] std::int32_t longest_match(std::string_view text) const {
    for (const std::int32_t token : buckets_[static_cast<unsigned char>(text[0])]) {
      if (text.starts_with(symbol(token))) return token;
    }
    return -1;
  }

  [[noreturn]] static void refuse(std::string_view text, std::size_t at) {
    Utf8Stream shown;
    std::string piece = shown.push(text.substr(at, character_start(text, at + 16) - at));
    piece += shown.finish();
    throw ConfigError("data.tokenizer", "the text \"" + piece + "\" at byte " + std::to_string(at) +
                                            " is outside the closed vocabulary; write the prompt as the task does, or "
                                            "use the byte or a sentencepiece tokenizer");
  }

  std::vector<std::string> symbols_;
  std::array<std::vector<std::int32_t>, 256> buckets_;  ///< tokens by first byte, longest first
};

}  // namespace

std::unique_ptr<Tokenizer> make_symbol_tokenizer(std::vector<std::string> symbols) {
  return std::make_unique<SymbolTokenizer>(std::move(symbols));
}

}  // namespace engine::data
