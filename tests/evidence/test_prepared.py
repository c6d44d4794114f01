"""Prepared folders: whole or absent, read-only, one winner, nothing left behind."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.evidence import Arm, Dataset, Metric
from probatum.evidence.executors import InlineExecutor, LocalExecutor
from probatum.evidence.prepared import (
    begin,
    commit,
    discard,
    folder_for,
    is_ready,
    run_prepare,
)
from probatum.evidence.trial import Task


def task(root: Path, target: str = "fills", **changes: object) -> Task:
    given = {
        "key": "k1",
        "target": f"trials_for_executors:{target}",
        "experiment": "e",
        "arms": (Arm("a", make="builtins:dict"),),
        "dataset": Dataset("d", load="builtins:dict", licence="none"),
        "replicate": 0,
        "size": {},
        "metrics": {"m": Metric("higher")},
        "seconds": 30.0,
        "memory_gb": 1.0,
        "prepared": folder_for(root, "k1"),
        "kind": "prepare",
    }
    return Task(**{**given, **changes})


@pytest.fixture(autouse=True)
def _trials_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def left(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "prepared").iterdir())


def test_a_committed_folder_is_whole_and_read_only(tmp_path: Path) -> None:
    final = folder_for(tmp_path, "k1")
    assert not is_ready(final)
    draft = begin(tmp_path, "k1")
    assert draft.folder.parent == final.parent
    (draft.folder / "inner").mkdir()
    (draft.folder / "inner" / "data.csv").write_text("a,b\n")
    commit(draft, final)
    assert is_ready(final)
    assert left(tmp_path) == ["k1"]
    manifest = json.loads((final / ".complete").read_text())
    assert manifest == {"files": {"inner/data.csv": 4}}
    for path in (final, *final.rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o222, path


def test_an_empty_folder_counts(tmp_path: Path) -> None:
    final = folder_for(tmp_path, "k1")
    commit(begin(tmp_path, "k1"), final)
    assert is_ready(final)


def test_discard_leaves_nothing(tmp_path: Path) -> None:
    draft = begin(tmp_path, "k1")
    (draft.folder / "half").write_text("x")
    discard(draft)
    assert left(tmp_path) == []


@pytest.mark.parametrize("name", ["m.pkl", "M.PICKLE", "in/m.joblib", "m.pkl.gz"])
def test_pickles_are_refused(tmp_path: Path, name: str) -> None:
    draft = begin(tmp_path, "k1")
    (draft.folder / name).parent.mkdir(exist_ok=True)
    (draft.folder / name).write_bytes(b"")
    with pytest.raises(ValueError, match=r"no pickles, got .*safetensors"):
        commit(draft, folder_for(tmp_path, "k1"))
    assert left(tmp_path) == []


def test_links_are_refused(tmp_path: Path) -> None:
    draft = begin(tmp_path, "k1")
    (draft.folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(ValueError, match="plain files only, got link"):
        commit(draft, folder_for(tmp_path, "k1"))
    assert left(tmp_path) == []


def test_the_first_of_two_wins(tmp_path: Path) -> None:
    final = folder_for(tmp_path, "k1")
    drafts = [begin(tmp_path, "k1"), begin(tmp_path, "k1")]
    for i, draft in enumerate(drafts):
        (draft.folder / "who").write_text(str(i))
        commit(draft, final)
    assert (final / "who").read_text() == "0"
    assert left(tmp_path) == ["k1"]


def test_what_a_killed_run_left_is_removed_and_living_drafts_are_not(tmp_path: Path) -> None:
    living, dead = begin(tmp_path, "k1"), begin(tmp_path, "k2")
    (dead.folder / "half").write_text("x")
    (dead.folder / "half").chmod(0o444)
    dead.folder.chmod(0o555)
    fcntl.flock(dead.lock, fcntl.LOCK_UN)  # as the system does for a process that ends
    third = begin(tmp_path, "k3")
    assert not dead.folder.exists()
    assert living.folder.exists()
    discard(living)
    discard(third)
    os.close(dead.lock)
    assert left(tmp_path) == []


def test_a_damaged_folder_is_made_anew(tmp_path: Path) -> None:
    final = folder_for(tmp_path, "k1")
    assert run_prepare(task(tmp_path)).status == "ok"
    data = final / "inner" / "data.csv"
    data.chmod(0o644)
    data.write_text("cut")
    assert not is_ready(final)
    assert run_prepare(task(tmp_path)).status == "ok"
    assert is_ready(final)
    assert left(tmp_path) == ["k1"]


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"files": []}', '{"files": {"a": 1}}'])
def test_a_broken_manifest_is_not_ready(tmp_path: Path, manifest: str) -> None:
    (tmp_path / ".complete").write_text(manifest)
    assert not is_ready(tmp_path)


@pytest.mark.parametrize("key", ["", "..", ".hidden", "a/b"])
def test_keys_are_plain_names(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="plain file name"):
        folder_for(tmp_path, key)


@pytest.mark.parametrize("target", ["raises", "no_such"])
def test_a_failed_prepare_leaves_nothing(tmp_path: Path, target: str) -> None:
    outcome = run_prepare(task(tmp_path, target))
    assert outcome.status == "raised"
    assert left(tmp_path) == []


def test_a_prepare_that_writes_pickles_is_a_bad_result(tmp_path: Path) -> None:
    outcome = run_prepare(task(tmp_path, "fills_with_pickle"))
    assert outcome.status == "bad result"
    assert "model.pkl" in outcome.message
    assert not outcome.transient
    assert left(tmp_path) == []


def test_what_is_ready_is_not_made_again(tmp_path: Path) -> None:
    run_prepare(task(tmp_path))
    assert run_prepare(task(tmp_path, "raises")).status == "ok"


def executors() -> Iterator[InlineExecutor | LocalExecutor]:
    yield InlineExecutor()
    yield LocalExecutor(2)


def test_executors_prepare(tmp_path: Path) -> None:
    for i, executor in enumerate(executors()):
        root = tmp_path / str(i)
        with executor:
            executor.submit(task(root))
            assert [outcome.status for _, outcome in executor.finished()] == ["ok"]
        assert is_ready(folder_for(root, "k1"))


def test_a_prepare_over_time_leaves_a_draft_that_the_next_removes(tmp_path: Path) -> None:
    with LocalExecutor(1) as executor:
        executor.submit(task(tmp_path, "fills_and_hangs", seconds=0.5))
        outcomes = [outcome.status for _, outcome in executor.finished()]
        assert outcomes == ["timeout"]
        assert not is_ready(folder_for(tmp_path, "k1"))
        assert len(left(tmp_path)) == 2
        executor.submit(task(tmp_path))
        assert [outcome.status for _, outcome in executor.finished()] == ["ok"]
    assert left(tmp_path) == ["k1"]


def _race(root: str, start: float) -> None:
    import sys
    import time

    sys.path.insert(0, str(Path(__file__).parent))
    while time.time() < start:
        pass
    for i in range(30):
        key = f"k{i}"
        outcome = run_prepare(task(Path(root), key=key, prepared=folder_for(Path(root), key)))
        assert outcome.status == "ok", outcome
        assert is_ready(folder_for(Path(root), key))


def test_processes_preparing_the_same_keys_all_succeed(tmp_path: Path) -> None:
    import time

    context = multiprocessing.get_context("fork")
    start = time.time() + 0.3
    racers = [context.Process(target=_race, args=(str(tmp_path), start)) for _ in range(3)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert [racer.exitcode for racer in racers] == [0, 0, 0]
    assert left(tmp_path) == sorted(f"k{i}" for i in range(30))
