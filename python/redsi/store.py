"""A store: the results of steps by their addresses."""

from __future__ import annotations

import atexit
import difflib
import functools
import json
import os
import re
import shutil
import tempfile
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import frames, lineage, trec
from .errors import Damaged, Error, NotFound, UnknownFormat
from .places import Folder, Host, Place
from .records import Record, body_of, check_digest, parse_result
from .result import Objects, Result, unescaped

_BLOCK = re.compile(r"(?:module\.[^.\[]+(?:\[[^\]]*\])?\.)*(table|figure)\.([^.\[]+)(\[.*\])?\Z")


def open(place: Union[str, "os.PathLike[str]"], *, run: Optional[str] = None, cache: Union[str, "os.PathLike[str]", None] = None) -> "Store":
    """Opens a store for reading.

    place is the folder of a store, of a project (whose ``.redsi/store`` is taken) or of a
    publication, or the address of a publication on a web server (https, or http of this
    machine). run is the id of a run, whose steps are meant; without it, a step's result is
    that of the newest run in which it has one. Blobs of web servers and folders of models
    are kept below cache, by default ``~/.cache/redsi``; of users without a home folder in a
    temporary folder of this process.

    Every byte is verified against its digest before it is given out. Signatures are not
    looked at: who stands for a result is for ``redsi plan --trust`` to judge.
    """
    at = Path(cache) if cache is not None else _cache()
    text = os.fspath(place)
    if re.match(r"https?://", text):
        return Store(Host(text, at), run=run)
    if text.startswith("file://"):
        text = urllib.parse.unquote(text[len("file://") :])
    elif "://" in text or text == "mem:":
        raise Error(f"{text}: only folders and web servers can be read; `redsi pull` copies a bucket's results into a folder")
    folder, project = Path(text), None
    if not folder.is_dir():
        raise NotFound(f"{folder} is not a folder")
    if (folder / ".redsi" / "store").is_dir():
        project = _project(folder / "redsi.lock")
        folder = folder / ".redsi" / "store"
    if not (folder / "records").is_dir():
        raise NotFound(f"{folder} is not a store: it has no folder records")
    return Store(Folder(folder, at), run=run, project=project)


def _cache() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(folder) / "redsi" if folder else Path.home() / ".cache" / "redsi"
    except RuntimeError:
        return _homeless()


@functools.lru_cache(maxsize=None)
def _homeless() -> Path:
    """The cache of a user without a home folder: of this process, which deletes it at its end."""
    folder = tempfile.mkdtemp(prefix="redsi-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _project(lock: Path) -> Optional[str]:
    try:
        value = json.loads(lock.read_bytes())
        return value.get("project") or None
    except (OSError, ValueError, AttributeError):
        return None


class Store:
    """Results by the addresses of their steps."""

    def __init__(self, place: Place, *, run: Optional[str] = None, project: Optional[str] = None, keys: Optional[Dict[str, str]] = None) -> None:
        self.place = place
        self._run, self._project, self._keys = run, project, keys
        self._records: Dict[str, Optional[Record]] = {}
        self._loaded: Dict[str, Optional[Dict[str, str]]] = {}
        self._names: Optional[List[str]] = None
        self._published: Optional[Dict[str, str]] = None
        self._origins: Optional[Dict[str, str]] = None
        if run is not None and self._steps_of(run) is None:
            raise NotFound(f"there is no run {run}; there are {', '.join(self.runs()[:5]) or 'none'}")

    # What is there.

    def runs(self) -> List[str]:
        """Ids of runs, newest first; none on a web server."""
        if self._names is None:
            listed = self.place.records("runs") or iter(())
            self._names = sorted((_decoded(n[len("runs/") :]) for n in listed), reverse=True)
        return self._names

    def steps(self) -> List[str]:
        """Addresses of all steps that have a key: tables and figures among them."""
        found: Dict[str, None] = {}
        for source in self._sources():
            found.update(dict.fromkeys(source))
        return sorted(found)

    def tables(self) -> List[str]:
        """The tables: names, or addresses of those in modules and of those with each.key."""
        return self._blocks("table")

    def figures(self) -> List[str]:
        """The figures, likewise."""
        return self._blocks("figure")

    def _blocks(self, block: str) -> List[str]:
        return [name for address in self.steps() for name in block_name(block, address)]

    # Results.

    def result(self, address: str) -> Result:
        """The result of a step, such as ``step.dedup.nq["url"]``."""
        key, _ = self._find(address)
        record = self._record(key)
        assert record is not None
        return Result(self.place, address, record)

    def result_of_key(self, key: str) -> Result:
        """The result of a key, ``sha256:…``."""
        record = self._record(check_digest(key, "the key"))
        if record is None:
            raise NotFound(f"there is no result of {key}")
        return Result(self.place, record.origin.get("step", ""), record)

    def table(self, name: str) -> Any:
        """A table by its name or address: a pandas DataFrame if pandas is installed, else a
        pyarrow Table. Numbers are neither rounded nor scaled, as in its CSV file."""
        return frames.table(self.result(_address("table", name)).json("json"))

    def figure(self, name: str) -> Any:
        """The points of a figure's series."""
        return frames.figure(self.result(_address("figure", name)).json("json"))

    def run(self, address: str, output: Optional[str] = None) -> trec.Run:
        """The ranking of a step."""
        result = self.result(address)
        name = result.output_of_type(("trec/run",), output)
        return trec.Run(lambda: result.lines(name))

    def qrels(self, address: str, output: Optional[str] = None) -> trec.Qrels:
        """The judgments of a step; those of an import are ``train_qrels`` and so on."""
        result = self.result(address)
        name = result.output_of_type(("trec/qrels",), output)
        return trec.Qrels(lambda: result.lines(name))

    def documents(self, address: str) -> Objects:
        """The documents of a collection: doc, key, title, url and more."""
        return self._objects(address, ("nq/documents",))

    def queries(self, address: str) -> Objects:
        """Its queries, a line for each relevant document: example_id, split, question, doc."""
        return self._objects(address, ("nq/queries",))

    def corpus(self, address: str) -> Objects:
        """The texts of a collection: doc, title, text."""
        return self._objects(address, ("nq/corpus",))

    def _objects(self, address: str, types: Tuple[str, ...]) -> Objects:
        result = self.result(address)
        return Objects(result, result.output_of_type(types, None))

    def embeddings(self, address: str) -> Any:
        """Vectors, a row for each document, as a NumPy array over the file."""
        import numpy

        result = self.result(address)
        return numpy.load(result.path(result.output_of_type(("docid/embeddings",), None)), mmap_mode="r", allow_pickle=False)

    def identifiers(self, address: str) -> Any:
        """Identifiers as a frame of doc, identifier and tokens."""
        result = self.result(address)
        lines = result.lines(result.output_of_type(("docid/ids",), None))
        head = next(iter(lines), "").split("\t")
        if head[:2] != ["redsi-docid", "1"]:
            raise UnknownFormat(f"{address}: identifiers of format {' '.join(head[:2])!r}")
        columns: Dict[str, List[Any]] = {"doc": [], "identifier": [], "tokens": []}
        for line in lines:
            doc, text, tokens = line.rstrip("\n").split("\t")
            columns["doc"].append(int(doc))
            columns["identifier"].append(unescaped(text))
            columns["tokens"].append([int(t) for t in tokens.split()])
        return frames.frame(columns)

    def model(self, address: str, folder: Union[str, "os.PathLike[str]", None] = None) -> Path:
        """A model's folder for ``from_pretrained``: a copy, in folder or in the cache. What
        ``export_model`` left has the tokenizer, too; of ``train`` and ``random_t5`` there are
        configuration and weights."""
        result = self.result(address)
        return result.save(result.output_of_type(("dsi/model", "hf/model", "hub/model"), None), folder)

    def lineage(self, address: str) -> lineage.Step:
        """A step with the steps whose outputs it read, and theirs. Reads the results of all
        steps of the run, once: on a web server a request for each."""
        _, steps = self._find(address)
        makers = self._makers(steps)
        made: Dict[str, lineage.Step] = {}

        def step(a: str) -> lineage.Step:
            if a not in made:
                record = self._record(steps[a])
                assert record is not None
                made[a] = lineage.Step(a, record)
                pending.append(made[a])
            return made[a]

        pending: List[lineage.Step] = []
        first = step(address)
        while pending:
            s = pending.pop()
            for i in s.record.inputs():
                found = [lineage.Made(output, step(a)) for a, output in makers.get(i.digest, []) if a != s.address]
                s.reads.append(lineage.Read(i, found))
        return first

    def _makers(self, steps: Dict[str, str]) -> Dict[str, List[Tuple[str, str]]]:
        makers: Dict[str, List[Tuple[str, str]]] = {}
        files: Dict[str, List[Tuple[str, str]]] = {}
        with ThreadPoolExecutor(16) as pool:
            for address, record in zip(steps, pool.map(self._record, steps.values())):
                for name, artifact in (record.outputs if record else {}).items():
                    makers.setdefault(artifact.digest, []).append((address, name))
                    for f in artifact.files or ():
                        files.setdefault(f.digest, []).append((address, f"{name}/{f.name}"))
        return {**files, **makers}

    # How results are found.

    def _find(self, address: str) -> Tuple[str, Dict[str, str]]:
        """The key of a step that has a result, and all steps that are known beside it."""
        known = False
        for steps in self._sources():
            key = steps.get(address)
            if key is None:
                continue
            known = True
            if self._record(key) is not None:
                return key, steps
        if known:
            raise NotFound(f"{address} has no result: it failed, or its result was deleted")
        near = difflib.get_close_matches(address, self.steps(), 3)
        raise NotFound(f"there is no step {address}" + (f"; there is {', '.join(near)}" if near else ""))

    def _sources(self) -> Iterator[Dict[str, str]]:
        """Steps and their keys: of runs, newest first, else of a publication, else by what
        results say of who made them. Those that were given are all."""
        if self._keys is not None:
            yield self._keys
            return
        if self._run is not None:
            yield self._steps_of(self._run) or {}
            return
        found = False
        for name in self.runs():
            steps = self._steps_of(name)
            if steps:
                found = True
                yield steps
        if self._published is None:
            self._published = self._publication()
        if self._published:
            found = True
            yield self._published
        if not found:
            yield self._by_origin()

    def _steps_of(self, run: str) -> Optional[Dict[str, str]]:
        if run not in self._loaded:
            self._loaded[run] = self._load_run(run)
        return self._loaded[run]

    def _load_run(self, run: str) -> Optional[Dict[str, str]]:
        raw = self.place.record("runs/" + _encoded(run))
        if raw is None:
            return None
        try:
            value = json.loads(raw)
            if value["format"] == "redsi-run/2":
                digest = check_digest(value["body"], f"run {run}")
                with self.place.open(digest, 1 << 40) as f:
                    value["steps"] = json.load(f)["steps"]
            elif value["format"] != "redsi-run/1":
                raise UnknownFormat(f"run {run} has format {value['format']!r}")
            if self._run is None and self._project and value.get("project") not in (None, "", self._project):
                return None
            return {s["address"]: s["key"] for s in value.get("steps") or [] if _is_key(s.get("key"))}
        except (ValueError, KeyError, TypeError) as err:
            raise Damaged(f"the record of run {run} is damaged: {err}") from None

    def _publication(self) -> Dict[str, str]:
        raw = self.place.file("index.json")
        if raw is None:
            if isinstance(self.place, Host):
                raise NotFound(f"{self.place.url} has no index.json: a folder that `redsi publish` wrote has one")
            return {}
        try:
            value = json.loads(raw)
            if value["format"] != "redsi-publication/1":
                raise UnknownFormat(f"index.json has format {value['format']!r}")
            return {s["address"]: check_digest(s["key"], s["address"]) for s in value["steps"]}
        except (ValueError, KeyError, TypeError) as err:
            raise Damaged(f"index.json is damaged: {err}") from None

    def _by_origin(self) -> Dict[str, str]:
        if self._origins is None:
            newest: Dict[str, Tuple[str, str]] = {}
            for name in self.place.records("results") or ():
                key = "sha256:" + name[len("results/") :]
                record = self._record(key)
                if record and record.origin.get("step"):
                    step, at = record.origin["step"], (record.finished, key)
                    newest[step] = max(at, newest.get(step, at))
            self._origins = {step: key for step, (_, key) in newest.items()}
        return self._origins

    def _record(self, key: str) -> Optional[Record]:
        if key not in self._records:
            raw = self.place.record("results/" + key[len("sha256:") :])
            if raw is not None:
                head = body_of(raw, f"the result of {key}")
                if head.get("format") == "redsi.result/2":
                    if head.get("key") != key:
                        raise Damaged(f"the result of {key} says that it is of {head.get('key')}")
                    with self.place.open(check_digest(head.get("body"), key), 1 << 40) as f:
                        raw = f.read()
            self._records[key] = None if raw is None else parse_result(key, raw)
        return self._records[key]


def _is_key(key: Any) -> bool:
    return isinstance(key, str) and re.match(r"sha256:[0-9a-f]{64}\Z", key) is not None and key.strip("sha256:0") != ""


def block_name(block: str, address: str) -> List[str]:
    """What a table or figure is called here; nothing if the address is of something else."""
    m = _BLOCK.match(address)
    if not m or m.group(1) != block:
        return []
    return [m.group(2) if address == f"{block}.{m.group(2)}" else address]


def _address(block: str, name: str) -> str:
    m = _BLOCK.match(name)
    return name if m and m.group(1) == block else f"{block}.{name}"


def _encoded(name: str) -> str:
    """The name of a record as a file has it."""
    out = []
    for part in name.split("/"):
        coded = "".join(
            "!" + c.lower()
            if "A" <= c <= "Z"
            else c
            if c.isascii() and (c.isalnum() or c in "-_.")
            else "".join(f"%{b:02x}" for b in c.encode())
            for c in part
        )
        out.append("%2e" + coded[1:] if coded.startswith(".") else coded)
    return "/".join(out)


def _decoded(name: str) -> str:
    text = re.sub(r"!([a-z])", lambda m: m.group(1).upper(), name)
    data = re.sub(rb"%([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())
    return data.decode("utf-8", "replace")
