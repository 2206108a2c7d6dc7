#include "engine/data/task_registers.h"

#include <utility>

#include "engine/data/held_out.h"
#include "engine/data/task_text.h"

namespace engine::data {
namespace {

std::uint64_t schedule_of(const RegistersContent& content) {
  ContentHash hash;
  hash.add("registers").add(content.registers);
  for (const RegisterWrite& write : content.writes) {
    hash.add(write.name).add(write.value ^ content.writes.front().value);
  }
  return hash.value();
}

/// The schedule as letters: register and value, the first value counting as 0.
std::string schedule_name(const RegistersContent& content) {
  std::string name = std::to_string(content.registers) + ":";
  for (const RegisterWrite& write : content.writes) {
    name += std::to_string(write.name + 1) + ((write.value ^ content.writes.front().value) == 0 ? "a" : "b");
  }
  return name;
}

std::string register_name(std::int64_t index) { return "r" + std::to_string(index + 1); }

class RegistersTask : public Task {
 public:
  RegistersTask(TaskOptions& options, double validation_share)
      : registers_(options.integers("registers", {1, 2, 4, 8}, 1, 8)),
        assignments_(options.integers("assignments", {16}, 1, 256)),
        distractors_(options.integers("distractors", {8}, 0, 4096)),
        field_(options.field("assignments")),
        held_out_(HeldOut::by_share(validation_share)) {
    check();
  }

  [[nodiscard]] std::string name() const override { return "registers"; }

  [[nodiscard]] std::vector<std::string> symbols() const override {
    std::vector<std::string> result = {"scratch", " =",    " +=", "\n",    " 0",  " 1",
                                       "query",   "Value", ":",   " zero", " one"};
    for (std::int64_t i = 0; i < 8; ++i) {
      result.push_back(register_name(i));
      result.push_back(" " + register_name(i));
    }
    return result;
  }

  [[nodiscard]] Example example(std::uint64_t seed, Split split, std::uint64_t index) const override {
    kernels::PhiloxReader random = example_random(seed, split, index);
    const std::int64_t registers = pick(random, registers_);
    RegistersContent content = schedule(random, registers, pick(random, assignments_), split);
    content.updates = pick(random, distractors_);
    content.query = random.next_below(static_cast<std::uint32_t>(registers));
    return registers_example(content);
  }

 private:
  [[nodiscard]] RegistersContent schedule(kernels::PhiloxReader& random, std::int64_t registers,
                                          std::int64_t assignments, Split split) const {
    const auto draw = [&] {
      return RegistersContent{registers, random_writes(random, registers, assignments), 0, 0, 0};
    };
    return draw_of_split(held_out_, split, field_, draw, schedule_of);
  }

  /// Every setting must leave schedules for both splits.
  void check() const {
    for (const std::int64_t registers : registers_) {
      for (const std::int64_t assignments : assignments_) {
        if (assignments % registers != 0) {
          throw ConfigError(field_, std::to_string(assignments) + " is not a multiple of " + std::to_string(registers) +
                                        " registers; use a multiple of each of them");
        }
        for (const Split split : {Split::training, Split::validation}) {
          kernels::PhiloxReader random = example_random(0, split, 0);
          static_cast<void>(schedule(random, registers, assignments, split));
        }
      }
    }
  }

  std::vector<std::int64_t> registers_;
  std::vector<std::int64_t> assignments_;
  std::vector<std::int64_t> distractors_;
  std::string field_;
  HeldOut held_out_;
};

}  // namespace

Example registers_example(const RegistersContent& content) {
  Example example;
  example.prompt = assignment_line("scratch", 0) + null_updates(content.padding);
  std::int64_t value = 0;
  for (const RegisterWrite& write : content.writes) {
    example.prompt += assignment_line(register_name(write.name), write.value);
    if (write.name == content.query) value = write.value;
  }
  example.prompt += null_updates(content.updates) + "query = " + register_name(content.query) + "\nValue:";
  example.answer = value == 0 ? "zero" : "one";
  example.completion = " " + example.answer;
  example.group = schedule_name(content);
  return example;
}

std::vector<RegisterWrite> random_writes(kernels::PhiloxReader& random, std::int64_t registers,
                                         std::int64_t assignments) {
  std::vector<RegisterWrite> writes;
  for (std::int64_t i = 0; i < assignments; ++i) writes.push_back({i % registers, random.next_below(2)});
  for (std::size_t i = writes.size(); i > 1; --i) {
    std::swap(writes[i - 1], writes[random.next_below(static_cast<std::uint32_t>(i))]);
  }
  return writes;
}

std::unique_ptr<Task> make_registers_task(TaskOptions& options, double validation_share) {
  return std::make_unique<RegistersTask>(options, validation_share);
}

}  // namespace engine::data
