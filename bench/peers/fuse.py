"""Reads run.txt and other.txt of a folder by ranx and fuses them by reciprocal ranks."""
import json
import os
import sys
import time
from importlib.metadata import version

import ranx


def fuse(folder):
    runs = [ranx.Run.from_file(os.path.join(folder, name), kind="trec") for name in ("run.txt", "other.txt")]
    return ranx.fuse(runs=runs, method="rrf", norm=None)


def main(folder):
    few = [ranx.Run({"q": {"a": 2.0, "b": 1.0}}) for _ in range(2)]
    ranx.fuse(runs=few, method="rrf", norm=None)  # compiles
    start = time.perf_counter()
    fused = fuse(folder)
    seconds = time.perf_counter() - start
    best = sum(sum(sorted(scores.values(), reverse=True)[:100]) for scores in fused.run.values())
    print(json.dumps({"is": f"ranx {version('ranx')}", "seconds": seconds, "work": 2e6, "check": f"{len(fused.run)} {best:.6f}"}))


if __name__ == "__main__":
    main(*sys.argv[1:])
