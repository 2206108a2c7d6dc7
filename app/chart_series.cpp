#include "app/chart_series.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string>

namespace app {

namespace {

using widgets::Role;
using widgets::Series;
using Value = std::function<double(const engine::StepMetrics&)>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Works for training steps and validations: both count step, tokens, token-equivalents and wall time.
template <typename Metrics>
double x_of(const Metrics& metrics, const RunData& run, XAxis axis) {
  switch (axis) {
    case XAxis::step:
      return static_cast<double>(metrics.step);
    case XAxis::tokens:
      return static_cast<double>(metrics.tokens);
    case XAxis::token_equivalents:
      return static_cast<double>(metrics.token_equivalents);
    case XAxis::relative:
      return run.total_steps > 0 ? double(metrics.step) / double(run.total_steps) : kNaN;
    case XAxis::wall:
      return metrics.wall_seconds;
  }
  return kNaN;
}

std::string label(const ChartInput& input, std::size_t index, int pass) {
  const std::string name = input.runs.size() > 1 ? input.runs[index]->name : "";
  if (pass == 0) return name;
  const std::string number = "pass " + std::to_string(pass);
  return name.empty() ? number : name + ", " + number;
}

Series make_series(const ChartInput& input, std::size_t index, int pass) {
  Series series;
  series.label = label(input, index, pass);
  series.style.pass = pass == 0 ? 1 : pass;
  series.style.run = input.colors[index];
  if (input.runs.size() > 1) {
    series.style.role = Role::run;
  } else {
    series.style.role = pass == 0 ? Role::accent : Role::pass;
  }
  return series;
}

using Steps = std::span<const engine::StepMetrics>;

Steps steps_of(const ChartInput& input, std::size_t index) {
  const Steps all(input.runs[index]->steps);
  return all.subspan(input.from.empty() ? 0 : std::min(input.from[index], all.size()));
}

Series step_curve(const ChartInput& input, std::size_t index, const Value& value, bool smooth) {
  Series series = make_series(input, index, 0);
  series.style.smooth = smooth;
  for (const auto& metrics : steps_of(input, index)) {
    series.x.push_back(x_of(metrics, *input.runs[index], input.x));
    series.y.push_back(value(metrics));
  }
  return series;
}

std::vector<Series> step_curves(const ChartInput& input, const Value& value, bool smooth) {
  std::vector<Series> all;
  for (std::size_t index = 0; index < input.runs.size(); ++index) {
    all.push_back(step_curve(input, index, value, smooth));
  }
  return all;
}

Series loss_curve(const ChartInput& input, std::size_t index, int pass) {
  Series series = make_series(input, index, pass);
  const auto place = static_cast<std::size_t>(pass - 1);
  for (const auto& metrics : steps_of(input, index)) {
    if (metrics.pass_loss.size() <= place) continue;  // a step with fewer passes says nothing about this one
    series.x.push_back(x_of(metrics, *input.runs[index], input.x));
    series.y.push_back(metrics.pass_loss[place]);
  }
  return series;
}

Series validation_curve(const ChartInput& input, std::size_t index, int pass) {
  Series series = make_series(input, index, pass);
  series.style.smooth = false;
  series.style.markers = true;
  series.spread = widgets::Spread::band;
  const auto place = static_cast<std::size_t>(pass - 1);
  for (const auto& metrics : input.runs[index]->validations) {
    if (metrics.pass_loss.size() <= place) continue;
    const double loss = metrics.pass_loss[place];
    const double error = metrics.pass_error.size() > place ? metrics.pass_error[place] : 0;
    series.x.push_back(x_of(metrics, *input.runs[index], input.x));
    series.y.push_back(loss);
    series.low.push_back(loss - error);
    series.high.push_back(loss + error);
  }
  return series;
}

template <typename Metrics>
int most_passes(std::span<const Metrics> measured) {
  std::size_t most = 0;
  for (const Metrics& metrics : measured) most = std::max(most, metrics.pass_loss.size());
  return static_cast<int>(most);
}

template <typename Make, typename Measured>
std::vector<Series> pass_curves(const ChartInput& input, const Make& make, const Measured& measured) {
  std::vector<Series> all;
  for (std::size_t index = 0; index < input.runs.size(); ++index) {
    for (int pass = 1; pass <= most_passes(measured(input, index)); ++pass) {
      Series series = make(input, index, pass);
      if (!series.x.empty()) all.push_back(std::move(series));
    }
  }
  return all;
}

}  // namespace

std::vector<Series> loss_series(const ChartInput& input) { return pass_curves(input, loss_curve, steps_of); }

std::vector<Series> validation_series(const ChartInput& input) {
  return pass_curves(input, validation_curve, [](const ChartInput& all, std::size_t index) {
    return std::span<const engine::ValidationMetrics>(all.runs[index]->validations);
  });
}

std::vector<Series> rate_series(const ChartInput& input) {
  return step_curves(
      input, [](const auto& metrics) { return metrics.learning_rate; }, false);
}

std::vector<Series> gradient_series(const ChartInput& input) {
  return step_curves(
      input, [](const auto& metrics) { return metrics.gradient_norm; }, true);
}

std::vector<Series> speed_series(const ChartInput& input) {
  return step_curves(
      input, [](const auto& metrics) { return metrics.tokens_per_second; }, true);
}

}  // namespace app
