#!/usr/bin/python3
"""Microseconds of one core a trained token, against length, passes, vocabulary and rows: tables in Markdown.

    tests/bench/growth.py [--cli build/fullband-cli] [--figure growth.svg]

The figure needs Debian's python3-matplotlib.
"""
import argparse
import json
import subprocess

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


def measure(cli, name, values):
    """Prints a row of the table for each value; returns the times and the memories."""
    times, memories = [], []
    for value in values:
        sizes = BASE | {name: value}
        if name == "seq":
            sizes["batch"] = 4096 // value
        time, memory = microseconds(cli, sizes)
        times.append(time)
        memories.append(memory)
        print(f"| {value:,} | {time:.1f} | {time / times[0]:.2f} | {memory:.0f} |", flush=True)
    return times, memories


def draw(results, path):
    """One panel a sweep: time on the left axis, memory on the right one."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fullband"  # the same file for the same numbers
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    figure, panels = pyplot.subplots(2, 2, figsize=(10, 6.4), constrained_layout=True)
    for panel, (name, (times, memories)) in zip(panels.flat, results.items()):
        title, values = SWEEPS[name]
        (time,) = panel.plot(values, times, "o-", color="#0072B2", label="µs a token")
        panel.set_xscale("log", base=2)
        panel.set_xticks(values, [f"{value:,}" for value in values])
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_xlabel(title)
        panel.set_ylabel("µs a token")
        panel.set_ylim(0, 1.4 * max(times))
        panel.grid(color="#DDDDDD")
        right = panel.twinx()
        (memory,) = right.plot(values, memories, "s--", color="#D55E00", label="peak memory, MiB")
        right.set_ylabel("peak memory, MiB")
        right.set_ylim(0, 1.6 * max(memories))
        right.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
        panel.legend(handles=[time, memory], loc="upper left", frameon=False)
    figure.suptitle("Training on one core, D 64, 4 layers")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default="build/fullband-cli")
    parser.add_argument("--figure", help="SVG file to draw")
    options = parser.parse_args()
    results = {}
    for name, (title, values) in SWEEPS.items():
        print(f"| {title} | µs a token | over the first | peak memory, MiB |\n|---|---|---|---|")
        results[name] = measure(options.cli, name, values)
        print()
    if options.figure:
        draw(results, options.figure)


if __name__ == "__main__":
    main()
