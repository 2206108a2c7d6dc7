// Generated tokens as chips, coloured in the decoding mode's hue: the less likely (or the more uncertain), the
// stronger. Keys: arrows, Home and End move the cursor, Ctrl+C copies the text.
#pragma once

#include <QAbstractScrollArea>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/rollout_types.h"
#include "widgets/figure_export.h"
#include "widgets/palette.h"
#include "widgets/token_layout.h"

namespace widgets {

enum class TokenColor { log_probability, entropy };

class TokenStrip : public QAbstractScrollArea, public FigureSource {
  Q_OBJECT

 public:
  explicit TokenStrip(QWidget* parent = nullptr);

  void set_mode(engine::DecodeMode mode);
  void set_color_by(TokenColor color);
  /// Names of tokens without bytes: {63, "<eot>"}. Others are shown by id.
  void set_special_names(std::map<std::int32_t, std::string> names);
  /// Shown while there are no tokens.
  void set_empty_text(const QString& text);

  void clear();
  /// Prompt tokens, drawn without colour before the generated ones.
  void set_prompt(const std::vector<std::int32_t>& ids, const std::vector<std::string>& bytes);
  void append(const engine::RolloutToken& token);
  void append(const std::vector<engine::RolloutToken>& tokens);
  /// No more tokens come: bytes still held back are shown as <0xE2>.
  void finish();
  /// Prompt and tokens of a finished rollout at once.
  void set_rollout(const engine::Rollout& rollout);

  /// Index among the generated tokens at which this rollout first differs from another; nothing: none.
  void set_divergence(std::optional<std::size_t> token);
  /// Cursor over prompt and generated tokens, -1 for none.
  [[nodiscard]] int current() const { return current_; }
  void set_current(int index);
  [[nodiscard]] std::size_t prompt_size() const { return prompt_size_; }
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  /// What one token shows: visible whitespace, special tokens by name.
  [[nodiscard]] QString shown(std::size_t index) const { return tokens_.at(index).shown; }
  /// Text of the generated tokens, without special ones.
  [[nodiscard]] QString text() const;
  /// "id 17 · log-probability -0.31 · entropy 0.80 · 0.21 ms"
  [[nodiscard]] QString describe(int index) const;
  void copy_text() const;
  /// In words, for a legend: "stronger: less likely".
  [[nodiscard]] QString color_legend() const;
  [[nodiscard]] QRect chip_rect(int index) const;  ///< in viewport coordinates

  [[nodiscard]] QString figure_title() const override;
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;

  [[nodiscard]] QSize sizeHint() const override { return {320, 240}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {140, 60}; }

 signals:
  void current_changed(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  struct Item {
    std::int32_t id = 0;
    QString text;   // as it is
    QString shown;  // as drawn
    std::string bytes;
    bool prompt = false;
    bool special = false;
    float logprob = 0;
    float entropy = 0;
    double milliseconds = 0;
  };
  void add(Item item);
  void fill_text(Item& item);
  void refresh_item(std::size_t index);
  void update_scroll_bar(bool keep_end);
  [[nodiscard]] bool diverges(std::size_t index) const;
  [[nodiscard]] double strength(const Item& item) const;
  void draw_chip(QPainter& painter, const Theme& theme, std::size_t index, const QRectF& area) const;

  engine::DecodeMode mode_ = engine::DecodeMode::standard;
  TokenColor color_ = TokenColor::log_probability;
  std::map<std::int32_t, std::string> names_;
  QString empty_text_;
  std::vector<Item> tokens_;
  std::size_t prompt_size_ = 0;
  std::optional<std::size_t> divergence_;
  int current_ = -1;
  TokenText stream_;
  TokenLayout layout_;
};

}  // namespace widgets
