// The output head with its loss, in row chunks: logits of a chunk live in one thread's scratch and nowhere else.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES float sum_of_exponentials(const float* x, float shift, std::int64_t n) {
  Lanes sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    float values[kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) values[lane] = exp_float(x[i + lane] - shift);
    sums += lanes_at(values);
  }
  float sum = sum_of_lanes(sums);
  for (; i < n; ++i) sum += exp_float(x[i] - shift);
  return sum;
}

/// x = factor * e^(x - shift)
FULLBAND_CLONES void scaled_exponentials(float shift, float factor, std::int64_t n, float* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = factor * exp_float(x[i] - shift);
}

/// Loss of one row; turns its logits into their gradient when one is wanted.
void row_loss(const HeadLoss& args, std::int64_t n, bool with_gradient, float* logits) {
  const std::int64_t vocab = args.weight.rows;
  const std::int64_t best = lowest_argmax(logits, vocab);
  const std::int64_t target = args.targets.data[n];
  args.argmax.data[n] = static_cast<std::int32_t>(best);
  args.nll.row(n)[0] = 0.0F;
  if (target < 0) {
    if (with_gradient) std::fill_n(logits, vocab, 0.0F);
    return;
  }
  const double log_sum = std::log(static_cast<double>(sum_of_exponentials(logits, logits[best], vocab)));
  const double logsumexp = static_cast<double>(logits[best]) + log_sum;
  args.nll.row(n)[0] = static_cast<float>(logsumexp - static_cast<double>(logits[target]));
  if (!with_gradient) return;
  // d/dlogits of w * (lse - logit_target + z * lse^2) = w * (p * (1 + 2 z lse) - onehot)
  const float w = args.row_weight.row(n)[0];
  const float factor = w * (1.0F + 2.0F * args.z_weight * static_cast<float>(logsumexp));
  scaled_exponentials(logits[best], factor * static_cast<float>(std::exp(-log_sum)), vocab, logits);
  logits[target] -= w;
}

/// Rows of a chunk: enough for a fast product, few enough for the cache.
std::int64_t chunk_rows(std::int64_t vocab) { return std::clamp<std::int64_t>(262144 / vocab / 16 * 16, 128, 512); }

/// The output weight as a right operand: of the logits, and of the states' gradient.
struct HeadOperands {
  Panels transposed;
  Panels plain;
};

/// One thread's share of the loss: its scratch for a chunk of logits and of states, and its part of the weight
/// gradient.
struct LossPart {
  float* logits;
  float* states;
  View d_weight;
};

void chunk_loss(const HeadLoss& args, const HeadOperands& weight, Range rows, bool first, const LossPart& part) {
  const bool with_gradient = args.d_states.present() || args.d_weight.present();
  const ConstView states = args.states.row_range(rows.begin, rows.count());
  const std::int64_t vocab = args.weight.rows;
  const View logits{part.logits, rows.count(), vocab, padded(vocab)};
  product(plain_left(states), weight.transposed, states.cols, false, logits);
  for (std::int64_t i = 0; i < rows.count(); ++i) row_loss(args, rows.begin + i, with_gradient, logits.row(i));
  if (args.d_states.present()) {
    product(plain_left(logits), weight.plain, vocab, args.d_states_write == Write::accumulate,
            args.d_states.row_range(rows.begin, rows.count()));
  }
  if (args.d_weight.present()) {
    product(transposed_left(logits), in_place_or_packed(states, part.states), rows.count(), !first, part.d_weight);
  }
}

/// d_weight (=, +=) the parts, in their order.
void reduce_weight_parts(const float* parts, int count, std::int64_t stride, View d_weight, Write write, int threads) {
  for_rows(threads, d_weight.rows, d_weight.cols, [&](Range part) {
    for (std::int64_t v = part.begin; v < part.end; ++v) {
      float* to = d_weight.row(v);
      const float* from = parts + v * padded(d_weight.cols);
      if (write == Write::assign) {
        std::copy_n(from, d_weight.cols, to);
      } else {
        add_scaled(from, 1.0F, d_weight.cols, to);
      }
      for (int i = 1; i < count; ++i) add_scaled(from + i * stride, 1.0F, d_weight.cols, to);
    }
  });
}

}  // namespace

void CpuBackend::head_loss(const HeadLoss& args) {
  shapes::head_loss(args);
  shapes::check_range("head_loss", "targets", args.targets, -1, args.weight.rows);
  const std::int64_t rows = args.states.rows;
  const std::int64_t vocab = args.weight.rows;
  const std::int64_t width = args.weight.cols;
  if (rows == 0) {
    if (args.d_weight.present() && args.d_weight_write == Write::assign) fill(args.d_weight, 0.0F);
    return;
  }
  const int team = static_cast<int>(std::min<std::int64_t>(rows, team_size(threads_, rows * vocab * width / 16)));
  const std::int64_t largest_part = (rows + team - 1) / team;
  const std::int64_t chunk = std::min(chunk_rows(vocab), largest_part);
  const std::int64_t logit_floats = chunk * padded(vocab);
  const std::int64_t weight_floats = args.d_weight.present() ? vocab * padded(width) : 0;
  const std::int64_t state_floats = padded(in_place_floats(args.states.row_range(0, chunk)));
  const std::int64_t part_floats = logit_floats + state_floats + weight_floats;
  const std::int64_t transposed_floats = panel_floats(width, vocab);
  float* scratch = workspace_.floats(team * part_floats + transposed_floats + in_place_floats(args.weight));
  float* transposed = scratch + team * part_floats;
  const HeadOperands weight{packed_transposed(args.weight, transposed),
                            in_place_or_packed(args.weight, transposed + transposed_floats)};
  const auto weight_part = [&](int index) { return scratch + index * part_floats + logit_floats + state_floats; };
  run_team(team, [&](int index) {
    float* own_scratch = scratch + index * part_floats;
    const LossPart own{own_scratch, own_scratch + logit_floats, View{weight_part(index), vocab, width, padded(width)}};
    const Range part = part_of(rows, index, team);
    for (std::int64_t begin = part.begin; begin < part.end; begin += chunk) {
      chunk_loss(args, weight, {begin, std::min(part.end, begin + chunk)}, begin == part.begin, own);
    }
  });
  if (args.d_weight.present()) {
    reduce_weight_parts(weight_part(0), team, part_floats, args.d_weight, args.d_weight_write, threads_);
  }
}

}  // namespace kernels::cpu
