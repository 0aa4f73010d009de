#!/usr/bin/env python3
"""Predicts the time of a training step on many ranks, for docs/many_machines.md. Nothing here is measured but its inputs.

    tests/bench/ranks messages | docs/tools/predict_ranks.py fit
    docs/tools/predict_ranks.py step --parameters M --compute MS --latency US --bandwidth GB_S [--fixed-batch]

The sum of S bytes over R ranks takes 2 log2(R) a + 2 (R - 1) / R S / b: a tree's latency a, and every byte sent and received
once but for its share (Rabenseifner 2004). `fit` finds a and b from measured messages between two ranks, by least squares of
relative errors.

`step` runs a step as DataParallel does: the backward pass, two thirds of the time of computing, completes gradients at an even
pace, a bucket is sent when it is complete and the one before it has arrived, and the step ends when the last has. Ranks are
equally fast and their network carries all of them at once. Each rank has as many samples for any R, or with --fixed-batch
a share of the samples of one. Efficiency is the time of computing over the step.
"""
import argparse
import math
import re
import sys


def milliseconds(size, ranks, latency_us, bandwidth_gb):
    if ranks == 1:
        return 0.0
    return 2 * math.log2(ranks) * latency_us / 1e3 + 2 * (ranks - 1) / ranks * size / bandwidth_gb / 1e6


def fitted(messages):
    """latency in us and bandwidth in GB/s: t = 2 a + S / b, in ms; each equation divided by its t."""
    rows = [(2e-3 / t, size / 1e6 / t) for size, t in messages]
    aa, ab, bb = (sum(x[i] * x[j] for x in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    ya, yb = (sum(x[i] for x in rows) for i in (0, 1))
    determinant = aa * bb - ab * ab
    return (ya * bb - yb * ab) / determinant, determinant / (aa * yb - ab * ya)


def step(ranks, arguments):
    compute = arguments.compute / ranks if arguments.fixed_batch else arguments.compute
    total = arguments.parameters * 4e6
    sizes, left = [], total
    while left > 0:
        sizes.append(min(left, (1 if not sizes else arguments.buckets) * 2**20))
        left -= sizes[-1]
    end, done = 0.0, 0.0
    for size in sizes:
        done += size
        complete = compute * (1 + 2 * done / total) / 3
        end = max(end, complete) + milliseconds(size, ranks, arguments.latency, arguments.bandwidth)
    return max(end, compute), compute


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(dest="command", required=True)
commands.add_parser("fit")
of_step = commands.add_parser("step")
of_step.add_argument("--parameters", type=float, required=True, help="millions")
of_step.add_argument("--compute", type=float, required=True, help="milliseconds of a step of one rank")
of_step.add_argument("--fixed-batch", action="store_true", help="shared by the ranks")
of_step.add_argument("--buckets", type=float, default=25, help="MiB, the first one 1")
of_step.add_argument("--latency", type=float, required=True, help="microseconds")
of_step.add_argument("--bandwidth", type=float, required=True, help="10^9 bytes a second")
of_step.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 8, 32, 128, 512, 1024])
given = parser.parse_args()

if given.command == "fit":
    measured = [(int(size), float(ms)) for size, ms in re.findall(r"^message (\d+) bytes +([\d.]+) ms$", sys.stdin.read(), re.M)]
    a, b = fitted(measured)
    print(f"latency {a:.3g} us, bandwidth {b:.3g} GB/s")
    for size, ms in measured:
        print(f"{size:>10} bytes  measured {ms:9.4f} ms  fitted {milliseconds(size, 2, a, b):9.4f} ms")
else:
    print("ranks  step ms  exchange ms  efficiency")
    for ranks in given.ranks:
        took, compute = step(ranks, given)
        exchange = milliseconds(given.parameters * 4e6, ranks, given.latency, given.bandwidth)
        print(f"{ranks:5}  {took:7.0f}  {exchange:11.0f}  {compute / took:10.2f}")
