"""Work in forks of a process that has tests collected: some at a time, each with a limit."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Forks", "Outcome", "in_fork", "run_items", "wait_for"]

Outcome = tuple[str, str]
"""``killed``, ``time limit`` or ``survived``, and the test that killed it."""


def run_items(items: Sequence[pytest.Item], limits: Sequence[float]) -> str:
    """Run tests until one fails; its name, or nothing. One that takes too long ends the process."""
    from _pytest.runner import runtestprotocol

    for at, item in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits[at])
        reports = runtestprotocol(item, log=False, nextitem=following)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if any(report.failed for report in reports):
            return item.nodeid
    return ""


def in_fork(work: Callable[[], Any], answer: Path) -> int:
    """Start work in a fork that leads its own group; what it gives is left as JSON in a file."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(quiet, stream)
        folder = answer.with_suffix(".d")
        folder.mkdir()
        # Where the tests' own temporary folders go.
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        answer.write_text(json.dumps(work()), encoding="utf-8")
        code = 0
    finally:
        os._exit(code)


def wait_for(pid: int, limit: float) -> bool:
    """Wait for a fork to end by itself; False where its time ran out and it was ended."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


class Forks:
    """Some forks at a time; each has a limit, and a function that takes its outcome."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.folder = Path(tempfile.mkdtemp(prefix="mutation-"))
        self.running: dict[int, tuple[float, Path, Callable[[Outcome], None]]] = {}
        self.started = 0

    def start(self, work: Callable[[], Any], limit: float, took: Callable[[Outcome], None]) -> None:
        """Start work once one of the places is free."""
        while len(self.running) >= self.jobs:
            self.collect()
        self.started += 1
        answer = self.folder / f"{self.started}.json"
        pid = in_fork(work, answer)
        self.running[pid] = time.monotonic() + limit, answer, took

    def collect(self) -> None:
        """Take what has ended."""
        time.sleep(0.01)
        for pid, (end, answer, took) in list(self.running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
                took(("time limit", ""))
            elif ended:
                # A fork that ends without an answer was brought down by the change.
                text = answer.read_text(encoding="utf-8") if answer.exists() else '"(ended)"'
                killer = json.loads(text)
                took(("killed", killer) if killer else ("survived", ""))
            elif time.monotonic() > end:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                took(("time limit", ""))
            else:
                continue
            del self.running[pid]
            shutil.rmtree(answer.with_suffix(".d"), ignore_errors=True)

    def finish(self) -> None:
        """Take all that still run."""
        while self.running:
            self.collect()
        shutil.rmtree(self.folder, ignore_errors=True)
