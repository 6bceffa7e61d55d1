#!/usr/bin/env python3
"""Runs ports beside what they were ported from, and prints the table of docs/other-tools.md: what ran again after each
change, here / by the original's own tool.

    examples/ports/try.py ORIGINALS [PORT...]

ORIGINALS has a checkout of each original as OWNER/NAME; port.json says which files are used, with their SHA-256, what
the results were, the changes, and how often the original ran. A port is copied, the original's files are laid beside
it, it is run by bin/redsi, and its results are compared. Then each change is made alone, in a copy, and run."""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PORTS = pathlib.Path(__file__).resolve().parent
REDSI = PORTS.parent.parent / "bin" / "redsi"
KINDS = ["library", "helper", "import", "parameter", "piece", "comment"]


def call(folder, *argv):
    done = subprocess.run(argv, cwd=folder, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))} in {folder} failed:\n{(done.stdout + done.stderr).decode()}")
    return done


def check(path, text, want):
    if (got := hashlib.sha256(text).hexdigest()) != want:
        sys.exit(f"{path} is not the original's: its SHA-256 is {got}, not {want}")


def apply(folder, edits):
    """Replaces a text that is there once, appends one to a file, or runs a command."""
    for e in edits:
        if "run" in e:
            call(folder, *e["run"])
            continue
        path = folder / e["file"]
        text = path.read_text() if path.exists() else ""
        if "from" in e and text.count(e["from"]) != 1:
            sys.exit(f"{path} has {e['from']!r} {text.count(e['from'])} times")
        path.write_text(text.replace(e["from"], e["to"]) if "from" in e else text + e["to"])


def lay(port, original, folder):
    for name, of in port["files"].items():
        path = original / of.get("from", name)
        if not path.exists():
            sys.exit(f"{path} is missing: it is in {port['source']['repository']} at {port['source']['commit']}")
        check(path, path.read_bytes(), of["sha256"])
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
    for argv in port.get("make", []):
        call(folder, *argv)
    apply(folder, port.get("planted", []))


def run(port, folder, state):
    """Returns how many of the steps that count ran."""
    said = call(folder, REDSI, "run", "--quiet", "--yes", "--state", state).stderr.decode()
    counts = port.get("counts", r"^step\.(command|python|script)\.")
    return sum(bool(re.search(counts, address)) for address in re.findall(r"^\s*DONE\s+(\S+)", said, re.MULTILINE))


def row(name, originals, work):
    port = json.loads((PORTS / name / "port.json").read_text())
    folder, state = work / name, work / f"{name}.state"
    shutil.copytree(PORTS / name, folder)
    lay(port, originals / port["source"]["repository"], folder)
    steps = run(port, folder, state)
    for result in port["results"]:
        text = call(folder, REDSI, "artifacts", "cat", result["output"], "--state", state).stdout
        if skip := result.get("skip", "").encode():
            text = b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(skip))
        check(result["output"], text, result["sha256"])
    cells = [f"[{port['title']}](../examples/ports/{name}/pipelines.hcl)", steps]
    for change in map(port["changes"].get, KINDS):
        if change is None:
            cells.append("–")
            continue
        with tempfile.TemporaryDirectory(dir=work) as copy:
            changed = pathlib.Path(copy) / name
            shutil.copytree(folder, changed)
            apply(changed, change["edits"])
            cells.append(f"{run(port, changed, state)} / {change['ran']}")
    return cells


if len(sys.argv) < 2:
    sys.exit(__doc__)
print("| workflow | steps |", " | ".join(KINDS), "|\n|---|---:|" + "---|" * len(KINDS))
with tempfile.TemporaryDirectory() as work:
    for port in sys.argv[2:] or sorted(path.parent.name for path in PORTS.glob("*/port.json")):
        cells = row(port, pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(work))
        print("|", " | ".join(map(str, cells)), "|", flush=True)
