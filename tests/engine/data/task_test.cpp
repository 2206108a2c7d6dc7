#include "engine/data/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/data/task_completion.h"
#include "engine/data/task_division.h"
#include "engine/data/task_memory.h"
#include "engine/data/task_registers.h"
#include "engine/data/task_running_sum.h"
#include "engine/data/tokenizer.h"
#include "engine/error.h"

namespace engine::data {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Task> task_of(const std::string& options, double share = 0.1) {
  return make_task(nlohmann::json::parse(options), share, "data.tasks[2]");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string error_of(const std::string& options, double share = 0.1) {
  try {
    task_of(options, share);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

/// Works out an example's answer by reading its prompt like a person: the oracle of the generators.
std::string answer_by_reading(const std::string& name, const std::string& prompt) {
  std::map<std::string, std::int64_t> values;
  for (const std::string& line : lines_of(prompt)) {
    std::istringstream words(line);
    std::string variable;
    std::string operation;
    std::string value;
    words >> variable >> operation >> value;
    if (operation == "=" && value[0] == 'r') values[variable] = values[value];
    if (operation == "=" && value[0] != 'r') values[variable] = std::stoll(value);
    if (operation == "+=") values[variable] += std::stoll(value);
    if (operation == "-=") values[variable] -= std::stoll(value);
  }
  if (name == "completion") return values["required"] == values["completed"] ? "done" : "more";
  if (name == "memory") return values["state"] == 0 ? "zero" : "one";
  return values["query"] == 0 ? "zero" : "one";
}

/// Settings under which each task is tested.
std::vector<std::string> settings() {
  return {R"({"name": "completion"})",
          R"({"name": "completion", "numerals": 5, "distractors": [0, 3]})",
          R"({"name": "memory"})",
          R"({"name": "memory", "numerals": 6, "distractors": 8})",
          R"({"name": "registers"})",
          R"({"name": "registers", "registers": [2, 4], "assignments": [8, 12], "distractors": [0, 1]})",
          R"({"name": "running-sum"})",
          R"({"name": "running-sum", "modulo": 7, "min_length": 3, "max_length": 20, "supervision": "every"})",
          R"({"name": "running-sum", "modulo": 2, "min_length": 2, "max_length": 9, "supervision": "hidden"})",
          R"({"name": "division"})",
          R"({"name": "division-terse", "max_denominator": 99, "decimals": [2, 8]})",
          R"({"name": "division-direct", "decimals": [6]})"};
}

class Tasks : public ::testing::TestWithParam<std::string> {};

TEST_P(Tasks, AreFunctionsOfTheirArguments) {
  const auto task = task_of(GetParam());
  const auto same = task_of(GetParam());
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Example first = task->example(7, Split::training, i);
    const Example again = same->example(7, Split::training, i);
    EXPECT_EQ(first.prompt + first.completion, again.prompt + again.completion);
    seen.insert(first.prompt);
  }
  EXPECT_GT(seen.size(), 15U);
  EXPECT_NE(task->example(7, Split::training, 1).prompt + task->example(7, Split::training, 2).prompt,
            task->example(8, Split::training, 1).prompt + task->example(8, Split::training, 2).prompt);
}

TEST_P(Tasks, CompletionsEndInTheAnswer) {
  const auto task = task_of(GetParam());
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Example example = task->example(1, i % 2 == 0 ? Split::training : Split::validation, i);
    EXPECT_TRUE(example.completion.ends_with(example.answer));
    EXPECT_TRUE(task->correct(example, example.completion));
    EXPECT_TRUE(task->correct(example, example.completion + "\n"));
    EXPECT_FALSE(task->correct(example, example.completion + " x"));
    EXPECT_FALSE(task->correct(example, ""));
    EXPECT_FALSE(example.group.empty());
    EXPECT_NE(example.answer.front(), ' ');
  }
}

TEST_P(Tasks, SymbolsWriteEveryExample) {
  const auto task = task_of(GetParam());
  std::vector<std::string> symbols;
  std::set<std::string> seen;
  for (const std::string& symbol : task->symbols()) {
    if (seen.insert(symbol).second) symbols.push_back(symbol);
  }
  const auto tokenizer = make_symbol_tokenizer(symbols);
  std::set<std::int32_t> used;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Example example = task->example(1, Split::training, i);
    const std::string text = example.prompt + example.completion;
    const auto tokens = tokenizer->encode(text);
    EXPECT_EQ(tokenizer->decode(tokens), text);
    used.insert(tokens.begin(), tokens.end());
  }
  EXPECT_LE(tokenizer->vocab(), 64);
  EXPECT_GE(static_cast<double>(used.size()), 0.6 * static_cast<double>(tokenizer->vocab()));
}

TEST_P(Tasks, NoTrainingExampleHasAValidationContent) {
  const auto task = task_of(GetParam());
  std::set<std::string> training;
  std::set<std::string> training_answers;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const Example example = task->example(i % 3, Split::training, i);
    training.insert(example.prompt);
    training.insert(example.group + "|" + (task->name() == "completion" ? example.answer : ""));
  }
  std::set<std::string> validation;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Example example = task->example(0, Split::validation, i);
    EXPECT_EQ(training.count(example.prompt), 0U) << example.prompt;
    validation.insert(example.group);
    // For "done" the content is the number with its scratch value, which the prompt has; elsewhere it is the group.
    if (example.answer != "done") {
      EXPECT_EQ(training.count(example.group + "|" + (task->name() == "completion" ? example.answer : "")), 0U)
          << example.group;
    }
  }
  EXPECT_GE(validation.size(), 1U);
}

TEST_P(Tasks, RefuseUnknownOptions) {
  nlohmann::json options = nlohmann::json::parse(GetParam());
  options["distractor"] = 3;
  EXPECT_THAT(error_of(options.dump()), HasSubstr("data.tasks[2].distractor"));
}

INSTANTIATE_TEST_SUITE_P(Settings, Tasks, ::testing::ValuesIn(settings()));

class TwoAnswers : public ::testing::TestWithParam<std::string> {};

TEST_P(TwoAnswers, AreRightAndBalancedInBothSplits) {
  const auto task = task_of(std::string(R"({"name": ")") + GetParam() + R"("})");
  for (const Split split : {Split::training, Split::validation}) {
    std::map<std::string, int> count;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Example example = task->example(5, split, i);
      EXPECT_EQ(example.answer, answer_by_reading(task->name(), example.prompt)) << example.prompt;
      EXPECT_EQ(example.completion, " " + example.answer);
      ++count[example.answer];
    }
    ASSERT_EQ(count.size(), 2U);
    // Four standard deviations of a fair coin thrown 2,000 times.
    for (const auto& [answer, times] : count) EXPECT_NEAR(times, 1000, 90) << answer;
  }
}

INSTANTIATE_TEST_SUITE_P(Names, TwoAnswers, ::testing::Values("completion", "memory", "registers"));

TEST(CompletionTask, WritesTheTextOfTheHeader) {
  const Example example = completion_example({7, 12, 3, 1});
  EXPECT_EQ(example.prompt, "required = 7\ncompleted = 12\nscratch = 3\nscratch += 0\nStatus:");
  EXPECT_EQ(example.completion, " more");
  EXPECT_EQ(example.group, "7,12");
  EXPECT_EQ(completion_example({12, 7, 3, 1}).group, "7,12");
  EXPECT_EQ(completion_example({9, 9, 3, 0}).answer, "done");
}

TEST(CompletionTask, TrainsEveryNumberAsEqualToItself) {
  const auto task = task_of(R"({"name": "completion"})");
  std::set<std::string> equal;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Example example = task->example(1, Split::training, i);
    if (example.answer == "done") equal.insert(example.group);
  }
  EXPECT_EQ(equal.size(), 32U);
}

TEST(CompletionTask, HoldsOutEqualNumbersWithTheirScratchValue) {
  const auto task = task_of(R"({"name": "completion"})");
  const auto content = [](const Example& example) {
    const std::vector<std::string> lines = lines_of(example.prompt);
    return lines[0] + "," + lines[2];
  };
  std::set<std::string> training;
  std::set<std::string> validation;
  for (std::uint64_t i = 0; i < 8000; ++i) {
    const Example seen = task->example(1, Split::training, i);
    const Example held = task->example(1, Split::validation, i);
    if (seen.answer == "done") training.insert(content(seen));
    if (held.answer == "done") validation.insert(content(held));
  }
  EXPECT_EQ(validation.size(), 102U) << "a tenth of 32 numbers x 32 scratch values";
  for (const std::string& equal : validation) EXPECT_EQ(training.count(equal), 0U) << equal;
}

TEST(CompletionTask, HoldsOutTheShareOfThePairs) {
  const auto task = task_of(R"({"name": "completion", "numerals": 16})", 0.25);
  std::map<Split, std::set<std::string>> pairs;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    for (const Split split : {Split::training, Split::validation}) {
      const Example example = task->example(1, split, i);
      if (example.answer == "more") pairs[split].insert(example.group);
    }
  }
  EXPECT_EQ(pairs[Split::training].size(), 90U);
  EXPECT_EQ(pairs[Split::validation].size(), 30U);
}

TEST(CompletionTask, SaysWhenThereAreTooFewPairs) {
  EXPECT_THAT(error_of(R"({"name": "completion", "numerals": 3})", 0.05),
              HasSubstr("data.tasks[2].numerals: only 3 pairs"));
  EXPECT_THAT(error_of(R"({"name": "memory", "numerals": 2})", 0.05),
              HasSubstr("data.tasks[2].numerals: only 4 pairs"));
}

TEST(MemoryTask, WritesTheTextOfTheHeader) {
  const Example example = memory_example({1, 12, 7, {{true, false, 3}, {false, true, 1}}});
  EXPECT_EQ(example.prompt, "state = 1\nscratch = 12\nspare = 7\nspare += 3\nscratch -= 1\n# final state:");
  EXPECT_EQ(example.completion, " one");
}

TEST(RegistersTask, WritesTheTextOfTheHeaderAndGroupsComplements) {
  const RegistersContent content{2, {{1, 0}, {0, 1}, {1, 1}, {0, 0}}, 1, 1, 2};
  const Example example = registers_example(content);
  EXPECT_EQ(
      example.prompt,
      "scratch = 0\nscratch += 0\nscratch += 0\nr2 = 0\nr1 = 1\nr2 = 1\nr1 = 0\nscratch += 0\nquery = r2\nValue:");
  EXPECT_EQ(example.answer, "one");
  RegistersContent complement = content;
  for (RegisterWrite& write : complement.writes) write.value = 1 - write.value;
  complement.query = 0;
  EXPECT_EQ(registers_example(complement).answer, "one");
  EXPECT_EQ(registers_example(complement).group, example.group);
}

TEST(RegistersTask, WritesEveryRegisterEquallyOften) {
  kernels::PhiloxReader random({3, kernels::Purpose::analysis, 0, 0});
  std::set<std::string> orders;
  for (int i = 0; i < 20; ++i) {
    std::map<std::int64_t, int> count;
    std::string order;
    for (const RegisterWrite& write : random_writes(random, 4, 16)) {
      ++count[write.name];
      order += std::to_string(write.name);
    }
    EXPECT_EQ(count, (std::map<std::int64_t, int>{{0, 4}, {1, 4}, {2, 4}, {3, 4}}));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 20U);
}

TEST(RegistersTask, SaysWhichSettingsCannotBe) {
  EXPECT_THAT(error_of(R"({"name": "registers", "registers": [3], "assignments": [16]})"),
              HasSubstr("data.tasks[2].assignments: 16 is not a multiple of 3"));
  EXPECT_THAT(error_of(R"({"name": "registers", "registers": [1], "assignments": [1]})"),
              HasSubstr("data.tasks[2].assignments: this setting has too few"));
}

TEST(RunningSumTask, AddsUpRight) {
  const Example end = running_sum_example({3, {2, 1, 2, 0}}, SumSupervision::end);
  EXPECT_EQ(end.prompt, "Add modulo 3: 2 1 2 0\nTotal:");
  EXPECT_EQ(end.completion, " 2");
  EXPECT_TRUE(end.prompt_answers.empty());
  const Example every = running_sum_example({3, {2, 1, 2, 0}}, SumSupervision::every);
  EXPECT_EQ(every.prompt, "Add modulo 3\n2 makes 2\n1 makes 0\n2 makes 2\n0 makes");
  EXPECT_EQ(every.completion, " 2");
  std::string totals;
  for (const TextSpan& span : every.prompt_answers) totals += every.prompt.substr(span.begin, span.end - span.begin);
  EXPECT_EQ(totals, "202");
}

TEST(RunningSumTask, TrainsShortStringsWholeAndValidatesTheRest) {
  const auto task = task_of(R"({"name": "running-sum", "max_length": 3})");
  std::map<std::size_t, std::set<std::string>> training;
  std::map<std::size_t, std::set<std::string>> validation;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Example seen = task->example(1, Split::training, i);
    const Example held = task->example(1, Split::validation, i);
    training[seen.group.size() / 2].insert(seen.group);
    validation[held.group.size() / 2].insert(held.group);
  }
  EXPECT_EQ(training[1].size(), 3U);
  EXPECT_EQ(training[2].size(), 8U);
  EXPECT_EQ(training[3].size(), 24U);
  EXPECT_EQ(validation.count(1), 0U);
  EXPECT_EQ(validation[2].size(), 1U);
  EXPECT_EQ(validation[3].size(), 3U);
}

TEST(RunningSumTask, WithEveryTotalNoHeldOutStringBeginsATrainingString) {
  const auto task = task_of(R"({"name": "running-sum", "max_length": 12, "supervision": "every"})");
  std::set<std::string> held;
  for (std::uint64_t i = 0; i < 2000; ++i) held.insert(task->example(1, Split::validation, i).group);
  EXPECT_GT(held.size(), 200U);
  std::set<std::size_t> sizes;
  for (const std::string& digits : held) sizes.insert(digits.size() / 2);
  EXPECT_EQ(sizes, (std::set<std::size_t>{4, 5, 6, 7, 8, 9, 10, 11, 12})) << "8 of 81 beginnings of four digits";
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::string digits = task->example(1, Split::training, i).group;
    for (std::size_t size = 2; size <= digits.size(); size += 2) EXPECT_EQ(held.count(digits.substr(0, size)), 0U);
  }
}

TEST(RunningSumTask, HiddenTotalsAreNowhereInTheText) {
  const Example hidden = running_sum_example({3, {2, 1, 2, 0}}, SumSupervision::hidden);
  EXPECT_EQ(hidden.prompt, "Add modulo 3: 2 1 2 0 makes");
  EXPECT_EQ(hidden.completion, " 2");
  ASSERT_EQ(hidden.hidden_answers.size(), 4U);
  std::string told;
  for (const HiddenAnswer& answer : hidden.hidden_answers)
    told += hidden.prompt.substr(0, answer.end) + answer.text + "|";
  EXPECT_EQ(told, "Add modulo 3: 2 2|Add modulo 3: 2 1 0|Add modulo 3: 2 1 2 2|Add modulo 3: 2 1 2 0 2|");
}

TEST(RunningSumTask, SaysWhatIsTooSmall) {
  EXPECT_THAT(error_of(R"({"name": "running-sum", "max_length": 1})"), HasSubstr("data.tasks[2].max_length"));
  EXPECT_THAT(error_of(R"({"name": "running-sum", "min_length": 5, "max_length": 4})"),
              HasSubstr("data.tasks[2].max_length: this is below min_length"));
  EXPECT_THAT(error_of(R"({"name": "running-sum", "supervision": "all"})"),
              HasSubstr("\"end\" or \"every\" or \"hidden\""));
}

TEST(DivisionTask, WritesTheTextOfTheHeader) {
  const Example full = division_example({3, 7, 3}, DivisionTrace::full);
  EXPECT_EQ(full.prompt, "Write 3/7 with 3 decimals.\n");
  EXPECT_EQ(full.completion,
            "30 divided by 7 is 4 remainder 2\n20 divided by 7 is 2 remainder 6\n60 divided by 7 is 8 remainder 4\n"
            "Answer: 0.428");
  const Example terse = division_example({3, 7, 3}, DivisionTrace::terse);
  EXPECT_EQ(terse.prompt, full.prompt);
  EXPECT_EQ(terse.completion, "4 r 2\n2 r 6\n8 r 4\nAnswer: 0.428");
  EXPECT_EQ(division_example({3, 7, 3}, DivisionTrace::none).completion, "Answer: 0.428");
  EXPECT_EQ(division_example({2, 4, 6}, DivisionTrace::terse).answer, "0.5");
  EXPECT_EQ(division_example({2, 4, 6}, DivisionTrace::terse).group, "1/2");
}

TEST(DivisionTask, DigitsAgreeWithIntegerArithmetic) {
  for (std::int64_t below = 2; below < 40; ++below) {
    for (std::int64_t above = 1; above < below; ++above) {
      const std::string answer = division_example({above, below, 6}, DivisionTrace::terse).answer;
      std::string digits = std::to_string(1000000 + above * 1000000 / below).substr(1);
      const bool exact = above * 1000000 % below == 0;
      while (exact && digits.back() == '0') digits.pop_back();
      EXPECT_EQ(answer, "0." + digits) << above << "/" << below;
    }
  }
}

TEST(DivisionTask, BothTracesHaveTheSameFractionsHeldOut) {
  const auto full = task_of(R"({"name": "division"})");
  const auto terse = task_of(R"({"name": "division-terse"})");
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(full->example(3, Split::validation, i).group, terse->example(3, Split::validation, i).group);
  }
}

TEST(Task, AnAnswerIsAWholeWordOrNumber) {
  const auto task = task_of(R"({"name": "division"})");
  const Example example = division_example({1, 4, 4}, DivisionTrace::full);
  EXPECT_TRUE(task->correct(example, "some other way\nAnswer: 0.25 \n"));
  EXPECT_TRUE(task->correct(example, "0.25"));
  EXPECT_FALSE(task->correct(example, "Answer: 10.25"));
  EXPECT_FALSE(task->correct(example, "Answer: -0.25"));
  EXPECT_FALSE(task->correct(example, "Answer: 0.250"));
  EXPECT_FALSE(task->correct(example, "Answer: 0.2"));
}

TEST(MakeTask, NamesFieldsInItsErrors) {
  EXPECT_THAT(error_of(R"([])"), HasSubstr("data.tasks[2]: a task is an object"));
  EXPECT_THAT(error_of(R"({"name": "chess"})"), HasSubstr("use one of completion, memory, registers, running-sum"));
  EXPECT_THAT(error_of(R"({"name": "completion", "numerals": 2})"),
              HasSubstr("data.tasks[2].numerals: 2 is out of range"));
  EXPECT_THAT(error_of(R"({"name": "completion", "numerals": "9"})"),
              HasSubstr("data.tasks[2].numerals: this must be an integer"));
  EXPECT_THAT(error_of(R"({"name": "completion", "numerals": 18446744073709551615})"), HasSubstr("out of range"));
  EXPECT_THAT(error_of(R"({"name": "memory", "distractors": []})"), HasSubstr("data.tasks[2].distractors"));
  EXPECT_THAT(error_of(R"({"name": "memory", "distractors": [1, -1]})"), HasSubstr("data.tasks[2].distractors"));
  EXPECT_THAT(error_of(R"({"name": "memory"})", 0.0), HasSubstr("data.validation_share"));
  EXPECT_THAT(error_of(R"({"name": "memory"})", 1.0), HasSubstr("data.validation_share"));
  EXPECT_EQ(error_of(R"({"name": "memory", "share": 3})"), "no error");
}

TEST(MakeTask, KnowsEveryNameItLists) {
  EXPECT_EQ(task_names().size(), 7U);
  for (const std::string& name : task_names()) EXPECT_EQ(make_task({{"name", name}}, 0.1)->name(), name);
}

}  // namespace
}  // namespace engine::data
