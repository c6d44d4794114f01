"""Exit codes, and the one line that says why a command ended early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["DONE", "MISUSED", "NOT_SO", "STOPPED", "UNAVAILABLE", "Ended", "store_errors_named"]

DONE = 0
NOT_SO = 1
"""What ``--strict`` or ``--against shipped`` asked for is not so."""
MISUSED = 2
UNAVAILABLE = 3
"""Something could not be run or read."""
STOPPED = 130


class Ended(Exception):
    """Ends a command with an exit code and one line on standard error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


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
