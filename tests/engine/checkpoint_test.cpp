#include "engine/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/atomic_file.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/run_store.h"
#include "engine/safetensors.h"
#include "tests/support/sample_checkpoint.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using engine::Checkpoint;
using engine::FormatError;
using engine::HostTensor;
using engine::tensor_hash;
using support::sample_checkpoint;
using testing::HasSubstr;

/// Tensors come back in the order of the file, which is that of their names.
std::vector<HostTensor> sorted(std::vector<HostTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return tensors;
}

TEST(TensorHash, FollowsNamesShapesAndBitsButNotTheOrder) {
  const std::vector<HostTensor> tensors = {{"a", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"b", {1}, {0.0F}}};
  const std::string hash = tensor_hash(tensors);
  EXPECT_THAT(hash, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(tensor_hash({tensors[1], tensors[0]}), hash);
  std::vector<std::vector<HostTensor>> others(5, tensors);
  others[0][0].name = "c";
  others[1][0].shape = {3, 2};
  others[2][0].values[5] = 7;
  others[3][1].values[0] = -0.0F;
  others[4].pop_back();
  for (const auto& other : others) {
    EXPECT_NE(tensor_hash(other), hash);
  }
}

TEST(TensorHash, IsTheSameInEveryVersion) {
  // XXH64 of the count-prefixed fields, computed once by the library's own XXH64() called from Python.
  EXPECT_EQ(engine::tensor_hash({}), "ef46db3751d8e999");
  EXPECT_EQ(engine::tensor_hash({{"a", {2}, {1.0F, -2.5F}}}), "38dab4741b9cc837");
}

class CheckpointFolder : public testing::Test {
 protected:
  CheckpointFolder() { write_checkpoint_folder(folder_.path(), 7, sample_checkpoint(7)); }

  [[nodiscard]] fs::path at() const { return folder_ / "step-00000007"; }
  /// What reading complains of, "" if nothing.
  [[nodiscard]] std::string refusal() const {
    try {
      engine::read_checkpoint(at(), true);
    } catch (const engine::Error& error) {
      return error.what();
    }
    return "";
  }
  void rewrite(const char* file, const std::vector<HostTensor>& tensors) const {
    const auto metadata = engine::read_safetensors(at() / file).metadata;
    engine::write_safetensors(at() / file, tensors, metadata);
  }

  support::TemporaryFolder folder_;
};

TEST_F(CheckpointFolder, RoundTripsEverything) {
  const Checkpoint written = sample_checkpoint(7);
  const Checkpoint read = engine::read_checkpoint(at(), true);
  EXPECT_EQ(read.config, written.config);
  EXPECT_EQ(read.model, sorted(written.model));
  EXPECT_EQ(read.optim, sorted(written.optim));
  EXPECT_EQ(read.state, written.state);
  EXPECT_EQ(read.tokenizer, written.tokenizer);
  EXPECT_TRUE(engine::read_checkpoint(at() / "", false).optim.empty());
}

TEST_F(CheckpointFolder, WithoutDoneIsRefused) {
  fs::remove(at() / "DONE");
  EXPECT_THAT(refusal(), HasSubstr("DONE"));
  EXPECT_THROW(engine::require_complete(at()), FormatError);
}

TEST_F(CheckpointFolder, MissingExtraAndMisshapenTensorsAreNamed) {
  for (const char* file : {"model.safetensors", "optim.safetensors"}) {
    const auto original = std::string(file)[0] == 'm' ? sample_checkpoint(7).model : sample_checkpoint(7).optim;
    auto tensors = original;
    const std::string name = tensors.back().name;
    tensors.pop_back();
    rewrite(file, tensors);
    EXPECT_THAT(refusal(), HasSubstr("tensor \"" + name + "\" is missing")) << file;
    EXPECT_THROW(engine::require_complete(at()), FormatError);
    tensors = original;
    tensors.push_back({"stray", {1}, {1}});
    rewrite(file, tensors);
    EXPECT_THAT(refusal(), HasSubstr("\"stray\" does not belong")) << file;
    EXPECT_THROW(engine::require_complete(at()), FormatError);
    tensors = original;
    tensors[0].shape = {tensors[0].shape[1], tensors[0].shape[0]};
    rewrite(file, tensors);
    EXPECT_THAT(refusal(), HasSubstr("shape")) << file;
    EXPECT_THROW(engine::require_complete(at()), FormatError);
    rewrite(file, original);
    EXPECT_EQ(refusal(), "");
  }
}

TEST_F(CheckpointFolder, ChangedNumbersAreNoticed) {
  auto tensors = sample_checkpoint(7).model;
  tensors[0].values[0] += 1;
  rewrite("model.safetensors", tensors);
  EXPECT_THAT(refusal(), HasSubstr("not those that were written"));
  engine::write_file_atomically(at() / "DONE", "");  // says only that it is finished
  EXPECT_EQ(refusal(), "");
}

TEST_F(CheckpointFolder, DamagedFilesAreRefused) {
  for (const char* file : {"model.safetensors", "optim.safetensors", "state.json", "DONE"}) {
    const std::string contents = engine::read_file(at() / file);
    engine::write_file_atomically(at() / file, contents.substr(0, contents.size() / 2));
    EXPECT_NE(refusal(), "") << file;
    fs::remove(at() / file);
    EXPECT_NE(refusal(), "") << file;
    EXPECT_ANY_THROW(engine::require_complete(at())) << file;
    engine::write_file_atomically(at() / file, contents);
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(CheckpointFolder, ASecondWriteOfAStepReplacesTheFirst) {
  Checkpoint other = sample_checkpoint(8);
  write_checkpoint_folder(folder_.path(), 7, other);
  EXPECT_EQ(engine::read_checkpoint(at(), true).model, sorted(other.model));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
  fs::remove(at() / "DONE");  // an unfinished one is replaced as well
  write_checkpoint_folder(folder_.path(), 7, sample_checkpoint(9));
  EXPECT_EQ(engine::read_checkpoint(at(), true).model, sorted(sample_checkpoint(9).model));
}

TEST(CheckpointNames, OnlyExactNamesCount) {
  EXPECT_EQ(engine::checkpoint_folder_name(1234), "step-00001234");
  EXPECT_EQ(engine::checkpoint_step("step-00001234"), 1234);
  EXPECT_EQ(engine::checkpoint_step("step-1234567890"), 1234567890);
  for (const char* name : {"step-1234", "step-00001234x", "step-", "step-0000-234", "step-99999999999999999999",
                           ".tmp-step-00001234", "step-00001234.aside-1", "xstep-00001234"}) {
    EXPECT_EQ(engine::checkpoint_step(name), std::nullopt) << name;
  }
}

TEST(ModelFile, CarriesConfigurationAndTokenizer) {
  const support::TemporaryFolder folder;
  const Checkpoint written = sample_checkpoint(3);
  engine::write_model_file(folder / "demo.safetensors", written);
  const std::string bytes = engine::read_file(folder / "demo.safetensors");
  for (const Checkpoint& read : {engine::read_model_file(folder / "demo.safetensors"),
                                 engine::read_model_bytes(std::as_bytes(std::span(bytes)), "demo")}) {
    EXPECT_EQ(read.config, written.config);
    EXPECT_EQ(read.tokenizer, written.tokenizer);
    EXPECT_EQ(read.model, sorted(written.model));
  }
}

TEST(ModelFile, RefusesWhatDoesNotFitTheConfiguration) {
  const support::TemporaryFolder folder;
  const fs::path file = folder / "m.safetensors";
  const auto refusal = [&](const auto& change) -> std::string {
    Checkpoint checkpoint = sample_checkpoint(3);
    change(checkpoint);
    engine::write_model_file(file, checkpoint);
    try {
      engine::read_model_file(file);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](Checkpoint&) {}), "");
  EXPECT_THAT(refusal([](Checkpoint& c) { c.model.pop_back(); }), HasSubstr("is missing"));
  EXPECT_THAT(refusal([](Checkpoint& c) { c.config.vocab = 11; }), HasSubstr("has shape"));
  EXPECT_THAT(refusal([](Checkpoint& c) { c.config.tied = false; }), HasSubstr("is missing"));
  EXPECT_THAT(refusal([](Checkpoint& c) { c.config.heads = 3; }), HasSubstr("model.dim"));
  engine::write_safetensors(file, sample_checkpoint(3).model);
  EXPECT_THROW(engine::read_model_file(file), FormatError);
}

}  // namespace
