#include "engine/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/json_io.h"

namespace {

using engine::StepMetrics;
using engine::ValidationMetrics;
using nlohmann::json;

StepMetrics step() {
  StepMetrics metrics;
  metrics.step = 50;
  metrics.tokens = 1000;
  metrics.token_equivalents = 1500;
  metrics.wall_seconds = 2.5;
  metrics.unix_seconds = 1.75e9;
  metrics.passes = 2;
  metrics.objective = 3.25;
  metrics.pass_loss = {1.5, std::numeric_limits<double>::quiet_NaN()};
  metrics.learning_rate = 0.002;
  metrics.gradient_norm = std::numeric_limits<double>::infinity();
  metrics.tokens_per_second = 400;
  return metrics;
}

TEST(Metrics, StepsUseTheKeysOfTheFormat) {
  const json object = to_json(step(), 200);
  EXPECT_EQ(engine::dump_json(object),
            R"({"grad_norm":"Infinity","lr":0.002,"passes":2,"rel":0.25,"step":50,"time":1750000000.0,)"
            R"("token_equivalents":1500,"tokens":1000,"tokens_per_s":400.0,"train/loss":3.25,)"
            R"("train/loss_pass1":1.5,"train/loss_pass2":"NaN","wall":2.5})");
}

TEST(Metrics, StepsReadBackNonFiniteIncluded) {
  const json line = engine::parse_metrics_line(engine::dump_json(to_json(step(), 200)), "m");
  const auto back = engine::step_metrics_from_json(line);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(engine::dump_json(to_json(*back, 200)), engine::dump_json(to_json(step(), 200)));
  EXPECT_TRUE(std::isnan(back->pass_loss[1]));
  EXPECT_TRUE(std::isinf(back->gradient_norm));
  EXPECT_FALSE(engine::validation_metrics_from_json(line).has_value());
}

TEST(Metrics, ValidationsReadBack) {
  ValidationMetrics metrics;
  metrics.step = 7;
  metrics.tokens = 70;
  metrics.token_equivalents = 140;
  metrics.wall_seconds = 1.5;
  metrics.rows = 256;
  metrics.pass_loss = {0.5, 0.25, 0.125};
  metrics.pass_error = {0.01, 0.02, 0.03};
  metrics.pass_accuracy = {0.9, 0.95, 1.0};
  const json line = to_json(metrics, 70);
  EXPECT_EQ(line.at("val/loss_pass3"), 0.125);
  EXPECT_EQ(line.at("val/error_pass2"), 0.02);
  EXPECT_EQ(line.at("val/accuracy_pass1"), 0.9);
  EXPECT_EQ(line.at("rel"), 0.1);
  const auto back = engine::validation_metrics_from_json(line);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(to_json(*back, 70), line);
  EXPECT_FALSE(engine::step_metrics_from_json(line).has_value());
}

TEST(Metrics, ForeignLinesAreNeither) {
  EXPECT_FALSE(engine::step_metrics_from_json({{"step", 1}}).has_value());
  EXPECT_FALSE(engine::validation_metrics_from_json(json::array()).has_value());
}

}  // namespace
