"""What a run would do, by the program redsi."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import display, frames
from .errors import Error
from .reproduction import PathLike, Targets, Vars, arguments, follow


def plan(targets: Targets = None, vars: Vars = None, *, project: PathLike = ".", file: Optional[PathLike] = None, store: Optional[PathLike] = None) -> "Plan":
    """What `redsi run` would do with these targets and variables, which are as in run: what is
    done, what must run and why, and what that costs by earlier results. Changes nothing.

    Raises Error, with what the program says, if the input is wrong.

    >>> redsi.plan(vars={"seeds": 8}).steps
    """
    args = ["plan", "--json", *arguments(targets, vars, file=file, store=store)]
    _, value, text = follow(args, project, lambda event: None, lambda line: None)
    if "steps" not in value:
        raise Error(text)
    return Plan(value)


class Plan:
    """What a run would do. In a notebook it is a table of blocks."""

    def __init__(self, value: Dict[str, Any]) -> None:
        self.value: Dict[str, Any] = value  #: all that `redsi plan --json` prints
        self.hit: int = value["summary"]["hit"]  #: steps that have results
        self.run: int = value["summary"]["run"]  #: steps that must run
        self.maybe: int = value["summary"]["maybe"]  #: steps that run if what they read turns out otherwise
        self.done: bool = self.run + self.maybe == 0  #: whether there is nothing to run
        self.expected: float = value["estimate"]["wall_at_least_s"]  #: seconds that it takes at least, by steps whose time is known
        self.unknown: int = value["estimate"]["unknown"]  #: steps to run whose time is not known

    @property
    def steps(self) -> Any:
        """A data frame with a row for each step: its address and kind; outcome: hit, run or
        maybe; why it runs; expected and expected_p90, the median and 90 % quantile of seconds
        that it is expected to take; took, the seconds that its result took; its key, None if it
        is not known yet; the run that left its result; and where it is declared."""
        names = {"address": "address", "kind": "kind", "outcome": "outcome", "why": "reason", "expected": "expect_s",
                 "expected_p90": "expect_p90_s", "took": "took_s", "key": "key", "run": "origin", "file": "file", "line": "line"}  # fmt: skip
        return frames.frame({name: [s.get(of) for s in self.value["steps"]] for name, of in names.items()})

    def __repr__(self) -> str:
        return f"<redsi.Plan {self._line()}>"

    def _line(self) -> str:
        known = [f"at least {display.seconds(self.expected)}"] if self.run + self.maybe > self.unknown else []
        times = known + ([f"{self.unknown} of unknown time"] if self.unknown else [])
        return "; ".join([f"{self.run} to run, {self.maybe} maybe, {self.hit} hit", *times])

    def _repr_markdown_(self) -> str:
        rows = [["Block", "Hit", "Run", "Maybe", "Expected", "Why"], ["---", "---:", "---:", "---:", "---:", "---"]]
        for b in self.value["blocks"]:
            expected = display.seconds(b["expect_s"]) if b["run"] + b["maybe"] > b["unknown"] else ""
            why = "; ".join(r["reason"] for r in b.get("reasons") or ()).replace("|", "\\|").replace("\n", " ")
            rows.append([f"`{b['name']}`", *(str(b[n] or "") for n in ("hit", "run", "maybe")), expected, why])
        return "\n".join([self._line(), "", *("| " + " | ".join(row) + " |" for row in rows)])
