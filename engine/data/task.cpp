#include "engine/data/task.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/data/task_completion.h"
#include "engine/data/task_division.h"
#include "engine/data/task_memory.h"
#include "engine/data/task_options.h"
#include "engine/data/task_registers.h"
#include "engine/data/task_running_sum.h"
#include "engine/error.h"

namespace engine::data {
namespace {

using MakeTask = std::unique_ptr<Task> (*)(TaskOptions&, double);

struct TaskEntry {
  const char* name;
  MakeTask make;
};

/// Every task of the program; a new one needs a line here and a file of its own.
constexpr TaskEntry kTasks[] = {
    {"completion", make_completion_task},
    {"memory", make_memory_task},
    {"registers", make_registers_task},
    {"running-sum", make_running_sum_task},
    {"division", make_division_task},
    {"division-terse", make_terse_division_task},
    {"division-direct", make_direct_division_task},
};

bool belongs_to_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '.' || character == '-';
}

std::string_view without_end_spaces(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \n\t\r");
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

}  // namespace

bool ends_in_answer(std::string_view generated, std::string_view answer) {
  const std::string_view text = without_end_spaces(generated);
  if (answer.empty() || !text.ends_with(answer)) return false;
  return text.size() == answer.size() || !belongs_to_word(text[text.size() - answer.size() - 1]);
}

bool Task::correct(const Example& example, std::string_view generated) const {
  return ends_in_answer(generated, example.answer);
}

std::unique_ptr<Task> make_task(const nlohmann::json& options, double validation_share, const std::string& field) {
  if (!(validation_share > 0.0 && validation_share < 1.0)) {
    throw ConfigError("data.validation_share", "this must lie between 0 and 1, such as 0.1");
  }
  TaskOptions reader(options, field);
  for (const TaskEntry& entry : kTasks) {
    if (reader.name() != entry.name) continue;
    std::unique_ptr<Task> task = entry.make(reader, validation_share);
    reader.finish();
    return task;
  }
  std::string names;
  for (const std::string& name : task_names()) names += (names.empty() ? "" : ", ") + name;
  throw ConfigError(reader.field("name"), "there is no task \"" + reader.name() + "\"; use one of " + names);
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const TaskEntry& entry : kTasks) names.emplace_back(entry.name);
  return names;
}

}  // namespace engine::data
