#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the program's sources; quiet when there is nothing to say. Takes minutes, so that
# it is not part of test.sh. Needs a build folder with compile_commands.json.
#   tests/tidy.sh [build folder, default build] [part of a path, default all of kernels, engine, widgets, app]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build="${1:-build}"
part="${2:-}"
if ! command -v clang-tidy >/dev/null; then
  echo "clang-tidy is not installed (Debian: clang-tidy)" >&2
  exit 1
fi
if [ ! -f "$build/compile_commands.json" ]; then
  echo "$build has no compile_commands.json; run ./run.sh --build-only first" >&2
  exit 1
fi
find kernels engine widgets app -name '*.cpp' | { grep -F -- "$part" || true; } | sort |
  xargs -r -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated\|^Suppressed\|^Use -header-filter' >&2)
