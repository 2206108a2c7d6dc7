"""What compare.sh runs: ours and the peer's benchmark in turn, then a table of medians and of their ratios."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

# dim: layers, heads, ffn, rows, tokens a row
SIZES = {64: (4, 4, 176, 32, 128), 128: (4, 4, 352, 32, 128), 256: (6, 8, 704, 8, 256), 512: (8, 8, 1408, 4, 256)}
PEER = {"train_1": "train K=1 tokens/s", "train_2": "train K=2 tokens/s", "train_3": "train K=3 tokens/s",
        "decode_standard": "decode standard ms/token", "decode_soft": "decode soft ms/token"}


def arguments(dim, vocab):
    layers, heads, ffn, rows, seq = SIZES[dim]
    pairs = (("dim", dim), ("layers", layers), ("heads", heads), ("ffn", ffn), ("vocab", vocab), ("batch", rows),
             ("seq", seq))
    return [text for name, value in pairs for text in ("--" + name, str(value))]


def run(command, environment):
    """Standard output, and the peak memory of the process in MiB."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=os.environ | environment) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return out, usage.ru_maxrss / 1024


def ours(a, dim, vocab):
    # As its steps are shorter, more of them fit into the time that the peer's take.
    command = [a.cli, "bench", "--json", "--repeats", str(4 * a.reps), "--seconds", "10", *arguments(dim, vocab)]
    if a.processor_time:
        command += ["--processor-time", "--threads", "1"]
    result = json.loads(run(command, {})[0])
    figures = {f"train_{k}": v for k, v in result["train_tokens_per_s"].items()}
    figures |= {f"decode_{mode}": v for mode, v in result["decode_ms_per_token"].items()}
    return figures | {"memory": result["peak_memory_mib"], "ceiling": result["product_ceiling_gflops"],
                      "share": result["share_of_ceiling"], "allocations": result["allocations_per_step"],
                      "batched": result["batched_decode_speedup"], "prefill": result["prefill_tokens_per_s"]}


def peer(a, dim, vocab):
    reference = os.path.join(os.path.dirname(__file__), "..", "reference")
    script = [os.path.join(reference, "bench_torch.py")]
    if a.processor_time:
        script = ["-c", f"import sys, time; sys.path.insert(0, {reference!r}); time.perf_counter = time.process_time; "
                        "import bench_torch; bench_torch.main()"]
    # Fewer page faults: the fair setting.
    fair = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000"}
    threads = "1" if a.processor_time else a.peer_threads
    command = [sys.executable, *script, "--reps", str(a.reps), "--threads", threads, *arguments(dim, vocab)]
    out, memory = run(command, fair)
    best = dict(re.findall(r"^best (.+): ([0-9.]+) \(threads", out, re.M))
    return {name: float(best[label]) for name, label in PEER.items()} | {"memory": memory}


def median(rounds, name):
    return statistics.median(r[name] for r in rounds)


def table_row(dim, vocab, mine, theirs):
    def ratio(name, larger_is_better):
        ratios = [m[name] / t[name] if larger_is_better else t[name] / m[name] for m, t in zip(mine, theirs)]
        return statistics.median(ratios)

    cells = [str(dim), str(vocab)]
    for k in (1, 2, 3):
        cells.append(f"{median(mine, f'train_{k}'):,.0f} / {median(theirs, f'train_{k}'):,.0f} "
                     f"= {ratio(f'train_{k}', True):.1f}")
    for mode in ("standard", "soft"):
        cells.append(f"{median(mine, f'decode_{mode}'):.3f} / {median(theirs, f'decode_{mode}'):.2f} "
                     f"= {ratio(f'decode_{mode}', False):.0f}")
    cells.append(f"{median(mine, 'memory'):.0f} / {median(theirs, 'memory'):.0f} = "
                 f"{1 / ratio('memory', False):.2f}")
    cells += [f"{median(mine, 'ceiling'):.0f}", f"{100 * median(mine, 'share'):.0f} %",
              f"{median(mine, 'train_1') / median(mine, 'train_2'):.2f}, "
              f"{median(mine, 'train_1') / median(mine, 'train_3'):.2f}",
              f"{median(mine, 'batched'):.1f}", f"{max(m['allocations'] for m in mine)}"]
    return "| " + " | ".join(cells) + " |"


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--cli", default="build/fullband-cli")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--sizes", default="64,128,256,512")
    ap.add_argument("--vocab", default="96,8192")
    ap.add_argument("--peer-threads", default="1,2")
    ap.add_argument("--processor-time", action="store_true",
                    help="one thread each, counted in processor time: for a machine that has other work")
    a = ap.parse_args()
    print("Each cell: ours / PyTorch's = how many times better (memory: share of PyTorch's).\n")
    print("| D | vocabulary | training K = 1, tokens/s | K = 2 | K = 3 | decoding Standard, ms/token | Soft "
          "| peak memory, MiB | products alone, GFLOP/s | share reached | step K = 2, 3 over K = 1 "
          "| 32 rows decoded, times one | allocations a step |")
    print("|" + "---|" * 13, flush=True)
    for dim in map(int, a.sizes.split(",")):
        for vocab in map(int, a.vocab.split(",")):
            mine, theirs = [], []
            for _ in range(a.rounds):
                mine.append(ours(a, dim, vocab))
                theirs.append(peer(a, dim, vocab))
            print(table_row(dim, vocab, mine, theirs), flush=True)


if __name__ == "__main__":
    main()
