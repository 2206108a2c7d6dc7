#include "engine/data/tokenizer_choice.h"

#include "engine/error.h"

namespace engine::data {

std::unique_ptr<Tokenizer> make_text_tokenizer(const DataConfig& config,
                                               const std::function<std::string()>& training_text) {
  if (config.tokenizer == "byte") return make_byte_tokenizer();
  const std::string prefix = "sentencepiece-";
  const std::string type = config.tokenizer.starts_with(prefix) ? config.tokenizer.substr(prefix.size()) : "";
  if (type == "bpe" || type == "unigram") return train_sentencepiece(training_text(), type, config.tokenizer_vocab);
  if (config.tokenizer == "symbols") {
    throw ConfigError("data.tokenizer", "symbols are the words of tasks; for text use byte or sentencepiece-bpe");
  }
  throw ConfigError("data.tokenizer", "\"" + config.tokenizer +
                                          "\" is unknown; use symbols, byte, sentencepiece-bpe or "
                                          "sentencepiece-unigram");
}

}  // namespace engine::data
