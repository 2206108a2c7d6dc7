// Several trainers that share each batch's rows learn what one learns: here each is a thread with a backend of its own.
#include "engine/process_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>

#include "tests/engine/support/training_runs.h"
#include "tests/support/temporary_folder.h"

namespace {

/// The common memory of a group of threads.
struct Meeting {
  explicit Meeting(int size) : floats(static_cast<std::size_t>(size)), doubles(floats.size()), barrier(size) {}
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<double>> doubles;
  std::barrier<> barrier;
};

class ThreadGroup : public engine::ProcessGroup {
 public:
  ThreadGroup(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(meeting_->floats.size()); }
  void sum(std::span<float> values) override { add(values, meeting_->floats); }
  void sum(std::span<double> values) override { add(values, meeting_->doubles); }

 private:
  template <class Value>
  void add(std::span<Value> values, std::vector<std::vector<Value>>& parts) {
    parts[static_cast<std::size_t>(rank_)].assign(values.begin(), values.end());
    meeting_->barrier.arrive_and_wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 0;
      for (const auto& part : parts) values[i] += part[i];
    }
    meeting_->barrier.arrive_and_wait();
  }

  std::shared_ptr<Meeting> meeting_;
  int rank_;
};

struct Outcome {
  std::vector<engine::StepMetrics> metrics;  // of process 0
  engine::Checkpoint checkpoint;
};

/// Trains `recipe` with `size` threads in `folder` and checks that each sees the same losses.
Outcome train_together(const engine::Recipe& recipe, const std::filesystem::path& folder, int size) {
  const auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::vector<engine::StepMetrics>> seen(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        engine::TrainerOptions options = support::trainer_options(folder);
        options.threads = 1;
        options.group = std::make_shared<ThreadGroup>(meeting, rank);
        const auto job = engine::make_trainer(recipe, options);
        seen[static_cast<std::size_t>(rank)] = support::train_steps(*job, recipe.train.steps);
        job->save("done");
      });
    }
  }
  for (const auto& metrics : seen) {
    for (std::size_t i = 0; i < metrics.size(); ++i) EXPECT_EQ(metrics[i].pass_loss, seen[0][i].pass_loss);
  }
  return {seen[0], engine::read_newest_checkpoint(folder, true)};
}

double largest_difference(const std::vector<engine::HostTensor>& a, const std::vector<engine::HostTensor>& b) {
  double largest = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (std::size_t i = 0; i < a[t].values.size(); ++i) {
      largest = std::max(largest, std::abs(double{a[t].values[i]} - double{b[t].values[i]}));
    }
  }
  return largest;
}

TEST(ProcessGroup, SharesCoverAllRowsOnce) {
  for (const std::int64_t rows : {1, 2, 5, 6, 64}) {
    for (int size = 1; size <= rows && size < 7; ++size) {
      std::int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const engine::RowShare share = engine::row_share(rows, rank, size);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.count, rows / size);
        EXPECT_LE(share.count, rows / size + 1);
        next += share.count;
      }
      EXPECT_EQ(next, rows);
    }
  }
}

TEST(ProcessGroup, PlacesFollowTheRows) {
  // 3 rows of 4 places, of which 3, 1 and 2 are real.
  const std::vector<std::int32_t> places = {0, 1, 2, 4, 8, 9};
  const engine::PlaceShare share = engine::place_share(places, 4, {1, 2});
  EXPECT_EQ(share.before, 3);
  EXPECT_EQ(share.places, (std::vector<std::int32_t>{4, 8, 9}));
  EXPECT_TRUE(engine::place_share({}, 4, {0, 3}).places.empty());
}

class TogetherTest : public ::testing::TestWithParam<engine::OptimizerType> {};

// Jitter, prefix mix-in and three passes are on: each must be drawn as for the whole batch.
TEST_P(TogetherTest, LearnsWhatOneProcessLearns) {
  support::TemporaryFolder folder;
  engine::Recipe recipe = support::tiny_recipe(GetParam());
  recipe.train.jitter = 0.1;
  recipe.train.rows = 7;  // shares of unequal size
  const Outcome one = train_together(recipe, folder / "one", 1);
  const Outcome two = train_together(recipe, folder / "two", 2);
  const Outcome three = train_together(recipe, folder / "three", 3);
  for (const Outcome* several : {&two, &three}) {
    ASSERT_EQ(several->metrics.size(), one.metrics.size());
    for (std::size_t i = 0; i < one.metrics.size(); ++i) {
      EXPECT_EQ(several->metrics[i].tokens, one.metrics[i].tokens);
      ASSERT_EQ(several->metrics[i].pass_loss.size(), one.metrics[i].pass_loss.size());
      for (std::size_t k = 0; k < one.metrics[i].pass_loss.size(); ++k) {
        EXPECT_NEAR(several->metrics[i].pass_loss[k], one.metrics[i].pass_loss[k], 2e-5) << "step " << i;
      }
      EXPECT_NEAR(several->metrics[i].gradient_norm, one.metrics[i].gradient_norm, 2e-4 * one.metrics[i].gradient_norm);
    }
    EXPECT_LT(largest_difference(several->checkpoint.model, one.checkpoint.model), 2e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, TogetherTest,
                         ::testing::Values(engine::OptimizerType::adamw, engine::OptimizerType::normuon),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(ProcessGroup, FewerRowsThanProcessesAreRefused) {
  support::TemporaryFolder folder;
  engine::Recipe recipe = support::tiny_recipe();
  recipe.train.rows = 1;
  engine::TrainerOptions options = support::trainer_options(folder / "run");
  options.group = std::make_shared<ThreadGroup>(std::make_shared<Meeting>(2), 0);
  EXPECT_THROW(engine::make_trainer(recipe, options), engine::ConfigError);
}

}  // namespace
