"""Stores that others wrote into: read, or one line that says what of them can't be."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzzing import JSON, NUMBERS, PAPER, TEXTS, cases, mutated
from hypothesis import given
from hypothesis import strategies as st

from probatum.evidence.answers import Remembered
from probatum.evidence.citations import stored_citations
from probatum.evidence.plan import plan
from probatum.evidence.run import execute
from probatum.evidence.store import Store, StoreError
from probatum.evidence.tables import decision_lines, stored_decisions, trial_lines
from probatum.report import build

SELECTION = [(PAPER, claim) for claim in PAPER.claims]
ANSWER = Remembered(
    "fuzzed",
    "better+of-mine",
    "quick",
    decision={"verdict": "holds", "effect": 0.2, "low": 0.1, "high": 0.3, "n": 10, "parts": []},
    decided=1.7e9,
    own={"data": [{"file": "a.csv", "dataset": "own-a", "content": "71"}], "arms": {"m": "a:b"}},
    claim="better",
)
TABLES = {
    "trials": (
        *("key", "attempt", "final", "paper", "experiment", "arm", "dataset", "replicate", "size"),
        *("fingerprint", "status", "message", "traceback", "rows", "seconds", "peak_mb"),
        *("limit_seconds", "limit_gb", "started", "environment"),
    ),
    "environments": ("id", "described"),
    "answers": (
        *("id", "paper", "question", "profile", "decided", "environment"),
        *("decision", "own", "described"),
    ),
}
JSON_COLUMNS = ("rows", "size", "described", "decision", "own")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all trials of the paper, and an answer."""
    file = tmp_path_factory.mktemp("good") / "evidence.db"
    with Store(f"sqlite:///{file}") as store:
        execute(SELECTION, store=store, jobs=0)
        store.remember([ANSWER])
    with sqlite3.connect(file) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        connection.execute("pragma journal_mode=delete")
    return file


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """An error of the store is what may come of it, and it says something."""
    try:
        yield
    except StoreError as error:
        if not str(error):
            raise AssertionError("an error without a message") from error


def read_all(store: Store, pages: bool) -> None:
    """Whatever reads a store."""
    reads = (
        lambda: list(trial_lines(store.records("fuzzed", attempts=True))),
        lambda: list(decision_lines(stored_decisions(SELECTION, store, "quick"))),
        lambda: list(stored_citations(SELECTION, store, "quick", "1")),
        lambda: plan(SELECTION, store=store),
        lambda: store.tally(),
        lambda: store.answers(),
    )
    for read in reads:
        with one_line():
            read()
    if not pages:
        return
    site = Path(str(store.url.database)).parent / "site"
    with one_line():
        build(site, [PAPER], shipped=Path("nowhere"), store=store)
        assert "</html>" in (site / "papers" / "fuzzed.html").read_text(encoding="utf-8")


@st.composite
def changes(draw: st.DrawFn, samples: dict[tuple[str, str], str]) -> tuple[str, str, Any]:
    """A table, a column of it, and what to put there."""
    table = draw(st.sampled_from(["trials", "trials", "trials", "answers", "environments"]))
    column = draw(st.sampled_from(TABLES[table]))
    if column in JSON_COLUMNS and draw(st.booleans()):
        return table, column, draw(mutated(samples[table, column]))
    put = st.one_of(
        TEXTS,
        JSON.map(json.dumps),
        NUMBERS.filter(lambda n: isinstance(n, float) or abs(n) < 2**63),
        st.none(),
        st.binary(max_size=8),
    )
    return table, column, draw(put)


def test_a_changed_store_is_read_or_told(good: Path, tmp_path: Path) -> None:
    samples: dict[tuple[str, str], str] = {}
    with sqlite3.connect(good) as connection:
        for table, columns in TABLES.items():
            for column in set(columns) & set(JSON_COLUMNS):
                found = connection.execute(f"select {column} from {table} limit 1").fetchone()
                samples[table, column] = found[0]
    file = tmp_path / "evidence.db"

    @cases(40, 12_000)
    @given(
        st.lists(changes(samples), min_size=1, max_size=3),
        st.integers(1, 200),
        st.sampled_from([True, *[False] * 7]),
    )
    def fuzz(put: list[tuple[str, str, Any]], row: int, pages: bool) -> None:
        for path in tmp_path.glob("evidence.db*"):
            path.unlink()
        shutil.copyfile(good, file)
        with sqlite3.connect(file, isolation_level=None) as connection:
            for table, column, value in put:
                if isinstance(value, str):
                    value = value.encode("utf-8", "surrogatepass")
                    cast = "cast(? as text)"
                else:
                    cast = "?"
                where = f"rowid = 1 + {row} % (select count(*) from {table})"
                try:
                    connection.execute(
                        f"update {table} set {column} = {cast} where {where}", [value]
                    )
                except (sqlite3.IntegrityError, OverflowError):
                    continue
        with one_line(), Store(f"sqlite:///{file}") as store:
            read_all(store, pages)

    fuzz()


def test_a_file_that_is_no_store_is_told(good: Path, tmp_path: Path) -> None:
    content = good.read_bytes()
    file = tmp_path / "evidence.db"

    @cases(40, 4_000)
    @given(
        st.lists(st.tuples(st.integers(0, len(content)), st.binary(max_size=40)), max_size=4),
        st.integers(0, len(content)) | st.just(len(content)),
    )
    def fuzz(put: list[tuple[int, bytes]], cut: int) -> None:
        for path in tmp_path.glob("evidence.db*"):
            path.unlink()
        spoilt = bytearray(content[:cut])
        for at, some in put:
            spoilt[at : at + len(some)] = some
        file.write_bytes(spoilt)
        with one_line(), Store(f"sqlite:///{file}") as store:
            read_all(store, False)

    fuzz()
