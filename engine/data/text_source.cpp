#include "engine/data/text_source.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/data/batch_rows.h"
#include "engine/data/tokenizer_choice.h"
#include "engine/error.h"
#include "kernels/philox.h"

namespace engine::data {
namespace {

using Tokens = std::vector<std::int32_t>;

/// Documents as tokens, and how many rows each would fill.
class Stretches {
 public:
  Stretches(const std::vector<TextPart>& parts, const Tokenizer& tokenizer, std::int64_t seq) : seq_(seq) {
    for (const TextPart& part : parts) {
      Tokens tokens = tokenizer.encode(part.text);
      if (part.ends) tokens.push_back(tokenizer.end_of_text());
      if (tokens.size() < 2) continue;
      rows_ += (static_cast<std::int64_t>(tokens.size()) - 2) / seq_ + 1;
      rows_up_to_.push_back(rows_);
      documents_.push_back(std::move(tokens));
    }
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }

  /// Tile number `row` < rows() of all stretches one after the other.
  [[nodiscard]] Document tile(std::int64_t row) const {
    const std::size_t which = document_of(row);
    const std::int64_t before = which == 0 ? 0 : rows_up_to_[which - 1];
    return window(documents_[which], (row - before) * seq_);
  }

  /// A window at a random place of the document that has tile `row`.
  [[nodiscard]] Document random_window(std::int64_t row, kernels::PhiloxReader& random) const {
    const Tokens& tokens = documents_[document_of(row)];
    const std::int64_t places = std::max<std::int64_t>(1, static_cast<std::int64_t>(tokens.size()) - seq_);
    return window(tokens, below(random, places));
  }

  /// Uniform integer in [0, count), for counts beyond 32 bits.
  static std::int64_t below(kernels::PhiloxReader& random, std::int64_t count) {
    const std::uint64_t high = random.next_word();
    const std::uint64_t number = high << 32U | random.next_word();
    return static_cast<std::int64_t>(number % static_cast<std::uint64_t>(count));
  }

 private:
  [[nodiscard]] std::size_t document_of(std::int64_t row) const {
    return static_cast<std::size_t>(std::upper_bound(rows_up_to_.begin(), rows_up_to_.end(), row) -
                                    rows_up_to_.begin());
  }

  [[nodiscard]] Document window(const Tokens& tokens, std::int64_t begin) const {
    const auto size = static_cast<std::int64_t>(tokens.size());
    const std::int64_t end = std::min(size, begin + seq_);
    Document document;
    for (std::int64_t i = begin; i < end; ++i) document.add(tokens[static_cast<std::size_t>(i)], TokenRole::other);
    if (end < size) document.next = tokens[static_cast<std::size_t>(end)];
    return document;
  }

  std::int64_t seq_;
  std::int64_t rows_ = 0;
  std::vector<Tokens> documents_;
  std::vector<std::int64_t> rows_up_to_;  ///< rows of the documents up to and with this one
};

std::shared_ptr<const Tokenizer> tokenizer_or(std::shared_ptr<const Tokenizer> tokenizer, const DataConfig& config,
                                              const Corpus& corpus) {
  if (tokenizer != nullptr) return tokenizer;
  return make_text_tokenizer(config, [&] {
    std::string text;
    for (const TextPart& part : corpus.training) text += part.text + "\n";
    return text;
  });
}

class TextSource : public BatchSource {
 public:
  TextSource(const DataConfig& config, const Corpus& corpus, std::shared_ptr<const Tokenizer> tokenizer)
      : tokenizer_(tokenizer_or(std::move(tokenizer), config, corpus)),
        training_(corpus.training, *tokenizer_, config.seq),
        held_out_(corpus.held_out, *tokenizer_, config.seq),
        seq_(config.seq),
        packing_(config.packing),
        weights_{config.answer_weight, config.other_weight},
        hash_(corpus.hash) {
    if (!(config.other_weight > 0.0)) {
      throw ConfigError("data.other_weight", "text has no answers, so nothing would be scored; use a weight above 0");
    }
    if (training_.rows() == 0 || held_out_.rows() == 0) {
      throw ConfigError(corpus.field, "the text is too short to train on it and hold out a share of " +
                                          std::to_string(config.validation_share) + "; give more text");
    }
  }

  [[nodiscard]] const Tokenizer& tokenizer() const override { return *tokenizer_; }

  [[nodiscard]] Batch training(std::uint64_t seed, std::int64_t step, std::int64_t rows) const override {
    BatchRows result(rows, seq_, tokenizer_->end_of_text(), weights_);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto number = static_cast<std::uint64_t>(step * rows + row);
      kernels::PhiloxReader random({seed, kernels::Purpose::training_data, number, 2});
      fill_row(result, row, random);
    }
    return result.take();
  }

  [[nodiscard]] Batch validation(std::int64_t first, std::int64_t rows) const override {
    BatchRows result(rows, seq_, tokenizer_->end_of_text(), weights_);
    for (std::int64_t row = 0; row < rows; ++row) result.add(row, held_out_.tile((first + row) % held_out_.rows()));
    return result.take();
  }

  [[nodiscard]] std::string data_hash() const override { return hash_; }

 private:
  void fill_row(BatchRows& result, std::int64_t row, kernels::PhiloxReader& random) const {
    do {
      const Document document = training_.random_window(Stretches::below(random, training_.rows()), random);
      if (document.size() > result.room(row)) return;
      result.add(row, document);
    } while (packing_);
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  Stretches training_;
  Stretches held_out_;
  std::int64_t seq_;
  bool packing_;
  TargetWeights weights_;
  std::string hash_;
};

}  // namespace

std::unique_ptr<BatchSource> make_text_source(const DataConfig& config, const Corpus& corpus,
                                              std::shared_ptr<const Tokenizer> tokenizer) {
  return std::make_unique<TextSource>(config, corpus, std::move(tokenizer));
}

}  // namespace engine::data
