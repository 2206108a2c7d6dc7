#include "engine/answer_accuracy.h"

#include <algorithm>

#include "engine/batch_decoder.h"
#include "engine/device_copy.h"
#include "engine/error.h"
#include "engine/multipass.h"
#include "engine/pass_runner.h"

namespace engine {
namespace {

constexpr std::int64_t kRowsAtOnce = 64;

/// Places of the answers, the same in every row.
std::vector<std::int64_t> answer_places(const data::Batch& batch) {
  std::vector<std::int64_t> places;
  for (std::int64_t n = 0; n < batch.rows * batch.seq; ++n) {
    const std::int64_t place = n % batch.seq;
    const bool answer = batch.answer[static_cast<std::size_t>(n)] != 0;
    if (n < batch.seq && answer) places.push_back(place);
    if (answer != std::binary_search(places.begin(), places.end(), place)) {
      throw kernels::ShapeError("accuracy_by_answer: the rows must have their answers at the same places");
    }
  }
  return places;
}

/// The most likely next token of every place, -1 where it was not measured.
std::vector<std::int32_t> read_in_passes(InferenceModel& model, const data::Batch& batch, int feedback_passes) {
  PassRunner runner(model.backend(), model.parameters());
  const auto fused = fused_flags(batch, std::vector<std::int64_t>(static_cast<std::size_t>(batch.rows), 1));
  runner.begin(batch.tokens, batch.positions);
  runner.plain_pass();
  for (int pass = 0; pass < feedback_passes; ++pass) runner.feedback_pass(fused);
  return runner.score(batch.targets).argmax;
}

/// Tokens of one place, a row each.
std::vector<std::int32_t> column(const data::Batch& batch, std::int64_t place) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    tokens.push_back(batch.tokens[static_cast<std::size_t>(row * batch.seq + place)]);
  }
  return tokens;
}

std::vector<std::int32_t> read_token_by_token(InferenceModel& model, const data::Batch& batch, std::int64_t plain,
                                              std::int64_t places, const std::stop_token& stop) {
  BatchDecoder decoder(model.backend(), model.parameters());
  std::vector<std::vector<std::int32_t>> prompts;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const auto begin = batch.tokens.begin() + row * batch.seq;
    prompts.emplace_back(begin, begin + plain);
  }
  decoder.prefill(prompts, DecodeMode::soft, places - plain);
  std::vector<std::int32_t> likely(batch.tokens.size(), -1);
  for (std::int64_t place = plain - 1; place < places; ++place) {
    if (stop.stop_requested()) throw Cancelled();
    const std::vector<SampledToken> greedy = decoder.sample({}, place);
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      likely[static_cast<std::size_t>(row * batch.seq + place)] = greedy[static_cast<std::size_t>(row)].id;
    }
    if (place + 1 < places) decoder.step(column(batch, place + 1));
  }
  return likely;
}

}  // namespace

std::vector<Estimate> accuracy_by_answer(InferenceModel& model, const data::Batch& rows, const RowReading& reading,
                                         const std::stop_token& stop) {
  const std::vector<std::int64_t> places = answer_places(rows);
  if (places.empty()) return {};
  const std::int64_t end = places.back() + 1;
  const std::int64_t plain = std::clamp<std::int64_t>(reading.plain, 1, end);
  std::vector<RowMean> means(places.size());
  for (std::int64_t first = 0; first < rows.rows; first += kRowsAtOnce) {
    if (stop.stop_requested()) throw Cancelled();
    const data::Batch part = data::row_range(rows, first, std::min(kRowsAtOnce, rows.rows - first));
    const std::vector<std::int32_t> likely = reading.recurrent ? read_token_by_token(model, part, plain, end, stop)
                                                               : read_in_passes(model, part, reading.feedback_passes);
    for (std::int64_t row = 0; row < part.rows; ++row) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        const auto at = static_cast<std::size_t>(row * part.seq + places[i]);
        if (likely[at] >= 0) means[i].add_row(likely[at] == part.targets[at] ? 1 : 0, 1);
      }
    }
  }
  std::vector<Estimate> accuracy;
  for (const RowMean& mean : means) accuracy.push_back(mean.estimate());
  return accuracy;
}

}  // namespace engine
