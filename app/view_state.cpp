#include "app/view_state.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace app {

namespace {

constexpr std::size_t kHistoryLimit = 200;
constexpr std::array kPages = {"training", "reachability", "probes", "stability",
                               "rollouts", "batch",        "cache",  "channel"};

struct AxisName {
  XAxis axis;
  const char* name;
  const char* title;
};

constexpr std::array kAxes = {AxisName{XAxis::step, "step", "step"}, AxisName{XAxis::tokens, "tokens", "tokens"},
                              AxisName{XAxis::token_equivalents, "token-equivalents", "token-equivalents"},
                              AxisName{XAxis::relative, "relative", "share of the run"},
                              AxisName{XAxis::wall, "wall", "wall time (s)"}};

}  // namespace

std::string to_string(XAxis axis) { return kAxes.at(static_cast<std::size_t>(axis)).name; }
std::string title(XAxis axis) { return kAxes.at(static_cast<std::size_t>(axis)).title; }

XAxis x_axis_from_string(const std::string& name) {
  for (const AxisName& entry : kAxes) {
    if (name == entry.name) return entry.axis;
  }
  return XAxis::step;
}

nlohmann::json to_json(const ViewState& view) {
  return {{"page", view.page},
          {"x", to_string(view.charts.x)},
          {"log_x", view.charts.log_x},
          {"log_y", view.charts.log_y},
          {"clip_outliers", view.charts.clip_outliers},
          {"smoothing", view.charts.smoothing},
          {"token_colour", view.token_colour},
          {"shown_runs", view.shown_runs}};
}

ViewState view_state_from_json(const nlohmann::json& object) {
  ViewState view;
  const std::string page = object.value("page", view.page);
  if (std::find(std::begin(kPages), std::end(kPages), page) != std::end(kPages)) view.page = page;
  view.charts.x = x_axis_from_string(object.value("x", std::string("step")));
  view.charts.log_x = object.value("log_x", view.charts.log_x);
  view.charts.log_y = object.value("log_y", view.charts.log_y);
  view.charts.clip_outliers = object.value("clip_outliers", view.charts.clip_outliers);
  view.charts.smoothing = std::clamp(object.value("smoothing", view.charts.smoothing), 0.0, 0.999);
  view.token_colour = object.value("token_colour", view.token_colour);
  if (view.token_colour != "entropy") view.token_colour = "logprob";
  view.shown_runs = object.value("shown_runs", view.shown_runs);
  return view;
}

void ViewHistory::push(const ViewState& state) {
  if (state == past_.back()) return;
  past_.push_back(state);
  future_.clear();
  if (past_.size() > kHistoryLimit) past_.erase(past_.begin());
}

const ViewState& ViewHistory::undo() {
  if (can_undo()) {
    future_.push_back(std::move(past_.back()));
    past_.pop_back();
  }
  return present();
}

const ViewState& ViewHistory::redo() {
  if (can_redo()) {
    past_.push_back(std::move(future_.back()));
    future_.pop_back();
  }
  return present();
}

}  // namespace app
