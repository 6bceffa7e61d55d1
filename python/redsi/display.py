"""How far a run is, where a person sees it: in a notebook, on a terminal, in a log."""

from __future__ import annotations

import datetime
import html
import sys
import time
from typing import Any, Dict

Event = Dict[str, Any]  #: of redsi-progress/1; {"event": "ended"} is the last


class View:
    """What is known of a run. Shows nothing."""

    def __init__(self) -> None:
        self.state: Event = {}  #: each member as the last event that has it
        self.failed: Dict[str, str] = {}  #: errors of failed steps

    def show(self, event: Event) -> None:
        """Takes an event."""
        self.state.update(event)
        for s in event.get("steps", ()):
            self.failed.pop(s["address"], None)  # it may have begun again
            if s["status"] == "failed":
                self.failed[s["address"]] = s.get("error", "")

    def text(self, line: str) -> None:
        """Takes a line that the program prints for people."""


class Lines(View):
    """Lines on standard error; on a terminal, those of running steps are below them."""

    drawn = 0

    def show(self, event: Event) -> None:
        super().show(event)
        block = event.get("block", []) if sys.stderr.isatty() else []
        clear = f"\x1b[{self.drawn}A\x1b[J" if self.drawn else ""
        self.drawn = len(block)
        sys.stderr.write(clear + "".join(f"{line}\n" for line in event.get("news", []) + block))
        sys.stderr.flush()

    def text(self, line: str) -> None:
        self.show({"news": [line]})


class Notebook(View):
    """One output of a cell, updated in place."""

    def __init__(self, display: Any) -> None:
        super().__init__()
        self.began = time.monotonic()
        self.handle = display({"text/plain": "planning"}, raw=True, display_id=True)

    def show(self, event: Event) -> None:
        super().show(event)
        s, over = self.state, event["event"] == "ended"
        line, bar, link, below = "nothing ran" if over else "planning", "", "", []
        if s.get("total"):
            counts = ", ".join(f"{n} {status}" for status, n in s["counts"].items())
            line = f"{s['done']} of {s['total']} steps: {counts}; {seconds(time.monotonic() - self.began)}"
            bar = f'<progress value="{s["done"]}" max="{s["total"]}"></progress> '
        if not over:
            link = f' <a href="{html.escape(s.get("url", ""))}">Temporal UI</a>'
            below = s.get("block", []) + (event["news"] if event["event"] == "said" else [])
        below = below + [f"{address} failed: {why}" for address, why in list(self.failed.items())[:8]]
        shown = f"<div>{bar}{html.escape(line)}{link}<pre>{html.escape(chr(10).join(below))}</pre></div>"
        self.handle.update({"text/plain": line, "text/html": shown}, raw=True)

    def text(self, line: str) -> None:
        print(line, file=sys.stderr)


def seconds(s: float) -> str:
    """A duration as hours, minutes and seconds."""
    return str(datetime.timedelta(seconds=round(s)))


def view() -> View:
    """The view of where this process is. IPython is asked only if it is there already."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None:
        from IPython.display import display

        return Notebook(display)
    return Lines() if sys.stderr is not None else View()
