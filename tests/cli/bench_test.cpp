// bench: what it prints for tiny sizes, that a step allocates nothing, and what it refuses.
#include "app/cli/bench.h"

#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

class BenchTest : public CliTest {
 protected:
  static std::vector<std::string> tiny(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "bench", "--dim", "16", "--layers", "2", "--heads",   "2", "--ffn",     "24", "--vocab",       "32", "--batch",
        "4",     "--seq", "8",  "--decode", "4", "--threads", "1", "--repeats", "2",  "--decode-rows", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(BenchTest, OneObjectWithEveryFigure) {
  const Printed printed = call(tiny({"--json"}));
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(std::count(printed.out.begin(), printed.out.end(), '\n'), 1);
  const nlohmann::json result = printed.json();
  for (const char* passes : {"1", "2", "3"}) {
    EXPECT_GT(result["train_tokens_per_s"][passes].get<double>(), 0) << passes;
    const nlohmann::json& parts = result["step_parts"][passes];
    double sum = 0;
    for (const char* part : {"data_ms", "forward_ms", "backward_ms", "optimiser_ms"}) sum += parts[part].get<double>();
    EXPECT_GT(sum, 0);
    EXPECT_GT(parts["whole_ms"].get<double>(), 0);
  }
  for (const char* mode : {"standard", "soft", "fused"}) {
    EXPECT_GT(result["decode_ms_per_token"][mode].get<double>(), 0) << mode;
  }
  for (const char* figure : {"product_ceiling_gflops", "share_of_ceiling", "prefill_tokens_per_s", "peak_memory_mib",
                             "batched_decode_speedup"}) {
    EXPECT_GT(result[figure].get<double>(), 0) << figure;
  }
  EXPECT_EQ(result["sizes"]["dim"], 16);
  EXPECT_EQ(result["sizes"]["kv_heads"], 2);
}

TEST_F(BenchTest, AStepTakesNothingFromTheHeapOrTheDevice) {
  EXPECT_EQ(call(tiny({"--json"})).json()["allocations_per_step"], 0);
  EXPECT_EQ(call(tiny({"--json", "--recompute"})).json()["allocations_per_step"], 0);
}

TEST_F(BenchTest, WordsAndProgressInTheirPlaces) {
  const Printed printed = call(tiny({"--passes", "1,4"}));
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_NE(printed.out.find("GFLOP/s"), std::string::npos) << printed.out;
  EXPECT_NE(printed.err.find("training, K = 4"), std::string::npos) << printed.err;
  EXPECT_EQ(printed.err.find("K = 2"), std::string::npos);
}

TEST_F(BenchTest, CountsTheProductsOfAStep) {
  BenchSettings settings;
  settings.model.dim = 8;
  settings.model.layers = 1;
  settings.model.heads = settings.model.kv_heads = 2;
  settings.model.ffn = 3;
  settings.model.vocab = 5;
  settings.batch = 1;
  settings.seq = 2;
  // A token: 8 x 24 for queries, keys and values, 8 x 8 out, 8 x 6 and 3 x 8 in the feed-forward part, 8 x 5 head;
  // attention sees 1 + 2 pairs, twice 8 multiply-adds each.
  EXPECT_EQ(step_flop_count(settings), 2 * 3 * (2 * (8 * 24 + 8 * 8 + 8 * 6 + 3 * 8 + 8 * 5) + 3 * 2 * 8));
}

TEST_F(BenchTest, SizesThatCannotBeAreRefusedByTheirOption) {
  const auto refused = [](const std::string& option, const std::string& value, const std::string& part) {
    expect_refused(call({"bench", option, value}), 2, part);
  };
  refused("--heads", "3", "--dim");
  refused("--dim", "0", "--dim");
  refused("--vocab", "1", "--vocab");
  refused("--kv-heads", "3", "--heads");
  refused("--seq", "-4", "--seq");
  refused("--batch", "100000000", "--batch");
  refused("--passes", "0", "--passes");
  refused("--layers", "two", "--layers");
}

TEST_F(BenchTest, ADeviceThatIsNotThereIsRefusedByItsOption) {
  expect_refused(call({"bench", "--device", "foo"}), 2, "--device");
  expect_refused(call({"bench", "--batch", "99999999999"}), 2, "--batch");
}

}  // namespace
}  // namespace app::cli
