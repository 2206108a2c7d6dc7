#include "tests/support/backend_fixture.h"

namespace {

using kernels::Write;
using support::Matrix;
using support::noise;

class EmbeddingTest : public support::BackendTest {};

TEST_P(EmbeddingTest, CopiesTheRowsOfItsTokens) {
  for (const std::int64_t n : {0, 1, 37, 900}) {
    const Matrix table = noise(11, 20, 1);
    const auto tokens = support::random_indices(n, 0, 11, 2);
    auto& y = poisoned(n, 20);
    backend().embed(device(table), device(tokens), y);
    const Matrix got = y.download();
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < 20; ++c) {
        EXPECT_EQ(got.at(r, c), table.at(tokens[static_cast<std::size_t>(r)], c));
      }
    }
  }
}

TEST_P(EmbeddingTest, GradientSumsRepeatedTokens) {
  for (const std::int64_t n : {0, 1, 37, 3000}) {
    const Matrix dy = noise(n, 36, 1), base = noise(11, 36, 3);
    const auto tokens = support::random_indices(n, 0, 10, 2);  // id 10 never occurs
    std::vector<double> expected(11 * 36, 0.0);
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < 36; ++c) {
        expected[static_cast<std::size_t>(tokens[static_cast<std::size_t>(r)] * 36 + c)] +=
            static_cast<double>(dy.at(r, c));
      }
    }
    auto& dtable = poisoned(11, 36);
    auto& sum = device(base);
    backend().embed_backward(device(dy), device(tokens), dtable, Write::assign);
    backend().embed_backward(device(dy), device(tokens), sum, Write::accumulate);
    support::expect_close("dtable", dtable.download(), expected);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += static_cast<double>(base.values[i]);
    support::expect_close("dtable, accumulated", sum.download(), expected);
  }
}

TEST_P(EmbeddingTest, AnIdOutsideTheTableIsAnErrorOrARowOfNaN) {
  auto& y = poisoned(2, 4);
  const Matrix host = noise(3, 4, 1);
  auto& table = device(host);
  if (!checks_indices()) {
    auto& tokens = device(std::vector<std::int32_t>{3, 2});
    backend().embed(table, tokens, y);
    EXPECT_TRUE(std::isnan(y.download().at(0, 0)));
    EXPECT_EQ(y.download().at(1, 0), host.at(2, 0));
    backend().embed_backward(device(noise(2, 4, 2)), tokens, table, Write::accumulate);
    EXPECT_EQ(table.download().at(1, 0), host.at(1, 0));
    return;
  }
  EXPECT_THROW(backend().embed(table, device(std::vector<std::int32_t>{0, 3}), y), kernels::ShapeError);
  EXPECT_THROW(backend().embed(table, device(std::vector<std::int32_t>{-1, 0}), y), kernels::ShapeError);
  EXPECT_TRUE(y.untouched());
}

FULLBAND_FOR_EVERY_BACKEND(EmbeddingTest);

}  // namespace
