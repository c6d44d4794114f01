"""The text of an MPS file, checked line by line before HiGHS reads it.

HiGHS takes a number up to the first character that it does not know, and leaves out what it can't
place. Either makes another program of the file, so everything is placed and parsed here first.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["MpsText", "check_mps"]

Words = list[bytes]
NUMBER = re.compile(
    rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?|inf(?:inity)?)", re.IGNORECASE
)
DECLARE = ("ROWS", "DELAYEDROWS", "MODELCUTS")
# Their contents are left to HiGHS, which reads them; the program is refused for them afterwards.
QUADRATIC = ("QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX", "CSECTION")
FOREIGN = ("SOS", "SOS1", "SOS2", "SETS", "INDICATORS", "GENCONS", "PWLOBJ")
SECTIONS = ("NAME", "OBJSENSE", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA")
SENSES = ("MIN", "MAX", "MINIMIZE", "MAXIMIZE", "MINIMISE", "MAXIMISE")
# Sides that a kind of bound sets, and whether it takes a number.
BOUNDS: dict[bytes, tuple[str, bool]] = {
    b"UP": ("u", True), b"LO": ("l", True), b"FX": ("lu", True), b"UI": ("u", True),
    b"LI": ("l", True), b"SC": ("u", True), b"SI": ("u", True), b"FR": ("lu", False),
    b"MI": ("l", False), b"PL": ("u", False), b"BV": ("lu", False),
}  # fmt: skip
# Where the six fields of the fixed format are.
FIELDS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))
SPACES = "; a name with spaces is read only in the columns of fixed format"


@dataclass
class MpsText:
    """What the text declares: rows (name to kind), columns, and integer columns without bounds."""

    rows: dict[bytes, bytes] = field(default_factory=dict)
    columns: dict[bytes, str] = field(default_factory=dict)  # the sides that BOUNDS gives
    integers: list[bytes] = field(default_factory=list)

    @property
    def assumed(self) -> list[str]:
        """Integer columns that BOUNDS does not name."""
        return [_text(name) for name in self.integers if not self.columns[name]]

    def names(self) -> tuple[list[str], list[str]]:
        """Names of rows with sides, and of columns."""
        rows = [_text(name).strip() for name, kind in self.rows.items() if kind != b"N"]
        return rows, [_text(name).strip() for name in self.columns]


def check_mps(path: Path) -> MpsText:
    """Check the text of an MPS file, packed with gzip or not.

    Raises
    ------
    ValueError
        Naming the line and the field: of what is no number, is not declared or comes twice; and
        for unknown or foreign sections, or where ENDATA is missing.
    OSError
        If the file can't be read.
    """
    try:
        return _Checker(fixed=False).run(path)
    except _WrongLine as error:
        # Names may hold spaces in fixed format, to which HiGHS changes where it meets them.
        first = error
    try:
        return _Checker(fixed=True).run(path)
    except _WrongLine:
        line = f"{path} is not a linear program in MPS format that can be read: {first}"
        raise ValueError(line) from None


class _WrongLine(Exception):
    """What is wrong, with the number of the line."""


class _Checker:
    """One pass over the lines, in free or fixed format."""

    def __init__(self, fixed: bool) -> None:
        self.fixed = fixed
        self.found = MpsText()
        self.section, self.seen = "", set[str]()
        self.column, self.entries = b"", set[bytes]()
        self.integer = False
        self.sets: dict[str, bytes] = {}
        self.given: dict[str, set[bytes]] = {"RHS": set(), "RANGES": set()}
        self.readers: dict[str, Callable[[Words], None]] = {
            **dict.fromkeys(DECLARE, self._row),
            **dict.fromkeys(QUADRATIC, lambda words: None),
            "COLUMNS": self._column,
            "RHS": self._side,
            "RANGES": self._side,
            "BOUNDS": self._bound,
            "OBJSENSE": self._sense,
        }

    def run(self, path: Path) -> MpsText:
        number = 0
        for number, line in enumerate(_lines(path), 1):
            words = line.split()
            if not words or words[0].startswith(b"*"):
                continue
            try:
                if self._header(words):
                    if self.section == "ENDATA":
                        return self.found
                elif self.section in self.readers:
                    self.readers[self.section](self._fields(line, words))
                else:
                    raise _WrongLine(f"{_shown(words[0])} begins no section that is known")
            except _WrongLine as error:
                raise _WrongLine(f"line {number}: {error}") from None
        raise _WrongLine(f"line {number} is the last, without ENDATA: the file may be cut off")

    def _header(self, words: Words) -> bool:
        """Whether the line begins a section; a set may be called RHS, so other words count."""
        word, plain = words[0].decode("latin-1").upper(), len(words) == 1
        early = not self.seen & set(DECLARE)
        if word in FOREIGN and (plain or early):
            raise _WrongLine(f"section {word} is no part of a linear program")
        if not (
            (word in (*SECTIONS, *DECLARE) and plain)
            or (word in QUADRATIC and len(words) <= 2 and not self.fixed)
            or (word in ("NAME", "OBJSENSE") and early)
        ):
            return False
        if word in self.seen and word not in QUADRATIC:
            raise _WrongLine(f"section {word} comes twice")
        if word in ("RHS", "RANGES", "BOUNDS") and "COLUMNS" not in self.seen:
            raise _WrongLine(f"section {word} comes before COLUMNS")
        if word == "COLUMNS" and "ROWS" not in self.seen:
            raise _WrongLine("section COLUMNS comes before ROWS")
        self.section = word
        self.seen.add(word)
        if word == "OBJSENSE" and not plain:
            self._sense(words[1:])
        return True

    def _fields(self, line: bytes, words: Words) -> Words:
        if not self.fixed or self.section == "OBJSENSE" or b"'MARKER'" in words:
            return words
        fields = [line[begin:end].strip() for begin, end in FIELDS]
        if b"".join(fields).replace(b" ", b"") != b"".join(words):
            raise _WrongLine("something stands outside the columns of fixed format")
        while not fields[-1]:
            fields.pop()
        if self.section in (*DECLARE, "BOUNDS"):  # the first field is the kind, here alone
            return fields
        if fields.pop(0):
            raise _WrongLine("something stands in the first two columns")
        return fields

    def _sense(self, words: Words) -> None:
        if len(words) != 1 or words[0].decode("latin-1").upper() not in SENSES:
            raise _WrongLine(f"OBJSENSE must be MIN or MAX, got {_shown(b' '.join(words))}")

    def _row(self, words: Words) -> None:
        if words[0] not in (b"N", b"L", b"G", b"E"):
            raise _WrongLine(f"a row must be of kind N, L, G or E, got {_shown(words[0])}")
        if len(words) != 2:
            raise _WrongLine(f"a row has a kind and a name, got {len(words)} fields{SPACES}")
        if words[1] in self.found.rows:
            raise _WrongLine(f"row {_shown(words[1])} comes twice")
        self.found.rows[words[1]] = words[0]

    def _column(self, words: Words) -> None:
        if len(words) == 3 and words[1] == b"'MARKER'":
            if words[2] not in (b"'INTORG'", b"'INTEND'"):
                raise _WrongLine(f"a marker must be 'INTORG' or 'INTEND', got {_shown(words[2])}")
            self.integer = words[2] == b"'INTORG'"
            return
        if len(words) not in (3, 5):
            raise _WrongLine(
                "a line of COLUMNS is a column and one or two pairs of row and number, "
                f"got {len(words)} fields{SPACES}"
            )
        name = words[0]
        if name != self.column:
            if name in self.found.columns:
                raise _WrongLine(f"column {_shown(name)} comes twice, with others between")
            self.found.columns[name] = ""
            self.column = name
            self.entries.clear()
            if self.integer:
                self.found.integers.append(name)
        for row, value in zip(words[1::2], words[2::2], strict=True):
            if row not in self.found.rows:
                raise _WrongLine(f"row {_shown(row)} is not defined in ROWS")
            if row in self.entries:
                raise _WrongLine(f"row {_shown(row)} comes twice in column {_shown(name)}")
            self.entries.add(row)
            self._number(value, "column {}, row {}", name, row, finite=True)

    def _side(self, words: Words) -> None:
        if not 2 <= len(words) <= 5:
            raise _WrongLine(
                f"a line of {self.section} is a set and one or two pairs of row and number, "
                f"got {len(words)} fields{SPACES}"
            )
        if len(words) % 2:
            self._set(words[0])
        pairs = words[len(words) % 2 :]
        for row, value in zip(pairs[::2], pairs[1::2], strict=True):
            if row not in self.found.rows:
                raise _WrongLine(f"row {_shown(row)} is not defined in ROWS")
            if row in self.given[self.section]:
                raise _WrongLine(f"row {_shown(row)} comes twice in {self.section}")
            if self.section == "RANGES" and self.found.rows[row] == b"N":
                raise _WrongLine(f"row {_shown(row)} is of kind N and takes no range")
            self.given[self.section].add(row)
            self._number(value, self.section + " of row {}", row)

    def _bound(self, words: Words) -> None:
        kind = words[0]
        if kind not in BOUNDS:
            raise _WrongLine(f"a bound must be {', '.join(map(_text, BOUNDS))}, got {_shown(kind)}")
        sides, valued = BOUNDS[kind]
        rest = words[1:]
        # The set may be left out; a number where the kind takes none is nothing to HiGHS.
        columns = self.found.columns
        if not valued and len(rest) > 1 and rest[-1] not in columns and rest[-2] in columns:
            self._number(rest.pop(), f"bound {_text(kind)}")
        value = rest.pop() if valued and len(rest) > 1 else b""
        if not 1 <= len(rest) <= 2 or (valued and not value):
            wanted = "set, a column and a number" if valued else "set and a column"
            raise _WrongLine(
                f"a bound {_text(kind)} has a {wanted}, got {len(words) - 1} fields{SPACES}"
            )
        if len(rest) == 2:
            self._set(rest[0])
        name = rest[-1]
        if name not in self.found.columns:
            raise _WrongLine(f"column {_shown(name)} is not defined in COLUMNS")
        if valued:
            self._number(value, f"bound {_text(kind)} of column {{}}", name)
        before = self.found.columns[name]
        if any(side in before for side in sides):
            which = "lower" if any(side == "l" and side in before for side in sides) else "upper"
            raise _WrongLine(f"the {which} bound of column {_shown(name)} comes twice")
        self.found.columns[name] = before + sides

    def _set(self, name: bytes) -> None:
        if name and self.sets.setdefault(self.section, name) != name:
            raise _WrongLine(
                f"{self.section} has a second set {_shown(name)}, "
                f"after {_shown(self.sets[self.section])}; one is read"
            )

    def _number(self, value: bytes, where: str, *names: bytes, finite: bool = False) -> None:
        """Check a number; the words are put together only where it is wrong."""
        wrong = not NUMBER.fullmatch(value)
        if wrong or (finite and math.isinf(float(value.lower().replace(b"d", b"e")))):
            wanted = "number" if wrong else "finite number"
            place = where.format(*map(_shown, names))
            raise _WrongLine(f"{place} must be a {wanted}, got {_shown(value)}")


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not packed:
            first = True
            for line in file:
                yield line.removeprefix(b"\xef\xbb\xbf") if first else line
                first = False
            return
        try:
            with gzip.open(file) as text:
                yield from text
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is damaged as a gzip file: {error}") from None


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _shown(word: bytes) -> str:
    """A word as a message shows it, on one line."""
    text = repr(_text(word))
    return text if len(text) <= 60 else text[:57] + "..."
