#include "engine/data/task_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/data/batch_rows.h"
#include "engine/data/content_hash.h"
#include "engine/data/task.h"
#include "engine/data/task_document.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/error.h"
#include "kernels/philox.h"

namespace engine::data {
namespace {

struct WeightedTask {
  std::unique_ptr<Task> task;
  double share = 1.0;
};

double share_of(const nlohmann::json& options, const std::string& field) {
  const nlohmann::json value = options.is_object() && options.contains("share") ? options["share"] : nlohmann::json(1);
  if (!value.is_number() || !(value.get<double>() > 0.0 && value.get<double>() <= 1e6)) {
    throw ConfigError(field + ".share", "this must be a number above 0, such as 1");
  }
  return value.get<double>();
}

std::vector<WeightedTask> make_tasks(const DataConfig& config) {
  std::vector<WeightedTask> tasks;
  for (std::size_t i = 0; i < config.tasks.size(); ++i) {
    const std::string field = "data.tasks[" + std::to_string(i) + "]";
    tasks.push_back({make_task(config.tasks[i], config.validation_share, field), share_of(config.tasks[i], field)});
  }
  return tasks;
}

/// Every symbol once, in the order of the tasks.
std::vector<std::string> all_symbols(const std::vector<WeightedTask>& tasks) {
  std::vector<std::string> result;
  for (const WeightedTask& entry : tasks) {
    for (std::string& symbol : entry.task->symbols()) {
      if (std::find(result.begin(), result.end(), symbol) == result.end()) result.push_back(std::move(symbol));
    }
  }
  return result;
}

/// Training examples for a tokenizer to learn from.
std::string sample_text(const std::vector<WeightedTask>& tasks) {
  constexpr std::uint64_t kExamples = 2000;
  std::string text;
  for (const WeightedTask& entry : tasks) {
    for (std::uint64_t i = 0; i < kExamples; ++i) {
      const Example example = entry.task->example(0, Split::training, i);
      text += example.prompt + example.completion + "\n";
    }
  }
  return text;
}

std::shared_ptr<const Tokenizer> tokenizer_for(const DataConfig& config, const std::vector<WeightedTask>& tasks) {
  if (config.tokenizer == "symbols") return make_symbol_tokenizer(all_symbols(tasks));
  return make_text_tokenizer(config, [&] { return sample_text(tasks); });
}

class TaskSource : public BatchSource {
 public:
  TaskSource(const DataConfig& config, std::shared_ptr<const Tokenizer> tokenizer)
      : config_(config), tasks_(make_tasks(config)), tokenizer_(std::move(tokenizer)) {
    if (tokenizer_ == nullptr) tokenizer_ = tokenizer_for(config_, tasks_);
    for (const WeightedTask& entry : tasks_) {
      total_share_ += entry.share;
      // One example now, so that rows too short or a tokenizer that does not know the task fail at once.
      for (const Split split : {Split::training, Split::validation}) {
        std::uint64_t index = 0;
        fitting(*entry.task, {0, split, 0}, index);
      }
    }
  }

  [[nodiscard]] const Tokenizer& tokenizer() const override { return *tokenizer_; }

  [[nodiscard]] Batch training(std::uint64_t seed, std::int64_t step, std::int64_t rows) const override {
    return fill(seed, Split::training, step * rows, rows);
  }

  [[nodiscard]] Batch validation(std::int64_t first, std::int64_t rows) const override {
    return fill(0, Split::validation, first, rows);
  }

  [[nodiscard]] std::string data_hash() const override {
    const ContentHash hash = ContentHash().add("tasks").add(config_.tasks.dump());
    return ContentHash(hash).add(std::to_string(config_.validation_share)).hex();
  }

 private:
  /// Numbers examples: 65,536 for each row that will ever be drawn, so that no two rows share one.
  struct RowNumber {
    std::uint64_t seed = 0;
    Split split = Split::training;
    std::uint64_t row = 0;
  };

  [[nodiscard]] Batch fill(std::uint64_t seed, Split split, std::int64_t first, std::int64_t rows) const {
    BatchRows result(rows, config_.seq, tokenizer_->end_of_text(), {config_.answer_weight, config_.other_weight});
    for (std::int64_t row = 0; row < rows; ++row) {
      fill_row(result, row, {seed, split, static_cast<std::uint64_t>(first + row)});
    }
    return result.take();
  }

  void fill_row(BatchRows& result, std::int64_t row, const RowNumber& number) const {
    kernels::PhiloxReader random = mixture_random(number);
    std::uint64_t index = 0;
    do {
      const Task& task = draw_task(random);
      const Document document = fitting(task, number, index);
      if (document.size() > result.room(row)) return;
      result.add(row, document);
    } while (config_.packing);
  }

  [[nodiscard]] static kernels::PhiloxReader mixture_random(const RowNumber& number) {
    const bool training = number.split == Split::training;
    const auto purpose = training ? kernels::Purpose::training_data : kernels::Purpose::validation_data;
    return kernels::PhiloxReader({number.seed, purpose, number.row, 1});
  }

  const Task& draw_task(kernels::PhiloxReader& random) const {
    double left = static_cast<double>(random.next_unit()) * total_share_;
    for (const WeightedTask& entry : tasks_) {
      left -= entry.share;
      if (left < 0.0) return *entry.task;
    }
    return *tasks_.back().task;
  }

  /// The next example of the task, from number `index` on, that fits into a row; `index` moves past it.
  Document fitting(const Task& task, const RowNumber& number, std::uint64_t& index) const {
    constexpr int kTries = 100;
    std::int64_t shortest = 0;
    for (int i = 0; i < kTries; ++i) {
      const Example example = task.example(number.seed, number.split, number.row << 16U | index++);
      Document document = task_document(example, *tokenizer_);
      if (document.size() <= config_.seq) return document;
      shortest = i == 0 ? document.size() : std::min(shortest, document.size());
    }
    throw ConfigError("data.seq", "of " + std::to_string(kTries) + " examples of the task \"" + task.name() +
                                      "\" none fits into " + std::to_string(config_.seq) + " tokens; use at least " +
                                      std::to_string(shortest));
  }

  DataConfig config_;
  std::vector<WeightedTask> tasks_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  double total_share_ = 0.0;
};

}  // namespace

std::unique_ptr<BatchSource> make_task_source(const DataConfig& config, std::shared_ptr<const Tokenizer> tokenizer) {
  return std::make_unique<TaskSource>(config, std::move(tokenizer));
}

}  // namespace engine::data
