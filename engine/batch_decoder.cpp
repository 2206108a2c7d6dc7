#include "engine/batch_decoder.h"

#include <algorithm>

#include "engine/device_copy.h"
#include "engine/error.h"

namespace engine {

using kernels::Write;

namespace {

/// Prompts one after the other, with the place of each token in its prompt, in the cache, and each prompt's last row.
struct FlatPrompts {
  std::vector<std::int32_t> tokens, positions, cache_rows, last_rows, fused;

  FlatPrompts(const std::vector<std::vector<std::int32_t>>& prompts, std::int64_t capacity) {
    for (std::size_t row = 0; row < prompts.size(); ++row) {
      for (std::size_t place = 0; place < prompts[row].size(); ++place) {
        tokens.push_back(prompts[row][place]);
        positions.push_back(static_cast<std::int32_t>(place));
        cache_rows.push_back(
            static_cast<std::int32_t>(static_cast<std::int64_t>(row) * capacity + static_cast<std::int64_t>(place)));
        fused.push_back(place > 0 ? 1 : 0);
      }
      last_rows.push_back(static_cast<std::int32_t>(tokens.size()) - 1);
    }
  }
};

}  // namespace

BatchDecoder::BatchDecoder(kernels::Backend& backend, const Parameters& parameters)
    : backend_(&backend),
      prefill_(backend, parameters),
      cache_arena_(backend),
      step_arena_(backend),
      sample_arena_(backend),
      tape_(backend, step_arena_),
      model_(tape_, parameters) {
  tape_.seal();
  tape_.set_recording(false);
}

void BatchDecoder::allocate_cache(std::int64_t rows) {
  const ModelConfig& c = model_.config();
  cache_arena_.reset();
  cache_.clear();
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    const std::int64_t width = c.kv_heads * c.head_dim();
    cache_.push_back({cache_arena_.matrix(rows * capacity_, width), cache_arena_.matrix(rows * capacity_, width)});
  }
  carried_ = cache_arena_.matrix(rows, c.dim);
  logits_ = cache_arena_.matrix(rows, c.vocab);
  first_.resize(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r)
    first_[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r * capacity_);
  fused_.assign(static_cast<std::size_t>(rows), 1);
  device_first_ = upload_indices(*backend_, cache_arena_, first_);
  device_fused_ = upload_indices(*backend_, cache_arena_, fused_);
  step_inputs_ = cache_arena_.indices(4 * rows);
  recorded_step_ = backend_->record([this] { run_step({}); });
}

void BatchDecoder::prefill(const std::vector<std::vector<std::int32_t>>& prompts, DecodeMode mode, std::int64_t max_new,
                           int fused_prefill_passes) {
  std::size_t longest = 0;
  lengths_.clear();
  for (const auto& prompt : prompts) {
    if (prompt.empty()) throw ConfigError("prompt", "must have at least one token");
    longest = std::max(longest, prompt.size());
    lengths_.push_back(static_cast<std::int32_t>(prompt.size()));
  }
  mode_ = mode;
  capacity_ = static_cast<std::int64_t>(longest) + max_new;
  allocate_cache(static_cast<std::int64_t>(prompts.size()));

  const FlatPrompts flat(prompts, capacity_);
  prefill_.begin(flat.tokens, flat.positions);
  StackHooks store;
  store.cache = &cache_;
  store.cache_rows = prefill_.keep_indices(flat.cache_rows);
  if (mode == DecodeMode::fused) {
    prefill_.plain_pass();  // its cache is never kept: the last feedback pass fills the cache from position 0
    for (int pass = 1; pass <= fused_prefill_passes; ++pass) {
      prefill_.feedback_pass(flat.fused, pass == fused_prefill_passes ? store : StackHooks{});
    }
  } else {
    prefill_.plain_pass(store);
  }
  take_last_positions(flat.last_rows);
}

void BatchDecoder::take_last_positions(const std::vector<std::int32_t>& last_rows) {
  tape_.clear();
  step_arena_.reset();
  const kernels::IndexView rows = upload_indices(*backend_, step_arena_, last_rows);
  backend_->gather_rows(prefill_.carried(), rows, carried_);
  const kernels::View normed = step_arena_.matrix(rows.count, carried_.cols);
  backend_->gather_rows(prefill_.normed(), rows, normed);
  backend_->linear(normed, tape_.value(model_.head()), logits_, Write::assign);
}

std::vector<SampledToken> BatchDecoder::sample(const SamplerSettings& settings, std::int64_t index,
                                               std::int64_t first_row) {
  const std::int64_t rows = logits_.rows;
  std::vector<float> uniforms;
  for (std::int64_t row = 0; row < rows; ++row) {
    kernels::PhiloxReader random({settings.seed, kernels::Purpose::sampling, static_cast<std::uint64_t>(index),
                                  static_cast<std::uint32_t>(first_row + row)});
    uniforms.push_back(random.next_unit());
  }
  sample_arena_.reset();
  const kernels::IndexView ids = sample_arena_.indices(rows);
  const kernels::View logprob = sample_arena_.matrix(rows, 1);
  const kernels::View entropy = sample_arena_.matrix(rows, 1);
  backend_->sample(logits_, {settings.temperature, settings.top_k, settings.top_p},
                   upload_matrix(*backend_, sample_arena_, uniforms, 1), ids, logprob, entropy);
  const std::vector<std::int32_t> host_ids = download_indices(*backend_, ids);
  const std::vector<float> host_logprob = download_matrix(*backend_, logprob);
  const std::vector<float> host_entropy = download_matrix(*backend_, entropy);
  std::vector<SampledToken> sampled;
  for (std::size_t r = 0; r < host_ids.size(); ++r) sampled.push_back({host_ids[r], host_logprob[r], host_entropy[r]});
  return sampled;
}

void BatchDecoder::step(const std::vector<std::int32_t>& tokens, const ResidualObserver& observe) {
  const std::size_t rows = tokens.size();
  step_values_.resize(4 * rows);
  for (std::size_t r = 0; r < rows; ++r) {
    if (lengths_[r] >= capacity_) throw Error("decoding went past the room left for it");
    step_values_[r] = tokens[r];
    step_values_[rows + r] = lengths_[r];
    step_values_[2 * rows + r] = first_[r] + lengths_[r];
    step_values_[3 * rows + r] = lengths_[r] + 1;
  }
  backend_->upload(step_values_.data(), step_inputs_.data, step_inputs_.count * std::int64_t{sizeof(std::int32_t)});
  // Outside the recorded operations, because it may allocate.
  tape_.clear();
  step_arena_.reset();
  if (observe) {
    run_step(observe);
  } else {
    recorded_step_->run();
  }
  for (std::int32_t& length : lengths_) ++length;
}

void BatchDecoder::run_step(const ResidualObserver& observe) {
  const std::int64_t rows = logits_.rows;
  const auto input_of = [&](std::int64_t index) { return kernels::IndexView{step_inputs_.data + index * rows, rows}; };
  const Variable embeddings = model_.embed(input_of(0));
  Variable input = model_.plain_input(embeddings, false);
  if (mode_ != DecodeMode::standard) {
    // Every row is fused, so the plain operand is never read.
    input = model_.fused_input(tape_.constant(carried_), model_.token_side(embeddings), input, device_fused_, 0);
  }
  StackHooks hooks;
  hooks.cache = &cache_;
  hooks.cache_rows = input_of(2);
  hooks.decode = true;
  hooks.decode_first = device_first_;
  hooks.decode_length = input_of(3);
  if (observe) {
    hooks.on_residual = [&](std::int64_t depth, Variable residual) { observe(depth, tape_.value(residual)); };
  }
  const StackOutput top = model_.stack(input, input_of(1), hooks);
  backend_->linear(tape_.value(top.normed), tape_.value(model_.head()), logits_, Write::assign);
  backend_->scaled(tape_.value(top.carried), 1.0F, carried_, Write::assign);
}

void BatchDecoder::step_back(std::int64_t positions, kernels::ConstView carried) {
  for (std::int32_t& length : lengths_) {
    if (positions < 0 || positions > length) throw Error("decoding went back before the prompt's first token");
    length -= static_cast<std::int32_t>(positions);
  }
  backend_->scaled(carried, 1.0F, carried_, Write::assign);
}

}  // namespace engine
