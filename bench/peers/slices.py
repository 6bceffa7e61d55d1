"""What the peers of package models share: drawn numbers, padding, and slices.

A script prepares its work and calls serve. With --slices N it does the work N times
and prints a line of JSON for each: seconds, work done in them, the processor's
seconds. Without it the bench asks for a slice with each line of standard input.
"""
import argparse
import json
import pathlib
import sys
import time

import torch


class Numbers:
    """The same numbers as the Go side draws."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def sequences(self, n, low, high):
        return [[2 + self.below(32000) for _ in range(low + self.below(high - low + 1))] for _ in range(n)]


def batch(lengths):
    draw = Numbers(1)
    if lengths == "full":
        return draw.sequences(128, 32, 32), draw.sequences(128, 8, 8)
    inputs = draw.sequences(32, 32, 32) + draw.sequences(96, 8, 16)
    return inputs, draw.sequences(128, 4, 8)


def prefixes(draw, count):
    """The nested dicts of count different identifiers."""
    root, made = {}, 0
    while made < count:
        node, new = root, False
        for token in [2 + draw.below(1100) for _ in range(3)] + [1]:
            new = token not in node
            node = node.setdefault(token, {})
        made += new
    return root


def pad(rows, value):
    most = max(map(len, rows))
    return torch.tensor([r + [value] * (most - len(r)) for r in rows])


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=pathlib.Path, help="of the model's weights")
    parser.add_argument("--make", action="store_true", help="write random weights to the folder, and end")
    parser.add_argument("--slices", type=int)
    return parser


def serve(check, run, slices):
    """run() does one slice and returns how much work that was."""
    run()
    print(json.dumps({"check": check, "torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for _ in range(slices) if slices else sys.stdin:
        start, cpu = time.perf_counter(), time.process_time()
        work = run()
        sample = {"seconds": time.perf_counter() - start, "work": work, "check": check, "processor": time.process_time() - cpu}
        print(json.dumps(sample), flush=True)
