// The engine against results of the float64 reference, and what happens with files that are not as they should be.
#include "engine/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/atomic_file.h"
#include "engine/error.h"
#include "engine/safetensors.h"
#include "tests/engine/support/test_model.h"
#include "tests/support/temporary_folder.h"

namespace {

using engine::GoldenCheck;

const std::filesystem::path kFolder = std::filesystem::path(FULLBAND_TEST_DIR) / "golden";

std::vector<GoldenCheck> check(const std::filesystem::path& file) {
  return engine::check_golden_file(file, *support::test_backend());
}

/// Names of the tensors that did not pass.
std::vector<std::string> failures(const std::vector<GoldenCheck>& checks) {
  std::vector<std::string> names;
  for (const GoldenCheck& c : checks) {
    if (!c.passed()) names.push_back(c.tensor);
  }
  return names;
}

std::string file_name(const ::testing::TestParamInfo<std::filesystem::path>& file) {
  return file.param.stem().string();
}

class GoldenTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenTest, EveryTensorIsWithinItsTolerance) {
  const auto checks = check(GetParam());
  EXPECT_GT(checks.size(), 60U);
  for (const GoldenCheck& c : checks) {
    EXPECT_TRUE(c.passed()) << c.tensor << " " << c.problem << ": error " << c.error << ", tolerance " << c.tolerance;
  }
}

TEST_P(GoldenTest, EveryExpectedTensorIsCompared) {
  const auto checks = check(GetParam());
  const std::vector<std::string> inputs = {"tokens", "targets", "plain", "jitter", "prompt"};
  for (const auto& tensor : engine::read_safetensors(GetParam()).tensors) {
    if (tensor.name.starts_with("param.") || std::count(inputs.begin(), inputs.end(), tensor.name) > 0) continue;
    const bool compared =
        std::any_of(checks.begin(), checks.end(), [&](const GoldenCheck& c) { return c.tensor == tensor.name; });
    EXPECT_TRUE(compared) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, ::testing::ValuesIn(engine::find_golden_files(kFolder)), file_name);

class ChangedGoldenTest : public ::testing::Test {
 protected:
  engine::SafetensorsFile original_ = engine::read_safetensors(kFolder / "gate_unit.safetensors");
  support::TemporaryFolder folder_;

  engine::StoredTensor& tensor(const std::string& name) {
    return *std::find_if(original_.tensors.begin(), original_.tensors.end(), [&](auto& t) { return t.name == name; });
  }
  void remove(const std::string& name) {
    std::erase_if(original_.tensors, [&](const auto& t) { return t.name == name; });
  }
  std::filesystem::path write() {
    const auto file = folder_ / "changed.safetensors";
    engine::write_file_atomically(file, engine::safetensors_bytes(original_.tensors, original_.metadata));
    return file;
  }
  std::string error_message() {
    try {
      check(write());
    } catch (const engine::FormatError& error) {
      return error.what();
    }
    return "no FormatError";
  }
};

TEST_F(ChangedGoldenTest, WrittenBackUnchangedItPasses) { EXPECT_TRUE(failures(check(write())).empty()); }

TEST_F(ChangedGoldenTest, OneCorruptedValueFailsThatTensorAlone) {
  // The exponent's last bit of the first number: twice or half of what it was.
  for (const char* name : {"grad.fusion.wu", "stability.update", "decode.fused.logits", "rebuild.k_rel_error.1"}) {
    const engine::StoredTensor before = tensor(name);
    auto& bytes = tensor(name).bytes;
    const std::size_t top = before.bytes.size() / static_cast<std::size_t>(before.elements()) - 1;
    std::size_t at = top;  // of a number that is not zero
    while (bytes[at] == std::byte{0}) at += top + 1;
    bytes[at - 1] ^= std::byte{0x80};
    EXPECT_EQ(failures(check(write())), std::vector<std::string>{name});
    tensor(name) = before;
  }
}

TEST_F(ChangedGoldenTest, ACorruptedParameterFailsEverythingThatDependsOnIt) {
  tensor("param.fusion.wu").bytes[2] ^= std::byte{0x7f};
  const auto names = failures(check(write()));
  EXPECT_GT(names.size(), 20U);
  EXPECT_EQ(std::count(names.begin(), names.end(), "logits_pass1"), 0) << "pass 1 has no fusion";
  EXPECT_EQ(std::count(names.begin(), names.end(), "logits_pass2"), 1);
}

TEST_F(ChangedGoldenTest, AMissingExpectedTensorIsAFailureThatNamesIt) {
  remove("grad.embed.weight");
  const auto checks = check(write());
  EXPECT_EQ(failures(checks), std::vector<std::string>{"grad.embed.weight"});
  const auto missing = std::find_if(checks.begin(), checks.end(), [](const auto& c) { return !c.passed(); });
  EXPECT_EQ(missing->problem, "is not in the file");
}

TEST_F(ChangedGoldenTest, AMissingInputOrParameterIsAFormatErrorThatNamesIt) {
  for (const char* name : {"tokens", "targets", "plain", "jitter", "prompt", "param.final_norm.gain"}) {
    const engine::StoredTensor before = tensor(name);
    remove(name);
    const std::string short_name = std::string(name).starts_with("param.") ? name + 6 : name;
    EXPECT_NE(error_message().find(short_name), std::string::npos) << error_message();
    original_.tensors.push_back(before);
  }
}

TEST_F(ChangedGoldenTest, InputsOfOtherSizesAreFormatErrors) {
  for (const char* name : {"targets", "plain", "jitter"}) {
    const engine::StoredTensor before = tensor(name);
    engine::StoredTensor& shorter = tensor(name);
    const std::size_t element = before.bytes.size() / static_cast<std::size_t>(before.elements());
    shorter.shape = {1, before.elements() - 1};
    shorter.bytes.resize(before.bytes.size() - element);
    EXPECT_NE(error_message().find(name), std::string::npos) << name << ": " << error_message();
    tensor(name) = before;
  }
}

TEST_F(ChangedGoldenTest, AFileWithoutConfigIsNotAGoldenFile) {
  original_.metadata.clear();
  EXPECT_NE(error_message().find("not a golden file"), std::string::npos);
}

TEST_F(ChangedGoldenTest, AConfigOfAnotherModelIsRefused) {
  original_.metadata["config"].replace(original_.metadata["config"].find("gate"), 4, "add");
  EXPECT_NE(error_message().find("fusion"), std::string::npos) << error_message();
}

TEST_F(ChangedGoldenTest, FoldersWithoutGoldenFilesAreNamed) {
  EXPECT_THROW(engine::find_golden_files(folder_.path()), engine::FileError);
  EXPECT_THROW(engine::find_golden_files(folder_ / "absent"), engine::FileError);
}

}  // namespace
