"""The outputs of a step, and how to read their bytes."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union
from urllib.parse import unquote

import zstandard

from . import frames
from .errors import Error, NotFound
from .places import Place
from .records import Artifact, File, Record

_UNESCAPE = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}


def unescaped(text: str) -> str:
    """A field of a file of identifiers."""
    return re.sub(r"\\[\\tnr]", lambda m: _UNESCAPE[m.group()], text)


# How the fields of tables are written, by the first part of their type.
_FIELDS: Dict[str, Callable[[str], str]] = {"score": unquote, "agree": unquote, "dsi": unquote, "overlap": unescaped}


class Result:
    """The outputs of a step."""

    def __init__(self, place: Place, address: str, record: Record) -> None:
        self.place, self.address, self.record = place, address, record

    def __repr__(self) -> str:
        return f"<redsi.Result {self.address} {self.key}>"

    @property
    def key(self) -> str:
        """The key: the digest of kind, version and configuration, inputs by their digests."""
        return self.record.key

    @property
    def outputs(self) -> Dict[str, Artifact]:
        """The outputs by their names."""
        return self.record.outputs

    def output(self, name: str) -> Artifact:
        """An output by its name."""
        if name not in self.outputs:
            raise NotFound(f"{self.address} has no output {name!r}; it has {', '.join(self.outputs) or 'none'}")
        return self.outputs[name]

    def output_of_type(self, types: Tuple[str, ...], name: Optional[str]) -> str:
        """The one output of these types, or the named one, which must have one of them."""
        if name is not None:
            if self.output(name).type not in types:
                raise Error(f"output {name} of {self.address} is of type {self.output(name).type}, not {' or '.join(types)}")
            return name
        found = [n for n, a in self.outputs.items() if a.type in types]
        if len(found) == 1:
            return found[0]
        if found:
            raise Error(f"{self.address} has several outputs of type {' or '.join(types)}: name one of {', '.join(found)}")
        has = ", ".join(f"{n} ({a.type})" for n, a in self.outputs.items())
        raise NotFound(f"{self.address} has no output of type {' or '.join(types)}; it has {has or 'none'}")

    def files(self, name: str) -> List[str]:
        """The names of the files of a tree."""
        return [f.name for f in self.output(name).files or ()]

    def path(self, name: str, file: Optional[str] = None) -> Path:
        """A local file with an output's verified bytes, or with those of a file of a tree.
        It is the store's own: not to be written to."""
        digest, size = self._blob(name, file)
        return self.place.path(digest, size)

    def open(self, name: str, file: Optional[str] = None) -> BinaryIO:
        """The same as a stream."""
        digest, size = self._blob(name, file)
        return self.place.open(digest, size)

    def read(self, name: str, file: Optional[str] = None) -> bytes:
        """The same as bytes."""
        with self.open(name, file) as f:
            return f.read()

    def json(self, name: str, file: Optional[str] = None) -> Any:
        """The same as JSON."""
        return json.loads(self.read(name, file))

    def text(self, name: str, file: Optional[str] = None) -> str:
        """The same as UTF-8."""
        return self.read(name, file).decode("utf-8")

    def lines(self, name: str, file: Optional[str] = None) -> Iterator[str]:
        """Lines of UTF-8, of a file that is plain or compressed with zstd."""
        with self.open(name, file) as raw:
            head = raw.read(4)
            raw.seek(0)
            stream: Any = raw
            if head == b"\x28\xb5\x2f\xfd":
                stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(raw, read_across_frames=True)
            with io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as text:
                yield from text

    def frame(self, name: str, file: Optional[str] = None) -> Any:
        """A file with a header and tabs between fields, such as the queries of ``score`` or the
        pairs of ``overlap``, as a frame, names and texts as they are; fields of other
        programs' files are as in the file. Columns of numbers are numbers, an empty field of
        one is None."""
        field = _FIELDS.get(self.output(name).type.split("/")[0], str)
        lines = (line.rstrip("\n").split("\t") for line in self.lines(name, file))
        head = next(lines, [])
        rows = list(lines)
        if any(len(row) != len(head) for row in rows) or len(set(head)) != len(head):
            raise Error(f"output {name} of {self.address} is not a table: its lines lack the fields of its first one")
        return frames.frame({n: frames.numbers([field(row[i]) for row in rows]) for i, n in enumerate(head)})

    def save(self, name: str, folder: Union[str, "os.PathLike[str]", None] = None) -> Path:
        """Copies a tree into folder, which must not be there yet, or into the cache."""
        artifact = self.output(name)
        if artifact.files is None:
            raise Error(f"output {name} of {self.address} is one file: use path")
        cached = self.place.cache / "trees" / artifact.digest[len("sha256:") :]
        target = cached if folder is None else Path(folder)
        if target.exists():
            if folder is None:
                return target
            raise Error(f"{target} already exists")
        target.parent.mkdir(parents=True, exist_ok=True)
        building = tempfile.mkdtemp(dir=target.parent)
        try:
            for f in artifact.files:
                to = Path(building, f.name)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.place.path(f.digest, f.size), to)
            os.chmod(building, 0o755)
            try:
                os.rename(building, target)
            except OSError:
                if folder is not None or not target.is_dir():  # else another process was faster
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return target

    def _blob(self, name: str, file: Optional[str]) -> Tuple[str, int]:
        artifact = self.output(name)
        if artifact.files is None:
            if file is not None:
                raise NotFound(f"output {name} of {self.address} is one file, not a tree")
            return artifact.digest, artifact.size
        if file is None and len(artifact.files) == 1:
            return artifact.files[0].digest, artifact.files[0].size
        found: Optional[File] = artifact.file(file) if file is not None else None
        if found is None:
            raise NotFound(f"output {name} of {self.address} is a tree; name one of its files: {', '.join(self.files(name)[:20])}")
        return found.digest, found.size


class Objects(Iterable[Dict[str, Any]]):
    """JSON lines: an iterable of dicts that can be iterated again."""

    def __init__(self, result: Result, output: str) -> None:
        self._result, self._output = result, output

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return (json.loads(line) for line in self._result.lines(self._output))

    def frame(self) -> Any:
        """All of it: a DataFrame, or without pandas a pyarrow Table."""
        return frames.of_rows(self)
