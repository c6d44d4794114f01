"""Exit codes, and the one line that says why a command ended early."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "DONE",
    "MISUSED",
    "NOT_SO",
    "PIPE_CLOSED",
    "STOPPED",
    "TERMINATED",
    "UNAVAILABLE",
    "Ended",
    "Terminated",
    "os_error_line",
    "store_errors_named",
    "terminable",
]

DONE = 0
NOT_SO = 1
"""What ``--strict`` or ``--against shipped`` asked for is not so."""
MISUSED = 2
UNAVAILABLE = 3
"""Something could not be run or read."""
STOPPED = 130
PIPE_CLOSED = 141
"""Whoever read standard output has enough, as ``| head`` has."""
TERMINATED = 143


class Ended(Exception):
    """Ends a command with an exit code and one line on standard error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def os_error_line(error: OSError) -> str:
    """What the system refused, and for which file."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said


class Terminated(KeyboardInterrupt):
    """The process was asked to end; handled like Ctrl-C."""


@contextmanager
def terminable() -> Iterator[list[int]]:
    """Handle SIGTERM like Ctrl-C; the list says which came."""
    seen: list[int] = []

    def end(number: int, _: object) -> None:
        seen.append(number)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def store_errors_named() -> Iterator[None]:
    """End with one line where the store can't be opened, read or written."""
    from sqlalchemy.exc import SQLAlchemyError

    from probatum.evidence.store import StoreError

    try:
        yield
    except StoreError as error:
        raise Ended(UNAVAILABLE, str(error)) from error
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise Ended(UNAVAILABLE, f"the store can't be used: {said}") from error
