// Known answers of Random123 (Salmon et al. 2011), and the reader.
#include "kernels/philox.h"

#include <gtest/gtest.h>

namespace {

using kernels::philox_block;
using kernels::PhiloxReader;
using kernels::PhiloxStream;
using kernels::Purpose;
using Words = std::array<std::uint32_t, 4>;

constexpr Purpose kNoPurpose{};  // leaves the counter's last word as given

TEST(Philox, KnownAnswerOfZeros) {
  EXPECT_EQ(philox_block({0, kNoPurpose, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, KnownAnswerOfOnes) {
  EXPECT_EQ(philox_block({~0ULL, kNoPurpose, ~0ULL, 0}, ~0ULL),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, KnownAnswerOfPi) {
  EXPECT_EQ(philox_block({0x299f31d0a4093822ULL, kNoPurpose, 0x0370734413198a2eULL, 0}, 0x85a308d3243f6a88ULL),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EveryCoordinateChangesTheStream) {
  const PhiloxStream base{1, Purpose::jitter, 2, 3};
  const Words words = philox_block(base, 0);
  EXPECT_NE(words, philox_block({2, Purpose::jitter, 2, 3}, 0));
  EXPECT_NE(words, philox_block({1, Purpose::sampling, 2, 3}, 0));
  EXPECT_NE(words, philox_block({1, Purpose::jitter, 3, 3}, 0));
  EXPECT_NE(words, philox_block({1, Purpose::jitter, 2, 4}, 0));
  EXPECT_NE(words, philox_block(base, 1));
}

TEST(Philox, ReaderFollowsTheBlocks) {
  const PhiloxStream stream{7, Purpose::sampling, 1, 0};
  PhiloxReader reader(stream);
  for (std::uint64_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word : philox_block(stream, block)) EXPECT_EQ(reader.next_word(), word);
  }
}

TEST(Philox, UnitNumbersFillTheUnitInterval) {
  EXPECT_EQ(kernels::unit_float(0), 0.0F);
  EXPECT_LT(kernels::unit_float(~0U), 1.0F);
  PhiloxReader reader({7, Purpose::sampling, 1, 0});
  double sum = 0.0;
  for (int i = 0; i < 10000; ++i) sum += static_cast<double>(reader.next_unit());
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Philox, NextBelowStaysBelowAndReachesAll) {
  PhiloxReader reader({7, Purpose::shuffling, 1, 0});
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) ++seen.at(reader.next_below(5));
  for (const int count : seen) EXPECT_NEAR(count, 200, 60);
}

}  // namespace
