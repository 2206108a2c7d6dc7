#include <cmath>
#include <fstream>

#include "app/cli/finding.h"
#include "engine/error.h"
#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using ReproduceTest = CliTest;

Finding two_variants() {
  Finding finding;
  finding.name = "f";
  finding.claim = "a claim";
  finding.paper = "Fig. 0";
  finding.seeds = {1, 2};
  finding.variants = {{"a", "demo", {}}, {"b, wide", "demo", {}}};
  finding.measures = {{"stability", {}, {{"loss", "/loss/0", "rises", false}, {"curve", "/loss", "", true}}}};
  return finding;
}

nlohmann::json results() {
  return nlohmann::json::parse(R"({"a": {"1": [{"loss": [1.0, 3.0]}], "2": [{"loss": [2.0, 5.0]}]},
                                   "b, wide": {"1": [{"loss": [0.5, 0.5]}], "2": [{"loss": [null, 0.5]}]}})");
}

TEST_F(ReproduceTest, ValuesAreAveragedOverSeedsWithTheirSpread) {
  const auto rows = summarize_finding(two_variants(), results(), false);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].by_seed, (std::vector<double>{1, 2}));
  EXPECT_DOUBLE_EQ(rows[0].mean(), 1.5);
  EXPECT_NEAR(rows[0].spread(), 0.70710678, 1e-8);
  EXPECT_TRUE(std::isnan(rows[1].mean()));
}

TEST_F(ReproduceTest, CurvesGiveARowAPoint) {
  const auto rows = summarize_finding(two_variants(), results(), true);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].label, "curve 1");
  EXPECT_EQ(rows[1].by_seed, (std::vector<double>{3, 5}));
}

TEST_F(ReproduceTest, APointerToNothingIsNamed) {
  Finding finding = two_variants();
  finding.measures[0].values[0].pointer = "/loss/9";
  EXPECT_THROW(summarize_finding(finding, results(), false), engine::FormatError);
}

TEST_F(ReproduceTest, TablesHoldEverySeedAndQuoteCommas) {
  const Finding finding = two_variants();
  const auto rows = summarize_finding(finding, results(), false);
  EXPECT_NE(to_markdown(finding, rows).find("| loss | a | rises | 1.5 | 0.7071 | 1, 2 |"), std::string::npos);
  EXPECT_NE(to_csv(finding, rows).find("\"loss\",\"b, wide\",0.5,nan"), std::string::npos);
}

TEST_F(ReproduceTest, EveryFindingThatShipsReads) {
  ASSERT_FALSE(finding_names().empty());
  for (const std::string& name : finding_names()) {
    const Finding finding = find_finding(name);
    EXPECT_GE(finding.seeds.size(), 3U) << name;
    EXPECT_FALSE(finding.variants.empty()) << name;
    EXPECT_FALSE(finding.measures.empty()) << name;
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
