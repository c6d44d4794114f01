"""Trials on the nodes of a Ray cluster.

:class:`Cluster` is the connection, which one run opens once; its executors have the interface of
:mod:`probatum.evidence.executors`. Nodes run trials (``node.py``) and send back what came out; this
process alone decides what to run, and writes to the store. What goes wrong with a node is never an
outcome of a trial: it runs again elsewhere, and no attempt of its own is used up.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import shutil
import socket
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from probatum.evidence.broker import Demand, Node, serve
from probatum.evidence.executors import unsent
from probatum.evidence.extras import install_line
from probatum.evidence.node import Unfit, ground, identity_of, terms_here
from probatum.evidence.processes import WorkerContext
from probatum.evidence.trial import Outcome, Task

__all__ = ["Cluster", "ClusterError", "ClusterExecutor"]

_SECONDS_TO_KNOCK = 10.0
_SECONDS_TO_JOIN = 60.0
_SECONDS_TO_START = 90.0
_SECONDS_TO_END = 15.0
# So long may there be no node to run on, as while a cluster grows.
_SECONDS_WITHOUT_NODES = 60.0
# So often may one trial be lost with its node.
_MOST_LOSSES = 5
# How many times over what the cluster can run at once is sent to it.
_AHEAD = 2.0


class ClusterError(Exception):
    """The cluster can't be reached or used; the message says what would mend it."""


class Cluster:
    """A connection to a Ray cluster; a context manager.

    Parameters
    ----------
    address : str
        ``HOST:PORT`` of a cluster of which this machine is a node, or ``auto``: the cluster that
        runs on this machine, or one that is started and ends with the connection.
    extras : tuple of str
        Optional installs that trials need on nodes.

    Raises
    ------
    ClusterError
        If Ray is not installed or the cluster can't be reached.
    """

    def __init__(self, address: str, extras: tuple[str, ...] = ()) -> None:
        if importlib.util.find_spec("ray") is None:
            raise ClusterError(f"a cluster needs an extra: {install_line('cluster')}")
        if not address or "://" in address or (address != "auto" and ":" not in address):
            raise ClusterError(
                f"not the address of a cluster: {address!r}; give HOST:PORT as `ray start` printed "
                "it, or auto"
            )
        self.address = address
        self.nodes: list[Node] = []
        self.terms = terms_here(extras)
        # Killed with the run, the broker would leave Ray's processes behind.
        self._context = WorkerContext(tied=False)
        self._scratch = ""
        self._process: Any = None
        self._pipe: Any = None
        self._last = 0

    def __enter__(self) -> Cluster:
        # Sockets lie below it, whose paths must be short.
        self._scratch = tempfile.mkdtemp(prefix="pb-", dir=_short_folder())
        try:
            self._start()
        except BaseException:
            self._end(0.0)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end(_SECONDS_TO_END)

    def executor(self, alone: bool) -> ClusterExecutor:
        """An executor on this cluster; ``alone`` for trials that must have a node to themselves."""
        return ClusterExecutor(self, alone)

    def new_number(self) -> int:
        """A number that no trial sent before has."""
        self._last += 1
        return self._last

    def send(self, *message: Any) -> None:
        """Tell the broker."""
        try:
            self._pipe.send(message)
        except OSError:
            raise ClusterError(f"the connection to the cluster {self.address} broke") from None

    def receive(self, seconds: float) -> tuple[Any, ...] | None:
        """What the broker says next; None if that is nothing for so long."""
        try:
            if not self._pipe.poll(seconds):
                return None
            message: tuple[Any, ...] = self._pipe.recv()
        except (EOFError, OSError):
            raise ClusterError(f"the connection to the cluster {self.address} broke") from None
        if message[0] == "nodes":
            self.nodes = message[1]
        elif message[0] == "broken":
            raise ClusterError(f"the cluster {self.address} can't be used: {message[1]}")
        return message

    def _start(self) -> None:
        address = self.address if self.address != "auto" else _running_here()
        if address is not None:
            _knock(address)
        self._pipe, theirs = Pipe()
        arguments = (theirs, address, self._scratch)
        self._process = self._context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        seconds = _SECONDS_TO_START if address is None else _SECONDS_TO_JOIN
        if self.receive(seconds) is None:
            what = (
                "Ray did not start" if address is None else f"no Ray cluster answers at {address}"
            )
            raise ClusterError(f"{what} within {seconds:g} s")

    def _end(self, seconds: float) -> None:
        """End the broker, by force if it does not in so many seconds."""
        try:
            if self._process is not None and self._process.pid is not None:
                with contextlib.suppress(OSError):
                    self._pipe.send(("end",))
                self._read_out(seconds)
                self._process.terminate()
                self._process.join()
        finally:
            self._context.closing = True
            self._context.close()
            if self._pipe is not None:
                self._pipe.close()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _read_out(self, seconds: float) -> None:
        """Wait for the broker's end, and let it say what it still has to say."""
        until = time.monotonic() + seconds
        with contextlib.suppress(EOFError, OSError):
            while (left := until - time.monotonic()) > 0 and self._pipe.poll(left):
                self._pipe.recv()


def _running_here() -> str | None:
    """The address of the cluster that runs on this machine, if one does.

    Ray leaves the address of the last one in a file, also when it did not end well.
    """
    given = os.environ.get("RAY_ADDRESS", "")
    if given not in ("", "auto", "local"):
        return given
    file = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")  # nosec B108
    with contextlib.suppress(OSError, ClusterError):
        found = file.read_text().strip()
        _knock(found)
        return found
    return None


def _knock(address: str) -> None:
    """ClusterError if nothing answers there; Ray itself would not give up for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_KNOCK).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ClusterError(f"no Ray cluster answers at {address}: {error}") from None


def _short_folder() -> str | None:
    shared = "/tmp"  # nosec B108 (only a folder that is made new, and for nobody else)
    return shared if os.access(shared, os.W_OK) else None


@dataclass
class _Sent:
    task: Task
    demand: Demand
    share: float
    dropped: bool = field(default=False)


class ClusterExecutor:
    """Runs tasks on the nodes of a cluster; see :class:`~probatum.evidence.executors.Executor`.

    Parameters
    ----------
    cluster : Cluster
        Connected.
    alone : bool
        One trial at a time, all on one node, of which it takes all processors.
    """

    def __init__(self, cluster: Cluster, alone: bool = False) -> None:
        self._cluster = cluster
        self._alone = alone
        self._waiting: deque[Task] = deque()
        self._sent: dict[int, _Sent] = {}
        self._arrived: deque[tuple[Task, Outcome]] = deque()
        self._error: ClusterError | None = None
        self._losses: dict[tuple[str, int], int] = {}
        self._grounds: dict[str, str] = {}
        self._identities: dict[Path, str] = {}
        self._node = ""
        # Ray is told of a death late, and keeps such nodes in its list until then.
        self._gone: set[str] = set()
        self._stopped = False
        self._nodes_seen = time.monotonic()

    def __enter__(self) -> ClusterExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pending(self) -> int:
        """Tasks submitted and not yet yielded."""
        return len(self._waiting) + len(self._sent) + len(self._arrived)

    @property
    def ready(self) -> bool:
        """Whether the outcome of the next task to be yielded is here."""
        while not self._arrived and self._listen(0.0):
            pass
        return bool(self._arrived)

    def submit(self, task: Task) -> None:
        """Queue a task."""
        if self._stopped:
            raise RuntimeError("the executor was stopped")
        self._waiting.append(task)
        with self._errors_kept():
            self._feed()

    def finished(self) -> Iterator[tuple[Task, Outcome]]:
        """Yield tasks in the order in which their outcomes arrive.

        Raises
        ------
        ClusterError
            If the cluster, or a node of it, can't go on; what was yielded before stands.
        """
        while (self.pending or self._error) and not self._stopped:
            if self._arrived:
                yield self._arrived.popleft()
            elif self._error is not None:
                raise self._error
            else:
                self._listen(1.0)

    def stop(self) -> None:
        """Drop what is pending and cancel what runs."""
        self._stopped = True
        self._waiting.clear()
        self._arrived.clear()
        if self._sent:
            self._sent.clear()
            with contextlib.suppress(ClusterError):
                self._cluster.send("drop")

    @contextlib.contextmanager
    def _errors_kept(self) -> Iterator[None]:
        """Keep an error for whoever waits for outcomes, who takes those that are here first."""
        try:
            yield
        except ClusterError as error:
            self._error = error

    def _listen(self, seconds: float) -> bool:
        """Take one message, if one comes within so many seconds, and keep the cluster busy."""
        if self._error is not None:
            return False
        message = None
        with self._errors_kept():
            message = self._cluster.receive(seconds)
            if message is not None:
                self._take(message)
            self._look_for_nodes()
            self._feed()
        return message is not None

    @property
    def _nodes(self) -> list[Node]:
        return [node for node in self._cluster.nodes if node.id not in self._gone]

    def _feed(self) -> None:
        """Keep the cluster busy, and what is sent to it few."""
        while self._waiting and self._nodes and not self._stopped:
            load = sum(sent.share for sent in self._sent.values())
            if self._sent and (self._alone or load >= _AHEAD):
                return
            task = self._waiting.popleft()
            demand, share = self._demand(task)
            try:
                payload = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
            except Exception as error:
                self._arrived.append((task, unsent(error)))
                continue
            number = self._cluster.new_number()
            call = (payload, self._ground(task), self._identity(task), self._cluster.terms)
            self._cluster.send("run", number, call, demand)
            self._sent[number] = _Sent(task, demand, share)

    def _demand(self, task: Task) -> tuple[Demand, float]:
        """What to ask for, and which share of the cluster that is.

        Threads and memory are capped at what the largest node has: there the trial is as little
        alone, or as short of memory, as it would be with local workers.
        """
        nodes = [node for node in self._nodes if node.gpus or not task.gpu]
        if not nodes:
            raise ClusterError(f"{task.experiment} needs a GPU, and no node of the cluster has one")
        asked = Demand(float(task.threads), float(int(task.memory_gb * 2**30)), float(task.gpu))
        largest = max(nodes, key=lambda node: (node.cpus, node.memory, node.address))
        if self._alone:
            node = next((node for node in nodes if node.id == self._node), largest)
            self._node = node.id
            return Demand(node.cpus, min(asked.memory, node.memory), asked.gpus, node.id), 1.0
        if not any(asked.fits(node) for node in nodes):
            memory = min(asked.memory, largest.memory)
            asked = Demand(min(asked.cpus, largest.cpus), memory, asked.gpus)
        shares = [
            amount / sum(getattr(node, name) for node in nodes)
            for name in ("cpus", "memory", "gpus")
            if (amount := getattr(asked, name))
        ]
        return asked, max(shares)

    def _ground(self, task: Task) -> str:
        made = [(arm.make, arm.own) for arm in task.arms]
        rests_on = repr((task.target, task.prepare, task.dataset, made))
        if rests_on not in self._grounds:
            self._grounds[rests_on] = ""
            # Of a trial that does not exist, for instance, it can't be told: it fails on its node.
            with contextlib.suppress(Exception):
                self._grounds[rests_on] = ground(task)
        return self._grounds[rests_on]

    def _identity(self, task: Task) -> str:
        if task.prepared is None:
            return ""
        folder = task.prepared.parent
        if folder not in self._identities:
            self._identities[folder] = identity_of(folder)
        return self._identities[folder]

    def _look_for_nodes(self) -> None:
        if self._nodes:
            self._nodes_seen = time.monotonic()
        elif time.monotonic() - self._nodes_seen > _SECONDS_WITHOUT_NODES:
            raise ClusterError(f"the cluster {self._cluster.address} has no node to run trials on")

    def _take(self, message: tuple[Any, ...]) -> None:
        """Do what a message of the broker asks for."""
        if message[0] == "nodes":
            self._call_back()
            return
        kind, number, said = message
        sent = self._sent.pop(number, None)
        if sent is None:
            return  # of an executor that was stopped
        if kind == "refused":
            self._gone.add(sent.demand.node)
            self._waiting.appendleft(sent.task)
            return
        if kind == "lost":
            self._lost(sent, said)
            return
        if kind == "killed":
            outcome = Outcome("out of memory", message=said, transient=True)
        else:
            outcome = pickle.loads(said)
            if isinstance(outcome, Unfit):
                raise ClusterError(outcome.why)
            assert isinstance(outcome, Outcome)
        self._arrived.append((sent.task, outcome))

    def _lost(self, sent: _Sent, why: str) -> None:
        """Have a trial run again that went with its node."""
        task = sent.task
        self._waiting.appendleft(task)
        if sent.dropped:
            return
        losses = self._losses[task.key, task.attempt] = (
            self._losses.get((task.key, task.attempt), 0) + 1
        )
        if losses >= _MOST_LOSSES:
            raise ClusterError(
                f"a trial of {task.experiment} (arm {task.arm}, replicate {task.replicate}) was "
                f"lost {losses} times with the process that ran it ({why})"
            )

    def _call_back(self) -> None:
        """Cancel what waits for a node that is gone; Ray would wait for it to come back."""
        for number, sent in self._sent.items():
            if not sent.dropped and not any(sent.demand.fits(node) for node in self._nodes):
                sent.dropped = True
                self._cluster.send("cancel", number)
