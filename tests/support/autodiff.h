// A scalar reverse-mode tape in double precision. An oracle is written once as a template: with double it gives values
// and finite differences, with Var its exact derivative, which shares no code with the kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/support/matrix.h"

namespace support {

class Tape {
 public:
  int leaf() { return record(-1, 0.0, -1, 0.0); }
  int record(int a, double da, int b, double db) {
    nodes_.push_back({a, b, da, db});
    return static_cast<int>(nodes_.size()) - 1;
  }
  /// Derivatives of the sum of seeds[i] * outputs[i] by every node.
  [[nodiscard]] std::vector<double> gradients(const std::vector<int>& outputs, const std::vector<double>& seeds) const {
    std::vector<double> g(nodes_.size(), 0.0);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] >= 0) g[static_cast<std::size_t>(outputs[i])] += seeds[i];
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const Node& n = nodes_[i];
      if (n.a >= 0) g[static_cast<std::size_t>(n.a)] += n.da * g[i];
      if (n.b >= 0) g[static_cast<std::size_t>(n.b)] += n.db * g[i];
    }
    return g;
  }

 private:
  struct Node {
    int a, b;
    double da, db;
  };
  std::vector<Node> nodes_;
};

/// A number on a tape; one without a tape is a constant.
struct Var {
  double value = 0.0;
  int node = -1;
  Tape* tape = nullptr;

  Var() = default;
  Var(double v) : value(v) {}  // NOLINT(google-explicit-constructor)
  Var(double v, int n, Tape* t) : value(v), node(n), tape(t) {}
};

inline Var derived(double value, const Var& a, double da, const Var& b, double db) {
  Tape* tape = a.tape != nullptr ? a.tape : b.tape;
  if (tape == nullptr) return {value};
  return {value, tape->record(a.node, da, b.node, db), tape};
}

inline Var operator+(const Var& a, const Var& b) { return derived(a.value + b.value, a, 1.0, b, 1.0); }
inline Var operator-(const Var& a, const Var& b) { return derived(a.value - b.value, a, 1.0, b, -1.0); }
inline Var operator*(const Var& a, const Var& b) { return derived(a.value * b.value, a, b.value, b, a.value); }
inline Var operator/(const Var& a, const Var& b) {
  return derived(a.value / b.value, a, 1.0 / b.value, b, -a.value / (b.value * b.value));
}
inline Var& operator+=(Var& a, const Var& b) { return a = a + b; }
inline Var exp(const Var& a) { return derived(std::exp(a.value), a, std::exp(a.value), {}, 0.0); }
inline Var log(const Var& a) { return derived(std::log(a.value), a, 1.0 / a.value, {}, 0.0); }
inline Var sqrt(const Var& a) { return derived(std::sqrt(a.value), a, 0.5 / std::sqrt(a.value), {}, 0.0); }

template <typename T>
using Inputs = std::vector<std::vector<T>>;

/// Values and exact gradients of an oracle for one upstream gradient.
struct Derivative {
  std::vector<double> output;
  std::vector<std::vector<double>> gradients;
};

/// `oracle` maps Inputs<T> to std::vector<T> for any T; `upstream` weighs its outputs.
template <typename Oracle>
Derivative differentiate(const Oracle& oracle, const std::vector<Matrix>& inputs, const std::vector<double>& upstream) {
  Tape tape;
  Inputs<Var> in;
  for (const Matrix& m : inputs) {
    in.emplace_back();
    for (const float v : m.values) in.back().emplace_back(static_cast<double>(v), tape.leaf(), &tape);
  }
  const std::vector<Var> out = oracle(in);
  std::vector<int> nodes;
  Derivative result;
  for (const Var& v : out) {
    nodes.push_back(v.node);
    result.output.push_back(v.value);
  }
  const std::vector<double> g = tape.gradients(nodes, upstream);
  for (const auto& list : in) {
    result.gradients.emplace_back();
    for (const Var& v : list) result.gradients.back().push_back(g[static_cast<std::size_t>(v.node)]);
  }
  return result;
}

/// The derivative by one element as a central difference of the oracle in double precision.
template <typename Oracle>
double central_difference(const Oracle& oracle, const std::vector<Matrix>& inputs, const std::vector<double>& upstream,
                          std::size_t input, std::size_t element) {
  constexpr double kStep = 1e-5;
  Inputs<double> in;
  for (const Matrix& m : inputs) in.push_back(as_double(m));
  double difference = 0.0;
  for (const double sign : {1.0, -1.0}) {
    Inputs<double> moved = in;
    moved[input][element] += sign * kStep;
    const std::vector<double> out = oracle(moved);
    for (std::size_t i = 0; i < out.size(); ++i) difference += sign * upstream[i] * out[i];
  }
  return difference / (2.0 * kStep);
}

/// Compares a kernel's gradient with the exact derivative, and a sample of its elements with central differences.
/// `base` is what the output held where the kernel accumulates.
template <typename Oracle>
void expect_gradient(const char* name, const Matrix& got, const Matrix* base, const Oracle& oracle,
                     const std::vector<Matrix>& inputs, const std::vector<double>& upstream, std::size_t input,
                     double tolerance = 2e-6) {
  std::vector<double> expected = differentiate(oracle, inputs, upstream).gradients[input];
  double size = 1e-3;
  for (const double e : expected) size = std::max(size, std::abs(e));
  const std::size_t stride = std::max<std::size_t>(1, expected.size() / 5);
  for (std::size_t i = 0; i < expected.size(); i += stride) {
    EXPECT_NEAR(central_difference(oracle, inputs, upstream, input, i), expected[i], 1e-5 * size) << name << " " << i;
  }
  if (base != nullptr) {
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += static_cast<double>(base->values[i]);
  }
  expect_close(name, got, expected, tolerance);
}

}  // namespace support
