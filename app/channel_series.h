// What a gate report of one run says, and how it is drawn: gates, spectra, the residual stream, interventions and the
// boundary. Knows no plot.
#pragma once

#include <QString>
#include <map>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "engine/gate_report.h"
#include "widgets/dot_chart.h"
#include "widgets/series.h"
#include "widgets/stat_table.h"

namespace app {

struct ChannelRequest {
  std::int64_t rows = 64;
  int feedback_passes = 1;
  std::uint64_t seed = 1;
};

struct ChannelMeasurement {
  ChannelRequest request;
  engine::GateReport report;
  std::string run;                             ///< "demo, step 2000"
  std::map<std::int32_t, std::string> labels;  ///< of the tokens with gates
};

/// On the worker's thread; Cancelled when a stop is requested.
ChannelMeasurement measure_channel(AnalysisModel& model, const ChannelRequest& request, const AnalysisControl& control);

/// Share of channels in % by gate value, as steps: all tokens, and one token when `token` is an index into the
/// report's.
std::vector<widgets::Series> gate_series(const ChannelMeasurement& measurement, int token);
/// By rank from 1; the label says about how many directions count.
std::vector<widgets::Series> spectrum_series(const std::vector<engine::Spectrum>& spectra);
/// Root mean square of the residual stream, or what each block changes, by depth: plain and fused.
std::vector<widgets::Series> rms_series(const ChannelMeasurement& measurement);
std::vector<widgets::Series> change_series(const ChannelMeasurement& measurement);
std::vector<widgets::Series> boundary_series(const ChannelMeasurement& measurement);
std::vector<widgets::Series> exposure_series(const ChannelMeasurement& measurement);
std::vector<QString> cost_measurements();
std::vector<widgets::DotRow> cost_rows(const ChannelMeasurement& measurement);
std::vector<widgets::Stat> channel_stats(const ChannelMeasurement& measurement);
/// What the numbers say, in two or three sentences.
QString channel_reading(const ChannelMeasurement& measurement);

}  // namespace app
