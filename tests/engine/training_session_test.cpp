// The state machine of a training, driven with fakes that are slow, fast or failing.
#include "engine/training_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_job.h"

namespace {

using engine::TrainingEnd;
using engine::TrainingSession;
using engine::TrainingState;
using support::FakeJob;
using support::FakeLog;
using support::FakeOptions;
using namespace std::chrono_literals;

class TrainingSessionTest : public ::testing::Test {
 protected:
  TrainingSession::JobFactory factory(FakeOptions options = {}) {
    return [options, log = log_] { return std::make_unique<FakeJob>(options, log); };
  }
  static bool wait_for(const std::function<bool()>& condition, std::chrono::milliseconds limit = 5000ms) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return condition();
  }
  static bool reaches(TrainingSession& session, TrainingState state) {
    return wait_for([&] { return session.state() == state; });
  }
  static bool rests(TrainingSession& session) {
    return wait_for([&] { return !session.busy(); });
  }

  std::shared_ptr<FakeLog> log_ = std::make_shared<FakeLog>();
};

TEST_F(TrainingSessionTest, RunsToTheEndAndSavesAsDone) {
  TrainingSession session;
  FakeOptions options;
  options.total_steps = 200;
  options.step_time = 100us;
  ASSERT_TRUE(session.start(factory(options)));
  EXPECT_FALSE(session.start(factory())) << "a second start while busy is refused";
  ASSERT_TRUE(rests(session));
  const auto snapshot = session.poll();
  EXPECT_EQ(snapshot.end, TrainingEnd::done);
  EXPECT_EQ(snapshot.state, TrainingState::idle);
  EXPECT_EQ(snapshot.step, 200);
  ASSERT_EQ(snapshot.steps.size(), 200U);
  EXPECT_EQ(snapshot.steps.back().step, 200);
  EXPECT_EQ(snapshot.validations.size(), 2U);
  EXPECT_EQ(snapshot.device.threads, 2);
  EXPECT_TRUE(log_->saved_done);
  EXPECT_EQ(log_->destroyed, 1) << "the job ends before the session rests";
  EXPECT_FALSE(log_->wrong_thread);
  EXPECT_TRUE(session.poll().steps.empty()) << "a value is given once";
}

TEST_F(TrainingSessionTest, PausesStepsAndResumes) {
  TrainingSession session;
  session.start(factory());
  ASSERT_TRUE(wait_for([&] { return log_->steps > 3; }));
  session.pause();
  ASSERT_TRUE(reaches(session, TrainingState::paused));
  const auto before = log_->steps.load();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(log_->steps, before);
  session.single_step();
  ASSERT_TRUE(wait_for([&] { return log_->steps == before + 1; }));
  EXPECT_TRUE(reaches(session, TrainingState::paused));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(log_->steps, before + 1);
  session.resume();
  ASSERT_TRUE(wait_for([&] { return log_->steps > before + 4; }));
  EXPECT_EQ(session.state(), TrainingState::running);
}

TEST_F(TrainingSessionTest, TheThreeStopsEndAsNamed) {
  const std::vector<std::pair<void (TrainingSession::*)(), TrainingEnd>> stops = {
      {&TrainingSession::stop_and_save, TrainingEnd::stopped},
      {&TrainingSession::stop_and_discard, TrainingEnd::discarded},
      {&TrainingSession::finish_now, TrainingEnd::done}};
  TrainingSession session;
  for (const auto& [stop, end] : stops) {
    for (const bool paused : {false, true}) {
      session.start(factory());
      ASSERT_TRUE(reaches(session, TrainingState::running));
      if (paused) {
        session.pause();
        ASSERT_TRUE(reaches(session, TrainingState::paused));
      }
      (session.*stop)();
      ASSERT_TRUE(rests(session));
      EXPECT_EQ(session.poll().end, end);
    }
  }
  EXPECT_EQ(log_->saved, 4);
  EXPECT_EQ(log_->discarded, 2);
}

TEST_F(TrainingSessionTest, AStopWhileStartingOrSavingWorks) {
  TrainingSession session;
  FakeOptions slow;
  slow.start_time = 60ms;
  slow.save_time = 60ms;
  session.start(factory(slow));
  session.stop_and_save();
  EXPECT_EQ(session.state(), TrainingState::stopping);
  ASSERT_TRUE(rests(session));
  EXPECT_EQ(session.poll().end, TrainingEnd::stopped);
  EXPECT_EQ(log_->steps, 0);

  session.start(factory(slow));
  session.stop_and_save();
  ASSERT_TRUE(reaches(session, TrainingState::saving));
  session.stop_and_discard();
  ASSERT_TRUE(rests(session));
  EXPECT_EQ(session.poll().end, TrainingEnd::discarded) << "the last word is to discard";
  EXPECT_EQ(log_->discarded, 1);
}

TEST_F(TrainingSessionTest, EveryCommandInEveryStateIsHarmless) {
  using Command = void (TrainingSession::*)();
  const std::vector<Command> commands = {&TrainingSession::pause,       &TrainingSession::resume,
                                         &TrainingSession::single_step, &TrainingSession::stop_and_save,
                                         &TrainingSession::finish_now,  &TrainingSession::stop_and_discard};
  FakeOptions options;
  options.start_time = 5ms;
  options.save_time = 5ms;
  for (const TrainingState state : {TrainingState::idle, TrainingState::starting, TrainingState::running,
                                    TrainingState::paused, TrainingState::saving, TrainingState::failed}) {
    for (const Command command : commands) {
      TrainingSession session;
      FakeOptions chosen = options;
      chosen.fail_to_start = state == TrainingState::failed;
      if (state != TrainingState::idle) session.start(factory(chosen));
      if (state == TrainingState::paused) session.pause();
      if (state == TrainingState::saving) session.stop_and_save();
      ASSERT_TRUE(reaches(session, state)) << to_string(state);
      (session.*command)();
      (session.*command)();
      if (state == TrainingState::failed || state == TrainingState::idle) {
        EXPECT_EQ(session.state(), state);
      }
      session.stop_and_save();
      ASSERT_TRUE(rests(session));
      ASSERT_TRUE(session.start(factory(options))) << "the session can be used again";
    }
  }
  EXPECT_FALSE(log_->wrong_thread);
  EXPECT_EQ(log_->made, log_->destroyed);
}

TEST_F(TrainingSessionTest, FailuresBecomeAMessage) {
  TrainingSession session;
  FakeOptions options;
  options.fail_to_start = true;
  session.start(factory(options));
  ASSERT_TRUE(reaches(session, TrainingState::failed));
  EXPECT_EQ(session.poll().message, "train.rows: must be at least 1");

  options.fail_to_start = false;
  options.fail_at = 5;
  ASSERT_TRUE(session.start(factory(options)));
  ASSERT_TRUE(reaches(session, TrainingState::failed));
  const auto snapshot = session.poll();
  EXPECT_EQ(snapshot.end, TrainingEnd::failed);
  EXPECT_NE(snapshot.message.find("disk is full"), std::string::npos);
  EXPECT_EQ(snapshot.steps.size(), 4U) << "what was measured before the failure is kept";
  EXPECT_EQ(log_->saved, 0);
}

TEST_F(TrainingSessionTest, ANonFiniteNumberPausesAndKeepsTheLastCheckpoint) {
  TrainingSession session;
  FakeOptions options;
  options.non_finite_at = 7;
  session.start(factory(options));
  ASSERT_TRUE(reaches(session, TrainingState::paused));
  const auto snapshot = session.poll();
  EXPECT_TRUE(snapshot.non_finite);
  EXPECT_NE(snapshot.message.find("step 7: the loss of pass 2"), std::string::npos) << snapshot.message;
  session.resume();
  session.single_step();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(session.state(), TrainingState::paused);
  EXPECT_EQ(log_->steps, 7) << "resume is refused";
  session.stop_and_save();
  ASSERT_TRUE(rests(session));
  EXPECT_EQ(log_->saved, 0) << "spoilt weights are never saved";
  EXPECT_EQ(session.poll().end, TrainingEnd::stopped);
}

TEST_F(TrainingSessionTest, ACallerThatSleepsNeitherWaitsNorFillsTheMemory) {
  TrainingSession session;
  FakeOptions options;
  options.step_time = 0us;
  options.total_steps = 20'000;  // 2,000 steps a second, polled once in ten seconds
  session.start(factory(options));
  ASSERT_TRUE(rests(session));
  const auto snapshot = session.poll();
  EXPECT_TRUE(snapshot.overflowed);
  EXPECT_LE(snapshot.steps.size(), 5000U);
  ASSERT_FALSE(snapshot.steps.empty());
  EXPECT_EQ(snapshot.steps.back().step, 20'000) << "the newest are kept";
  EXPECT_FALSE(session.poll().overflowed);
}

TEST_F(TrainingSessionTest, PollingNeverWaitsForAStep) {
  TrainingSession session;
  FakeOptions options;
  options.step_time = 300ms;
  session.start(factory(options));
  ASSERT_TRUE(reaches(session, TrainingState::running));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) session.poll();
  session.pause();
  session.resume();
  session.stop_and_save();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 150ms);
  ASSERT_TRUE(rests(session));
}

TEST_F(TrainingSessionTest, TwentyStartAndStopCycles) {
  TrainingSession session;
  FakeOptions options;
  options.step_time = 200us;
  options.save_time = 3ms;
  for (int cycle = 0; cycle < 20; ++cycle) {
    ASSERT_TRUE(session.start(factory(options)));
    ASSERT_TRUE(reaches(session, TrainingState::running));
    session.stop_and_save();
    if (cycle % 5 == 4) {
      ASSERT_TRUE(reaches(session, TrainingState::saving));
      session.stop_and_save();
    }
    ASSERT_TRUE(rests(session)) << cycle;
  }
  EXPECT_EQ(log_->saved, 20);
  EXPECT_EQ(log_->destroyed, 20);
}

TEST_F(TrainingSessionTest, AHundredClosesAtRandomTimes) {
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    TrainingSession session;
    FakeOptions options;
    options.start_time = std::chrono::milliseconds(random() % 3);
    options.step_time = std::chrono::microseconds(random() % 500);
    options.save_time = std::chrono::milliseconds(random() % 3);
    options.total_steps = 20;
    session.start(factory(options));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    if (i % 4 == 1) session.pause();
    if (i % 4 == 2) session.stop_and_save();
    if (i % 4 == 3) session.finish_now();
  }
  EXPECT_EQ(log_->made, log_->destroyed);
  EXPECT_FALSE(log_->wrong_thread);
}

}  // namespace
