#include "engine/channel_spectra.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/device_copy.h"
#include "engine/error.h"
#include "engine/transformer.h"

namespace engine {
namespace {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The part of the fusion's weights that acts on the state (or on the token).
kernels::View fusion_weight(const Parameters& parameters, bool state) {
  const ModelConfig& config = parameters.config();
  if (config.fusion == FusionType::concat) {
    const kernels::View both = parameters.value(parameters.info("fusion.wc"));
    return both.column_range(state ? 0 : config.dim, config.dim);
  }
  const char* token_name = config.fusion == FusionType::gate ? "fusion.wg" : "fusion.we";
  return parameters.value(parameters.info(state ? "fusion.wu" : token_name));
}

std::string fusion_weight_name(FusionType fusion, bool state) {
  if (fusion == FusionType::concat) return state ? "fusion.wc, state columns" : "fusion.wc, token columns";
  return state ? "fusion.wu" : (fusion == FusionType::gate ? "fusion.wg" : "fusion.we");
}

double participation(const std::vector<double>& variances) {
  double sum = 0;
  double squares = 0;
  for (const double v : variances) {
    sum += v;
    squares += v * v;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

Spectrum singular_values(kernels::Backend& backend, const std::string& name, kernels::ConstView weight) {
  const std::vector<float> values = download_matrix(backend, weight);
  const Eigen::MatrixXf matrix = Eigen::Map<const RowMatrix>(values.data(), weight.rows, weight.cols);
  const Eigen::VectorXf singular = Eigen::BDCSVD<Eigen::MatrixXf>(matrix).singularValues();
  Spectrum spectrum;
  spectrum.name = name;
  std::vector<double> squares;
  for (const float value : singular) {
    spectrum.values.push_back(value);
    squares.push_back(double{value} * double{value});
  }
  spectrum.participation = participation(squares);
  return spectrum;
}

/// Token sides of some tokens, [count, D].
class TokenSides {
 public:
  TokenSides(kernels::Backend& backend, const Parameters& parameters)
      : backend_(&backend), arena_(backend), tape_(backend, arena_), model_(tape_, parameters) {
    tape_.seal();
    tape_.set_recording(false);
  }
  std::vector<float> of(const std::vector<std::int32_t>& tokens) {
    tape_.clear();
    arena_.reset();
    const Variable embeddings = model_.embed(upload_indices(*backend_, arena_, tokens));
    return download_matrix(*backend_, tape_.value(model_.token_side(embeddings)));
  }

 private:
  kernels::Backend* backend_;
  Arena arena_;
  Tape tape_;
  Transformer model_;
};

TokenGates describe(std::int32_t token, std::int64_t occurrences, const std::vector<double>& gates, int bins) {
  TokenGates result;
  result.token = token;
  result.occurrences = occurrences;
  result.histogram.assign(static_cast<std::size_t>(bins), 0);
  double squares = 0;
  for (const double gate : gates) {
    result.mean += gate / static_cast<double>(gates.size());
    squares += gate * gate / static_cast<double>(gates.size());
    result.histogram[static_cast<std::size_t>(std::min<int>(bins - 1, static_cast<int>(gate * bins)))] += 1;
  }
  result.deviation = std::sqrt(std::max(0.0, squares - result.mean * result.mean));
  result.smallest = *std::min_element(gates.begin(), gates.end());
  result.largest = *std::max_element(gates.begin(), gates.end());
  return result;
}

/// Sums over all occurrences, channel by channel.
struct GateSums {
  std::vector<double> sum, squares;
  double count = 0;

  explicit GateSums(std::int64_t dim) : sum(static_cast<std::size_t>(dim), 0.0), squares(sum) {}
  void add(const std::vector<double>& gates, double occurrences) {
    count += occurrences;
    for (std::size_t d = 0; d < gates.size(); ++d) {
      sum[d] += occurrences * gates[d];
      squares[d] += occurrences * gates[d] * gates[d];
    }
  }
  void finish(GateValues& values) const {
    const double all = count * static_cast<double>(sum.size());
    double total_squares = 0;
    double between = 0;
    for (std::size_t d = 0; d < sum.size(); ++d) {
      values.mean += sum[d] / all;
      total_squares += squares[d] / all;
      const double channel_mean = sum[d] / count;
      between += std::max(0.0, squares[d] / count - channel_mean * channel_mean) / static_cast<double>(sum.size());
    }
    values.deviation = std::sqrt(std::max(0.0, total_squares - values.mean * values.mean));
    values.between_tokens = std::sqrt(between);
  }
};

}  // namespace

GateValues measure_gates(kernels::Backend& backend, const Parameters& parameters,
                         const std::vector<std::int32_t>& tokens, int bins) {
  const ModelConfig& config = parameters.config();
  if (config.fusion != FusionType::gate) throw ConfigError("model.fusion", "is not a gate: there are no gate values");
  std::map<std::int32_t, std::int64_t> occurrences;
  for (const std::int32_t token : tokens) occurrences[token] += 1;
  GateValues values;
  values.histogram.assign(static_cast<std::size_t>(bins), 0);
  if (occurrences.empty()) return values;
  GateSums sums(config.dim);
  TokenSides sides(backend, parameters);
  for (const auto& [token, count] : occurrences) {
    std::vector<double> gates;
    for (const float logit : sides.of({token})) gates.push_back(1 / (1 + std::exp(-double{logit})));
    values.tokens.push_back(describe(token, count, gates, bins));
    const std::vector<std::int64_t>& own = values.tokens.back().histogram;
    for (std::size_t b = 0; b < own.size(); ++b) values.histogram[b] += count * own[b];
    sums.add(gates, static_cast<double>(count));
  }
  sums.finish(values);
  return values;
}

std::vector<Spectrum> fusion_spectra(kernels::Backend& backend, const Parameters& parameters) {
  const FusionType fusion = parameters.config().fusion;
  std::vector<Spectrum> spectra;
  for (const bool state : {true, false}) {
    spectra.push_back(singular_values(backend, fusion_weight_name(fusion, state), fusion_weight(parameters, state)));
  }
  return spectra;
}

Spectrum variance_spectrum(const std::string& name, const std::vector<float>& rows, std::int64_t cols) {
  const auto count = static_cast<std::int64_t>(rows.size()) / cols;
  Spectrum spectrum;
  spectrum.name = name;
  if (count < 2) return spectrum;
  Eigen::MatrixXd centred = Eigen::Map<const RowMatrix>(rows.data(), count, cols).cast<double>();
  centred.rowwise() -= centred.colwise().mean().eval();
  const Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(count - 1);
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(covariance, Eigen::EigenvaluesOnly).eigenvalues();
  for (std::int64_t i = cols - 1; i >= 0; --i) spectrum.values.push_back(std::max(0.0, values[i]));
  spectrum.participation = participation(spectrum.values);
  return spectrum;
}

std::vector<Spectrum> state_spectra(kernels::Backend& backend, const Parameters& parameters,
                                    const std::vector<float>& states) {
  const std::int64_t dim = parameters.config().dim;
  Arena arena(backend);
  const kernels::View before = upload_matrix(backend, arena, states, dim);
  const kernels::View after = arena.matrix(before.rows, dim);
  backend.linear(before, fusion_weight(parameters, true), after, kernels::Write::assign);
  return {variance_spectrum("states", states, dim),
          variance_spectrum("states through W_U", download_matrix(backend, after), dim)};
}

}  // namespace engine
