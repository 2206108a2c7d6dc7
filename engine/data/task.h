// A task makes prompts with known answers, without end and reproducibly; its text trains models and its answers score
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace engine::data {

/// No training example has the content of a validation example.
enum class Split { training, validation };

/// Bytes begin .. end - 1 of a text.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What a model is to know once it has read the first `end` bytes of a prompt, though the prompt never says it.
struct HiddenAnswer {
  std::size_t end = 0;
  std::string text;
};

struct Example {
  std::string prompt;
  std::string completion;  ///< what should follow: trace and answer; end of text comes after it
  std::string answer;      ///< the scored answer: a suffix of `completion` (or all of it), without surrounding spaces
  std::string group;       ///< examples of one group must never span two folds
  std::vector<TextSpan>
      prompt_answers;  ///< answers inside the prompt (a running total), weighted as answers in training
  std::vector<HiddenAnswer> hidden_answers;  ///< in order; in training each takes the place of the next token as the
                                             ///< target of the token that ends there, weighted as an answer
};

class Task {
 public:
  virtual ~Task() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Closed vocabulary of this task for the symbol tokenizer.
  [[nodiscard]] virtual std::vector<std::string> symbols() const = 0;
  /// Example number `index` of a split: a pure function of its arguments.
  [[nodiscard]] virtual Example example(std::uint64_t seed, Split split, std::uint64_t index) const = 0;
  /// Whether generated text (without end of text) ends in the right answer, spaces aside, as a whole word or number.
  [[nodiscard]] virtual bool correct(const Example& example, std::string_view generated) const;
};

/// Whether `generated` ends in `answer`, spaces at the end aside, as a whole word or number ("13" does not end in 3).
bool ends_in_answer(std::string_view generated, std::string_view answer);

/// Names: completion, memory, registers, running-sum, division, division-terse, division-direct. `options` are the
/// task's own, told in task_NAME.h, beside "name" and "share" (unknown members: ConfigError naming field.member).
/// `validation_share` of the content is held out (0 < share < 1). `field` is where the options stand in the recipe,
/// such as "data.tasks[0]".
std::unique_ptr<Task> make_task(const nlohmann::json& options, double validation_share,
                                const std::string& field = "data.tasks");
std::vector<std::string> task_names();

}  // namespace engine::data
