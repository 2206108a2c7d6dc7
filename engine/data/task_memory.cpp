#include "engine/data/task_memory.h"

#include <string>

#include "engine/data/held_out.h"
#include "engine/data/task_text.h"

namespace engine::data {
namespace {

std::uint64_t content_of(const MemoryContent& content) {
  return ContentHash().add("memory").add(content.scratch).add(content.spare).value();
}

class MemoryTask : public Task {
 public:
  MemoryTask(TaskOptions& options, double validation_share)
      : numerals_(options.integer("numerals", 16, 2, 100)),
        distractors_(options.integers("distractors", {0, 1, 2, 4}, 0, 4096)),
        field_(options.field("numerals")),
        held_out_(hold_out(validation_share)) {}

  [[nodiscard]] std::string name() const override { return "memory"; }

  [[nodiscard]] std::vector<std::string> symbols() const override {
    std::vector<std::string> result = {"state", "scratch", "spare",  " =", " +=",   " -=", "\n",
                                       "#",     " final",  " state", ":",  " zero", " one"};
    for (const std::string& numeral : spaced_numerals(numerals_ < 4 ? 4 : numerals_)) result.push_back(numeral);
    return result;
  }

  [[nodiscard]] Example example(std::uint64_t seed, Split split, std::uint64_t index) const override {
    kernels::PhiloxReader random = example_random(seed, split, index);
    const auto count = static_cast<std::uint32_t>(numerals_);
    const std::int64_t operations = pick(random, distractors_);
    const auto draw = [&] {
      return MemoryContent{random.next_below(2), random.next_below(count), random.next_below(count), {}};
    };
    MemoryContent content = draw_of_split(held_out_, split, field_, draw, content_of);
    content.operations = random_operations(random, operations);
    return memory_example(content);
  }

 private:
  [[nodiscard]] HeldOut hold_out(double share) const {
    std::vector<std::uint64_t> contents;
    for (std::int64_t i = 0; i < numerals_ * numerals_; ++i) {
      contents.push_back(content_of({0, i / numerals_, i % numerals_, {}}));
    }
    return HeldOut::among_enough(contents, share, field_, "pairs of start values");
  }

  std::int64_t numerals_;
  std::vector<std::int64_t> distractors_;
  std::string field_;
  HeldOut held_out_;
};

}  // namespace

Example memory_example(const MemoryContent& content) {
  Example example;
  example.prompt = assignment_line("state", content.state) + assignment_line("scratch", content.scratch) +
                   assignment_line("spare", content.spare);
  for (const ScratchOperation& operation : content.operations) {
    example.prompt += operation.on_spare ? "spare" : "scratch";
    example.prompt += operation.subtract ? " -= " : " += ";
    example.prompt += std::to_string(operation.operand) + "\n";
  }
  example.prompt += "# final state:";
  example.answer = content.state == 0 ? "zero" : "one";
  example.completion = " " + example.answer;
  example.group = std::to_string(content.scratch) + "," + std::to_string(content.spare);
  return example;
}

std::vector<ScratchOperation> random_operations(kernels::PhiloxReader& random, std::int64_t count) {
  std::vector<ScratchOperation> operations;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t kind = random.next_below(12);
    operations.push_back({kind % 2 == 1, kind / 2 % 2 == 1, 1 + kind / 4});
  }
  return operations;
}

std::unique_ptr<Task> make_memory_task(TaskOptions& options, double validation_share) {
  return std::make_unique<MemoryTask>(options, validation_share);
}

}  // namespace engine::data
