// Products of few rows: decoding, short prompts, small models. A result depends on its own row and its own weight row
// alone, so that a row gives the same bits alone, in a batch and on any number of threads.
#pragma once

#include "kernels/tensor.h"

namespace kernels::cpu {

/// y[N,O] (=, or += when `accumulate`) x[N,I] w[O,I]^T, on the calling thread.
void small_product(ConstView x, ConstView w, bool accumulate, View y);

}  // namespace kernels::cpu
