// Training as a whole: the objective that it steps on, exact resume, counters, numbers that overflow, memory.
#include "engine/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "engine/error.h"
#include "engine/memory_estimate.h"
#include "engine/schedule.h"
#include "tests/engine/support/pass_probe.h"
#include "tests/engine/support/training_runs.h"
#include "tests/support/temporary_folder.h"

namespace {

using engine::Checkpoint;
using engine::OptimizerType;
using engine::Recipe;
using engine::StepMetrics;
using support::tiny_recipe;
using support::train_steps;
using support::trainer_options;

/// Wall time differs between runs, everything else must not.
nlohmann::json without_times(nlohmann::json object) {
  for (const char* name : {"wall", "wall_seconds", "time", "tokens_per_s"}) object.erase(name);
  return object;
}

std::vector<nlohmann::json> metrics_of(const std::filesystem::path& folder) {
  std::uint64_t offset = 0;
  std::vector<nlohmann::json> lines;
  for (const auto& line : engine::read_metrics(folder, offset)) lines.push_back(without_times(line));
  return lines;
}

void expect_same(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(engine::tensor_hash(a.model), engine::tensor_hash(b.model));
  EXPECT_EQ(engine::tensor_hash(a.optim), engine::tensor_hash(b.optim));
  EXPECT_EQ(without_times(a.state), without_times(b.state));
  EXPECT_EQ(a.tokenizer, b.tokenizer);
  EXPECT_TRUE(a.config == b.config);
}

class TrainerTest : public ::testing::Test {
 protected:
  support::TemporaryFolder folder_;
};

class ResumeTest : public ::testing::TestWithParam<OptimizerType> {
 protected:
  support::TemporaryFolder folder_;
};

TEST_P(ResumeTest, FivePlusFiveStepsAreTenBitForBit) {
  const Recipe recipe = tiny_recipe(GetParam());
  const Checkpoint whole = support::trained(recipe, folder_ / "whole");
  {
    const auto first = make_trainer(recipe, trainer_options(folder_ / "halves"));
    train_steps(*first, 5);
    first->save("stopped");
  }
  EXPECT_EQ(engine::read_run(folder_ / "halves").at("state"), "stopped");
  const auto second = resume_trainer(trainer_options(folder_ / "halves", 99));  // the run's seed counts, not this one
  EXPECT_EQ(second->step(), 5);
  EXPECT_EQ(engine::read_run(folder_ / "halves").at("state"), "training");
  train_steps(*second, 5);
  second->save("done");
  expect_same(engine::read_newest_checkpoint(folder_ / "halves", true), whole);
  EXPECT_EQ(metrics_of(folder_ / "halves"), metrics_of(folder_ / "whole"));
}

TEST_P(ResumeTest, StepsAfterTheCheckpointAreTakenAgain) {
  const Recipe recipe = tiny_recipe(GetParam());
  const Checkpoint whole = support::trained(recipe, folder_ / "whole");
  {
    const auto first = make_trainer(recipe, trainer_options(folder_ / "cut"));
    train_steps(*first, 3);
    first->save("stopped");
    train_steps(*first, 4);  // lost: no checkpoint follows
  }
  const auto second = resume_trainer(trainer_options(folder_ / "cut"));
  EXPECT_EQ(second->step(), 3);
  train_steps(*second, 7);
  second->save("done");
  expect_same(engine::read_newest_checkpoint(folder_ / "cut", true), whole);
  EXPECT_EQ(metrics_of(folder_ / "cut"), metrics_of(folder_ / "whole"));
}

TEST_P(ResumeTest, WithoutAnyCheckpointItBeginsAgain) {
  const Recipe recipe = tiny_recipe(GetParam());
  const Checkpoint whole = support::trained(recipe, folder_ / "whole", 4);
  train_steps(*make_trainer(recipe, trainer_options(folder_ / "killed", 4)), 2);
  const auto again = resume_trainer(trainer_options(folder_ / "killed"));
  EXPECT_EQ(again->step(), 0);
  train_steps(*again, 10);
  again->save("done");
  expect_same(engine::read_newest_checkpoint(folder_ / "killed", true), whole);
  EXPECT_EQ(metrics_of(folder_ / "killed"), metrics_of(folder_ / "whole"));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, ResumeTest, ::testing::Values(OptimizerType::adamw, OptimizerType::normuon),
                         [](const auto& type) { return to_string(type.param); });

TEST_F(TrainerTest, ABrokenCheckpointIsNoReasonToBeginAgain) {
  support::trained(tiny_recipe(), folder_ / "run");
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run" / "checkpoints")) {
    std::filesystem::resize_file(entry.path() / "model.safetensors", 100);
  }
  EXPECT_THROW(resume_trainer(trainer_options(folder_ / "run")), engine::FileError);
}

TEST_F(TrainerTest, RefusesToGoOnWithOtherData) {
  Recipe recipe = tiny_recipe();
  recipe.data.tasks = nlohmann::json::array();
  recipe.data.tokenizer = "byte";
  recipe.data.text = folder_ / "text.txt";
  const auto write_text = [&](const std::string& word) {
    std::ofstream file(recipe.data.text);
    for (int i = 0; i < 300; ++i) file << word << " number " << i << " of many.\n";
  };
  write_text("Line");
  support::trained(recipe, folder_ / "run");
  EXPECT_NO_THROW(resume_trainer(trainer_options(folder_ / "run")));
  write_text("Word");
  EXPECT_THROW(resume_trainer(trainer_options(folder_ / "run")), engine::FileError);
}

TEST_F(TrainerTest, AnIncompleteDescriptionIsAFormatError) {
  support::trained(tiny_recipe(), folder_ / "run");
  auto run = engine::read_run(folder_ / "run");
  run.erase("seed");
  std::ofstream(folder_ / "run" / "run.json") << run;
  EXPECT_THROW(resume_trainer(trainer_options(folder_ / "run")), engine::FormatError);
}

/// The trainer leaves padding out of its passes; the oracle has it in, and so has the plain length of each row.
TEST_F(TrainerTest, TheFirstStepHasTheLossesAndTheGradientNormOfTheObjective) {
  for (const int passes : {1, 3}) {
    Recipe recipe = tiny_recipe();
    recipe.train.schedule = {{1.0, passes}};
    recipe.train.jitter = 0;
    recipe.train.lambda = 0.7;
    const auto folder = folder_ / std::to_string(passes);
    const StepMetrics got = make_trainer(recipe, trainer_options(folder, 7))->train_step();

    const auto source = engine::data::make_batch_source(recipe.data);
    support::OracleTask task;
    task.config = recipe.model;
    task.config.vocab = source->tokenizer().vocab();
    task.batch = source->training(7, 0, recipe.train.rows);
    task.passes = passes;
    task.lambda = recipe.train.lambda;
    for (int k = 1; k < passes; ++k) {
      const auto lengths =
          engine::draw_plain_lengths(task.batch, {7, kernels::Purpose::plain_prefix, 0, static_cast<std::uint32_t>(k)},
                                     recipe.train.fully_fused_share);
      task.fused.push_back(engine::fused_flags(task.batch, lengths));
    }
    const auto expected = support::run_oracle(task, engine::initial_parameters(task.config, 7));
    EXPECT_LE(support::relative_difference(got.pass_loss, expected.losses), 1e-6);
    EXPECT_NEAR(got.objective, expected.objective, 1e-5);
    double squares = 0;
    for (const auto& gradient : expected.gradients) {
      for (const double g : gradient) squares += g * g;
    }
    EXPECT_NEAR(got.gradient_norm, std::sqrt(squares), 1e-4 * std::sqrt(squares));
  }
}

TEST_F(TrainerTest, MetricsAndCountersAddUp) {
  Recipe recipe = tiny_recipe();
  const auto source = engine::data::make_batch_source(recipe.data);
  const auto job = make_trainer(recipe, trainer_options(folder_ / "run"));
  std::int64_t tokens = 0;
  std::int64_t token_equivalents = 0;
  for (std::int64_t step = 0; step < recipe.train.steps; ++step) {
    const StepMetrics metrics = job->train_step();
    const int passes = engine::passes_at(recipe.train, 1, step);
    const std::int64_t real = source->training(1, step, recipe.train.rows).real_tokens();
    tokens += real;
    token_equivalents += real * passes;
    EXPECT_EQ(metrics.step, step + 1);
    EXPECT_EQ(metrics.tokens, tokens);
    EXPECT_EQ(metrics.token_equivalents, token_equivalents);
    EXPECT_EQ(metrics.passes, passes);
    EXPECT_EQ(metrics.pass_loss.size(), static_cast<std::size_t>(passes));
    EXPECT_DOUBLE_EQ(metrics.objective, engine::objective(metrics.pass_loss, recipe.train.lambda));
    EXPECT_DOUBLE_EQ(metrics.learning_rate, recipe.train.rate * rate_share(recipe.train, step));
    EXPECT_GT(metrics.gradient_norm, 0.0);
  }
  job->save("done");
  const auto state = engine::read_newest_checkpoint(folder_ / "run", true).state;
  EXPECT_EQ(state.at("tokens"), tokens);
  EXPECT_EQ(state.at("token_equivalents"), token_equivalents);
  EXPECT_EQ(state.at("steps_with_gradient").at("embed.weight"), 10);
  EXPECT_EQ(state.at("steps_with_gradient").at("fusion.wu"), 7) << "the fusion has no gradient while K = 1";
  EXPECT_EQ(engine::read_run(folder_ / "run").at("state"), "done");
}

TEST_F(TrainerTest, TheFusionDoesNotMoveWhileKIsOne) {
  Recipe recipe = tiny_recipe();
  recipe.train.schedule = {{1.0, 1}};
  const Checkpoint end = support::trained(recipe, folder_ / "run");
  for (const auto& start : engine::initial_parameters(end.config, 1)) {
    const auto same_name = [&](const engine::HostTensor& t) { return t.name == start.name; };
    const auto now = std::find_if(end.model.begin(), end.model.end(), same_name);
    ASSERT_NE(now, end.model.end());
    EXPECT_EQ(*now == start, start.name.starts_with("fusion.")) << start.name;
  }
}

TEST_F(TrainerTest, TheSameSeedGivesTheSameRunAndAnotherSeedAnother) {
  const Recipe recipe = tiny_recipe();
  const auto losses = [&](const char* name, std::uint64_t seed) {
    std::vector<double> values;
    for (const StepMetrics& m : train_steps(*make_trainer(recipe, trainer_options(folder_ / name, seed)), 5)) {
      values.push_back(m.objective);
    }
    return values;
  };
  const auto first = losses("a", 3);
  EXPECT_EQ(losses("b", 3), first);
  const auto other = losses("c", 4);
  for (std::size_t step = 0; step < 5; ++step) EXPECT_NE(other[step], first[step]);
}

TEST_F(TrainerTest, TheLossFalls) {
  Recipe recipe = tiny_recipe();
  recipe.train.steps = 120;
  recipe.train.rate = 5e-3;
  const auto job = make_trainer(recipe, trainer_options(folder_ / "run"));
  const auto metrics = train_steps(*job, recipe.train.steps);
  EXPECT_LT(metrics.back().pass_loss[0], 0.6 * metrics.front().pass_loss[0]);
  EXPECT_LT(metrics.back().pass_loss[2], 0.6 * metrics.front().pass_loss[0]);
}

/// Trains until a number is not finite, with a checkpoint after every step.
std::string train_into_overflow(engine::TrainingJob& job) {
  try {
    while (job.step() < job.total_steps()) {
      job.train_step();
      job.checkpoint_if_due();
    }
  } catch (const engine::NonFiniteError& error) {
    EXPECT_NE(std::string(error.what()).find("step " + std::to_string(error.step())), std::string::npos);
    EXPECT_FALSE(error.tensor().empty());
    return error.tensor();
  }
  return "";
}

TEST_F(TrainerTest, OverflowNamesStepAndTensorAndLeavesTheLastGoodCheckpoint) {
  Recipe recipe = tiny_recipe();
  recipe.train.steps = 100;
  recipe.train.rate = 1e6;  // norms in front of every block keep smaller rates finite, if useless
  recipe.train.warmup_steps = 0;
  recipe.train.checkpoint_every = 1;
  recipe.train.schedule = {{1.0, 3}};
  {
    const auto job = make_trainer(recipe, trainer_options(folder_ / "run"));
    job->save("training");
    EXPECT_NE(train_into_overflow(*job), "");
    EXPECT_EQ(engine::read_newest_checkpoint(folder_ / "run", true).state.at("step"), job->step());
  }
  for (const auto& tensor : engine::read_newest_checkpoint(folder_ / "run", true).model) {
    for (const float value : tensor.values) ASSERT_TRUE(std::isfinite(value)) << tensor.name;
  }
  EXPECT_NO_THROW(resume_trainer(trainer_options(folder_ / "run")));
}

TEST_F(TrainerTest, ARateOfTenEndsInNumbersOrInANonFiniteErrorAndNothingElse) {
  for (const auto reading : {engine::NormReading::gain, engine::NormReading::raw}) {
    Recipe recipe = tiny_recipe();
    recipe.model.norm_reading = reading;
    recipe.train.steps = 30;
    recipe.train.rate = 10;
    const auto job = make_trainer(recipe, trainer_options(folder_ / to_string(reading)));
    const std::string tensor = train_into_overflow(*job);
    if (tensor.empty()) {
      EXPECT_EQ(job->step(), 30);
    }
    EXPECT_NO_THROW(job->save("stopped"));
  }
}

TEST_F(TrainerTest, ValidationIsDueWhenTheRecipeSaysAndAtTheEnd) {
  Recipe recipe = tiny_recipe();
  recipe.train.validate_every = 4;
  recipe.train.validation_rows = 8;
  const auto job = make_trainer(recipe, trainer_options(folder_ / "run"));
  std::vector<std::int64_t> validated;
  while (job->step() < recipe.train.steps) {
    job->train_step();
    if (const auto metrics = job->validate_if_due()) {
      validated.push_back(metrics->step);
      EXPECT_EQ(metrics->pass_loss.size(), 3U) << "the schedule's largest K";
      EXPECT_EQ(metrics->rows, 8);
    }
  }
  EXPECT_EQ(validated, (std::vector<std::int64_t>{4, 8, 10}));
}

TEST_F(TrainerTest, NoValidationWhenTheRecipeWantsNone) {
  const auto job = make_trainer(tiny_recipe(), trainer_options(folder_ / "run"));
  for (int step = 0; step < 10; ++step) {
    job->train_step();
    EXPECT_FALSE(job->validate_if_due().has_value());
  }
}

TEST_F(TrainerTest, DiscardRemovesTheRun) {
  const auto job = make_trainer(tiny_recipe(), trainer_options(folder_ / "run"));
  train_steps(*job, 2);
  job->discard();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(TrainerTest, AFolderWithARunIsNotOverwritten) {
  const Checkpoint before = support::trained(tiny_recipe(), folder_ / "run");
  EXPECT_THROW(make_trainer(tiny_recipe(), trainer_options(folder_ / "run", 2)), engine::Error);
  expect_same(engine::read_newest_checkpoint(folder_ / "run", true), before);
}

/// Rows of a task differ in length from step to step; the memory is that of the longest.
TEST_F(TrainerTest, AStepAllocatesNothingAfterTheFirst) {
  Recipe recipe = tiny_recipe();
  recipe.data.tasks = nlohmann::json::parse(R"([{"name": "running-sum", "modulo": 3, "max_length": 40}])");
  recipe.data.seq = 96;
  recipe.train.steps = 20;
  recipe.train.rows = 20;  // the activations of one pass fill more than one block
  const auto job = make_trainer(recipe, trainer_options(folder_ / "run"));
  std::int64_t before = 0;
  std::map<int, int> seen;
  for (std::int64_t step = 0; step < 20; ++step) {
    ++seen[job->train_step().passes];
    if (step > 0) {
      EXPECT_EQ(job->device().allocations, before) << "step " << step;
    }
    before = job->device().allocations;
  }
  EXPECT_EQ(seen.size(), 3U);
  recipe.model.vocab = engine::data::make_batch_source(recipe.data)->tokenizer().vocab();
  const auto estimate = engine::memory_estimate(recipe);
  EXPECT_NEAR(static_cast<double>(estimate.parameters + estimate.optimizer + estimate.step),
              static_cast<double>(job->device().memory_used), 64 * 1024);
}

}  // namespace
