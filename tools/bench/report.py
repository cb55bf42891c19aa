#!/usr/bin/python3
"""One table of what is measured: ours, the ceiling or the peer, their ratio, and what is asked.

Each pair is measured in one run, interleaved where two programs are compared (A B A B), and the
best of the repetitions is taken (of swaps the median): the machine is shared. Called by
tools/bench/run, which has built everything. A row that could not be measured says why and makes
the exit status 1; a figure that is not reached does not: it is a fact.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import swap
from demo_node import Stopped

FOLDER = os.path.dirname(os.path.abspath(__file__))
CHUNK_BYTES = 65000  # the piece that a node seals
REPETITIONS = 3


class Row:
    """`goal` is the least ratio of rates, ours over the other's."""

    def __init__(self, what, ours, other, other_name, unit, goal):
        self.what, self.ours, self.other, self.other_name = what, ours, other, other_name
        self.unit, self.goal = unit, goal
        self.ratio = ours / other

    def line(self):
        holds = "yes" if self.ratio >= self.goal else "NO"
        return (f"{self.what:<28} {self.ours:>12,.3f} {self.other:>12,.3f} {self.unit:<10}"
                f" {self.ratio:>6.2f} {self.goal:>6.2f}  {holds:<4} {self.other_name}")

    def document(self):
        return {"what": self.what, "ours": self.ours, "other": self.other, "unit": self.unit,
                "other_name": self.other_name, "ratio": round(self.ratio, 4), "goal": self.goal,
                "reached": self.ratio >= self.goal}


def best_rates(build, program, counter, pattern):
    """The best of each benchmark's repetitions, by name; they are interleaved at random."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(
            [os.path.join(build, "tools", "bench", program), f"--benchmark_filter={pattern}",
             f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.2",
             "--benchmark_enable_random_interleaving=true",
             f"--benchmark_out={out.name}", "--benchmark_out_format=json"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runs = json.load(open(out.name, encoding="utf-8"))["benchmarks"]
    rates = {}
    for run in runs:
        if run["run_type"] == "iteration":
            name = run["run_name"]
            rates[name] = max(rates.get(name, 0), run[counter])
    return rates


def best_level(rates, name, suffix):
    """The rate at the highest kernel level measured."""
    for level in ("v4", "v3", "v2", "scalar"):
        if f"{name}/{level}{suffix}" in rates:
            return rates[f"{name}/{level}{suffix}"], level
    raise Stopped(f"{name}{suffix} was not measured")


def seal_rows(build):
    rates = best_rates(build, "seal_bench", "bytes_per_second", f"/{CHUNK_BYTES}$")
    for verb in ("seal", "open"):
        raw = {kind: rates[f"{kind}_{verb}/{CHUNK_BYTES}"] for kind in ("sodium", "evp")}
        fastest = max(raw, key=raw.get)
        name = {"sodium": "libsodium", "evp": "OpenSSL"}[fastest]
        yield Row(f"{verb} 64 KiB pieces", rates[f"session_{verb}/{CHUNK_BYTES}"] / 1e9,
                  raw[fastest] / 1e9, f"{name}'s raw AEAD", "GB/s", 0.95)


def codec_rows(build):
    for size, label in (("1048576", "1 MiB"), ("67108864", "64 MiB")):
        rates = best_rates(build, "codec_bench", "bytes_per_second", f"/{size}$")
        memory = rates[f"copy_memory/{size}"] / 1e9
        for codec, goal in (("bf16", 0.5), ("q8", 0.5), ("q4", 0.25)):
            for verb in ("encode", "decode"):
                rate, level = best_level(rates, f"{verb}_{codec}", f"/{size}")
                yield Row(f"{verb} {codec}, {label}", rate / 1e9, memory, f"memcpy ({level})",
                          "GB/s", goal)
        merge, level = best_level(rates, "merge", f"/{size}")
        triad, _ = best_level(rates, "triad", f"/{size}")
        yield Row(f"merge, {label}", merge / 1e9, triad / 1e9, f"STREAM triad ({level})", "GB/s",
                  0.9)


def torch_rates():
    one_thread = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    done = subprocess.run(["/usr/bin/python3", "-B", os.path.join(FOLDER, "nn_torch.py")],
                          check=True, capture_output=True, text=True, env=one_thread)
    rates = {}
    for line in done.stdout.splitlines()[1:]:
        name, rate = line.split()[:2]
        rates[name] = float(rate)
    return rates


def train_rows(build):
    ours, torch = {}, {}
    for _ in range(2):  # A B A B
        for name, rate in best_rates(
                build, "nn_bench", "items_per_second", "^(train|evaluate)").items():
            ours[name] = max(ours.get(name, 0), rate)
        for name, rate in torch_rates().items():
            torch[name] = max(torch.get(name, 0), rate)
    for name in sorted(torch):
        kind, _, batch = name.split("/")
        rate, level = best_level(ours, kind, f"/{batch}")
        yield Row(f"{kind} {batch.replace(':', ' ')}", rate, torch[name],
                  f"PyTorch, one thread ({level})", "samples/s", 1.0)


def swap_rows(build):
    for mebibytes in (1, 16):
        ours, gloo = [], []
        for _ in range(3):  # A B A B
            ours += swap.ours(build, mebibytes)
            gloo += swap.gloo(mebibytes)
        size = swap.shard_bytes(mebibytes) / 1e9
        yield Row(f"sealed swap, fp32, {mebibytes} MiB", size / statistics.median(ours),
                  size / statistics.median(gloo), "gloo all-reduce, in the clear", "GB/s", 1.0)


GROUPS = {"seal": seal_rows, "codec": codec_rows, "train": train_rows, "swap": swap_rows}


def main():
    parser = argparse.ArgumentParser(prog="tools/bench/run", description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--only", default=",".join(GROUPS), help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON, too")
    options = parser.parse_args()
    groups = options.only.split(",")
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")

    rows, failed = [], 0
    print(f"{'what':<28} {'ours':>12} {'other':>12} {'unit':<10} {'ratio':>6} {'asked':>6}"
          f"  {'':<4} other", flush=True)
    for group in groups:
        try:
            for row in GROUPS[group](options.build):
                rows.append(row)
                print(row.line(), flush=True)
        except (Stopped, OSError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"{group:<28} NOT MEASURED: {error}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "p2ptrain.bench/1", "rows": [r.document() for r in rows]}, file,
                      indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
