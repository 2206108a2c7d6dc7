// Parts that the pages which measure have in common: number boxes, cards, the card that says what is to be seen.
#pragma once

#include <QString>
#include <optional>
#include <set>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QScrollArea;
class QSpinBox;
class QWidget;

namespace widgets {
class Card;
class StatTable;
}  // namespace widgets

namespace app {

/// Px between two cards.
inline constexpr int kCardGap = 12;

/// A box for a whole number; `prefix` stands before it, `name` is its tool tip and accessible name. Numbers are shown
/// as in C, whatever the locale.
QSpinBox* make_count(QWidget* parent, const QString& name, const QString& prefix, int least, int most, int value);
/// The same for a number with two decimals.
QDoubleSpinBox* make_number(QWidget* parent, const QString& name, const QString& prefix, double least, double most,
                            double value);
/// An empty choice with its name.
QComboBox* make_choice(QWidget* parent, const QString& name);

/// "0, 8, 32" in ascending order, each once; nothing when a part is no whole number from 0 to `most`.
std::optional<std::set<int>> whole_numbers(const QString& text, int most);

/// A card that gives its content what height there is, so that cards of a grid are as high as each other.
widgets::Card* card_with(QWidget* content, QWidget* parent);
/// Scrolls down alone, without a frame.
QScrollArea* scroll_area(QWidget* content, QWidget* parent);

/// "What you see": sentences, and below them what they were measured on.
struct ReadingCard {
  widgets::Card* card = nullptr;
  QLabel* text = nullptr;
  widgets::StatTable* stats = nullptr;
};
ReadingCard make_reading_card(QWidget* parent);

}  // namespace app
