#include "widgets/banner.h"

#include <QAccessible>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <utility>

#include "widgets/palette.h"
#include "widgets/style.h"

namespace widgets {
namespace {

QColor severity_color(const Theme& theme, Severity severity) {
  switch (severity) {
    case Severity::information:
      return theme.accent;
    case Severity::warning:
      return theme.warning;
    case Severity::error:
      return theme.error;
  }
  return theme.accent;
}

// Meaning is carried by a symbol and a word as well as by colour.
QString severity_symbol(Severity severity) {
  switch (severity) {
    case Severity::information:
      return QStringLiteral("i");
    case Severity::warning:
      return QStringLiteral("!");
    case Severity::error:
      return QStringLiteral("×");
  }
  return {};
}

QString severity_word(Severity severity) {
  switch (severity) {
    case Severity::information:
      return Banner::tr("Information");
    case Severity::warning:
      return Banner::tr("Warning");
    case Severity::error:
      return Banner::tr("Error");
  }
  return {};
}

}  // namespace

Banner::Banner(QWidget* parent) : QFrame(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(14, 8, 8, 8);
  row->setSpacing(10);
  symbol_ = new QLabel(this);
  symbol_->setFixedSize(18, 18);
  symbol_->setAlignment(Qt::AlignCenter);
  text_ = new QLabel(this);
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  text_->setFocusPolicy(Qt::NoFocus);  // selectable, but no stop for Tab
  button_ = new QPushButton(this);
  close_ = new QToolButton(this);
  close_->setText(QStringLiteral("✕"));
  close_->setAccessibleName(tr("Close message"));
  close_->setToolTip(tr("Close message (Esc)"));
  set_kind(*close_, "link");
  row->addWidget(symbol_);
  row->addWidget(text_, 1);
  row->addWidget(button_);
  row->addWidget(close_);
  connect(button_, &QPushButton::clicked, this, &Banner::run_action);
  connect(close_, &QToolButton::clicked, this, &Banner::dismiss);
  hide();
}

void Banner::show_message(Severity severity, const QString& sentence, const QString& action_text,
                          std::function<void()> action) {
  severity_ = severity;
  action_ = std::move(action);
  text_->setText(sentence);
  symbol_->setText(severity_symbol(severity));
  button_->setText(action_text);
  button_->setVisible(!action_text.isEmpty());
  setAccessibleName(severity_word(severity) + QStringLiteral(": ") + sentence);
  refresh_colors();
  show();
  QAccessibleEvent alert(this, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

void Banner::dismiss() {
  if (isHidden()) return;
  hide();
  action_ = {};
  emit dismissed();
}

QString Banner::message() const { return text_->text(); }

// The action may show the next message, so this one is closed first.
void Banner::run_action() {
  const auto action = std::exchange(action_, {});
  dismiss();
  if (action) action();
}

void Banner::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape)
    dismiss();
  else
    QFrame::keyPressEvent(event);
}

void Banner::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refresh_colors();
  QFrame::changeEvent(event);
}

void Banner::refresh_colors() {
  const Theme& theme = theme_of(palette());
  symbol_->setStyleSheet(QStringLiteral("background: %1; color: %2; border-radius: 9px; font-weight: 700;")
                             .arg(severity_color(theme, severity_).name(), theme.card.name()));
}

void Banner::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_of(palette());
  const QColor color = severity_color(theme, severity_);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(mix(theme.card, color, 0.45));
  painter.setBrush(mix(theme.card, color, 0.07));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

}  // namespace widgets
