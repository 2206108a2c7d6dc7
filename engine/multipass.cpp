#include "engine/multipass.h"

#include <algorithm>
#include <numeric>

#include "engine/device_copy.h"

namespace engine {

using kernels::ConstView;
using kernels::View;

double sum_of(const std::vector<float>& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

std::vector<float> shares_of_sum(const std::vector<float>& weights, double sum) {
  std::vector<float> shares(weights.size(), 0.0F);
  if (sum > 0) {
    std::transform(weights.begin(), weights.end(), shares.begin(),
                   [sum](float w) { return static_cast<float>(w / sum); });
  }
  return shares;
}

DeviceBatch upload_batch(kernels::Backend& backend, Arena& arena, const data::Batch& batch,
                         const std::vector<float>& shares) {
  DeviceBatch device;
  device.tokens = upload_indices(backend, arena, batch.tokens);
  device.positions = upload_indices(backend, arena, batch.positions);
  device.targets = upload_indices(backend, arena, batch.targets);
  device.weight = upload_matrix(backend, arena, shares, 1);
  return device;
}

DeviceBatch upload_batch(kernels::Backend& backend, Arena& arena, const data::Batch& batch) {
  return upload_batch(backend, arena, batch, shares_of_sum(batch.weights, sum_of(batch.weights)));
}

std::vector<std::int32_t> fused_flags(const data::Batch& batch, const std::vector<std::int64_t>& plain_length) {
  std::vector<std::int32_t> flags(batch.tokens.size());
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::int64_t plain = std::max<std::int64_t>(1, plain_length[static_cast<std::size_t>(row)]);
    for (std::int64_t place = 0; place < batch.seq; ++place) {
      const auto n = static_cast<std::size_t>(row * batch.seq + place);
      flags[n] = place >= plain && batch.positions[n] > 0 ? 1 : 0;
    }
  }
  return flags;
}

std::vector<std::int64_t> draw_plain_lengths(const data::Batch& batch, const kernels::PhiloxStream& stream,
                                             double fully_fused_share) {
  kernels::PhiloxReader random(stream);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch.rows), 1);
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const bool fully_fused = random.next_unit() < fully_fused_share;
    const auto length =
        static_cast<std::uint32_t>(std::max<std::int64_t>(1, batch.row_length[static_cast<std::size_t>(row)]));
    const std::uint32_t drawn =
        1 + random.next_below(length);  // always drawn, so that rows stay independent of the share
    if (!fully_fused) lengths[static_cast<std::size_t>(row)] = drawn;
  }
  return lengths;
}

namespace {

/// The carried state as the next pass reads it: detached and jittered as the settings say.
Variable state_for_next_pass(Tape& tape, Variable carried, const PassSettings& settings, int feedback_pass) {
  Variable state = settings.detach ? ops::detach(tape, carried) : carried;
  const auto index = static_cast<std::size_t>(feedback_pass - 1);
  if (!settings.fixed_jitter.empty()) return ops::add_constant(tape, state, settings.fixed_jitter[index]);
  if (settings.jitter == 0.0F) return state;
  kernels::PhiloxStream stream = settings.jitter_stream;
  stream.minor = static_cast<std::uint32_t>(feedback_pass);
  return ops::add_uniform(tape, state, settings.jitter, stream);
}

PassRows score(Tape& tape, const Transformer& model, const DeviceBatch& batch, const PassSettings& settings,
               Variable normed, float coefficient) {
  ConstView weight = batch.weight;
  if (coefficient != 1.0F) {
    const View scaled = tape.arena().matrix(weight.rows, 1);
    tape.backend().scaled(weight, coefficient, scaled, kernels::Write::assign);
    weight = scaled;
  }
  return ops::head_loss(tape, normed, model.head(), batch.targets, weight, settings.z_weight);
}

}  // namespace

std::vector<PassRows> run_passes(Tape& tape, Transformer& model, const DeviceBatch& batch,
                                 const PassSettings& settings) {
  std::vector<PassRows> rows;
  run_passes(tape, model, batch, settings, rows);
  return rows;
}

void run_passes(Tape& tape, Transformer& model, const DeviceBatch& batch, const PassSettings& settings,
                std::vector<PassRows>& rows) {
  rows.clear();
  const Variable embeddings = model.embed(batch.tokens);
  StackOutput top = model.stack(model.plain_input(embeddings, false), batch.positions);
  rows.push_back(score(tape, model, batch, settings, top.normed, 1.0F));
  if (settings.passes == 1) return;

  const Variable token = model.token_side(embeddings);
  const Variable plain = model.plain_input(embeddings, true);
  const auto coefficient = static_cast<float>(settings.lambda / (settings.passes - 1));
  for (int feedback = 1; feedback < settings.passes; ++feedback) {
    tape.begin_scope();
    const Variable state = state_for_next_pass(tape, top.carried, settings, feedback);
    const auto& fused = settings.fused[static_cast<std::size_t>(feedback - 1)];
    top = model.stack(model.fused_input(state, token, plain, fused, 1), batch.positions);
    rows.push_back(score(tape, model, batch, settings, top.normed, coefficient));
  }
}

double weighted_loss(const std::vector<float>& nll, const std::vector<float>& weights) {
  double sum = 0;
  for (std::size_t n = 0; n < nll.size(); ++n) {
    if (weights[n] != 0.0F) sum += double{weights[n]} * double{nll[n]};  // padding may hold anything
  }
  return sum;
}

double mean_loss(const std::vector<float>& nll, const std::vector<float>& weights) {
  const double weight = sum_of(weights);
  return weight > 0 ? weighted_loss(nll, weights) / weight : 0.0;
}

double objective(const std::vector<double>& pass_loss, double lambda) {
  if (pass_loss.size() < 2) return pass_loss.empty() ? 0.0 : pass_loss.front();
  const double rest = std::accumulate(pass_loss.begin() + 1, pass_loss.end(), 0.0);
  return pass_loss.front() + lambda * rest / static_cast<double>(pass_loss.size() - 1);
}

}  // namespace engine
