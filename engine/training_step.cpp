#include "engine/training_step.h"

#include <algorithm>

#include "engine/device_copy.h"
#include "engine/dry_backend.h"
#include "engine/schedule.h"

namespace engine {
namespace {

OptimizerSettings optimizer_settings(const TrainConfig& train, std::int64_t step) {
  const double share = rate_share(train, step);
  OptimizerSettings settings;
  settings.type = train.optimizer;
  settings.rate = static_cast<float>(train.rate * share);
  settings.adam_rate = static_cast<float>(train.adam_rate * share);
  settings.beta1 = static_cast<float>(train.beta1);
  settings.beta2 = static_cast<float>(train.beta2);
  settings.epsilon = static_cast<float>(train.epsilon);
  settings.weight_decay = static_cast<float>(train.weight_decay);
  return settings;
}

}  // namespace

StepBatch make_step_batch(const data::Batch& padded, const TrainConfig& train, std::uint64_t seed, std::int64_t step,
                          int passes, const RowShare& rows) {
  const std::vector<std::int32_t> all_places = data::real_places(padded);
  const PlaceShare share = place_share(all_places, padded.seq, rows);
  StepBatch batch;
  batch.passes = passes;
  batch.tokens = data::without_padding(padded, share.places);
  batch.weight_sum = sum_of(padded.weights);
  batch.loss_weights = shares_of_sum(batch.tokens.weights, batch.weight_sum);
  batch.first_token = share.before;
  batch.all_tokens = static_cast<std::int64_t>(all_places.size());
  for (int feedback = 1; feedback < passes; ++feedback) {
    const kernels::PhiloxStream stream{seed, kernels::Purpose::plain_prefix, static_cast<std::uint64_t>(step),
                                       static_cast<std::uint32_t>(feedback)};
    const double fully_fused = train.prefix_mixin ? train.fully_fused_share : 1.0;
    const auto flags = fused_flags(padded, draw_plain_lengths(padded, stream, fully_fused));
    batch.fused.push_back(data::pick(flags, share.places));
  }
  return batch;
}

StepBatch make_step_batch(const data::Batch& padded, const TrainConfig& train, std::uint64_t seed, std::int64_t step,
                          int passes) {
  return make_step_batch(padded, train, seed, step, passes, {0, padded.rows});
}

StepMemory plan_step(const ModelConfig& config, const TrainConfig& train, std::int64_t tokens, int passes) {
  DryBackend backend;
  const Parameters parameters(backend, config, true);
  Arena values(backend), scratch(backend);
  Tape tape(backend, values);
  tape.use_scopes(scratch);
  Transformer model(tape, parameters);
  model.set_recompute(train.recompute);
  tape.seal();
  DeviceBatch batch{values.indices(tokens), values.indices(tokens), values.indices(tokens), values.matrix(tokens, 1)};
  PassSettings settings;
  settings.passes = passes;
  settings.detach = train.detach;
  settings.jitter = static_cast<float>(train.jitter);
  for (int feedback = 1; feedback < passes; ++feedback) settings.fused.push_back(values.indices(tokens));
  run_passes(tape, model, batch, settings);
  tape.backward();
  return {values.peak(), scratch.peak()};
}

TrainingStep::TrainingStep(kernels::Backend& backend, const ModelConfig& model, ProcessGroup* group)
    : backend_(&backend),
      group_(group),
      parameters_(backend, model, true),
      optimizer_(backend, parameters_),
      arena_(backend),
      scratch_(backend),
      tape_(backend, arena_),
      model_(tape_, parameters_),
      norm_(backend.allocate(sizeof(float))) {
  tape_.seal();
  tape_.use_scopes(scratch_);
}

void TrainingStep::reserve(const TrainConfig& train, std::int64_t tokens) {
  StepMemory most;
  for (const Stage& stage : train.schedule) {
    const StepMemory memory = plan_step(parameters_.config(), train, tokens, stage.passes);
    most.values = std::max(most.values, memory.values);
    most.scratch = std::max(most.scratch, memory.scratch);
  }
  tape_.clear();
  arena_.reserve(most.values);
  scratch_.reserve(most.scratch);
}

PassSettings& TrainingStep::pass_settings(const StepBatch& batch, const TrainConfig& train, std::uint64_t seed,
                                          std::int64_t step) {
  settings_.passes = batch.passes;
  settings_.lambda = train.lambda;
  settings_.detach = train.detach;
  settings_.z_weight = in_cooldown(train, step) ? static_cast<float>(train.z_loss) : 0.0F;
  settings_.jitter = static_cast<float>(train.jitter);
  const auto first = static_cast<std::uint64_t>(batch.first_token * parameters_.config().dim);
  settings_.jitter_stream = {seed, kernels::Purpose::jitter, static_cast<std::uint64_t>(step), 0, first};
  settings_.fused.clear();
  for (const auto& flags : batch.fused) settings_.fused.push_back(upload_indices(*backend_, arena_, flags));
  return settings_;
}

void TrainingStep::forward(const StepBatch& batch, const TrainConfig& train, std::uint64_t seed, std::int64_t step) {
  tape_.clear();
  arena_.reset();
  model_.set_recompute(train.recompute);
  const DeviceBatch device = upload_batch(*backend_, arena_, batch.tokens, batch.loss_weights);
  run_passes(tape_, model_, device, pass_settings(batch, train, seed, step), rows_);
}

void TrainingStep::backward(const TrainConfig& train) {
  tape_.backward();
  // Parameters without gradient hold numbers of an earlier step: they must not count in the norm.
  for (const ParameterInfo& info : parameters_.layout()) {
    if (!model_.has_gradient(info)) backend_->fill(parameters_.gradient(info), 0.0F);
  }
  add_gradients_of_others();
  backend_->clip_by_norm(parameters_.all_gradients(), static_cast<float>(train.clip), norm_.matrix(1, 1));
}

/// Each process has the gradient of its rows' share of the objective: their sum is the whole batch's.
void TrainingStep::add_gradients_of_others() {
  if (group_ == nullptr) return;
  const kernels::View gradients = parameters_.all_gradients();
  host_gradients_.resize(static_cast<std::size_t>(gradients.size()));
  const auto bytes = static_cast<std::int64_t>(host_gradients_.size() * sizeof(float));
  backend_->download(gradients.data, host_gradients_.data(), bytes);
  group_->sum(host_gradients_);
  backend_->upload(host_gradients_.data(), gradients.data, bytes);
}

void TrainingStep::optimise(const TrainConfig& train, std::int64_t step) {
  optimizer_.step(optimizer_settings(train, step),
                  [this](const ParameterInfo& info) { return model_.has_gradient(info); });
  backend_->synchronize();
}

void TrainingStep::read_losses(const StepBatch& batch, std::vector<double>& pass_loss) {
  pass_loss.clear();
  for (const PassRows& pass : rows_) {
    download_matrix(*backend_, pass.nll, host_loss_);
    const double sum = weighted_loss(host_loss_, batch.tokens.weights);
    pass_loss.push_back(batch.weight_sum > 0 ? sum / batch.weight_sum : 0.0);
  }
  if (group_ != nullptr) group_->sum(std::span<double>(pass_loss));
}

double TrainingStep::gradient_norm() {
  float norm = 0;
  backend_->download(norm_.data(), &norm, sizeof(norm));
  return static_cast<double>(norm);
}

}  // namespace engine
