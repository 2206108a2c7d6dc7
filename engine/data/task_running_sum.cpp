#include "engine/data/task_running_sum.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/data/held_out.h"
#include "engine/data/task_text.h"

namespace engine::data {
namespace {

/// Hash of the first `count` digits.
std::uint64_t beginning_of(const RunningSumContent& content, std::int64_t count) {
  ContentHash hash;
  hash.add("running-sum").add(content.modulo);
  for (std::int64_t i = 0; i < count; ++i) hash.add(content.digits[static_cast<std::size_t>(i)]);
  return hash.value();
}

double string_count(std::int64_t modulo, std::int64_t length) {
  return std::pow(static_cast<double>(modulo), static_cast<double>(length));
}

/// How many first digits decide the side of a string whose every total is an answer.
std::int64_t deciding_digits(std::int64_t modulo, std::int64_t most, double share) {
  std::int64_t count = 1;
  while (count < most && share * string_count(modulo, count) < 8.0) ++count;
  return count;
}

/// Which strings of this length are held out: an exact share where they can be listed.
HeldOut strings_held_out(std::int64_t modulo, std::int64_t length, double share) {
  constexpr double kMostListed = 10000.0;
  const double count = string_count(modulo, length);
  if (count > kMostListed) return HeldOut::by_share(share);
  std::vector<std::uint64_t> contents;
  for (std::int64_t number = 0; number < static_cast<std::int64_t>(count); ++number) {
    RunningSumContent content{modulo, {}};
    for (std::int64_t i = 0, rest = number; i < length; ++i, rest /= modulo) content.digits.push_back(rest % modulo);
    contents.push_back(beginning_of(content, length));
  }
  return HeldOut::among(contents, share);
}

SumSupervision supervision_of(const std::string& word) {
  if (word == "every") return SumSupervision::every;
  return word == "hidden" ? SumSupervision::hidden : SumSupervision::end;
}

/// "\n2 makes 2\n1 makes 0 ..." after `head`, all but the last total, each of them marked as an answer.
void write_totals(Example& example, const std::vector<std::int64_t>& digits, const std::vector<std::int64_t>& totals) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    example.prompt += "\n" + std::to_string(digits[i]) + " makes";
    if (i + 1 == digits.size()) return;
    example.prompt += " " + std::to_string(totals[i]);
    example.prompt_answers.push_back({example.prompt.size() - 1, example.prompt.size()});
  }
}

/// ": 2 1 2 0 makes" after `head`, with the total after each digit as a hidden answer.
void hide_totals(Example& example, const std::vector<std::int64_t>& digits, const std::vector<std::int64_t>& totals) {
  example.prompt += ":";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    example.prompt += " " + std::to_string(digits[i]);
    example.hidden_answers.push_back({example.prompt.size(), " " + std::to_string(totals[i])});
  }
  example.prompt += " makes";
}

std::vector<std::int64_t> totals_of(const RunningSumContent& content) {
  std::vector<std::int64_t> totals;
  std::int64_t total = 0;
  for (const std::int64_t digit : content.digits) totals.push_back(total = (total + digit) % content.modulo);
  return totals;
}

class RunningSumTask : public Task {
 public:
  RunningSumTask(TaskOptions& options, double validation_share)
      : modulo_(options.integer("modulo", 3, 2, 10)),
        least_(options.integer("min_length", 1, 1, 4096)),
        supervision_(supervision_of(options.word("supervision", "end", {"end", "every", "hidden"}))),
        field_(options.field("max_length")) {
    const std::int64_t most = options.integer("max_length", 8, 1, 4096);
    if (most < least_) throw ConfigError(field_, "this is below min_length; use at least " + std::to_string(least_));
    const bool beginnings = supervision_ != SumSupervision::end;
    deciding_ = beginnings ? deciding_digits(modulo_, most, validation_share) : most;
    for (std::int64_t length = least_; length <= most; ++length) {
      const bool undecided = beginnings && length < deciding_;
      held_out_.push_back(undecided ? HeldOut() : strings_held_out(modulo_, deciding(length), validation_share));
      if (!held_out_.back().empty()) validated_.push_back(length);
      trained_.push_back(length);
    }
    if (validated_.empty()) {
      throw ConfigError(field_, "strings of up to " + std::to_string(most) +
                                    " digits are too few to hold some out; use more digits or a larger "
                                    "data.validation_share");
    }
  }

  [[nodiscard]] std::string name() const override { return "running-sum"; }

  [[nodiscard]] std::vector<std::string> symbols() const override {
    std::vector<std::string> result = {"Add", " modulo", ":", " makes"};
    if (supervision_ != SumSupervision::hidden) result.insert(result.end(), {"\n", "Total"});
    for (const std::string& numeral : spaced_numerals(modulo_)) {
      result.push_back(numeral);
      if (supervision_ == SumSupervision::every) result.push_back(numeral.substr(1));
    }
    result.push_back(" " + std::to_string(modulo_));
    return result;
  }

  [[nodiscard]] Example example(std::uint64_t seed, Split split, std::uint64_t index) const override {
    kernels::PhiloxReader random = example_random(seed, split, index);
    const std::int64_t length = pick(random, split == Split::training ? trained_ : validated_);
    const auto draw = [&] {
      RunningSumContent content{modulo_, {}};
      for (std::int64_t i = 0; i < length; ++i) {
        content.digits.push_back(random.next_below(static_cast<std::uint32_t>(modulo_)));
      }
      return content;
    };
    const auto hash = [&](const RunningSumContent& content) { return beginning_of(content, deciding(length)); };
    const HeldOut& held_out = held_out_[static_cast<std::size_t>(length - least_)];
    return running_sum_example(draw_of_split(held_out, split, field_, draw, hash), supervision_);
  }

 private:
  [[nodiscard]] std::int64_t deciding(std::int64_t length) const { return std::min(length, deciding_); }

  std::int64_t modulo_;
  std::int64_t least_;
  SumSupervision supervision_;
  std::int64_t deciding_ = 0;  ///< digits that decide the side of a string
  std::string field_;
  std::vector<HeldOut> held_out_;  ///< one a length, from least_ on
  std::vector<std::int64_t> trained_;
  std::vector<std::int64_t> validated_;  ///< lengths of which something is held out
};

}  // namespace

Example running_sum_example(const RunningSumContent& content, SumSupervision supervision) {
  Example example;
  const std::vector<std::int64_t> totals = totals_of(content);
  for (const std::int64_t digit : content.digits) example.group += " " + std::to_string(digit);
  example.prompt = "Add modulo " + std::to_string(content.modulo);
  if (supervision == SumSupervision::every) write_totals(example, content.digits, totals);
  if (supervision == SumSupervision::hidden) hide_totals(example, content.digits, totals);
  if (supervision == SumSupervision::end) example.prompt += ":" + example.group + "\nTotal:";
  example.answer = std::to_string(totals.empty() ? 0 : totals.back());
  example.completion = " " + example.answer;
  return example;
}

std::unique_ptr<Task> make_running_sum_task(TaskOptions& options, double validation_share) {
  return std::make_unique<RunningSumTask>(options, validation_share);
}

}  // namespace engine::data
