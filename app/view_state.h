// What the user sees and may want back: plain values, compared and copied for undo, redo and the saved session.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace app {

enum class XAxis { step, tokens, token_equivalents, relative, wall };

/// How the charts of the Training page are drawn.
struct ChartView {
  XAxis x = XAxis::step;
  bool log_x = false;
  bool log_y = true;  ///< of losses and gradient norms
  bool clip_outliers = false;
  double smoothing = 0.6;  ///< 0..0.999

  friend bool operator==(const ChartView&, const ChartView&) = default;
};

struct ViewState {
  std::string page = "training";  ///< training | reachability | probes | stability | rollouts | batch | cache | channel
  ChartView charts;
  std::string token_colour = "logprob";  ///< logprob | entropy
  std::vector<std::string> shown_runs;   ///< keys of the runs that are overlaid

  friend bool operator==(const ViewState&, const ViewState&) = default;
};

std::string to_string(XAxis axis);
/// Axis title with its unit.
std::string title(XAxis axis);
XAxis x_axis_from_string(const std::string& name);

nlohmann::json to_json(const ViewState& view);
/// Throws nlohmann::json exceptions on wrong types; values out of range are brought back into it.
ViewState view_state_from_json(const nlohmann::json& object);

/// Undo and redo by snapshots. The newest snapshot is the present one.
class ViewHistory {
 public:
  explicit ViewHistory(ViewState start = {}) : past_{std::move(start)} {}
  /// Remembers a change; what was undone before is forgotten. Equal states are not remembered twice.
  void push(const ViewState& state);
  [[nodiscard]] bool can_undo() const { return past_.size() > 1; }
  [[nodiscard]] bool can_redo() const { return !future_.empty(); }
  const ViewState& undo();
  const ViewState& redo();
  [[nodiscard]] const ViewState& present() const { return past_.back(); }

 private:
  std::vector<ViewState> past_;
  std::vector<ViewState> future_;
};

}  // namespace app
