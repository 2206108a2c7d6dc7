// Prompts with known answers for a model: held-out ones of a task, or the lines of a file. Knows no Qt: the window and
// the command line take them from here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/task.h"
#include "engine/evaluation.h"
#include "engine/recipe.h"

namespace app {

/// Questions, and the task they come from, which must outlive them.
struct QuestionSet {
  std::unique_ptr<engine::data::Task> task;
  std::string name;  ///< of the task, or the file
  std::vector<engine::Question> questions;
};

/// Whether this is something to read, a pipe too, rather than the name of a task.
bool names_a_file(const std::string& task_or_file);

/// Held-out questions of a task (empty: the recipe's first) as the run was trained on it where it was, otherwise with
/// the task's own defaults; or the first `rows` of a JSON Lines file. ConfigError, naming `field`, when the recipe has
/// no task to take.
QuestionSet find_questions(const engine::DataConfig& data, const std::string& task_or_file, std::uint64_t seed,
                           std::int64_t rows, const std::string& field = "task");

/// Each prompt's token ids, cut to `keep` tokens unless that is 0.
std::vector<std::vector<std::int32_t>> prompt_tokens(const QuestionSet& set, const engine::data::Tokenizer& tokenizer,
                                                     std::int64_t keep);

}  // namespace app
