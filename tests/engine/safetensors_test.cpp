#include "engine/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/atomic_file.h"
#include "engine/config.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "tests/support/sample_checkpoint.h"
#include "tests/support/temporary_folder.h"

namespace {

using engine::DType;
using engine::FormatError;
using engine::HostTensor;
using engine::read_safetensors;
using engine::SafetensorsFile;
using engine::StoredTensor;
using testing::HasSubstr;

/// A file with this header and so many bytes of data.
std::string file_with(const std::string& header, std::size_t data_bytes) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, 'x');
}

SafetensorsFile read_text(const std::string& bytes) {
  return read_safetensors(std::as_bytes(std::span(bytes)), "t.safetensors");
}

/// The message of the FormatError, "" if the bytes are taken; from a file they must be treated the same.
std::string refusal(const std::string& bytes) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "t.safetensors", std::ios::binary) << bytes;
  std::string from_file;
  try {
    read_safetensors(folder / "t.safetensors");
  } catch (const FormatError& error) {
    from_file = error.what();
  }
  std::string from_memory;
  try {
    read_text(bytes);
  } catch (const FormatError& error) {
    from_memory = error.what();
  }
  EXPECT_EQ(from_file.empty(), from_memory.empty()) << bytes;
  return from_memory;
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST(Safetensors, TakesValidFiles) {
  EXPECT_EQ(refusal(file_with("{}", 0)), "");
  EXPECT_EQ(refusal(file_with("{}   ", 0)), "");
  EXPECT_EQ(refusal(file_with("{\"a\":" + tensor("F32", "[2]", "[0,8]") + "}", 8)), "");
  EXPECT_EQ(refusal(file_with("{\"a\":" + tensor("F32", "[]", "[0,4]") + "}", 4)), "");
  EXPECT_EQ(refusal(file_with("{\"a\":" + tensor("F32", "[0,3]", "[0,0]") + "}", 0)), "");
  EXPECT_EQ(refusal(file_with("{\"b\":" + tensor("U8", "[1]", "[0,1]") + ",\"a\":" + tensor("U8", "[2]", "[1,3]") +
                                  ",\"__metadata__\":{\"k\":\"v\"}}",
                              3)),
            "");
}

TEST(Safetensors, RefusesBadLengths) {
  EXPECT_THAT(refusal(file_with("{\"a\":" + tensor("F32", "[2]", "[0,8]") + "}", 7)),
              HasSubstr("is cut off; take another copy: the tensors end at byte 8"));
  EXPECT_THAT(refusal(file_with("{\"a\":" + tensor("F32", "[2]", "[0,8]") + "}", 9)),
              HasSubstr("the tensors end at byte 8 of the data, the file at byte 9"));
  EXPECT_THAT(refusal(""), HasSubstr("at least 8 bytes"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("at least 8 bytes"));
  EXPECT_THAT(refusal(std::string(8, '\xff')), HasSubstr("limit"));
  const std::string valid = file_with("{\"a\":" + tensor("F32", "[2]", "[0,8]") + "}", 8);
  for (std::size_t cut = 0; cut < valid.size(); ++cut) {
    EXPECT_NE(refusal(valid.substr(0, cut)), "") << cut;
  }
  EXPECT_THAT(refusal(valid + "x"), HasSubstr("end at byte 8"));
  // 100,000,001 bytes said, none there.
  std::string huge(8, '\0');
  const std::uint64_t length = 100'000'001;
  std::memcpy(huge.data(), &length, 8);
  EXPECT_THAT(refusal(huge), HasSubstr("limit"));
}

TEST(Safetensors, RefusesBadHeaders) {
  for (const char* header : {"", " {}", "[]", "3", "{", "{}x", "{}{}", "\"a\"", "{\"a\":1}", "{\"a\":{}}",
                             "{\"__metadata__\":[]}", "{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":{\"a\":null}}",
                             "{\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}}"}) {
    EXPECT_NE(refusal(file_with(header, 0)), "") << header;
  }
  EXPECT_NE(refusal(file_with(std::string("{}\0", 3), 0)), "");
}

TEST(Safetensors, RefusesBadTensors) {
  const std::vector<std::pair<std::string, std::size_t>> cases = {
      {tensor("F33", "[2]", "[0,8]"), 8},
      {tensor("f32", "[2]", "[0,8]"), 8},
      {tensor("F8_E4M3", "[8]", "[0,8]"), 8},
      {tensor("F32", "[-2]", "[0,8]"), 8},
      {tensor("F32", "[-0]", "[0,0]"), 0},
      {tensor("F32", "[2.0]", "[0,8]"), 8},
      {tensor("F32", "[2e0]", "[0,8]"), 8},
      {tensor("F32", "[\"2\"]", "[0,8]"), 8},
      {tensor("F32", "2", "[0,8]"), 8},
      {tensor("F32", "[3]", "[0,8]"), 8},
      {tensor("F32", "[2]", "[0,7]"), 7},
      {tensor("F32", "[2]", "[1,9]"), 9},
      {tensor("F32", "[2]", "[8,0]"), 8},
      {tensor("F32", "[2]", "[0]"), 8},
      {tensor("F32", "[2]", "[0,8,8]"), 8},
      {tensor("F32", "[2]", "[-8,0]"), 8},
      {tensor("F32", "[2]", "[0,18446744073709551624]"), 8},
      {tensor("F32", "[4611686018427387904,4]", "[0,0]"), 0},      // overflows to 0
      {tensor("F32", "[2305843009213693953,2,4]", "[0,32]"), 32},  // overflows to 32
      {tensor("F32", "[9223372036854775807,9223372036854775807]", "[0,4]"), 4},
      {tensor("F32", "[18446744073709551618]", "[0,8]"), 8},
      {R"({"dtype":"F32","shape":[2]})", 8},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1})", 8},
      {R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})", 8},
      {R"({"dtype":7,"shape":[2],"data_offsets":[0,8]})", 8},
  };
  for (const auto& [object, data] : cases) {
    EXPECT_THAT(refusal(file_with("{\"a\":" + object + "}", data)), HasSubstr("t.safetensors")) << object;
  }
}

TEST(Safetensors, RefusesTensorsThatAreNotContiguous) {
  const auto two = [](const std::string& a, const std::string& b, std::size_t data) {
    return refusal(file_with("{\"a\":" + tensor("U8", "[2]", a) + ",\"b\":" + tensor("U8", "[2]", b) + "}", data));
  };
  EXPECT_EQ(two("[0,2]", "[2,4]", 4), "");
  EXPECT_EQ(two("[2,4]", "[0,2]", 4), "");
  EXPECT_NE(two("[0,2]", "[3,5]", 5), "");  // a hole
  EXPECT_NE(two("[0,2]", "[1,3]", 3), "");  // shared bytes
  EXPECT_NE(two("[0,2]", "[0,2]", 2), "");
  EXPECT_NE(two("[0,2]", "[2,4]", 5), "");
  EXPECT_NE(
      refusal(file_with("{\"a\":" + tensor("U8", "[1]", "[0,1]") + ",\"a\":" + tensor("U8", "[1]", "[1,2]") + "}", 2)),
      "");
}

TEST(Safetensors, NamesAreShownEscaped) {
  const std::string message = refusal(file_with(R"({"../a\n\u0000b":{}})", 0));
  EXPECT_THAT(message, HasSubstr("../a\\x0A\\x00b"));
  EXPECT_THAT(message, testing::Not(HasSubstr("\n")));
}

TEST(Safetensors, WritesSortedAlignedAndPadded) {
  const std::vector<StoredTensor> tensors = {{"z", DType::u8, {3}, std::vector<std::byte>(3, std::byte{1})},
                                             {"b", DType::f32, {1}, std::vector<std::byte>(4, std::byte{2})},
                                             {"a", DType::f32, {1}, std::vector<std::byte>(4, std::byte{3})},
                                             {"y", DType::f64, {1}, std::vector<std::byte>(8, std::byte{4})}};
  const std::string bytes = engine::safetensors_bytes(tensors, {{"k", "v"}});
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const SafetensorsFile file = read_text(bytes);
  std::vector<std::string> names;
  for (const StoredTensor& stored : file.tensors) {
    names.push_back(stored.name);
    EXPECT_EQ(stored, *std::find_if(tensors.begin(), tensors.end(), [&](auto& t) { return t.name == stored.name; }));
  }
  EXPECT_THAT(names, testing::ElementsAre("y", "a", "b", "z"));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"k", "v"}}));
  std::vector<StoredTensor> reversed(tensors.rbegin(), tensors.rend());
  EXPECT_EQ(engine::safetensors_bytes(reversed, {{"k", "v"}}), bytes);
}

TEST(Safetensors, RefusesToWriteNonsense) {
  EXPECT_THROW(engine::safetensors_bytes({{"a", DType::f32, {2}, std::vector<std::byte>(4)}}), engine::Error);
  EXPECT_THROW(engine::safetensors_bytes({{"a", DType::f32, {-1, -1}, std::vector<std::byte>(4)}}), engine::Error);
  EXPECT_THROW(engine::safetensors_bytes({{"a\xff", DType::f32, {}, std::vector<std::byte>(4)}}), engine::Error);
  EXPECT_THROW(engine::safetensors_bytes(
                   {{"a", DType::u8, {}, std::vector<std::byte>(1)}, {"a", DType::f32, {}, std::vector<std::byte>(4)}}),
               engine::Error);
}

TEST(Safetensors, HostTensorsRoundTripBitForBit) {
  const support::TemporaryFolder folder;
  std::vector<HostTensor> tensors = support::noise_like(engine::parameter_layout(support::sample_config()), 5);
  tensors[0].values[0] = -0.0F;
  tensors[0].values[1] = 1e-42F;
  tensors[0].values[2] = INFINITY;
  engine::write_safetensors(folder / "a.safetensors", tensors);
  const SafetensorsFile file = read_safetensors(folder / "a.safetensors");
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const HostTensor& written : tensors) {
    const std::vector<float> values = file.at(written.name).to_float();
    EXPECT_EQ(file.at(written.name).shape, written.shape);
    EXPECT_EQ(std::memcmp(values.data(), written.values.data(), values.size() * 4), 0) << written.name;
  }
  EXPECT_TRUE(file.has(tensors[0].name));
  EXPECT_FALSE(file.has("nothing"));
  EXPECT_THROW(static_cast<void>(file.at("nothing")), FormatError);
}

template <typename Element>
StoredTensor stored(DType dtype, const std::vector<Element>& values) {
  StoredTensor result{"t", dtype, {static_cast<std::int64_t>(values.size())}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  result.bytes.assign(bytes.begin(), bytes.end());
  return result;
}

TEST(StoredTensor, ConvertsEveryDtype) {
  using testing::ElementsAre;
  EXPECT_THAT(stored<double>(DType::f64, {0.1, -2}).to_double(), ElementsAre(0.1, -2));
  EXPECT_THAT(stored<double>(DType::f64, {0.1}).to_float(), ElementsAre(0.1F));
  EXPECT_THAT(stored<float>(DType::f32, {0.1F}).to_double(), ElementsAre(static_cast<double>(0.1F)));
  EXPECT_THAT(stored<std::int64_t>(DType::i64, {-5, 1LL << 60}).to_int64(), ElementsAre(-5, 1LL << 60));
  EXPECT_THAT(stored<std::int32_t>(DType::i32, {-5}).to_int64(), ElementsAre(-5));
  EXPECT_THAT(stored<std::int16_t>(DType::i16, {-5}).to_float(), ElementsAre(-5));
  EXPECT_THAT(stored<std::int8_t>(DType::i8, {-5}).to_int64(), ElementsAre(-5));
  EXPECT_THAT(stored<std::uint64_t>(DType::u64, {5}).to_int64(), ElementsAre(5));
  EXPECT_THAT(stored<std::uint32_t>(DType::u32, {4000000000}).to_int64(), ElementsAre(4000000000));
  EXPECT_THAT(stored<std::uint16_t>(DType::u16, {65535}).to_double(), ElementsAre(65535));
  EXPECT_THAT(stored<std::uint8_t>(DType::u8, {255}).to_int64(), ElementsAre(255));
  EXPECT_THAT(stored<std::uint8_t>(DType::boolean, {0, 1}).to_int64(), ElementsAre(0, 1));
  EXPECT_THROW(static_cast<void>(stored<std::uint64_t>(DType::u64, {1ULL << 63U}).to_int64()), engine::Error);
  EXPECT_THROW(static_cast<void>(stored<float>(DType::f32, {1}).to_int64()), engine::Error);
}

TEST(StoredTensor, ConvertsHalfWidthFloats) {
  // 1, -2, largest, smallest subnormal, smallest normal, infinity, -0 of binary16 (IEEE 754).
  const std::vector<float> half =
      stored<std::uint16_t>(DType::f16, {0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0x7c00, 0x8000, 0x7e00}).to_float();
  EXPECT_EQ(half[0], 1.0F);
  EXPECT_EQ(half[1], -2.0F);
  EXPECT_EQ(half[2], 65504.0F);
  EXPECT_EQ(half[3], std::ldexp(1.0F, -24));
  EXPECT_EQ(half[4], std::ldexp(1.0F, -14));
  EXPECT_TRUE(std::isinf(half[5]));
  EXPECT_TRUE(half[6] == 0.0F && std::signbit(half[6]));
  EXPECT_TRUE(std::isnan(half[7]));
  const std::vector<float> brain = stored<std::uint16_t>(DType::bf16, {0x3f80, 0xc000, 0x4049}).to_float();
  EXPECT_EQ(brain[0], 1.0F);
  EXPECT_EQ(brain[1], -2.0F);
  EXPECT_EQ(brain[2], 3.140625F);
}

TEST(Safetensors, GoldenFilesRead) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(FULLBAND_TEST_DIR) + "/golden")) {
    const SafetensorsFile file = read_safetensors(entry.path());
    const auto config = engine::parse_json(file.metadata.at("config"), "config");
    EXPECT_NO_THROW(engine::model_config_from_json(config).validate()) << entry.path();
    EXPECT_EQ(file.at("tokens").dtype, DType::i64);
    EXPECT_EQ(file.at("tokens").to_int64().size(), file.at("targets").to_int64().size());
    ++files;
  }
  EXPECT_GE(files, 7);
}

TEST(SafetensorsIndex, ReadsAllShards) {
  const support::TemporaryFolder folder;
  engine::write_safetensors(folder / "m-1.safetensors", {{"a", {2}, {1, 2}}});
  engine::write_safetensors(folder / "m-2.safetensors", {{"b", {1}, {3}}});
  const auto index = folder / "model.safetensors.index.json";
  const auto write_index = [&](const std::string& map) {
    engine::write_file_atomically(index, R"({"metadata": {}, "weight_map": )" + map + "}");
  };
  write_index(R"({"a": "m-1.safetensors", "b": "m-2.safetensors"})");
  const SafetensorsFile file = engine::read_safetensors_index(index);
  EXPECT_THAT(file.at("a").to_float(), testing::ElementsAre(1, 2));
  EXPECT_THAT(file.at("b").to_float(), testing::ElementsAre(3));
  for (const char* map :
       {R"({"a": "m-1.safetensors", "b": "m-1.safetensors"})", R"({"b": "m-1.safetensors"})",
        R"({"a": "../m-1.safetensors"})", R"({"a": "/m-1.safetensors"})", R"({"a": "m-1.pt"})", R"({"a": 1})", "[]"}) {
    write_index(map);
    EXPECT_THROW(engine::read_safetensors_index(index), FormatError) << map;
  }
  write_index(R"({"a": "m-3.safetensors"})");
  EXPECT_THROW(engine::read_safetensors_index(index), engine::FileError);
}

TEST(Safetensors, MissingFilesAreFileErrors) {
  EXPECT_THROW(read_safetensors("/no/such.safetensors"), engine::FileError);
  EXPECT_THROW(read_safetensors(std::filesystem::temp_directory_path()), engine::FileError);
}

}  // namespace
