// Batches of plain text: windows of documents, every next token a target.
#pragma once

#include <memory>

#include "engine/data/batch_source.h"
#include "engine/data/corpus.h"

namespace engine::data {

/// Training rows are windows of `config.seq` tokens at random places of the training text, documents drawn by the rows
/// they would fill; shorter documents stand whole, with packing one after the other. Validation rows are the held-out
/// stretches tile by tile, from the first again after the last. Without `tokenizer`, the one that config.tokenizer
/// names is made, SentencePiece from the training text alone. ConfigError naming the setting when either side has less
/// than two tokens.
std::unique_ptr<BatchSource> make_text_source(const DataConfig& config, const Corpus& corpus,
                                              std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace engine::data
