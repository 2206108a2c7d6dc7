// Causal attention inside documents (method page, "The stack"), forward: 64 queries at a time against chunks of 64
// keys, with the running maximum and sum of the online softmax (Milakov and Gimelshein 2018), so that no T x T matrix
// exists.
//
// Chunks start at places of the document, not of the batch, so that a document has the same bits alone and packed.
#pragma once

#include "kernels/cuda/attention_tile.cuh"

namespace kernels::cuda {

/// Operands of attention.
struct Forward {
  ConstView q, k, v;
  const std::int32_t* positions;
  AttentionShape shape;
  float scale;
  View y, logsumexp;
};

template <typename Tiles>
struct ForwardRoom {
  typename Tiles::Room products;
  std::int64_t documents[kTile];  ///< first row of each row's document
};

/// Maximum and sum of exponentials so far of the thread's four rows.
struct RunningSoftmax {
  float top[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  float sum[4] = {};
};

/// Rows of a tile, counted from its start, that are of one document.
struct Segment {
  int begin;
  int end;
};

/// Keys [first, end) of the segment's document.
struct KeyChunk {
  std::int64_t first;
  std::int64_t end;
};

/// Whether each of the thread's columns of row 4y + i is seen.
__device__ inline bool is_seen(const Forward& o, std::int64_t tile, const Segment& segment, const KeyChunk& chunk,
                               int i, int j) {
  const int r = 4 * tile_y() + i;
  if (r < segment.begin || r >= segment.end) return false;
  const std::int64_t row = tile + r;
  const std::int64_t key = chunk.first + tile_x() + kEdge * j;
  return key <= row && key >= first_seen(o.positions, row, o.shape.window);
}

/// Turns scores into weights relative to the new maximum; gives the factors by which what was summed before shrinks.
/// A row that sees none of the chunk keeps its bits.
__device__ inline void weigh(const Forward& o, std::int64_t tile, const Segment& segment, const KeyChunk& chunk,
                             Share& scores, RunningSoftmax& running, float (&shrink)[4]) {
  FULLBAND_UNROLL
  for (int i = 0; i < 4; ++i) {
    bool seen[4];
    float top = -INFINITY;
    FULLBAND_UNROLL
    for (int j = 0; j < 4; ++j) {
      seen[j] = is_seen(o, tile, segment, chunk, i, j);
      scores.at[i][j] *= o.scale;
      if (seen[j]) top = fmaxf(top, scores.at[i][j]);
    }
    top = fmaxf(running.top[i], edge_max(top));
    float sum = 0.0F;
    FULLBAND_UNROLL
    for (int j = 0; j < 4; ++j) {
      scores.at[i][j] = seen[j] ? expf(scores.at[i][j] - top) : 0.0F;
      sum += scores.at[i][j];
    }
    shrink[i] = running.top[i] == top ? 1.0F : expf(running.top[i] - top);
    running.sum[i] = running.sum[i] * shrink[i] + group_sum(sum, kEdge);
    running.top[i] = top;
  }
}

template <int kParts>
__device__ void scale_rows(const float (&factors)[4], Columns<kParts>& sum) {
  FULLBAND_UNROLL
  for (int p = 0; p < kParts; ++p) {
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) sum.part[p].at[i][j] *= factors[i];
    }
  }
}

/// The segment's rows against the keys of their document.
template <typename Tiles, int kParts>
__device__ void attend(const Forward& o, const TileItem& item, const Segment& segment, ForwardRoom<Tiles>& room,
                       RunningSoftmax& running, Columns<kParts>& sum) {
  const std::int64_t d = o.shape.head_dim;
  const std::int64_t g = item.head / (o.shape.heads / o.shape.kv_heads);
  const std::int64_t document = room.documents[segment.begin];
  const std::int64_t end = item.first + segment.end;
  const std::int64_t offset = first_seen(o.positions, item.first + segment.begin, o.shape.window) - document;
  const std::int64_t last_begin = first_seen(o.positions, end - 1, o.shape.window);
  for (std::int64_t first = document + offset / kTile * kTile; first < end; first += kTile) {
    const KeyChunk chunk{first, end};
    Share scores = Tiles::product(head_rows(o.q, item.first, end, item.head, d), head_rows(o.k, first, end, g, d), d,
                                  room.products);
    float shrink[4];
    weigh(o, item.first, segment, chunk, scores, running, shrink);
    scale_rows(shrink, sum);
    Tiles::store_weights(scores, room.products);
    const bool is_full = segment.begin == 0 && segment.end == kTile && first + kTile <= item.first + 1;
    const bool skip_zeros = !is_full || last_begin > first;
    Tiles::add_weighted(head_rows(o.v, first, end, g, d), item.column, d, skip_zeros, room.products, sum);
  }
}

template <int kParts>
__device__ void finish(const Forward& o, const TileItem& item, int rows, const RunningSoftmax& running,
                       Columns<kParts>& sum) {
  const float inverse[4] = {1.0F / running.sum[0], 1.0F / running.sum[1], 1.0F / running.sum[2], 1.0F / running.sum[3]};
  scale_rows(inverse, sum);
  for_columns(sum, item.column, o.shape.head_dim, rows, [&](int r, std::int64_t column, float value) {
    o.y.row(item.first + r)[item.head * o.shape.head_dim + column] = value;
  });
  FULLBAND_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int r = 4 * tile_y() + i;
    if (tile_x() != 0 || item.column != 0 || r >= rows) continue;
    o.logsumexp.row(item.first + r)[item.head] = running.top[i] + logf(running.sum[i]);
  }
}

template <typename Tiles, int kParts>
__global__ void __launch_bounds__(kTileThreads, kParts == 1 ? 2 : 1) attention_kernel(Forward o, TileItems items) {
  ForwardRoom<Tiles>& room = *shared_memory<ForwardRoom<Tiles>>();
  for (std::int64_t i = blockIdx.x; i < items.count(); i += gridDim.x) {
    const TileItem item = items.at(i);
    const int rows = head_rows(o.q, item.first, o.q.rows, item.head, o.shape.head_dim).count;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < rows) room.documents[thread] = first_seen(o.positions, item.first + thread, 0);
    __syncthreads();
    RunningSoftmax running;
    Columns<kParts> sum{};
    for (Segment segment{0, 0}; segment.begin < rows; segment.begin = segment.end) {
      segment.end = segment.begin + 1;
      while (segment.end < rows && room.documents[segment.end] == room.documents[segment.begin]) ++segment.end;
      attend(o, item, segment, room, running, sum);
    }
    finish(o, item, rows, running, sum);
    __syncthreads();
  }
}

template <typename Tiles, int kParts>
void attention_in_parts(const Queue& queue, const Forward& o) {
  const TileItems items(o.q.rows, o.shape.heads, o.shape.head_dim, kParts * kTile);
  launch(queue, "attention", attention_kernel<Tiles, kParts>,
         Grid{items.count(), kTileThreads, sizeof(ForwardRoom<Tiles>)}, o, items);
}

/// Wider heads keep more columns in registers.
template <typename Tiles>
void run_attention(const Queue& queue, const Forward& o) {
  if (o.shape.head_dim <= kTile) {
    attention_in_parts<Tiles, 1>(queue, o);
  } else {
    attention_in_parts<Tiles, 2>(queue, o);
  }
}

}  // namespace kernels::cuda
