// Where the chips of a token strip stand: they flow from left to right and wrap at the width; a newline ends the line.
#pragma once

#include <QFont>
#include <QRectF>
#include <QString>
#include <string_view>
#include <vector>

#include "engine/data/tokenizer.h"

namespace widgets {

/// Whitespace made visible (· ↵ ⇥) and control characters as <0x07>.
QString visible_text(const QString& text);

/// Token bytes to display text, one text a token. An incomplete character is held back and shown with the token that
/// completes it; a lone byte reads <0xE2>.
class TokenText {
 public:
  QString push(std::string_view bytes);
  /// What is still held back, when no more bytes come.
  QString finish();

 private:
  engine::data::Utf8Stream stream_;
};

class TokenLayout {
 public:
  static constexpr double kLineHeight = 26;
  static constexpr double kChipHeight = 21;

  explicit TokenLayout(const QFont& font) : font_(font) {}
  /// Lays all chips out anew for another width.
  void set_width(double width);
  void clear();
  /// `text` as drawn; `ends_line` when the token holds a newline; `mark` leaves room for a sign before the text.
  void add(const QString& text, bool ends_line, bool mark);
  /// Text of the last chip grows (held-back bytes at the end of a rollout), or a mark comes or goes.
  void change(std::size_t index, const QString& text, bool ends_line, bool mark);
  [[nodiscard]] const std::vector<QRectF>& chips() const { return areas_; }
  [[nodiscard]] double height() const { return areas_.empty() ? 0 : areas_.back().bottom() + 3; }
  /// First chip whose line reaches below y; chips().size() for none.
  [[nodiscard]] std::size_t first_below(double y) const;
  /// Chip at a place, -1 for none.
  [[nodiscard]] int at(const QPointF& place) const;
  /// The chip nearest above or below another one, for the arrow keys.
  [[nodiscard]] int neighbour(int index, int lines) const;

 private:
  struct Chip {
    double width = 0;
    bool ends_line = false;
  };
  [[nodiscard]] double chip_width(const QString& text, bool mark) const;
  void place(std::size_t index);

  QFont font_;
  double width_ = 400;
  std::vector<Chip> chips_;
  std::vector<QRectF> areas_;
};

}  // namespace widgets
