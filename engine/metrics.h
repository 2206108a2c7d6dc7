// Values that training reports: plain numbers, safe to copy across threads. One object a line in metrics.jsonl.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace engine {

/// One optimiser step. Losses in nats, one a pass (pass 1 first), weighted means over the scored targets.
struct StepMetrics {
  std::int64_t step = 0;               ///< steps done, this one included
  std::int64_t tokens = 0;             ///< tokens seen since the start (padding excluded)
  std::int64_t token_equivalents = 0;  ///< sum of tokens * K
  double wall_seconds = 0;             ///< since the run began, pauses and interruptions excluded
  double unix_seconds = 0;             ///< time of day
  int passes = 1;                      ///< K of this step
  double objective = 0;
  std::vector<double> pass_loss;
  double learning_rate = 0;
  double gradient_norm = 0;  ///< before clipping
  double tokens_per_second = 0;
};

/// One validation on held-out rows, no jitter, positions after the first fused in passes 2...
struct ValidationMetrics {
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  std::int64_t token_equivalents = 0;
  double wall_seconds = 0;
  std::int64_t rows = 0;
  std::vector<double> pass_loss;      ///< nats per scored token
  std::vector<double> pass_error;     ///< standard error of the row means
  std::vector<double> pass_accuracy;  ///< share of rows whose answer tokens are all the argmax
};

/// Keys: step, tokens, token_equivalents, wall (seconds since the run began), rel (step / total_steps), time (of day),
/// passes, train/loss (the objective), train/loss_pass{k}, lr, grad_norm, tokens_per_s.
nlohmann::json to_json(const StepMetrics& metrics, std::int64_t total_steps);
/// The first five keys, val/rows, val/loss_pass{k}, val/error_pass{k}, val/accuracy_pass{k}.
nlohmann::json to_json(const ValidationMetrics& metrics, std::int64_t total_steps);

/// The other way round, for a line as read_metrics (engine/run_store.h) gives it; nothing for a line of the other kind.
/// Missing numbers are NaN, missing counters 0.
std::optional<StepMetrics> step_metrics_from_json(const nlohmann::json& line);
std::optional<ValidationMetrics> validation_metrics_from_json(const nlohmann::json& line);

}  // namespace engine
