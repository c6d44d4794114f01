"""What a machine can do to a run: a full disk, a read-only one, a clock that goes back."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from trials_for_engine import arm, experiment, paper, selection

from probatum.evidence import Block, Budget, Claim, Metric, Paper, Row, Stat, Within
from probatum.evidence.run import RunReport, execute
from probatum.evidence.store import Store, StoreError
from probatum.evidence.trial import lacking

HERE = "test_faults"
FILLER = "filler"


@dataclass
class Disk:
    """A small file system of its own."""

    folder: Path

    def fill(self, leaving: int = 0) -> None:
        """Leave so many bytes."""
        found = os.statvfs(self.folder)
        with (self.folder / FILLER).open("wb") as file:
            file.write(bytes(max(0, found.f_bavail * found.f_frsize - leaving)))

    def empty(self) -> None:
        """Make room again."""
        (self.folder / FILLER).unlink()

    def remount(self, how: str) -> None:
        """Have it read-only (``ro``) or not (``rw``)."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk of a few megabytes; tests with it skip where nothing may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can't be mounted here (it takes root)")
    yield Disk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


def wordy(block: Block) -> list[Row]:
    """Scores under long names, which fill a store."""
    rng = block.rng("score")
    return [
        Row(one.id, f"{'x' * 400} {i}", values={"m": float(rng.normal(one.params["mean"], 0.3))})
        for one in block.arms
        for i in range(20)
    ]


def fill_folder(block: Block, folder: Path) -> None:
    """More than what is left of a full disk."""
    (folder / "base.txt").write_text("0" * 300_000)


def hoard(block: Block, folder: Path) -> None:
    """The same with NumPy, whose error names no cause."""
    import numpy as np

    np.zeros(40_000).tofile(folder / "base.bin")
    (folder / "base.txt").write_text("0")


def toy(trial: str = f"{HERE}:wordy", **changes: Any) -> Paper:
    """Two claims; the second needs all of the replicates."""
    arms = (arm("good", "method", mean=0.5), arm("near", mean=0.35))
    settings: dict[str, Any] = {
        "metrics": {"m": Metric("higher", (-9.0, 9.0))},
        "budgets": {"quick": Budget(20, seconds=20, memory_gb=1)},
        **changes,
    }
    scores = experiment(arms, **settings)
    object.__setattr__(scores, "trial", trial)
    return paper(
        Claim("early", "It is.", "paper", scores, Within(Stat("m"), "good", ("near",), low=-0.6)),
        Claim("late", "It is.", "paper", scores, Within(Stat("m"), "good", ("near",), low=0.15)),
    )


def ran(of: Paper, store: Store, jobs: int) -> RunReport:
    return execute(selection(of), store=store, jobs=jobs)


def kept(store: Store) -> dict[str, Any]:
    return {record.key: (record.status, record.rows) for record in store.records()}


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_disk_that_fills_up_loses_nothing(disk: Disk, tmp_path: Path, jobs: int) -> None:
    of = toy()
    with Store(f"sqlite:///{tmp_path}/elsewhere.db") as elsewhere:
        alone, expected = ran(of, elsewhere, jobs), kept(elsewhere)
    with Store(f"sqlite:///{disk.folder}/e.db") as store:
        disk.fill(leaving=700_000)
        with pytest.raises(StoreError, match="can't write to the store: database or disk is full"):
            ran(of, store, jobs)
    disk.empty()
    with Store(f"sqlite:///{disk.folder}/e.db") as store:
        held = kept(store)
        assert 0 < len(held) < len(expected)
        assert held.items() <= expected.items()
        again = ran(of, store, jobs)
        assert again.reused == len(held)
        assert again.decisions == alone.decisions
        assert kept(store) == expected


@pytest.mark.parametrize("jobs", [0, 2])
@pytest.mark.parametrize("prepare", ["fill_folder", "hoard"])
def test_a_full_disk_is_no_result_of_a_method(
    disk: Disk, tmp_path: Path, jobs: int, prepare: str
) -> None:
    of = toy("trials_for_engine:prepared", prepare=f"{HERE}:{prepare}")
    with Store(f"sqlite:///{disk.folder}/e.db") as store:
        disk.fill(leaving=200_000)
        full = ran(of, store, jobs)
        assert [problem for problem in full.problems if "No space left on device" in problem]
        assert {decision.verdict for decision in full.decisions} == {"untested"}
        assert not kept(store)
        assert not list((disk.folder / "prepared").glob("*"))
        disk.empty()
        again = ran(of, store, jobs)
        assert not again.problems
        assert again.statuses == {"ok": len(kept(store))}


def test_what_is_read_only_is_told(disk: Disk) -> None:
    address = f"sqlite:///{disk.folder}/e.db"
    with Store(address) as store:
        ran(toy(), store, 0)
        before = kept(store)
    disk.remount("ro")
    with pytest.raises(StoreError, match=r"unable to open database file; .*/disk is read-only"):
        Store(address)
    with pytest.raises(StoreError, match="Read-only file system"):
        Store(f"sqlite:///{disk.folder}/new/e.db")
    disk.remount("rw")
    with Store(address) as store:
        assert kept(store) == before


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_clock_that_goes_back_changes_nothing(
    tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(f"sqlite:///{tmp_path}/before.db") as store:
        alone, expected = ran(toy(), store, jobs), kept(store)
    now, steps = time.time(), itertools.count(1)
    # An hour back at each look at it, as when a machine is set right, only worse.
    monkeypatch.setattr(time, "time", lambda: now - 3600.0 * next(steps))
    with Store(f"sqlite:///{tmp_path}/after.db") as store:
        again = ran(toy(), store, jobs)
        assert again.decisions == alone.decisions
        assert kept(store) == expected
        assert all(0 <= record.seconds < 20 for record in store.records())
        assert 0 <= again.seconds < 60
        assert ran(toy(), store, jobs).reused == len(expected)


def test_only_the_disk_excuses_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lacking(OSError(errno.ENOSPC, "full", "a")) == "No space left on device: a"
    assert lacking(OSError(errno.EROFS, "read-only")) == "Read-only file system"
    assert not lacking(OSError(errno.ENOENT, "no such file", "a"))
    assert not lacking(ValueError("No space left on device"))
    short = OSError("40000 requested and 12 written")
    assert not lacking(short)
    full = os.statvfs_result((4096, 4096, 10, 0, 0, 10, 10, 10, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    assert lacking(short) == "No space left on device: 40000 requested and 12 written"
