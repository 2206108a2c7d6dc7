// The objective over K parallel passes (method page, "Training"; paper, Eqs. 7-11): pass 1 plain, each later pass fused
// with the states of the pass before, shifted by one; L_1 + lambda/(K-1) * (L_2 + ... + L_K).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/arena.h"
#include "engine/data/batch_source.h"
#include "engine/ops.h"
#include "engine/tape.h"
#include "engine/transformer.h"
#include "kernels/philox.h"

namespace engine {

/// A batch on the device. N = rows * seq.
struct DeviceBatch {
  kernels::ConstIndexView tokens;     ///< [N]
  kernels::ConstIndexView positions;  ///< [N]
  kernels::ConstIndexView targets;    ///< [N]
  kernels::ConstView weight;          ///< [N,1] loss weights divided by their sum
};
/// Each weight over `sum`, the sum of all; zeros when that is nothing.
std::vector<float> shares_of_sum(const std::vector<float>& weights, double sum);
double sum_of(const std::vector<float>& weights);
/// `shares` are those of the batch's weights.
DeviceBatch upload_batch(kernels::Backend& backend, Arena& arena, const data::Batch& batch,
                         const std::vector<float>& shares);
DeviceBatch upload_batch(kernels::Backend& backend, Arena& arena, const data::Batch& batch);

/// Flags [rows*seq]: fused where the place in the row is at or past its plain length and the document has a position
/// before.
std::vector<std::int32_t> fused_flags(const data::Batch& batch, const std::vector<std::int64_t>& plain_length);
/// Prefix mix-in: for each row a plain length uniform on 1..its length, or 1 for `fully_fused_share` of the rows.
std::vector<std::int64_t> draw_plain_lengths(const data::Batch& batch, const kernels::PhiloxStream& stream,
                                             double fully_fused_share);

struct PassSettings {
  int passes = 1;
  double lambda = 1.0;
  bool detach = false;
  float z_weight = 0.0F;
  float jitter = 0.0F;  ///< amplitude; drawn from `jitter_stream` with minor = pass
  kernels::PhiloxStream jitter_stream;
  std::vector<kernels::ConstIndexView> fused;    ///< flags [N] of each feedback pass, passes - 1 of them
  std::vector<kernels::ConstView> fixed_jitter;  ///< instead of drawn jitter: [N,D] a feedback pass, or empty
};

/// One pass's rows: per-row loss and the most likely next token.
using PassRows = ops::LossRows;

/// Runs the passes; with the tape recording, Tape::backward() then gives the gradient of the objective.
std::vector<PassRows> run_passes(Tape& tape, Transformer& model, const DeviceBatch& batch,
                                 const PassSettings& settings);
/// The same into `rows`, whose memory is used again.
void run_passes(Tape& tape, Transformer& model, const DeviceBatch& batch, const PassSettings& settings,
                std::vector<PassRows>& rows);

/// Weighted sum of one pass's per-row losses, in nats.
double weighted_loss(const std::vector<float>& nll, const std::vector<float>& weights);
/// Weighted mean of one pass's per-row losses, in nats.
double mean_loss(const std::vector<float>& nll, const std::vector<float>& weights);
/// L_1 + lambda/(K-1) * sum of the others.
double objective(const std::vector<double>& pass_loss, double lambda);

}  // namespace engine
