// A figure as a file for slides and papers: PDF, SVG, PNG, or all its points as CSV; and onto the clipboard. Sizes are
// fixed in millimetres, the theme is always light, and where the numbers came from is embedded.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QSizeF>
#include <QString>
#include <utility>
#include <vector>

class QPainter;
class QPaintDevice;

namespace widgets {

/// White margin around an exported figure, in logical pixels.
inline constexpr double kFigureMargin = 8;

/// What the figure was made from, in the order to be shown: {"run", "a1b2"}, {"step", "900"}, {"seed", "1"},
/// {"config", "0f..."}, {"version", "0.1.0"}.
using FigureMetadata = std::vector<std::pair<QString, QString>>;

struct FigureTable {
  std::vector<QString> columns;
  std::vector<std::vector<QString>> rows;  ///< numbers as exact_number gives them
};

/// Where a source paints: `size` in logical pixels (1/96 inch), `scale` device units to one of them. The caption is a
/// line below the figure, empty for none.
struct FigureArea {
  QSizeF size;
  double scale = 1;
  QString caption;
  bool vector = true;
};

/// Anything that can be exported. Painting uses the light theme and must stay within the area.
class FigureSource {
 public:
  virtual ~FigureSource() = default;
  [[nodiscard]] virtual QString figure_title() const = 0;
  virtual void paint_figure(QPaintDevice& device, const FigureArea& area) const = 0;
  [[nodiscard]] virtual FigureTable figure_table() const = 0;
};

/// Begins `painter` on a device for a source that paints by QPainter alone: white ground, caption drawn, coordinates in
/// logical pixels. Returns the area left above the caption.
QRectF begin_figure(QPainter& painter, QPaintDevice& device, const FigureArea& area);
/// Height that a caption takes, 0 without one.
double caption_height(const FigureArea& area);
/// Draws the caption into the foot of the area; coordinates must be logical pixels.
void draw_caption(QPainter& painter, const FigureArea& area);

enum class FigureFormat { pdf, svg, png, csv };

struct FigureSize {
  QString name;
  double width_mm = 160;
  double height_mm = 90;
};
/// Slide 160 x 90, column 85 x 60, page 170 x 100.
std::vector<FigureSize> figure_sizes();

struct FigureOptions {
  FigureFormat format = FigureFormat::pdf;
  double width_mm = 160;
  double height_mm = 90;
  int dpi = 300;         ///< PNG alone
  bool caption = false;  ///< run, step, seed ... as small print below
  FigureMetadata metadata;
};

/// The whole file in memory.
QByteArray render_figure(const FigureSource& source, const FigureOptions& options);
QImage render_image(const FigureSource& source, const FigureOptions& options);
/// Renders, then replaces the file in one go. engine::FileError when it cannot be written; the old file is then as it
/// was.
void export_figure(const FigureSource& source, const FigureOptions& options, const QString& file);
/// As a picture and, for programs that take it, as SVG.
void copy_figure(const FigureSource& source, const FigureOptions& options);

/// "pdf", "svg", "png", "csv": also the file suffix.
QString format_suffix(FigureFormat format);
/// RFC 4180 with "# name: value" lines first when there is metadata.
QByteArray to_csv(const FigureTable& table, const FigureMetadata& metadata);
/// Replaces a file's contents in one go; engine::FileError otherwise.
void write_file(const QString& file, const QByteArray& contents);

}  // namespace widgets
