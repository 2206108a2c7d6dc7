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

/// Cuts rows into runs of at most `tokens_at_once` real tokens, each of at least one row.
std::vector<RowShare> slices_of(const data::Batch& batch, const RowShare& rows, std::int64_t tokens_at_once) {
  std::vector<RowShare> slices{{rows.first, 0}};
  std::int64_t tokens = 0;
  for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
    const std::int64_t length = batch.row_length[static_cast<std::size_t>(row)];
    if (tokens_at_once > 0 && slices.back().count > 0 && tokens + length > tokens_at_once) {
      slices.push_back({row, 0});
      tokens = 0;
    }
    ++slices.back().count;
    tokens += length;
  }
  return slices;
}

}  // namespace

StepBatch make_step_batch(const data::Batch& padded, const TrainConfig& train, std::uint64_t seed, std::int64_t step,
                          int passes, const RowShare& rows, std::int64_t tokens_at_once) {
  const std::vector<std::int32_t> places = data::real_places(padded);
  StepBatch batch;
  batch.passes = passes;
  batch.weight_sum = sum_of(padded.weights);
  batch.all_tokens = static_cast<std::int64_t>(places.size());
  std::vector<std::vector<std::int32_t>> fused;
  for (int feedback = 1; feedback < passes; ++feedback) {
    const kernels::PhiloxStream stream{seed, kernels::Purpose::plain_prefix, static_cast<std::uint64_t>(step),
                                       static_cast<std::uint32_t>(feedback)};
    const double fully_fused = train.prefix_mixin ? train.fully_fused_share : 1.0;
    fused.push_back(fused_flags(padded, draw_plain_lengths(padded, stream, fully_fused)));
  }
  for (const RowShare& share : slices_of(padded, rows, tokens_at_once)) {
    const PlaceShare own = place_share(places, padded.seq, share);
    StepSlice& slice = batch.slices.emplace_back();
    slice.tokens = data::without_padding(padded, own.places);
    slice.loss_weights = shares_of_sum(slice.tokens.weights, batch.weight_sum);
    slice.first_token = own.before;
    for (const auto& flags : fused) slice.fused.push_back(data::pick(flags, own.places));
  }
  return batch;
}

std::int64_t longest_slice(std::int64_t rows, std::int64_t seq, std::int64_t tokens_at_once) {
  if (tokens_at_once == 0) return rows * seq;
  return std::min(rows * seq, std::max(tokens_at_once, seq));
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
      norm_(backend.allocate(sizeof(float))),
      tokens_at_once_(backend.info().tokens_at_once) {
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

PassSettings& TrainingStep::pass_settings(const StepBatch& batch, const StepSlice& slice, const TrainConfig& train,
                                          std::uint64_t seed, std::int64_t step) {
  settings_.passes = batch.passes;
  settings_.lambda = train.lambda;
  settings_.detach = train.detach;
  settings_.z_weight = in_cooldown(train, step) ? static_cast<float>(train.z_loss) : 0.0F;
  settings_.jitter = static_cast<float>(train.jitter);
  const auto first = static_cast<std::uint64_t>(slice.first_token * parameters_.config().dim);
  settings_.jitter_stream = {seed, kernels::Purpose::jitter, static_cast<std::uint64_t>(step), 0, first};
  settings_.fused.clear();
  for (const auto& flags : slice.fused) settings_.fused.push_back(upload_indices(*backend_, arena_, flags));
  return settings_;
}

std::int64_t TrainingStep::slice_tokens(std::int64_t rows, std::int64_t seq) const {
  return longest_slice(rows, seq, tokens_at_once_);
}

void TrainingStep::run(const StepBatch& batch, const TrainConfig& train, std::uint64_t seed, std::int64_t step) {
  for (std::size_t slice = 0; slice < batch.slices.size(); ++slice) {
    forward(batch, slice, train, seed, step);
    backward(batch, slice);
  }
  finish(batch, train);
}

void TrainingStep::forward(const StepBatch& batch, std::size_t slice, const TrainConfig& train, std::uint64_t seed,
                           std::int64_t step) {
  if (slice == 0) {
    tape_.clear();
    pass_losses_.assign(static_cast<std::size_t>(batch.passes), 0.0);
  } else {
    tape_.clear_keeping_gradients();
  }
  arena_.reset();
  model_.set_recompute(train.recompute);
  const StepSlice& rows = batch.slices[slice];
  const DeviceBatch device = upload_batch(*backend_, arena_, rows.tokens, rows.loss_weights);
  run_passes(tape_, model_, device, pass_settings(batch, rows, train, seed, step), rows_);
}

void TrainingStep::backward(const StepBatch& batch, std::size_t slice) {
  tape_.backward();
  for (std::size_t pass = 0; pass < rows_.size(); ++pass) {
    download_matrix(*backend_, rows_[pass].nll, host_loss_);
    pass_losses_[pass] += weighted_loss(host_loss_, batch.slices[slice].tokens.weights);
  }
}

void TrainingStep::finish(const StepBatch& batch, const TrainConfig& train) {
  // Parameters without gradient hold numbers of an earlier step: they must not count in the norm.
  for (const ParameterInfo& info : parameters_.layout()) {
    if (!model_.has_gradient(info)) backend_->fill(parameters_.gradient(info), 0.0F);
  }
  add_gradients_of_others();
  backend_->clip_by_norm(parameters_.all_gradients(), static_cast<float>(train.clip), norm_.matrix(1, 1));
  for (double& loss : pass_losses_) loss = batch.weight_sum > 0 ? loss / batch.weight_sum : 0.0;
  if (group_ != nullptr) group_->sum(std::span<double>(pass_losses_));
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

double TrainingStep::gradient_norm() {
  float norm = 0;
  backend_->download(norm_.data(), &norm, sizeof(norm));
  return static_cast<double>(norm);
}

}  // namespace engine
