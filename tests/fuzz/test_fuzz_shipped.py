"""Shipped files that were changed by hand: read, or one line that names the file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzzing import PAPER, TEXTS, cases, mutated, written
from hypothesis import given
from hypothesis import strategies as st

from probatum.evidence.citations import bibtex, jsonld, jsonld_text, shipped_citations
from probatum.evidence.described import paper_summary, shipped_standing
from probatum.evidence.run import execute
from probatum.evidence.shipped import _checksums, read_records, ship, shipped_decisions, write_index
from probatum.evidence.shipped_index import ShippedError, read_index, read_sidecar
from probatum.evidence.store import Store
from probatum.evidence.tables import decision_lines, trial_lines
from probatum.report import build

PAGES = st.sampled_from([True, *[False] * 7])
SELECTION = [(PAPER, claim) for claim in PAPER.claims]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a shipped paper as it should be."""
    folder = tmp_path_factory.mktemp("good")
    with Store(f"sqlite:///{folder}/evidence.db") as store:
        report = execute(SELECTION, store=store, jobs=0, profile="standard")
        ship(report.runs, store, folder / "shipped")
    write_index([PAPER], folder / "shipped")
    return folder / "shipped"


@pytest.fixture(scope="module")
def folder(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copytree(good, tmp_path_factory.mktemp("spoilt") / "shipped"))


def told(error: ShippedError) -> None:
    """An error names a file and stands in one line, as it is printed."""
    assert any(name in str(error) for name in ("fuzzed.csv", "fuzzed.json", "index.json"))


def read_all(folder: Path, page: bool) -> None:
    """Whatever reads shipped evidence; the page takes longer than all else."""
    try:
        index = read_index(folder)
    except ShippedError as error:
        told(error)
        index = {}
    paper_summary(PAPER, index)
    shipped_standing([PAPER], folder)
    for read in (_lines, _decided, _cited):
        try:
            for _ in read(folder):
                pass
        except ShippedError as error:
            told(error)
    if page:
        build(folder.parent / "site", [PAPER], shipped=folder)
        assert "</html>" in (folder.parent / "site" / "papers" / "fuzzed.html").read_text()


def _lines(folder: Path) -> Iterator[object]:
    yield from trial_lines(read_records("fuzzed", folder))


def _decided(folder: Path) -> Iterator[object]:
    yield read_sidecar("fuzzed", folder)
    yield from decision_lines(shipped_decisions(PAPER, folder).values())


def _cited(folder: Path) -> Iterator[object]:
    # A changed file is not cited at all: it has to be stated anew.
    (folder / "SHA256SUMS").unlink(missing_ok=True)
    (folder / "SHA256SUMS").write_text(_checksums(folder))
    for cited in shipped_citations(SELECTION, folder, "1"):
        yield bibtex(**vars(cited)) + jsonld_text([jsonld(**vars(cited))])


def spoil(folder: Path, good: Path, name: str, text: str, page: bool) -> None:
    """Put another text in the place of one file, and read all."""
    written(folder / name, text)
    try:
        read_all(folder, page)
    finally:
        for each in (name, "SHA256SUMS"):
            shutil.copyfile(good / each, folder / each)


@pytest.mark.parametrize("name", ["fuzzed.json", "index.json"])
def test_a_changed_object_is_read_or_named(folder: Path, good: Path, name: str) -> None:
    @cases(25, 4_000)
    @given(mutated((good / name).read_text(encoding="utf-8")), PAGES)
    def fuzz(text: str, page: bool) -> None:
        spoil(folder, good, name, text, page)

    fuzz()


def test_a_changed_table_is_read_or_named(folder: Path, good: Path) -> None:
    head, *lines = (good / "fuzzed.csv").read_text(encoding="utf-8").splitlines()
    cells = st.one_of(TEXTS, st.integers().map(str), st.floats().map(str), st.just("raised"))

    @cases(25, 4_000)
    @given(
        st.lists(
            st.tuples(st.integers(0, len(lines) - 1), st.integers(0, 10), cells),
            min_size=1,
            max_size=4,
        ),
        st.sampled_from(["put", "put", "put", "swap", "drop", "double", "raw"]),
        PAGES,
    )
    def fuzz(changes: list[tuple[int, int, str]], how: str, page: bool) -> None:
        rows = [line.split(",") for line in lines]
        for at, column, cell in changes:
            row = rows[at % len(rows)]
            if how == "put":
                row[column % len(row)] = '"' + cell.replace('"', '""') + '"'
            elif how == "swap":
                rows[at % len(rows)], rows[0] = rows[0], row
            elif how == "drop" and len(rows) > 1:
                del rows[at % len(rows)]
            elif how == "double":
                rows.insert(column, list(row))
            else:
                rows.insert(at % len(rows), [cell])
        spoil(folder, good, "fuzzed.csv", "\n".join([head, *map(",".join, rows)]) + "\n", page)

    fuzz()
