#include "engine/data/batch_rows.h"

#include <cstddef>
#include <numeric>
#include <utility>

namespace engine::data {

Batch row_range(const Batch& batch, std::int64_t first, std::int64_t count) {
  const auto slice = [&](const auto& values) {
    const auto begin = values.begin() + first * batch.seq;
    return std::decay_t<decltype(values)>(begin, begin + count * batch.seq);
  };
  Batch part;
  part.rows = count;
  part.seq = batch.seq;
  part.tokens = slice(batch.tokens);
  part.positions = slice(batch.positions);
  part.targets = slice(batch.targets);
  part.weights = slice(batch.weights);
  part.answer = slice(batch.answer);
  part.row_length.assign(batch.row_length.begin() + first, batch.row_length.begin() + first + count);
  return part;
}

std::vector<std::int32_t> real_places(const Batch& batch) {
  std::vector<std::int32_t> places;
  places.reserve(batch.tokens.size());
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    for (std::int64_t place = 0; place < batch.row_length[static_cast<std::size_t>(row)]; ++place) {
      places.push_back(static_cast<std::int32_t>(row * batch.seq + place));
    }
  }
  return places;
}

Batch without_padding(const Batch& batch, const std::vector<std::int32_t>& places) {
  Batch compact;
  compact.rows = 1;
  compact.seq = static_cast<std::int64_t>(places.size());
  compact.tokens = pick(batch.tokens, places);
  compact.positions = pick(batch.positions, places);
  compact.targets = pick(batch.targets, places);
  compact.weights = pick(batch.weights, places);
  compact.answer = pick(batch.answer, places);
  compact.row_length = {compact.seq};
  return compact;
}

std::int64_t Batch::real_tokens() const {
  return std::accumulate(row_length.begin(), row_length.end(), std::int64_t{0});
}

BatchRows::BatchRows(std::int64_t rows, std::int64_t seq, std::int32_t padding, TargetWeights weights)
    : weights_(weights) {
  const auto count = static_cast<std::size_t>(rows * seq);
  batch_.rows = rows;
  batch_.seq = seq;
  batch_.tokens.assign(count, padding);
  batch_.positions.assign(count, 0);
  batch_.targets.assign(count, -1);
  batch_.weights.assign(count, 0.0F);
  batch_.answer.assign(count, 0);
  batch_.row_length.assign(static_cast<std::size_t>(rows), 0);
}

std::int64_t BatchRows::room(std::int64_t row) const {
  return batch_.seq - batch_.row_length[static_cast<std::size_t>(row)];
}

void BatchRows::set_target(std::size_t at, std::int32_t target, TokenRole role) {
  batch_.targets[at] = target;
  batch_.weights[at] = static_cast<float>(role == TokenRole::other ? weights_.other : weights_.answer);
  batch_.answer[at] = role == TokenRole::answer ? 1 : 0;
}

void BatchRows::add(std::int64_t row, const Document& document) {
  std::int64_t& length = batch_.row_length[static_cast<std::size_t>(row)];
  const auto begin = static_cast<std::size_t>(row * batch_.seq + length);
  const std::size_t count = document.tokens.size();
  for (std::size_t i = 0; i < count; ++i) {
    batch_.tokens[begin + i] = document.tokens[i];
    batch_.positions[begin + i] = static_cast<std::int32_t>(i);
    if (i > 0) set_target(begin + i - 1, document.tokens[i], document.roles[i]);
    if (i > 0 && document.hidden[i - 1] >= 0) set_target(begin + i - 1, document.hidden[i - 1], TokenRole::answer);
  }
  if (document.next >= 0 && count > 0) set_target(begin + count - 1, document.next, TokenRole::other);
  length += document.size();
}

Batch BatchRows::take() {
  for (std::int64_t row = 0; row < batch_.rows; ++row) {
    const std::int64_t length = batch_.row_length[static_cast<std::size_t>(row)];
    for (std::int64_t t = length; t < batch_.seq; ++t) {
      const auto at = static_cast<std::size_t>(row * batch_.seq + t);
      batch_.positions[at] = t == 0 ? 0 : batch_.positions[at - 1] + 1;
    }
  }
  return std::move(batch_);
}

}  // namespace engine::data
