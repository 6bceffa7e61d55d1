"""Runs a project's pipeline by the program redsi."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import display, frames, program
from .errors import Error, NotFound
from .store import Store, block_name, open as open_store

PathLike = Union[str, "os.PathLike[str]"]
Targets = Union[str, Sequence[str], None]
Vars = Optional[Mapping[str, Any]]


def run(
    targets: Targets = None, vars: Vars = None, *, project: PathLike = ".", file: Optional[PathLike] = None,
    store: Optional[PathLike] = None, out: Optional[PathLike] = None, quiet: bool = False,
) -> "Reproduction":  # fmt: skip
    """Runs the steps that lack results, as `redsi run` does in the folder project, and returns
    what came of it. Shows how far it is, in notebooks and on standard error, unless quiet.

    targets are addresses or tables, such as ``"table.main"``; None is everything. vars are
    values of the pipeline's variables: texts, numbers, booleans, lists and dicts; None leaves a
    variable as it is. file is another pipeline, store where results live, out the folder for
    tables and figures; paths are relative to project.

    Raises RunFailed if the run did not end well, such as by failed steps, Error if none began,
    such as for wrong input, both with what the program says. KeyboardInterrupt cancels the run,
    as Ctrl-C does on a command line: running steps are stopped, finished results are kept, and
    it is raised again when the program has ended. If this process dies, the run is cancelled.

    >>> redsi.run("table.errors", {"seeds": 8}).tables["errors"]
    """
    seen = display.View() if quiet else display.view()
    try:
        code, summary, text = follow(["run", "--json", "--progress", "json", *flags(targets, file=file, store=store, out=out)], vars, project, seen)
    finally:
        seen.show({"event": "ended", "block": []})
    result = Reproduction(summary, Path(os.path.abspath(project))) if "hit" in summary else None
    if code == 0 and result is not None:
        return result
    raise RunFailed(text, seen.failed, result) if "run" in seen.state else Error(text)


class Reproduction:
    """What came of a run."""

    def __init__(self, summary: Dict[str, Any], project: Path) -> None:
        self.summary: Dict[str, Any] = summary  #: all that `redsi run --json` prints
        self.run: Optional[str] = summary.get("run")  #: the id of the run; None if there was nothing to do
        self.hit: int = summary["hit"]  #: steps that had results
        self.ran: int = summary["ran"]  #: steps that ran
        self.failed: int = summary.get("failed", 0)  #: steps that failed
        self.skipped: int = summary.get("skipped", 0)  #: steps whose inputs failed
        self.took: float = summary["took_s"]  #: seconds
        self.files: Dict[str, List[Path]] = {}  #: of each table and figure, by its address
        self.tables: Dict[str, Any] = {}  #: a data frame of each table, by its name, as in Store.table
        self.figures: Dict[str, Any] = {}  #: the points of each figure, by its name
        for r in summary["rendered"]:
            path, files = project / r["path"], self.files.setdefault(r["address"], [])
            if path.suffix == ".json" and not any(p.suffix == ".json" for p in files):  # another is a picture in Vega-Lite
                value = json.loads(self._bytes(path, r["digest"]))
                self.tables.update((name, frames.table(value)) for name in block_name("table", r["address"]))
                self.figures.update((name, frames.figure(value)) for name in block_name("figure", r["address"]))
            files.append(path)

    def _bytes(self, path: Path, digest: str) -> bytes:
        """A file as this run wrote it: if another has written it meanwhile, of the store."""
        raw = path.read_bytes() if path.is_file() else b""
        if "sha256:" + hashlib.sha256(raw).hexdigest() != digest:
            with self.store.place.open(digest, 1 << 40) as f:
                return f.read()
        return raw

    @functools.cached_property
    def store(self) -> Store:
        """The store with the results of this run's steps. Raises Error if Python cannot read
        it, such as a bucket.

        >>> print(redsi.run().store.lineage("table.errors"))
        """
        opened = open_store(self.summary["store"], run=self.run)
        return opened if self.run else Store(opened.place, keys=self.summary["keys"])

    def __repr__(self) -> str:
        failed = f", {self.failed} failed, {self.skipped} skipped" if self.failed else ""
        return f"<redsi.Reproduction {self.run or 'nothing to do'}: {self.hit} hit, {self.ran} ran{failed}, {display.seconds(self.took)}>"


class RunFailed(Error):
    """A run began and did not end well. Results of other steps are kept.

    >>> try:
    ...     redsi.run()
    ... except redsi.RunFailed as failed:
    ...     failed.steps    # {'step.command.fit': 'python exited with code 1; …'}
    ...     failed.result   # what there is all the same; None if the program did not say
    """

    def __init__(self, text: str, steps: Dict[str, str], result: Optional[Reproduction]) -> None:
        super().__init__(text)
        self.steps, self.result = steps, result


def flags(targets: Targets, **paths: Optional[PathLike]) -> List[str]:
    """Arguments of the program."""
    args = [a for t in ([targets] if isinstance(targets, str) else targets or ()) for a in ("--target", t)]
    return args + [a for flag, path in paths.items() if path is not None for a in ("--" + flag, os.fspath(path))]


def variables(vars: Vars) -> bytes:
    """A file of variables in JSON. Unlike a text after --var, a text in it is one for variables
    of any type; and others on this machine cannot see it."""
    lines = []
    for name, value in (vars or {}).items():
        try:
            if value is not None:
                text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=lambda number: number.item())  # NumPy's
                lines.append(f"{json.dumps(name)}: {text}".encode())
        except (AttributeError, TypeError, ValueError):
            raise Error(f"variable {name}: {value!r} is not of texts, finite numbers, booleans, lists and dicts") from None
    return b"{" + b",\n ".join(lines) + b"}\n"


def follow(args: List[str], vars: Vars, project: PathLike, seen: display.View) -> Tuple[int, Dict[str, Any], str]:
    """Runs the program to its end and shows its events, and texts for people. Returns its exit
    code, the JSON that it printed, and why it ended, for people."""
    if not Path(project).is_dir():
        raise NotFound(f"{project} is not a folder")
    with tempfile.TemporaryDirectory(prefix="redsi-") as folder:
        given, printed = Path(folder, "vars.json"), Path(folder, "printed.json")
        given.write_bytes(variables(vars))
        if vars:
            args = [*args, "--var-file", str(given)]
        code, others = _watch(args, project, seen, printed)
        value = _object(printed.read_bytes())
    why = (value.get("text", "") + "".join(others)).strip().replace(str(given), given.name)
    if why.startswith("redsi: unknown flag"):
        raise Error(f"{program.find()} is not of the version of the package {Path(__file__).parent}, whose calls it does not know: install both together\n{why}")
    return code, value, why or f"redsi ended with {f'exit code {code}' if code >= 0 else f'signal {-code}'} and said nothing"


def _watch(args: List[str], project: PathLike, seen: display.View, printed: Path) -> Tuple[int, List[str]]:
    columns = str(shutil.get_terminal_size().columns)
    others: List[str] = []
    interrupted = last = False
    try:
        with printed.open("wb") as out:  # Ctrl-C is passed on here, once: hence the session
            process = subprocess.Popen([program.find(), *args], cwd=project, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                       env={**os.environ, "COLUMNS": columns}, start_new_session=True)  # fmt: skip
    except OSError as err:
        raise Error(str(err)) from None
    assert process.stderr is not None
    try:
        with process.stderr as said:
            while True:
                try:
                    line = said.readline().decode("utf-8", "replace")
                    if not line:
                        break
                    event = _object(line)
                    if event.get("format") == "redsi-progress/1":
                        seen.show(event)
                        continue
                    if line.startswith("redsi: ") and not last:  # why it ends
                        others, last = [], True
                    others.append(line)
                    if not last:
                        seen.text(line.rstrip("\n"))
                except KeyboardInterrupt:
                    interrupted = True
                    process.send_signal(signal.SIGINT)
    finally:
        code = process.wait()  # nobody reads any more: the program notices, and ends
    if interrupted:
        raise KeyboardInterrupt
    return code, others


def _object(text: Union[str, bytes]) -> Dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
