#include "widgets/token_strip.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/numbers.h"

namespace widgets {

TokenStrip::TokenStrip(QWidget* parent) : QAbstractScrollArea(parent), layout_(mono_font()) {
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  viewport()->setAutoFillBackground(false);
  set_mode(mode_);
}

void TokenStrip::set_mode(engine::DecodeMode mode) {
  mode_ = mode;
  setAccessibleName(tr("%1 tokens").arg(mode_name(mode)));
  viewport()->update();
}

void TokenStrip::set_color_by(TokenColor color) {
  color_ = color;
  viewport()->update();
}

void TokenStrip::set_special_names(std::map<std::int32_t, std::string> names) {
  names_ = std::move(names);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].special) continue;
    fill_text(tokens_[i]);
    refresh_item(i);
  }
}

void TokenStrip::set_empty_text(const QString& text) {
  empty_text_ = text;
  viewport()->update();
}

void TokenStrip::clear() {
  tokens_.clear();
  layout_.clear();
  stream_ = {};
  prompt_size_ = 0;
  divergence_.reset();
  setAccessibleDescription({});
  update_scroll_bar(false);
  if (std::exchange(current_, -1) != -1) emit current_changed(-1);
}

void TokenStrip::set_prompt(const std::vector<std::int32_t>& ids, const std::vector<std::string>& bytes) {
  clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Item item;
    item.id = ids[i];
    item.bytes = i < bytes.size() ? bytes[i] : std::string();
    item.prompt = true;
    add(std::move(item));
  }
  finish();
  prompt_size_ = tokens_.size();
  update_scroll_bar(false);
}

void TokenStrip::append(const engine::RolloutToken& token) { append(std::vector<engine::RolloutToken>{token}); }

void TokenStrip::append(const std::vector<engine::RolloutToken>& tokens) {
  if (tokens.empty()) return;
  const bool at_end = verticalScrollBar()->value() == verticalScrollBar()->maximum();
  for (const engine::RolloutToken& token : tokens) {
    Item item;
    item.id = token.id;
    item.bytes = token.bytes;
    item.logprob = token.logprob;
    item.entropy = token.entropy;
    item.milliseconds = token.milliseconds;
    add(std::move(item));
  }
  update_scroll_bar(at_end);
}

void TokenStrip::fill_text(Item& item) {
  item.special = item.bytes.empty();
  if (item.special) {
    const auto name = names_.find(item.id);
    item.shown = name != names_.end() ? QString::fromStdString(name->second) : QStringLiteral("<%1>").arg(item.id);
    return;
  }
  item.text = stream_.push(item.bytes);
  item.shown = visible_text(item.text);
}

void TokenStrip::add(Item item) {
  fill_text(item);
  tokens_.push_back(std::move(item));
  const Item& added = tokens_.back();
  layout_.add(added.shown, added.text.contains(QLatin1Char('\n')), diverges(tokens_.size() - 1));
}

void TokenStrip::refresh_item(std::size_t index) {
  const Item& item = tokens_[index];
  layout_.change(index, item.shown, item.text.contains(QLatin1Char('\n')), diverges(index));
  viewport()->update();
}

void TokenStrip::finish() {
  const QString held = stream_.finish();
  if (!held.isEmpty() && !tokens_.empty()) {
    Item& last = tokens_.back();
    last.text += held;
    last.shown = visible_text(last.text);
    refresh_item(tokens_.size() - 1);
  }
  setAccessibleDescription(text().left(2000));
}

void TokenStrip::set_rollout(const engine::Rollout& rollout) {
  set_mode(rollout.request.mode);
  set_prompt(rollout.prompt_tokens, rollout.prompt_bytes);
  append(rollout.tokens);
  finish();
}

void TokenStrip::set_divergence(std::optional<std::size_t> token) {
  if (token == divergence_) return;
  const std::optional<std::size_t> before = std::exchange(divergence_, token);
  for (const auto& changed : {before, token}) {
    if (changed && prompt_size_ + *changed < tokens_.size()) refresh_item(prompt_size_ + *changed);
  }
  update_scroll_bar(false);
}

bool TokenStrip::diverges(std::size_t index) const { return divergence_ && index == prompt_size_ + *divergence_; }

QString TokenStrip::text() const {
  QString all;
  for (std::size_t i = prompt_size_; i < tokens_.size(); ++i) {
    if (!tokens_[i].special) all += tokens_[i].text;
  }
  return all;
}

QString TokenStrip::describe(int index) const {
  if (index < 0 || index >= static_cast<int>(tokens_.size())) return {};
  const Item& item = tokens_[static_cast<std::size_t>(index)];
  const QString head = tr("%1 · id %2").arg(item.shown.isEmpty() ? tr("part of a character") : item.shown).arg(item.id);
  if (item.prompt) return head + QStringLiteral(" · ") + tr("prompt");
  QString all = head + QStringLiteral(" · ") +
                tr("log-probability %1 · entropy %2 · %3 ms")
                    .arg(short_number(static_cast<double>(item.logprob)),
                         short_number(static_cast<double>(item.entropy)), short_number(item.milliseconds));
  if (diverges(static_cast<std::size_t>(index))) all += QStringLiteral(" · ") + tr("first difference");
  return all;
}

void TokenStrip::copy_text() const { QGuiApplication::clipboard()->setText(text()); }

QString TokenStrip::color_legend() const {
  return color_ == TokenColor::log_probability ? tr("stronger colour: less likely")
                                               : tr("stronger colour: more uncertain (entropy)");
}

void TokenStrip::set_current(int index) {
  const int wanted = tokens_.empty() ? -1 : std::clamp(index, -1, static_cast<int>(tokens_.size()) - 1);
  if (wanted == current_) return;
  current_ = wanted;
  if (wanted >= 0) {
    const QRectF area = layout_.chips()[static_cast<std::size_t>(wanted)];
    QScrollBar* bar = verticalScrollBar();
    if (area.top() < bar->value()) bar->setValue(static_cast<int>(area.top() - 4));
    if (area.bottom() > bar->value() + viewport()->height()) {
      bar->setValue(static_cast<int>(area.bottom() + 4) - viewport()->height());
    }
    setAccessibleDescription(describe(wanted));
  }
  viewport()->update();
  emit current_changed(wanted);
}

QRect TokenStrip::chip_rect(int index) const {
  return layout_.chips()
      .at(static_cast<std::size_t>(index))
      .translated(2, 2 - verticalScrollBar()->value())
      .toAlignedRect();
}

void TokenStrip::update_scroll_bar(bool keep_end) {
  const int hidden = static_cast<int>(std::ceil(layout_.height())) + 4 - viewport()->height();
  verticalScrollBar()->setRange(0, std::max(0, hidden));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(static_cast<int>(TokenLayout::kLineHeight));
  if (keep_end) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
  viewport()->update();
}

void TokenStrip::resizeEvent(QResizeEvent*) {
  layout_.set_width(viewport()->width() - 4);
  update_scroll_bar(false);
}

void TokenStrip::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return copy_text();
  const int last = static_cast<int>(tokens_.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left:
      return set_current(std::max(0, current_ - 1));
    case Qt::Key_Right:
      return set_current(current_ + 1);
    case Qt::Key_Up:
      return set_current(layout_.neighbour(std::max(0, current_), -1));
    case Qt::Key_Down:
      return set_current(layout_.neighbour(std::max(0, current_), 1));
    case Qt::Key_Home:
      return set_current(0);
    case Qt::Key_End:
      return set_current(last);
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void TokenStrip::mousePressEvent(QMouseEvent* event) {
  set_current(layout_.at(event->position() + QPointF(-2, verticalScrollBar()->value() - 2)));
}

void TokenStrip::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction(tr("Copy text"), this, &TokenStrip::copy_text);
  menu.exec(event->globalPos());
}

void TokenStrip::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  if (current_ < 0 && event->reason() != Qt::MouseFocusReason) set_current(0);
  viewport()->update();
}

void TokenStrip::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

bool TokenStrip::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int index = layout_.at(QPointF(help->pos()) + QPointF(-2, verticalScrollBar()->value() - 2));
  if (index >= 0)
    QToolTip::showText(help->globalPos(), describe(index), viewport());
  else
    QToolTip::hideText();
  return true;
}

}  // namespace widgets
