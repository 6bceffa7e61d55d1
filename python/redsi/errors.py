"""What can go wrong, by what the caller can do about it. RunFailed, which has what came of a run, is in reproduction."""


class Error(Exception):
    """Anything that this package raises on purpose."""


class NotFound(Error, LookupError):
    """The store has no such step, output, file or blob."""


class Damaged(Error):
    """Bytes do not match their digest or seal. None of them are given out."""


class UnknownFormat(Error):
    """A newer redsi wrote this; use a newer version of this package."""
