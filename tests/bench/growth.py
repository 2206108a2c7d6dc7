#!/usr/bin/env python3
"""Microseconds of one core a trained token, against length, passes, vocabulary and rows: tables in Markdown.

    tests/bench/growth.py [build/fullband-cli]
"""
import json
import subprocess
import sys

BASE = {"dim": 64, "layers": 4, "heads": 4, "ffn": 176, "vocab": 96, "batch": 32, "seq": 128, "passes": 1}
SWEEPS = {
    "seq": ("Length T (rows so that a step has 4,096 tokens)", [128, 256, 512, 1024, 2048, 4096]),
    "passes": ("Passes K", [1, 2, 3, 4, 6, 8]),
    "vocab": ("Vocabulary V", [96, 512, 2048, 8192, 32768]),
    "batch": ("Rows of 128 tokens", [1, 4, 16, 64, 256]),
}


def microseconds(cli, sizes):
    arguments = [text for name, value in sizes.items() for text in ("--" + name, str(value))]
    command = [cli, "bench", "--json", "--threads", "1", "--processor-time", "--repeats", "3", "--decode", "1",
               "--decode-rows", "1", *arguments]
    result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
    return 1e6 / result["train_tokens_per_s"][str(sizes["passes"])], result["peak_memory_mib"]


def main():
    cli = sys.argv[1] if len(sys.argv) > 1 else "build/fullband-cli"
    for name, (title, values) in SWEEPS.items():
        print(f"| {title} | µs a token | over the first | peak memory, MiB |\n|---|---|---|---|")
        first = None
        for value in values:
            sizes = BASE | {name: value}
            if name == "seq":
                sizes["batch"] = 4096 // value
            time, memory = microseconds(cli, sizes)
            first = first or time
            print(f"| {value:,} | {time:.1f} | {time / first:.2f} | {memory:.0f} |", flush=True)
        print()


if __name__ == "__main__":
    main()
