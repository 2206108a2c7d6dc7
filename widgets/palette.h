// Colours, pens and faces of the window: one value type, light and dark. A widget asks `theme_of(palette())` when it
// paints, so that a live switch needs nothing but Qt's own PaletteChange.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QPen>
#include <QString>
#include <utility>
#include <vector>

#include "engine/rollout_types.h"
#include "widgets/series.h"

class QApplication;

namespace widgets {

struct Theme {
  bool dark = false;
  QColor ground, card, border, text, secondary, accent, on_accent, grid;
  QColor tint;      ///< accent laid thinly on a card: the selected page, run and row
  QColor hover;     ///< under the pointer
  QColor control;   ///< border of inputs and buttons, stronger than a card's
  QColor standard;  ///< Standard decoding, and pass 1
  QColor soft;      ///< Soft decoding
  QColor fused;     ///< Fused decoding
  QColor pass2, pass3;
  QColor ok, warning, error;
  std::vector<QColor> runs;  ///< told apart by colour-blind readers too; dashes after they wrap
};

const Theme& light_theme();
const Theme& dark_theme();
/// The theme a palette was made from, told by how light its ground is.
const Theme& theme_of(const QPalette& palette);
QPalette to_palette(const Theme& theme);

QColor mode_color(const Theme& theme, engine::DecodeMode mode);
/// "Standard", "Soft", "Fused": the same word everywhere.
QString mode_name(engine::DecodeMode mode);
QColor run_color(const Theme& theme, int run);
/// Pass 1 solid grey, 2 dashed blue, 3 dotted green, later passes thinner greens. Passes count from 1.
QPen pass_pen(const Theme& theme, int pass, double width = 1.0);
/// The one pen of a series, whatever draws it: role and pass decide colour and dashes.
QPen series_pen(const Theme& theme, const SeriesStyle& style, double width = 1.0);
/// One hue from the card to the accent; `share` from 0 (lowest) to 1 (highest).
QColor sequential_color(const Theme& theme, double share);
/// Blue, card, orange; `share` from -1 to 1.
QColor diverging_color(const Theme& theme, double share);
QColor mix(const QColor& below, const QColor& above, double share);

/// WCAG contrast of two opaque colours, 1 to 21.
double contrast(const QColor& first, const QColor& second);
/// Every pair of text and ground that the window draws.
std::vector<std::pair<QColor, QColor>> text_on_ground(const Theme& theme);

/// Inter or DejaVu Sans, 13 px.
QFont body_font();
/// 13 px semibold.
QFont title_font();
/// 11 px.
QFont caption_font();
/// 11 px semibold capitals, slightly spaced: the heading of a group.
QFont heading_font();
/// DejaVu Sans Mono, 13 px, for tokens and prompts.
QFont mono_font();

}  // namespace widgets
