// One query a row against a cache of keys and values: decoding. A block is one head of one row, and a part of its keys
// where rows and heads alone would leave the GPU idle; parts are put together in their order.
#include <cmath>

#include "kernels/cuda/backend.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kLanesPerKey = 8;
constexpr int kKeysAtOnce = kThreads / kLanesPerKey;
constexpr int kChunk = kThreads;  ///< keys whose scores lie in shared memory at a time
constexpr int kColumns = 64;      ///< neighbouring threads on neighbouring columns of the values
constexpr int kValueParts = kThreads / kColumns;
constexpr std::int64_t kMostParts = 16;

struct Decode {
  ConstView q, k, v;
  ConstIndexView first, length;
  AttentionShape shape;
  float scale;
  std::int64_t parts;
  float* partials;  ///< [R, H, parts, 2 + d]: maximum, sum, weighted values; unused when there is one part
  View y;

  [[nodiscard]] constexpr std::int64_t partial_floats() const { return 2 + shape.head_dim; }
};

/// The keys of one part of one head of one row, and their columns.
struct KeyRange {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t column;
};

/// No keys when the row asks for rows outside the cache; its result is then 0 / 0.
__device__ KeyRange key_range(const Decode& o, std::int64_t row, std::int64_t head, std::int64_t part) {
  const std::int64_t column = head / (o.shape.heads / o.shape.kv_heads) * o.shape.head_dim;
  const std::int64_t end = std::int64_t{o.first.data[row]} + o.length.data[row];
  if (o.first.data[row] < 0 || o.length.data[row] < 1 || end > o.k.rows) return {0, 0, column};
  const bool is_cut = o.shape.window > 0 && o.shape.window < o.length.data[row];
  const std::int64_t seen = is_cut ? o.shape.window : o.length.data[row];
  return {end - seen + seen * part / o.parts, end - seen + seen * (part + 1) / o.parts, column};
}

struct DecodeRoom {
  float scores[kChunk];
  float reduction[kThreads / kWarp];
  float sums[1];  ///< [kValueParts, d]

  static std::int64_t bytes(std::int64_t d) {
    return static_cast<std::int64_t>(sizeof(DecodeRoom)) + kValueParts * d * static_cast<std::int64_t>(sizeof(float));
  }
};

/// scores[i] of the chunk's keys; eight lanes share one key.
__device__ void score_keys(const Decode& o, const float* q, const KeyRange& chunk, float* scores) {
  const int lane = static_cast<int>(threadIdx.x) % kLanesPerKey;
  for (int first = 0; first < kChunk; first += kKeysAtOnce) {
    const int at = first + static_cast<int>(threadIdx.x) / kLanesPerKey;
    const std::int64_t key = chunk.begin + at;
    float sum = 0.0F;
    for (std::int64_t c = lane; key < chunk.end && c < o.shape.head_dim; c += kLanesPerKey) {
      sum += q[c] * o.k.row(key)[chunk.column + c];
    }
    sum = group_sum(sum, kLanesPerKey);
    if (lane == 0) scores[at] = key < chunk.end ? sum * o.scale : -INFINITY;
  }
}

/// sums[part of the keys, column] = shrunk + weights times values
__device__ void add_values(const Decode& o, const KeyRange& chunk, float shrink, const float* weights, float* sums) {
  const int part = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t begin = chunk.begin + part * (kChunk / kValueParts);
  const std::int64_t most = begin + kChunk / kValueParts;
  const std::int64_t end = most < chunk.end ? most : chunk.end;
  for (std::int64_t c = static_cast<int>(threadIdx.x) % kColumns; c < o.shape.head_dim; c += kColumns) {
    float sum = 0.0F;
    for (std::int64_t key = begin; key < end; ++key) {
      sum += weights[key - chunk.begin] * o.v.row(key)[chunk.column + c];
    }
    float* total = sums + part * o.shape.head_dim + c;
    *total = *total * shrink + sum;
  }
}

struct RunningSoftmax {
  float top = -INFINITY;
  float sum = 0.0F;
};

/// Online softmax over the keys, 256 at a time; the weighted values are left in the room.
__device__ RunningSoftmax attend(const Decode& o, const float* q, const KeyRange& keys, DecodeRoom& room) {
  RunningSoftmax running;
  for (std::int64_t i = threadIdx.x; i < kValueParts * o.shape.head_dim; i += kThreads) room.sums[i] = 0.0F;
  for (std::int64_t begin = keys.begin; begin < keys.end; begin += kChunk) {
    const KeyRange chunk{begin, keys.end, keys.column};
    score_keys(o, q, chunk, room.scores);
    __syncthreads();
    const float score = room.scores[threadIdx.x];
    const float top = fmaxf(running.top, block_max(score, room.reduction));
    const float weight = score == -INFINITY ? 0.0F : expf(score - top);
    room.scores[threadIdx.x] = weight;
    const float shrink = running.top == top ? 1.0F : expf(running.top - top);
    running.sum = running.sum * shrink + block_sum(weight, room.reduction);
    running.top = top;
    add_values(o, chunk, shrink, room.scores, room.sums);
    __syncthreads();
  }
  __syncthreads();
  return running;
}

__global__ void decode_attention_kernel(Decode o) {
  DecodeRoom& room = *shared_memory<DecodeRoom>();
  const std::int64_t d = o.shape.head_dim;
  for (std::int64_t item = blockIdx.x; item < o.q.rows * o.shape.heads * o.parts; item += gridDim.x) {
    const std::int64_t part = item % o.parts;
    const std::int64_t head = item / o.parts % o.shape.heads;
    const std::int64_t row = item / o.parts / o.shape.heads;
    const RunningSoftmax all = attend(o, o.q.row(row) + head * d, key_range(o, row, head, part), room);
    float* partial = o.partials + item * o.partial_floats();
    float* to = o.parts == 1 ? o.y.row(row) + head * d : partial + 2;
    for (std::int64_t c = threadIdx.x; c < d; c += kThreads) {
      float sum = 0.0F;
      for (int p = 0; p < kValueParts; ++p) sum += room.sums[p * d + c];
      to[c] = o.parts == 1 ? sum / all.sum : sum;
    }
    if (o.parts > 1 && threadIdx.x == 0) {
      partial[0] = all.top;
      partial[1] = all.sum;
    }
    __syncthreads();
  }
}

__global__ void join_parts_kernel(Decode o) {
  const std::int64_t d = o.shape.head_dim;
  for (std::int64_t item = first_warp(); item < o.q.rows * o.shape.heads; item += all_warps()) {
    const float* partials = o.partials + item * o.parts * o.partial_floats();
    float top = -INFINITY;
    for (std::int64_t p = 0; p < o.parts; ++p) top = fmaxf(top, partials[p * o.partial_floats()]);
    const std::int64_t row = item / o.shape.heads;
    float* y = o.y.row(row) + (item - row * o.shape.heads) * d;
    for (std::int64_t c = lane_index(); c < d; c += kWarp) {
      float sum = 0.0F;
      float values = 0.0F;
      for (std::int64_t p = 0; p < o.parts; ++p) {
        const float* partial = partials + p * o.partial_floats();
        const float factor = partial[0] == top ? 1.0F : expf(partial[0] - top);
        sum += factor * partial[1];
        values += factor * partial[2 + c];
      }
      y[c] = values / sum;
    }
  }
}

}  // namespace

void CudaBackend::decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first,
                                   ConstIndexView length, const AttentionShape& shape, View y) {
  shapes::decode_attention(q, k_cache, v_cache, first, length, shape, y);
  const std::int64_t heads = q.rows * shape.heads;
  if (heads == 0) return;
  // A function of sizes that stay from token to token, so that a recorded launch stays right as the cache fills.
  const std::int64_t parts = std::clamp<std::int64_t>(queue_.max_blocks / 4 / heads, 1, kMostParts);
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  Decode operands{q, k_cache, v_cache, first, length, shape, scale, parts, nullptr, y};
  if (parts > 1) operands.partials = workspace_.floats(heads * parts * operands.partial_floats());
  launch(queue_, "decode_attention", decode_attention_kernel,
         Grid{heads * parts, kThreads, DecodeRoom::bytes(shape.head_dim)}, operands);
  if (parts > 1) launch(queue_, "decode_attention", join_parts_kernel, warps_over(heads), operands);
}

}  // namespace kernels::cuda
