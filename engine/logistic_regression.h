// L2-regularised logistic regression on standardised features (method page, "Linear probes"): the w and b that minimise
//   sum_n log(1 + exp(-s_n (w . z_n + b))) + l2/2 |w|^2,   s_n = +1 for label 1, -1 for label 0,
// where z is the feature minus its mean, over its standard deviation (both of the rows that are learned from). The same
// objective as scikit-learn's LogisticRegression(C = 1/l2) after StandardScaler.
#pragma once

#include <cstdint>
#include <vector>

namespace engine {

struct LogisticSettings {
  double l2 = 1.0;          ///< above 0; the intercept is not penalised
  int most_steps = 100;     ///< Newton steps
  double tolerance = 1e-8;  ///< largest element of the gradient, a row
};

class LogisticRegression {
 public:
  /// Learns from chosen rows of features [N, dim] (row-major) with labels [N] of 0 and 1. Time grows with rows * dim^2.
  /// Error when a feature is not finite.
  static LogisticRegression fit(const std::vector<float>& features, std::int64_t dim,
                                const std::vector<std::int64_t>& rows, const std::vector<int>& labels,
                                const LogisticSettings& settings = {});

  /// w . z + b of one example's features [dim]; above 0 means label 1.
  [[nodiscard]] double decision(const float* features) const;

  /// Of the standardised features, [dim]; exactly 0 for a feature that is the same in all rows.
  [[nodiscard]] const std::vector<double>& coefficients() const { return coefficients_; }
  [[nodiscard]] double intercept() const { return intercept_; }
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] bool converged() const { return converged_; }

 private:
  std::vector<double> mean_, scale_;  // scale 0: a constant feature, which says nothing
  std::vector<double> coefficients_;
  double intercept_ = 0;
  int steps_ = 0;
  bool converged_ = false;
};

}  // namespace engine
