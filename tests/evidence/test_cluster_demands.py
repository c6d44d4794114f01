"""What a cluster is asked for, and what is said when it can't be had; no Ray is started."""

from __future__ import annotations

import json
import pickle
import socket
import sys
import time
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fates import task

from probatum import api
from probatum.cli import main
from probatum.evidence import broker
from probatum.evidence import cluster as module
from probatum.evidence import node as on_node
from probatum.evidence.broker import Node
from probatum.evidence.cluster import Cluster, ClusterError
from probatum.evidence.trial import Outcome, Task

pytestmark = pytest.mark.usefixtures("ray")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": ["9.9", 1]}, "this run is one of 9.9: install the same version there"),
        ({"extras": ["far-fetched"]}, "lacks an extra: pip install 'probatum[far-fetched]'"),
    ],
)
def test_unfit_nodes_say_why(
    change: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_node, "missing_distributions", lambda extra: ["far"])
    terms = json.dumps({**json.loads(on_node.terms_here()), **change}).encode()
    answer = pickle.loads(on_node.run_on_node(pickle.dumps(task("ok")), "", "", terms))
    assert isinstance(answer, on_node.Unfit)
    assert said in answer.why


class _Absent(Exception):
    remedy = "fetch it"


def test_a_node_without_the_data_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(task: Task) -> str:
        raise _Absent("moon data are not available: set PROBATUM_DATA")

    monkeypatch.setattr(on_node, "ground", absent)
    called = pickle.dumps(task("ok")), "that of the run", "", on_node.terms_here()
    answer = pickle.loads(on_node.run_on_node(*called))
    said = f"node {socket.gethostname()} lacks data: moon data are not available: set PROBATUM_DATA"
    assert answer == on_node.Unfit(said)


def test_no_gpu_is_said_before_anything_is_sent() -> None:
    bare = Cluster("127.0.0.1:1")
    bare.nodes = [Node("a", "127.0.0.1", 4.0, 2.0**33, 0.0)]
    executor = bare.executor(False)
    executor.submit(task("ok", gpu=True))
    with pytest.raises(ClusterError, match="test/executors needs a GPU, and no node"):
        list(executor.finished())


def test_what_a_trial_asks_for_fits_the_nodes_there_are() -> None:
    mixed = Cluster("127.0.0.1:1")
    mixed.nodes = [Node("a", "a", 8.0, 2.0**33, 0.0), Node("b", "b", 2.0, 2.0**36, 1.0)]
    executor = mixed.executor(False)
    demand, share = executor._demand(task("ok", threads=2, memory_gb=32.0))
    assert (demand.cpus, demand.memory) == (2.0, 2.0**35)
    assert share == pytest.approx(2.0**35 / (2.0**33 + 2.0**36))
    demand, _ = executor._demand(task("ok", threads=16, memory_gb=32.0))
    assert (demand.cpus, demand.memory) == (8.0, 2.0**33)
    demand, share = executor._demand(task("ok", gpu=True))
    assert (demand.cpus, demand.gpus, share) == (1.0, 1.0, 1.0)
    demand, share = mixed.executor(True)._demand(task("ok", gpu=True))
    assert (demand.node, demand.cpus, demand.gpus) == ("b", 2.0, 1.0)


class _Scripted(Cluster):
    """A cluster of which only the messages are there."""

    def __init__(self, *messages: Any) -> None:
        super().__init__("127.0.0.1:1")
        self.nodes = [Node("a", "127.0.0.1", 4.0, 2.0**35, 0.0)]
        self.messages = list(messages)

    def send(self, *message: Any) -> None:
        assert message[0] == "run"

    def receive(self, seconds: float) -> tuple[Any, ...] | None:
        message = self.messages.pop(0) if self.messages else None
        if isinstance(message, Exception):
            raise message
        return message  # type: ignore[no-any-return]


def test_what_has_arrived_is_yielded_before_an_error_ends_the_run() -> None:
    well = pickle.dumps(Outcome("ok"))
    scripted = _Scripted(("done", 1, well), None, ("done", 3, well), ClusterError("it broke"))
    executor = scripted.executor(False)
    for key in "abc":
        executor.submit(task("ok", key))
    seen = executor.finished()
    assert next(seen)[0].key == "a"
    assert not executor.ready
    assert executor.ready
    assert next(seen)[0].key == "c"
    assert not executor.ready
    with pytest.raises(ClusterError, match="it broke"):
        next(seen)


def test_an_unfit_node_ends_the_run_though_nothing_is_pending() -> None:
    scripted = _Scripted(("done", 1, pickle.dumps(on_node.Unfit("node n has other code"))))
    executor = scripted.executor(False)
    executor.submit(task("ok"))
    with pytest.raises(ClusterError, match="node n has other code"):
        list(executor.finished())


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_an_address_where_nobody_answers_is_said_at_once(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    address, store = f"127.0.0.1:{_free_port()}", str(tmp_path / "e.db")
    began = time.monotonic()
    code = main(["check", "linear-fractional", "--cluster", address, "--store", store])
    assert code == 3
    assert time.monotonic() - began < 10
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith(f"probatum: no Ray cluster answers at {address}: ")
    assert said.endswith("Connection refused")


def test_an_address_where_somebody_else_answers_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_SECONDS_TO_JOIN", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Ray cluster answers at {address} within 3 s"):
            Cluster(address).__enter__()


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("", "Failed to connect (if it asks for a token, set RAY_AUTH_MODE=token)"),
        ("token", "Failed to connect"),
    ],
)
def test_a_cluster_that_cannot_be_joined_may_want_a_token(
    mode: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: object) -> None:
        raise ConnectionError("Failed to connect\nand much more")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init))  # type: ignore[arg-type]
    monkeypatch.setenv("RAY_AUTH_MODE", mode)
    ours, theirs = Pipe()
    broker._connected(theirs, "10.0.0.1:6379", "")
    assert ours.recv() == ("broken", said)


@pytest.mark.parametrize("address", ["", "head", "ray://head:10001", "head:port"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ClusterError, match=r"address of a cluster|no Ray cluster answers"):
        Cluster(address).__enter__()


def test_misuse_and_a_missing_ray_end_with_one_line(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ["check", "linear-fractional", "--store", str(tmp_path / "e.db"), "--cluster", "auto"]
    assert main([*check, "--jobs", "2"]) == 2
    assert main([*check, "--plan"]) == 2
    monkeypatch.setitem(sys.modules, "ray", None)  # type: ignore[arg-type]
    assert main(check) == 3
    assert capfd.readouterr().err.splitlines() == [
        "probatum: --jobs is for this machine: leave out --cluster, or it",
        "probatum: --plan runs nothing: leave out --cluster, or it",
        "probatum: a cluster needs an extra: pip install 'probatum[cluster]'",
    ]
    with pytest.raises(ValueError, match="jobs is for this machine"):
        api.check("linear-fractional", jobs=2, cluster="auto")
    with pytest.raises(TypeError, match="cluster must be a str"):
        api.check("linear-fractional", cluster=8)  # type: ignore[arg-type]
