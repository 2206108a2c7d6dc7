#include "widgets/figure_export.h"

#include <QBuffer>
#include <QClipboard>
#include <QCoreApplication>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMimeData>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QStringList>
#include <QSvgGenerator>
#include <memory>

#include "engine/error.h"
#include "widgets/palette.h"

namespace widgets {
namespace {

constexpr double kPixelsPerMm = 96.0 / 25.4;
constexpr int kPdfDpi = 1200;
constexpr double kCaptionLine = 14;

QString metadata_text(const FigureMetadata& metadata, const QString& separator) {
  QStringList parts;
  for (const auto& [name, value] : metadata) parts << name + QLatin1Char(' ') + value;
  return parts.join(separator);
}

FigureArea area_of(const FigureOptions& options, double scale, bool vector) {
  FigureArea area;
  area.size = QSizeF(options.width_mm, options.height_mm) * kPixelsPerMm;
  area.scale = scale;
  area.vector = vector;
  if (options.caption) area.caption = metadata_text(options.metadata, QStringLiteral(" · "));
  return area;
}

QByteArray render_pdf(const FigureSource& source, const FigureOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setResolution(kPdfDpi);
  writer.setPageSize(
      QPageSize(QSizeF(options.width_mm, options.height_mm), QPageSize::Millimeter, {}, QPageSize::ExactMatch));
  writer.setPageMargins(QMarginsF());
  const QString made_from = metadata_text(options.metadata, QStringLiteral("; "));
  writer.setTitle(made_from.isEmpty() ? source.figure_title()
                                      : source.figure_title() + QStringLiteral(" [") + made_from + QLatin1Char(']'));
  writer.setCreator(QStringLiteral("Fullband"));
  source.paint_figure(writer, area_of(options, kPdfDpi / 96.0, true));
  return bytes;
}

QByteArray render_svg(const FigureSource& source, const FigureOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  const FigureArea area = area_of(options, 1, true);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setResolution(96);
  generator.setSize(area.size.toSize());
  generator.setViewBox(QRectF(QPointF(0, 0), area.size));
  generator.setTitle(source.figure_title().toHtmlEscaped());
  generator.setDescription(
      (QStringLiteral("Fullband; ") + metadata_text(options.metadata, QStringLiteral("; "))).toHtmlEscaped());
  source.paint_figure(generator, area);
  return bytes;
}

QByteArray render_png(const FigureSource& source, const FigureOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!render_image(source, options).save(&buffer, "PNG")) return {};
  return bytes;
}

QString csv_field(const QString& text) {
  const bool quoted = text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('"')) ||
                      text.contains(QLatin1Char('\n')) || text.contains(QLatin1Char('\r'));
  if (!quoted) return text;
  return QLatin1Char('"') + QString(text).replace(QLatin1String("\""), QLatin1String("\"\"")) + QLatin1Char('"');
}

void append_csv_row(QByteArray& bytes, const std::vector<QString>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) bytes += ',';
    bytes += csv_field(row[i]).toUtf8();
  }
  bytes += '\n';
}

}  // namespace

QRectF begin_figure(QPainter& painter, QPaintDevice& device, const FigureArea& area) {
  painter.begin(&device);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(area.scale, area.scale);
  painter.fillRect(QRectF(QPointF(0, 0), area.size), light_theme().card);
  draw_caption(painter, area);
  return QRectF(0, 0, area.size.width(), area.size.height() - caption_height(area))
      .adjusted(kFigureMargin, kFigureMargin, -kFigureMargin, -kFigureMargin);
}

double caption_height(const FigureArea& area) { return area.caption.isEmpty() ? 0 : kCaptionLine; }

void draw_caption(QPainter& painter, const FigureArea& area) {
  if (area.caption.isEmpty()) return;
  QFont font = caption_font();
  font.setPixelSize(9);
  painter.setFont(font);
  painter.setPen(light_theme().secondary);
  const double width = area.size.width() - 2 * kFigureMargin;
  const QRectF line(kFigureMargin, area.size.height() - kCaptionLine - kFigureMargin / 2, width, kCaptionLine);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(font).elidedText(area.caption, Qt::ElideRight, width));
}

std::vector<FigureSize> figure_sizes() {
  return {{QCoreApplication::translate("FigureSize", "Slide"), 160, 90},
          {QCoreApplication::translate("FigureSize", "Column"), 85, 60},
          {QCoreApplication::translate("FigureSize", "Page"), 170, 100}};
}

QImage render_image(const FigureSource& source, const FigureOptions& options) {
  const FigureArea area = area_of(options, options.dpi / 96.0, false);
  const QSizeF pixels = area.size * area.scale;
  QImage image(QSize(qRound(pixels.width()), qRound(pixels.height())), QImage::Format_RGB32);
  image.fill(light_theme().card);
  image.setText(QStringLiteral("Title"), source.figure_title());
  image.setText(QStringLiteral("Software"), QStringLiteral("Fullband"));
  for (const auto& [name, value] : options.metadata) image.setText(name, value);
  source.paint_figure(image, area);
  image.setDotsPerMeterX(qRound(options.dpi / 0.0254));
  image.setDotsPerMeterY(qRound(options.dpi / 0.0254));
  return image;
}

QByteArray render_figure(const FigureSource& source, const FigureOptions& options) {
  switch (options.format) {
    case FigureFormat::pdf:
      return render_pdf(source, options);
    case FigureFormat::svg:
      return render_svg(source, options);
    case FigureFormat::png:
      return render_png(source, options);
    case FigureFormat::csv:
      return to_csv(source.figure_table(), options.metadata);
  }
  return {};
}

void export_figure(const FigureSource& source, const FigureOptions& options, const QString& file) {
  const QByteArray contents = render_figure(source, options);
  if (contents.isEmpty())
    throw engine::FileError(file.toStdString(), "the figure could not be drawn; try a smaller size");
  write_file(file, contents);
}

void copy_figure(const FigureSource& source, const FigureOptions& options) {
  auto data = std::make_unique<QMimeData>();
  data->setImageData(render_image(source, options));
  data->setData(QStringLiteral("image/svg+xml"), render_svg(source, options));
  QGuiApplication::clipboard()->setMimeData(data.release());
}

QString format_suffix(FigureFormat format) {
  switch (format) {
    case FigureFormat::pdf:
      return QStringLiteral("pdf");
    case FigureFormat::svg:
      return QStringLiteral("svg");
    case FigureFormat::png:
      return QStringLiteral("png");
    case FigureFormat::csv:
      return QStringLiteral("csv");
  }
  return {};
}

QByteArray to_csv(const FigureTable& table, const FigureMetadata& metadata) {
  QByteArray bytes;
  for (const auto& [name, value] : metadata) {
    const QString line = QStringLiteral("# %1: %2").arg(name, value).simplified();
    bytes += line.toUtf8() + '\n';
  }
  append_csv_row(bytes, table.columns);
  for (const auto& row : table.rows) append_csv_row(bytes, row);
  return bytes;
}

// Written aside and renamed, so a full disk leaves the old file as it was.
void write_file(const QString& file, const QByteArray& contents) {
  const QFileInfo target(file);
  if (target.exists() && !target.isFile()) {  // renaming over a device or folder would destroy it
    throw engine::FileError(file.toStdString(), "is a device or a folder, not a file; choose another name");
  }
  QSaveFile out(file);
  const bool written = out.open(QIODevice::WriteOnly) && out.write(contents) == contents.size() && out.commit();
  if (!written) {
    throw engine::FileError(file.toStdString(), "could not be written (" + out.errorString().toStdString() +
                                                    "); choose another folder or free some space");
  }
}

}  // namespace widgets
