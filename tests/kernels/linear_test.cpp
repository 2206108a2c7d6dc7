// Products against a double-precision triple loop. They are linear, so that the oracle of a gradient is a product too.
#include "tests/support/backend_fixture.h"

namespace {

using kernels::Write;
using support::Matrix;
using support::noise;

/// a with or without transposition times b with or without, in double.
std::vector<double> product(const Matrix& a, bool a_turned, const Matrix& b, bool b_turned) {
  const std::int64_t rows = a_turned ? a.cols : a.rows;
  const std::int64_t inner = a_turned ? a.rows : a.cols;
  const std::int64_t cols = b_turned ? b.rows : b.cols;
  std::vector<double> out;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < inner; ++i) {
        sum += static_cast<double>(a_turned ? a.at(i, r) : a.at(r, i)) *
               static_cast<double>(b_turned ? b.at(c, i) : b.at(i, c));
      }
      out.push_back(sum);
    }
  }
  return out;
}

std::vector<double> plus(std::vector<double> a, const Matrix& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += static_cast<double>(b.values[i]);
  return a;
}

struct Sizes {
  std::int64_t n, in, out;
};
// Empty, one row (decoding), odd, narrow, wide, and large enough for several threads.
constexpr Sizes kSizes[] = {{0, 5, 7},    {1, 20, 31},   {1, 64, 700},  {2, 33, 900},    {37, 20, 13}, {3, 1, 1},
                            {5, 16, 150}, {300, 48, 96}, {700, 64, 17}, {513, 100, 130}, {64, 600, 5}, {150, 530, 45}};

class LinearTest : public support::BackendTest {};

TEST_P(LinearTest, ForwardMatchesTheOracle) {
  for (const auto& [n, in, out] : kSizes) {
    const Matrix x = noise(n, in, 1), w = noise(out, in, 2), base = noise(n, out, 3);
    const auto expected = product(x, false, w, true);
    auto& y = poisoned(n, out);
    auto& sum = device(base);
    backend().linear(device(x), device(w), y, Write::assign);
    backend().linear(device(x), device(w), sum, Write::accumulate);
    support::expect_close("y", y.download(), expected);
    support::expect_close("y, accumulated", sum.download(), plus(expected, base));
  }
}

TEST_P(LinearTest, InputGradientMatchesTheOracle) {
  for (const auto& [n, in, out] : kSizes) {
    const Matrix dy = noise(n, out, 1), w = noise(out, in, 2), base = noise(n, in, 3);
    const auto expected = product(dy, false, w, false);
    auto& dx = poisoned(n, in);
    auto& sum = device(base);
    backend().linear_backward_input(device(dy), device(w), dx, Write::assign);
    backend().linear_backward_input(device(dy), device(w), sum, Write::accumulate);
    support::expect_close("dx", dx.download(), expected);
    support::expect_close("dx, accumulated", sum.download(), plus(expected, base));
  }
}

TEST_P(LinearTest, WeightGradientMatchesTheOracle) {
  for (const auto& [n, in, out] : kSizes) {
    const Matrix dy = noise(n, out, 1), x = noise(n, in, 2), base = noise(out, in, 3);
    const auto expected = product(dy, true, x, false);
    auto& dw = poisoned(out, in);
    auto& sum = device(base);
    backend().linear_backward_weight(device(dy), device(x), dw, Write::assign);
    backend().linear_backward_weight(device(dy), device(x), sum, Write::accumulate);
    support::expect_close("dw", dw.download(), expected, 2e-6);
    support::expect_close("dw, accumulated", sum.download(), plus(expected, base), 2e-6);
  }
}

TEST_P(LinearTest, ColumnRangesOfOneMatrixAreOperands) {
  // The engine keeps queries, keys and values in one matrix and hands out its columns.
  const Matrix x = noise(50, 24, 1), w = noise(40, 24, 2);
  auto& y = device(noise(50, 60, 3));
  const Matrix before = y.download();
  backend().linear(device(x), device(w), y.view().column_range(10, 40), Write::assign);
  const Matrix after = y.download();
  const auto expected = product(x, false, w, true);
  for (std::int64_t r = 0; r < 50; ++r) {
    for (std::int64_t c = 0; c < 60; ++c) {
      if (c < 10 || c >= 50) {
        EXPECT_EQ(after.at(r, c), before.at(r, c));
      } else {
        EXPECT_NEAR(after.at(r, c), expected[static_cast<std::size_t>(r * 40 + c - 10)], 2e-5);
      }
    }
  }
}

TEST_P(LinearTest, NonFiniteInputStaysInItsRow) {
  Matrix x = noise(40, 16, 1);
  x.at(7, 3) = std::numeric_limits<float>::quiet_NaN();
  auto& y = poisoned(40, 24);
  backend().linear(device(x), device(noise(24, 16, 2)), y, Write::assign);
  const Matrix got = y.download();
  for (std::int64_t r = 0; r < 40; ++r) EXPECT_EQ(std::isnan(got.at(r, 5)), r == 7) << r;
}

TEST_P(LinearTest, ARowHasTheSameBitsAloneInABatchAndOnOneThread) {
  // Decoding several rows together must pick the tokens that each row picks alone. cuBLAS does not promise it: it
  // chooses the order of its sums by the sizes of a product.
  if (GetParam().device != "cpu") return;
  const auto one_thread = kernels::make_backend(GetParam().device, 1);
  for (const auto& [in, out] : {std::pair{20, 13}, {64, 64}, {100, 384}, {512, 40}}) {
    const Matrix x = noise(700, in, 1), w = noise(out, in, 2);
    const auto rows = [&](kernels::Backend& where, std::int64_t first, std::int64_t count) {
      Matrix part(count, in);
      std::copy_n(x.values.begin() + first * in, count * in, part.values.begin());
      support::DeviceMatrix device_x(where, part, 0), device_w(where, w, 0), y(where, Matrix(count, out), 0);
      where.linear(device_x, device_w, y, Write::assign);
      return y.download().values;
    };
    const std::vector<float> all = rows(backend(), 0, 700);
    EXPECT_EQ(rows(*one_thread, 0, 700), all) << in << " " << out;
    for (const std::int64_t count : {1, 2, 3, 8, 16}) {
      const std::vector<float> few = rows(backend(), 5, count);
      for (std::int64_t r = 0; r < count; ++r) {
        const std::vector<float> row(few.begin() + r * out, few.begin() + (r + 1) * out);
        EXPECT_EQ(rows(backend(), 5 + r, 1), row) << in << " " << out << " " << count;
      }
    }
  }
}

TEST_P(LinearTest, AProductOverNothingIsZero) {
  const Matrix base = noise(5, 3, 1);
  auto &dw = poisoned(5, 3), &sum = device(base);
  auto &dy = device(Matrix(0, 5)), &x = device(Matrix(0, 3));
  backend().linear_backward_weight(dy, x, dw, Write::assign);
  backend().linear_backward_weight(dy, x, sum, Write::accumulate);
  EXPECT_EQ(dw.download().values, Matrix(5, 3).values);
  EXPECT_EQ(sum.download().values, base.values);
}

/// To the nearest bf16, the even one on ties.
Matrix rounded(Matrix m) {
  for (float& value : m.values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U;
    std::memcpy(&value, &bits, sizeof(bits));
  }
  return m;
}

TEST_P(LinearTest, ShorterPrecisionsRoundOperandsAndSumInFloat32) {
  if (GetParam().device == "cpu") return;  // it has float32 alone
  const Matrix x = noise(37, 300, 1), w = noise(21, 300, 2), base = noise(37, 21, 3);
  const auto run = [&](const char* precision) {
    const auto other = kernels::make_backend(GetParam().device + precision);
    support::DeviceMatrix dx(*other, x, 3), dw(*other, w, 0), y(*other, base, 1);
    other->linear(dx, dw, y, Write::accumulate);
    return y.download();
  };
  support::expect_close("bf16", run(",bf16"), plus(product(rounded(x), false, rounded(w), true), base));
  const auto few_rows = [&](const char* precision) {
    const auto other = kernels::make_backend(GetParam().device + precision);
    support::DeviceMatrix dx(*other, noise(3, 300, 1), 3), dw(*other, w, 0), y(*other, Matrix(3, 21), 1);
    other->linear(dx, dw, y, Write::assign);
    return y.download().values;
  };
  EXPECT_EQ(few_rows(",bf16"), few_rows(",tf32"));
  support::expect_close("tf32", run(",tf32"), plus(product(x, false, w, true), base), 2e-3);
  support::expect_close("float32", run(",float32"), plus(product(x, false, w, true), base));
  EXPECT_THROW(kernels::make_backend(GetParam().device + ",half"), kernels::DeviceError);
}

FULLBAND_FOR_EVERY_BACKEND(LinearTest);

}  // namespace
