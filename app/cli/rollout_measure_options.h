// What rebuild and likelihood share: which rollouts are recorded, and for which numbers of passes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/decode_modes.h"
#include "app/cli/measured_run.h"
#include "engine/soft_rollout.h"

namespace app::cli {

struct RolloutMeasureOptions {
  MeasureOptions measure;
  std::string prompt;
  std::string task;
  std::int64_t rows = 16;
  std::vector<int> passes = {1, 2, 3, 4, 8, 16, 32};
  std::int64_t prompt_tokens = 4;  ///< held-out prompts are cut to these, so that the model writes the rest; 0 = whole
  bool past_end = false;
  engine::RecordSettings record;
};

void add_rollout_measure_options(CLI::App& command, RolloutMeasureOptions& options);

/// Token ids of the one prompt, or of held-out prompts; `rows` and `task` say what was taken.
struct MeasuredPrompts {
  std::vector<std::vector<std::int32_t>> tokens;
  std::string source;  ///< "prompt", the task, or the file
};
MeasuredPrompts find_prompts(const RolloutMeasureOptions& options, const MeasuredRun& run);
/// Sorted, each number once.
std::vector<int> ascending(std::vector<int> passes);
/// Seed, cap and end of text as the options say.
engine::RecordSettings record_settings(const RolloutMeasureOptions& options, const MeasuredRun& run);
/// run, step, seed, source, rows, max_tokens, temperature and whether rollouts end at end of text.
nlohmann::json rollouts_measured_on(const RolloutMeasureOptions& options, const MeasuredRun& run,
                                    const MeasuredPrompts& prompts);

}  // namespace app::cli
