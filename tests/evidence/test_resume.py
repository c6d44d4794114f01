"""A run that is killed again and again ends where one that nobody disturbed does."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import drafts_in, final_rows, finish, kill, left_running, sqlite_in, start

KILLS = 20


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A temporary folder whose name is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="k") as name:
        yield Path(name)


def test_twenty_kills_change_nothing(tmp_path: Path, scratch: Path) -> None:
    rng = random.Random(36)
    undisturbed = start(tmp_path / "undisturbed", scratch, jobs=1)
    folder, killed = tmp_path / "killed", 0
    for _ in range(KILLS):
        killed += kill(start(folder, scratch, jobs=2), rng)
    decisions = finish(start(folder, scratch, jobs=2))
    expected = finish(undisturbed)
    assert killed >= KILLS * 2 // 3
    assert decisions == expected
    rows = final_rows(sqlite_in(folder))
    assert rows == final_rows(sqlite_in(tmp_path / "undisturbed"))
    assert {row[4] for row in rows.values()} == {"ok", "crashed", "raised"}
    assert [d["verdict"] for d in decisions] == ["holds", "undecided", "fails", "holds"]
    assert [d["n"] for d in decisions] == [10, 40, 10, 80]
    # Drafts of killed preparations are gone, and no process outlives its run.
    assert not drafts_in(folder)
    assert not left_running(scratch)
    again = start(folder, scratch, jobs=2)
    assert finish(again) == expected
