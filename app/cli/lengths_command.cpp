// fullband-cli lengths: state tracking over length. Right answers digit by digit on running sums far longer than the
// trained ones, read in one plain pass (Standard), in a few fused passes, and token by token: by full recurrence, and
// as Soft does after a plain prompt of one digit (soft-1) or of as many as were trained (soft).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/answer_accuracy.h"
#include "engine/error.h"
#include "engine/recipe.h"

namespace app::cli {
namespace {

struct LengthsOptions {
  MeasureOptions measure;
  std::int64_t digits = 128;
  std::int64_t rows = 256;
};

/// Held-out rows of exactly `digits` digits, and the most digits that the run was trained on.
struct LongRows {
  engine::data::Batch batch;
  std::int64_t trained = 0;
};

constexpr std::int64_t kTokensAround =
    8;  // "Add modulo 3:" before the digits; "makes", the total and end of text after

LongRows long_rows(const LoadedRun& run, const LengthsOptions& options) {
  engine::DataConfig data = engine::recipe_from_json(run.description.at("recipe")).data;
  const auto is_hidden_sum = [](const nlohmann::json& task) {
    return task.at("name") == "running-sum" && task.value("supervision", "") == "hidden";
  };
  const auto task = std::find_if(data.tasks.begin(), data.tasks.end(), is_hidden_sum);
  if (task == data.tasks.end()) {
    throw engine::ConfigError("--run", "this run has no running-sum with supervision \"hidden\" among its tasks");
  }
  LongRows rows;
  rows.trained = task->value("max_length", std::int64_t{8});
  nlohmann::json longer = *task;
  longer["min_length"] = longer["max_length"] = options.digits;
  data.tasks = nlohmann::json::array({longer});
  data.seq = options.digits + kTokensAround;
  const auto first = static_cast<std::int64_t>((options.measure.seed - 1) % 100000) * options.rows;
  const auto source = make_batch_source(data, engine::data::tokenizer_from_json(run.checkpoint.tokenizer));
  rows.batch = source->validation(first, options.rows);
  return rows;
}

/// Tokens up to this number of digits: what Soft reads as its plain prompt.
std::int64_t tokens_up_to(const LongRows& rows, std::int64_t digits) {
  std::int64_t answers = 0;
  for (std::int64_t place = 0; place < rows.batch.seq; ++place) {
    answers += rows.batch.answer[static_cast<std::size_t>(place)];
    if (answers == digits) return place + 1;
  }
  return rows.batch.seq;
}

std::vector<engine::RowReading> readings(const LongRows& rows) {
  return {{"standard", false, 1, 0},
          {"fused-1", false, 1, 1},
          {"fused-2", false, 1, 2},
          {"fused-4", false, 1, 4},
          {"fused-8", false, 1, 8},
          {"soft-1", true, tokens_up_to(rows, 1), 0},
          {"soft", true, tokens_up_to(rows, rows.trained), 0},
          {"full", true, 1, 0}};
}

/// 1, 2, 4 ... times the trained digits as far as the rows go.
std::vector<std::int64_t> lengths(const LongRows& rows, std::int64_t digits) {
  std::vector<std::int64_t> at;
  for (std::int64_t n = rows.trained; n <= digits; n *= 2) at.push_back(n);
  return at;
}

void print(const nlohmann::json& result, std::ostream& out) {
  out << "reading    right at digit";
  for (const std::int64_t n : result["lengths"]) out << std::setw(8) << n;
  out << "\n" << std::fixed << std::setprecision(1);
  for (const auto& [name, reading] : result["readings"].items()) {
    out << std::left << std::setw(25) << name << std::right;
    for (const nlohmann::json& value : reading["at_lengths"]) {
      if (value.is_null()) {
        out << std::setw(8) << "-";
      } else {
        out << std::setw(6) << 100 * value.get<double>() << " %";
      }
    }
    out << "\n";
  }
}

nlohmann::json reading_json(const std::vector<engine::Estimate>& accuracy, const std::vector<std::int64_t>& at) {
  nlohmann::json at_lengths = nlohmann::json::array();
  for (const std::int64_t n : at) at_lengths.push_back(finite_or_null(accuracy[static_cast<std::size_t>(n - 1)].value));
  return {{"at_lengths", at_lengths}, {"accuracy", values_of(accuracy)}, {"error", errors_of(accuracy)}};
}

int measure(const LengthsOptions& options, const Streams& streams) {
  MeasuredRun run = open_run(options.measure, streams);
  const LongRows rows = long_rows(run.loaded, options);
  const std::vector<std::int64_t> at = lengths(rows, options.digits);
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result.update(
      {{"rows", options.rows}, {"digits", options.digits}, {"trained_digits", rows.trained}, {"lengths", at}});
  const std::vector<engine::RowReading> all = readings(rows);
  ProgressLine progress(streams, "readings", static_cast<std::int64_t>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<engine::Estimate> accuracy = accuracy_by_answer(run.model, rows.batch, all[i]);
    accuracy.resize(static_cast<std::size_t>(options.digits));  // the last answer is asked after "makes"
    result["readings"][all[i].name] = reading_json(accuracy, at);
    progress.update(static_cast<std::int64_t>(i + 1));
  }
  if (options.measure.json) {
    streams.out << json_line(result);
    return 0;
  }
  streams.out << measured_on_text(options.measure, run.loaded) << ", " << options.rows << " held-out rows of "
              << options.digits << " digits, trained on up to " << rows.trained << "\n";
  print(result, streams.out);
  return 0;
}

}  // namespace

void add_lengths_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<LengthsOptions>();
  CLI::App* command =
      app.add_subcommand("lengths", "State tracking: right answers over sequences longer than the trained ones");
  add_measure_options(*command, options->measure);
  command->add_option("--digits", options->digits, "Digits of each row")
      ->check(whole_number(1, 4096))
      ->capture_default_str();
  command->add_option("--rows", options->rows, "Held-out rows")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command->callback([options, &action] { action = [options](const Streams& s) { return measure(*options, s); }; });
}

}  // namespace app::cli
