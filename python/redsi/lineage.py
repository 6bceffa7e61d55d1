"""Who made what of which inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, List, Set

from .records import Input, Record


@dataclass
class Read:
    """An input of a step, and the outputs of which it has the bytes: more than one if steps
    made the same, none if the step that made it is unknown here."""

    input: Input
    made_by: List["Made"] = field(default_factory=list)


@dataclass
class Made:
    """An output of a step."""

    output: str  #: its name, or NAME/FILE of a tree
    step: "Step"


@dataclass
class Step:
    """A step with all that it comes from."""

    address: str
    record: Record
    reads: List[Read] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The key of its result."""
        return self.record.key

    def steps(self) -> Iterator["Step"]:
        """This step and all before it, each once, what is read before what reads it."""
        return self._steps(set())

    def _steps(self, seen: Set[str]) -> Iterator["Step"]:
        # No recursion: chains of steps may be longer than Python's stack.
        stack = [(self, iter(self._before()))]
        if self.address in seen:
            return
        seen.add(self.address)
        while stack:
            step, before = stack[-1]
            following = next((s for s in before if s.address not in seen), None)
            if following is None:
                stack.pop()
                yield step
            else:
                seen.add(following.address)
                stack.append((following, iter(following._before())))

    def _before(self) -> List["Step"]:
        return [made.step for read in self.reads for made in read.made_by]

    def __str__(self) -> str:
        lines: List[str] = []
        told: Set[str] = set()
        stack = [(self, "", "")]
        while stack:
            step, indent, how = stack.pop()
            again = step.address in told
            lines.append(f"{indent}{how}{step.address}  {step.record.kind}@{step.record.version}  {step.key}" + ("  …" if again and step.reads else ""))
            if again:
                continue
            told.add(step.address)
            below = []
            for read in step.reads:
                attribute = read.input.path.removeprefix("config.")
                if not read.made_by:
                    lines.append(f"{indent}  {attribute} = {read.input.digest}")
                below += [(m.step, indent + "  ", f"{attribute} = {m.output} of ") for m in read.made_by]
            stack += reversed(below)
        return "\n".join(lines)
