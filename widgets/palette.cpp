#include "widgets/palette.h"

#include <QFontDatabase>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

Theme make_light() {
  Theme theme;
  theme.ground = QColor("#F6F7F9");
  theme.card = QColor("#FFFFFF");
  theme.border = QColor("#DFE3E8");
  theme.text = QColor("#1B1F24");
  theme.secondary = QColor("#667080");
  theme.accent = QColor("#0B63CE");
  theme.on_accent = QColor("#FFFFFF");
  theme.grid = QColor("#EBEEF2");
  theme.tint = QColor("#EEF5FD");
  theme.hover = QColor("#F3F5F8");
  theme.control = QColor("#DFE3E8");
  theme.standard = QColor("#5F6B7A");
  theme.soft = QColor("#0B63CE");
  theme.fused = QColor("#C2570C");
  theme.pass2 = QColor("#0B63CE");
  theme.pass3 = QColor("#0A7F5A");
  theme.ok = QColor("#0A7F5A");
  theme.warning = QColor("#8F5A00");
  theme.error = QColor("#B3261E");
  theme.runs = {QColor("#0B63CE"), QColor("#C2570C"), QColor("#0A7F5A"), QColor("#5F6B7A"),
                QColor("#9A3B8F"), QColor("#8A6D00"), QColor("#00829B"), QColor("#A3314F")};
  return theme;
}

Theme make_dark() {
  Theme theme;
  theme.dark = true;
  theme.ground = QColor("#15171C");
  theme.card = QColor("#1C1F26");
  theme.border = QColor("#2E333D");
  theme.text = QColor("#E7EAEE");
  theme.secondary = QColor("#98A2B0");
  theme.accent = QColor("#5AA2FF");
  theme.on_accent = QColor("#15171C");
  theme.grid = QColor("#282D36");
  theme.tint = QColor("#1E2B40");
  theme.hover = QColor("#242831");
  theme.control = QColor("#363C47");
  theme.standard = QColor("#9AA6B5");
  theme.soft = QColor("#5AA2FF");
  theme.fused = QColor("#F08A3C");
  theme.pass2 = QColor("#5AA2FF");
  theme.pass3 = QColor("#37B98A");
  theme.ok = QColor("#37B98A");
  theme.warning = QColor("#E2A93B");
  theme.error = QColor("#FF7B72");
  theme.runs = {QColor("#5AA2FF"), QColor("#F08A3C"), QColor("#37B98A"), QColor("#9AA6B5"),
                QColor("#D48BCB"), QColor("#D6BC4A"), QColor("#45C1D6"), QColor("#F28BA3")};
  return theme;
}

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color) {
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

QFont face(const QStringList& families, QFont::StyleHint hint, int pixels, QFont::Weight weight) {
  QFont font;
  font.setFamilies(families);
  font.setStyleHint(hint);
  font.setPixelSize(pixels);
  font.setWeight(weight);
  return font;
}

const QStringList kSans = {"Inter", "DejaVu Sans"};
const QStringList kMono = {"DejaVu Sans Mono", "monospace"};

}  // namespace

const Theme& light_theme() {
  static const Theme theme = make_light();
  return theme;
}

const Theme& dark_theme() {
  static const Theme theme = make_dark();
  return theme;
}

const Theme& theme_of(const QPalette& palette) {
  // A style sheet's `background: transparent` changes Window and Base; this role it leaves alone.
  return palette.color(QPalette::AlternateBase).lightness() < 128 ? dark_theme() : light_theme();
}

QPalette to_palette(const Theme& theme) {
  QPalette palette;
  palette.setColor(QPalette::Window, theme.ground);
  palette.setColor(QPalette::WindowText, theme.text);
  palette.setColor(QPalette::Base, theme.card);
  palette.setColor(QPalette::AlternateBase, theme.ground);
  palette.setColor(QPalette::Text, theme.text);
  palette.setColor(QPalette::PlaceholderText, theme.secondary);
  palette.setColor(QPalette::Button, theme.card);
  palette.setColor(QPalette::ButtonText, theme.text);
  palette.setColor(QPalette::BrightText, theme.error);
  palette.setColor(QPalette::Highlight, theme.accent);
  palette.setColor(QPalette::HighlightedText, theme.on_accent);
  palette.setColor(QPalette::Link, theme.accent);
  palette.setColor(QPalette::LinkVisited, theme.accent);
  palette.setColor(QPalette::ToolTipBase, theme.card);
  palette.setColor(QPalette::ToolTipText, theme.text);
  palette.setColor(QPalette::Light, theme.card);
  palette.setColor(QPalette::Midlight, theme.grid);
  palette.setColor(QPalette::Mid, theme.border);
  palette.setColor(QPalette::Dark, theme.border);
  palette.setColor(QPalette::Shadow, theme.border);
  for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, mix(theme.card, theme.secondary, 0.65));
  }
  return palette;
}

QColor mode_color(const Theme& theme, engine::DecodeMode mode) {
  switch (mode) {
    case engine::DecodeMode::standard:
      return theme.standard;
    case engine::DecodeMode::soft:
      return theme.soft;
    case engine::DecodeMode::fused:
      return theme.fused;
  }
  return theme.text;
}

QString mode_name(engine::DecodeMode mode) {
  switch (mode) {
    case engine::DecodeMode::standard:
      return QStringLiteral("Standard");
    case engine::DecodeMode::soft:
      return QStringLiteral("Soft");
    case engine::DecodeMode::fused:
      return QStringLiteral("Fused");
  }
  return {};
}

QColor run_color(const Theme& theme, int run) {
  const auto count = static_cast<int>(theme.runs.size());
  return theme.runs[static_cast<std::size_t>(((run % count) + count) % count)];
}

QPen pass_pen(const Theme& theme, int pass, double width) {
  QPen pen(theme.standard, width);
  if (pass == 2) {
    pen.setColor(theme.pass2);
    pen.setDashPattern({5, 3});
  } else if (pass == 3) {
    pen.setColor(theme.pass3);
    pen.setDashPattern({1.5, 2.5});
  } else if (pass > 3) {
    pen.setColor(mix(theme.card, theme.pass3, std::max(0.45, 1.0 - 0.12 * (pass - 3))));
    pen.setWidthF(0.75 * width);
    pen.setDashPattern({1.5, 2.5 + (pass - 3)});
  }
  pen.setCapStyle(Qt::FlatCap);
  pen.setJoinStyle(Qt::RoundJoin);
  return pen;
}

QPen series_pen(const Theme& theme, const SeriesStyle& style, double width) {
  if (style.role == Role::pass) return pass_pen(theme, style.pass, width);
  QPen pen(theme.accent, width);
  pen.setCapStyle(Qt::FlatCap);
  pen.setJoinStyle(Qt::RoundJoin);
  switch (style.role) {
    case Role::neutral:
      pen.setColor(theme.secondary);
      break;
    case Role::standard:
      pen.setColor(theme.standard);
      break;
    case Role::soft:
      pen.setColor(theme.soft);
      break;
    case Role::fused:
      pen.setColor(theme.fused);
      break;
    case Role::run:
      pen.setColor(run_color(theme, style.run));
      break;
    default:
      break;
  }
  if (style.role != Role::run) return pen;
  const int wrapped = style.run / static_cast<int>(theme.runs.size());
  if (style.pass > 1)
    pen.setDashPattern(pass_pen(theme, style.pass).dashPattern());
  else if (wrapped > 0)
    pen.setDashPattern({8.0, 2.0 + wrapped, 2.0, 2.0 + wrapped});
  return pen;
}

QColor mix(const QColor& below, const QColor& above, double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  return QColor::fromRgbF(static_cast<float>(below.redF() + s * (above.redF() - below.redF())),
                          static_cast<float>(below.greenF() + s * (above.greenF() - below.greenF())),
                          static_cast<float>(below.blueF() + s * (above.blueF() - below.blueF())));
}

QColor sequential_color(const Theme& theme, double share) {
  const QColor lowest = mix(theme.card, theme.accent, 0.08);
  const QColor highest =
      theme.dark ? mix(theme.accent, QColor(Qt::white), 0.25) : mix(theme.accent, QColor(Qt::black), 0.35);
  const double s = std::clamp(share, 0.0, 1.0);
  return s < 0.7 ? mix(lowest, theme.accent, s / 0.7) : mix(theme.accent, highest, (s - 0.7) / 0.3);
}

QColor diverging_color(const Theme& theme, double share) {
  return mix(theme.card, share < 0 ? theme.soft : theme.fused, std::abs(share));
}

double contrast(const QColor& first, const QColor& second) {
  const double a = luminance(first) + 0.05;
  const double b = luminance(second) + 0.05;
  return std::max(a, b) / std::min(a, b);
}

std::vector<std::pair<QColor, QColor>> text_on_ground(const Theme& theme) {
  std::vector<std::pair<QColor, QColor>> pairs = {{theme.on_accent, theme.accent}, {theme.accent, theme.card},
                                                  {theme.accent, theme.tint},      {theme.text, theme.tint},
                                                  {theme.text, theme.hover},       {theme.standard, theme.card},
                                                  {theme.soft, theme.card},        {theme.fused, theme.card},
                                                  {theme.pass2, theme.card},       {theme.pass3, theme.card}};
  for (const QColor& ground : {theme.ground, theme.card}) {
    for (const QColor& text : {theme.text, theme.secondary, theme.warning, theme.error, theme.ok}) {
      pairs.emplace_back(text, ground);
    }
  }
  pairs.emplace_back(theme.secondary, theme.tint);
  return pairs;
}

QFont body_font() { return face(kSans, QFont::SansSerif, 13, QFont::Normal); }
QFont title_font() { return face(kSans, QFont::SansSerif, 13, QFont::DemiBold); }
QFont caption_font() { return face(kSans, QFont::SansSerif, 11, QFont::Normal); }
QFont mono_font() { return face(kMono, QFont::Monospace, 13, QFont::Normal); }

QFont heading_font() {
  QFont font = face(kSans, QFont::SansSerif, 11, QFont::DemiBold);
  font.setCapitalization(QFont::AllUppercase);
  font.setLetterSpacing(QFont::AbsoluteSpacing, 0.5);
  return font;
}

}  // namespace widgets
