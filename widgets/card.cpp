#include "widgets/card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "widgets/style.h"

namespace widgets {

Card::Card(const QString& title, QWidget* parent) : QFrame(parent) {
  set_kind(*this, "card");
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(14, 12, 14, 12);
  outer->setSpacing(8);
  header_ = new QHBoxLayout;
  header_->setSpacing(8);
  marker_ = new QLabel(this);
  marker_->setFixedSize(10, 10);
  marker_->hide();
  title_ = new QLabel(this);
  title_->setTextFormat(Qt::PlainText);
  set_kind(*title_, "title");
  caption_ = new QLabel(this);
  caption_->setTextFormat(Qt::PlainText);
  set_kind(*caption_, "secondary");
  header_->addWidget(marker_);
  header_->addWidget(title_);
  header_->addStretch(1);
  header_->addWidget(caption_);
  outer->addLayout(header_);
  body_ = new QVBoxLayout;
  body_->setSpacing(8);
  outer->addLayout(body_, 1);
  set_title(title);
}

void Card::set_title(const QString& title) {
  title_->setText(title);
  setAccessibleName(title);
  show_header();
}

void Card::set_caption(const QString& caption) {
  caption_->setText(caption);
  show_header();
}

void Card::set_heading_style() { set_kind(*title_, "heading"); }

void Card::set_marker(const QColor& color) {
  marker_->setVisible(color.isValid());
  marker_->setStyleSheet(color.isValid() ? QStringLiteral("background: %1; border-radius: 1px;").arg(color.name())
                                         : QString());
}

void Card::add_to_header(QWidget* widget) { header_->addWidget(widget); }

// An empty label would still take a line's height.
void Card::show_header() {
  title_->setVisible(!title_->text().isEmpty());
  caption_->setVisible(!caption_->text().isEmpty());
}

}  // namespace widgets
