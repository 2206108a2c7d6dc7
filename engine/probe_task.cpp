#include "engine/probe_task.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/data/probe_set.h"
#include "engine/data/task.h"
#include "engine/error.h"

namespace engine {
namespace {

using data::ProbeExample;

const std::vector<std::int64_t> kWritesEach = {2, 4, 8};
constexpr double kValidationShare = 0.1;  // any: only the task's words are asked for

/// The task that the examples are text of.
std::string trained_name(const std::string& task) { return task == "overwrites" ? "registers" : task; }

std::optional<nlohmann::json> trained_options(const DataConfig& data, const std::string& name) {
  for (const nlohmann::json& task : data.tasks) {
    if (task.value("name", "") == name) return task;
  }
  return std::nullopt;
}

bool can_encode(const data::Tokenizer& tokenizer, const std::string& text) {
  try {
    return !tokenizer.encode(text).empty();
  } catch (const ConfigError&) {
    return false;
  }
}

/// Names the first of the task's words that the vocabulary lacks.
[[noreturn]] void refuse_vocabulary(const data::Tokenizer& tokenizer, const std::string& name) {
  std::string missing = "its numbers";
  for (const std::string& symbol : data::make_task({{"name", name}}, kValidationShare)->symbols()) {
    if (symbol == "\n" || can_encode(tokenizer, symbol)) continue;
    missing = "\"" + symbol + "\"";
    break;
  }
  throw ConfigError("task", "this run was not trained on " + name + ", and its vocabulary lacks " + missing +
                                "; name a task that it was trained on");
}

/// Examples with what they are told apart by.
struct ExampleSet {
  std::vector<ProbeExample> examples;
  std::vector<std::int64_t> slices;

  void add(std::vector<ProbeExample> more, std::optional<std::int64_t> writes, bool by_registers) {
    const std::int64_t first_group = examples.empty() ? 0 : examples.back().group + 1;
    for (ProbeExample& example : more) {
      slices.push_back(writes ? *writes : by_registers ? example.registers : example.length);
      example.group += first_group;
      examples.push_back(std::move(example));
    }
  }
};

ExampleSet make_examples(const ProbeRequest& request, const std::vector<std::int64_t>& lengths,
                         const std::optional<nlohmann::json>& trained) {
  const auto numerals = [&](std::int64_t otherwise) {
    return trained ? trained->value("numerals", otherwise) : otherwise;
  };
  ExampleSet set;
  if (request.task == "completion") {
    set.add(data::completion_probe_set(request.seed, numerals(32), lengths), std::nullopt, false);
  } else if (request.task == "memory") {
    set.add(data::memory_probe_set(request.seed, numerals(16), lengths), std::nullopt, false);
  } else if (request.task == "registers") {
    set.add(data::registers_probe_set(request.seed), std::nullopt, true);
  } else {
    for (const std::int64_t writes : kWritesEach) {
      set.add(data::overwrites_probe_set(request.seed, writes), writes, true);
    }
  }
  return set;
}

/// Keeps whole groups, evenly spaced over the set, about `most` examples of them.
void keep_some_groups(ExampleSet& set, std::int64_t most) {
  const auto all = static_cast<std::int64_t>(set.examples.size());
  if (most <= 0 || most >= all) return;
  const std::int64_t groups = set.examples.back().group + 1;
  const std::int64_t wanted = groups * most / all;
  ExampleSet kept;
  for (std::size_t n = 0; n < set.examples.size(); ++n) {
    const std::int64_t group = set.examples[n].group;
    if ((group + 1) * wanted / groups == group * wanted / groups) continue;
    kept.examples.push_back(set.examples[n]);
    kept.slices.push_back(set.slices[n]);
  }
  set = std::move(kept);
}

AnswerTokens answer_tokens(const data::Tokenizer& tokenizer, const std::vector<std::string>& words) {
  const std::vector<std::int32_t> zero = tokenizer.encode(" " + words[0]);
  const std::vector<std::int32_t> one = tokenizer.encode(" " + words[1]);
  const auto [end_zero, end_one] = std::mismatch(zero.begin(), zero.end(), one.begin(), one.end());
  if (end_zero == zero.end() || end_one == one.end()) {
    throw ConfigError("task", "the tokenizer does not tell \"" + words[0] + "\" from \"" + words[1] + "\"");
  }
  return {{zero.begin(), end_zero}, *end_zero, *end_one};
}

std::vector<ProbePrompt> encode(const ExampleSet& set, const data::Tokenizer& tokenizer) {
  std::vector<ProbePrompt> prompts;
  for (std::size_t n = 0; n < set.examples.size(); ++n) {
    const ProbeExample& example = set.examples[n];
    prompts.push_back({tokenizer.encode(example.prompt), example.label, example.group, set.slices[n]});
  }
  return prompts;
}

/// Lengths of which every prompt leaves room for `after` more tokens in a row of training.
std::vector<std::int64_t> fitting_lengths(const std::vector<ProbePrompt>& prompts, std::int64_t seq,
                                          std::int64_t after) {
  std::map<std::int64_t, bool> fits;
  for (const ProbePrompt& prompt : prompts) {
    const bool room = static_cast<std::int64_t>(prompt.tokens.size()) + after <= seq;
    const auto [known, added] = fits.emplace(prompt.slice, room);
    if (!added) known->second = known->second && room;
  }
  std::vector<std::int64_t> lengths;
  for (const auto& [length, room] : fits) {
    if (room) lengths.push_back(length);
  }
  return lengths;
}

std::vector<std::int64_t> trained_lengths(const std::optional<nlohmann::json>& trained) {
  std::vector<std::int64_t> otherwise = {0, 1, 2, 4};  // the tasks' own
  if (!trained || !trained->contains("distractors")) return otherwise;
  const nlohmann::json& distractors = trained->at("distractors");
  if (!distractors.is_array()) return {distractors.get<std::int64_t>()};
  return distractors.get<std::vector<std::int64_t>>();
}

/// The request's lengths, or the paper's that fit, or the trained ones.
std::vector<std::int64_t> choose_lengths(const ProbeRequest& request, const data::Tokenizer& tokenizer,
                                         const DataConfig& data, std::int64_t after,
                                         const std::optional<nlohmann::json>& trained) {
  std::vector<std::int64_t> lengths = request.lengths;
  if (lengths.empty()) {
    const ExampleSet all = make_examples(request, data::probe_lengths(), trained);
    lengths = fitting_lengths(encode(all, tokenizer), data.seq, after);
    if (lengths.size() < 2) lengths = trained_lengths(trained);
  }
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

void check(const ProbeRequest& request) {
  const std::vector<std::string> names = probe_task_names();
  if (std::find(names.begin(), names.end(), request.task) == names.end()) {
    throw ConfigError("task", "\"" + request.task + "\" has no probe; use completion, memory, registers or overwrites");
  }
  if (!request.lengths.empty() && trained_name(request.task) == "registers") {
    throw ConfigError("distractors", request.task + " always has 8 null updates; leave the lengths out");
  }
  for (const std::int64_t length : request.lengths) {
    if (length < 0 || length > 4096) {
      throw ConfigError("distractors", std::to_string(length) + " is not a length from 0 to 4096");
    }
  }
}

ProbeTask build(const ProbeRequest& request, const data::Tokenizer& tokenizer, const DataConfig& data) {
  const bool registers = trained_name(request.task) == "registers";
  const auto trained = trained_options(data, trained_name(request.task));
  ProbeTask task;
  task.trained = trained.has_value();
  task.slice_title = request.task == "overwrites" ? "writes" : registers ? "registers" : "distractors";
  task.answer_words =
      request.task == "completion" ? std::vector<std::string>{"more", "done"} : std::vector<std::string>{"zero", "one"};
  task.answers = answer_tokens(tokenizer, task.answer_words);
  const auto after = static_cast<std::int64_t>(task.answers.shared.size()) + 2;  // the answer, end of text
  if (!registers) task.lengths = choose_lengths(request, tokenizer, data, after, trained);
  ExampleSet set = make_examples(request, task.lengths, trained);
  keep_some_groups(set, request.most_examples);
  task.prompts = encode(set, tokenizer);
  for (const ProbePrompt& prompt : task.prompts) {
    task.longest_prompt = std::max(task.longest_prompt, static_cast<std::int64_t>(prompt.tokens.size()));
  }
  task.fits_training = task.longest_prompt + after <= data.seq;
  return task;
}

}  // namespace

std::vector<std::string> probe_task_names() { return {"completion", "memory", "registers", "overwrites"}; }

ProbeTask make_probe_task(const ProbeRequest& request, const data::Tokenizer& tokenizer, const DataConfig& data) {
  check(request);
  try {
    return build(request, tokenizer, data);
  } catch (const ConfigError& error) {
    if (error.field() == "data.tokenizer") refuse_vocabulary(tokenizer, trained_name(request.task));
    throw;
  }
}

}  // namespace engine
