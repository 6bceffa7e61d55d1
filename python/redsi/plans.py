"""What a run would do, by the program redsi."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from . import display, frames
from .errors import Error
from .reproduction import Path_, Targets, _object, arguments, follow, said


def plan(
    targets: Targets = None,
    vars: Optional[Mapping[str, Any]] = None,
    *,
    project: Path_ = ".",
    file: Optional[Path_] = None,
    store: Optional[Path_] = None,
) -> "Plan":
    """What `redsi run` would do with these targets and variables, which are as in run: what is
    done, what must run and why, and what that costs by earlier results. Changes nothing.

    Raises Error, with what the program says, if the input is wrong.

    >>> redsi.plan(vars={"seeds": 8}).steps
    """
    args = ["plan", "--json", *arguments(targets, vars, file=file, store=store)]
    code, printed, text = follow(args, project, lambda event: None, lambda line: None)
    value = _object(printed)
    if "steps" not in value or code not in (0, 2):
        raise Error(said(value, text, code))
    return Plan(value)


class Plan:
    """What a run would do."""

    done: bool  #: whether there is nothing to run
    hit: int  #: steps that have results
    run: int  #: steps that must run
    maybe: int  #: steps that run if what they read turns out otherwise
    expected: float  #: seconds that a run takes at least, of steps whose time is known
    unknown: int  #: steps to run whose time is not known
    value: Dict[str, Any]  #: all that `redsi plan --json` prints

    def __init__(self, value: Dict[str, Any]) -> None:
        self.value = value
        summary, estimate = value["summary"], value["estimate"]
        self.hit, self.run, self.maybe = summary["hit"], summary["run"], summary["maybe"]
        self.done = self.run + self.maybe == 0
        self.expected, self.unknown = estimate["wall_at_least_s"], estimate["unknown"]

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
        if self.done:
            return f"nothing to run, {self.hit} hit"
        known = [f"at least {display.seconds(self.expected)}"] if self.run + self.maybe > self.unknown else []
        times = known + ([f"{self.unknown} of unknown time"] if self.unknown else [])
        return f"{self.run} to run, {self.maybe} maybe, {self.hit} hit; {', '.join(times)}"

    def _repr_markdown_(self) -> str:
        rows = []
        for b in self.value["blocks"]:
            why = "; ".join(r["reason"] for r in b.get("reasons") or ())
            expected = display.seconds(b["expect_s"]) if b["run"] + b["maybe"] > b["unknown"] else ""
            rows.append([f"`{b['name']}`", b["hit"] or "", b["run"] or "", b["maybe"] or "", expected, why])
        lines = [["Block", "Hit", "Run", "Maybe", "Expected", "Why"], ["---"] + ["---:"] * 4 + ["---"], *rows]
        table = "\n".join("| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in line) + " |" for line in lines)
        return f"{self._line()}\n\n{table}"
