"""Records of results: what is in them, and the proofs that they carry.

A record ends with a seal, the digest of the bytes before it; its key is the digest of its
preimage; the digest of a tree is that of its list of files. All three are checked here. Who
signed a record is not looked at.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from .errors import Damaged, UnknownFormat

_SEAL = b',"seal":"'
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
# How Go's encoder writes what HTML and JavaScript would take for something else.
_ESCAPED = re.compile(rb"\\(?:\\|u003c|u003e|u0026|u2028|u2029)")
_PLAIN = {
    rb"\u003c": b"<", rb"\u003e": b">", rb"\u0026": b"&",
    rb"\u2028": "\u2028".encode(), rb"\u2029": "\u2029".encode(),
}  # fmt: skip


def sha256(data: bytes) -> str:
    """The digest of bytes, as redsi writes it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def check_digest(text: object, what: str) -> str:
    """text, if it is a digest."""
    if not isinstance(text, str) or not _DIGEST.match(text):
        raise Damaged(f"{what}: {text!r} is not a digest")
    return text


@dataclass(frozen=True)
class File:
    """A file of a tree."""

    name: str
    digest: str
    size: int


@dataclass(frozen=True)
class Artifact:
    """An output of a step: one blob, or a tree of files."""

    type: str
    digest: str
    size: int
    files: Optional[Tuple[File, ...]] = None

    def file(self, name: str) -> Optional[File]:
        """The file of that name, None if there is none."""
        return next((f for f in self.files or () if f.name == name), None)


@dataclass(frozen=True)
class Input:
    """Where a configuration reads an output of another step."""

    path: str  #: of the attribute, such as ``config.rows[0].value[0]``
    digest: str


def parse_artifact(value: Any, what: str) -> Artifact:
    """An artifact from JSON; a tree's digest must be that of its files."""
    try:
        digest = check_digest(value["digest"], what)
        files = value.get("files")
        if files is None:
            return Artifact(value["type"], digest, int(value["size"]))
        listed = tuple(File(f["name"], check_digest(f["digest"], what), int(f["size"])) for f in files)
        artifact = Artifact(value["type"], digest, int(value["size"]), listed)
    except (KeyError, TypeError, ValueError) as err:
        raise Damaged(f"{what}: not an artifact: {err}") from None
    for f in listed:
        if not _clean(f.name):
            raise Damaged(f"{what}: {f.name!r} is not the name of a file in a tree")
    if tree_digest(listed) != digest:
        raise Damaged(f"{what}: the digest of the tree is not that of its files")
    return artifact


def _clean(name: str) -> bool:
    parts = name.split("/")
    return (
        0 < len(name.encode()) <= 1024
        and "\\" not in name
        and not any(p in ("", ".", "..") or p[-1] in ". " or len(p.encode()) > 255 for p in parts)
        and not any(ord(c) < 0x20 or ord(c) == 0x7F for c in name)
        and name[1:2] != ":"
    )


def tree_digest(files: Tuple[File, ...]) -> str:
    """The digest of a tree of these files."""
    listed = [
        {"name": f.name, "digest": f.digest, "size": f.size} for f in sorted(files, key=lambda f: f.name.encode())
    ]
    text = json.dumps({"format": "redsi.tree/1", "files": listed}, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode())


def body_of(record: bytes, what: str) -> Dict[str, Any]:
    """The JSON of a sealed record: a result, or the head of a long one."""
    at = record.rfind(_SEAL)
    try:
        value = json.loads(record)
        if not isinstance(value, dict):
            raise ValueError("not an object")
    except ValueError as err:
        raise Damaged(f"{what} is not JSON: {err}") from None
    if at < 0 or value.get("seal") != sha256(record[:at]):
        raise Damaged(f"{what}: its bytes are not those that were sealed")
    return value


def key_of(record: bytes) -> str:
    """The key that the preimage in a record gives."""
    mark = b'"preimage":'
    start = record.index(mark) + len(mark)
    text = record[start:].decode("utf-8")
    _, end = json.JSONDecoder().raw_decode(text)
    preimage = _ESCAPED.sub(lambda m: _PLAIN.get(m.group(), m.group()), text[:end].encode())
    return sha256(b"redsi-key/1 %d\n" % len(preimage) + preimage)


@dataclass(frozen=True)
class Record:
    """A result: the outputs of a step, by its key."""

    key: str
    kind: str
    version: int
    config: Dict[str, Any]  #: with all defaults; an input is ``{"$input": digest}``
    outputs: Dict[str, Artifact]
    finished: str
    took_s: float
    counts: Dict[str, int]
    env: Dict[str, str]
    origin: Dict[str, Any]

    def inputs(self) -> List[Input]:
        """What the step read, in the order of its configuration."""
        found: List[Input] = []

        def walk(value: Any, path: str) -> None:
            if isinstance(value, dict):
                if list(value) == ["$input"]:
                    found.append(Input(path, value["$input"].partition(" ")[0]))
                    return
                for name, member in value.items():
                    walk(member, f"{path}.{name}")
            elif isinstance(value, list):
                for i, member in enumerate(value):
                    walk(member, f"{path}[{i}]")

        walk(self.config, "config")
        return found


def parse_result(key: str, record: bytes) -> Record:
    """The result of a key. Any change to the record's bytes is Damaged."""
    what = f"the result of {key}"
    value = body_of(record, what)
    if value.get("format") != "redsi.result/1":
        raise UnknownFormat(f"{what} has format {value.get('format')!r}; this package reads redsi.result/1 and /2")
    preimage = value.get("preimage")
    if not isinstance(preimage, dict) or preimage.get("format") != "redsi-key/1":
        raise UnknownFormat(f"{what} has a key of another format than redsi-key/1")
    if value.get("key") != key or key_of(record) != key:
        raise Damaged(f"{what}: its preimage does not give its key")
    return Record(
        key=key,
        kind=preimage.get("kind", ""),
        version=preimage.get("version", 0),
        config=preimage.get("config", {}),
        outputs={n: parse_artifact(a, f"{what}, output {n}") for n, a in (value.get("outputs") or {}).items()},
        finished=value.get("finished", ""),
        took_s=value.get("took_s", 0.0),
        counts=value.get("counts") or {},
        env=value.get("env") or {},
        origin=value.get("origin") or {},
    )
