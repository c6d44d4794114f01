"""Trials that tell where and when they ran, importable on the nodes of a cluster."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
from trials_for_engine import noisy

from probatum.evidence import Block, Row, worker
from probatum.evidence.worker import parse_log


def drowsily(block: Block) -> list[Row]:
    """A score, after a moment and, where an arm says so, a passing trouble.

    What was prepared must be there, whole.
    """
    time.sleep(float(block.size["sleep"]))
    if "PROBATUM_TOY_DEATH" in os.environ and block.replicate >= 7:
        _meet_death(Path(os.environ["PROBATUM_TOY_DEATH"]))
    arm = block.arms[0]
    # What is left in files would tell a trial that is run again because its node died from one
    # that is not, and such a one must come out as if nothing had been.
    if block.replicate in arm.params.get("trouble", ()) and _attempt() == 1:
        os._exit(7)
    assert block.prepared is None or float((block.prepared / "base.txt").read_text()) < 1
    return noisy(block)


def _meet_death(said: Path) -> None:
    """Say so and wait for the end on the node that is to die; elsewhere wait until it was said."""
    if "TOY_DOOMED" in os.environ:
        with said.open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(600)
    while not said.exists():
        time.sleep(0.02)


def says_when(block: Block) -> list[Row]:
    """Leaves its node, its beginning and its end."""
    began = time.monotonic()
    time.sleep(0.15)
    with open(block.size["file"], "a") as file:
        file.write(f"{_ray_worker().ppid()} {began} {time.monotonic()}\n")
    return [Row(block.arms[0].id, values={"m": 0.0})]


def sees_gpus(block: Block) -> list[Row]:
    """Which GPU it was given."""
    return [Row(block.arms[0].id, values={"m": float(os.environ["CUDA_VISIBLE_DEVICES"])})]


def kills_what_runs_it(block: Block) -> list[Row]:
    """Kills the process above the engine's own, as often as it is asked to."""
    lives = Path(block.size["file"])
    left = int(lives.read_text())
    if left:
        lives.write_text(str(left - 1))
        _ray_worker().send_signal(signal.SIGKILL)
        time.sleep(60)
    return [Row(block.arms[0].id, values={"m": 1.0})]


def _attempt() -> int:
    """Which attempt this is, as the engine's worker has noted it for who reads its log."""
    assert worker._log is not None
    return parse_log(worker._log.head[:])[1]


def _ray_worker() -> psutil.Process:
    # This process comes from a server, which was started by Ray's.
    server = psutil.Process().parent()
    assert server is not None
    above = server.parent()
    assert above is not None
    return above
