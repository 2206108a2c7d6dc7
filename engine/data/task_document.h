// A task's example as tokens with their roles.
#pragma once

#include "engine/data/batch_rows.h"
#include "engine/data/task.h"

namespace engine::data {

/// Prompt and completion are encoded apart, as they are when a model is asked; end of text comes last. A token belongs
/// to an answer if any of its bytes does. ConfigError when a hidden answer is not one token or ends inside one.
Document task_document(const Example& example, const Tokenizer& tokenizer);

}  // namespace engine::data
