#include "app/ladder_history.h"

#include "app/run_data.h"
#include "engine/channel_probe.h"
#include "engine/error.h"
#include "engine/multipass.h"
#include "engine/run_store.h"

namespace app {

namespace {

constexpr std::size_t kMostCheckpoints = 12;

std::vector<engine::LadderRung> ladder_of(const engine::CheckpointEntry& entry, const engine::data::Batch& batch,
                                          int feedback_passes) {
  const engine::InferenceModel model(engine::read_checkpoint(entry.folder, false));
  engine::ChannelProbe probe(model.backend(), model.parameters(), batch);
  const std::vector<std::int64_t> plain(static_cast<std::size_t>(batch.rows), 1);
  return engine::measure_ladder(probe, engine::fused_flags(batch, plain), feedback_passes);
}

void add_point(widgets::Series& series, std::int64_t step, const engine::Estimate& estimate) {
  series.x.push_back(static_cast<double>(step));
  series.y.push_back(estimate.value);
  series.low.push_back(estimate.value - estimate.error);
  series.high.push_back(estimate.value + estimate.error);
}

}  // namespace

std::vector<LadderPoint> measure_ladder_history(const AnalysisModel& model, const engine::data::Batch& batch,
                                                int feedback_passes, const AnalysisControl& control) {
  if (model.key == kDemoKey) return {};
  const std::vector<engine::CheckpointEntry> entries = engine::list_checkpoints(model.key);
  const std::size_t stride = 1 + entries.size() / (kMostCheckpoints + 1);
  std::vector<LadderPoint> points;
  for (std::size_t i = 0; i < entries.size(); i += stride) {
    if (control.stop.stop_requested()) throw engine::Cancelled();
    if (entries[i].step == model.step) continue;
    try {
      points.push_back({entries[i].step, ladder_of(entries[i], batch, feedback_passes)});
    } catch (const engine::FileError&) {
      continue;  // a training under way removes old checkpoints
    }
  }
  return points;
}

void LadderHistory::add(const ChannelMeasurement& measurement) {
  const engine::GateReport& report = measurement.report;
  if (report.rows != rows_ || report.feedback_passes != feedback_passes_) runs_.clear();
  rows_ = report.rows;
  feedback_passes_ = report.feedback_passes;
  auto& steps = runs_[measurement.key];
  for (const LadderPoint& point : measurement.earlier) steps[point.step] = point.rungs;
  steps[measurement.step] = report.ladder;
}

std::vector<widgets::Series> LadderHistory::series(const std::string& run, std::int64_t depth) const {
  std::vector<widgets::Series> both(2);
  both[0].label = "plain";
  both[0].style.role = widgets::Role::standard;
  both[1].label = "fused";
  both[1].style.role = widgets::Role::fused;
  for (widgets::Series& series : both) {
    series.style.markers = true;
    series.style.smooth = false;
    series.spread = widgets::Spread::bars;
  }
  const auto found = runs_.find(run);
  if (found == runs_.end()) return both;
  for (const auto& [step, rungs] : found->second) {
    if (depth < 0 || depth >= static_cast<std::int64_t>(rungs.size())) continue;
    const engine::LadderRung& rung = rungs[static_cast<std::size_t>(depth)];
    add_point(both[0], step, rung.plain_rms);
    add_point(both[1], step, rung.fused_rms);
  }
  return both;
}

}  // namespace app
