// A finished run on one page: what was trained, how well its answers are in each decoding mode, and its curves.
// Written without a display; every number is measured on the run's newest checkpoint or read from its metrics.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/run_data.h"
#include "engine/evaluation.h"
#include "engine/rollout_types.h"

namespace app {

/// One row of the table of answers.
struct TaskResult {
  std::string task;
  engine::DecodeMode mode = engine::DecodeMode::standard;
  engine::EvaluationSummary summary;
};

/// Held-out prompts of each task that the run was trained on, answered greedily in the three modes.
std::vector<TaskResult> measure_answers(const RunData& run, std::int64_t rows,
                                        const std::function<void(const std::string&)>& on_progress);

/// The page as HTML; pictures are named relative to it.
QString report_html(const RunData& run, const std::vector<TaskResult>& results);

/// Writes report.html, report.pdf and results.csv into `folder`, and each chart as PDF, SVG, PNG and CSV. FileError
/// when something cannot be read or written.
void write_report(const std::string& run_key, const QString& folder,
                  const std::function<void(const std::string&)>& on_progress);

}  // namespace app
