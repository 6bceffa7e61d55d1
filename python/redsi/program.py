"""Where the program redsi is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Iterator, List

from .errors import Error


def find() -> str:
    """The path of the program redsi: what the variable REDSI names, else what was installed
    with this package, else what is in PATH. Raises Error if there is none.

    >>> subprocess.run([redsi.program.find(), "version"])
    """
    named = os.environ.get("REDSI")
    if named:
        if not _runs(named):
            raise Error(f"REDSI={named}: there is no program; unset REDSI, or set it to the path of redsi")
        return os.path.abspath(named)
    for folder in _folders():
        path = os.path.join(folder, "redsi")
        if _runs(path):
            return path
    found = shutil.which("redsi")
    if found is None:
        raise Error(
            "the program redsi was not found. The wheel has it that `make wheel` makes in a clone; "
            "`pip install ./python` has only the readers: build the program by `make bin/redsi`, and put it into PATH "
            "or its path into REDSI"
        )
    return os.path.abspath(found)


def _folders() -> Iterator[str]:
    """Where pip puts programs: of this environment, of the Python that it was made from, of
    --target, whose bin is beside the package, and of --user."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    yield str(Path(__file__).resolve().parent.parent / "bin")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    try:
        yield sysconfig.get_path("scripts", user)
    except (KeyError, RuntimeError):
        pass  # no home folder, or a Python without --user


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def main(args: List[str]) -> int:
    """Becomes the program. Returns an exit status if there is none."""
    try:
        path = find()
        os.execv(path, [path, *args])
    except (Error, OSError) as err:
        print(f"redsi: {err}", file=sys.stderr)
        return 2
