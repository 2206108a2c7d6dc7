#!/usr/bin/env bash
# Fuzzes the readers with libFuzzer, AddressSanitizer and UBSan (Debian: clang). Compiles the few sources that read
# files, without CMake, into build-fuzz/; corpora stay there from one time to the next.
#   tests/fuzz/run.sh [seconds for each of the two programs, default 60]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds="${1:-60}"
build=build-fuzz
sources=(engine/{atomic_file,checkpoint,checkpoint_file,config,hash,json_fields,json_io,parameters,recipe}.cpp
         engine/{recipe_override,recipe_validation,run_lock,run_store,safetensors,safetensors_header,stored_tensor}.cpp
         kernels/shapes.cpp tests/fuzz/{safetensors,json}_fuzz.cpp)
flags=(-std=c++20 -g -O1 -I. -fno-sanitize-recover=all)

mkdir -p "$build"/corpus-{safetensors,json}
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} sh -c \
  'clang++ "$@" -fsanitize=fuzzer-no-link,address,undefined -c {} -o '"$build"'/$(basename {} .cpp).o' sh "${flags[@]}"

# A small valid file: mutations of a large one are slow and mostly change numbers.
header='{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"k":"v"}}'
printf "\\x$(printf %x "${#header}")\\0\\0\\0\\0\\0\\0\\0%s12345678" "$header" >"$build/corpus-safetensors/small.safetensors"
find resources/recipes -name '*.json' -exec cp -n {} "$build/corpus-json/" \;
for name in safetensors json; do
  objects=()
  for source in "${sources[@]}"; do
    object="$build/$(basename "$source" .cpp).o"
    case "$object" in */*_fuzz.o) [ "$object" = "$build/${name}_fuzz.o" ] || continue ;; esac
    objects+=("$object")
  done
  clang++ "${flags[@]}" -fsanitize=fuzzer,address,undefined "${objects[@]}" -o "$build/${name}_fuzz"
  "$build/${name}_fuzz" -max_total_time="$seconds" -print_final_stats=1 "$build/corpus-$name"
done
