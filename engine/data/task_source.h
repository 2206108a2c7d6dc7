// Batches of task examples: one example a row, or several packed.
#pragma once

#include <memory>

#include "engine/data/batch_source.h"

namespace engine::data {

/// A mixture of the tasks in `config.tasks`, each row (packed: each document) drawing its task by the shares. An
/// example that does not fit into a row is passed over for the next one of the same task. Without `tokenizer`, the one
/// that config.tokenizer names is made; SentencePiece learns from training examples.
std::unique_ptr<BatchSource> make_task_source(const DataConfig& config, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace engine::data
