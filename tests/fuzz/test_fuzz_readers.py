"""Files of a person's own: tables, logs of pulls and linear programs are read, or refused in words.

What may be refused: by ``ValueError`` where the content is wrong, by ``OSError`` where the file is,
by ``ImportError`` where a library is missing.
"""

from __future__ import annotations

import contextlib
import gzip
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzzing import NUMBERS, TEXTS, cases
from hypothesis import given
from hypothesis import strategies as st

from probatum.bandits.logs import read_log
from probatum.data import NotInstalledError, read_table
from probatum.optimize.linear_program import read_mps
from probatum.optimize.linear_program.highs import has_highs

TABLE = 'a;b;c\n1;"x; y";2,5\n2;z;1.000,5\n;NA;-3\n'
LOG = "arm,outcome\na,1\nb,0\na,yes\nb,no\n"
COUNTS = "arm,successes,trials\na,1,2\nb,0,3\n"
MPS = """NAME DIET
OBJSENSE
    MIN
ROWS
 N COST
 G ENERGY
 L FAT
COLUMNS
 BREAD COST 1 ENERGY 2
 BREAD FAT 1
 MILK COST 2 ENERGY 5
RHS
 RHS ENERGY 10 FAT 8
RANGES
 RNG FAT 4
BOUNDS
 UP BND MILK 3
ENDATA
"""
LP = "min\n cost: bread + 2 milk\nst\n energy: 2 bread + 5 milk >= 10\nbounds\n milk <= 3\nend\n"

WORDS = st.one_of(
    TEXTS,
    NUMBERS.map(str),
    st.sampled_from(
        [
            *(
                ",",
                ";",
                "\t",
                "|",
                '"',
                '""',
                "'",
                "\n",
                "\r",
                "\0",
                "\ufeff",
                "\x85",
                "\u2028",
                "sep=,",
            ),
            *("ROWS", "COLUMNS", "RHS", "BOUNDS", "RANGES", "ENDATA", "OBJSENSE", "MAX", "MARKER"),
            *(
                "'INTORG'",
                "FR",
                "MI",
                "BV",
                "SC",
                "QUADOBJ",
                ">=",
                "<=",
                "=",
                "free",
                "[",
                "]/2",
                "*",
            ),
        ]
    ),
)


@st.composite
def spoilt(draw: st.DrawFn, *good: str) -> bytes:
    """A good file with some of it gone, doubled or replaced; or anything else."""
    kind = draw(st.integers(0, 11))
    if kind == 0:
        return draw(st.binary(max_size=80))
    if kind == 1:
        return "".join(draw(st.lists(WORDS, max_size=12))).encode("utf-8", "surrogatepass")
    text = draw(st.sampled_from(good))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.sampled_from([0, 0, 1, 2, 5, 20]))
        text = text[:at] + draw(WORDS | st.just("") | st.just(text[at:end] * 2)) + text[end:]
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig"]))
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    if kind == 2:
        data = gzip.compress(data)[: draw(st.integers(0, 200))]
    return data


@contextlib.contextmanager
def refused_in_words() -> Iterator[None]:
    """The errors that a front door turns into one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (ValueError, OSError, ImportError, NotInstalledError) as error:
        if not str(error) or "\n" in str(error):
            raise AssertionError(f"not one line: {error!r}") from error


def test_tables(tmp_path: Path) -> None:
    names = st.sampled_from(
        [
            "t.csv",
            "t.csv",
            "t.tsv",
            "t.txt",
            "t.csv.gz",
            "t.gz",
            "t.xlsx",
            "t.parquet",
            "t",
            "t.json",
        ]
    )

    @cases(150, 15_000)
    @given(
        spoilt(TABLE, LOG),
        names,
        st.sampled_from([None, None, ",", ";", "tab", "", "ab"]),
        st.sampled_from([None, None, "utf-8", "utf-16", "latin-1", "rot13", "\0", "nope"]),
    )
    def fuzz(content: bytes, name: str, separator: str | None, encoding: str | None) -> None:
        (tmp_path / name).write_bytes(content)
        with refused_in_words():
            frame = read_table(tmp_path / name, separator=separator, encoding=encoding)
            assert len(frame) >= 1

    fuzz()


def test_logs_of_pulls(tmp_path: Path) -> None:
    columns = st.sampled_from([None, None, None, "arm", "outcome", "trials", "", "no"])

    @cases(150, 15_000)
    @given(spoilt(LOG, COUNTS), columns, columns)
    def fuzz(content: bytes, arm: str | None, outcome: str | None) -> None:
        (tmp_path / "log.csv").write_bytes(content)
        named = {"arm": arm, "outcome": outcome}
        with refused_in_words():
            counts = read_log(
                tmp_path / "log.csv",
                **{name: text for name, text in named.items() if text is not None},
            )
            pulled = zip(counts.successes, counts.pulls, strict=True)
            assert all(0 <= s <= n for s, n in pulled)

    fuzz()


@pytest.mark.skipif(not has_highs(), reason="highspy is not installed")
def test_linear_programs(tmp_path: Path) -> None:
    names = st.sampled_from(["a.mps", "a.mps", "a.mps", "a.lp", "a.mps.gz", "a.lp.gz", "a.txt"])

    @cases(150, 15_000)
    @given(spoilt(MPS, MPS, LP), names)
    def fuzz(content: bytes, name: str) -> None:
        (tmp_path / name).write_bytes(content)
        with refused_in_words():
            lp = read_mps(tmp_path / name)
            assert lp.c.ndim == 1

    fuzz()
