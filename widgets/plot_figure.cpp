#include "widgets/numbers.h"
#include "widgets/plot_state.h"

namespace widgets {

QString Plot::figure_title() const { return state_->scene.title; }

void Plot::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  state_->refresh();
  const PlotScene scene = state_->scene;
  const QSizeF body(area.size.width() - 2 * kFigureMargin,
                    area.size.height() - 2 * kFigureMargin - caption_height(area));
  PlotCanvas canvas(nullptr);
  canvas.set_for_print();
  canvas.show(scene, light_theme(), body);
  QCPPainter painter;
  begin_figure(painter, device, area);
  painter.setMode(QCPPainter::pmNoCaching);
  if (area.vector) painter.setMode(QCPPainter::pmVectorized);
  painter.translate(kFigureMargin, kFigureMargin);
  canvas.plot().setBackground(QBrush(Qt::NoBrush));
  canvas.plot().toPainter(&painter, static_cast<int>(body.width()), static_cast<int>(body.height()));
}

// One row a sample, all of them, whatever the view shows.
FigureTable Plot::figure_table() const {
  const PlotScene& scene = state_->scene;
  FigureTable table;
  const bool spread = std::any_of(scene.series.begin(), scene.series.end(), [](const Series& series) {
    return series.low.size() == series.x.size() && !series.low.empty();
  });
  table.columns = {QStringLiteral("series"), scene.x_title, scene.y_title};
  if (spread) table.columns.insert(table.columns.end(), {QStringLiteral("low"), QStringLiteral("high")});
  for (const Series& series : scene.series) {
    const QString label = QString::fromStdString(series.label);
    for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
      std::vector<QString> row = {label, exact_number(series.x[i]), exact_number(series.y[i])};
      if (spread) {
        row.push_back(i < series.low.size() ? exact_number(series.low[i]) : QString());
        row.push_back(i < series.high.size() ? exact_number(series.high[i]) : QString());
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace widgets
