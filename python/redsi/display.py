"""How far a run is, where a person sees it: in a notebook, on a terminal, in a log."""

from __future__ import annotations

import html
import os
import shutil
import sys
import time
from typing import Any, Dict, List, Optional

Event = Dict[str, Any]  #: a line of redsi-progress/1
_STEPS = 8  # running or failed, that a notebook shows


class View:
    """Shows nothing."""

    def show(self, event: Event) -> None:
        """Takes an event."""

    def text(self, line: str) -> None:
        """Takes a line that the program prints for people."""

    def close(self) -> None:
        """The program has ended."""


class Lines(View):
    """Lines on standard error. On a terminal, running steps are below them, as `redsi run` has it."""

    def __init__(self) -> None:
        self.out, self.drawn = sys.stderr, 0
        self.live = self.out.isatty()

    def show(self, event: Event) -> None:
        begun = [f"run {event['run']}", f"Temporal UI: {event['url']}"] if event["event"] == "begun" else []
        self._print(begun + event.get("news", []) + ([event["text"]] if "text" in event else []), event.get("block"))

    def text(self, line: str) -> None:
        self._print([line])

    def close(self) -> None:
        self._print([])

    def _print(self, lines: List[str], block: Optional[List[str]] = None) -> None:
        below = block or [] if self.live else []
        text = f"\x1b[{self.drawn}A\x1b[J" if self.drawn else ""
        text += "".join(f"{line}\n" for line in lines + below)
        self.drawn = len(below)
        if text:
            self.out.write(text)
            self.out.flush()


class Notebook(View):
    """One output of a cell, updated in place."""

    def __init__(self, display: Any) -> None:
        self.began, self.url, self.said = time.monotonic(), "", ""
        self.state: Event = {"total": 0, "done": 0, "counts": {}}
        self.failed: Dict[str, str] = {}
        self.over = False
        self.handle = display(self._bundle(), raw=True, display_id=True)

    def show(self, event: Event) -> None:
        self.url, self.said = event.get("url", self.url), event.get("text", "")
        if event["event"] == "state":
            self.state = event
            self.failed.update((s["address"], s.get("error", "")) for s in event["steps"] if s["status"] == "failed")
        self.handle.update(self._bundle(), raw=True)

    def text(self, line: str) -> None:
        print(line, file=sys.stderr)

    def close(self) -> None:
        self.over = True
        self.handle.update(self._bundle(), raw=True)

    def _bundle(self) -> Dict[str, str]:
        s, esc = self.state, html.escape
        total, done = s["total"], s["done"]
        counts = ", ".join(f"{n} {status}" for status, n in s["counts"].items())
        line = f"{done} of {total} steps" + (f": {counts}" if counts else "") + f"; {seconds(time.monotonic() - self.began)}"
        if not total:
            line = "nothing ran" if self.over else "planning"
        rows = []
        if not self.over:
            running = s.get("running") or []
            rows = [f"{esc(r['address'])} {seconds(r['for_s'])} {esc(r.get('progress', ''))}" for r in running[:_STEPS]]
            rows += [f"and {len(running) - _STEPS} more"] * (len(running) > _STEPS) + [esc(t) for t in (s.get("waits"), self.said) if t]
        rows += [f"<b>failed</b> {esc(address)}<pre>{esc(why)}</pre>" for address, why in list(self.failed.items())[:_STEPS]]
        bar = f'<progress value="{done}" max="{total or 1}"></progress> ' if total else ""
        link = f' <a href="{esc(self.url)}">Temporal UI</a>' if self.url and not self.over else ""
        items = "".join(f"<li>{row}</li>" for row in rows)
        return {"text/plain": line, "text/html": f"<div>{bar}{esc(line)}{link}<ul>{items}</ul></div>"}


def seconds(s: float) -> str:
    """A duration as redsi prints it."""
    if s < 120:
        return f"{s:.1f} s" if s < 9.95 else f"{s:.0f} s"
    minutes, rest = divmod(round(s), 60)
    return f"{minutes} min {rest} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def columns() -> str:
    """How wide a terminal is, for the program."""
    return str(shutil.get_terminal_size().columns)


def view() -> View:
    """The view of where this process is. IPython is asked only if it is there already."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is not None:
        from IPython.display import display

        return Notebook(display)
    return Lines() if sys.stderr is not None else View()
