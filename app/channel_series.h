// What a gate report of one run says, and how it is drawn: gates, spectra, the residual stream, interventions and the
// boundary. Knows no plot.
#pragma once

#include <QString>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "engine/gate_report.h"
#include "widgets/dot_chart.h"
#include "widgets/series.h"
#include "widgets/stat_table.h"

namespace app {

/// The residual stream at one step of a training.
struct LadderPoint {
  std::int64_t step = 0;
  std::vector<engine::LadderRung> rungs;
};

struct ChannelRequest {
  std::int64_t rows = 64;
  int feedback_passes = 1;
  std::uint64_t seed = 1;
  std::vector<engine::InterventionChoice> choices;  ///< changes to measure
};

struct ChannelMeasurement {
  ChannelRequest request;
  engine::GateReport report;
  std::string run;   ///< "demo, step 2000"
  std::string key;   ///< of the run
  std::string name;  ///< of the run
  std::int64_t step = 0;
  int color = 0;                               ///< index into the run colours
  std::vector<LadderPoint> earlier;            ///< from the run's other checkpoints
  std::map<std::int32_t, std::string> labels;  ///< of the tokens with gates
};

/// On the worker's thread; Cancelled when a stop is requested.
ChannelMeasurement measure_channel(AnalysisModel& model, const ChannelRequest& request, const AnalysisControl& control);

/// What the changes of `request` cost, on a report that has everything else.
engine::InterventionReport measure_changes(AnalysisModel& model, const ChannelRequest& request);

/// Share of channels in % by gate value, as steps: all tokens, and one token where the rows have it.
std::vector<widgets::Series> gate_series(const ChannelMeasurement& measurement, std::optional<std::int32_t> token);
/// By rank from 1; the label says about how many directions count, when `counted`.
std::vector<widgets::Series> spectrum_series(const std::vector<engine::Spectrum>& spectra, bool counted = true);
/// Root mean square of the residual stream, or what each block changes, by depth: plain and fused.
std::vector<widgets::Series> rms_series(const ChannelMeasurement& measurement);
std::vector<widgets::Series> change_series(const ChannelMeasurement& measurement);
std::vector<widgets::Series> boundary_series(const ChannelMeasurement& measurement);
std::vector<widgets::Series> exposure_series(const ChannelMeasurement& measurement);

/// The first measurement is the selected run's.
using ChannelMeasurements = std::vector<ChannelMeasurement>;
/// Of one run all tokens and answer tokens; of several runs all tokens, a run each.
std::vector<QString> cost_measurements(const ChannelMeasurements& measurements);
std::vector<widgets::SeriesStyle> cost_styles(const ChannelMeasurements& measurements);
std::vector<widgets::DotRow> cost_rows(const ChannelMeasurements& measurements);
std::vector<widgets::Stat> channel_stats(const ChannelMeasurements& measurements);
/// What the numbers say, in two or three sentences.
QString channel_reading(const ChannelMeasurements& measurements);
/// For exported figures: step, rows, passes and the seed of the measurement.
widgets::FigureMetadata channel_metadata(const ChannelMeasurements& measurements);

}  // namespace app
