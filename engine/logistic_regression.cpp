#include "engine/logistic_regression.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>

#include "engine/error.h"

namespace engine {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The problem and the point that Newton's method has reached. The last column of `design` is the intercept's 1.
class Newton {
 public:
  Newton(MatrixXd design, VectorXd sign, double l2)
      : design_(std::move(design)),
        sign_(std::move(sign)),
        penalty_(VectorXd::Constant(design_.cols(), l2)),
        weights_(VectorXd::Zero(design_.cols())) {
    penalty_(penalty_.size() - 1) = 0;
    objective_ = objective(weights_);
  }

  [[nodiscard]] const VectorXd& weights() const { return weights_; }

  /// Returns the largest element of the gradient at the present point, and keeps what a step needs.
  double prepare() {
    const VectorXd margin = sign_.cwiseProduct(design_ * weights_);
    const VectorXd miss = margin.unaryExpr([](double m) { return 1 / (1 + std::exp(m)); });  // 1 - p(right)
    curvature_ = miss.array() * (1 - miss.array());
    gradient_ = penalty_.cwiseProduct(weights_) - design_.transpose() * sign_.cwiseProduct(miss);
    return gradient_.lpNorm<Eigen::Infinity>();
  }

  /// One damped step; false when no shorter step lowers the objective any more (rounding).
  bool step() {
    const VectorXd direction = hessian().llt().solve(gradient_);
    double length = 1;
    for (int halvings = 0; halvings < 30; ++halvings, length /= 2) {
      const VectorXd next = weights_ - length * direction;
      const double value = objective(next);
      if (value < objective_) {
        weights_ = next;
        objective_ = value;
        return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] MatrixXd hessian() const {
    const MatrixXd scaled = curvature_.cwiseSqrt().asDiagonal() * design_;
    MatrixXd result = MatrixXd::Zero(design_.cols(), design_.cols());
    result.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    result.diagonal() += penalty_;
    result(result.rows() - 1, result.cols() - 1) += 1e-12;  // labels of one kind leave the intercept without a minimum
    return result;
  }

  [[nodiscard]] double objective(const VectorXd& weights) const {
    const VectorXd margin = sign_.cwiseProduct(design_ * weights);
    const auto loss = [](double m) { return std::log1p(std::exp(-std::abs(m))) + (m < 0 ? -m : 0.0); };
    return margin.unaryExpr(loss).sum() + 0.5 * penalty_.dot(weights.cwiseAbs2());
  }

  MatrixXd design_;
  VectorXd sign_, penalty_, weights_, gradient_, curvature_;
  double objective_ = 0;
};

/// Mean and standard deviation of a column. A column of one value gets deviation 0: rounding of the mean must not turn
/// it into noise of size 1.
void standardise(MatrixXd& design, std::int64_t column, double& mean, double& scale) {
  auto values = design.col(column);
  mean = values.mean();
  const bool constant = values.maxCoeff() == values.minCoeff();
  scale = constant ? 0.0 : std::sqrt((values.array() - mean).square().mean());
  if (scale > 0) {
    values = (values.array() - mean) / scale;
  } else {
    values.setZero();
  }
}

}  // namespace

LogisticRegression LogisticRegression::fit(const std::vector<float>& features, std::int64_t dim,
                                           const std::vector<std::int64_t>& rows, const std::vector<int>& labels,
                                           const LogisticSettings& settings) {
  const auto count = static_cast<std::int64_t>(rows.size());
  MatrixXd design(count, dim + 1);
  VectorXd sign(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    for (std::int64_t d = 0; d < dim; ++d) design(i, d) = features[static_cast<std::size_t>(row * dim + d)];
    design(i, dim) = 1;
    sign(i) = labels[static_cast<std::size_t>(row)] != 0 ? 1 : -1;
  }
  if (count == 0 || !design.allFinite()) throw Error("a probe needs at least one example, and finite states");
  LogisticRegression model;
  model.mean_.resize(static_cast<std::size_t>(dim));
  model.scale_.resize(static_cast<std::size_t>(dim));
  for (std::int64_t d = 0; d < dim; ++d) {
    const auto at = static_cast<std::size_t>(d);
    standardise(design, d, model.mean_[at], model.scale_[at]);
  }
  Newton newton(std::move(design), std::move(sign), settings.l2);
  const double tolerance = settings.tolerance * static_cast<double>(count);
  while (!(model.converged_ = newton.prepare() <= tolerance) && model.steps_ < settings.most_steps) {
    if (!newton.step()) break;
    ++model.steps_;
  }
  model.coefficients_.assign(newton.weights().data(), newton.weights().data() + dim);
  model.intercept_ = newton.weights()(dim);
  return model;
}

double LogisticRegression::decision(const float* features) const {
  double sum = intercept_;
  for (std::size_t d = 0; d < coefficients_.size(); ++d) {
    if (scale_[d] > 0) sum += coefficients_[d] * (static_cast<double>(features[d]) - mean_[d]) / scale_[d];
  }
  return sum;
}

}  // namespace engine
