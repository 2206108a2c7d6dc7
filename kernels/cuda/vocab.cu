// The output head with its loss, in row chunks: logits of a chunk live in the workspace and nowhere else.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

constexpr std::int64_t kLogitFloats = std::int64_t{1} << 25;  ///< of a chunk: 128 MiB
constexpr std::int64_t kFewestRows = 128;
constexpr std::int64_t kMostRows = 8192;
constexpr int kMostThreads = 256;
constexpr std::int64_t kWarpVocabulary = 1024;  ///< up to here a row is one warp's work

/// One chunk's rows of the loss; logits turn into their gradient where one is wanted.
struct LossRows {
  View logits;
  const std::int32_t* targets;
  ConstView row_weight;
  float z_weight;
  View nll;
  std::int32_t* argmax;
  bool with_gradient;
};

struct Best {
  float value;
  std::int64_t id;
};

struct LossRoom {
  float sums[kMostThreads / kWarp];
  Best best[kMostThreads / kWarp];
};

/// The larger value, the lower id on ties.
__device__ Best better(const Best& a, const Best& b) {
  return b.value > a.value || (b.value == a.value && b.id < a.id) ? b : a;
}

/// The lowest id of the largest logit; NaN never wins, and 0 when nothing does.
__device__ Best block_best(const float* x, std::int64_t n, Best* room) {
  Best best{-INFINITY, 0};
  for (std::int64_t id = threadIdx.x; id < n; id += blockDim.x) {
    if (x[id] > best.value) best = {x[id], id};
  }
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    best = better(best, {__shfl_xor_sync(kWholeWarp, best.value, lanes), __shfl_xor_sync(kWholeWarp, best.id, lanes)});
  }
  if (lane_index() == 0) room[warp_index()] = best;
  __syncthreads();
  best = room[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / kWarp; ++w) best = better(best, room[w]);
  __syncthreads();
  return best;
}

/// d/dlogits of w * (lse - logit_target + z * lse^2) = w * (p * (1 + 2 z lse) - onehot)
__device__ void row_gradient(const LossRows& o, std::int64_t n, float top, double log_sum, float* logits) {
  const std::int64_t vocab = o.logits.cols;
  const std::int64_t target = o.targets[n];
  const bool is_scored = target >= 0 && target < vocab;
  const float w = o.row_weight.row(n)[0];
  const float logsumexp = static_cast<float>(static_cast<double>(top) + log_sum);
  const float factor = w * (1.0F + 2.0F * o.z_weight * logsumexp) * static_cast<float>(exp(-log_sum));
  for (std::int64_t id = threadIdx.x; id < vocab; id += blockDim.x) {
    const float gradient = factor * expf(logits[id] - top) - (id == target ? w : 0.0F);
    logits[id] = is_scored ? gradient : 0.0F;
  }
}

__global__ void row_loss_kernel(LossRows o) {
  LossRoom& room = *shared_memory<LossRoom>();
  const std::int64_t vocab = o.logits.cols;
  for (std::int64_t n = blockIdx.x; n < o.logits.rows; n += gridDim.x) {
    float* logits = o.logits.row(n);
    const Best best = block_best(logits, vocab, room.best);
    float sum = 0.0F;
    for (std::int64_t id = threadIdx.x; id < vocab; id += blockDim.x) sum += expf(logits[id] - best.value);
    const double log_sum = log(static_cast<double>(block_sum(sum, room.sums)));
    if (threadIdx.x == 0) {
      const std::int64_t target = o.targets[n];
      const float logit = target >= 0 && target < vocab ? logits[target] : nanf("");
      o.argmax[n] = static_cast<std::int32_t>(best.id);
      o.nll.row(n)[0] =
          target < 0 ? 0.0F
                     : static_cast<float>(static_cast<double>(best.value) + log_sum - static_cast<double>(logit));
    }
    __syncthreads();  // the target's logit is read before it becomes a gradient
    if (o.with_gradient) row_gradient(o, n, best.value, log_sum, logits);
  }
}

float kept(Write write) { return write == Write::accumulate ? 1.0F : 0.0F; }

/// Rows of a chunk: all of a small vocabulary's batch, fewer of a large one's.
std::int64_t chunk_rows(std::int64_t vocab) {
  return std::clamp<std::int64_t>(kLogitFloats / vocab / kFewestRows * kFewestRows, kFewestRows, kMostRows);
}

LossRows loss_rows(const HeadLoss& args, std::int64_t begin, View logits) {
  return {logits,
          args.targets.data + begin,
          args.row_weight.row_range(begin, logits.rows),
          args.z_weight,
          args.nll.row_range(begin, logits.rows),
          args.argmax.data + begin,
          args.d_states.present() || args.d_weight.present()};
}

}  // namespace

void CudaBackend::head_loss(const HeadLoss& args) {
  shapes::head_loss(args);
  const std::int64_t rows = args.states.rows;
  const std::int64_t vocab = args.weight.rows;
  if (rows == 0 && args.d_weight.present() && args.d_weight_write == Write::assign) fill(args.d_weight, 0.0F);
  if (rows == 0) return;
  const std::int64_t chunk = std::min(chunk_rows(vocab), rows);
  float* scratch = workspace_.floats(chunk * padded(vocab));
  const int threads = vocab <= kWarpVocabulary ? kWarp : kMostThreads;
  for (std::int64_t begin = 0; begin < rows; begin += chunk) {
    const std::int64_t count = std::min(chunk, rows - begin);
    const View logits{scratch, count, vocab, padded(vocab)};
    const ConstView states = args.states.row_range(begin, count);
    blas_.multiply(1.0F, {states}, {args.weight, true}, 0.0F, logits);
    launch(queue_, "head_loss", row_loss_kernel, Grid{count, threads, sizeof(LossRoom)},
           loss_rows(args, begin, logits));
    if (args.d_states.present()) {
      blas_.multiply(1.0F, {logits}, {args.weight}, kept(args.d_states_write), args.d_states.row_range(begin, count));
    }
    if (args.d_weight.present()) {
      const float keep = begin == 0 ? kept(args.d_weight_write) : 1.0F;
      blas_.multiply(1.0F, {logits, true}, {states}, keep, args.d_weight);
    }
  }
}

}  // namespace kernels::cuda
