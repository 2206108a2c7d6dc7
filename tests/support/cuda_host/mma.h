// The part of nvcuda::wmma that kernels/cuda uses, on the host: a warp's 16 x 16 x 16 products of bf16 with float32
// sums. Lane l holds eight values of row l / 2 of a result, and what it needs of the operands.
#pragma once

#include "tests/support/cuda_host/cuda_bf16.h"
#include "tests/support/cuda_host/cuda_runtime.h"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int kRows, int kCols, int kInner, typename T, typename Layout = void>
struct fragment;

template <>
struct fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> {
  float row[16];
};
template <typename Layout>
struct fragment<matrix_b, 16, 16, 16, __nv_bfloat16, Layout> {
  float columns[16][8];
};
template <>
struct fragment<accumulator, 16, 16, 16, float> {
  float x[8];
};

inline int own_row() { return cuda_host::lane() / 2; }
inline int own_column() { return cuda_host::lane() % 2 * 8; }

inline void fill_fragment(fragment<accumulator, 16, 16, 16, float>& to, float value) {
  for (float& x : to.x) x = value;
}

inline void load_matrix_sync(fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>& to, const __nv_bfloat16* from,
                             unsigned stride) {
  for (unsigned k = 0; k < 16; ++k) to.row[k] = __bfloat162float(from[static_cast<unsigned>(own_row()) * stride + k]);
}

inline void load_matrix_sync(fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major>& to, const __nv_bfloat16* from,
                             unsigned stride) {
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned j = 0; j < 8; ++j) {
      to.columns[k][j] = __bfloat162float(from[k * stride + static_cast<unsigned>(own_column()) + j]);
    }
  }
}

inline void load_matrix_sync(fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major>& to, const __nv_bfloat16* from,
                             unsigned stride) {
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned j = 0; j < 8; ++j) {
      to.columns[k][j] = __bfloat162float(from[(static_cast<unsigned>(own_column()) + j) * stride + k]);
    }
  }
}

template <typename Layout>
void mma_sync(fragment<accumulator, 16, 16, 16, float>& to,
              const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>& a,
              const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, Layout>& b,
              const fragment<accumulator, 16, 16, 16, float>& c) {
  __syncwarp();
  for (int j = 0; j < 8; ++j) {
    float sum = c.x[j];
    for (int k = 0; k < 16; ++k) sum += a.row[k] * b.columns[k][j];
    to.x[j] = sum;
  }
}

inline void store_matrix_sync(float* to, const fragment<accumulator, 16, 16, 16, float>& from, unsigned stride,
                              layout_t /*layout*/) {
  for (unsigned j = 0; j < 8; ++j) {
    to[static_cast<unsigned>(own_row()) * stride + static_cast<unsigned>(own_column()) + j] = from.x[j];
  }
}

}  // namespace nvcuda::wmma
