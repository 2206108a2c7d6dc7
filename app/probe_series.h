// A probe measurement of one run, and how it is drawn: curves by depth, the sweep, the model's own answers. Knows no
// plot.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "engine/probe.h"
#include "engine/probe_task.h"
#include "widgets/dot_chart.h"
#include "widgets/series.h"
#include "widgets/stat_table.h"

namespace app {

struct ProbeMeasurement {
  engine::ProbeRequest request;
  engine::ProbeReport report;
  std::string run;  ///< "demo, step 2000"
  std::string name;
  std::int64_t step = 0;
  int color = 0;  ///< index into the run colours
  std::string slice_title;
  std::vector<std::string> answer_words;
  std::int64_t longest_prompt = 0;
  bool trained = false;
  bool fits_training = false;
};

/// On the worker's thread; Cancelled when a stop is requested.
ProbeMeasurement measure_probes(AnalysisModel& model, const engine::ProbeRequest& request,
                                const AnalysisControl& control);

/// "Standard", "1 recurrent step", "2 recurrent steps", ..., "full recurrent prefill".
QString condition_name(const engine::PrefillCondition& condition);
/// Accuracy in % by depth, a curve a condition, bars of one standard deviation between folds. A condition of k steps
/// has the form of pass k+1, whose states it has.
std::vector<widgets::Series> depth_series(const ProbeMeasurement& measurement);
/// The same at one depth over distractors, registers or writes.
std::vector<widgets::Series> slice_series(const ProbeMeasurement& measurement, std::size_t depth);

/// The first measurement is the selected run's.
using ProbeMeasurements = std::vector<ProbeMeasurement>;
/// Of one run every condition; of several runs one condition, a curve a run.
std::vector<widgets::Series> depth_curves(const ProbeMeasurements& measurements, std::size_t condition);
std::vector<widgets::Series> slice_curves(const ProbeMeasurements& measurements, std::size_t depth,
                                          std::size_t condition);
QString slice_axis(const ProbeMeasurement& measurement);
/// The model's own answers: right, right after an exchange within the label, turned by the other label's state.
std::vector<QString> answer_measurements();
/// Of one run a row a condition; of several runs a row a run, in one condition.
std::vector<widgets::DotRow> answer_rows(const ProbeMeasurements& measurements, std::size_t condition);
std::vector<widgets::Stat> probe_stats(const ProbeMeasurements& measurements);
/// What the numbers say, in two or three sentences.
QString probe_reading(const ProbeMeasurements& measurements);
/// For exported figures: step, prompts, folds and the seed of the measurement.
widgets::FigureMetadata probe_metadata(const ProbeMeasurements& measurements);

}  // namespace app
