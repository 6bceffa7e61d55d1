"""What can go wrong, by what the caller can do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional

if TYPE_CHECKING:
    from .reproduction import Reproduction


class Error(Exception):
    """Anything that this package raises on purpose."""


class RunFailed(Error):
    """A run began and did not end well. Results of other steps are kept.

    >>> try:
    ...     redsi.run()
    ... except redsi.RunFailed as failed:
    ...     failed.steps    # {'step.command.fit': 'python exited with code 1; …'}
    ...     failed.result   # what there is all the same; None if the program did not say
    """

    def __init__(self, text: str, steps: Dict[str, str], result: "Optional[Reproduction]") -> None:
        super().__init__(text)
        self.steps, self.result = steps, result


class NotFound(Error, LookupError):
    """The store has no such step, output, file or blob."""


class Damaged(Error):
    """Bytes do not match their digest or seal. None of them are given out."""


class UnknownFormat(Error):
    """A newer redsi wrote this; use a newer version of this package."""
