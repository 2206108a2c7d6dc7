#include "app/finding_figures.h"

#include <QDir>
#include <QFile>
#include <QStringList>
#include <algorithm>
#include <limits>

#include "engine/error.h"
#include "engine/version.h"
#include "widgets/figure_export.h"
#include "widgets/plot.h"

namespace app {
namespace {

/// Columns of curves.csv; between the two groups stands one a seed.
enum Column { kCurve, kXAxis, kYAxis, kLogY, kVariant, kX, kFirstSeed };
constexpr qsizetype kNumbersAtEnd = 3;  // mean, smallest, largest

/// The cells of one line; quotes are doubled inside quotes.
QStringList cells_of(const QString& line) {
  QStringList cells = {""};
  bool quoted = false;
  for (qsizetype i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        cells.last() += line[i++];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      cells << "";
    } else {
      cells.last() += line[i];
    }
  }
  return cells;
}

FindingFigure& figure_of(std::vector<FindingFigure>& figures, const QStringList& cells) {
  const auto has_title = [&](const FindingFigure& figure) { return figure.title == cells[kCurve]; };
  const auto found = std::find_if(figures.begin(), figures.end(), has_title);
  if (found != figures.end()) return *found;
  figures.push_back({cells[kCurve], cells[kXAxis], cells[kYAxis], cells[kLogY] == "1", {}});
  return figures.back();
}

widgets::Series& series_of(FindingFigure& figure, const std::string& variant) {
  for (widgets::Series& series : figure.series) {
    if (series.label == variant) return series;
  }
  widgets::Series series;
  series.label = variant;
  series.style = {widgets::Role::run, 1, static_cast<int>(figure.series.size()), true, true, false};
  series.spread = widgets::Spread::band;
  figure.series.push_back(series);
  return figure.series.back();
}

/// A number, or NaN written as nan.
double number_in(const QString& cell, bool& ok) {
  if (cell == "nan" || cell == "-nan") return std::numeric_limits<double>::quiet_NaN();
  bool readable = false;
  const double value = cell.toDouble(&readable);
  ok = ok && readable;
  return value;
}

bool add_point(std::vector<FindingFigure>& figures, const QStringList& cells) {
  if (cells.size() < kFirstSeed + kNumbersAtEnd) return false;
  bool ok = true;
  const double x = number_in(cells[kX], ok);
  const double mean = number_in(cells[cells.size() - 3], ok);
  const double low = number_in(cells[cells.size() - 2], ok);
  const double high = number_in(cells[cells.size() - 1], ok);
  if (!ok) return false;
  widgets::Series& series = series_of(figure_of(figures, cells), cells[kVariant].toStdString());
  series.x.push_back(x);
  series.y.push_back(mean);
  series.low.push_back(low);
  series.high.push_back(high);
  return true;
}

/// Letters and digits of a title joined by hyphens: a file name on any system.
QString file_name(const QString& title) {
  QString name;
  for (const QChar c : title.toLower()) {
    const bool plain = c.isLetterOrNumber() && c.unicode() < 128;
    if (plain) name += c;
    if (!plain && !name.isEmpty() && !name.endsWith('-')) name += '-';
  }
  while (name.endsWith('-')) name.chop(1);
  return name;
}

void export_both(const FindingFigure& figure, const QDir& folder, const QString& name) {
  widgets::Plot plot;
  plot.resize(640, 360);
  plot.set_title(figure.title);
  plot.set_axes(figure.x_axis, figure.y_axis);
  widgets::PlotView view;
  view.log_y = figure.log_y;
  plot.set_view(view);
  plot.set_series(figure.series);
  for (const auto format : {widgets::FigureFormat::svg, widgets::FigureFormat::pdf}) {
    widgets::FigureOptions options;
    options.format = format;
    options.metadata = {{"finding", folder.dirName()}, {"version", engine::version()}};
    widgets::export_figure(plot, options, folder.filePath(name + "." + widgets::format_suffix(format)));
  }
}

}  // namespace

std::vector<FindingFigure> read_finding_figures(const QByteArray& csv, const QString& file) {
  std::vector<FindingFigure> figures;
  const QStringList lines = QString::fromUtf8(csv).split('\n', Qt::SkipEmptyParts);
  for (qsizetype i = 1; i < lines.size(); ++i) {
    if (add_point(figures, cells_of(lines[i]))) continue;
    throw engine::FormatError(file.toStdString(), "line " + std::to_string(i + 1) +
                                                      " is no point of a curve; write the file anew with "
                                                      "fullband-cli reproduce");
  }
  return figures;
}

std::vector<QString> write_finding_figures(const QString& folder) {
  const QDir directory(QDir(folder).absolutePath());
  QFile file(directory.filePath("curves.csv"));
  if (!file.open(QIODevice::ReadOnly)) {
    throw engine::FileError(file.fileName().toStdString(), "cannot be read; fullband-cli reproduce writes it");
  }
  std::vector<QString> names;
  const std::vector<FindingFigure> figures = read_finding_figures(file.readAll(), file.fileName());
  if (figures.empty()) {
    throw engine::FormatError(file.fileName().toStdString(), "holds no curve; fullband-cli reproduce writes it anew");
  }
  for (const FindingFigure& figure : figures) {
    names.push_back(file_name(figure.title));
    export_both(figure, directory, names.back());
  }
  return names;
}

}  // namespace app
