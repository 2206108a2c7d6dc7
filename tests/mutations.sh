#!/usr/bin/env bash
# Plants faults in a copy of the repository, one at a time, and checks that the tests notice each.
#
#   tests/mutations.sh           all faults
#   tests/mutations.sh shift     those with "shift" in their name
#
# Not part of test.sh, because every fault costs a build of the engine's tests (a few minutes in all). Exit 0: every
# fault made the tests that are named beside it fail. Exit 1: a fault was not noticed, or the line that it changes is
# no longer there: then the fault's entry below has to follow the source.
# The copy holds the files that git knows or would add, with their uncommitted changes. TMPDIR says where it lies.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
only="${1:-}"
concerned='causality|decoding|golden|gradient|multipass|optimizer|stability|tape|trainer'

copy="$(mktemp -d -t fullband-mutations-XXXXXX)"
trap 'rm -rf "$copy"' EXIT
source="$copy/source"
build="$copy/build"
mkdir "$source"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -f "$file" ]; then printf '%s\0' "$file"; fi
done | xargs -0 cp --parents -t "$source")

# Only the tests concerned are built, and the program that others of them run is not.
find "$source/tests/engine" -name '*_test.cpp' | grep -Ev "/($concerned)_test\.cpp$" | xargs rm
sed -i '/add_dependencies/d' "$source/tests/CMakeLists.txt"

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR="$copy" CCACHE_NOHASHDIR=true  # the next copy has another name
fi
cmake -S "$source" -B "$build" -G Ninja -DFULLBAND_WINDOW=OFF -DWITH_CUDA=OFF "${launcher[@]}" >"$copy/configure.log"

# build_tests PROGRAM: its log is shown when it fails.
build_tests() {
  ninja -C "$build" "$1" >"$copy/build.log" 2>&1 || { tail -40 "$copy/build.log"; return 1; }
}

# passes PROGRAM FILTER
passes() {
  timeout 300 "$build/tests/$1" --gtest_filter="$2" --gtest_brief=1 >"$copy/test.log" 2>&1
}

planted=0
missed=0
# fault NAME FILE LINES 'SED EXPRESSION' PROGRAM FILTER: the expression must change exactly so many lines.
fault() {
  local name="$1" file="$2" lines="$3" expression="$4" program="$5" filter="$6"
  [[ "$name" == *"$only"* ]] || return 0
  cp "$source/$file" "$copy/original"
  sed -i -E "$expression" "$source/$file"
  local changed
  changed="$(diff "$copy/original" "$source/$file" | grep -c '^>' || true)"
  if [ "$changed" != "$lines" ]; then
    echo "mutations.sh: the fault '$name' changes $changed lines of $file instead of $lines" >&2
    exit 1
  fi
  planted=$((planted + 1))
  if ! build_tests "$program"; then
    echo "mutations.sh: with the fault '$name' the tests do not build" >&2
    exit 1
  fi
  local failed=0
  if ! passes "$program" "$filter"; then failed="$(grep -c '^\[  FAILED  \].*ms)' "$copy/test.log" || true)"; fi
  if [ "$failed" = 0 ]; then  # a crash alone names no test
    echo "NOT NOTICED  $name ($file)"
    missed=$((missed + 1))
  else
    echo "noticed      $name: $failed tests failed"
  fi
  # A newer time than the faulty file's, so that the next build sees it.
  cp "$copy/original" "$source/$file"
  touch "$source/$file"
}

build_tests engine_tests
if ! passes engine_tests '*'; then
  echo "mutations.sh: the tests fail without any fault" >&2
  tail -20 "$copy/test.log"
  exit 1
fi

# Wrong backwards.
fault 'backward: the product forgets its weight' engine/ops.cpp 1 \
  's/linear_backward_weight\(dy, t\.value\(x\), dw\.view, dw\.write\)/linear_backward_weight(dy, t.value(x), dw.view, Write::assign)/' \
  engine_tests '*GradientTest*:*TapeTest*'
fault 'backward: the gate of SwiGLU' kernels/cpu/pointwise.cpp 1 \
  's/\(s \+ silu \* \(1\.0F - s\)\)/(s - silu * (1.0F - s))/' \
  engine_tests '*GradientTest*'
fault 'backward: the detached state lets its gradient through' engine/multipass.cpp 1 \
  's/settings\.detach \? ops::detach\(tape, carried\) : carried/settings.detach ? carried : carried/' \
  engine_tests '*ObjectiveTest*:*GoldenTest*'
fault 'tape: later gradients overwrite earlier ones' engine/tape.cpp 1 \
  's/e\.arrived \? kernels::Write::accumulate : kernels::Write::assign/kernels::Write::assign/' \
  engine_tests '*GradientTest*:*TapeTest*'

# Directions and places.
fault 'shift: feedback reads the position itself' engine/multipass.cpp 1 \
  's/fused_input\(state, token, plain, fused, 1\)/fused_input(state, token, plain, fused, 0)/' \
  engine_tests '*GradientTest*'
fault 'shift: feedback reads the next position' kernels/cpu/fusion.cpp 1 \
  's/combine_row\(shape\.kind, state\.row\(n - shape\.shift\)/combine_row(shape.kind, state.row(std::min(n + shape.shift, state.rows - 1))/' \
  engine_tests '*CausalityTest*'
fault 'packing: a document start is fused' engine/multipass.cpp 1 \
  's/place >= plain && batch\.positions\[n\] > 0 \? 1 : 0/place >= plain ? 1 : 0/' \
  engine_tests '*FusedFlagsTest*:*CausalityTest*'

# Decoding.
fault 'prefill: the fused one goes after the old cache' engine/batch_decoder.cpp 6 \
  's/capacity_ = static_cast<std::int64_t>\(longest\) \+ max_new;/capacity_ = static_cast<std::int64_t>(2 * longest) + max_new;/
   s/prefill_\.plain_pass\(\);.*/prefill_.plain_pass(store);/
   s/^( *)(for \(int pass = 1; pass <= fused_prefill_passes; \+\+pass\) \{)/\1std::vector<std::int32_t> after = flat.cache_rows;\n\1for (auto\& row : after) row += lengths_[static_cast<std::size_t>(row \/ capacity_)];\n\1store.cache_rows = prefill_.keep_indices(after);\n\1for (auto\& length : lengths_) length *= 2;\n\1\2/' \
  engine_tests '*DecodingTest*'
fault 'prefill: the plain cache is kept' engine/batch_decoder.cpp 1 \
  's/pass == fused_prefill_passes \? store : StackHooks\{\}/StackHooks{}/' \
  engine_tests '*DecodingTest*'
fault 'decoding: Soft enters plain' engine/batch_decoder.cpp 1 \
  's/mode_ != DecodeMode::standard/mode_ == DecodeMode::fused/' \
  engine_tests '*DecodingTest*'

# Optimisers and resume.
fault 'optimiser: parameters without gradient are stepped' engine/optimizer.cpp 1 \
  's/if \(!has_gradient\(layout\[first\]\)\) \{/if (!has_gradient(layout[first]) \&\& false) {/' \
  engine_tests '*OptimizerTest*'
fault 'resume: the steps with gradient start again' engine/optimizer.cpp 1 \
  's/^  counts_ = counts;/  counts_.assign(counts.size(), 0);/' \
  engine_tests '*ResumeTest*:*OptimizerTest*'

# Barriers of the GPU engine, whose threads the host's device runs in random order.
fault 'barrier: a sum over a block is read before all warps gave theirs' kernels/cuda/reduce.cuh 1 \
  '/^__device__ T block_sum/,/T sum = 0/ s/^  __syncthreads\(\);$//' \
  cuda_host_tests '*SampleTest*'
fault 'barrier: tokens are compared before all of them are loaded' kernels/cuda/embedding.cu 1 \
  '/tile\[threadIdx\.x\] = /,/__syncthreads/ s/__syncthreads\(\);//' \
  cuda_host_tests '*EmbeddingTest*'
fault 'barrier: the lowest id is read before all warps gave theirs' kernels/cuda/sample.cu 1 \
  '/block_lowest\(std/,/std::int64_t lowest/ s/__syncthreads\(\);//' \
  cuda_host_tests '*SampleTest*'

echo "$planted faults planted, $missed not noticed"
if [ "$planted" = 0 ]; then
  echo "mutations.sh: no fault has '$only' in its name" >&2
  exit 1
fi
[ "$missed" = 0 ]
