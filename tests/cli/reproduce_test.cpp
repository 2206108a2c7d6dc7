#include <cmath>
#include <fstream>

#include "app/cli/finding_table.h"
#include "engine/error.h"
#include "resources/embedded.h"
#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using ReproduceTest = CliTest;

/// Two variants, of which one alone is measured by the second verb, and three expectations.
nlohmann::json two_variants_json() {
  return nlohmann::json::parse(R"json({
    "claim": "a claim", "paper": "Fig. 0", "seeds": [1, 2],
    "variants": [{"name": "a", "recipe": "demo"}, {"name": "b, wide", "recipe": "demo", "set": ["train.steps=1"]}],
    "measures": [
      {"verb": "stability",
       "values": [{"label": "loss", "pointer": "/loss/0", "paper": "rises"}],
       "curves": [{"label": "curve", "pointer": "/loss", "x": "pass", "y": "loss (nats)", "first_x": 1, "log_y": true}]
},
      {"verb": "gate", "variants": ["a"], "values": [{"label": "gate", "pointer": "/gate"}]}],
    "checks": [
      {"expected": "rises by 1.5", "variant": "a", "pointer": "/loss/1", "above": {"pointer": "/loss/0"}, "by": 1.5},
      {"expected": "b below a", "variant": "b, wide", "pointer": "/loss/1", "below": {"variant": "a"}},
      {"expected": "gate above 0.9", "variant": "a", "measure": 1, "pointer": "/gate", "above": 0.9}]
})json");
}

Finding two_variants() { return finding_from_json("f", two_variants_json()); }

FindingResults results() {
  return nlohmann::json::parse(
      R"({"a": {"1": [{"loss": [1.0, 3.0]}, {"gate": 0.95}], "2": [{"loss": [2.0, 3.5]}, {"gate": 0.9}]},
          "b, wide": {"1": [{"loss": [0.5, 0.5]}, null], "2": [{"loss": [null, 3.5]}, null]}})");
}

TEST_F(ReproduceTest, ValuesAreGivenOverSeedsWithTheirRange) {
  const auto rows = value_rows(two_variants(), results());
  ASSERT_EQ(rows.size(), 3U) << "the second verb is of one variant alone";
  EXPECT_EQ(rows[0].by_seed, (std::vector<double>{1, 2}));
  EXPECT_DOUBLE_EQ(rows[0].mean(), 1.5);
  EXPECT_DOUBLE_EQ(rows[0].smallest(), 1);
  EXPECT_DOUBLE_EQ(rows[0].largest(), 2);
  EXPECT_TRUE(std::isnan(rows[1].mean()) && std::isnan(rows[1].smallest()) && std::isnan(rows[1].largest()));
  EXPECT_EQ(rows[2].label, "gate");
}

TEST_F(ReproduceTest, CurvesGiveARowAPoint) {
  const Finding finding = two_variants();
  const auto points = curve_points(finding, results());
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[1].x, 2);
  EXPECT_EQ(points[1].row.by_seed, (std::vector<double>{3, 3.5}));
  const std::string csv = to_csv(finding, points);
  EXPECT_NE(csv.find("curve,x axis,y axis,log y,variant,x,seed 1,seed 2,mean,smallest,largest\n"), std::string::npos);
  EXPECT_NE(csv.find("\"curve\",\"pass\",\"loss (nats)\",1,\"b, wide\",2,0.5,3.5,2,0.5,3.5\n"), std::string::npos)
      << csv;
}

TEST_F(ReproduceTest, ExpectationsAreCountedOverSeeds) {
  const auto checks = checked_seeds(two_variants(), results());
  ASSERT_EQ(checks.size(), 3U);
  EXPECT_EQ(checks[0].held, 1U) << "by exactly 1.5 is not by more";
  EXPECT_EQ(checks[1].held, 1U);
  EXPECT_EQ(checks[2].held, 1U);
  EXPECT_EQ(checks[2].seeds, 2U);
}

TEST_F(ReproduceTest, WhatCannotBeReadIsNamed) {
  nlohmann::json object = two_variants_json();
  object["measures"][0]["values"][0]["pointer"] = "/loss/9";
  EXPECT_THROW(value_rows(finding_from_json("f", object), results()), engine::FormatError);
  object = two_variants_json();
  object["checks"][2]["variant"] = "b, wide";
  EXPECT_THROW(finding_from_json("f", object), engine::FormatError) << "that measure is not taken of it";
  object = two_variants_json();
  object.erase("claim");
  EXPECT_THROW(finding_from_json("f", object), engine::FormatError);
}

TEST_F(ReproduceTest, ThePageHoldsExpectationsSeedsAndOrigin) {
  const Finding finding = two_variants();
  const std::string page = to_markdown(finding, results(), {"fullband-cli reproduce f", "2026-01-02", 1, 61.4, 3});
  for (const char* part : {"| rises by 1.5 | in 1 of 2 seeds |", "| loss | a | rises | 1.5 | 1 to 2 | 1, 2 |",
                           "Seeds 1, 2. Made on 2026-01-02 with 1 thread", "    fullband-cli reproduce f\n",
                           "training took 61 s, measuring 3 s"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_NE(to_csv(finding, value_rows(finding, results())).find("\"loss\",\"b, wide\",0.5,nan"), std::string::npos);
}

TEST_F(ReproduceTest, EveryFindingThatShipsReads) {
  ASSERT_FALSE(finding_names().empty());
  for (const std::string& name : finding_names()) {
    const Finding finding = find_finding(name);
    EXPECT_GE(finding.seeds.size(), 3U) << name;
    EXPECT_FALSE(finding.variants.empty()) << name;
    EXPECT_FALSE(finding.measures.empty()) << name;
    for (const FindingVariant& variant : finding.variants) {
      EXPECT_TRUE(resources::find("recipes/" + variant.recipe + ".json")) << variant.recipe;
    }
  }
  expect_refused(call({"reproduce", "no-such"}), 2, "no-such");
}

TEST_F(ReproduceTest, ATinyReproductionTrainsMeasuresAndGoesOn) {
  std::vector<std::string> arguments = {"reproduce", "two-or-three-passes", "--out", path("f"), "--seeds", "1",
                                        "--json"};
  for (const char* setting : {"model.dim=16", "model.layers=2", "model.heads=2", "model.kv_heads=2", "model.ffn=24",
                              "train.rows=4", "train.steps=4", "train.validate_every=0"}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  const Printed first = call(arguments);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.json()["two-or-three-passes"]["K up to 2"]["1"][0]["loss"].size(), 31U);
  EXPECT_TRUE(std::filesystem::exists(path("f/two-or-three-passes/table.md")));
  EXPECT_TRUE(std::filesystem::exists(path("f/two-or-three-passes/curves.csv")));
  const Printed again = call(arguments);
  EXPECT_EQ(again.json(), first.json());
}

}  // namespace
}  // namespace app::cli
