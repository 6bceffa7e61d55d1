"""Runs a project's pipeline by the program redsi."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import display, frames, program
from .errors import Error, NotFound, RunFailed
from .store import Store, block_name, open as open_store

PathLike = Union[str, "os.PathLike[str]"]
Targets = Union[str, Sequence[str], None]
Vars = Optional[Mapping[str, Any]]


def run(
    targets: Targets = None, vars: Vars = None, *, project: PathLike = ".", file: Optional[PathLike] = None,
    store: Optional[PathLike] = None, out: Optional[PathLike] = None, temporal_address: Optional[str] = None,
    fail_fast: bool = False, quiet: bool = False,
) -> "Reproduction":  # fmt: skip
    """Runs the steps that lack results, as `redsi run` does in the folder project, and returns
    what came of it. Shows how far it is, in notebooks and on standard error, unless quiet.

    targets are addresses or tables, such as ``"table.main"``; None is everything. vars are
    values of the pipeline's variables: texts, numbers, booleans, lists and dicts; None leaves a
    variable as it is. file is another pipeline, store where results live, out the folder for
    tables and figures, temporal_address HOST:PORT of a cluster; paths are relative to project.
    fail_fast starts nothing new after a step has failed.

    Raises RunFailed if the run did not end well, such as by failed steps, Error if none began,
    such as for wrong input, both with what the program says. KeyboardInterrupt cancels the run,
    as Ctrl-C does on a command line: running steps are stopped, finished results are kept, and
    it is raised again when the program has ended. If this process dies, the run is cancelled.

    >>> redsi.run("table.errors", {"seeds": 8}).tables["errors"]
    """
    args = arguments(targets, vars, file=file, store=store, out=out, temporal_address=temporal_address)
    seen, began = display.View() if quiet else display.view(), False
    failed: Dict[str, str] = {}

    def tell(event: display.Event) -> None:
        nonlocal began
        began = True
        for s in event.get("steps", ()):
            failed.pop(s["address"], None)
            if s["status"] == "failed":
                failed[s["address"]] = s.get("error", "")
        seen.show(event)

    try:
        code, summary, text = follow(["run", "--json", "--progress", "json", *args, *["--fail-fast"] * fail_fast], project, tell, seen.text)
    finally:
        seen.show({"event": "ended", "block": []})
    result = Reproduction(summary, Path(project)) if "hit" in summary else None
    if code == 0 and result is not None:
        return result
    raise RunFailed(text, failed, result) if began else Error(text)


class Reproduction:
    """What came of a run."""

    def __init__(self, summary: Dict[str, Any], project: Path) -> None:
        self.summary: Dict[str, Any] = summary  #: all that `redsi run --json` prints
        self.run: Optional[str] = summary.get("run")  #: the id of the run; None if there was nothing to do
        self.url: Optional[str] = summary.get("url")  #: where its workflow is shown while its server runs
        self.hit: int = summary["hit"]  #: steps that had results
        self.ran: int = summary["ran"]  #: steps that ran
        self.failed: int = summary.get("failed", 0)  #: steps that failed
        self.skipped: int = summary.get("skipped", 0)  #: steps whose inputs failed
        self.took: float = summary["took_s"]  #: seconds
        self.files: Dict[str, List[Path]] = {}  #: of each table and figure, by its address
        for r in summary["rendered"]:
            self.files.setdefault(r["address"], []).append(project / r["path"])
        self.tables = Frames(self, "table", frames.table)  #: a data frame of each table, by its name
        self.figures = Frames(self, "figure", frames.figure)  #: the points of each figure, by its name
        self._store: Optional[Store] = None

    @property
    def store(self) -> Store:
        """The store with the results of this run's steps. Raises Error if Python cannot read
        it, such as a bucket.

        >>> print(redsi.run().store.lineage("table.errors"))
        """
        if self._store is None:
            opened = open_store(self.summary["store"], run=self.run)
            self._store = opened if self.run else Store(opened.place, keys=self.summary.get("keys", {}))
        return self._store

    def json(self, address: str) -> Any:
        """The JSON of a table or figure as this run left it: of its file, or of the store if
        another run has written the file since."""
        for r, path in zip(self.summary["rendered"], (p for paths in self.files.values() for p in paths)):
            if r["address"] == address and path.suffix == ".json":
                raw = path.read_bytes() if path.is_file() else b""
                same = "sha256:" + hashlib.sha256(raw).hexdigest() == r["digest"]
                return json.loads(raw if same else self.store.result(address).read("json"))
        raise NotFound(f"{address} has no result in this run; there are {', '.join(self.files) or 'none'}")

    def __repr__(self) -> str:
        failed = f", {self.failed} failed, {self.skipped} skipped" if self.failed else ""
        return f"<redsi.Reproduction {self.run or 'nothing to do'}: {self.hit} hit, {self.ran} ran{failed}, {display.seconds(self.took)}>"


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


def arguments(targets: Targets, vars: Vars, **flags: Optional[PathLike]) -> List[str]:
    """Arguments of the program."""
    args = [a for t in ([targets] if isinstance(targets, str) else targets or ()) for a in ("--target", t)]
    args += [a for name, value in (vars or {}).items() if value is not None for a in ("--var", f"{name}={_hcl(value, name)}")]
    return args + [a for flag, v in flags.items() if v is not None for a in ("--" + flag.replace("_", "-"), os.fspath(v))]


def _hcl(value: Any, name: str) -> str:
    """A value as --var has it: a text as it is, all else as HCL, which is JSON but for templates."""
    if isinstance(value, str):
        return value
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=lambda number: number.item())  # NumPy's
    except (AttributeError, TypeError, ValueError):
        raise Error(f"variable {name}: {value!r} is not of texts, finite numbers, booleans, lists and dicts") from None
    return text.replace("${", "$${").replace("%{", "%%{")


def follow(args: List[str], project: PathLike, tell: Callable[[display.Event], None], text: Callable[[str], None]) -> Tuple[int, Dict[str, Any], str]:
    """Runs the program to its end and tells of its events, and of texts for people. Returns its
    exit code, the JSON that it printed, and why it ended, for people."""
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
        columns = {"COLUMNS": str(shutil.get_terminal_size().columns)}
        try:
            process = subprocess.Popen([program.find(), *args], cwd=project, stdin=subprocess.DEVNULL, stdout=printed,
                                       stderr=subprocess.PIPE, env={**os.environ, **columns}, **own)  # fmt: skip
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
                        if str(event.get("format")).startswith("redsi-progress/"):
                            tell(event)
                            continue
                        if line.startswith("redsi: ") and not last:  # why it ends
                            others, last = [], True
                        others.append(line)
                        if not last:
                            text(line.rstrip("\n"))
                    except KeyboardInterrupt:
                        interrupted = True
                        process.send_signal(stop)
        finally:
            code = process.wait()  # nobody reads any more: the program notices, and ends
        if interrupted:
            raise KeyboardInterrupt
        printed.seek(0)
        value = _object(printed.read())
    why = (value.get("text", "") + "".join(others)).strip()
    return code, value, why or f"redsi ended with {f'exit code {code}' if code >= 0 else f'signal {-code}'} and said nothing"


def _object(text: Union[str, bytes]) -> Dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
