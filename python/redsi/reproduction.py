"""Runs a project's pipeline by the program redsi."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import display, frames, program
from .errors import Error, NotFound, RunFailed
from .store import Store, block_name, open as open_store

Path_ = Union[str, "os.PathLike[str]"]
Targets = Union[str, Sequence[str], None]
_FORMAT = "redsi-progress/"


def run(
    targets: Targets = None,
    vars: Optional[Mapping[str, Any]] = None,
    *,
    project: Path_ = ".",
    file: Optional[Path_] = None,
    store: Optional[Path_] = None,
    out: Optional[Path_] = None,
    temporal_address: Optional[str] = None,
    fail_fast: bool = False,
    quiet: bool = False,
) -> "Reproduction":
    """Runs the steps that lack results, as `redsi run` does in the folder project, and returns
    what came of it. Shows how far it is, in notebooks and on standard error, unless quiet.

    targets are addresses or tables, such as ``"table.main"``; None is everything. vars are
    values of the pipeline's variables: texts, numbers, booleans, lists and dicts; None leaves a
    variable as it is. file is another pipeline, store where results live, out the folder for
    tables and figures, temporal_address HOST:PORT of a cluster; paths are relative to project.
    fail_fast starts nothing new after a step has failed.

    Raises RunFailed if the run did not end well, such as by failed steps, Error if none began,
    such as for wrong input, both with what the program says. KeyboardInterrupt cancels the run, as Ctrl-C does on a command line: running steps are
    stopped, finished results are kept, and it is raised again when the program has ended. If
    this process dies, the run is cancelled, too.

    >>> redsi.run("table.errors", {"seeds": 8}).tables["errors"]
    """
    args = arguments(targets, vars, file=file, store=store)
    for flag, value in (("--out", out), ("--temporal-address", temporal_address)):
        args += [flag, os.fspath(value)] if value is not None else []
    args += ["--fail-fast"] * fail_fast
    seen = display.View() if quiet else display.view()
    failed: Dict[str, str] = {}

    begun = False

    def tell(event: display.Event) -> None:
        nonlocal begun
        begun = True
        for s in event.get("steps", ()):
            failed.pop(s["address"], None)
            if s["status"] == "failed":
                failed[s["address"]] = s.get("error", "")
        seen.show(event)

    try:
        code, printed, text = follow(["run", "--json", "--progress", "json", *args], project, tell, seen.text)
    finally:
        seen.close()
    summary = _object(printed)
    result = Reproduction(summary, Path(project)) if "hit" in summary else None
    if code == 0 and result is not None:
        return result
    if begun:
        raise RunFailed(said(summary, text, code), failed, result)
    raise Error(said(summary, text, code))


class Reproduction:
    """What came of a run."""

    run: Optional[str]  #: the id of the run; None if there was nothing to do
    url: Optional[str]  #: where its workflow is shown while its server runs
    hit: int  #: steps that had results
    ran: int  #: steps that ran
    failed: int  #: steps that failed
    skipped: int  #: steps whose inputs failed
    took: float  #: seconds
    files: Dict[str, List[Path]]  #: of each table and figure, by address
    tables: "Frames"  #: a data frame of each table, by its name
    figures: "Frames"  #: the points of each figure, by its name
    summary: Dict[str, Any]  #: all that `redsi run --json` prints

    def __init__(self, summary: Dict[str, Any], project: Path) -> None:
        self.summary, self._project = summary, project
        self.run, self.url = summary.get("run"), summary.get("url")
        self.hit, self.ran = summary["hit"], summary["ran"]
        self.failed, self.skipped = summary.get("failed", 0), summary.get("skipped", 0)
        self.took = summary["took_s"]
        self.files = {}
        for r in summary["rendered"]:
            self.files.setdefault(r["address"], []).append(project / r["path"])
        self.tables, self.figures = Frames(self, "table", frames.table), Frames(self, "figure", frames.figure)
        self._store: Optional[Store] = None

    @property
    def store(self) -> Store:
        """The store with the results of this run's steps. Raises Error if Python cannot read
        it, such as a bucket.

        >>> print(redsi.run().store.lineage("table.errors"))
        """
        if self._store is None:
            opened = open_store(self.summary["store"], run=self.run)
            keys = None if self.run else self.summary.get("keys", {})
            self._store = opened if keys is None else Store(opened.place, keys=keys)
        return self._store

    def json(self, address: str) -> Any:
        """The JSON of a table or figure as this run left it: of its file, or of the store if
        another run has written the file since."""
        for r in self.summary["rendered"]:
            if r["address"] == address and r["path"].endswith(".json"):
                path = self._project / r["path"]
                raw = path.read_bytes() if path.is_file() else b""
                if "sha256:" + hashlib.sha256(raw).hexdigest() != r["digest"]:
                    raw = self.store.result(address).read("json")
                return json.loads(raw)
        raise NotFound(f"{address} has no result in this run; there are {', '.join(self.files) or 'none'}")

    def __repr__(self) -> str:
        counts = [f"{self.hit} hit, {self.ran} ran"] + [f"{n} {what}" for what, n in (("failed", self.failed), ("skipped", self.skipped)) if n]
        return f"<redsi.Reproduction {self.run or 'nothing to do'}: {', '.join(counts)}, {display.seconds(self.took)}>"


class Frames(Mapping[str, Any]):
    """Data frames by name, each made when it is asked for: a pandas DataFrame if pandas is
    installed, else a pyarrow Table."""

    def __init__(self, of: Reproduction, block: str, make: Callable[[Any], Any]) -> None:
        self._of, self._make = of, make
        self._addresses = {name: address for address in of.files for name in block_name(block, address)}

    def __getitem__(self, name: str) -> Any:
        return self._make(self._of.json(self._addresses[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._addresses)

    def __len__(self) -> int:
        return len(self._addresses)

    def __repr__(self) -> str:
        return f"<redsi.Frames {', '.join(self) or 'none'}>"


def arguments(targets: Targets, vars: Optional[Mapping[str, Any]], **paths: Optional[Path_]) -> List[str]:
    """Arguments of the program."""
    args = [a for t in ([targets] if isinstance(targets, str) else targets or ()) for a in ("--target", t)]
    for name, value in (vars or {}).items():
        if value is not None:
            args += ["--var", f"{name}={_text(value, name)}"]
    return args + [a for flag, path in paths.items() if path is not None for a in (f"--{flag}", os.fspath(path))]


def _text(value: Any, name: str) -> str:
    """A value as --var has it: a text as it is, all else as HCL."""
    return value if isinstance(value, str) else _hcl(value, name)


def _hcl(value: Any, name: str) -> str:
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()  # a number of NumPy's
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int) or isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False).replace("\\b", "\\u0008").replace("\\f", "\\u000c")
        return text.replace("${", "$${").replace("%{", "%%{")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_hcl(str(k), name)} = {_hcl(v, name)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_hcl(v, name) for v in value) + "]"
    raise Error(f"variable {name}: {value!r} is no text, finite number, boolean, list or dict")


def follow(args: List[str], project: Path_, tell: Callable[[display.Event], None], text: Callable[[str], None]) -> Tuple[int, bytes, str]:
    """Runs the program to its end and tells of its events, and of texts for people. Returns its
    exit code, what it printed, and what it said last, to people."""
    if not Path(project).is_dir():
        raise NotFound(f"{project} is not a folder")
    own: Dict[str, Any]
    if sys.platform == "win32":
        own, stop = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}, signal.CTRL_BREAK_EVENT
    else:
        own, stop = {"start_new_session": True}, signal.SIGINT  # Ctrl-C is passed on here, once
    others: List[str] = []
    interrupted = last = False
    with tempfile.TemporaryFile() as printed:
        path = program.find()
        try:
            process = subprocess.Popen(
                [path, *args], cwd=project, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE,
                env={**os.environ, "COLUMNS": display.columns()}, **own
            )  # fmt: skip
        except OSError as err:
            raise Error(f"{path}: {err.strerror}") from None
        assert process.stderr is not None
        try:
            while True:
                try:
                    line = process.stderr.readline().decode("utf-8", "replace").rstrip("\n")
                    if not line and process.poll() is not None:
                        break
                    event = _object(line.encode())
                    if str(event.get("format")).startswith(_FORMAT):
                        tell(event)
                    elif last or line.startswith("redsi: "):  # why it ends: for an exception
                        others, last = (others if last else []) + [line], True
                    elif line:
                        others.append(line)
                        text(line)
                except KeyboardInterrupt:
                    interrupted = True
                    process.send_signal(stop)
        finally:
            process.stderr.close()  # a program that is still there notices, and cancels
            process.wait()
        if interrupted:
            raise KeyboardInterrupt
        printed.seek(0)
        return process.returncode, printed.read(), "\n".join(others)


def said(printed: Dict[str, Any], text: str, code: int) -> str:
    """What the program says of why it ended."""
    told = "\n".join(t for t in (printed.get("text", "").strip(), text.strip()) if t)
    return told or f"redsi ended with {f'exit code {code}' if code >= 0 else f'signal {-code}'} and said nothing"


def _object(raw: bytes) -> Dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
