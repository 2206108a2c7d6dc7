#!/usr/bin/env bash
# Checks the GPU engine on a machine with an NVIDIA GPU, in under eight minutes from nothing: builds it, runs the contract
# of the backend and the golden files on the device, looks for bad accesses and races with compute-sanitizer, trains one
# recipe on both devices, and measures speed beside PyTorch.
#   tests/gpu/check.sh [--device N] [--no-bench]
# Exit status: 0 all well, 1 something failed, 77 no GPU or no CUDA Toolkit here. The table of speeds is written to
# tests/bench/results-NAME.md with the GPU's name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds_for_all=480
device=0
with_bench=true
while [ "$#" -gt 0 ]; do
  case "$1" in
    --device) device="$2"; shift 2 ;;
    --no-bench) with_bench=false; shift ;;
    *) echo "unknown argument '$1'; see the top of $0" >&2; exit 1 ;;
  esac
done

say() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
not_here() { echo "$*: the GPU engine was not checked."; exit 77; }

if ! nvidia-smi -i "$device" >/dev/null 2>&1; then
  not_here "This machine has no usable NVIDIA GPU number $device"
fi
export PATH="$PATH:/usr/local/cuda/bin"
if ! command -v nvcc >/dev/null; then
  not_here "The CUDA Toolkit (nvcc) is not installed"
fi
name="$(nvidia-smi -i "$device" --query-gpu=name --format=csv,noheader)"
say "$name, $(nvcc --version | grep release)"

build="build-gpu"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=()
# Runs a command; a failure is remembered and the other checks go on.
check() {
  local what="$1"
  shift
  say "$what"
  "$@" || failed+=("$what")
}

say "build"
. scripts/setup.sh
mapfile -t packages < <(printf '%s\n' "${build_packages[@]}" | grep -v -e qt -e qcustomplot -e fonts)
install_missing "${packages[@]}"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWITH_CUDA=ON -DFULLBAND_WINDOW=OFF -DCMAKE_CUDA_ARCHITECTURES=native >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target kernels_tests fullband-cli
cli="$build/$(cd "$build" && find . -name fullband-cli -type f -perm -u+x | head -1)"
tests="$build/tests/kernels_tests"
export CUDA_VISIBLE_DEVICES="$device"

check "contract of the backend" "$tests" --gtest_brief=1 --gtest_filter='*/cuda_*:MakeBackend.*'
check "golden files" "$cli" golden tests/golden --device cuda:0

# Every kernel on few rows; what asks for impossible memory stays out.
small='*/cuda_contiguous:-*Memory*:*Long*:*WholeBackend*:*DrawsFollow*:*LossAndGradients*:*ForwardMatchesTheOracle*'
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    check "compute-sanitizer $tool" timeout 100 compute-sanitizer --tool "$tool" --error-exitcode 1 "$tests" \
      --gtest_brief=1 --gtest_filter="$small"
  done
else
  say "compute-sanitizer is not installed: bad accesses and races were not looked for"
fi

train() { "$cli" train --recipe quick --set train.steps=60 --seed 1 --device "$1" --out "$2" >/dev/null; }
same_curve() {
  train cpu "$work/cpu" && train cuda:0 "$work/gpu" &&
    python3 tests/gpu/curve_check.py "$work/cpu" "$work/gpu" 2e-3
}
check "training on the CPU and on the GPU" same_curve

speed() {
  local results
  results="tests/bench/results-$(echo "$name" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-').md"
  printf '# Speed on one %s\n\nDriver %s, %s. Written by tests/gpu/check.sh.\n\n' "$name" \
    "$(nvidia-smi -i "$device" --query-gpu=driver_version --format=csv,noheader)" \
    "$(nvcc --version | grep release)" >"$work/results.md"
  python3 tests/bench/compare_gpu.py --cli "$cli" --device cuda:0,bf16 \
    --until $((seconds_for_all - SECONDS - 60)) | tee -a "$work/results.md" || return 1
  cp "$work/results.md" "$results"
}
if [ "$with_bench" = true ]; then
  check "speed" speed
fi

say "done"
if [ "${#failed[@]}" -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "all checks passed on $name"
