// Pictures of widgets in every theme and scale: asserted on by the tests, and kept for the eye when
// FULLBAND_PICTURES names a folder.
#pragma once

#include <QImage>
#include <QWidget>
#include <string>

#include "widgets/palette.h"

namespace pictures {

/// Dresses the application in a theme for the life of this object.
class UseTheme {
 public:
  explicit UseTheme(const widgets::Theme& theme);
  ~UseTheme();
  UseTheme(const UseTheme&) = delete;
  UseTheme& operator=(const UseTheme&) = delete;
};

/// What a shown widget looks like at the screen's scale (QT_SCALE_FACTOR).
QImage render(QWidget& widget);
/// Renders, and keeps a PNG where FULLBAND_PICTURES says; the scale goes into the name.
QImage keep(QWidget& widget, const std::string& name);
void keep(const QImage& image, const std::string& name);
/// Pixels that differ from `background` by more than a little.
int marked_pixels(const QImage& image, const QColor& background);
/// Pixels close to `color`.
int pixels_of(const QImage& image, const QColor& color, int tolerance = 40);

}  // namespace pictures
