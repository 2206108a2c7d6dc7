#include "app/question_set.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/data/tokenizer.h"
#include "engine/error.h"

namespace app {

namespace {

QuestionSet from_file(const std::string& file, std::int64_t rows) {
  QuestionSet set;
  set.name = file;
  set.questions = engine::jsonl_questions(file);
  if (static_cast<std::int64_t>(set.questions.size()) > rows) set.questions.resize(static_cast<std::size_t>(rows));
  return set;
}

}  // namespace

bool names_a_file(const std::string& task_or_file) {
  std::error_code error;
  return std::filesystem::exists(task_or_file, error) && !std::filesystem::is_directory(task_or_file, error);
}

QuestionSet find_questions(const engine::DataConfig& data, const std::string& task_or_file, std::uint64_t seed,
                           std::int64_t rows, const std::string& field) {
  if (names_a_file(task_or_file)) return from_file(task_or_file, rows);
  nlohmann::json wanted = {{"name", task_or_file}};
  for (const nlohmann::json& task : data.tasks) {
    if (task_or_file.empty() || task.at("name") == task_or_file) {
      wanted = task;
      break;
    }
  }
  if (wanted.at("name") == "")
    throw engine::ConfigError(field, "this run was not trained on a task; name one, or a JSON Lines file");
  wanted.erase("share");
  QuestionSet set;
  set.task = engine::data::make_task(wanted, data.validation_share);
  set.name = set.task->name();
  set.questions = engine::task_questions(*set.task, seed, rows);
  return set;
}

std::vector<std::vector<std::int32_t>> prompt_tokens(const QuestionSet& set, const engine::data::Tokenizer& tokenizer,
                                                     std::int64_t keep) {
  std::vector<std::vector<std::int32_t>> prompts;
  for (const engine::Question& question : set.questions) {
    prompts.push_back(tokenizer.encode(question.example.prompt));
    if (keep > 0 && prompts.back().size() > static_cast<std::size_t>(keep))
      prompts.back().resize(static_cast<std::size_t>(keep));
  }
  return prompts;
}

}  // namespace app
