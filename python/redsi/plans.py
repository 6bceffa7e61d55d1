"""What a run would do, by the program redsi."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Dict, Optional

from . import display, frames
from .errors import Error
from .reproduction import PathLike, Targets, Vars, flags, follow


def plan(targets: Targets = None, vars: Vars = None, *, project: PathLike = ".", file: Optional[PathLike] = None, store: Optional[PathLike] = None) -> "Plan":
    """What `redsi run` would do with these targets and variables, which are as in run: what is
    done, what must run and why, and what that costs by earlier results. Changes nothing.

    Raises Error, with what the program says, if the input is wrong.

    >>> redsi.plan(vars={"seeds": 8}).steps
    """
    with tempfile.TemporaryDirectory(prefix="redsi-") as folder:
        markdown = Path(folder, "plan.md")
        _, value, text = follow(["plan", "--json", "--markdown", str(markdown), *flags(targets, file=file, store=store)], vars, project, display.View())
        if "steps" not in value:
            raise Error(text)
        return Plan(value, markdown.read_text("utf-8"))


class Plan:
    """What a run would do. In a notebook it is what `redsi plan --markdown` writes."""

    def __init__(self, value: Dict[str, Any], markdown: str) -> None:
        self.value: Dict[str, Any] = value  #: all that `redsi plan --json` prints
        self.markdown: str = markdown  #: all that `redsi plan --markdown` writes
        self.hit: int = value["summary"]["hit"]  #: steps that have results
        self.run: int = value["summary"]["run"]  #: steps that must run
        self.maybe: int = value["summary"]["maybe"]  #: steps that run if what they read turns out otherwise
        self.done: bool = self.run + self.maybe == 0  #: whether there is nothing to run

    @property
    def steps(self) -> Any:
        """A data frame with a row for each step: its address and kind; outcome: hit, run or
        maybe; why it runs; expected and expected_p90, the median and 90 % quantile of seconds
        that it is expected to take; took, the seconds that its result took; its key, missing if it
        is not known yet; the run that left its result; and where it is declared."""
        names = {"address": "address", "kind": "kind", "outcome": "outcome", "why": "reason", "expected": "expect_s",
                 "expected_p90": "expect_p90_s", "took": "took_s", "key": "key", "run": "origin", "file": "file", "line": "line"}  # fmt: skip
        return frames.frame({name: [s.get(of) for s in self.value["steps"]] for name, of in names.items()})

    def __repr__(self) -> str:
        return f"<redsi.Plan {self.run} to run, {self.maybe} maybe, {self.hit} hit>"

    def _repr_markdown_(self) -> str:
        return self.markdown
