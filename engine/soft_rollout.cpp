#include "engine/soft_rollout.h"

#include <algorithm>
#include <cmath>

#include "engine/device_copy.h"
#include "engine/error.h"

namespace engine {
namespace {

/// -log softmax of one token.
double token_nll(const std::vector<float>& logits, std::int32_t token) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - most);
  return most + std::log(sum) - double{logits[static_cast<std::size_t>(token)]};
}

std::int32_t lowest_argmax(const std::vector<float>& logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// The tokens that have states: the last one generated never entered the stack.
std::vector<std::int32_t> entered_tokens(const RecordedRollout& rollout) {
  std::vector<std::int32_t> tokens = rollout.prompt;
  tokens.insert(tokens.end(), rollout.generated.begin(), rollout.generated.end() - 1);
  return tokens;
}

std::vector<std::int32_t> places(std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<std::int32_t>(n);
  return values;
}

std::int32_t next_token(BatchDecoder& decoder, const RecordSettings& settings, std::int64_t index) {
  if (settings.generated.empty()) return decoder.sample(settings.sampler, index, settings.row)[0].id;
  return settings.generated[static_cast<std::size_t>(index)];
}

}  // namespace

RecordedRollout record_soft_rollout(BatchDecoder& decoder, kernels::Backend& backend,
                                    const std::vector<std::int32_t>& prompt, const RecordSettings& settings) {
  const auto wanted =
      settings.generated.empty() ? settings.max_tokens : static_cast<std::int64_t>(settings.generated.size());
  if (wanted < 1) throw ConfigError("tokens", "must be at least 1");
  RecordedRollout rollout;
  rollout.prompt = prompt;
  decoder.prefill({prompt}, DecodeMode::soft, wanted);
  for (std::int64_t i = 0; i < wanted; ++i) {
    const std::vector<float> logits = download_matrix(backend, decoder.logits());
    rollout.states.push_back(download_matrix(backend, decoder.carried()));
    if (i > 0) rollout.most_likely.push_back(lowest_argmax(logits));
    const std::int32_t token = next_token(decoder, settings, i);
    rollout.generated.push_back(token);
    rollout.logprob.push_back(static_cast<float>(-token_nll(logits, token)));
    if (i + 1 == wanted || (token == settings.end_of_text && settings.generated.empty())) break;
    decoder.step({token});
  }
  const auto start = static_cast<std::int64_t>(prompt.size());
  for (const LayerCache& layer : decoder.cache()) {
    rollout.key.push_back(download_matrix(backend, layer.key.row_range(start, rollout.response_positions())));
    rollout.value.push_back(download_matrix(backend, layer.value.row_range(start, rollout.response_positions())));
  }
  return rollout;
}

std::vector<PositionRow> position_table(const RecordedRollout& rollout) {
  std::vector<PositionRow> table;
  for (const std::int32_t token : rollout.prompt) {
    table.push_back({static_cast<std::int64_t>(table.size()), token, false, true, -1});
  }
  for (std::size_t i = 0; i < rollout.generated.size(); ++i) {
    const auto position = static_cast<std::int64_t>(table.size());
    const bool entered = i + 1 < rollout.generated.size();
    table.push_back({position, rollout.generated[i], true, entered, entered ? position - 1 : -1});
  }
  return table;
}

RolloutPasses::RolloutPasses(kernels::Backend& backend, const Parameters& parameters, const RecordedRollout& rollout)
    : backend_(&backend), rollout_(&rollout), arena_(backend), runner_(backend, parameters) {
  const std::vector<std::int32_t> tokens = entered_tokens(rollout);
  const ModelConfig& config = parameters.config();
  const auto count = static_cast<std::int64_t>(tokens.size());
  const std::int64_t width = config.kv_heads * config.head_dim();
  for (std::int64_t i = 0; i < config.layers; ++i) {
    cache_.push_back({arena_.matrix(count, width), arena_.matrix(count, width)});
  }
  fused_.assign(tokens.size(), 1);
  std::fill_n(fused_.begin(), rollout.prompt.size(), 0);
  runner_.begin(tokens, places(tokens.size()));
  store_.cache = &cache_;
  store_.cache_rows = runner_.keep_indices(places(tokens.size()));
}

void RolloutPasses::next() {
  if (started_) {
    runner_.feedback_pass(fused_, store_, /*plain_as_in_pass1=*/true);
  } else {
    runner_.plain_pass(store_);
  }
  started_ = true;
}

void RolloutPasses::on_recorded_states() {
  const std::int64_t dim = runner_.carried().cols;
  // No position is fused with a state before the last one of the prompt: those rows are never read.
  std::vector<float> states((rollout_->prompt.size() - 1) * static_cast<std::size_t>(dim), 0.0F);
  for (const std::vector<float>& state : rollout_->states) states.insert(states.end(), state.begin(), state.end());
  Arena arena(*backend_);
  runner_.feedback_pass(fused_, store_, /*plain_as_in_pass1=*/true, upload_matrix(*backend_, arena, states, dim));
}

RolloutPasses::Scores RolloutPasses::score() {
  const std::size_t first = rollout_->prompt.size() - 1;
  std::vector<std::int32_t> targets(fused_.size(), -1);
  std::copy(rollout_->generated.begin(), rollout_->generated.end(),
            targets.begin() + static_cast<std::ptrdiff_t>(first));
  const PassRunner::Scores rows = runner_.score(targets);
  Scores scores;
  scores.nll.assign(rows.nll.begin() + static_cast<std::ptrdiff_t>(first), rows.nll.end());
  scores.most_likely.assign(rows.argmax.begin() + static_cast<std::ptrdiff_t>(first) + 1, rows.argmax.end());
  return scores;
}

}  // namespace engine
