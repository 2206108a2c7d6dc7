// Copies of a model in training: what they hold, when they come, and that the training does not notice.
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "engine/training_session.h"
#include "tests/support/fake_job.h"

namespace {

using engine::TrainingSession;
using engine::TrainingState;
using namespace std::chrono_literals;

/// A job whose model is its step.
class CountingJob final : public engine::TrainingJob {
 public:
  explicit CountingJob(std::int64_t total) : total_(total) {}
  [[nodiscard]] std::int64_t step() const override { return step_; }
  [[nodiscard]] std::int64_t total_steps() const override { return total_; }
  [[nodiscard]] std::filesystem::path run_folder() const override { return "counting"; }
  [[nodiscard]] kernels::DeviceInfo device() const override { return {}; }
  engine::StepMetrics train_step() override {
    std::this_thread::sleep_for(1ms);
    engine::StepMetrics metrics;
    metrics.step = ++step_;
    return metrics;
  }
  std::optional<engine::ValidationMetrics> validate_if_due() override { return std::nullopt; }
  void checkpoint_if_due() override {}
  void save(const char*) override {}
  void discard() override {}
  [[nodiscard]] engine::Checkpoint snapshot() override {
    engine::Checkpoint checkpoint;
    checkpoint.model = {{"step", {1}, {static_cast<float>(step_)}}};
    checkpoint.state = {{"step", step_}};
    return checkpoint;
  }

 private:
  std::int64_t total_;
  std::int64_t step_ = 0;
};

bool reaches(TrainingSession& session, TrainingState state) {
  for (int i = 0; i < 5000 && session.state() != state; ++i) std::this_thread::sleep_for(1ms);
  return session.state() == state;
}

void start(TrainingSession& session, std::int64_t total = 1'000'000) {
  ASSERT_TRUE(session.start([total] { return std::make_unique<CountingJob>(total); }));
  ASSERT_TRUE(reaches(session, TrainingState::running));
}

TEST(TrainingSnapshot, HoldsTheModelAfterAWholeStep) {
  TrainingSession session;
  start(session);
  for (int i = 0; i < 20; ++i) {
    const auto checkpoint = session.request_snapshot().get();
    ASSERT_NE(checkpoint, nullptr);
    EXPECT_EQ(checkpoint->model[0].values[0], checkpoint->state["step"].get<float>());
  }
  const auto first = session.request_snapshot().get();
  std::this_thread::sleep_for(20ms);
  EXPECT_GT(session.request_snapshot().get()->state["step"], first->state["step"]) << "the training goes on";
}

TEST(TrainingSnapshot, AlsoWhilePausedWhichItStays) {
  TrainingSession session;
  start(session);
  session.pause();
  ASSERT_TRUE(reaches(session, TrainingState::paused));
  const auto step = session.poll().step;
  EXPECT_EQ(session.request_snapshot().get()->state["step"], step);
  EXPECT_EQ(session.state(), TrainingState::paused);
}

TEST(TrainingSnapshot, NothingWithoutATraining) {
  TrainingSession session;
  EXPECT_EQ(session.request_snapshot().get(), nullptr);
  start(session, 3);
  ASSERT_TRUE(reaches(session, TrainingState::idle));
  EXPECT_EQ(session.request_snapshot().get(), nullptr);
}

TEST(TrainingSnapshot, AskersNeverWaitForEver) {
  std::vector<std::future<std::shared_ptr<const engine::Checkpoint>>> asked;
  {
    TrainingSession session;
    start(session);
    session.stop_and_save();
    for (int i = 0; i < 10; ++i) asked.push_back(session.request_snapshot());
  }
  for (auto& one : asked) EXPECT_EQ(one.wait_for(0s), std::future_status::ready);
}

TEST(TrainingSnapshot, AJobWithoutOneSaysSoAndGoesOn) {
  auto log = std::make_shared<support::FakeLog>();
  support::FakeOptions options;
  options.total_steps = 1'000'000;
  TrainingSession session;
  ASSERT_TRUE(session.start([&] { return std::make_unique<support::FakeJob>(options, log); }));
  ASSERT_TRUE(reaches(session, TrainingState::running));
  EXPECT_THROW(session.request_snapshot().get(), engine::Error);
  EXPECT_EQ(session.state(), TrainingState::running);
}

}  // namespace
