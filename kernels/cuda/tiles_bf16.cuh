// Products of attention's tiles on tensor cores: operands and weights rounded to bf16, sums in float32. From Ampere on.
//
// A weight of zero does not leave out its value here: a value that is not finite reaches its whole tile.
#pragma once

#include <cuda_bf16.h>
#include <mma.h>

#include "kernels/cuda/attention_tile.cuh"

namespace kernels::cuda {

struct Bf16Tiles {
  static constexpr int kSlice = 32;         ///< columns of both operands that lie in shared memory at a time
  static constexpr int kSliceStride = 40;   ///< tiles of 16 rows start at 32 bytes, as tensor cores want it
  static constexpr int kWideStride = 72;    ///< likewise
  static constexpr int kResultStride = 68;  ///< likewise
  static constexpr int kPiece = 16;         ///< edge of what tensor cores multiply at a time
  static constexpr int kPieces = 2;         ///< of a result, for each of the eight warps

  /// The block's shared memory for products.
  struct alignas(32) Room {
    __nv_bfloat16 operands[2 * kTile * kSliceStride];
    __nv_bfloat16 weights[kTile * kWideStride];
    float results[kTile * kResultStride];
  };

  /// Every row of a times every row of b.
  static __device__ Share product(const HeadRows& a, const HeadRows& b, std::int64_t head_dim, Room& room) {
    __nv_bfloat16* right = room.operands + kTile * kSliceStride;
    Result sum[kPieces];
    clear(sum);
    for (std::int64_t first = 0; first < head_dim; first += kSlice) {
      load<kSlice, kSliceStride>(a, first, head_dim, room.operands);
      load<kSlice, kSliceStride>(b, first, head_dim, right);
      __syncthreads();
      for (int k = 0; k < kSlice; k += kPiece) {
        multiply<nvcuda::wmma::col_major>({room.operands + k, kSliceStride}, {right + k, kSliceStride, kSliceStride},
                                          sum);
      }
      __syncthreads();
    }
    return shared_out(sum, room);
  }

  static __device__ void store_weights(const Share& share, Room& room) {
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) {
        room.weights[(4 * tile_y() + i) * kWideStride + tile_x() + kEdge * j] = __float2bfloat16_rn(share.at[i][j]);
      }
    }
  }

  /// sum += the stored weights times the values' columns from `first` on.
  template <int kParts>
  static __device__ void add_weighted(const HeadRows& values, std::int64_t first, std::int64_t head_dim,
                                      bool /*skip_zeros*/, Room& room, Columns<kParts>& sum) {
    FULLBAND_UNROLL
    for (int p = 0; p < kParts; ++p) {
      const std::int64_t column = first + p * kTile;
      if (column >= head_dim) break;
      load<kTile, kWideStride>(values, column, head_dim, room.operands);
      __syncthreads();
      Result part[kPieces];
      clear(part);
      for (int k = 0; k < kTile; k += kPiece) {
        multiply<nvcuda::wmma::row_major>({room.weights + k, kWideStride},
                                          {room.operands + k * kWideStride, kWideStride, 1}, part);
      }
      const Share share = shared_out(part, room);
      FULLBAND_UNROLL
      for (int i = 0; i < 4; ++i) {
        FULLBAND_UNROLL
        for (int j = 0; j < 4; ++j) sum.part[p].at[i][j] += share.at[i][j];
      }
    }
  }

 private:
  using Result = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kPiece, kPiece, kPiece, float>;

  struct Left {
    const __nv_bfloat16* data;
    int stride;
  };
  /// `step` leads from a column of the product to the next.
  struct Right {
    const __nv_bfloat16* data;
    int stride;
    int step;
  };

  static __device__ int piece_row() { return warp_index() / 2 * kPiece; }
  static __device__ int piece_column(int p) { return (warp_index() % 2 * kPieces + p) * kPiece; }

  static __device__ void clear(Result (&sum)[kPieces]) {
    FULLBAND_UNROLL
    for (int p = 0; p < kPieces; ++p) nvcuda::wmma::fill_fragment(sum[p], 0.0F);
  }

  template <int kCount, int kStride>
  static __device__ void load(const HeadRows& rows, std::int64_t first, std::int64_t head_dim, __nv_bfloat16* to) {
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kCount; i += kTileThreads) {
      const int r = i / kCount;
      const int c = i % kCount;
      to[r * kStride + c] = __float2bfloat16_rn(head_value(rows, r, first + c, head_dim));
    }
  }

  /// sum += 16 columns of the left times 16 rows of the right, the warp's pieces of it.
  template <typename Layout>
  static __device__ void multiply(const Left& left, const Right& right, Result (&sum)[kPieces]) {
    using nvcuda::wmma::fragment;
    fragment<nvcuda::wmma::matrix_a, kPiece, kPiece, kPiece, __nv_bfloat16, nvcuda::wmma::row_major> a;
    nvcuda::wmma::load_matrix_sync(a, left.data + piece_row() * left.stride, static_cast<unsigned>(left.stride));
    FULLBAND_UNROLL
    for (int p = 0; p < kPieces; ++p) {
      fragment<nvcuda::wmma::matrix_b, kPiece, kPiece, kPiece, __nv_bfloat16, Layout> b;
      nvcuda::wmma::load_matrix_sync(b, right.data + piece_column(p) * right.step, static_cast<unsigned>(right.stride));
      nvcuda::wmma::mma_sync(sum[p], a, b, sum[p]);
    }
  }

  /// Gives every thread its share of the result. Operands and weights are free again on return, and the results behind
  /// the barrier that every product has before its own.
  static __device__ Share shared_out(const Result (&sum)[kPieces], Room& room) {
    FULLBAND_UNROLL
    for (int p = 0; p < kPieces; ++p) {
      nvcuda::wmma::store_matrix_sync(room.results + piece_row() * kResultStride + piece_column(p), sum[p],
                                      kResultStride, nvcuda::wmma::mem_row_major);
    }
    __syncthreads();
    Share share;
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) {
        share.at[i][j] = room.results[(4 * tile_y() + i) * kResultStride + tile_x() + kEdge * j];
      }
    }
    return share;
  }
};

}  // namespace kernels::cuda
