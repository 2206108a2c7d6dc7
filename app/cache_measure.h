// What is left of a Soft rollout when only its tokens are kept: how well parallel passes rebuild its cache, and how
// well they give its likelihood; and how that is drawn. Knows no widget.
#pragma once

#include <QString>
#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "engine/cache_rebuild.h"
#include "engine/rollout_likelihood.h"
#include "widgets/number_table.h"
#include "widgets/plot.h"
#include "widgets/series.h"
#include "widgets/stat_table.h"

namespace app {

/// Tokens of a rollout that was decoded elsewhere; without generated ones, held-out prompts are decoded.
struct GivenRollout {
  QString name;  ///< "Soft, 17 tokens"
  std::vector<std::int32_t> prompt, generated;
};

struct CacheRequest {
  std::int64_t rows = 16;
  std::int64_t prompt_tokens = 4;  ///< held-out prompts are cut to these, so that the model writes the rest; 0 = whole
  std::int64_t max_tokens = 64;
  float temperature = 0;
  std::uint64_t seed = 1;
  std::vector<int> passes = {1, 2, 3, 4, 8, 16, 32};
  GivenRollout given;
};

/// A token of the first rollout, engine::PositionRow with its text.
struct PositionText {
  engine::PositionRow row;
  std::string text;  ///< whitespace as it is
};

struct CacheResult {
  CacheRequest request;
  std::string source;  ///< task, or the rollout's name
  std::string run;     ///< "demo, step 2000"
  std::int64_t step = 0;
  engine::RebuildReport rebuild;
  engine::LikelihoodReport likelihood;
  std::vector<PositionText> positions;
};

/// On the worker's thread; Cancelled when a stop is requested. Throws the engine's errors.
CacheResult measure_cache(AnalysisModel& model, const CacheRequest& request, const AnalysisControl& control);

/// Relative error of keys and values by number of passes.
std::vector<widgets::Series> rebuild_series(const CacheResult& result);
/// What rounding alone leaves, from a pass on the recorded states.
std::vector<widgets::ReferenceLine> rebuild_floor(const CacheResult& result);
/// Share of positions in % whose most likely next token is the same.
std::vector<widgets::Series> agreement_series(const CacheResult& result);
/// Log-likelihood in nats a token by number of passes, and decoding's own as a line.
std::vector<widgets::Series> likelihood_series(const CacheResult& result);
std::vector<widgets::ReferenceLine> sequential_line(const CacheResult& result);
/// How far it is from decoding's own, nats a token.
std::vector<widgets::Series> miss_series(const CacheResult& result);
std::vector<widgets::ReferenceLine> miss_floor(const CacheResult& result);
std::vector<widgets::NumberColumn> position_columns();
std::vector<widgets::NumberRow> position_rows(const CacheResult& result);
/// For exported figures.
widgets::FigureMetadata cache_metadata(const CacheResult& result);
std::vector<widgets::Stat> cache_stats(const CacheResult& result);
/// What the numbers say, in two or three sentences.
QString cache_reading(const CacheResult& result);

}  // namespace app
