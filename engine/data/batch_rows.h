// Writes documents into the rows of a batch: targets, weights, positions and padding.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/batch_source.h"

namespace engine::data {

/// What a token is when it is a target.
enum class TokenRole : std::uint8_t {
  other,
  answer,
  after_answer,  ///< the end of text after an answer: weighted like it, not counted as it
};

/// Tokens of one document, end of text included where it belongs to the row.
struct Document {
  std::vector<std::int32_t> tokens;
  std::vector<TokenRole> roles;      ///< one a token
  std::vector<std::int32_t> hidden;  ///< one a token: the answer that is its target instead of the next token, or -1
  std::int32_t next = -1;            ///< target of the last token, -1 if nothing follows; role other

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
  void add(std::int32_t token, TokenRole role) {
    tokens.push_back(token);
    roles.push_back(role);
    hidden.push_back(-1);
  }
};

struct TargetWeights {
  double answer = 1.0;
  double other = 1.0;
};

/// Fills a batch row after row; every row starts as padding.
class BatchRows {
 public:
  BatchRows(std::int64_t rows, std::int64_t seq, std::int32_t padding, TargetWeights weights);

  /// Tokens that row `row` still has room for.
  [[nodiscard]] std::int64_t room(std::int64_t row) const;
  /// Appends a document that fits; its positions start at 0. An own target never lies in another document.
  void add(std::int64_t row, const Document& document);
  /// The batch, with the positions of the padding counting on.
  Batch take();

 private:
  void set_target(std::size_t at, std::int32_t target, TokenRole role);

  Batch batch_;
  TargetWeights weights_;
};

}  // namespace engine::data
