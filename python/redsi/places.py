"""Where records and blobs are: a folder, or a web server with the same layout."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import BinaryIO, Iterator, Optional, Set

from .errors import Damaged, Error, NotFound

_MOST_RECORD = 1 << 20
_CHUNK = 1 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Place:
    """Records by name and blobs by digest. Every blob is verified before its first byte is
    given out, once in the life of this object."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self._verified: Set[str] = set()

    def record(self, name: str) -> Optional[bytes]:
        """The bytes of a record, such as ``results/<hex>``; None if it is not there."""
        raise NotImplementedError

    def file(self, name: str) -> Optional[bytes]:
        """A small file beside records and blobs; None if it is not there."""
        raise NotImplementedError

    def records(self, folder: str) -> Optional[Iterator[str]]:
        """The names of records directly in a folder, in no order; None if nothing can be listed."""
        raise NotImplementedError

    def _local(self, digest: str, size: int) -> Optional[Path]:
        """Where a blob is on this machine, not verified; None if the place lacks it."""
        raise NotImplementedError

    def path(self, digest: str, size: int) -> Path:
        """A local file with the verified bytes of a blob. It is not to be written to."""
        path = self._local(digest, size)
        if path is None:
            path = self._elsewhere(digest, size)
        if digest not in self._verified:
            try:
                verify(path, digest)
            except Damaged:
                if self.cache in path.parents:
                    path.unlink()  # a copy of ours: the next try fetches it again
                raise
            self._verified.add(digest)
        return path

    def open(self, digest: str, size: int) -> BinaryIO:
        """A blob's verified bytes."""
        return open(self.path(digest, size), "rb")

    def cached(self, digest: str) -> Path:
        hexes = digest[len("sha256:") :]
        return self.cache / "blobs" / hexes[:2] / hexes[2:]

    def _elsewhere(self, digest: str, size: int) -> Path:
        """Fetches a blob from where a record says it is, into the cache."""
        path = self.cached(digest)
        if path.exists():
            return path
        record = self.record("elsewhere/" + digest[len("sha256:") :])
        if record is None:
            raise NotFound(f"the store has no blob {digest}")
        try:
            url = json.loads(record)["url"]
        except (ValueError, KeyError, TypeError):
            raise Damaged(f"the record of where {digest} is is damaged") from None
        if not _may_ask(url, self.on_this_machine()):
            raise NotFound(f"the blob {digest} lies at {url}, which is not https")
        body = _get(url, size)
        if body is None:
            raise NotFound(f"the blob {digest} is not at {url} any more")
        return _keep(body, path, digest)

    def on_this_machine(self) -> bool:
        """Whether addresses of this machine may be followed."""
        return False


class Folder(Place):
    """A store in a folder."""

    def __init__(self, folder: Path, cache: Path) -> None:
        super().__init__(cache)
        self.folder = folder

    def record(self, name: str) -> Optional[bytes]:
        return self.file(f"records/{name}.json")

    def file(self, name: str) -> Optional[bytes]:
        path = self.folder / name
        try:
            if not path.is_file():
                return None
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def records(self, folder: str) -> Optional[Iterator[str]]:
        try:
            with os.scandir(self.folder / "records" / folder) as entries:
                names = [e.name for e in entries if e.name.endswith(".json") and e.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            names = []
        return (f"{folder}/{n[: -len('.json')]}" for n in names)

    def _local(self, digest: str, size: int) -> Optional[Path]:
        hexes = digest[len("sha256:") :]
        path = self.folder / "blobs" / hexes[:2] / hexes[2:]
        return path if path.is_file() and not path.is_symlink() else None


class Host(Place):
    """A store on a web server. Blobs are fetched into a folder of this machine."""

    def __init__(self, url: str, cache: Path) -> None:
        super().__init__(cache)
        parts = urllib.parse.urlsplit(url)
        if parts.username or parts.password:
            raise Error(f"{parts.hostname}: an address with a password is not accepted")
        insecure = urllib.parse.parse_qs(parts.query).get("insecure") == ["true"]
        if parts.scheme != "https" and not (parts.scheme == "http" and (insecure or parts.hostname in _LOOPBACK)):
            raise Error(f"{url}: https, or http of this machine; ?insecure=true allows plain http of other hosts")
        self.url = urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))

    def on_this_machine(self) -> bool:
        return urllib.parse.urlsplit(self.url).hostname in _LOOPBACK

    def record(self, name: str) -> Optional[bytes]:
        return self.file(f"records/{name}.json", _MOST_RECORD)

    def file(self, name: str, most: int = 64 << 20) -> Optional[bytes]:
        body = _get(f"{self.url}/{urllib.parse.quote(name)}", most)
        if body is None:
            return None
        with body:
            return body.read()

    def records(self, folder: str) -> Optional[Iterator[str]]:
        return None

    def _local(self, digest: str, size: int) -> Optional[Path]:
        path = self.cached(digest)
        if path.exists():
            return path
        hexes = digest[len("sha256:") :]
        body = _get(f"{self.url}/blobs/{hexes[:2]}/{hexes[2:]}", size)
        return None if body is None else _keep(body, path, digest)


def verify(path: Path, digest: str) -> None:
    """Raises Damaged if the file's bytes are not those of the digest."""
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(_CHUNK):
            h.update(chunk)
    if "sha256:" + h.hexdigest() != digest:
        raise Damaged(f"{path}: its bytes are not those of {digest}; `redsi verify --repair` sets it aside")


def _keep(body: BinaryIO, path: Path, digest: str) -> Path:
    """Writes a blob into the cache if its bytes are right: whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent)
    try:
        with body, os.fdopen(fd, "wb") as f:
            shutil.copyfileobj(body, f, _CHUNK)
        verify(Path(name), digest)
        os.replace(name, path)
    except BaseException:
        if os.path.exists(name):
            os.unlink(name)
        raise
    return path


def _may_ask(url: str, this_machine: bool) -> bool:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and this_machine and parts.hostname in _LOOPBACK)


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise urllib.error.HTTPError(req.full_url, code, "is redirected away from https", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_opener = urllib.request.build_opener(_NoDowngrade)


class _Limited:
    """A response of at most that many bytes, which must be complete."""

    def __init__(self, response: BinaryIO, url: str, most: int, length: Optional[int]) -> None:
        self.response, self.url, self.left, self.length, self.had = response, url, most, length, 0

    def read(self, n: int = -1) -> bytes:
        data = self.response.read(self.left + 1 if n is None or n < 0 else min(n, self.left + 1))
        self.left -= len(data)
        self.had += len(data)
        if self.left < 0:
            raise Damaged(f"{self.url} is longer than it should be")
        if not data and n != 0 and self.length is not None and self.had < self.length:
            raise Error(f"{self.url} ended after {self.had} of {self.length} bytes; try again")
        return data

    def __enter__(self) -> "_Limited":
        return self

    def __exit__(self, *_: object) -> None:
        self.response.close()


def _get(url: str, most: int) -> Optional[BinaryIO]:
    """Asks for a file, and again if the server is busy; None if it is not there."""
    request = urllib.request.Request(url, headers={"User-Agent": "redsi-python", "Accept-Encoding": "identity"})
    for wait in (0.5, 2.0, None):
        try:
            response = _opener.open(request, timeout=60)
            length = response.headers.get("Content-Length", "")
            return _Limited(response, url, most, int(length) if re.fullmatch(r"\d+", length) else None)  # type: ignore[return-value]
        except urllib.error.HTTPError as err:
            if err.code in (403, 404, 410):
                return None
            if wait is None or err.code < 500 and err.code != 429:
                raise Error(f"{url}: {err}") from None
        except OSError as err:
            if wait is None:
                raise Error(f"{url}: {err}") from None
        time.sleep(wait)
    raise AssertionError("unreachable")
