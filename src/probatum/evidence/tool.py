"""Tools: typed functions on a person's own files, offered as ``probatum use NAME``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from probatum.evidence.naming import check_slug, check_target

__all__ = ["Answer", "Progress", "Tool", "silent"]


class Progress(Protocol):
    """What a tool tells about long work; a tool that has a parameter ``progress`` is given one."""

    def __call__(self, done: float, total: float | None = None, what: str = "") -> None:
        """So much is done, of so much (None where nobody knows), and what is being done."""


def silent(done: float, total: float | None = None, what: str = "") -> None:
    """A :class:`Progress` that says nothing."""


@dataclass(frozen=True)
class Answer:
    """What a tool found.

    ``lines`` are for people, ``values`` (plain JSON values) for programs; ``files`` were written;
    ``warnings`` say what may be wrong and which option would help; ``incomplete`` says why it is no
    answer to what was asked, such as a limit that was reached, and makes the command end with 3.
    """

    lines: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    incomplete: str = ""


@dataclass(frozen=True)
class Tool:
    """A function on a person's own files, offered as ``probatum use NAME``.

    Parameters
    ----------
    name : str
    run : str
        ``module:function``. Its signature is the command line: positional parameters are
        arguments, keyword-only ones options. Types are ``Path``, ``str``, ``int``, ``float``,
        ``bool``, a ``Literal`` of strings, any of them or None; each is ``Annotated`` with its
        help (and unit). A parameter ``progress`` is given a :class:`Progress`. It returns an
        :class:`Answer`. Bad input raises ``ValueError`` or ``TypeError``, what can't be read or
        written ``OSError``; both with one clear line.
    summary : str
        What it does, in one sentence.
    example : str
        Arguments of a command that a test runs, on files that ``make_example`` writes.
    make_example : str
        ``module:function(folder)`` that writes the example's input files.
    """

    name: str
    run: str
    summary: str
    example: str
    make_example: str = ""

    def __post_init__(self) -> None:
        check_slug("tool name", self.name)
        check_target(f"tool {self.name}: run", self.run)
        if self.make_example:
            check_target(f"tool {self.name}: make_example", self.make_example)
