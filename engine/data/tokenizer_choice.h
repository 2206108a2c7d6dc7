// Makes the tokenizer that the data settings name, for text of any kind.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/data/tokenizer.h"
#include "engine/recipe.h"

namespace engine::data {

/// byte, sentencepiece-bpe or sentencepiece-unigram; `training_text` is called only for the latter two. ConfigError
/// naming data.tokenizer for anything else: symbols are the closed vocabulary of tasks alone.
std::unique_ptr<Tokenizer> make_text_tokenizer(const DataConfig& config,
                                               const std::function<std::string()>& training_text);

}  // namespace engine::data
