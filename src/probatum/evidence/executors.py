"""Where trials run: in this process, or in worker processes of this machine.

An executor takes tasks and yields them as they finish, each with its outcome. What a trial does
to its process (raise, hang, crash, eat all memory) is an outcome of that trial and of no other.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, Protocol

from probatum.evidence.processes import EXIT_ZERO, WorkerContext
from probatum.evidence.trial import Outcome, Task
from probatum.evidence.worker import ThreadLimit, attempt, failed, work

__all__ = ["Executor", "InlineExecutor", "LocalExecutor", "unsent"]

# So many times in a row may the pool break with no trial finished in between.
_MOST_BREAKS = 3
# Tasks per worker in the pool's queue, so that short trials need not wait for the caller.
_QUEUED = 8


class Executor(Protocol):
    """Runs tasks; a context manager that stops on leaving.

    Examples
    --------
    >>> from probatum.evidence.model import Arm, Dataset, Metric
    >>> arm, data = Arm("a", make="math:sqrt"), Dataset("d", load="math:sqrt", licence="none")
    >>> task = Task("k", "math:sqrt", "e", (arm,), data, 0, {}, {"m": Metric("lower")}, 60.0, 1.0)
    >>> with InlineExecutor() as executor:
    ...     executor.submit(task)
    ...     [(task.key, outcome.status) for task, outcome in executor.finished()]
    [('k', 'raised')]
    """

    def __enter__(self) -> Executor: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def pending(self) -> int:
        """Tasks submitted and not yet yielded."""

    def submit(self, task: Task) -> None:
        """Queue a task."""

    def finished(self) -> Iterator[tuple[Task, Outcome]]:
        """Yield tasks as they finish and end when none is pending.

        More may be submitted meanwhile. Left early, it can be called again for the rest.
        """

    @property
    def ready(self) -> bool:
        """Whether the next task to be yielded has ended, so that nobody would be waited for."""

    def stop(self) -> None:
        """Drop what is pending and end what runs, at once."""


class _OutOfTime(BaseException):
    """Not an ``Exception``, lest a trial catch it."""


class InlineExecutor:
    """Runs each task in this process when its outcome is asked for.

    The time limit holds in the main thread only, and a loop inside compiled code ends before it
    is noticed; there is no memory limit, and a crash is a crash of the caller. What trials print
    on standard output goes to standard error.
    """

    def __init__(self) -> None:
        self._waiting: deque[Task] = deque()
        self._threads = ThreadLimit()
        self._stopped = False

    def __enter__(self) -> InlineExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pending(self) -> int:
        """Tasks submitted and not yet yielded."""
        return len(self._waiting)

    def submit(self, task: Task) -> None:
        """Queue a task."""
        if self._stopped:
            raise RuntimeError("the executor was stopped")
        self._waiting.append(task)

    def finished(self) -> Iterator[tuple[Task, Outcome]]:
        """Run the tasks one by one; ``KeyboardInterrupt`` passes through."""
        while self._waiting:
            task = self._waiting.popleft()
            self._threads.set(task.threads)
            with _stdout_to_stderr():
                outcome = _within_time(task)
            yield task, outcome

    @property
    def ready(self) -> bool:
        """Never: a task runs when its outcome is asked for."""
        return False

    def stop(self) -> None:
        """Drop what is pending and give the numeric libraries their threads back."""
        self._stopped = True
        self._waiting.clear()
        self._threads.restore()


class LocalExecutor:
    """Runs tasks in worker processes: time and memory limits hold, a crash costs its trial only.

    Parameters
    ----------
    jobs : int
        Number of workers.
    preload : sequence of str
        Modules that workers find imported; they must not start threads.
    """

    def __init__(self, jobs: int, preload: Sequence[str] = ("numpy",)) -> None:
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        self.jobs = jobs
        self._context = WorkerContext(preload)
        self._pool: Any = None
        self._waiting: deque[Task] = deque()
        self._running: dict[Any, Task] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._breaks = 0
        self._stopped = False
        self._stopping = threading.RLock()

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pending(self) -> int:
        """Tasks submitted and not yet yielded."""
        return len(self._waiting) + len(self._running)

    def submit(self, task: Task) -> None:
        """Queue a task, and start workers if there are none yet."""
        if self._stopped:
            raise RuntimeError("the executor was stopped")
        self._waiting.append(task)
        self._feed()

    def finished(self) -> Iterator[tuple[Task, Outcome]]:
        """Yield tasks in the order in which they finish."""
        while self.pending and not self._stopped:
            self._feed()
            future = self._next_done()
            if future not in self._running:
                continue  # of a pool that broke
            if _broken(future):
                self._restart()
                continue
            task = self._running.pop(future)
            self._breaks = 0
            outcome = self._outcome(task, future)
            self._feed()
            yield task, outcome

    @property
    def ready(self) -> bool:
        """Whether the next task to be yielded has ended."""
        return any(future.done() and not _broken(future) for future in self._running)

    def stop(self) -> None:
        """Drop what is pending and kill the workers, at once."""
        self._stopped = True
        self._waiting.clear()
        self._running.clear()
        self._context.closing = True
        # Reentrant, as a signal handler may stop what is being stopped.
        with self._stopping:
            try:
                self._end_pool()
            finally:
                # Whatever went wrong, no worker outlives the server that it was forked from.
                self._context.close()
                self._done.put(None)

    def _feed(self) -> None:
        """Keep the pool's queue filled but short."""
        while self._waiting and len(self._running) < _QUEUED * self.jobs and not self._stopped:
            task = self._waiting.popleft()
            try:
                payload = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            except Exception as error:
                kept = _Unsent(error)
                self._running[kept] = task
                self._done.put(kept)
                continue
            if self._pool is None:
                from pebble import ProcessPool

                self._pool = ProcessPool(self.jobs, context=self._context)
            try:
                future = self._pool.schedule(work, args=(payload,), timeout=task.seconds)
            except RuntimeError:
                # The pool is broken; whoever waits for its futures restarts it.
                self._waiting.appendleft(task)
                if not self._running:
                    self._restart()
                    continue
                return
            self._running[future] = task
            future.add_done_callback(self._done.put)

    def _next_done(self) -> Any:
        """The next future that is done; a broken pool is replaced while waiting."""
        while not self._stopped:
            try:
                return self._done.get(timeout=1.0)
            except Empty:
                if self._pool is not None and not self._pool.active:
                    self._restart()
                    self._feed()
        return None

    def _restart(self) -> None:
        """Replace a broken pool; what was in it runs again, as no trial of it is to blame."""
        if self._stopped:
            return
        self._breaks += 1
        if self._breaks > _MOST_BREAKS:
            raise RuntimeError("worker processes die as soon as they start")
        self._end_pool()
        lost = [future for future in self._running if not future.done() or _broken(future)]
        self._waiting.extendleft(self._running.pop(future) for future in reversed(lost))

    def _end_pool(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()
            pool.join()

    def _outcome(self, task: Task, future: Any) -> Outcome:
        if isinstance(future, _Unsent):
            return unsent(future.error)
        error = future.exception()
        if error is None:
            outcome = pickle.loads(future.result())
            assert isinstance(outcome, Outcome)
            return outcome
        outcome = _death(task, error)
        remains = self._context.remains(task.key, task.attempt)
        if remains is None:
            return outcome
        return replace(
            outcome,
            started=remains.started,
            seconds=remains.seconds,
            traceback=remains.output,
        )


def unsent(error: Exception) -> Outcome:
    """The outcome of a task that could not be sent to where it would run."""
    outcome = failed(error, time.time(), 0.0)
    return replace(outcome, message=f"cannot be sent to a worker: {outcome.message}")


class _Unsent:
    """Stands for the future of a task that could not be sent."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def done(self) -> bool:
        return True

    def exception(self) -> None:
        return None


def _broken(future: Any) -> bool:
    """Whether a future that is done fell with its pool."""
    return isinstance(future.exception(), BrokenProcessPool)


def _death(task: Task, error: BaseException) -> Outcome:
    """The outcome of a trial whose worker was killed or ended by itself."""
    from pebble import ProcessExpired

    if isinstance(error, TimeoutError):
        return _timeout(task)
    if not isinstance(error, ProcessExpired):
        return Outcome("crashed", message=f"{type(error).__name__}: {error}", transient=True)
    code = error.exitcode
    if code == -signal.SIGKILL:
        message = "killed by signal 9, as the system does when memory runs out"
        return Outcome("out of memory", message=message, transient=True)
    if code < 0:
        try:
            name = f" ({signal.Signals(-code).name})"
        except ValueError:
            name = ""
        return Outcome("crashed", message=f"killed by signal {-code}{name}", transient=True)
    code = 0 if code == EXIT_ZERO else code
    return Outcome("crashed", message=f"its process exited with code {code}", transient=True)


def _timeout(task: Task, started: float | None = None) -> Outcome:
    return Outcome(
        "timeout",
        message=f"no result within the limit of {task.seconds:g} s",
        seconds=task.seconds,
        started=time.time() - task.seconds if started is None else started,
        transient=True,
    )


def _within_time(task: Task) -> Outcome:
    """Attempt a task with an alarm set to its limit, in the thread where alarms work."""
    if threading.current_thread() is not threading.main_thread():
        return attempt(task)

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _OutOfTime

    started, clock = time.time(), time.monotonic()
    handler = signal.signal(signal.SIGALRM, ring)
    # Rings again each second, should a trial's bare except swallow the first.
    earlier, interval = signal.setitimer(signal.ITIMER_REAL, task.seconds, 1.0)
    try:
        try:
            return attempt(task)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _OutOfTime:
        return replace(_timeout(task, started), seconds=time.monotonic() - clock)
    finally:
        signal.signal(signal.SIGALRM, handler)
        if earlier:
            left = max(1e-3, earlier - (time.monotonic() - clock))
            signal.setitimer(signal.ITIMER_REAL, left, interval)


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Send what is printed, by Python or by compiled code, to standard error."""
    try:
        sys.stdout.flush()
        saved = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError, AttributeError):
        saved = None  # no such descriptors, as under some services
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if saved is not None:
            _flush_c_stdout()
            os.dup2(saved, 1)
            os.close(saved)


def _flush_c_stdout() -> None:
    # Compiled code has a buffer of its own, which would else be written after the switch back.
    with contextlib.suppress(ValueError, OSError):
        libc = ctypes.CDLL(None)
        libc.fflush(ctypes.c_void_p.in_dll(libc, "stdout"))
