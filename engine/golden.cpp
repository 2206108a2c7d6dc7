#include "engine/golden.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/batch_decoder.h"
#include "engine/cache_rebuild.h"
#include "engine/device_copy.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/multipass.h"
#include "engine/optimizer.h"
#include "engine/safetensors.h"
#include "engine/stability.h"

namespace engine {
namespace {

constexpr double kTolerance = 1e-5;
constexpr double kGradientTolerance = 2e-5;

std::vector<std::int32_t> to_int32(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

double relative_error(const std::vector<float>& ours, const std::vector<double>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = double{ours[i]} - expected[i];
    difference += d * d;
    norm += expected[i] * expected[i];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

/// One golden file: its inputs, the model made from it, and the checks done so far.
class GoldenCase {
 public:
  GoldenCase(const std::filesystem::path& path, kernels::Backend& backend)
      : backend_(backend), source_(path.string()), file_(read_safetensors(path)) {
    const auto config = file_.metadata.find("config");
    if (config == file_.metadata.end()) throw FormatError(source_, "has no config in its metadata: not a golden file");
    config_ = model_config_from_json(parse_json(config->second, source_));
    config_.validate();
    read_batch();
  }

  std::vector<GoldenCheck> run() {
    check_losses_and_gradients(false);
    check_losses_and_gradients(true);
    check_optimizer(OptimizerType::adamw, "optim.adamw.");
    check_optimizer(OptimizerType::normuon, "optim.normuon.");
    check_forward();
    for (const auto mode : {DecodeMode::standard, DecodeMode::soft, DecodeMode::fused}) check_decoding(mode);
    check_stability();
    check_rebuild();
    return std::move(checks_);
  }

 private:
  void read_batch() {
    const StoredTensor& tokens = file_.at("tokens");
    if (tokens.shape.size() != 2) throw FormatError(source_, "tokens must be [rows, positions]");
    if (file_.at("plain").shape.size() != 2) throw FormatError(source_, "plain must be [feedback passes, rows]");
    batch_.rows = tokens.shape[0];
    batch_.seq = tokens.shape[1];
    batch_.tokens = to_int32(tokens.to_int64());
    batch_.targets = to_int32(file_.at("targets").to_int64());
    require_size("targets", static_cast<std::int64_t>(batch_.tokens.size()));
    for (std::size_t n = 0; n < batch_.tokens.size(); ++n) {
      batch_.positions.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(n) % batch_.seq));
      batch_.weights.push_back(batch_.targets[n] >= 0 ? 1.0F : 0.0F);
    }
    batch_.row_length.assign(static_cast<std::size_t>(batch_.rows), batch_.seq);
    plain_ = file_.at("plain").to_int64();
    const std::int64_t feedback_passes = file_.at("plain").shape.at(0);
    require_size("plain", feedback_passes * batch_.rows);
    require_size("jitter", feedback_passes * static_cast<std::int64_t>(batch_.tokens.size()) * config_.dim);
    passes_ = static_cast<int>(feedback_passes) + 1;
  }

  void require_size(const std::string& name, std::int64_t expected) const {
    const std::int64_t size = file_.at(name).elements();
    if (size == expected) return;
    throw FormatError(source_, name + " has " + std::to_string(size) + " numbers, but the other inputs need " +
                                   std::to_string(expected));
  }

  Parameters make_parameters(bool with_gradients) {
    Parameters parameters(backend_, config_, with_gradients);
    std::vector<HostTensor> tensors;
    for (const StoredTensor& stored : file_.tensors) {
      if (!stored.name.starts_with("param.")) continue;
      tensors.push_back({stored.name.substr(6), stored.shape, stored.to_float()});
    }
    parameters.load(tensors, source_);
    return parameters;
  }

  /// Runs the K-pass objective of the file with gradients on a cleared tape.
  std::vector<double> train_passes(Tape& tape, Transformer& model, int passes, bool detach) {
    PassSettings settings;
    settings.passes = passes;
    settings.detach = detach;
    const std::vector<float> jitter = file_.at("jitter").to_float();
    const auto per_pass = static_cast<std::int64_t>(batch_.tokens.size()) * config_.dim;
    for (int k = 0; k + 1 < passes; ++k) {
      const auto row = plain_.begin() + k * batch_.rows;
      settings.fused.push_back(upload_indices(backend_, tape.arena(), fused_flags(batch_, {row, row + batch_.rows})));
      const auto first = jitter.begin() + k * per_pass;
      settings.fixed_jitter.push_back(upload_matrix(backend_, tape.arena(), {first, first + per_pass}, config_.dim));
    }
    const auto rows = run_passes(tape, model, upload_batch(backend_, tape.arena(), batch_), settings);
    tape.backward();
    std::vector<double> losses;
    for (const PassRows& pass : rows) losses.push_back(mean_loss(download_matrix(backend_, pass.nll), batch_.weights));
    return losses;
  }

  void check_losses_and_gradients(bool detach) {
    const std::string tag = detach ? "_detached" : "";
    const Parameters parameters = make_parameters(true);
    Arena arena(backend_);
    Tape tape(backend_, arena);
    Transformer model(tape, parameters);
    tape.seal();
    const std::vector<double> losses = train_passes(tape, model, passes_, detach);
    compare("losses" + tag, std::vector<float>(losses.begin(), losses.end()), kTolerance);
    compare("objective" + tag, {static_cast<float>(objective(losses, 1.0))}, kTolerance);
    for (const HostTensor& gradient : parameters.store_gradients()) {
      compare("grad" + tag + "." + gradient.name, gradient.values, kGradientTolerance);
    }
  }

  /// Three steps on the file's batch with K, 1 and K passes.
  void check_optimizer(OptimizerType type, const std::string& prefix) {
    const Parameters parameters = make_parameters(true);
    Optimizer optimizer(backend_, parameters);
    OptimizerSettings settings;
    settings.type = type;
    settings.rate = 1e-2F;
    settings.adam_rate = 5e-4F;
    settings.weight_decay = 0.01F;
    settings.epsilon = 1e-3F;
    Arena arena(backend_);
    Tape tape(backend_, arena);
    Transformer model(tape, parameters);
    tape.seal();
    for (const int passes : {passes_, 1, passes_}) {
      tape.clear();
      arena.reset();
      train_passes(tape, model, passes, false);
      optimizer.step(settings, [&](const ParameterInfo& info) { return model.has_gradient(info); });
    }
    for (const HostTensor& value : parameters.store()) compare(prefix + value.name, value.values, kGradientTolerance);
  }

  void check_forward() {
    const Parameters parameters = make_parameters(false);
    PassRunner runner(backend_, parameters);
    runner.begin(batch_.tokens, batch_.positions);
    std::vector<float> residuals;
    StackHooks hooks;
    hooks.on_residual = [&](std::int64_t, Variable residual) {
      const std::vector<float> depth = download_matrix(backend_, runner.value(residual));
      residuals.insert(residuals.end(), depth.begin(), depth.end());
    };
    runner.plain_pass(hooks);
    compare("residuals_pass1", residuals, kTolerance);
    std::vector<std::int32_t> all(batch_.tokens.size());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = static_cast<std::int32_t>(n);
    compare("logits_pass1", runner.logits(all), kTolerance);
    runner.feedback_pass(fused_flags(batch_, std::vector<std::int64_t>(static_cast<std::size_t>(batch_.rows), 1)));
    compare("logits_pass2", runner.logits(all), kTolerance);
  }

  void check_decoding(DecodeMode mode) {
    const std::string prefix = "decode." + to_string(mode) + ".";
    const Parameters parameters = make_parameters(false);
    BatchDecoder decoder(backend_, parameters);
    const auto expected = file_.at(prefix + "tokens").to_int64();
    const auto steps = static_cast<std::int64_t>(expected.size());
    decoder.prefill({to_int32(file_.at("prompt").to_int64())}, mode, steps);
    std::vector<float> tokens;
    std::vector<float> logits;
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::vector<float> row = download_matrix(backend_, decoder.logits());
      const std::int32_t token = greedy_token(row);
      logits.insert(logits.end(), row.begin(), row.end());
      tokens.push_back(static_cast<float>(token));
      if (i + 1 < steps) decoder.step({token});
    }
    compare(prefix + "tokens", tokens, 0.0);
    compare(prefix + "logits", logits, kTolerance);
  }

  void check_stability() {
    const Parameters parameters = make_parameters(false);
    const auto passes = static_cast<int>(file_.at("stability.update").shape.at(0));
    const StabilityMatrix stability = measure_stability(backend_, parameters, batch_, passes);
    std::vector<float> update;
    for (const auto& pass : stability.update) update.insert(update.end(), pass.begin(), pass.end());
    std::vector<float> loss;
    for (const auto& nll : stability.nll) loss.push_back(static_cast<float>(mean_loss(nll, batch_.weights)));
    compare("stability.update", update, kTolerance);
    compare("stability.loss", loss, kTolerance);
  }

  void check_rebuild() {
    const std::string key_prefix = "rebuild.k_rel_error.";
    std::vector<int> passes;
    for (const StoredTensor& stored : file_.tensors) {
      if (stored.name.starts_with(key_prefix)) passes.push_back(std::stoi(stored.name.substr(key_prefix.size())));
    }
    const Parameters parameters = make_parameters(false);
    BatchDecoder decoder(backend_, parameters);
    const auto steps = static_cast<std::int64_t>(file_.at("decode.soft.tokens").to_int64().size());
    const RecordedRollout rollout =
        record_soft_rollout(decoder, backend_, to_int32(file_.at("prompt").to_int64()), steps);
    for (const RebuildError& error : rebuild_errors(backend_, parameters, rollout, passes)) {
      compare_rebuild(key_prefix + std::to_string(error.passes), error.key_error);
      compare_rebuild("rebuild.v_rel_error." + std::to_string(error.passes), error.value_error);
    }
  }

  void compare(const std::string& name, const std::vector<float>& ours, double tolerance) {
    GoldenCheck check{name, 0, tolerance, ""};
    if (!file_.has(name)) {
      check.problem = "is not in the file";
    } else {
      const std::vector<double> expected = file_.at(name).to_double();
      if (expected.size() != ours.size()) {
        check.problem = "has " + std::to_string(expected.size()) + " numbers, ours has " + std::to_string(ours.size());
      } else {
        check.error = relative_error(ours, expected);
        if (!std::isfinite(check.error)) check.problem = "ours is not finite";
      }
    }
    checks_.push_back(check);
  }

  /// Where the reference is zero to rounding, float32 can only be near zero: absolute error.
  void compare_rebuild(const std::string& name, double ours) {
    constexpr double kZero = 1e-12;
    const double expected = file_.at(name).to_double().at(0);
    const bool zero = expected < kZero;
    checks_.push_back({name, std::abs(ours - expected) / (zero ? 1.0 : expected), kTolerance, ""});
  }

  kernels::Backend& backend_;
  std::string source_;
  SafetensorsFile file_;
  ModelConfig config_;
  data::Batch batch_;
  std::vector<std::int64_t> plain_;
  int passes_ = 1;
  std::vector<GoldenCheck> checks_;
};

}  // namespace

std::vector<GoldenCheck> check_golden_file(const std::filesystem::path& file, kernels::Backend& backend) {
  return GoldenCase(file, backend).run();
}

std::vector<std::filesystem::path> find_golden_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  if (error) throw FileError(folder.string(), "cannot be read: " + error.message());
  if (files.empty()) throw FileError(folder.string(), "holds no golden file (*.safetensors)");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace engine
