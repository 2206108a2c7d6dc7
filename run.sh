#!/usr/bin/env bash
# Builds the program and runs it: the window where there is a display, otherwise a training of the demo recipe that
# leaves plots and a report in out/. Works from any folder.
#   ./run.sh               build, then run
#   ./run.sh --build-only  build alone
#   ./run.sh ARGUMENTS...  build, then run with these arguments
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. scripts/setup.sh

build_only=false
if [ "${1:-}" = "--build-only" ]; then
  build_only=true
  shift
fi

install_missing "${build_packages[@]}"
build_release fullband fullband-cli
if [ "$build_only" = true ]; then
  exit 0
fi

if [ -n "${DISPLAY:-}" ] || [ -n "${WAYLAND_DISPLAY:-}" ]; then
  exec build/fullband "$@"
fi
run="out/demo-$(date +%Y%m%d-%H%M%S)"
say "No display: training the demo recipe into $run"
build/fullband-cli train --recipe demo --out "$run" --log "$@"
build/fullband --report out --run "$run"
