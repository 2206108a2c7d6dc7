// The threads behind every operation: each index once, one after another, and asleep when there is nothing to do.
#include "kernels/cpu/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>
#include <vector>

#include "kernels/cpu/parallel.h"

namespace {

using kernels::cpu::run_team;

double process_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(ThreadTeamTest, CallsEveryIndexOnceOnItsOwnThread) {
  for (const int size : {1, 2, 5, 3}) {
    std::vector<int> calls(static_cast<std::size_t>(size), 0);
    std::vector<std::thread::id> threads(static_cast<std::size_t>(size));
    run_team(size, [&](int index) {
      ++calls[static_cast<std::size_t>(index)];
      threads[static_cast<std::size_t>(index)] = std::this_thread::get_id();
    });
    EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(size), 1));
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), static_cast<std::size_t>(size));
  }
}

TEST(ThreadTeamTest, EveryRunSeesWhatTheOneBeforeWrote) {
  std::vector<std::int64_t> values(3, 0);  // each thread reads its neighbour's number of the run before
  for (int run = 0; run < 20'000; ++run) {
    std::vector<std::int64_t> next(3, 0);
    run_team(3, [&](int index) {
      const auto i = static_cast<std::size_t>(index);
      next[i] = values[(i + 1) % 3] + 1;
    });
    values = next;
  }
  EXPECT_EQ(values, std::vector<std::int64_t>(3, 20'000));
}

TEST(ThreadTeamTest, PartsAreCalledOnceEachWhateverTheirNumber) {
  for (const std::int64_t total : {0, 1, 3, 50, 1000}) {
    for (const std::int64_t grain : {1, 16}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(total));
      kernels::cpu::for_parts(3, total, grain, [&](int thread, kernels::cpu::Range range) {
        EXPECT_TRUE(thread >= 0 && thread < 3);
        EXPECT_EQ(range.begin % grain, 0);
        for (std::int64_t i = range.begin; i < range.end; ++i) ++calls[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1) << total << " " << grain;
    }
  }
}

TEST(ThreadTeamTest, AThreadThatIsLateLeavesItsPartsToTheOthers) {
  std::atomic<int> by_caller{0};
  std::atomic<bool> other_has_begun{false};
  kernels::cpu::for_parts(2, 80, 1, [&](int thread, kernels::cpu::Range range) {
    if (thread == 1) {
      other_has_begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    while (!other_has_begun) std::this_thread::yield();
    if (thread == 0) by_caller += static_cast<int>(range.count());
  });
  EXPECT_EQ(by_caller, 70) << "the caller takes all but the part that the other one has begun";
}

TEST(ThreadTeamTest, SeveralThreadsHaveTeamsOfTheirOwn) {
  std::vector<int> sums(4, 0);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&sums, caller] {
      for (int run = 0; run < 500; ++run) {
        int parts[3] = {};
        run_team(3, [&](int index) { parts[index] = index + 1; });
        sums[caller] += parts[0] + parts[1] + parts[2];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<int>(4, 500 * 6));
}

TEST(ThreadTeamTest, ThreadsSleepWhileThereIsNothingToDo) {
  run_team(4, [](int /*index*/) {});
  const double before = process_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(process_seconds() - before, 0.02) << "waiting threads take the processor";
}

TEST(ThreadTeamTest, TheCallerSleepsWhileOthersWork) {
  const double before = process_seconds();
  run_team(2, [](int index) {
    if (index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  EXPECT_LT(process_seconds() - before, 0.02);
}

}  // namespace
