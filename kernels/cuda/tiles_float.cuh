// Products of attention's tiles in float32: each thread computes its own 16 values.
#pragma once

#include "kernels/cuda/attention_tile.cuh"

namespace kernels::cuda {

struct FloatTiles {
  static constexpr int kSlice = 32;         ///< columns of both operands that lie in shared memory at a time
  static constexpr int kSliceStride = 36;   ///< rows start at 16 bytes, and neighbouring rows in different banks
  static constexpr int kWeightStride = 68;  ///< likewise

  /// The block's shared memory for products.
  struct Room {
    float operands[2 * kTile * kSliceStride];
    float weights[kTile * kWeightStride];
  };

  /// Every row of a times every row of b.
  static __device__ Share product(const HeadRows& a, const HeadRows& b, std::int64_t head_dim, Room& room) {
    float* right = room.operands + kTile * kSliceStride;
    Share sum{};
    for (std::int64_t first = 0; first < head_dim; first += kSlice) {
      load_slice(a, first, head_dim, room.operands);
      load_slice(b, first, head_dim, right);
      __syncthreads();
      add_slice_product(room.operands, right, sum);
      __syncthreads();
    }
    return sum;
  }

  static __device__ void store_weights(const Share& share, Room& room) {
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) {
        room.weights[(4 * tile_y() + i) * kWeightStride + tile_x() + kEdge * j] = share.at[i][j];
      }
    }
  }

  /// sum += the stored weights times the values' columns from `first` on. With `skip_zeros` a weight of zero leaves out
  /// its value, which may be NaN in a row that is not seen.
  template <int kParts>
  static __device__ void add_weighted(const HeadRows& values, std::int64_t first, std::int64_t head_dim,
                                      bool skip_zeros, Room& room, Columns<kParts>& sum) {
    FULLBAND_UNROLL
    for (int p = 0; p < kParts; ++p) {
      const std::int64_t column = first + p * kTile;
      if (column >= head_dim) break;
      load_columns(values, column, head_dim, room.operands);
      __syncthreads();
      if (skip_zeros) {
        add_weighted_rows<true>(room, values.count, head_dim - column, sum.part[p]);
      } else {
        add_weighted_rows<false>(room, values.count, head_dim - column, sum.part[p]);
      }
      __syncthreads();
    }
  }

 private:
  static __device__ void load_slice(const HeadRows& rows, std::int64_t first, std::int64_t head_dim, float* to) {
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kSlice; i += kTileThreads) {
      const int r = i / kSlice;
      const int c = i % kSlice;
      to[r * kSliceStride + c] = head_value(rows, r, first + c, head_dim);
    }
  }

  static __device__ void add_slice_product(const float* a, const float* b, Share& sum) {
    for (int k = 0; k < kSlice; k += 4) {
      float4 right[4];
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) {
        right[j] = *reinterpret_cast<const float4*>(b + (tile_x() + kEdge * j) * kSliceStride + k);
      }
      FULLBAND_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float4 left = *reinterpret_cast<const float4*>(a + (4 * tile_y() + i) * kSliceStride + k);
        FULLBAND_UNROLL
        for (int j = 0; j < 4; ++j) {
          sum.at[i][j] = __fmaf_rn(left.x, right[j].x, sum.at[i][j]);
          sum.at[i][j] = __fmaf_rn(left.y, right[j].y, sum.at[i][j]);
          sum.at[i][j] = __fmaf_rn(left.z, right[j].z, sum.at[i][j]);
          sum.at[i][j] = __fmaf_rn(left.w, right[j].w, sum.at[i][j]);
        }
      }
    }
  }

  /// 64 columns of the rows, 64 floats a row.
  static __device__ void load_columns(const HeadRows& rows, std::int64_t first, std::int64_t head_dim, float* to) {
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kTile; i += kTileThreads) {
      to[i] = head_value(rows, i / kTile, first + i % kTile, head_dim);
    }
  }

  template <bool kSkipZeros>
  static __device__ void add_weighted_rows(const Room& room, int rows, std::int64_t cols, Share& sum) {
    for (int first = 0; first < rows; first += 4) {
      FULLBAND_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float* weights = room.weights + (4 * tile_y() + i) * kWeightStride + first;
        const float4 four = *reinterpret_cast<const float4*>(weights);
        const float row_weights[4] = {four.x, four.y, four.z, four.w};
        FULLBAND_UNROLL
        for (int r = 0; r < 4; ++r) {
          if (kSkipZeros && row_weights[r] == 0.0F) continue;
          FULLBAND_UNROLL
          for (int j = 0; j < 4; ++j) {
            if (kEdge * j >= cols) break;
            const float value = room.operands[(first + r) * kTile + tile_x() + kEdge * j];
            sum.at[i][j] = __fmaf_rn(row_weights[r], value, sum.at[i][j]);
          }
        }
      }
    }
  }
};

}  // namespace kernels::cuda
