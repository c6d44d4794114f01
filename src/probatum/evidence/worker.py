"""What happens around one trial, in whichever process runs it: limits, measurements, failures."""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import resource
import sys
import time
import traceback
from dataclasses import replace
from typing import Any

from probatum.evidence.prepared import run_prepare
from probatum.evidence.trial import Outcome, Task, lacking, run_task

__all__ = [
    "LOG_HEAD",
    "THREAD_VARIABLES",
    "ThreadLimit",
    "attempt",
    "failed",
    "log_start",
    "open_log",
    "parse_log",
    "work",
]

LOG_HEAD = 4096

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
)


def attempt(task: Task) -> Outcome:
    """Run a task and describe how it went; only ``KeyboardInterrupt`` and its like are raised."""
    started, clock = time.time(), time.perf_counter()
    reset_peak()
    try:
        outcome = run_prepare(task) if task.kind == "prepare" else run_task(task)
        return replace(outcome, peak_mb=peak_mb())
    except (Exception, SystemExit) as error:
        return failed(error, started, time.perf_counter() - clock)


def failed(error: BaseException, started: float, seconds: float) -> Outcome:
    """The outcome of a trial that left with an exception that is none of its own business."""
    short = isinstance(error, MemoryError)
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:
        said = type(error).__name__
    return Outcome(
        "out of memory" if short else "raised",
        message=said,
        traceback="".join(traceback.format_exception(error)),
        seconds=seconds,
        peak_mb=peak_mb(),
        started=started,
        transient=short,
        unavailable=lacking(error),
    )


def work(payload: bytes) -> bytes:
    """Run a pickled task in a worker process and return the pickled outcome; never raises."""
    started, clock = time.time(), time.perf_counter()
    try:
        task: Task = pickle.loads(payload)
        log_start(task.key, task.attempt)
        _threads.set(task.threads)
        _limit_memory(task.memory_gb)
        try:
            outcome = attempt(task)
        finally:
            _limit_memory(None)
            _flush()
    except BaseException as error:
        outcome = failed(error, started, time.perf_counter() - clock)
    try:
        return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        reason = f"the rows cannot be sent back: {type(error).__name__}: {error}"
        return pickle.dumps(
            Outcome("bad result", message=reason, seconds=outcome.seconds, started=outcome.started)
        )


class ThreadLimit:
    """Keeps the numeric libraries at a number of threads, looking again when new ones load."""

    def __init__(self) -> None:
        self._applied: tuple[int, int] | None = None
        self._before: Any = None
        self._variables: dict[str, str | None] = {}

    def set(self, threads: int) -> None:
        """Allow that many threads from now on."""
        # Scanning the loaded libraries takes milliseconds, hence only when something changed.
        # What loads later reads the environment.
        if self._applied == (threads, len(sys.modules)):
            return
        from threadpoolctl import threadpool_limits

        for name in THREAD_VARIABLES:
            self._variables.setdefault(name, os.environ.get(name))
            os.environ[name] = str(threads)
        limits = threadpool_limits(limits=threads)
        self._before = self._before or limits
        self._applied = (threads, len(sys.modules))

    def restore(self) -> None:
        """Undo it, for the libraries that were loaded when it was first set."""
        for name, value in self._variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if self._before is not None:
            self._before.restore_original_limits()
        self._applied, self._before, self._variables = None, None, {}


# Of the worker process that this module serves, as are the libraries' thread counts and the log.
_threads = ThreadLimit()
_log: _Log | None = None


def _limit_memory(gigabytes: float | None) -> None:
    """Allow that much memory above what is in use now; None lifts the limit."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = most
    if gigabytes is not None:
        limit = _data_in_use() + int(gigabytes * 2**30)
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def _data_in_use() -> int:
    """Bytes that count against the limit."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(file, 256).split()[5]) * resource.getpagesize()
    finally:
        os.close(file)


def reset_peak() -> None:
    """Let the peak of resident memory start anew, where the system can."""
    with contextlib.suppress(OSError):
        file = os.open("/proc/self/clear_refs", os.O_WRONLY)
        try:
            os.write(file, b"5")
        finally:
            os.close(file)


def peak_mb() -> float:
    """Peak of this process's resident memory in MB, since :func:`reset_peak` where that works."""
    # The kernel answers with the high-water mark that clear_refs resets (VmHWM).
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def log_start(key: str, attempt: int) -> None:
    """Begin the worker's log anew, so that who reads it after a crash knows the trial."""
    if _log is not None:
        _log.start(f"{time.time()} {attempt} {key}\n".encode())


def open_log(file: int) -> None:
    """Send all that this process prints to a file; it has a head of fixed size for the trial."""
    global _log
    _log = _Log(file)


class _Log:
    def __init__(self, file: int) -> None:
        self.file = file
        # Mapped, which is cheaper than a write per trial.
        self.head = mmap.mmap(file, LOG_HEAD)
        self.start(b"\n")

    def start(self, line: bytes) -> None:
        line = line[:LOG_HEAD]
        self.head[: len(line)] = line
        # The trial before may have closed any of these.
        with contextlib.suppress(OSError):
            os.dup2(self.file, 1)
            os.dup2(self.file, 2)
            if os.fstat(self.file).st_size > LOG_HEAD:
                os.ftruncate(self.file, LOG_HEAD)


def parse_log(head: bytes) -> tuple[float, int, str]:
    """When the trial of a log's head started, its attempt and its key; ValueError if none did."""
    started, attempt, key = head.partition(b"\n")[0].decode().split(" ", 2)
    return float(started), int(attempt), key


def _flush() -> None:
    # A trial may have closed or replaced its streams.
    for stream in (sys.stdout, sys.stderr):
        flush: Any = getattr(stream, "flush", None)
        with contextlib.suppress(Exception):
            flush()
