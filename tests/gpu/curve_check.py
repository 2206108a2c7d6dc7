#!/usr/bin/env python3
"""Compares the losses of two trainings, step by step: curve_check.py RUN_A RUN_B TOLERANCE

Fails when a step is missing or the objectives differ by more than TOLERANCE relative to the first run's.
"""
import json
import sys


def losses(folder):
    with open(f"{folder}/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {line["step"]: line["train/loss"] for line in lines if "train/loss" in line}


def main():
    a, b, tolerance = losses(sys.argv[1]), losses(sys.argv[2]), float(sys.argv[3])
    if not a or a.keys() != b.keys():
        sys.exit(f"the runs have other steps: {len(a)} and {len(b)}")
    step = max(a, key=lambda s: abs(a[s] - b[s]) / abs(a[s]))
    worst = abs(a[step] - b[step]) / abs(a[step])
    print(f"{len(a)} steps, losses {a[min(a)]:.4f} to {a[max(a)]:.4f}, largest difference {worst:.1e} at step {step}")
    if not worst <= tolerance:
        sys.exit(f"the losses differ by more than {tolerance}")


if __name__ == "__main__":
    main()
