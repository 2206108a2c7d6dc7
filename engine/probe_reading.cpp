#include "engine/probe_reading.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "engine/arena.h"
#include "engine/batch_decoder.h"
#include "engine/device_copy.h"
#include "engine/error.h"
#include "kernels/philox.h"

namespace engine {

using kernels::Write;

namespace {

constexpr std::size_t kTokensAtOnce = 16384;
constexpr std::size_t kPromptsAtOnce = 320;
constexpr std::uint32_t kDonorStream = 17;  // the folds draw from the stream before it

using Batch = std::vector<std::size_t>;  // numbers of prompts of one length

/// Prompts of equal length together, in their order, in batches that bound the memory.
std::vector<Batch> batches_of_equal_length(const std::vector<ProbePrompt>& prompts) {
  std::map<std::size_t, Batch> by_length;
  for (std::size_t n = 0; n < prompts.size(); ++n) by_length[prompts[n].tokens.size()].push_back(n);
  std::vector<Batch> batches;
  for (const auto& [length, members] : by_length) {
    if (length < 2) throw ConfigError("prompts", "a probe needs prompts of at least two tokens");
    const std::size_t at_once = std::clamp<std::size_t>(kTokensAtOnce / length, 1, kPromptsAtOnce);
    for (std::size_t first = 0; first < members.size(); first += at_once) {
      const std::size_t end = std::min(members.size(), first + at_once);
      batches.emplace_back(members.begin() + static_cast<std::ptrdiff_t>(first),
                           members.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  return batches;
}

class PromptReader {
 public:
  PromptReader(kernels::Backend& backend, const Parameters& parameters, const std::vector<ProbePrompt>& prompts,
               const AnswerTokens& answers, const PrefillCondition& condition, std::uint64_t seed,
               const std::stop_token& stop)
      : backend_(backend),
        decoder_(backend, parameters),
        arena_(backend),
        prompts_(prompts),
        answers_(answers),
        recurrent_(condition.recurrent),
        random_({seed, kernels::Purpose::analysis, 0, kDonorStream}),
        stop_(stop),
        dim_(static_cast<std::size_t>(parameters.config().dim)) {
    const auto depths = static_cast<std::size_t>(parameters.config().layers) + 1;
    reading_.states.assign(depths, std::vector<float>(prompts.size() * dim_));
    reading_.answer.assign(prompts.size(), -1);
    if (recurrent_ == 0) return;
    reading_.with_same_label.assign(prompts.size(), -1);
    reading_.with_other_label.assign(prompts.size(), -1);
  }

  void read(const Batch& batch) {
    reach_last_position(batch);
    arena_.reset();
    const kernels::View carried = arena_.matrix(decoder_.carried().rows, decoder_.carried().cols);
    backend_.scaled(decoder_.carried(), 1.0F, carried, Write::assign);
    decoder_.step(last_tokens(batch),
                  [&](std::int64_t depth, kernels::ConstView residual) { keep_states(batch, depth, residual); });
    const std::vector<int> answers = answers_now(batch.size());
    for (std::size_t r = 0; r < batch.size(); ++r) reading_.answer[batch[r]] = answers[r];
    if (recurrent_ == 0) return;
    exchange(batch, carried, false, reading_.with_same_label);
    exchange(batch, carried, true, reading_.with_other_label);
  }

  ProbeReading take() { return std::move(reading_); }

 private:
  /// For each row of the batch the row whose state it gets; its own where none fits.
  using Donors = std::vector<std::int32_t>;

  void step(const std::vector<std::int32_t>& tokens) {
    if (stop_.stop_requested()) throw Cancelled();
    decoder_.step(tokens);
  }

  [[nodiscard]] std::vector<std::int32_t> tokens_at(const Batch& batch, std::size_t place) const {
    std::vector<std::int32_t> tokens;
    for (const std::size_t n : batch) tokens.push_back(prompts_[n].tokens[place]);
    return tokens;
  }
  [[nodiscard]] std::vector<std::int32_t> last_tokens(const Batch& batch) const {
    return tokens_at(batch, prompts_[batch[0]].tokens.size() - 1);
  }

  /// Everything but the last token: the plain ones at once, the recurrent ones step by step.
  void reach_last_position(const Batch& batch) {
    if (stop_.stop_requested()) throw Cancelled();
    const std::size_t length = prompts_[batch[0]].tokens.size();
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(1, recurrent_));
    const std::size_t plain = length - std::min(wanted, length - 1);
    std::vector<std::vector<std::int32_t>> starts;
    for (const std::size_t n : batch) {
      const std::vector<std::int32_t>& tokens = prompts_[n].tokens;
      starts.emplace_back(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(plain));
    }
    decoder_.prefill(starts, recurrent_ == 0 ? DecodeMode::standard : DecodeMode::soft,
                     static_cast<std::int64_t>(length - plain + answers_.shared.size()));
    for (std::size_t place = plain; place + 1 < length; ++place) step(tokens_at(batch, place));
  }

  void keep_states(const Batch& batch, std::int64_t depth, kernels::ConstView residual) {
    const std::vector<float> values = download_matrix(backend_, residual);
    std::vector<float>& states = reading_.states[static_cast<std::size_t>(depth)];
    for (std::size_t r = 0; r < batch.size(); ++r) {
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(r * dim_);
      std::copy_n(from, dim_, states.begin() + static_cast<std::ptrdiff_t>(batch[r] * dim_));
    }
  }

  /// The likelier answer of each row.
  std::vector<int> answers_now(std::size_t rows) {
    for (const std::int32_t token : answers_.shared) step(std::vector<std::int32_t>(rows, token));
    const kernels::ConstView logits = decoder_.logits();
    const std::vector<float> zero = download_matrix(backend_, logits.column_range(answers_.zero, 1));
    const std::vector<float> one = download_matrix(backend_, logits.column_range(answers_.one, 1));
    std::vector<int> answers;
    for (std::size_t r = 0; r < rows; ++r) answers.push_back(one[r] > zero[r] ? 1 : 0);
    return answers;
  }

  /// Takes the last position again, each row with another prompt's state.
  void exchange(const Batch& batch, kernels::ConstView carried, bool other_label, std::vector<int>& kept) {
    const Donors donors = draw_donors(batch, other_label);
    const kernels::View states = arena_.matrix(carried.rows, carried.cols);
    backend_.gather_rows(carried, upload_indices(backend_, arena_, donors), states);
    decoder_.step_back(1 + static_cast<std::int64_t>(answers_.shared.size()), states);
    step(last_tokens(batch));
    const std::vector<int> answers = answers_now(batch.size());
    for (std::size_t r = 0; r < batch.size(); ++r) {
      if (donors[r] != static_cast<std::int32_t>(r)) kept[batch[r]] = answers[r];
    }
  }

  Donors draw_donors(const Batch& batch, bool other_label) {
    Donors donors;
    for (std::size_t r = 0; r < batch.size(); ++r) {
      donors.push_back(static_cast<std::int32_t>(r));
      const std::size_t first = random_.next_below(static_cast<std::uint32_t>(batch.size()));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::size_t donor = (first + i) % batch.size();
        if (!fits(prompts_[batch[r]], prompts_[batch[donor]], other_label)) continue;
        donors[r] = static_cast<std::int32_t>(donor);
        break;
      }
    }
    return donors;
  }

  static bool fits(const ProbePrompt& prompt, const ProbePrompt& donor, bool other_label) {
    return donor.group != prompt.group && donor.slice == prompt.slice && (donor.label != prompt.label) == other_label;
  }

  kernels::Backend& backend_;
  BatchDecoder decoder_;
  Arena arena_;  // one batch
  const std::vector<ProbePrompt>& prompts_;
  const AnswerTokens& answers_;
  std::int64_t recurrent_;
  kernels::PhiloxReader random_;
  std::stop_token stop_;
  std::size_t dim_;
  ProbeReading reading_;
};

}  // namespace

std::vector<PrefillCondition> prefill_conditions() {
  return {{"standard", 0}, {"recurrent-1", 1}, {"recurrent-2", 2}, {"recurrent-4", 4}, {"full", kAllPositions}};
}

ProbeReading read_prompts(kernels::Backend& backend, const Parameters& parameters,
                          const std::vector<ProbePrompt>& prompts, const AnswerTokens& answers,
                          const PrefillCondition& condition, std::uint64_t seed,
                          const std::function<void(std::int64_t)>& on_progress, const std::stop_token& stop) {
  PromptReader reader(backend, parameters, prompts, answers, condition, seed, stop);
  std::int64_t done = 0;
  for (const Batch& batch : batches_of_equal_length(prompts)) {
    reader.read(batch);
    done += static_cast<std::int64_t>(batch.size());
    if (on_progress) on_progress(done);
  }
  return reader.take();
}

}  // namespace engine
