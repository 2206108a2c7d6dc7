#!/usr/bin/env bash
# Makes the shipped model anew: trains the demo recipe with seed 1 and puts weights, settings and metrics beside this file.
#   resources/models/make_demo.sh    (after ./run.sh --build-only; needs jq)
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
run="$(mktemp -d)/demo"
trap 'rm -rf "$(dirname "$run")"' EXIT
"$here/../../build/fullband-cli" train --recipe demo --seed 1 --out "$run"
checkpoint="$(ls -d "$run"/checkpoints/step-* | tail -n 1)"
cp "$checkpoint/model.safetensors" "$here/demo.safetensors"
cp "$run/metrics.jsonl" "$here/demo.jsonl"
# The machine that trained it is nobody's business.
jq -c 'del(.host)' "$run/run.json" >"$here/demo.json"
