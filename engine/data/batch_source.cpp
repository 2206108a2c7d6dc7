#include "engine/data/batch_source.h"

#include <utility>

#include "engine/data/corpus.h"
#include "engine/data/task_source.h"
#include "engine/data/text_source.h"
#include "engine/error.h"

namespace engine::data {
namespace {

void check(const DataConfig& config) {
  if (!config.tasks.is_array()) throw ConfigError("data.tasks", "this must be a list of tasks");
  const int sources = (config.tasks.empty() ? 0 : 1) + (config.text.empty() ? 0 : 1) + (config.jsonl.empty() ? 0 : 1);
  if (sources != 1) throw ConfigError("data", "give exactly one of data.tasks, data.text and data.jsonl");
  if (config.seq < 2) throw ConfigError("data.seq", "a row needs at least 2 tokens");
  if (!(config.answer_weight >= 0.0)) throw ConfigError("data.answer_weight", "this must be 0 or more");
  if (!(config.other_weight >= 0.0)) throw ConfigError("data.other_weight", "this must be 0 or more");
  if (config.answer_weight == 0.0 && config.other_weight == 0.0) {
    throw ConfigError("data.answer_weight", "both weights are 0, so nothing would be learned; set one above 0");
  }
  if (!(config.validation_share > 0.0 && config.validation_share < 1.0)) {
    throw ConfigError("data.validation_share", "this must lie between 0 and 1, such as 0.1");
  }
}

}  // namespace

std::unique_ptr<BatchSource> make_batch_source(const DataConfig& config, std::shared_ptr<const Tokenizer> tokenizer) {
  check(config);
  if (!config.text.empty()) return make_text_source(config, read_text(config), std::move(tokenizer));
  if (!config.jsonl.empty()) return make_text_source(config, read_jsonl(config), std::move(tokenizer));
  return make_task_source(config, std::move(tokenizer));
}

}  // namespace engine::data
