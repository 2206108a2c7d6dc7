#include "app/inference_worker.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>

#include "tests/app/fake_decoder.h"

namespace {

using app::InferenceWorker;
using app::RolloutEvent;
using app::WorkerSnapshot;
using app_tests::FakeDecoder;
using namespace std::chrono_literals;

std::vector<engine::RolloutRequest> three_requests(std::int64_t tokens) {
  std::vector<engine::RolloutRequest> requests(3);
  for (int i = 0; i < 3; ++i) {
    requests[i].prompt = "a";
    requests[i].mode = static_cast<engine::DecodeMode>(i);
    requests[i].max_tokens = tokens;
  }
  return requests;
}

/// Collects what comes until the worker rests.
std::vector<RolloutEvent> collect(InferenceWorker& worker, WorkerSnapshot& last) {
  std::vector<RolloutEvent> all;
  for (int i = 0; i < 5000; ++i) {
    last = worker.poll();
    all.insert(all.end(), last.events.begin(), last.events.end());
    if (last.state == WorkerSnapshot::State::ready || last.state == WorkerSnapshot::State::empty) return all;
    std::this_thread::sleep_for(1ms);
  }
  return all;
}

TEST(InferenceWorker, LoadsAndStreamsTheThreeModesInOrder) {
  InferenceWorker worker;
  worker.load([] { return std::make_unique<FakeDecoder>("run"); });
  const auto ticket = worker.run(three_requests(5));
  WorkerSnapshot last;
  const auto events = collect(worker, last);
  EXPECT_EQ(last.state, WorkerSnapshot::State::ready);
  EXPECT_EQ(last.model.key, "run");
  ASSERT_EQ(events.size(), 3U * 7U);
  for (int mode = 0; mode < 3; ++mode) {
    const RolloutEvent* first = &events[static_cast<std::size_t>(7 * mode)];
    EXPECT_EQ(first[0].kind, RolloutEvent::Kind::started);
    EXPECT_EQ(first[0].mode, static_cast<engine::DecodeMode>(mode));
    EXPECT_EQ(first[1].kind, RolloutEvent::Kind::token);
    EXPECT_EQ(first[6].kind, RolloutEvent::Kind::finished);
    EXPECT_EQ(first[6].rollout.tokens.size(), 5U);
    EXPECT_EQ(first[6].ticket, ticket);
  }
}

TEST(InferenceWorker, ErrorsAreSentences) {
  InferenceWorker worker;
  worker.load([]() -> std::unique_ptr<app::Decoder> { throw engine::FileError("run", "has no checkpoint yet"); });
  WorkerSnapshot last;
  collect(worker, last);
  EXPECT_EQ(last.problem, "run: has no checkpoint yet");
  EXPECT_TRUE(last.model.key.empty());
  worker.load([] { return std::make_unique<FakeDecoder>("run"); });
  auto requests = three_requests(5);
  requests[1].prompt.clear();
  worker.run(requests);
  const auto events = collect(worker, last);
  int failed = 0;
  for (const auto& event : events) failed += event.kind == RolloutEvent::Kind::failed ? 1 : 0;
  EXPECT_EQ(failed, 1) << "the other two modes still ran";
  EXPECT_TRUE(last.problem.empty());
}

TEST(InferenceWorker, CancelEndsEarlyAndALaterRunWorks) {
  InferenceWorker worker;
  worker.load([] { return std::make_unique<FakeDecoder>("run", 1ms); });
  worker.run(three_requests(100'000));
  std::this_thread::sleep_for(30ms);
  worker.cancel();
  WorkerSnapshot last;
  const auto events = collect(worker, last);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().kind, RolloutEvent::Kind::finished);
  EXPECT_EQ(events.back().rollout.stop, engine::StopReason::cancelled);
  worker.run(three_requests(2));
  EXPECT_EQ(collect(worker, last).size(), 3U * 4U);
}

TEST(InferenceWorker, ANewRunReplacesTheOneUnderWay) {
  InferenceWorker worker;
  worker.load([] { return std::make_unique<FakeDecoder>("run", 1ms); });
  worker.run(three_requests(100'000));
  std::this_thread::sleep_for(20ms);
  const auto ticket = worker.run(three_requests(2));
  WorkerSnapshot last;
  const auto events = collect(worker, last);
  int finished = 0;
  for (const auto& event : events) {
    finished += event.ticket == ticket && event.kind == RolloutEvent::Kind::finished ? 1 : 0;
  }
  EXPECT_EQ(finished, 3);
}

TEST(InferenceWorker, ClosesAtAnyMoment) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    InferenceWorker worker;
    worker.load([] {
      std::this_thread::sleep_for(1ms);
      return std::make_unique<FakeDecoder>("run", 1ms);
    });
    worker.run(three_requests(1000));
    if (i % 3 == 1) worker.cancel();
    if (i % 3 == 2) worker.load([] { return std::make_unique<FakeDecoder>("other"); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
  }
}

}  // namespace
