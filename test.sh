#!/usr/bin/env bash
# Builds the program with its tests and runs them all. Works from any folder; arguments go to ctest:
#   ./test.sh              everything
#   ./test.sh -R Recipe    the tests with Recipe in their name
# With CI=true warnings are errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. scripts/setup.sh

install_missing "${build_packages[@]}" "${test_packages[@]}"
build_release  # everything
export QT_QPA_PLATFORM=offscreen
exec ctest --test-dir build -j2 --output-on-failure --no-tests=error "$@"
