// A training that costs nothing: drives the session and the window in tests. Every knob is a plain member.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "engine/training_job.h"

namespace support {

/// What a fake did, shared with the test that watches it.
struct FakeLog {
  std::atomic<int> made{0};
  std::atomic<int> destroyed{0};
  std::atomic<int> saved{0};
  std::atomic<int> discarded{0};
  std::atomic<std::int64_t> steps{0};
  std::atomic<bool> wrong_thread{false};  ///< a member was called on another thread than the constructor's
  std::atomic<bool> saved_done{false};
};

struct FakeOptions {
  std::int64_t total_steps = 1000;
  std::chrono::microseconds step_time{1000};
  std::chrono::milliseconds start_time{0};
  std::chrono::milliseconds save_time{0};
  std::int64_t non_finite_at = 0;  ///< 0 = never
  std::int64_t fail_at = 0;
  bool fail_to_start = false;
  std::filesystem::path folder = "fake-run";
};

class FakeJob final : public engine::TrainingJob {
 public:
  FakeJob(FakeOptions options, std::shared_ptr<FakeLog> log) : options_(std::move(options)), log_(std::move(log)) {
    std::this_thread::sleep_for(options_.start_time);
    if (options_.fail_to_start) throw engine::ConfigError("train.rows", "must be at least 1");
    ++log_->made;
  }
  ~FakeJob() override {
    check_thread();
    ++log_->destroyed;
  }

  [[nodiscard]] std::int64_t step() const override { return step_; }
  [[nodiscard]] std::int64_t total_steps() const override { return options_.total_steps; }
  [[nodiscard]] std::filesystem::path run_folder() const override { return options_.folder; }
  [[nodiscard]] kernels::DeviceInfo device() const override {
    kernels::DeviceInfo info;
    info.name = "fake device";
    info.threads = 2;
    info.memory_used = 228'589'568;
    return info;
  }

  engine::StepMetrics train_step() override {
    check_thread();
    std::this_thread::sleep_for(options_.step_time);
    ++step_;
    ++log_->steps;
    if (step_ == options_.non_finite_at) throw engine::NonFiniteError(step_, "the loss of pass 2");
    if (step_ == options_.fail_at) throw engine::FileError("metrics.jsonl", "the disk is full; free some space");
    return metrics();
  }

  std::optional<engine::ValidationMetrics> validate_if_due() override {
    if (step_ % 100 != 0) return std::nullopt;
    engine::ValidationMetrics validation;
    validation.step = step_;
    validation.rows = 256;
    validation.pass_loss = {loss(1.02), loss(1.01)};
    validation.pass_error = {0.01, 0.01};
    validation.pass_accuracy = {0.5, 0.5};
    return validation;
  }
  void checkpoint_if_due() override { check_thread(); }
  void save(const char* state) override {
    check_thread();
    std::this_thread::sleep_for(options_.save_time);
    log_->saved_done = std::string(state) == "done";
    ++log_->saved;
  }
  void discard() override {
    check_thread();
    ++log_->discarded;
  }

 private:
  [[nodiscard]] double loss(double scale) const { return scale * (0.3 + 1.5 * std::exp(-0.01 * double(step_))); }
  [[nodiscard]] engine::StepMetrics metrics() const {
    engine::StepMetrics metrics;
    metrics.step = step_;
    metrics.tokens = 2816 * step_;
    metrics.passes = 1 + int(3 * step_ / (options_.total_steps + 1));
    metrics.token_equivalents = 4000 * step_;
    metrics.wall_seconds = 0.05 * double(step_);
    for (int pass = 0; pass < metrics.passes; ++pass) metrics.pass_loss.push_back(loss(1 + 0.05 * pass));
    metrics.learning_rate = 2e-3;
    metrics.gradient_norm = 0.3;
    metrics.tokens_per_second = 31'400;
    return metrics;
  }
  void check_thread() const {
    if (std::this_thread::get_id() != owner_) log_->wrong_thread = true;
  }

  FakeOptions options_;
  std::shared_ptr<FakeLog> log_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::int64_t step_ = 0;
};

}  // namespace support
