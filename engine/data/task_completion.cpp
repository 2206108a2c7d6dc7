#include "engine/data/task_completion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/data/held_out.h"
#include "engine/data/task_text.h"

namespace engine::data {
namespace {

std::uint64_t content_of(const CompletionContent& content) {
  const auto [low, high] = std::minmax(content.required, content.completed);
  ContentHash hash;
  hash.add("completion").add(low).add(high);
  if (low == high) hash.add(content.scratch);
  return hash.value();
}

class CompletionTask : public Task {
 public:
  CompletionTask(TaskOptions& options, double validation_share)
      : numerals_(options.integer("numerals", 32, 3, 100)),
        distractors_(options.integers("distractors", {0, 1, 2, 4}, 0, 4096)),
        field_(options.field("numerals")),
        more_(hold_out(false, validation_share)),
        done_(hold_out(true, validation_share)) {}

  [[nodiscard]] std::string name() const override { return "completion"; }

  [[nodiscard]] std::vector<std::string> symbols() const override {
    std::vector<std::string> result = {
        "required", "completed", "scratch", " =", " +=", "\n", "Status", ":", " done", " more"};
    for (const std::string& numeral : spaced_numerals(numerals_)) result.push_back(numeral);
    return result;
  }

  [[nodiscard]] Example example(std::uint64_t seed, Split split, std::uint64_t index) const override {
    kernels::PhiloxReader random = example_random(seed, split, index);
    const std::int64_t updates = pick(random, distractors_);
    const bool done = random.next_below(2) == 0;
    const auto draw = [&] { return draw_numbers(random, done); };
    CompletionContent content = draw_of_split(done ? done_ : more_, split, field_, draw, content_of);
    content.updates = updates;
    return completion_example(content);
  }

 private:
  [[nodiscard]] CompletionContent draw_numbers(kernels::PhiloxReader& random, bool done) const {
    const auto count = static_cast<std::uint32_t>(numerals_);
    CompletionContent content;
    content.required = random.next_below(count);
    content.completed = content.required;
    if (!done) content.completed = (content.required + 1 + random.next_below(count - 1)) % numerals_;
    content.scratch = random.next_below(count);
    return content;
  }

  /// All contents with one answer, and the share of them that is held out.
  [[nodiscard]] HeldOut hold_out(bool done, double share) const {
    std::vector<std::uint64_t> contents;
    for (std::int64_t a = 0; a < numerals_; ++a) {
      for (std::int64_t b = done ? 0 : a + 1; b < numerals_; ++b) {
        contents.push_back(content_of(done ? CompletionContent{a, a, b, 0} : CompletionContent{a, b, 0, 0}));
      }
    }
    return HeldOut::among_enough(contents, share, field_, done ? "numbers with a scratch value" : "pairs of numbers");
  }

  std::int64_t numerals_;
  std::vector<std::int64_t> distractors_;
  std::string field_;
  HeldOut more_;
  HeldOut done_;
};

}  // namespace

Example completion_example(const CompletionContent& content) {
  const auto [low, high] = std::minmax(content.required, content.completed);
  Example example;
  example.prompt = assignment_line("required", content.required) + assignment_line("completed", content.completed) +
                   assignment_line("scratch", content.scratch) + null_updates(content.updates) + "Status:";
  example.answer = content.required == content.completed ? "done" : "more";
  example.completion = " " + example.answer;
  example.group = std::to_string(low) + "," + std::to_string(high);
  return example;
}

std::unique_ptr<Task> make_completion_task(TaskOptions& options, double validation_share) {
  return std::make_unique<CompletionTask>(options, validation_share);
}

}  // namespace engine::data
