// One decoding mode on the Rollouts page: the streamed tokens, and below them what they cost.
#pragma once

#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "app/inference_worker.h"
#include "engine/rollout_types.h"
#include "widgets/card.h"
#include "widgets/stat_table.h"
#include "widgets/token_strip.h"

namespace app {

class RolloutColumn : public widgets::Card {
  Q_OBJECT

 public:
  explicit RolloutColumn(engine::DecodeMode mode, QWidget* parent = nullptr);

  /// Empties the column for a rollout that is to come.
  void begin(const engine::RolloutRequest& request);
  void set_prompt(const PromptTokens& prompt) { strip_->set_prompt(prompt.ids, prompt.bytes); }
  void add_token(const engine::RolloutToken& token);
  void finish(const engine::Rollout& rollout, Decoder::Verdict verdict);
  void fail(const QString& sentence);

  void set_color_by(widgets::TokenColor color) { strip_->set_color_by(color); }
  /// Index of the first generated token that differs between the columns.
  void set_divergence(std::optional<std::size_t> token) { strip_->set_divergence(token); }
  [[nodiscard]] engine::DecodeMode mode() const { return mode_; }
  /// The finished rollout, if there is one.
  [[nodiscard]] const std::optional<engine::Rollout>& rollout() const { return rollout_; }
  [[nodiscard]] widgets::TokenStrip* strip() const { return strip_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_prefill(int passes);
  void show_progress();
  void refresh_marker();

  engine::DecodeMode mode_;
  engine::RolloutRequest request_;
  std::optional<engine::Rollout> rollout_;
  std::int64_t count_ = 0;
  double milliseconds_ = 0;
  widgets::TokenStrip* strip_;
  widgets::StatRow* stats_;
};

}  // namespace app
