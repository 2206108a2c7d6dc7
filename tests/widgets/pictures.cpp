#include "pictures.h"

#include <QApplication>
#include <QDir>
#include <QPainter>
#include <cstdlib>

#include "widgets/style.h"

namespace pictures {
namespace {

void dress(const widgets::Theme& theme) {
  QApplication::setPalette(widgets::to_palette(theme));
  qApp->setStyleSheet(widgets::style_sheet(theme));
}

int distance(QRgb a, QRgb b) {
  return std::abs(qRed(a) - qRed(b)) + std::abs(qGreen(a) - qGreen(b)) + std::abs(qBlue(a) - qBlue(b));
}

template <typename Test>
int count(const QImage& image, Test test) {
  int found = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) found += test(image.pixel(x, y)) ? 1 : 0;
  }
  return found;
}

}  // namespace

UseTheme::UseTheme(const widgets::Theme& theme) { dress(theme); }
UseTheme::~UseTheme() { dress(widgets::light_theme()); }

QImage render(QWidget& widget) {
  const double scale = widget.devicePixelRatioF();
  QImage image((QSizeF(widget.size()) * scale).toSize(), QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(widgets::theme_of(widget.palette()).ground);
  widget.render(&image);
  return image;
}

QImage keep(QWidget& widget, const std::string& name) {
  const QImage image = render(widget);
  const int percent = qRound(100 * widget.devicePixelRatioF());
  keep(image, percent == 100 ? name : name + "-" + std::to_string(percent));
  return image;
}

void keep(const QImage& image, const std::string& name) {
  const QString folder = qEnvironmentVariable("FULLBAND_PICTURES");
  if (folder.isEmpty()) return;
  QDir().mkpath(folder);
  image.save(folder + QLatin1Char('/') + QString::fromStdString(name) + QStringLiteral(".png"));
}

int marked_pixels(const QImage& image, const QColor& background) {
  const QRgb ground = background.rgb();
  return count(image, [ground](QRgb pixel) { return distance(pixel, ground) > 24; });
}

int pixels_of(const QImage& image, const QColor& color, int tolerance) {
  const QRgb wanted = color.rgb();
  return count(image, [wanted, tolerance](QRgb pixel) { return distance(pixel, wanted) <= tolerance; });
}

}  // namespace pictures
