#!/usr/bin/env bash
# Times this program beside eager PyTorch on the same work, in alternation, and prints median ratios.
#   tests/bench/compare.sh [--cli build/fullband-cli] [--rounds 3] [--sizes 64,128,256,512] [--vocab 96,8192]
# Needs Debian's python3-torch. The machine should do nothing else meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=/usr/bin/python3
if ! "$python" -c 'import torch' 2>/dev/null; then
  echo "PyTorch is missing; as root: apt-get install python3-torch" >&2
  exit 1
fi
exec "$python" tests/bench/compare.py "$@"
