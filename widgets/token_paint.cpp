#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "widgets/numbers.h"
#include "widgets/token_strip.h"

namespace widgets {
namespace {

constexpr double kSurprise = 4.0;     // nats of -log p at which the colour is full
constexpr double kUncertainty = 3.0;  // nats of entropy at which the colour is full
constexpr double kFaintest = 0.06;
constexpr double kStrongest = 0.46;  // text on it keeps a contrast of 4.5 : 1

}  // namespace

double TokenStrip::strength(const Item& item) const {
  const double nats = color_ == TokenColor::log_probability ? -static_cast<double>(item.logprob) / kSurprise
                                                            : static_cast<double>(item.entropy) / kUncertainty;
  return std::clamp(nats, 0.0, 1.0);
}

// Prompt: no ground. Special: an outline. First difference: amber ground, outline and sign.
void TokenStrip::draw_chip(QPainter& painter, const Theme& theme, std::size_t index, const QRectF& area) const {
  const Item& item = tokens_[index];
  const bool marked = diverges(index);
  const QColor hue = mode_color(theme, mode_);
  QColor ground =
      item.prompt ? theme.card : mix(theme.card, hue, kFaintest + (kStrongest - kFaintest) * strength(item));
  if (marked) ground = mix(theme.card, theme.warning, 0.22);
  painter.setPen(Qt::NoPen);
  if (marked)
    painter.setPen(QPen(theme.warning, 1));
  else if (item.special)
    painter.setPen(QPen(theme.secondary, 1));
  painter.setBrush(ground);
  painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  QRectF inside = area.adjusted(3, 0, -3, 0);
  if (marked) {
    painter.setPen(theme.text);
    painter.setFont(title_font());
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("≠"));
    inside.setLeft(inside.left() + 14);
  }
  painter.setFont(mono_font());
  painter.setPen(item.prompt || item.special ? (marked ? theme.text : theme.secondary) : theme.text);
  if (item.special) painter.setPen(theme.text);
  const QFontMetricsF metrics(mono_font());
  const bool fits = metrics.horizontalAdvance(item.shown) <= inside.width() + 1;
  painter.drawText(fits ? inside.adjusted(0, 0, 6, 0) : inside, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                   fits ? item.shown : metrics.elidedText(item.shown, Qt::ElideRight, inside.width()));
}

void TokenStrip::paintEvent(QPaintEvent* event) {
  const Theme& theme = theme_of(palette());
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  if (tokens_.empty() && !empty_text_.isEmpty()) {
    painter.setPen(theme.secondary);
    painter.setFont(body_font());
    painter.drawText(viewport()->rect().adjusted(4, 4, -4, -4), Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
                     empty_text_);
  }
  const double shift = verticalScrollBar()->value() - 2.0;
  painter.translate(2, -shift);
  const double bottom = event->rect().bottom() + shift;
  for (std::size_t i = layout_.first_below(event->rect().top() + shift); i < tokens_.size(); ++i) {
    const QRectF& area = layout_.chips()[i];
    if (area.top() > bottom) break;
    draw_chip(painter, theme, i, area);
    if (static_cast<int>(i) != current_) continue;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(hasFocus() ? theme.accent : theme.secondary, 2));
    painter.drawRoundedRect(area.adjusted(-0.5, -0.5, 0.5, 0.5), 4, 4);
  }
  if (!hasFocus() || current_ >= 0) return;
  painter.resetTransform();
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.accent, 2));
  painter.drawRoundedRect(QRectF(viewport()->rect()).adjusted(1, 1, -1, -1), 5, 5);
}

QString TokenStrip::figure_title() const { return tr("%1 rollout").arg(mode_name(mode_)); }

// Laid out anew for the figure's width; what does not fit is said.
void TokenStrip::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  const Theme& theme = light_theme();
  QPainter painter;
  const QRectF inside = begin_figure(painter, device, area);
  painter.setFont(title_font());
  painter.setPen(mode_color(theme, mode_));
  painter.drawText(QRectF(inside.left(), inside.top(), inside.width(), 20), Qt::AlignLeft | Qt::AlignVCenter,
                   figure_title());
  painter.setFont(caption_font());
  painter.setPen(theme.secondary);
  painter.drawText(QRectF(inside.left(), inside.top(), inside.width(), 20), Qt::AlignRight | Qt::AlignVCenter,
                   color_legend());
  TokenLayout layout(mono_font());
  layout.set_width(inside.width());
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    layout.add(tokens_[i].shown, tokens_[i].text.contains(QLatin1Char('\n')), diverges(i));
  }
  const QPointF corner(inside.left(), inside.top() + 26);
  const double last_line = inside.bottom() - 16;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const QRectF chip = layout.chips()[i].translated(corner);
    if (chip.bottom() > last_line) {
      painter.setFont(caption_font());
      painter.setPen(theme.secondary);
      painter.drawText(QRectF(inside.left(), last_line, inside.width(), 16), Qt::AlignLeft | Qt::AlignVCenter,
                       tr("… %1 more tokens").arg(tokens_.size() - i));
      return;
    }
    draw_chip(painter, theme, i, chip);
  }
}

FigureTable TokenStrip::figure_table() const {
  FigureTable table;
  table.columns = {QStringLiteral("index"),
                   QStringLiteral("part"),
                   QStringLiteral("id"),
                   QStringLiteral("text"),
                   QStringLiteral("log_probability"),
                   QStringLiteral("entropy"),
                   QStringLiteral("milliseconds")};
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const Item& item = tokens_[i];
    std::vector<QString> row = {QString::number(i),
                                item.prompt ? QStringLiteral("prompt") : QStringLiteral("generated"),
                                QString::number(item.id), item.special ? item.shown : item.text};
    for (const double value :
         {static_cast<double>(item.logprob), static_cast<double>(item.entropy), item.milliseconds}) {
      row.push_back(item.prompt ? QString() : exact_number(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace widgets
