// Rows of tokens for training and validation, as a pure function of seed and step: the data cursor is the step itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/tokenizer.h"
#include "engine/recipe.h"

namespace engine::data {

/// rows x seq tokens, row after row. Padding stands at the end of a row: target -1, weight 0, position counting on.
struct Batch {
  std::int64_t rows = 0;
  std::int64_t seq = 0;
  std::vector<std::int32_t> tokens;      ///< [rows*seq]
  std::vector<std::int32_t> positions;   ///< place in the document: 0 at each document's first token
  std::vector<std::int32_t> targets;     ///< next token, -1 where not scored
  std::vector<float> weights;            ///< loss weight of each target, 0 where not scored
  std::vector<std::int32_t> answer;      ///< 1 where the target belongs to an answer
  std::vector<std::int64_t> row_length;  ///< tokens before the padding, [rows]

  [[nodiscard]] std::int64_t real_tokens() const;
};

/// Rows [first, first + count) as a batch of their own.
Batch row_range(const Batch& batch, std::int64_t first, std::int64_t count);
/// Indices of the tokens that are no padding, in order.
std::vector<std::int32_t> real_places(const Batch& batch);
/// The chosen values, in order.
template <class Value>
std::vector<Value> pick(const std::vector<Value>& values, const std::vector<std::int32_t>& places) {
  std::vector<Value> picked;
  picked.reserve(places.size());
  for (const std::int32_t place : places) picked.push_back(values[static_cast<std::size_t>(place)]);
  return picked;
}
/// All real tokens in one row, document after document: positions restart, so nothing else is needed to keep them
/// apart.
Batch without_padding(const Batch& batch, const std::vector<std::int32_t>& places);

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  [[nodiscard]] virtual const Tokenizer& tokenizer() const = 0;
  /// The batch of training step `step` (from 0).
  [[nodiscard]] virtual Batch training(std::uint64_t seed, std::int64_t step, std::int64_t rows) const = 0;
  /// Held-out rows first .. first + rows - 1, the same at every call.
  [[nodiscard]] virtual Batch validation(std::int64_t first, std::int64_t rows) const = 0;
  /// Identifies the data: a hash of the task settings, or of the files' bytes.
  [[nodiscard]] virtual std::string data_hash() const = 0;
};

/// Reads files, builds or trains the tokenizer. Errors name the file, line or field. With `tokenizer` given (resume),
/// that one is used.
std::unique_ptr<BatchSource> make_batch_source(const DataConfig& config,
                                               std::shared_ptr<const Tokenizer> tokenizer = nullptr);

}  // namespace engine::data
