// The K-pass objective in double precision, written once more from the method: document by document, position by
// position, sharing no code with the engine. With T = double it gives values, with T = Var their exact derivatives.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/config.h"
#include "engine/data/batch_source.h"
#include "engine/parameters.h"
#include "tests/support/autodiff.h"

namespace support {

/// What decides the objective besides parameters. Flags and jitter of each feedback pass, over all positions.
struct OracleTask {
  engine::ModelConfig config;
  engine::data::Batch batch;
  int passes = 1;
  double lambda = 1.0;
  bool detach = false;
  double z_weight = 0.0;
  std::vector<std::vector<std::int32_t>> fused;
  std::vector<std::vector<float>> jitter;  ///< empty: none
};

inline double without_gradient(double value) { return value; }
inline Var without_gradient(const Var& value) { return {value.value}; }

template <class T>
class ModelOracle {
 public:
  using Row = std::vector<T>;
  using Rows = std::vector<Row>;

  /// `values` in the order of engine::parameter_layout.
  ModelOracle(const OracleTask& task, const Inputs<T>& values)
      : task_(task), config_(task.config), layout_(engine::parameter_layout(task.config)), values_(values) {}

  /// Losses, then the objective: pass by pass the weighted mean, last the sum that is trained.
  std::vector<T> losses() {
    total_weight_ = 0;
    for (const float w : task_.batch.weights) total_weight_ += static_cast<double>(w);
    losses_.assign(static_cast<std::size_t>(task_.passes) + 1, T(0.0));
    carried.assign(static_cast<std::size_t>(task_.passes), {});
    for (std::int64_t row = 0; row < task_.batch.rows; ++row) {
      const std::int64_t start = row * task_.batch.seq;
      const std::int64_t end = start + task_.batch.row_length[static_cast<std::size_t>(row)];
      for (std::int64_t n = start; n < end;) {
        std::int64_t last = n + 1;
        while (last < end && task_.batch.positions[static_cast<std::size_t>(last)] != 0) ++last;
        run_document(n, last);
        n = last;
      }
    }
    return losses_;
  }

  /// Carried states of every pass, document after document, padding left out.
  std::vector<Rows> carried;

 private:
  const Row& parameter(const std::string& name) const {
    std::size_t i = 0;
    while (layout_[i].name != name) ++i;
    return values_[i];
  }

  Row product(const std::string& name, const Row& x) const {
    const Row& w = parameter(name);
    Row y(w.size() / x.size(), T(0.0));
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += w[o * x.size() + i] * x[i];
    }
    return y;
  }

  static Row normed(const Row& x) {
    using std::sqrt;
    T mean = 0.0;
    for (const T& v : x) mean += v * v;
    const T root = sqrt(mean / T(static_cast<double>(x.size())) + T(1e-6));
    Row y;
    for (const T& v : x) y.push_back(v / root);
    return y;
  }
  Row normed(const Row& x, const std::string& gain) const {
    Row y = normed(x);
    const Row& g = parameter(gain);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] * g[i];
    return y;
  }

  static T sigmoid(const T& x) {
    using std::exp;
    return T(1.0) / (T(1.0) + exp(T(0.0) - x));
  }

  /// Heads of one projected row: normed when asked for, then rotated by the place in the document.
  Rows rotated_heads(const Row& projected, std::size_t place) const {
    const auto width = static_cast<std::size_t>(config_.head_dim());
    Rows heads;
    for (std::size_t at = 0; at < projected.size(); at += width) {
      Row head(projected.begin() + static_cast<std::ptrdiff_t>(at),
               projected.begin() + static_cast<std::ptrdiff_t>(at + width));
      if (config_.qk_norm) head = normed(head);
      Row turned(width, T(0.0));
      for (std::size_t i = 0; i < width / 2; ++i) {
        const double angle =
            static_cast<double>(place) * std::pow(static_cast<double>(config_.rope_base),
                                                  -2.0 * static_cast<double>(i) / static_cast<double>(width));
        const T a = head[i];
        const T b = head[i + width / 2];
        turned[i] = a * T(std::cos(angle)) - b * T(std::sin(angle));
        turned[i + width / 2] = b * T(std::cos(angle)) + a * T(std::sin(angle));
      }
      heads.push_back(turned);
    }
    return heads;
  }

  /// One head of one position: softmax over the positions it sees.
  Row attend(const Row& query, const std::vector<Rows>& keys, const Rows& values, std::size_t group, std::size_t place,
             std::int64_t window) const {
    using std::exp;
    const std::size_t width = query.size();
    const auto reach = static_cast<std::size_t>(window);
    const std::size_t first = window > 0 && place + 1 > reach ? place + 1 - reach : 0;
    T total = 0.0;
    Row sum(width, T(0.0));
    for (std::size_t s = first; s <= place; ++s) {
      T score = 0.0;
      for (std::size_t i = 0; i < width; ++i) score += query[i] * keys[s][group][i];
      const T weight = exp(score / T(std::sqrt(static_cast<double>(width))));
      total += weight;
      for (std::size_t i = 0; i < width; ++i) sum[i] += weight * values[s][group * width + i];
    }
    for (T& v : sum) v = v / total;
    return sum;
  }

  Rows attention(const std::string& block, const Rows& input, std::int64_t window) const {
    std::vector<Rows> queries, keys;
    Rows values;
    for (std::size_t t = 0; t < input.size(); ++t) {
      queries.push_back(rotated_heads(product(block + "attn.wq", input[t]), t));
      keys.push_back(rotated_heads(product(block + "attn.wk", input[t]), t));
      values.push_back(product(block + "attn.wv", input[t]));
    }
    const auto heads = static_cast<std::size_t>(config_.heads);
    const std::size_t heads_per_group = heads / static_cast<std::size_t>(config_.kv_heads);
    Rows out;
    for (std::size_t t = 0; t < input.size(); ++t) {
      const Row gates = config_.head_gate ? product(block + "attn.wgate", input[t]) : Row();
      Row joined;
      for (std::size_t h = 0; h < heads; ++h) {
        for (const T& v : attend(queries[t][h], keys, values, h / heads_per_group, t, window)) {
          joined.push_back(config_.head_gate ? v * sigmoid(gates[h]) : v);
        }
      }
      out.push_back(product(block + "attn.wo", joined));
    }
    return out;
  }

  Row mlp(const std::string& block, const Row& input) const {
    const Row gate = product(block + "mlp.wgate", input);
    Row hidden = product(block + "mlp.wup", input);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = gate[i] * sigmoid(gate[i]) * hidden[i];
    return product(block + "mlp.wdown", hidden);
  }

  /// x += scale * branch, the branch normed first with sandwich_norm.
  void add_branch(Row& x, Row branch, const std::string& gain) const {
    if (config_.sandwich_norm) branch = normed(branch, gain);
    const double scale = config_.depth_scale ? 1.0 / std::sqrt(2.0 * static_cast<double>(config_.layers)) : 1.0;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += T(scale) * branch[i];
  }

  void run_stack(Rows& x) const {
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
      const std::string block = "blocks." + std::to_string(layer) + ".";
      const bool full = config_.window == 0 || (config_.full_every > 0 && (layer + 1) % config_.full_every == 0);
      Rows input;
      for (const Row& row : x) input.push_back(normed(row, block + "attn_norm.gain"));
      const Rows attended = attention(block, input, full ? 0 : config_.window);
      for (std::size_t t = 0; t < x.size(); ++t) {
        add_branch(x[t], attended[t], block + "attn_out_norm.gain");
        add_branch(x[t], mlp(block, normed(x[t], block + "mlp_norm.gain")), block + "mlp_out_norm.gain");
      }
    }
  }

  Row plain_input(const Row& e, bool feedback) const {
    switch (config_.norm_reading) {
      case engine::NormReading::unit:
        return normed(e);
      case engine::NormReading::gain:
        return normed(e, "input_norm.gain");
      case engine::NormReading::listing3:
        return feedback ? normed(e, "input_norm.gain") : e;
      case engine::NormReading::raw:
        break;
    }
    return e;
  }

  Row fused_input(const Row& state, Row e) const {
    const auto reading = config_.norm_reading;
    if (reading == engine::NormReading::listing3) {
      e = normed(e, "input_norm.gain");
    } else if (reading != engine::NormReading::raw) {
      e = normed(e);
    }
    const Row f = combined(state, e);
    if (reading == engine::NormReading::raw) return f;
    return reading == engine::NormReading::unit ? normed(f) : normed(f, "input_norm.gain");
  }

  Row combined(const Row& state, const Row& e) const {
    if (config_.fusion == engine::FusionType::concat) {
      Row both = state;
      both.insert(both.end(), e.begin(), e.end());
      return product("fusion.wc", both);
    }
    Row f = product("fusion.wu", state);
    const bool gate = config_.fusion == engine::FusionType::gate;
    const Row token = product(gate ? "fusion.wg" : "fusion.we", e);
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = gate ? f[i] * sigmoid(token[i]) : f[i] + token[i];
    return f;
  }

  Row jittered(Row state, int feedback, std::int64_t n) const {
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (task_.detach) state[i] = without_gradient(state[i]);
      if (!task_.jitter.empty()) {
        state[i] += T(static_cast<double>(
            task_.jitter[static_cast<std::size_t>(feedback)][static_cast<std::size_t>(n) * state.size() + i]));
      }
    }
    return state;
  }

  /// All passes over the positions first .. last - 1 of the batch, which are one document.
  void run_document(std::int64_t first, std::int64_t last) {
    const Row& table = parameter("embed.weight");
    Rows embeddings;
    for (std::int64_t n = first; n < last; ++n) {
      const auto begin = table.begin() + task_.batch.tokens[static_cast<std::size_t>(n)] * config_.dim;
      embeddings.emplace_back(begin, begin + config_.dim);
    }
    Rows states;
    for (int pass = 0; pass < task_.passes; ++pass) {
      Rows x;
      for (std::int64_t n = first; n < last; ++n) {
        const auto t = static_cast<std::size_t>(n - first);
        const bool fuse = pass > 0 && task_.fused[static_cast<std::size_t>(pass - 1)][static_cast<std::size_t>(n)] != 0;
        x.push_back(fuse ? fused_input(jittered(states[t - 1], pass - 1, n - 1), embeddings[t])
                         : plain_input(embeddings[t], pass > 0));
      }
      run_stack(x);
      states.clear();
      for (std::size_t t = 0; t < x.size(); ++t) {
        const Row top = normed(x[t], "final_norm.gain");
        states.push_back(config_.state_tap == engine::StateTap::post_norm ? top : x[t]);
        add_loss(top, first + static_cast<std::int64_t>(t), pass);
        carried[static_cast<std::size_t>(pass)].push_back(states.back());
      }
    }
  }

  void add_loss(const Row& top, std::int64_t n, int pass) {
    using std::exp;
    using std::log;
    const std::int32_t target = task_.batch.targets[static_cast<std::size_t>(n)];
    if (target < 0) return;
    const Row logits = product(config_.tied ? "embed.weight" : "lm_head.weight", top);
    T total = 0.0;
    for (const T& logit : logits) total += exp(logit);
    const T logsumexp = log(total);
    const T nll = logsumexp - logits[static_cast<std::size_t>(target)];
    const double weight = static_cast<double>(task_.batch.weights[static_cast<std::size_t>(n)]) / total_weight_;
    const double share = pass == 0 ? 1.0 : task_.lambda / (task_.passes - 1);
    losses_[static_cast<std::size_t>(pass)] += T(weight) * nll;
    losses_.back() += T(weight * share) * (nll + T(task_.z_weight) * logsumexp * logsumexp);
  }

  const OracleTask& task_;
  const engine::ModelConfig& config_;
  std::vector<engine::ParameterInfo> layout_;
  const Inputs<T>& values_;
  double total_weight_ = 0;
  std::vector<T> losses_;
};

/// Losses of each pass, the objective, and its derivative by every parameter.
struct OracleResult {
  std::vector<double> losses;
  double objective = 0;
  std::vector<std::vector<double>> gradients;
};

inline OracleResult run_oracle(const OracleTask& task, const std::vector<engine::HostTensor>& tensors) {
  Tape tape;
  Inputs<Var> values;
  for (const engine::HostTensor& tensor : tensors) {
    values.emplace_back();
    for (const float v : tensor.values) values.back().emplace_back(static_cast<double>(v), tape.leaf(), &tape);
  }
  const std::vector<Var> losses = ModelOracle<Var>(task, values).losses();
  OracleResult result;
  for (std::size_t k = 0; k + 1 < losses.size(); ++k) result.losses.push_back(losses[k].value);
  result.objective = losses.back().value;
  const std::vector<double> by_node = tape.gradients({losses.back().node}, {1.0});
  for (const auto& tensor : values) {
    result.gradients.emplace_back();
    for (const Var& v : tensor) result.gradients.back().push_back(by_node[static_cast<std::size_t>(v.node)]);
  }
  return result;
}

/// The objective alone, at given values.
inline double oracle_objective(const OracleTask& task, const Inputs<double>& values) {
  return ModelOracle<double>(task, values).losses().back();
}

}  // namespace support
