#include "widgets/export_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "widgets/style.h"

namespace widgets {
namespace {

const FigureFormat kFormats[] = {FigureFormat::pdf, FigureFormat::svg, FigureFormat::png, FigureFormat::csv};

}  // namespace

ExportPanel::ExportPanel(QWidget* parent) : QWidget(parent) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setVerticalSpacing(8);
  figure_ = add_choice(tr("Figure"), {});
  format_ = add_choice(tr("Format"), {tr("PDF"), tr("SVG"), tr("PNG, 300 dpi"), tr("CSV, all points")});
  QStringList sizes;
  for (const FigureSize& size : figure_sizes()) {
    sizes << QStringLiteral("%1, %2 × %3 mm").arg(size.name).arg(size.width_mm).arg(size.height_mm);
  }
  size_ = add_choice(tr("Size"), sizes);
  caption_ = new QCheckBox(tr("Run, step and seed in small print below"), this);
  grid->addWidget(caption_, grid->rowCount(), 0, 1, 2);
  export_ = new QPushButton(tr("Export…"), this);
  set_kind(*export_, "primary");
  copy_ = new QPushButton(tr("Copy"), this);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(export_);
  buttons->setSpacing(8);
  buttons->addWidget(copy_);
  buttons->addStretch(1);
  grid->addLayout(buttons, grid->rowCount(), 0, 1, 2);
  connect(export_, &QPushButton::clicked, this, &ExportPanel::export_requested);
  connect(copy_, &QPushButton::clicked, this, &ExportPanel::copy_requested);
  connect(format_, &QComboBox::currentIndexChanged, this, [this](int index) {
    const bool picture = kFormats[index] != FigureFormat::csv;
    size_->setEnabled(picture);
    caption_->setEnabled(picture);
  });
}

QComboBox* ExportPanel::add_choice(const QString& label, const QStringList& choices) {
  auto* grid = static_cast<QGridLayout*>(layout());
  auto* name = new QLabel(label, this);
  set_kind(*name, "secondary");
  auto* box = new QComboBox(this);
  box->addItems(choices);
  box->setAccessibleName(label);
  name->setBuddy(box);
  const int row = grid->rowCount();
  grid->addWidget(name, row, 0);
  grid->addWidget(box, row, 1);
  return box;
}

void ExportPanel::set_figures(const QStringList& names) {
  const QString before = figure_->currentText();
  figure_->clear();
  figure_->addItems(names);
  figure_->setCurrentIndex(std::max(0, static_cast<int>(names.indexOf(before))));
  export_->setEnabled(!names.isEmpty());
  copy_->setEnabled(!names.isEmpty());
}

int ExportPanel::figure() const { return figure_->currentIndex(); }

FigureOptions ExportPanel::options() const {
  FigureOptions options;
  options.format = kFormats[format_->currentIndex()];
  const FigureSize size = figure_sizes()[static_cast<std::size_t>(size_->currentIndex())];
  options.width_mm = size.width_mm;
  options.height_mm = size.height_mm;
  options.caption = caption_->isChecked();
  options.metadata = metadata_;
  return options;
}

}  // namespace widgets
