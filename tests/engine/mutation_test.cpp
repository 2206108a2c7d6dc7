// Thousands of deterministic mutations of valid files: each must be read or refused with a typed error, never anything
// else. Run under AddressSanitizer (preset asan) it also finds reads out of bounds.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "tests/fuzz/fuzz_targets.h"
#include "tests/support/sample_checkpoint.h"

namespace {

constexpr std::array<const char*, 12> kNastyNumbers = {
    "-1",         "0",    "1.5", "1e400", "-0", "9223372036854775807", "9223372036854775808", "18446744073709551616",
    "4294967296", "null", "NaN", "\"2\""};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t changes = 1 + below(2);
    for (std::size_t i = 0; i < changes; ++i) {
      change(text);
    }
    return text;
  }
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  void change(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(random_()));
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        replace_number(text, at);
    }
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void replace_number(std::string& text, std::size_t at) {
    while (at < text.size() && !is_digit(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    text.replace(at, end - at, kNastyNumbers[below(kNastyNumbers.size())]);
  }

  std::mt19937_64 random_;
};

/// Splits off the header, changes it, and sets its length right again, so that mutations reach past the first check.
std::string mutate_header(Mutator& mutator, const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  const std::string header = mutator.mutate(file.substr(8, length));
  const std::uint64_t new_length = header.size();
  std::string result(8, '\0');
  std::memcpy(result.data(), &new_length, 8);
  return result + header + file.substr(8 + length);
}

std::string small_safetensors() {
  return engine::safetensors_bytes({{"a", engine::DType::f32, {2, 1}, std::vector<std::byte>(8, std::byte{7})},
                                    {"b", engine::DType::i64, {1}, std::vector<std::byte>(8, std::byte{9})},
                                    {"c", engine::DType::bf16, {0, 3}, {}}},
                                   {{"config", "{}"}});
}

std::string small_model() {
  const engine::Checkpoint checkpoint = support::sample_checkpoint(1);
  std::vector<engine::StoredTensor> tensors;
  for (const engine::HostTensor& tensor : checkpoint.model) {
    const auto bytes = std::as_bytes(std::span(tensor.values));
    tensors.push_back({tensor.name, engine::DType::f32, tensor.shape, {bytes.begin(), bytes.end()}});
  }
  return engine::safetensors_bytes(tensors, {{"config", engine::dump_json(to_json(checkpoint.config))},
                                             {"tokenizer", engine::dump_json(checkpoint.tokenizer)}});
}

TEST(Mutations, Safetensors) {
  Mutator mutator(1);
  const std::string valid = small_safetensors();
  ASSERT_TRUE(fuzz::safetensors_target(std::as_bytes(std::span(valid))));
  int taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string bytes = i % 4 == 0 ? mutator.mutate(valid) : mutate_header(mutator, valid);
    ASSERT_NO_THROW(taken += fuzz::safetensors_target(std::as_bytes(std::span(bytes))) ? 1 : 0) << i;
  }
  // Some mutations change a name or a value only; if nearly none were taken the mutations would test one check alone.
  EXPECT_GT(taken, 50);
  EXPECT_LT(taken, 5000);
}

TEST(Mutations, Models) {
  Mutator mutator(2);
  const std::string valid = small_model();
  ASSERT_TRUE(fuzz::model_target(std::as_bytes(std::span(valid))));
  for (int i = 0; i < 1'500; ++i) {
    const std::string bytes = mutate_header(mutator, valid);
    ASSERT_NO_THROW(fuzz::model_target(std::as_bytes(std::span(bytes)))) << i;
  }
}

TEST(Mutations, Recipes) {
  Mutator mutator(3);
  engine::Recipe recipe;
  recipe.data.tasks = {{{"name", "completion"}, {"share", 0.5}}};
  const std::string valid = engine::dump_json(to_json(recipe), 1);
  ASSERT_TRUE(fuzz::recipe_target(valid));
  int taken = 0;
  for (int i = 0; i < 4'000; ++i) {
    const std::string text = mutator.mutate(valid);
    ASSERT_NO_THROW(taken += fuzz::recipe_target(text) ? 1 : 0) << text;
  }
  EXPECT_GT(taken, 50);
}

TEST(Mutations, MetricsLines) {
  Mutator mutator(4);
  const std::string valid = R"({"step": 12, "train/loss": NaN, "lr": "Infinity", "wall": 1.5, "note": "a \"NaN\" b"})";
  ASSERT_TRUE(fuzz::metrics_target(valid));
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = mutator.mutate(valid);
    ASSERT_NO_THROW(fuzz::metrics_target(text)) << text;
  }
}

}  // namespace
