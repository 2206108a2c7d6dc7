// A card: a quiet frame with an optional title, a caption at the title's right, and content.
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace widgets {

class Card : public QFrame {
  Q_OBJECT

 public:
  /// `title` may be empty: no line is kept for it then.
  explicit Card(const QString& title = {}, QWidget* parent = nullptr);
  void set_title(const QString& title);
  /// Secondary text at the right end of the title's line.
  void set_caption(const QString& caption);
  /// Group headings (RUNS, NOW) instead of a title: small capitals.
  void set_heading_style();
  /// A coloured square before the title (a decoding mode's colour); invalid: none.
  void set_marker(const QColor& color);
  /// A small widget at the right end of the title's line, after the caption.
  void add_to_header(QWidget* widget);
  [[nodiscard]] QVBoxLayout* body() const { return body_; }

 private:
  void show_header();

  QHBoxLayout* header_;
  QLabel* marker_;
  QLabel* title_;
  QLabel* caption_;
  QVBoxLayout* body_;
};

}  // namespace widgets
