"""What the peers of package models share: padding, and slices of what drawn.py draws.

A script prepares its work and calls serve. With --slices N it does the work N times
and prints a line of JSON for each: seconds, work done in them, the processor's
seconds. Without it the bench asks for a slice with each line of standard input.
"""
import argparse
import json
import pathlib
import sys
import time
from importlib.metadata import version

import torch


def pad(rows, value):
    most = max(map(len, rows))
    return torch.tensor([r + [value] * (most - len(r)) for r in rows])


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=pathlib.Path, help="of the model's weights")
    parser.add_argument("--make", action="store_true", help="write random weights to the folder, and end")
    parser.add_argument("--slices", type=int)
    return parser


def serve(check, run, slices, ready=lambda: None, warm=1, how=("float32",), of=("transformers", "torch")):
    """how are the settings of a peer, of its packages. run() does one slice and returns how much work that was; ready() prepares it, untimed. warm slices do not count."""
    for _ in range(warm):
        ready()
        run()
    told = ", ".join([f"{name} {version(name)}" for name in of] + list(how))
    print(json.dumps({"check": check, "is": told, "threads": torch.get_num_threads()}), flush=True)
    for _ in range(slices) if slices else sys.stdin:
        ready()
        start, cpu = time.perf_counter(), time.process_time()
        work = run()
        sample = {"seconds": time.perf_counter() - start, "work": work, "check": check, "processor": time.process_time() - cpu}
        print(json.dumps(sample), flush=True)
