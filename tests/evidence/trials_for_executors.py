"""Trials that behave and trials that don't, importable in worker processes."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from probatum.evidence import Block, Row


def ok(block: Block) -> list[Row]:
    return [Row(block.arms[0].id, values={"m": float(block.rng("draw").random())})]


def noop(block: Block) -> Row:
    return Row(block.arms[0].id, values={"m": 0.0})


def raises(block: Block) -> list[Row]:
    raise ZeroDivisionError("on purpose")


def hangs(block: Block) -> list[Row]:
    while True:
        time.sleep(0.05)


def hangs_in_c(block: Block) -> list[Row]:
    # PyDLL keeps the interpreter locked, so that no Python handler or thread can run.
    ctypes.PyDLL(None).sleep(600)
    return ok(block)


def segfaults(block: Block) -> list[Row]:
    ctypes.string_at(0)
    return ok(block)


def aborts(block: Block) -> list[Row]:
    os.abort()


def kills_itself(block: Block) -> list[Row]:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
    return ok(block)


def eats_memory(block: Block) -> list[Row]:
    pieces = []
    while True:
        pieces.append(bytearray(16 * 2**20))


def eats_numpy_memory(block: Block) -> list[Row]:
    import numpy as np

    return [Row(block.arms[0].id, values={"m": float(np.ones(2**40)[0])})]


def uses_memory(block: Block) -> list[Row]:
    megabytes = int(block.size["megabytes"])
    held = bytearray(megabytes * 2**20)
    return [Row(block.arms[0].id, values={"m": float(len(held))})]


def nan(block: Block) -> list[Row]:
    return [Row(block.arms[0].id, values={"m": float("nan")})]


def unknown_metric(block: Block) -> list[Row]:
    return [Row(block.arms[0].id, values={"other": 1.0})]


def wrong_type(block: Block) -> Any:
    return 3


def calls_sys_exit(block: Block) -> list[Row]:
    sys.exit("bye")


def exits_three(block: Block) -> list[Row]:
    os._exit(3)


def exits_zero(block: Block) -> list[Row]:
    os._exit(0)


def prints(block: Block) -> list[Row]:
    print("noise of Python")
    os.write(1, b"noise of compiled code\n")
    libc = ctypes.CDLL(None)
    libc.printf(b"noise of a C buffer\n")
    return ok(block)


def closes_its_streams(block: Block) -> list[Row]:
    os.close(1)
    os.close(2)
    return ok(block)


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("has a lock")
        self.lock = threading.Lock()


def raises_unpicklable(block: Block) -> list[Row]:
    raise Unpicklable


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raises_unspeakable(block: Block) -> list[Row]:
    raise Unspeakable


def raises_interrupt(block: Block) -> list[Row]:
    raise KeyboardInterrupt


def many_rows(block: Block) -> list[Row]:
    return [Row(block.arms[0].id, x=float(i), values={"m": 0.5}) for i in range(100_000)]


def threads(block: Block) -> list[Row]:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((8, 8)) @ np.ones((8, 8))
    most = max(library["num_threads"] for library in threadpool_info())
    return [Row(block.arms[0].id, values={"m": float(most)})]


def starts_a_child(block: Block) -> list[Row]:
    child = subprocess.Popen(["sleep", "600"])
    Path(block.size["file"]).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)
    return ok(block)


def tells_pid(block: Block) -> list[Row]:
    with open(block.size["file"], "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(float(block.size.get("sleep", 0.0)))
    return ok(block)


def fills(block: Block, folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "data.csv").write_text("a,b\n1,2\n")


def fills_with_pickle(block: Block, folder: Path) -> None:
    (folder / "model.pkl").write_bytes(b"")


def fills_and_hangs(block: Block, folder: Path) -> None:
    (folder / "half.csv").write_text("a")
    time.sleep(600)
