"""Worker processes: how one is started, how it ends, and what is known when it is killed.

Workers are forked from a small server process. That is neither a fork of the caller (threads and
OpenMP do not survive it) nor a fresh interpreter (too slow to replace a crashed worker). The
caller's ``__main__`` is never imported, so unguarded scripts, notebooks and ``python -c`` work.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import fcntl
import io
import os
import re
import select
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import (
    context,
    forkserver,
    parent_process,
    popen_forkserver,
    reduction,
    spawn,
    util,
)
from typing import Any

from probatum.evidence.worker import LOG_HEAD, THREAD_VARIABLES, open_log, parse_log

__all__ = ["EXIT_ZERO", "Remains", "WorkerContext"]

# pebble takes exit code 0 for an orderly end, but no worker ends before its pool does.
EXIT_ZERO = 256
# Dumps the Python stack of a hanging worker before it is killed.
_WHERE = signal.SIGUSR2
# A death is kept back for so long that pebble has read which trial the worker had accepted.
_GRACE = 0.1
_TAIL = 4000
_PR_SET_PDEATHSIG = 1
# What a dumped stack says below the trial.
_OUR_FRAMES = re.compile(r'  File "[^"\n]*worker\.py", line \d+ in attempt\n.*', re.DOTALL)


@dataclass(frozen=True)
class Remains:
    """What a dead worker left: when its trial started, how long it ran, its last output."""

    started: float
    seconds: float
    output: str


# A socket's path has room for about a hundred bytes, of which forty are the library's.
_LONGEST_FOLDER = 60


class WorkerContext(context.ForkServerContext):
    """A multiprocessing context whose workers come from a server process of their own.

    Parameters
    ----------
    preload : sequence of str
        Modules that the server imports, so that workers have them at once.
    tied : bool
        Whether workers are killed with the caller, however it ends; others see its end of a pipe
        closed.
    """

    def __init__(self, preload: Sequence[str] = (), *, tied: bool = True) -> None:
        self._server = _Server()
        self._server.set_forkserver_preload(
            ["probatum.evidence.worker", "pebble.pool.process", "threadpoolctl", *preload]
        )
        self._remains: dict[tuple[str, int], Remains] = {}
        self.tied = tied
        self.closing = False

    def Process(self, *args: Any, **kwargs: Any) -> _Worker:  # type: ignore[override]
        """A worker process, not yet started."""
        return _Worker(self, *args, **kwargs)

    def launch(self, fds: list[int]) -> tuple[int, int]:
        """Ask the server for a new process; see ``multiprocessing.forkserver``."""
        if self.closing:
            raise ConnectionError("workers are being stopped")
        return self._server.connect_to_new_process(fds)

    def bury(self, log: int, died: float) -> None:
        """Keep what the log of a dead worker says."""
        if self.closing:
            return
        try:
            started, attempt, key = parse_log(os.pread(log, LOG_HEAD, 0))
        except ValueError:
            return
        begin = max(LOG_HEAD, os.fstat(log).st_size - _TAIL)
        output = os.pread(log, _TAIL, begin).decode(errors="replace")
        output = _OUR_FRAMES.sub("", output)
        self._remains[key, attempt] = Remains(started, max(0.0, died - started), output)

    def remains(self, key: str, attempt: int) -> Remains | None:
        """What the worker that died with this trial left; can be asked once."""
        return self._remains.pop((key, attempt), None)

    def close(self) -> None:
        """End the server process; the workers must have ended."""
        self._server.end()


@contextlib.contextmanager
def _short_paths() -> Iterator[None]:
    """Keep the server's socket out of a temporary folder whose path is too long for one."""
    kept = tempfile.tempdir
    # Only folders that are made new, and for nobody else, are put there.
    shared = "/tmp"  # nosec B108
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER and os.access(shared, os.W_OK):
        tempfile.tempdir = shared
    try:
        yield
    finally:
        tempfile.tempdir = kept


class _Server(forkserver.ForkServer):
    """A fork server whose processes start numeric libraries with one thread."""

    _changing_environment = threading.Lock()

    def ensure_running(self) -> None:
        with self._changing_environment:
            self._ensure_running()

    def _ensure_running(self) -> None:
        # The server must be deaf to Ctrl-C even while it imports, and inherits the signal mask.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # Safe path: files of the current folder must not shadow what the server imports.
        settings = {**dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONSAFEPATH": "1"}
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        try:
            with _short_paths():
                super().ensure_running()
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def end(self) -> None:
        # Not by closing the pipe alone, since a stray grandchild could hold its other end.
        pid: int | None = self._forkserver_pid  # type: ignore[attr-defined]
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self._stop()  # type: ignore[attr-defined]


class _Popen(popen_forkserver.Popen):
    """Starts a process from the context's own server and without the caller's main module."""

    def __init__(self, worker: _Worker) -> None:
        self._launcher = worker.context
        super().__init__(worker)

    def _launch(self, process_obj: Any) -> None:
        # As in the standard library, but for the server and the two lines on the main module.
        preparation = spawn.get_preparation_data(process_obj._name)
        preparation.pop("init_main_from_name", None)
        preparation.pop("init_main_from_path", None)
        data = io.BytesIO()
        context.set_spawning_popen(self)
        try:
            reduction.dump(preparation, data)
            reduction.dump(process_obj, data)
        finally:
            context.set_spawning_popen(None)
        self.sentinel, writer = self._launcher.launch(self._fds)  # type: ignore[attr-defined]
        # Kept open for as long as this process lives: the worker watches the other end.
        parent = os.dup(writer)
        self.finalizer = util.Finalize(self, _close, (parent, self.sentinel))
        with open(writer, "wb") as file:
            file.write(data.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


class _Worker(context.ForkServerProcess):
    """A process with a log that outlives it, and an end that pebble can't misread."""

    context: WorkerContext
    _log: Any

    def __init__(self, context: WorkerContext, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context = context
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (open for as long as the process is)
        # The worker maps the head, which must not lack room on the disk when it is written.
        self._log.write(bytes(LOG_HEAD))
        self._log.flush()
        fcntl.fcntl(self._log, fcntl.F_SETFL, os.O_APPEND)
        self._tied = context.tied
        self._died: float | None = None
        self._terminated = False

    def _Popen(self, process_obj: Any) -> _Popen:  # type: ignore[override]
        return _Popen(process_obj)

    def __getstate__(self) -> dict[str, Any]:
        log = reduction.DupFd(self._log.fileno())
        return {**self.__dict__, "context": None, "_log": log}

    def is_alive(self) -> bool:
        """Whether it lives; a death is told a little late, see ``_GRACE``."""
        if super().is_alive():
            return True
        if self._died is None:
            self._died = time.monotonic()
            self.context.bury(self._log.fileno(), time.time())
            self._kill()
        return not self._terminated and time.monotonic() - self._died < _GRACE

    @property
    def exitcode(self) -> int | None:
        code = super().exitcode
        return EXIT_ZERO if code == 0 else code

    def terminate(self) -> None:
        """Kill it and what it started, at once: a loop in C would not heed a polite signal."""
        self._terminated = True
        if self.pid is not None and not self.context.closing and super().is_alive():
            self._say_where()
            self._died = time.monotonic()
            self.context.bury(self._log.fileno(), time.time())
        self._kill()

    def _say_where(self) -> None:
        """Have the worker write its stack to the log; done in C, thus also from within C."""
        assert self.pid is not None
        size = os.fstat(self._log.fileno()).st_size
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, _WHERE)
        for _ in range(10):
            time.sleep(0.005)
            if os.fstat(self._log.fileno()).st_size > size:
                return

    def _kill(self) -> None:
        if self.pid is None:
            return
        # A worker leads a group, in which its own children are.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def run(self) -> None:
        """In the worker: settle in, then serve the pool."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        if self._tied:
            _die_with_parent()
        os.environ.pop("PYTHONSAFEPATH", None)
        # Neither the caller's JSON nor its progress bars may be disturbed by what trials print.
        open_log(self._log.detach())
        faulthandler.enable(file=2, all_threads=False)
        faulthandler.register(_WHERE, file=2, all_threads=False)
        super().run()


def _die_with_parent() -> None:
    """Have the kernel kill this process when the caller or the server dies, however they do."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = parent_process()
    if parent is None:
        return
    # The parent holds the other end of this pipe; its end is news on it, the only one ever.
    pipe = parent.sentinel
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([pipe], [], [], 0)[0]:
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(pipe,), daemon=True).start()


def _watch(pipe: int) -> None:
    select.select([pipe], [], [])
    os.killpg(0, signal.SIGKILL)
