#include "app/analysis_worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/error.h"
#include "tests/app/sample_model.h"

namespace {

using app::AnalysisControl;
using app::AnalysisModel;
using app::AnalysisSnapshot;
using app::AnalysisWorker;
using namespace std::chrono_literals;

struct Collected {
  std::vector<std::string> problems;
  AnalysisSnapshot last;
};

/// Polls as the window does, and hands the results out, until the worker rests.
Collected collect(AnalysisWorker& worker) {
  Collected all;
  for (int i = 0; i < 10'000; ++i) {
    all.last = worker.poll();
    for (const auto& result : all.last.results) result();
    for (const app::AnalysisProblem& problem : all.last.problems) all.problems.push_back(problem.sentence);
    if (all.last.state == AnalysisSnapshot::State::idle) return all;
    std::this_thread::sleep_for(1ms);
  }
  ADD_FAILURE() << "the worker never rests";
  return all;
}

/// Notes its name when its result is handed out.
AnalysisWorker::Job note(const std::string& run, std::vector<std::string>& notes) {
  return {run, [&notes](AnalysisModel& model, const AnalysisControl&) {
            return [&notes, name = model.key] { notes.push_back(name); };
          }};
}

/// Lasts until it is cancelled.
AnalysisWorker::Job endless(std::atomic<bool>& begun) {
  return {"a", [&begun](AnalysisModel&, const AnalysisControl& control) -> std::function<void()> {
            begun = true;
            for (int i = 0; !control.stop.stop_requested(); ++i) {
              control.progress(i, 1'000'000);
              std::this_thread::sleep_for(1ms);
            }
            throw engine::Cancelled();
          }};
}

void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 10'000 && !flag; ++i) std::this_thread::sleep_for(1ms);
}

TEST(AnalysisWorker, RunsJobsInOrderAndOpensAModelOnceForEachRunInARow) {
  int opened = 0;
  AnalysisWorker worker([&](const std::string& key) {
    ++opened;
    return app_tests::sample_model(key);
  });
  std::vector<std::string> notes;
  worker.run({note("a", notes), note("a", notes), note("b", notes)});
  const Collected all = collect(worker);
  EXPECT_EQ(notes, (std::vector<std::string>{"a", "a", "b"}));
  EXPECT_TRUE(all.problems.empty());
  EXPECT_FALSE(all.last.cancelled);
  EXPECT_EQ(opened, 2);
  worker.run({note("b", notes)});
  collect(worker);
  EXPECT_EQ(opened, 2) << "the model is kept";
  worker.forget_model();
  worker.run({note("b", notes)});
  collect(worker);
  EXPECT_EQ(opened, 3) << "its run has been trained on";
}

TEST(AnalysisWorker, AFailureIsASentenceAndTheNextJobRuns) {
  AnalysisWorker worker([](const std::string& key) {
    if (key == "broken") throw engine::FormatError("model.safetensors", "it is too short");
    return app_tests::sample_model(key);
  });
  std::vector<std::string> notes;
  worker.run({note("broken", notes), note("a", notes)});
  const Collected all = collect(worker);
  ASSERT_EQ(all.problems.size(), 1U);
  EXPECT_NE(all.problems[0].find("it is too short"), std::string::npos);
  EXPECT_EQ(notes, (std::vector<std::string>{"a"}));
}

TEST(AnalysisWorker, CancelEndsALongJobAndTellsProgressUntilThen) {
  AnalysisWorker worker(app_tests::sample_model);
  std::atomic<bool> begun = false;
  std::vector<std::string> notes;
  worker.run({endless(begun), note("a", notes)});
  wait_for(begun);
  std::this_thread::sleep_for(20ms);
  const AnalysisSnapshot under_way = worker.poll();
  EXPECT_EQ(under_way.state, AnalysisSnapshot::State::measuring);
  EXPECT_EQ(under_way.total, 1'000'000);
  worker.cancel();
  const Collected all = collect(worker);
  EXPECT_TRUE(all.last.cancelled);
  EXPECT_TRUE(all.problems.empty()) << "a wish is no error";
  EXPECT_TRUE(notes.empty()) << "the jobs behind it are cancelled, too";
}

TEST(AnalysisWorker, ANewRequestTakesTheOldOnesPlace) {
  AnalysisWorker worker(app_tests::sample_model);
  std::atomic<bool> begun = false;
  std::vector<std::string> notes;
  worker.run({note("old", notes), endless(begun)});
  wait_for(begun);
  worker.run({note("new", notes)});
  const Collected all = collect(worker);
  EXPECT_EQ(notes, (std::vector<std::string>{"new"})) << "results that nobody took are of the old request";
  EXPECT_FALSE(all.last.cancelled);
}

TEST(AnalysisWorker, CancelBeforeTheStartLeavesItAtRest) {
  AnalysisWorker worker(app_tests::sample_model);
  std::vector<std::string> notes;
  for (int i = 0; i < 50; ++i) {
    worker.run({note("a", notes)});
    worker.cancel();
    EXPECT_EQ(collect(worker).last.state, AnalysisSnapshot::State::idle);
  }
}

TEST(AnalysisWorker, ClosesInTheMiddleOfAJob) {
  std::atomic<bool> begun = false;
  AnalysisWorker worker(app_tests::sample_model);
  worker.run({endless(begun)});
  wait_for(begun);
}

}  // namespace
