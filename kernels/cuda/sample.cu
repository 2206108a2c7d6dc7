// Sampling one token a row: softmax statistics, top-k and top-p, inversion of a uniform number. A block is one row.
//
// Nothing is sorted. A filter keeps the ids above a weight and the lowest ids of exactly that weight; the weight is
// found bit by bit, because floats that are not negative compare as their bits do.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

constexpr int kMostThreads = 256;
constexpr std::int64_t kNone = std::int64_t{1} << 62;

/// The block's shared memory: one value a thread, and room for the reductions.
struct Room {
  double values[kMostThreads];
  double sums[kMostThreads / kWarp];
  std::int64_t integers[kMostThreads / kWarp];
  float floats[kMostThreads / kWarp];
};

__device__ std::int64_t block_lowest(std::int64_t value, std::int64_t* room) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    const std::int64_t other = __shfl_xor_sync(kWholeWarp, value, lanes);
    value = other < value ? other : value;
  }
  if (lane_index() == 0) room[warp_index()] = value;
  __syncthreads();
  std::int64_t lowest = room[0];
  for (int w = 1; w < static_cast<int>(blockDim.x) / kWarp; ++w) lowest = room[w] < lowest ? room[w] : lowest;
  __syncthreads();
  return lowest;
}

/// The lowest id of the largest logit; NaN never wins, and 0 when nothing does.
__device__ std::int64_t lowest_argmax(const float* x, std::int64_t n, Room& room) {
  float top = -INFINITY;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) top = fmaxf(top, x[i]);
  top = block_max(top, room.floats);
  std::int64_t best = kNone;
  for (std::int64_t i = threadIdx.x; i < n && best == kNone; i += blockDim.x) {
    if (x[i] == top) best = i;
  }
  best = block_lowest(best, room.integers);
  return best == kNone ? 0 : best;
}

/// Sums over one row of e^(x - top) and of e^(x - top) * (x - top), and how many logits are NaN.
struct RowSums {
  double plain;
  double weighted;
  std::int64_t nan_count;
};

__device__ RowSums row_sums(const float* x, float top, std::int64_t n, Room& room) {
  RowSums sums{0.0, 0.0, 0};
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const float shifted = x[i] - top;
    const float e = expf(shifted);
    sums.plain += static_cast<double>(e);
    // An impossible id has shifted = -inf, whose product with zero would be NaN.
    sums.weighted += static_cast<double>(e * (shifted < -1e30F ? -1e30F : shifted));
    sums.nan_count += x[i] != x[i] ? 1 : 0;
  }
  return {block_sum(sums.plain, room.sums), block_sum(sums.weighted, room.sums),
          block_sum(sums.nan_count, room.integers)};
}

/// The ids that a thread walks in order when order matters.
struct Chunk {
  std::int64_t begin;
  std::int64_t end;
};

__device__ Chunk chunk_of(std::int64_t n) {
  const std::int64_t t = threadIdx.x;
  return {n * t / blockDim.x, n * (t + 1) / blockDim.x};
}

/// The sum of `mine` over the threads before this one.
__device__ double sum_before(double mine, Room& room) {
  room.values[threadIdx.x] = mine;
  __syncthreads();
  double sum = 0.0;
  for (unsigned t = 0; t < threadIdx.x; ++t) sum += room.values[t];
  __syncthreads();
  return sum;
}

/// How much the ids with at least, or more than, a weight hold together: their number or their weight.
__device__ double held(const float* weights, std::int64_t n, float least, bool strictly, bool by_weight, Room& room) {
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const float w = weights[i];
    if (strictly ? w > least : w >= least) sum += by_weight ? static_cast<double>(w) : 1.0;
  }
  return block_sum(sum, room.sums);
}

/// The largest weight such that the ids of at least that weight hold `enough`.
__device__ float threshold_of(const float* weights, std::int64_t n, double enough, bool by_weight, Room& room) {
  std::int32_t bits = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const std::int32_t larger = bits | (1 << bit);
    const float candidate = __int_as_float(larger);
    if (candidate == candidate && held(weights, n, candidate, false, by_weight, room) >= enough) bits = larger;
  }
  return __int_as_float(bits);
}

/// Keeps the fewest likely ids that hold `enough`, the lowest ids on ties; the others weigh nothing afterwards.
__device__ void keep_likely(float* weights, std::int64_t n, double enough, bool by_weight, Room& room) {
  const float threshold = threshold_of(weights, n, enough, by_weight, room);
  const double above = held(weights, n, threshold, true, by_weight, room);
  const double each = by_weight ? static_cast<double>(threshold) : 1.0;
  const double ties_kept = each > 0.0 ? ceil((enough - above) / each) : 0.0;
  const Chunk chunk = chunk_of(n);
  double ties = 0.0;
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) ties += weights[i] == threshold ? 1.0 : 0.0;
  ties = sum_before(ties, room);
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
    const bool is_tie = weights[i] == threshold;
    if (weights[i] < threshold || (is_tie && ties >= ties_kept)) weights[i] = 0.0F;
    if (is_tie) ties += 1.0;
  }
  __syncthreads();
}

/// The first kept id whose cumulative weight, in id order, exceeds `uniform` of the total; else the last kept one.
__device__ std::int64_t invert(const float* weights, std::int64_t n, float uniform, Room& room) {
  const Chunk chunk = chunk_of(n);
  double mine = 0.0;
  std::int64_t last = -1;
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
    mine += static_cast<double>(weights[i]);
    if (weights[i] > 0.0F) last = i;
  }
  double sum = sum_before(mine, room);
  room.values[threadIdx.x] = sum + mine;
  __syncthreads();
  const double limit = static_cast<double>(uniform) * room.values[blockDim.x - 1];
  std::int64_t found = kNone;
  for (std::int64_t i = chunk.begin; i < chunk.end && found == kNone; ++i) {
    if (!(weights[i] > 0.0F)) continue;
    sum += static_cast<double>(weights[i]);
    if (sum > limit) found = i;
  }
  found = block_lowest(found, room.integers);
  last = -block_lowest(-last, room.integers);
  return found == kNone ? last : found;
}

__device__ void temper(const float* x, float top, float temperature, std::int64_t n, float* weights) {
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) weights[i] = expf((x[i] - top) / temperature);
  __syncthreads();
}

/// The id of one row. Without a distribution to draw from it is still a valid one: 0 for NaN, the lowest infinite one.
__device__ std::int64_t choose(const float* x, std::int64_t n, const SamplerShape& shape, std::int64_t best,
                               bool has_nan, float uniform, float* weights, Room& room) {
  if (has_nan) return 0;
  if (shape.temperature == 0.0F || isinf(x[best])) return best;
  temper(x, x[best], shape.temperature, n, weights);
  if (shape.top_k > 0 && shape.top_k < n) keep_likely(weights, n, static_cast<double>(shape.top_k), false, room);
  if (shape.top_p < 1.0F) {
    const double rest = held(weights, n, 0.0F, false, true, room);
    keep_likely(weights, n, static_cast<double>(shape.top_p) * rest, true, room);
  }
  return invert(weights, n, uniform, room);
}

__global__ void sample_kernel(ConstView logits, SamplerShape shape, ConstView uniforms, IndexView tokens, View logprob,
                              View entropy, float* scratch) {
  Room& room = *shared_memory<Room>();
  const std::int64_t n = logits.cols;
  float* weights = scratch + std::int64_t{blockIdx.x} * n;
  for (std::int64_t r = blockIdx.x; r < logits.rows; r += gridDim.x) {
    const float* x = logits.row(r);
    const std::int64_t best = lowest_argmax(x, n, room);
    const RowSums sums = row_sums(x, x[best], n, room);
    const std::int64_t token = choose(x, n, shape, best, sums.nan_count > 0, uniforms.row(r)[0], weights, room);
    if (threadIdx.x == 0) {
      tokens.data[r] = static_cast<std::int32_t>(token);
      const double logsumexp = static_cast<double>(x[best]) + log(sums.plain);
      logprob.row(r)[0] = static_cast<float>(static_cast<double>(x[token]) - logsumexp);
      entropy.row(r)[0] = static_cast<float>(log(sums.plain) - sums.weighted / sums.plain);
    }
    __syncthreads();
  }
}

}  // namespace

void CudaBackend::sample(ConstView logits, const SamplerShape& shape, ConstView uniforms, IndexView tokens,
                         View logprob, View entropy) {
  shapes::sample(logits, shape, uniforms, tokens, logprob, entropy);
  // At least eight ids a thread, so that a small vocabulary keeps few threads waiting for each other.
  const std::int64_t warps = std::clamp<std::int64_t>(logits.cols / (8 * kWarp), 1, kMostThreads / kWarp);
  const std::int64_t blocks = std::min(logits.rows, queue_.max_blocks);
  float* weights = workspace_.floats(blocks * logits.cols);
  launch(queue_, "sample", sample_kernel, Grid{blocks, static_cast<int>(warps) * kWarp, sizeof(Room)}, logits, shape,
         uniforms, tokens, logprob, entropy, weights);
}

}  // namespace kernels::cuda
