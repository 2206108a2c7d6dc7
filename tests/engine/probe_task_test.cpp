// The paper's example sets as a model's tokens.
#include "engine/probe_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/data/task.h"
#include "engine/error.h"

namespace {

using engine::make_probe_task;
using engine::ProbeRequest;
using engine::ProbeTask;

engine::DataConfig trained_on(const std::vector<std::string>& names, std::int64_t seq) {
  engine::DataConfig data;
  for (const std::string& name : names) data.tasks.push_back({{"name", name}, {"share", 1}});
  data.seq = seq;
  return data;
}

std::unique_ptr<engine::data::Tokenizer> symbols_of(const engine::DataConfig& data) {
  std::vector<std::string> symbols;
  std::set<std::string> seen;
  for (const auto& task : data.tasks) {
    for (const std::string& symbol : engine::data::make_task({{"name", task["name"]}}, 0.1)->symbols()) {
      if (seen.insert(symbol).second) symbols.push_back(symbol);
    }
  }
  return engine::data::make_symbol_tokenizer(symbols);
}

ProbeTask make(const std::string& name, std::int64_t seq, std::int64_t most = 0,
               const std::vector<std::int64_t>& lengths = {}) {
  const auto data = trained_on({"completion", "memory", "registers"}, seq);
  return make_probe_task({name, lengths, most, 1}, *symbols_of(data), data);
}

TEST(ProbeTaskTest, CountsAreThePapers) {
  for (const auto& [name, count] : {std::pair{"completion", 1600U}, std::pair{"memory", 1280U},
                                    std::pair{"registers", 3840U}, std::pair{"overwrites", 3 * 2048U}}) {
    const ProbeTask task = make(name, 2000);
    EXPECT_EQ(task.prompts.size(), count) << name;
    EXPECT_TRUE(task.trained);
    EXPECT_TRUE(task.fits_training);
  }
  EXPECT_EQ(make("completion", 2000).lengths, (std::vector<std::int64_t>{0, 8, 32, 128, 256}));
}

TEST(ProbeTaskTest, EveryPromptEndsInTheSameColon) {
  for (const char* name : {"completion", "memory", "registers", "overwrites"}) {
    const ProbeTask task = make(name, 2000, 200);
    for (const auto& prompt : task.prompts) EXPECT_EQ(prompt.tokens.back(), task.prompts[0].tokens.back()) << name;
  }
}

TEST(ProbeTaskTest, LengthsAreThoseThatFitOrThoseTrained) {
  EXPECT_EQ(make("completion", 200).lengths, (std::vector<std::int64_t>{0, 8, 32}));
  const ProbeTask brief = make("memory", 40);
  EXPECT_EQ(brief.lengths, (std::vector<std::int64_t>{0, 1, 2, 4}));
  EXPECT_TRUE(brief.fits_training);
  const ProbeTask wanted = make("memory", 40, 0, {12, 0, 12});
  EXPECT_EQ(wanted.lengths, (std::vector<std::int64_t>{0, 12}));
  EXPECT_FALSE(wanted.fits_training);
}

TEST(ProbeTaskTest, FewerExamplesAreWholeGroupsFromAllOverTheSet) {
  const ProbeTask all = make("registers", 2000);
  const ProbeTask some = make("registers", 2000, 480);
  EXPECT_NEAR(static_cast<double>(some.prompts.size()), 480, 30);
  std::set<std::int64_t> kept;
  std::set<std::int64_t> slices;
  for (const auto& prompt : some.prompts) {
    kept.insert(prompt.group);
    slices.insert(prompt.slice);
  }
  EXPECT_EQ(slices, (std::set<std::int64_t>{1, 2, 4, 8}));
  const auto in_kept = [&](const auto& prompt) { return kept.count(prompt.group) > 0; };
  EXPECT_EQ(some.prompts.size(),
            static_cast<std::size_t>(std::count_if(all.prompts.begin(), all.prompts.end(), in_kept)));
}

TEST(ProbeTaskTest, OverwritesKeepGroupsOfDifferentWritesApart) {
  const ProbeTask task = make("overwrites", 2000);
  std::map<std::int64_t, std::int64_t> writes_of;
  for (const auto& prompt : task.prompts) {
    EXPECT_EQ(writes_of.emplace(prompt.group, prompt.slice).first->second, prompt.slice);
  }
  EXPECT_EQ(writes_of.size(), 3 * 128U);
}

TEST(ProbeTaskTest, AMissingWordNamesTheTaskThatWasNotTrained) {
  const auto data = trained_on({"completion", "memory"}, 44);
  try {
    make_probe_task({"registers", {}, 0, 1}, *symbols_of(data), data);
    FAIL() << "a vocabulary without registers must be refused";
  } catch (const engine::ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("not trained on registers"), std::string::npos) << message;
    EXPECT_NE(message.find("\"query\""), std::string::npos) << message;
  }
}

TEST(ProbeTaskTest, BytesShareTheAnswersBeginning) {
  const auto data = trained_on({}, 600);
  const auto tokenizer = engine::data::make_byte_tokenizer();
  const ProbeTask task = make_probe_task({"completion", {}, 0, 1}, *tokenizer, data);
  EXPECT_FALSE(task.trained);
  EXPECT_EQ(task.answers.shared, tokenizer->encode(" "));
  EXPECT_EQ(task.answers.zero, tokenizer->encode("m")[0]);
  EXPECT_EQ(task.answers.one, tokenizer->encode("d")[0]);
}

TEST(ProbeTaskTest, BadRequestsAreRefused) {
  EXPECT_THROW(make("division", 100), engine::ConfigError);
  EXPECT_THROW(make("registers", 100, 0, {4}), engine::ConfigError);
  EXPECT_THROW(make("memory", 100, 0, {-1}), engine::ConfigError);
}

}  // namespace
