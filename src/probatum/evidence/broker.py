"""The process that talks to Ray, beside the run.

A driver of Ray takes over signals, prints, waits for minutes for an address that nobody answers at,
and is aborted when its cluster goes. Here all that happens to a process of its own, which the run
can give up on. It is told what to run and says what came of it, over a pipe:

======================================  ===========================================================
to the broker                           from the broker
======================================  ===========================================================
``("run", number, call, demand)``       ``("nodes", [Node, ...])`` at first, and when they change
``("cancel", number)``                  ``("done", number, bytes)``
``("drop",)``: cancel all               ``("lost", number, why)``: with its node, or cancelled
``("end",)``                            ``("refused", number, why)``: the node named is not there
..                                      ``("killed", number, why)``: the node ran out of memory
..                                      ``("broken", why)``: nothing can be run
======================================  ===========================================================
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import threading
import time
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from probatum.evidence.node import run_on_node

__all__ = ["Demand", "Node", "serve"]

# Seconds between two looks at which nodes there are.
_LOOK = 1.0
# What a trial started must be ended before Ray kills the process that could end it.
_LAST_WORDS = 3.0
_LONGEST_END = 20.0
# Results are small and kept for a moment only; Ray would take a third of the memory.
_OBJECT_STORE = 200 * 2**20
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


@dataclass(frozen=True)
class Node:
    """A node and what it has in all."""

    id: str
    address: str
    cpus: float
    memory: float
    gpus: float


@dataclass(frozen=True)
class Demand:
    """What a trial asks of a node; of a certain one, if named."""

    cpus: float
    memory: float
    gpus: float
    node: str = ""

    def fits(self, node: Node) -> bool:
        """Whether that node, when idle, has it."""
        enough = self.cpus <= node.cpus and self.memory <= node.memory and self.gpus <= node.gpus
        return enough and self.node in ("", node.id)


def serve(pipe: Any, address: str | None, scratch: str) -> None:
    """Be the broker until told to end.

    Parameters
    ----------
    pipe : multiprocessing.connection.Connection
    address : str or None
        ``HOST:PORT`` of a cluster to join; without one, a cluster is started.
    scratch : str
        Folder for the files of a cluster that is started.
    """
    # Ray's workers inherit this, and cancelling a trial takes an interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ.update(_SETTINGS)
    try:
        _connected(pipe, address, scratch)
    finally:
        # Where the run itself was killed, nobody else does it.
        shutil.rmtree(scratch, ignore_errors=True)


def _connected(pipe: Any, address: str | None, scratch: str) -> None:
    try:
        import ray

        _connect(ray, address, scratch)
        broker = _Broker(ray, pipe)
    except BaseException as error:
        why = _first_line(error)
        # Ray says the same of an address without a cluster and of one that wants a token.
        if address is not None and os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
            why += " (if it asks for a token, set RAY_AUTH_MODE=token)"
        with contextlib.suppress(OSError):
            pipe.send(("broken", why))
        return
    try:
        broker.serve()
    finally:
        watchdog = threading.Timer(_LONGEST_END, os.killpg, (0, signal.SIGKILL))
        watchdog.daemon = True
        watchdog.start()
        ray.shutdown()


def _connect(ray: Any, address: str | None, scratch: str) -> None:
    import logging

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address is not None:
        ray.init(address=address, **quiet)
        return
    ray.init(
        address="local",
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE,
        _temp_dir=scratch,
        **quiet,
    )


class _Broker:
    def __init__(self, ray: Any, pipe: Any) -> None:
        self._ray = ray
        self._pipe = pipe
        self._call = ray.remote(run_on_node)
        self._running: dict[int, Any] = {}
        self._saying: SimpleQueue[Any] = SimpleQueue()
        self._nodes: list[Node] = []
        self._looked = 0.0

    def serve(self) -> None:
        """Do as told."""
        threading.Thread(target=self._say, daemon=True).start()
        while True:
            self._look()
            try:
                if not self._pipe.poll(_LOOK):
                    continue
                what, *told = self._pipe.recv()
            except (EOFError, OSError):
                break
            if what == "run":
                self._run(*told)
            elif what == "cancel":
                self._cancel(*told)
            elif what == "drop":
                self._drop()
            elif what == "end":
                break
        self._drop()
        self._wait()

    def _say(self) -> None:
        # A thread of its own, lest one of Ray's wait for whoever reads.
        with contextlib.suppress(OSError):
            while True:
                self._pipe.send(self._saying.get())

    def _look(self) -> None:
        if time.monotonic() - self._looked < _LOOK:
            return
        self._looked = time.monotonic()
        found = []
        for node in self._ray.nodes():
            has = node["Resources"]
            if node["Alive"] and has.get("CPU", 0) > 0:
                address = node["NodeManagerAddress"]
                amounts = (has.get(name, 0.0) for name in ("CPU", "memory", "GPU"))
                found.append(Node(node["NodeID"], address, *amounts))
        found.sort(key=lambda node: node.id)
        if found != self._nodes or not self._nodes:
            self._nodes = found
            self._saying.put(("nodes", found))

    def _run(self, number: int, call: tuple[Any, ...], demand: Demand) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        options: dict[str, Any] = {"num_cpus": demand.cpus, "memory": demand.memory}
        if demand.gpus:
            options["num_gpus"] = demand.gpus
        if demand.node:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(demand.node, soft=False)
        # The run itself tries again: it knows what is a trial's fault and what is not.
        ref = self._call.options(max_retries=0, **options).remote(*call)
        self._running[number] = ref
        ref.future().add_done_callback(lambda future: self._ended(number, future))

    def _ended(self, number: int, future: Any) -> None:
        self._running.pop(number, None)
        error = future.exception()
        if error is None:
            self._saying.put(("done", number, future.result()))
        else:
            self._saying.put(_told(self._ray.exceptions, number, error))

    def _cancel(self, number: int) -> None:
        ref = self._running.get(number)
        if ref is not None:
            with contextlib.suppress(Exception):
                self._ray.cancel(ref, force=False)

    def _drop(self) -> None:
        for number in list(self._running):
            self._cancel(number)

    def _wait(self) -> None:
        running = list(self._running.values())
        if running:
            with contextlib.suppress(Exception):
                self._ray.wait(running, num_returns=len(running), timeout=_LAST_WORDS)


def _told(kinds: Any, number: int, error: BaseException) -> tuple[Any, ...]:
    """What an error of Ray says of a trial."""
    if isinstance(error, kinds.OutOfMemoryError):
        return "killed", number, "its node ran out of memory"
    if isinstance(error, kinds.TaskUnschedulableError):
        return "refused", number, type(error).__name__
    lost = (
        kinds.WorkerCrashedError,
        kinds.NodeDiedError,
        kinds.ObjectLostError,
        kinds.LocalRayletDiedError,
        kinds.TaskCancelledError,
        kinds.ActorDiedError,
        kinds.RpcError,
    )
    if isinstance(error, lost):
        return "lost", number, type(error).__name__
    said = str(error)
    if "No module named 'probatum" in said:
        return "broken", "a node can't import probatum: install the same version on all of them"
    return "broken", _last_line(error)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__


def _last_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
