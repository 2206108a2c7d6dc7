// The CPU's products below the operations, against a double-precision triple loop.
#include "kernels/cpu/product.h"

#include <gtest/gtest.h>

#include "tests/support/matrix.h"

namespace {

using kernels::ConstView;
using kernels::View;
using kernels::cpu::Panels;
using kernels::cpu::TileLeft;
using kernels::cpu::TileRight;
using support::Matrix;
using support::noise;

ConstView view_of(const Matrix& m) { return {m.values.data(), m.rows, m.cols, m.cols}; }
View view_of(Matrix& m) { return {m.values.data(), m.rows, m.cols, m.cols}; }

/// base + a b
Matrix plain_product(const Matrix& a, const Matrix& b, const Matrix& base) {
  Matrix c(a.rows, b.cols);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t col = 0; col < c.cols; ++col) {
      double sum = static_cast<double>(base.at(r, col));
      for (std::int64_t k = 0; k < a.cols; ++k)
        sum += static_cast<double>(a.at(r, k)) * static_cast<double>(b.at(k, col));
      c.at(r, col) = static_cast<float>(sum);
    }
  }
  return c;
}

Matrix transposed(const Matrix& m) {
  Matrix t(m.cols, m.rows);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.cols; ++c) t.at(c, r) = m.at(r, c);
  }
  return t;
}

void expect_near(const Matrix& got, const Matrix& expected, double scale) {
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_NEAR(got.values[i], expected.values[i], 1e-6 * scale) << i;
  }
}

struct Sizes {
  std::int64_t rows, cols, depth;
};
// Tiles and panels that end early in every way, more than one block of rows and of the depth, and nothing at all.
constexpr Sizes kSizes[] = {{1, 1, 1},      {8, 32, 64},   {13, 33, 5}, {7, 16, 300},
                            {129, 47, 600}, {300, 80, 31}, {0, 16, 8},  {5, 20, 0}};

TEST(ProductTest, EveryFormMatchesTheTripleLoop) {
  for (const auto& [rows, cols, depth] : kSizes) {
    const Matrix a = noise(rows, depth, 1), b = noise(depth, cols, 2), base = noise(rows, cols, 3);
    const Matrix a_turned = transposed(a), b_turned = transposed(b);
    const Matrix expected = plain_product(a, b, Matrix(rows, cols)), expected_sum = plain_product(a, b, base);
    const std::int64_t panels = kernels::cpu::panel_count(cols);
    std::vector<float> first(static_cast<std::size_t>(kernels::cpu::panel_floats(depth, cols)));
    std::vector<float> second = first, third = first;
    kernels::cpu::pack_panels(view_of(b), 0, panels, first.data());
    kernels::cpu::pack_panels_transposed(view_of(b_turned), 0, panels, second.data());
    for (const Panels& right :
         {kernels::cpu::packed_panels(first.data(), depth), kernels::cpu::packed_panels(second.data(), depth),
          kernels::cpu::in_place_or_packed(view_of(b), third.data())}) {
      for (const TileLeft& left :
           {kernels::cpu::plain_left(view_of(a)), kernels::cpu::transposed_left(view_of(a_turned))}) {
        Matrix c = noise(rows, cols, 4), sum = base;
        kernels::cpu::product(left, right, depth, false, view_of(c));
        kernels::cpu::product(left, right, depth, true, view_of(sum));
        expect_near(c, expected, 4.0 + static_cast<double>(depth) / 4);
        expect_near(sum, expected_sum, 4.0 + static_cast<double>(depth) / 4);
      }
    }
  }
}

TEST(ProductTest, NothingIsWrittenBesideTheResult) {
  const Matrix a = noise(9, 20, 1), b = noise(20, 21, 2);
  std::vector<float> packed(static_cast<std::size_t>(kernels::cpu::panel_floats(20, 21)));
  Matrix around(9, 40, 7.0F);
  kernels::cpu::product(kernels::cpu::plain_left(view_of(a)),
                        kernels::cpu::in_place_or_packed(view_of(b), packed.data()), 20, false,
                        view_of(around).column_range(3, 21));
  for (std::int64_t r = 0; r < 9; ++r) {
    for (std::int64_t c = 0; c < 40; ++c) EXPECT_EQ(around.at(r, c) == 7.0F, c < 3 || c >= 24) << r << " " << c;
  }
}

TEST(ProductTest, BothWidthsOfATileGiveTheSameSums) {
  for (const auto& [rows, cols, depth] : {Sizes{8, 32, 100}, {6, 16, 20}, {23, 80, 7}}) {
    const Matrix a = noise(rows, depth, 1), b = noise(depth, cols, 2), base = noise(rows, cols, 3);
    Matrix wide = base, narrow = base;
    const TileLeft left = kernels::cpu::plain_left(view_of(a));
    const TileRight right{b.values.data(), cols};
    kernels::cpu::tile_product({rows, cols, depth}, left, right, true, wide.values.data(), cols);
    kernels::cpu::narrow_tile_product({rows, cols, depth}, left, right, true, narrow.values.data(), cols);
    EXPECT_EQ(wide.values, narrow.values);
    expect_near(narrow, plain_product(a, b, base), 20.0);
  }
}

}  // namespace
