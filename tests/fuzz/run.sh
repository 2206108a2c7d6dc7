#!/usr/bin/env bash
# Fuzzes the readers with libFuzzer, AddressSanitizer and UBSan (needs clang):
#   tests/fuzz/run.sh [seconds for each of the two programs, default 60]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds="${1:-60}"
build=build-fuzz
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DFULLBAND_TESTS=OFF \
      -DFULLBAND_WINDOW=OFF -DCMAKE_CXX_FLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" >/dev/null
ninja -C "$build" fullband_engine
libraries=("$build/engine/libfullband_engine.a" "$build/kernels/libfullband_kernels.a")
for name in safetensors json; do
  clang++ -std=c++20 -g -O1 -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all "tests/fuzz/${name}_fuzz.cpp" \
          "${libraries[@]}" -fopenmp $(pkg-config --libs openblas sentencepiece) -o "$build/${name}_fuzz"
  mkdir -p "$build/corpus-$name"
  case "$name" in
    safetensors) cp -n tests/golden/gate_unit.safetensors "$build/corpus-$name/" ;;
    json) find resources/recipes -name '*.json' -exec cp -n {} "$build/corpus-$name/" \; ;;
  esac
  "$build/${name}_fuzz" -max_total_time="$seconds" -print_final_stats=1 "$build/corpus-$name"
done
