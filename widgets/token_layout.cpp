#include "widgets/token_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

constexpr double kPadding = 3;
constexpr double kGap = 2;
constexpr double kMarkWidth = 14;
constexpr double kPendingWidth = 8;

}  // namespace

QString visible_text(const QString& text) {
  QString shown;
  for (const QChar character : text) {
    if (character == QLatin1Char(' '))
      shown += QChar(0x00B7);
    else if (character == QLatin1Char('\n'))
      shown += QChar(0x21B5);
    else if (character == QLatin1Char('\t'))
      shown += QChar(0x21E5);
    else if (character.unicode() < 0x20 || character.unicode() == 0x7F) {
      shown +=
          QStringLiteral("<0x%1>").arg(int(character.unicode()), 2, 16, QLatin1Char('0')).toUpper().replace('X', 'x');
    } else {
      shown += character;
    }
  }
  return shown;
}

QString TokenText::push(std::string_view bytes) { return QString::fromStdString(stream_.push(bytes)); }
QString TokenText::finish() { return QString::fromStdString(stream_.finish()); }

double TokenLayout::chip_width(const QString& text, bool mark) const {
  const double text_width =
      text.isEmpty() ? kPendingWidth - 2 * kPadding : QFontMetricsF(font_).horizontalAdvance(text);
  return std::ceil(text_width) + 2 * kPadding + (mark ? kMarkWidth : 0);
}

void TokenLayout::clear() {
  chips_.clear();
  areas_.clear();
}

void TokenLayout::set_width(double width) {
  if (width == width_) return;
  width_ = width;
  for (std::size_t i = 0; i < chips_.size(); ++i) place(i);
}

void TokenLayout::add(const QString& text, bool ends_line, bool mark) {
  chips_.push_back({chip_width(text, mark), ends_line});
  areas_.emplace_back();
  place(chips_.size() - 1);
}

void TokenLayout::change(std::size_t index, const QString& text, bool ends_line, bool mark) {
  chips_[index] = {chip_width(text, mark), ends_line};
  for (std::size_t i = index; i < chips_.size(); ++i) place(i);
}

// A chip wider than the strip is cut to it; its text is elided when drawn.
void TokenLayout::place(std::size_t index) {
  double x = 0;
  double y = (kLineHeight - kChipHeight) / 2;
  const double width = std::min(chips_[index].width, std::max(20.0, width_));
  if (index > 0) {
    const QRectF& before = areas_[index - 1];
    x = before.right() + kGap;
    y = before.top();
    if (chips_[index - 1].ends_line || x + width > width_) {
      x = 0;
      y += kLineHeight;
    }
  }
  areas_[index] = QRectF(x, y, width, kChipHeight);
}

std::size_t TokenLayout::first_below(double y) const {
  const auto found = std::lower_bound(areas_.begin(), areas_.end(), y,
                                      [](const QRectF& area, double top) { return area.bottom() < top; });
  return static_cast<std::size_t>(found - areas_.begin());
}

int TokenLayout::at(const QPointF& place) const {
  for (std::size_t i = first_below(place.y()); i < areas_.size() && areas_[i].top() <= place.y(); ++i) {
    if (areas_[i].contains(place)) return static_cast<int>(i);
  }
  return -1;
}

int TokenLayout::neighbour(int index, int lines) const {
  if (areas_.empty()) return -1;
  const QRectF from = areas_[static_cast<std::size_t>(std::clamp<int>(index, 0, static_cast<int>(areas_.size()) - 1))];
  const double top = std::clamp(from.top() + lines * kLineHeight, areas_.front().top(), areas_.back().top());
  int best = index;
  double distance = 1e9;
  for (std::size_t i = first_below(top); i < areas_.size() && areas_[i].top() <= top + 1; ++i) {
    const double apart = std::abs(areas_[i].center().x() - from.center().x());
    if (apart >= distance) continue;
    distance = apart;
    best = static_cast<int>(i);
  }
  return best;
}

}  // namespace widgets
