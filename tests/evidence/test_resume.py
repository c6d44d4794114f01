"""A run that is killed again and again ends where one that nobody disturbed does."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from probatum.evidence.store import Store

HERE = Path(__file__).parent
KILLS = 30


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A temporary folder whose name is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="k") as name:
        yield Path(name)


def start(folder: Path, scratch: Path, jobs: int) -> subprocess.Popen[bytes]:
    (folder / "flags").mkdir(parents=True, exist_ok=True)
    script = str(HERE / "run_to_be_killed.py")
    return subprocess.Popen(
        [sys.executable, script, f"sqlite:///{folder}/e.db", str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={
            **os.environ,
            "FLAGS": str(folder / "flags"),
            "TMPDIR": str(scratch),
            "OMP_NUM_THREADS": "1",
        },
    )


def kill(process: subprocess.Popen[bytes], rng: random.Random) -> bool:
    """Kill a run with its whole group at a random moment; whether it was still running."""
    assert process.stdout is not None
    ended = rng.randrange(-1, 7)
    if ended < 0:
        time.sleep(rng.uniform(0.0, 1.0))
    elif len(process.stdout.read(ended)) < ended:
        return False
    time.sleep(rng.uniform(0.0, 0.05))
    if process.poll() is not None:
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    return True


def finish(process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()
    found: list[dict[str, Any]] = json.loads(out.decode().lstrip("."))
    return found


def final_rows(folder: Path) -> dict[str, Any]:
    with Store(f"sqlite:///{folder}/e.db") as store:
        kept = list(store.records(attempts=True))
    assert len({(r.key, r.attempt) for r in kept}) == len(kept)
    final = [r for r in kept if r.final]
    assert len({r.key for r in final}) == len(final)
    # Nothing but what the last attempt made final is without an end.
    assert {r.key for r in kept} == {r.key for r in final}
    return {r.key: (r.experiment, r.arm, r.dataset, r.replicate, r.status, r.rows) for r in final}


def left_running(scratch: Path) -> list[psutil.Process]:
    def ours(process: psutil.Process) -> bool:
        try:
            return process.environ().get("TMPDIR") == str(scratch)
        except psutil.Error:
            return False

    deadline = time.monotonic() + 20
    while (found := [p for p in psutil.process_iter() if ours(p)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def test_thirty_kills_change_nothing(tmp_path: Path, scratch: Path) -> None:
    rng = random.Random(36)
    undisturbed = start(tmp_path / "undisturbed", scratch, jobs=1)
    folder, killed = tmp_path / "killed", 0
    for _ in range(KILLS):
        killed += kill(start(folder, scratch, jobs=2), rng)
    decisions = finish(start(folder, scratch, jobs=2))
    expected = finish(undisturbed)
    assert killed >= KILLS * 2 // 3
    assert decisions == expected
    rows = final_rows(folder)
    assert rows == final_rows(tmp_path / "undisturbed")
    assert {row[4] for row in rows.values()} == {"ok", "crashed", "raised"}
    assert [d["verdict"] for d in decisions] == ["holds", "undecided", "fails", "holds"]
    assert [d["n"] for d in decisions] == [10, 40, 10, 80]
    # Drafts of killed preparations are gone, and no process outlives its run.
    drafts = [p for p in (folder / "prepared").iterdir() if p.name.startswith(".") and p.is_dir()]
    assert not drafts
    assert not left_running(scratch)
    again = start(folder, scratch, jobs=2)
    assert finish(again) == expected
