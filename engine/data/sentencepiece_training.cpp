// Training SentencePiece: settings under which encoding loses nothing, one thread for the same result every time.
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "engine/data/sentencepiece_tokenizer.h"
#include "engine/data/utf8.h"
#include "engine/error.h"

namespace engine::data {
namespace {

constexpr std::size_t kLongestSentence = 4000;       // bytes; the trainer drops longer ones
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;  // of training text; more costs minutes and changes little

/// Lines, long ones cut between characters, evenly thinned out where the text is very long.
std::vector<std::string> sentences_of(const std::string& text) {
  std::vector<std::string> sentences;
  const std::size_t stride = 1 + text.size() / kMostBytes;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    std::size_t end = std::min(line_end, begin + kLongestSentence);
    if (end < line_end) end = std::max(character_start(text, end), begin + 1);
    if (end > begin && count++ % stride == 0) sentences.push_back(text.substr(begin, end - begin));
    begin = end == line_end ? end + 1 : end;
  }
  return sentences;
}

class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& sentences) : sentences_(sentences) {}
  [[nodiscard]] bool done() const override { return index_ == sentences_.size(); }
  void Next() override { ++index_; }
  [[nodiscard]] const std::string& value() const override { return sentences_[index_]; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  std::size_t index_ = 0;
};

std::unordered_map<std::string, std::string> settings(const std::string& model_type, std::int64_t vocab) {
  return {{"model_type", model_type},
          {"vocab_size", std::to_string(vocab)},
          {"byte_fallback", "true"},
          {"normalization_rule_name", "identity"},
          {"add_dummy_prefix", "false"},
          {"remove_extra_whitespaces", "false"},
          {"allow_whitespace_only_pieces", "true"},
          {"split_digits", "true"},
          {"unk_id", "0"},
          {"eos_id", "1"},
          {"bos_id", "-1"},
          {"pad_id", "-1"},
          {"num_threads", "1"},
          {"minloglevel", "3"}};
}

/// The number after the last `mark` in the trainer's message, or 0.
std::int64_t number_after(const std::string& message, const std::string& mark) {
  const std::size_t at = message.rfind(mark);
  return at == std::string::npos ? 0 : std::strtoll(message.c_str() + at + mark.size(), nullptr, 10);
}

/// The trainer tells in its message which size it could do; that is what the user needs.
[[noreturn]] void refuse(const std::string& message, std::int64_t vocab) {
  const std::string size = std::to_string(vocab);
  const std::int64_t most = number_after(message, "value <= ");
  const std::int64_t least = number_after(message, " vs ");
  if (most > 0) {
    throw ConfigError("data.tokenizer_vocab",
                      "the text is too small for " + size + " pieces; use at most " + std::to_string(most));
  }
  if (least > 0) {
    throw ConfigError("data.tokenizer_vocab", size +
                                                  " pieces are too few for 256 bytes and the characters of the "
                                                  "text; use at least " +
                                                  std::to_string(least));
  }
  throw ConfigError("data.tokenizer_vocab", "SentencePiece could not learn from the text: " + message);
}

}  // namespace

std::unique_ptr<Tokenizer> train_sentencepiece(const std::string& text, const std::string& model_type,
                                               std::int64_t vocab) {
  const std::vector<std::string> sentences = sentences_of(text);
  Sentences iterator(sentences);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings(model_type, vocab), &iterator, &model);
  if (!status.ok()) refuse(status.ToString(), vocab);
  return sentencepiece_from_model(model);
}

}  // namespace engine::data
