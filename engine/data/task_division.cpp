#include "engine/data/task_division.h"

#include <numeric>
#include <string>
#include <vector>

#include "engine/data/held_out.h"
#include "engine/data/task_text.h"

namespace engine::data {
namespace {

std::uint64_t value_of(const DivisionContent& content) {
  const std::int64_t divisor = std::gcd(content.numerator, content.denominator);
  return ContentHash().add("division").add(content.numerator / divisor).add(content.denominator / divisor).value();
}

HeldOut values_held_out(std::int64_t most, double share, const std::string& field) {
  std::vector<std::uint64_t> values;
  for (std::int64_t below = 2; below <= most; ++below) {
    for (std::int64_t above = 1; above < below; ++above) {
      if (std::gcd(above, below) == 1) values.push_back(value_of({above, below, 0}));
    }
  }
  return HeldOut::among_enough(std::move(values), share, field, "different fractions");
}

class DivisionTask : public Task {
 public:
  DivisionTask(TaskOptions& options, double validation_share, DivisionTrace trace)
      : trace_(trace),
        most_(options.integer("max_denominator", 30, 3, 999)),
        decimals_(options.integers("decimals", {4}, 1, 100)),
        field_(options.field("max_denominator")),
        held_out_(values_held_out(most_, validation_share, field_)) {}

  [[nodiscard]] std::string name() const override {
    if (trace_ == DivisionTrace::none) return "division-direct";
    return trace_ == DivisionTrace::terse ? "division-terse" : "division";
  }

  [[nodiscard]] std::vector<std::string> symbols() const override {
    std::vector<std::string> result = {"Write", " with", " decimals", ".", "/", "\n", "Answer", ":", " "};
    if (trace_ == DivisionTrace::terse) result.insert(result.end(), {" r"});
    if (trace_ == DivisionTrace::full) result.insert(result.end(), {" divided", " by", " is", " remainder"});
    for (const std::string& numeral : spaced_numerals(10)) result.push_back(numeral.substr(1));
    return result;
  }

  [[nodiscard]] Example example(std::uint64_t seed, Split split, std::uint64_t index) const override {
    kernels::PhiloxReader random = example_random(seed, split, index);
    const std::int64_t decimals = pick(random, decimals_);
    const auto draw = [&] {
      const std::int64_t below = 2 + random.next_below(static_cast<std::uint32_t>(most_ - 1));
      return DivisionContent{1 + random.next_below(static_cast<std::uint32_t>(below - 1)), below, decimals};
    };
    return division_example(draw_of_split(held_out_, split, field_, draw, value_of), trace_);
  }

 private:
  DivisionTrace trace_;
  std::int64_t most_;
  std::vector<std::int64_t> decimals_;
  std::string field_;
  HeldOut held_out_;
};

std::string step_line(std::int64_t part, std::int64_t divisor, DivisionTrace trace) {
  if (trace == DivisionTrace::none) return "";
  const std::string digit = std::to_string(part / divisor);
  const std::string rest = std::to_string(part % divisor);
  if (trace == DivisionTrace::terse) return digit + " r " + rest + "\n";
  return std::to_string(part) + " divided by " + std::to_string(divisor) + " is " + digit + " remainder " + rest + "\n";
}

}  // namespace

Example division_example(const DivisionContent& content, DivisionTrace trace) {
  const std::int64_t divisor = std::gcd(content.numerator, content.denominator);
  Example example;
  example.prompt = "Write " + std::to_string(content.numerator) + "/" + std::to_string(content.denominator) + " with " +
                   std::to_string(content.decimals) + " decimals.\n";
  example.answer = "0.";
  std::int64_t remainder = content.numerator;
  for (std::int64_t i = 0; i < content.decimals && remainder != 0; ++i) {
    const std::int64_t part = remainder * 10;
    example.completion += step_line(part, content.denominator, trace);
    example.answer += std::to_string(part / content.denominator);
    remainder = part % content.denominator;
  }
  example.completion += "Answer: " + example.answer;
  example.group = std::to_string(content.numerator / divisor) + "/" + std::to_string(content.denominator / divisor);
  return example;
}

std::unique_ptr<Task> make_division_task(TaskOptions& options, double validation_share) {
  return std::make_unique<DivisionTask>(options, validation_share, DivisionTrace::full);
}

std::unique_ptr<Task> make_terse_division_task(TaskOptions& options, double validation_share) {
  return std::make_unique<DivisionTask>(options, validation_share, DivisionTrace::terse);
}

std::unique_ptr<Task> make_direct_division_task(TaskOptions& options, double validation_share) {
  return std::make_unique<DivisionTask>(options, validation_share, DivisionTrace::none);
}

}  // namespace engine::data
