#include <algorithm>
#include <utility>

#include "widgets/plot.h"

namespace widgets {

void PlotLink::add(Plot* plot) {
  plots_.push_back(plot);
  connect(plot, &Plot::x_zoomed, this, [this, plot](double low, double high) { share_zoom(plot, {low, high}); });
  connect(plot, &Plot::crosshair_moved, this, [this, plot](double x) { share_crosshair(plot, x); });
  connect(plot, &Plot::crosshair_left, this, [this, plot] { share_crosshair(plot, std::nullopt); });
  connect(plot, &Plot::following_changed, this, [this, plot](bool following) { share_following(plot, following); });
  connect(plot, &QObject::destroyed, this,
          [this, plot] { plots_.erase(std::remove(plots_.begin(), plots_.end(), plot), plots_.end()); });
}

// The receivers report their own change, which must not come back.
void PlotLink::share_zoom(Plot* from, const Range& x) {
  if (std::exchange(sharing_, true)) return;
  for (Plot* plot : plots_) {
    if (plot != from) plot->zoom_x_to(x);
  }
  sharing_ = false;
}

void PlotLink::share_crosshair(Plot* from, std::optional<double> x) {
  for (Plot* plot : plots_) {
    if (plot != from) plot->set_crosshair(x);
  }
}

void PlotLink::share_following(Plot* from, bool following) {
  if (!following || std::exchange(sharing_, true)) return;
  for (Plot* plot : plots_) {
    if (plot != from) plot->follow();
  }
  sharing_ = false;
}

}  // namespace widgets
