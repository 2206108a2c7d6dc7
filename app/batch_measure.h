// A batch of rollouts of one run: each mode's answers to the same prompts, with the same random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "engine/answer_statistics.h"
#include "engine/evaluation.h"

namespace app {

struct BatchRequest {
  std::string source;  ///< task, or JSON Lines file; empty: the run's first task
  std::int64_t rows = 256;
  std::vector<engine::DecodeMode> modes = {engine::DecodeMode::standard, engine::DecodeMode::soft,
                                           engine::DecodeMode::fused};
  engine::EvaluationSettings settings;  ///< its mode does not count; sampler.seed chooses the prompts, too
};

struct ModeResult {
  engine::DecodeMode mode = engine::DecodeMode::standard;
  engine::EvaluationSummary summary;
  std::vector<engine::PassAtK> pass_at_k;
  std::vector<engine::LengthBin> lengths;
  std::vector<engine::AccuracyAtCap> at_caps;
};

struct PairResult {
  engine::DecodeMode first = engine::DecodeMode::standard;
  engine::DecodeMode second = engine::DecodeMode::standard;
  engine::PairedCounts counts;
};

struct BatchResult {
  BatchRequest request;
  std::string source;  ///< task, or the file's name
  std::string run;     ///< "demo, step 2000"
  std::int64_t step = 0;
  std::vector<ModeResult> modes;
  std::vector<PairResult> pairs;
  std::string answers;  ///< every answer as a line of JSON
};

/// On the worker's thread; Cancelled when a stop is requested. Throws the engine's errors.
BatchResult measure_batch(AnalysisModel& model, const BatchRequest& request, const AnalysisControl& control);

}  // namespace app
