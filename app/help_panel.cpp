#include "app/help_panel.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/paths.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kWidth = 340;

}  // namespace

HelpPanel::HelpPanel(QWidget* parent) : QFrame(parent), pages_(new QComboBox(this)), text_(new QTextBrowser(this)) {
  widgets::set_kind(*this, "card");
  setAccessibleName(tr("Help"));
  setFixedWidth(kWidth);
  pages_->addItem(tr("Training page"), "training");
  pages_->addItem(tr("Reachability page"), "reachability");
  pages_->addItem(tr("Probes page"), "probes");
  pages_->addItem(tr("Stability page"), "stability");
  pages_->addItem(tr("Rollouts page"), "rollouts");
  pages_->addItem(tr("Batch of rollouts"), "batch");
  pages_->addItem(tr("Cache and likelihood"), "cache");
  pages_->addItem(tr("Channel page"), "channel");
  pages_->addItem(tr("The method"), "method");
  pages_->setAccessibleName(tr("Help page"));
  text_->setAccessibleName(tr("Help text"));
  text_->setOpenExternalLinks(true);
  text_->setFrameShape(QFrame::NoFrame);
  auto* close = new QToolButton(this);
  close->setText(QString(QChar(0x00D7)));
  close->setAccessibleName(tr("Close help"));
  close->setToolTip(tr("Close help"));
  auto* top = new QHBoxLayout;
  top->addWidget(pages_, 1);
  top->addWidget(close);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(14, 12, 14, 12);
  layout->addLayout(top);
  layout->addWidget(text_, 1);
  connect(close, &QToolButton::clicked, this, &HelpPanel::closed);
  connect(pages_, &QComboBox::activated, this, [this] { show_page(pages_->currentData().toString()); });
}

void HelpPanel::show_page(const QString& name) {
  page_ = name;
  pages_->setCurrentIndex(pages_->findData(name));
  render();
}

void HelpPanel::render() {
  const QByteArray markdown = resource("help/" + page_ + ".md");
  text_->setMarkdown(markdown.isEmpty() ? tr("This page of the help is missing from the program.")
                                        : QString::fromUtf8(markdown));
}

void HelpPanel::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) render();  // links and headings take their colours when set
}

void HelpPanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) emit closed();
  QFrame::keyPressEvent(event);
}

}  // namespace app
