// The paper's example sets (engine/data/probe_set.h) as tokens of one model: what a probe is measured on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/tokenizer.h"
#include "engine/probe_reading.h"
#include "engine/recipe.h"

namespace engine {

struct ProbeRequest {
  std::string task = "completion";    ///< completion, memory, registers or overwrites
  std::vector<std::int64_t> lengths;  ///< null updates or scratch operations; empty: those of the paper that fit
  std::int64_t most_examples = 0;     ///< 0: all; otherwise whole groups, evenly spaced over the set
  std::uint64_t seed = 1;
};

struct ProbeTask {
  std::string slice_title;  ///< what a slice's value counts: "distractors", "registers" or "writes"
  std::vector<ProbePrompt> prompts;
  AnswerTokens answers;
  std::vector<std::string> answer_words;  ///< of label 0 and label 1
  std::vector<std::int64_t> lengths;      ///< that were used; empty for registers and overwrites
  std::int64_t longest_prompt = 0;        ///< tokens
  bool trained = false;                   ///< the model was trained on this task
  bool fits_training = false;             ///< every prompt, its answer and end of text fit the rows of training
};

std::vector<std::string> probe_task_names();

/// `data` is what the model was trained on: it gives the numerals, the row length and, where fewer than two of the
/// paper's lengths fit, the lengths that were trained. ConfigError for an unknown task, for lengths where the task has
/// none, and for a vocabulary that lacks a word of the task (naming both).
ProbeTask make_probe_task(const ProbeRequest& request, const data::Tokenizer& tokenizer, const DataConfig& data);

}  // namespace engine
