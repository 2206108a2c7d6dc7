#include "engine/data/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <nlohmann/json.hpp>

#include "engine/data/hex.h"
#include "engine/data/utf8.h"
#include "engine/error.h"

namespace engine::data {
namespace {

/// How SentencePiece writes a space inside its pieces; the same character in a text must not pass through it.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

std::string with_spaces(const std::string& piece) {
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    const bool mark = std::string_view(piece).substr(at).starts_with(kSpaceMark);
    text += mark ? ' ' : piece[at];
    at += mark ? kSpaceMark.size() : 1;
  }
  return text;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(std::string model) : model_(std::move(model)) {
    if (model_.empty() || !processor_.LoadFromSerializedProto(model_).ok()) {
      throw FormatError("tokenizer", "the SentencePiece model in it cannot be read; train the tokenizer again");
    }
    byte_tokens_.assign(256, -1);
    for (int id = 0; id < processor_.GetPieceSize(); ++id) add_piece(id);
    end_of_text_ = processor_.eos_id();
    bool complete = end_of_text_ >= 0;
    for (const std::int32_t token : byte_tokens_) complete = complete && token >= 0;
    if (!complete) {
      throw FormatError("tokenizer",
                        "the SentencePiece model in it lacks byte pieces or an end of text; train it again");
    }
  }

  [[nodiscard]] std::string kind() const override { return "sentencepiece"; }
  [[nodiscard]] std::int64_t vocab() const override { return static_cast<std::int64_t>(bytes_.size()); }
  [[nodiscard]] std::int32_t end_of_text() const override { return end_of_text_; }
  [[nodiscard]] nlohmann::json to_json() const override { return {{"kind", kind()}, {"model", to_hex(model_)}}; }

  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t raw = raw_bytes(text.substr(at));
      if (raw == 0) {
        at = next_piece(text, begin, at, tokens);
        continue;
      }
      encode_piece(text.substr(begin, at - begin), tokens);
      for (std::size_t i = 0; i < raw; ++i) tokens.push_back(byte_token(text[at + i]));
      begin = at += raw;
    }
    encode_piece(text.substr(begin), tokens);
    return tokens;
  }

  [[nodiscard]] std::string bytes(std::int32_t token) const override {
    return known(token) ? bytes_[index(token)] : "";
  }

  [[nodiscard]] std::string label(std::int32_t token) const override {
    if (token == end_of_text_) return "<eot>";
    if (!known(token) || bytes_[index(token)].empty()) return "<unk>";
    Utf8Stream stream;
    const std::string text = stream.push(bytes_[index(token)]);
    return text + stream.finish();
  }

 private:
  static std::size_t index(std::int32_t token) { return static_cast<std::size_t>(token); }
  [[nodiscard]] bool known(std::int32_t token) const { return token >= 0 && token < vocab(); }
  [[nodiscard]] std::int32_t byte_token(char byte) const { return byte_tokens_[static_cast<unsigned char>(byte)]; }

  void add_piece(int id) {
    const std::string& piece = processor_.IdToPiece(id);
    if (processor_.IsByte(id)) {
      const auto byte = static_cast<unsigned char>(std::stoi(piece.substr(3, 2), nullptr, 16));
      byte_tokens_[byte] = id;
      bytes_.emplace_back(1, static_cast<char>(byte));
    } else {
      bytes_.push_back(processor_.IsControl(id) || processor_.IsUnknown(id) ? "" : with_spaces(piece));
    }
  }

  /// Bytes at the start of `text` that go in one by one: an invalid byte, a NUL, or the space mark. 0: an ordinary
  /// character.
  static std::size_t raw_bytes(std::string_view text) {
    if (text[0] == '\0') return 1;
    if (text.starts_with(kSpaceMark)) return kSpaceMark.size();
    const Utf8Character character = first_character(text);
    return character.state == Utf8State::complete ? 0 : character.length;
  }

  /// Moves past one ordinary character. Lines are encoded one by one: long texts would make one search too large.
  std::size_t next_piece(std::string_view text, std::size_t& begin, std::size_t at,
                         std::vector<std::int32_t>& tokens) const {
    constexpr std::size_t kLongest = 4096;
    const bool line_end = text[at] == '\n';
    at += first_character(text.substr(at)).length;
    if (line_end || at - begin >= kLongest) {
      encode_piece(text.substr(begin, at - begin), tokens);
      begin = at;
    }
    return at;
  }

  void encode_piece(std::string_view text, std::vector<std::int32_t>& tokens) const {
    if (text.empty()) return;
    std::vector<int> ids;
    if (!processor_.Encode({text.data(), text.size()}, &ids).ok()) {
      throw FormatError("tokenizer", "SentencePiece could not encode a piece of text");
    }
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }

  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  std::vector<std::string> bytes_;         ///< what each token stands for
  std::vector<std::int32_t> byte_tokens_;  ///< the token of each single byte
  std::int32_t end_of_text_ = -1;
};

}  // namespace

std::unique_ptr<Tokenizer> sentencepiece_from_hex(const std::string& hex) {
  return sentencepiece_from_model(from_hex(hex, "tokenizer"));
}

std::unique_ptr<Tokenizer> sentencepiece_from_model(std::string model) {
  return std::make_unique<SentencePieceTokenizer>(std::move(model));
}

}  // namespace engine::data
