#include "app/export_menu.h"

#include <QActionGroup>
#include <QFileDialog>
#include <exception>
#include <utility>

namespace app {

namespace {

using widgets::FigureFormat;

struct FormatItem {
  FigureFormat format;
  const char* text;
};

constexpr FormatItem kFormats[] = {{FigureFormat::pdf, "PDF…"},
                                   {FigureFormat::svg, "SVG…"},
                                   {FigureFormat::png, "PNG, 300 dpi…"},
                                   {FigureFormat::csv, "CSV of all points…"}};

QString file_name(const QString& title) {
  QString name = title.toLower();
  for (QChar& c : name) {
    if (!c.isLetterOrNumber()) c = '-';
  }
  return name;
}

}  // namespace

ExportMenu::ExportMenu(Figures figures, Metadata metadata, QWidget* parent)
    : QMenu(parent), figures_(std::move(figures)), metadata_(std::move(metadata)) {
  setTitle(tr("Export figure"));
  connect(this, &QMenu::aboutToShow, this, &ExportMenu::fill);
}

void ExportMenu::fill() {
  clear();
  for (const widgets::FigureSource* source : figures_()) add_figure(source);
  addSeparator();
  add_sizes();
  QAction* caption = addAction(tr("With run, step and seed below the figure"), [this](bool on) { caption_ = on; });
  caption->setCheckable(true);
  caption->setChecked(caption_);
}

void ExportMenu::add_figure(const widgets::FigureSource* source) {
  QMenu* menu = addMenu(source->figure_title());
  for (const FormatItem& item : kFormats) {
    menu->addAction(tr(item.text), [this, source, format = item.format] { ask_and_write(source, format); });
  }
  menu->addAction(tr("Copy to the clipboard"), [this, source] { copy(source); });
}

void ExportMenu::add_sizes() {
  QMenu* menu = addMenu(tr("Size"));
  auto* group = new QActionGroup(menu);
  const auto sizes = widgets::figure_sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const QString text = tr("%1, %2 × %3 mm").arg(sizes[i].name).arg(sizes[i].width_mm).arg(sizes[i].height_mm);
    QAction* action = menu->addAction(text, [this, i] { size_ = i; });
    action->setCheckable(true);
    action->setChecked(i == size_);
    group->addAction(action);
  }
}

widgets::FigureOptions ExportMenu::options(FigureFormat format) const {
  const auto sizes = widgets::figure_sizes();
  widgets::FigureOptions options;
  options.format = format;
  options.width_mm = sizes.at(size_).width_mm;
  options.height_mm = sizes.at(size_).height_mm;
  options.caption = caption_;
  options.metadata = metadata_();
  return options;
}

void ExportMenu::write(const widgets::FigureSource& source, FigureFormat format, const QString& file) const {
  widgets::export_figure(source, options(format), file);
}

void ExportMenu::ask_and_write(const widgets::FigureSource* source, FigureFormat format) {
  const QString suffix = widgets::format_suffix(format);
  const QString file = QFileDialog::getSaveFileName(parentWidget(), tr("Export figure"),
                                                    file_name(source->figure_title()) + "." + suffix,
                                                    suffix.toUpper() + " (*." + suffix + ")");
  if (file.isEmpty()) return;
  try {
    write(*source, format, file);
    emit done(tr("Written to %1").arg(file));
  } catch (const std::exception& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

void ExportMenu::copy(const widgets::FigureSource* source) {
  widgets::copy_figure(*source, options(FigureFormat::png));
  emit done(tr("Copied to the clipboard"));
}

}  // namespace app
