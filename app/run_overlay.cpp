#include "app/run_overlay.h"

namespace app {

std::vector<widgets::Series> overlay(const std::vector<RunCurves>& runs) {
  if (runs.size() == 1) return runs.front().curves;
  std::vector<widgets::Series> all;
  for (const RunCurves& run : runs) {
    for (std::size_t i = 0; i < run.curves.size(); ++i) {
      widgets::Series series = run.curves[i];
      series.label = run.curves.size() > 1 ? run.name + ", " + series.label : run.name;
      series.style.role = widgets::Role::run;
      series.style.run = run.color;
      series.style.pass = static_cast<int>(i) + 1;
      all.push_back(std::move(series));
    }
  }
  return all;
}

}  // namespace app
