// Causal attention inside documents, backward (Dao et al. 2022): the weights are recomputed from the saved logsumexp,
// 64 rows against 64 at a time. Queries' gradients sum over keys in one kernel, keys' and values' over queries in
// another, so that every sum has one order and none needs atomics.
#pragma once

#include "kernels/cuda/attention_tile.cuh"

namespace kernels::cuda {

/// Operands of attention_backward.
struct Backward {
  ConstView dy, q, k, v, y, logsumexp;
  const std::int32_t* positions;
  AttentionShape shape;
  float scale;
  float* means;  ///< [N, H] dy . y
  View dq, dk, dv;
};

/// The weight of a key for a query, and the gradient of its score.
struct Pair {
  float weight;
  float dscore;
};

__device__ inline Pair pair_of(const Backward& o, std::int64_t query, std::int64_t key, std::int64_t head, float score,
                               float dweight) {
  if (query >= o.q.rows || key > query || key < first_seen(o.positions, query, o.shape.window)) return {0.0F, 0.0F};
  const float weight = expf(score * o.scale - o.logsumexp.row(query)[head]);
  return {weight, weight * (dweight - o.means[query * o.shape.heads + head]) * o.scale};
}

template <typename Tiles, int kParts>
__global__ void __launch_bounds__(kTileThreads, kParts == 1 ? 2 : 1)
    query_gradient_kernel(Backward o, TileItems items) {
  auto& room = *shared_memory<typename Tiles::Room>();
  const std::int64_t d = o.shape.head_dim;
  for (std::int64_t i = blockIdx.x; i < items.count(); i += gridDim.x) {
    const TileItem item = items.at(i);
    const std::int64_t g = item.head / (o.shape.heads / o.shape.kv_heads);
    const HeadRows q = head_rows(o.q, item.first, o.q.rows, item.head, d);
    const HeadRows dy = head_rows(o.dy, item.first, o.q.rows, item.head, d);
    const std::int64_t end = item.first + q.count;
    Columns<kParts> dq{};
    for (std::int64_t first = first_seen(o.positions, item.first, o.shape.window); first < end; first += kTile) {
      const HeadRows keys = head_rows(o.k, first, end, g, d);
      Share scores = Tiles::product(q, keys, d, room);
      const Share dweights = Tiles::product(dy, head_rows(o.v, first, end, g, d), d, room);
      FULLBAND_UNROLL
      for (int a = 0; a < 4; ++a) {
        FULLBAND_UNROLL
        for (int b = 0; b < 4; ++b) {
          const std::int64_t query = item.first + 4 * tile_y() + a;
          const std::int64_t key = first + tile_x() + kEdge * b;
          scores.at[a][b] = pair_of(o, query, key, item.head, scores.at[a][b], dweights.at[a][b]).dscore;
        }
      }
      Tiles::store_weights(scores, room);
      Tiles::add_weighted(keys, item.column, d, false, room, dq);
    }
    for_columns(dq, item.column, d, q.count, [&](int r, std::int64_t column, float value) {
      o.dq.row(item.first + r)[item.head * d + column] = value;
    });
  }
}

/// Adds the share of 64 queries from `first` on to the gradients of a tile of keys; tiles are turned: keys by queries.
template <typename Tiles, int kParts>
__device__ void add_queries(const Backward& o, const TileItem& item, std::int64_t first, std::int64_t head,
                            typename Tiles::Room& room, Columns<kParts>& dk, Columns<kParts>& dv) {
  const std::int64_t d = o.shape.head_dim;
  const HeadRows q = head_rows(o.q, first, o.q.rows, head, d);
  const HeadRows dy = head_rows(o.dy, first, o.q.rows, head, d);
  Share weights = Tiles::product(head_rows(o.k, item.first, o.q.rows, item.head, d), q, d, room);
  Share dscores = Tiles::product(head_rows(o.v, item.first, o.q.rows, item.head, d), dy, d, room);
  FULLBAND_UNROLL
  for (int a = 0; a < 4; ++a) {
    FULLBAND_UNROLL
    for (int b = 0; b < 4; ++b) {
      const std::int64_t key = item.first + 4 * tile_y() + a;
      const std::int64_t query = first + tile_x() + kEdge * b;
      const Pair pair = pair_of(o, query, key, head, weights.at[a][b], dscores.at[a][b]);
      weights.at[a][b] = pair.weight;
      dscores.at[a][b] = pair.dscore;
    }
  }
  Tiles::store_weights(weights, room);
  Tiles::add_weighted(dy, item.column, d, false, room, dv);
  Tiles::store_weights(dscores, room);
  Tiles::add_weighted(q, item.column, d, false, room, dk);
}

/// The items' heads are key heads.
template <typename Tiles, int kParts>
__global__ void __launch_bounds__(kTileThreads, kParts == 1 ? 2 : 1) key_gradient_kernel(Backward o, TileItems items) {
  auto& room = *shared_memory<typename Tiles::Room>();
  const std::int64_t d = o.shape.head_dim;
  const std::int64_t group = o.shape.heads / o.shape.kv_heads;
  for (std::int64_t i = blockIdx.x; i < items.count(); i += gridDim.x) {
    const TileItem item = items.at(i);
    const int keys = head_rows(o.k, item.first, o.q.rows, item.head, d).count;
    const std::int64_t end = item.first + keys;
    Columns<kParts> dk{};
    Columns<kParts> dv{};
    for (std::int64_t head = item.head * group; head < (item.head + 1) * group; ++head) {
      // First rows seen never go back, so that one query which sees none of the keys is the end.
      for (std::int64_t first = item.first; first < o.q.rows; first += kTile) {
        if (first_seen(o.positions, first, o.shape.window) >= end) break;
        add_queries<Tiles>(o, item, first, head, room, dk, dv);
      }
    }
    for_columns(dk, item.column, d, keys, [&](int r, std::int64_t column, float value) {
      o.dk.row(item.first + r)[item.head * d + column] = value;
    });
    for_columns(dv, item.column, d, keys, [&](int r, std::int64_t column, float value) {
      o.dv.row(item.first + r)[item.head * d + column] = value;
    });
  }
}

template <typename Tiles, int kParts>
void gradients_in_parts(const Queue& queue, const Backward& o) {
  const TileItems queries(o.q.rows, o.shape.heads, o.shape.head_dim, kParts * kTile);
  const TileItems keys(o.q.rows, o.shape.kv_heads, o.shape.head_dim, kParts * kTile);
  launch(queue, "attention_backward", query_gradient_kernel<Tiles, kParts>,
         Grid{queries.count(), kTileThreads, sizeof(typename Tiles::Room)}, o, queries);
  launch(queue, "attention_backward", key_gradient_kernel<Tiles, kParts>,
         Grid{keys.count(), kTileThreads, sizeof(typename Tiles::Room)}, o, keys);
}

template <typename Tiles>
void run_attention_backward(const Queue& queue, const Backward& o) {
  if (o.shape.head_dim <= kTile) {
    gradients_in_parts<Tiles, 1>(queue, o);
  } else {
    gradients_in_parts<Tiles, 2>(queue, o);
  }
}

}  // namespace kernels::cuda
