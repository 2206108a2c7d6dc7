#!/usr/bin/env python3
"""Times this program beside eager and compiled PyTorch on one GPU, in turn, and prints a table.

    python3 tests/bench/compare_gpu.py --cli build/fullband-cli [--device cuda:0,bf16] [--until SECONDS]

Without PyTorch it prints this program's figures alone. After --until seconds no further size is begun.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time

# dim, layers, heads, ffn, rows, tokens a row; the most telling ones first
SIZES = [(512, 8, 8, 1408, 16, 1024), (1024, 12, 16, 2816, 8, 1024), (128, 4, 4, 352, 64, 256),
         (256, 8, 8, 704, 32, 512), (512, 12, 8, 1408, 8, 2048)]


def options(size):
    names = ("dim", "layers", "heads", "ffn", "batch", "seq")
    return [text for name, value in zip(names, size) for text in ("--" + name, str(value))] + ["--vocab", "8192"]


def figures(command):
    """The command's JSON object; None when it fails, for one side without memory is no reason to stop the other."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.strip().splitlines()[-1])
    print(f"failed: {' '.join(command)}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return None


def peers(a, size):
    if importlib.util.find_spec("torch") is None:
        return None, None
    script = os.path.join(os.path.dirname(__file__), "bench_torch_gpu.py")
    command = [sys.executable, script, "--device", a.device.split(",")[0], *options(size)]
    return figures(command), figures(command + ["--compile"])


def cell(mine, others, value, larger_is_better):
    """Ours, then how many times better than each peer."""
    if mine is None:
        return "-"
    text = f"{value(mine):,.4g}"
    for other in others:
        if other is None:
            text += " / -"
            continue
        ratio = value(mine) / value(other)
        text += f" / {ratio if larger_is_better else 1 / ratio:.2f}"
    return text


def row(a, size):
    mine = figures([a.cli, "bench", "--json", "--device", a.device, *options(size)])
    others = peers(a, size)
    cells = [f"{size[0]}, {size[1]}, {size[5]}"]
    for k in "123":
        cells.append(cell(mine, others, lambda r, k=k: r["train_tokens_per_s"][k], True))
    for mode in ("standard", "soft"):
        cells.append(cell(mine, others, lambda r, mode=mode: r["decode_ms_per_token"][mode], False))
    cells.append(cell(mine, others, lambda r: r["device_memory_mib"], False))
    share = None if mine is None else mine["share_of_ceiling"]
    cells.append("-" if share is None else f"{100 * share:.0f} % of {mine['product_ceiling_gflops'] / 1e3:.1f} TFLOP/s")
    return "| " + " | ".join(cells) + " |"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cli", default="build/fullband-cli")
    ap.add_argument("--device", default="cuda:0,bf16")
    ap.add_argument("--until", type=float, default=600)
    a = ap.parse_args()
    begin = time.monotonic()
    print("Each cell: ours / times better than eager PyTorch / than compiled PyTorch. Vocabulary 8192.\n")
    print("| D, L, T | training K = 1, tokens/s | K = 2 | K = 3 | decoding Standard, ms/token | Soft "
          "| memory, MiB | products of the step |")
    print("|" + "---|" * 8, flush=True)
    for size in SIZES:
        if time.monotonic() - begin < a.until:
            print(row(a, size), flush=True)


if __name__ == "__main__":
    main()
