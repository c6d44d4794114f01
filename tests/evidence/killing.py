"""Runs that are killed with their whole process group, at random moments."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from probatum.evidence.store import Store

HERE = Path(__file__).resolve().parent


def sqlite_in(folder: Path) -> str:
    """The address of a store in a folder."""
    return f"sqlite:///{folder}/e.db"


def start(folder: Path, scratch: Path, jobs: int, url: str = "") -> subprocess.Popen[bytes]:
    """Start the run; its store is a SQLite file in the folder unless another is named."""
    (folder / "flags").mkdir(parents=True, exist_ok=True)
    script = str(HERE / "run_to_be_killed.py")
    return subprocess.Popen(
        [sys.executable, script, url or sqlite_in(folder), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Prepared folders of a store that is no file lie below where the run was started.
        cwd=folder,
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
    """The decisions of a run that is let end."""
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err.decode()
    found: list[dict[str, Any]] = json.loads(out.decode().lstrip("."))
    return found


def final_rows(url: str) -> dict[str, Any]:
    """What counts of each trial in a store, which must hold nothing twice and nothing torn."""
    with Store(url) as store:
        kept = list(store.records(attempts=True))
    assert len({(r.key, r.attempt) for r in kept}) == len(kept)
    final = [r for r in kept if r.final]
    assert len({r.key for r in final}) == len(final)
    # Nothing but what the last attempt made final is without an end.
    assert {r.key for r in kept} == {r.key for r in final}
    return {r.key: (r.experiment, r.arm, r.dataset, r.replicate, r.status, r.rows) for r in final}


def left_running(scratch: Path) -> list[psutil.Process]:
    """Processes of runs in this folder that outlive them."""

    def ours(process: psutil.Process) -> bool:
        try:
            return process.environ().get("TMPDIR") == str(scratch)
        except psutil.Error:
            return False

    deadline = time.monotonic() + 20
    while (found := [p for p in psutil.process_iter() if ours(p)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def drafts_in(root: Path) -> list[Path]:
    """What killed preparations left below a store's folder."""
    return [path for path in root.glob("**/prepared/.*") if path.is_dir()]
