// Text to token ids and back. A tokenizer is saved in the run and in every checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace engine::data {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  [[nodiscard]] virtual std::string kind() const = 0;  ///< byte | symbols | sentencepiece
  [[nodiscard]] virtual std::int64_t vocab() const = 0;
  /// Ids of `text`, no end of text added. A text outside a closed vocabulary is a ConfigError that quotes the first
  /// unknown piece.
  [[nodiscard]] virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// The bytes a token stands for; empty for end of text and padding. decode(encode(x)) == x byte for byte.
  [[nodiscard]] virtual std::string bytes(std::int32_t token) const = 0;
  /// How a token is shown: its text, with special tokens by name ("<eot>") and lone bytes as <0xE2>.
  [[nodiscard]] virtual std::string label(std::int32_t token) const = 0;
  [[nodiscard]] virtual std::int32_t end_of_text() const = 0;
  [[nodiscard]] virtual nlohmann::json to_json() const = 0;

  [[nodiscard]] std::string decode(const std::vector<std::int32_t>& tokens) const;
};

std::unique_ptr<Tokenizer> make_byte_tokenizer();
/// Closed vocabulary; encoding takes the longest symbol that matches at each place. Order is kept; end of text is
/// appended.
std::unique_ptr<Tokenizer> make_symbol_tokenizer(std::vector<std::string> symbols);
/// Trains SentencePiece (BPE or unigram) with byte fallback on the given text; deterministic.
std::unique_ptr<Tokenizer> train_sentencepiece(const std::string& text, const std::string& model_type,
                                               std::int64_t vocab);
std::unique_ptr<Tokenizer> tokenizer_from_json(const nlohmann::json& object);

/// Turns a byte stream into valid UTF-8 piece by piece: an incomplete character is held back, a lone byte becomes
/// <0xE2>.
class Utf8Stream {
 public:
  /// Text that is complete after these bytes.
  std::string push(std::string_view bytes);
  /// What is still held back, as <0xNN>.
  std::string finish();

 private:
  std::string pending_;
};

}  // namespace engine::data
