"""A cluster: two nodes on this machine, and whatever can go wrong with nodes and connections."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from fates import FATES, task
from trials_for_engine import arm, experiment, paper, selection

from probatum.cli import main
from probatum.evidence import Budget, Claim, Metric, Paper, Stat, Within
from probatum.evidence import cluster as module
from probatum.evidence.broker import Node
from probatum.evidence.cluster import Cluster, ClusterError, ClusterExecutor
from probatum.evidence.executors import Executor
from probatum.evidence.run import RunReport, execute
from probatum.evidence.store import Store, environment
from probatum.evidence.trial import Outcome, Task

HERE = Path(__file__).parent
TRIALS = "trials_for_cluster"

pytestmark = pytest.mark.usefixtures("ray")


@dataclass
class Nodes:
    """A cluster with a head and one more node, of one processor each; ``add`` brings another."""

    ray: Any
    caches: list[Path] = field(default_factory=list)

    @property
    def address(self) -> str:
        return str(self.ray.address)

    def add(self, cache: Path, **settings: Any) -> Any:
        """Another node, whose cache is not that of the others."""
        self.caches.append(cache)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(cache))
            patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
            room = {"memory": 3 * 2**30, "object_store_memory": 80 * 2**20}
            return self.ray.add_node(**{"num_cpus": 1, **room, **settings})


@pytest.fixture(scope="module")
def nodes(ray: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    from ray.cluster_utils import Cluster as RayCluster

    # Not in pytest's folder: there are sockets in it, whose paths must be short.
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        started = Nodes(RayCluster())
        started.add(tmp_path_factory.mktemp("head"), include_dashboard=False, temp_dir=folder)
        started.add(tmp_path_factory.mktemp("other"), num_gpus=1)
        yield started
        started.ray.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes: Nodes) -> Iterator[Cluster]:
    with Cluster(nodes.address) as connected:
        until = time.monotonic() + 20
        while len(connected.nodes) < 2 and time.monotonic() < until:
            connected.receive(1.0)
        yield connected


def run(executor: Executor, *tasks: Task) -> dict[str, tuple[Task, Outcome]]:
    for one in tasks:
        executor.submit(one)
    return {done.key: (done, outcome) for done, outcome in executor.finished()}


def of_cluster(trial: str, key: str = "", **changes: Any) -> Task:
    return replace(task(trial, key, **changes), target=f"{TRIALS}:{trial}")


def toy(folder: Path, seconds: float = 20, **changes: Any) -> Paper:
    """Two claims on arms that crash, raise and pass through trouble; a folder per data set."""
    fate = {3: "segfaults", 5: "raises"}
    arms = (
        arm("good", "method", mean=0.5, sd=0.3),
        arm("frail", sd=0.3, fate=fate, trouble=[8]),
        arm("near", mean=0.3, sd=0.3),
    )
    size = {"log": str(folder / "log"), "sleep": 0.02}
    settings: dict[str, Any] = {
        "metrics": {"m": Metric("higher", (-4.0, 4.0))},
        "budgets": {"quick": Budget(20, size, seconds=seconds, memory_gb=1)},
        "prepare": "trials_for_engine:prepare",
        **changes,
    }
    scores = replace(experiment(arms, **settings), trial=f"{TRIALS}:drowsily")
    return paper(
        Claim("early", "It is.", "paper", scores, Within(Stat("m"), "good", ("near",), low=-0.6)),
        Claim("false", "It is.", "paper", scores, Within(Stat("m"), "good", ("frail",), low=2.0)),
        Claim("late", "It is.", "paper", scores, Within(Stat("m"), "good", ("near",), low=0.15)),
    )


def ran(of: Paper, folder: Path, name: str, **settings: Any) -> tuple[RunReport, list[Any]]:
    """What a run decided, and what its store holds after it."""
    with Store(f"sqlite:///{folder}/{name}/e.db") as store:
        report = execute(selection(of), store=store, **settings)
        kept = sorted(store.records(attempts=True), key=lambda r: (r.key, r.attempt))
    return report, [(r.key, r.attempt, r.final, r.status, r.rows) for r in kept]


def _alive(pids: list[int]) -> list[int]:
    return [
        pid
        for pid in pids
        if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]


def _awaited(so: Callable[[], bool], within: float) -> bool:
    until = time.monotonic() + within
    while not so() and time.monotonic() < until:
        time.sleep(0.05)
    return so()


def _gone(pids: list[int], within: float) -> bool:
    return _awaited(lambda: not _alive(pids), within)


LONG = """
    import sys
    sys.path.insert(0, {here!r})
    from dataclasses import replace
    from fates import task
    from probatum.cli.exits import terminable
    from probatum.evidence.cluster import Cluster

    with terminable() as seen, Cluster({address!r}) as cluster, cluster.executor(False) as executor:
        executor.submit(task("starts_a_child", size={{"file": {file!r}}}))
        executor.submit(task("hangs_in_c"))
        list(executor.finished())
"""


def _started(address: str, file: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    """A run in the middle of its trials; its process, and all that live because of it."""
    script = textwrap.dedent(LONG).format(here=str(HERE), address=address, file=str(file))
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 90
    while len(said := file.read_text().split() if file.exists() else []) < 2:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    children = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    return process, [*children, *(int(pid) for pid in said)]


# --- without a cluster: these come first, as `auto` would join that of the others ----------------


def test_the_command_brings_a_cluster_of_its_own(
    ray: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    question = ["check", "linear-fractional/threshold-form", "--profile", "smoke"]
    question += ["--json", "--quiet", "--store"]
    ended = subprocess.run(
        [sys.executable, "-m", "probatum", *question, f"{tmp_path}/there.db", "--cluster", "auto"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert main([*question, f"{tmp_path}/here.db", "--jobs", "0"]) == 0
    decisions = [json.loads(out)["decisions"] for out in (ended.stdout, capfd.readouterr().out)]
    assert decisions[0] == decisions[1]
    assert (decisions[0][0]["verdict"], decisions[0][0]["failures"]) == ("holds", 0)


def test_a_cluster_of_its_own_ends_with_a_killed_run(ray: None, tmp_path: Path) -> None:
    process, others = _started("auto", tmp_path / "pids")
    process.kill()
    process.wait(timeout=20)
    assert _gone(others, within=20)


# --- on a cluster ------------------------------------------------------------------------------


def test_decisions_and_trials_are_those_of_local_workers(cluster: Cluster, tmp_path: Path) -> None:
    of = toy(tmp_path)
    local, expected = ran(of, tmp_path, "local", jobs=2)
    there, rows = ran(of, tmp_path, "cluster", executors=cluster.executor)
    assert there.decisions == local.decisions
    assert [d.verdict for d in local.decisions] == ["holds", "fails", "undecided"]
    assert rows == expected
    assert {row[3] for row in rows} == {"ok", "crashed", "raised"}
    # Nodes see the driver's folder: each was prepared once here, once there.
    assert sorted((tmp_path / "log").read_text().split("\n")) == ["", *["d1 0"] * 2, *["d2 0"] * 2]
    assert len([p for p in (tmp_path / "cluster/prepared").iterdir() if p.is_dir()]) == 2


def test_each_fate_is_that_of_local_workers(cluster: Cluster) -> None:
    tasks = [task(t, seconds=1.5 if "hangs" in t else 60.0, memory_gb=0.2) for t in FATES]
    with cluster.executor(False) as executor:
        found = run(executor, *tasks)
    for trial, (status, message, transient) in FATES.items():
        outcome = found[trial][1]
        assert (outcome.status, outcome.transient) == (status, transient), outcome
        assert message in outcome.message
        assert bool(outcome.rows) is (status == "ok")
    assert "trials_for_executors.py" in found["hangs_in_c"][1].traceback


def test_what_a_trial_is_given(cluster: Cluster) -> None:
    unsendable = replace(task("ok", "unsendable"), size={"made here": lambda: 1})
    with cluster.executor(False) as executor:
        found = run(
            executor,
            of_cluster("sees_gpus", gpu=True),
            # More than any node has is as much as one has.
            task("threads", "two", threads=2, memory_gb=500.0),
            task("many_rows"),
            unsendable,
        )
    assert found["sees_gpus"][1].rows[0].values["m"] == 0.0
    assert found["two"][1].rows[0].values["m"] == 2.0
    assert len(found["many_rows"][1].rows) == 100_000
    assert "cannot be sent to a worker" in found["unsendable"][1].message
    # Both nodes are this machine, and say so themselves.
    assert found["two"][1].environment == environment()


def test_little_is_sent_ahead(cluster: Cluster) -> None:
    with cluster.executor(False) as executor:
        for i in range(300):
            executor.submit(task("ok", str(i), replicate=i))
        sent = [len(executor._sent) for _ in executor.finished()]
    assert len(sent) == 300
    assert max(sent) <= 4


def test_timings_have_a_node_to_themselves(cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "when"
    with cluster.executor(False) as beside, cluster.executor(True) as executor:
        # What was sent before ends first: it keeps a processor of one node or the other.
        beside.submit(of_cluster("says_when", "beside", size={"file": str(log)}))
        tasks = [of_cluster("says_when", str(i), size={"file": str(log)}) for i in range(4)]
        for one in tasks:
            executor.submit(one)
        assert len(executor._sent) == 1
        (sent,) = executor._sent.values()
        assert sent.demand.cpus == next(n.cpus for n in cluster.nodes if n.id == sent.demand.node)
        assert [outcome.status for _, outcome in executor.finished()] == ["ok"] * 4
    lines = [line.split() for line in log.read_text().splitlines()]
    home = max({line[0] for line in lines}, key=[line[0] for line in lines].count)
    there = sorted((float(b), float(e)) for node, b, e in lines if node == home)
    assert len(there) >= 4
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(there))


def test_timings_leave_a_node_that_is_gone(cluster: Cluster) -> None:
    """Ray lists a node for some seconds after its death."""
    present = cluster.nodes
    cluster.nodes = [*present, Node("a1" * 28, "127.0.0.9", 64.0, 2.0**36, 1.0)]
    try:
        with cluster.executor(True) as executor:
            found = run(executor, task("ok", "first"), task("ok", "second"))
    finally:
        cluster.nodes = present
    assert {(done.attempt, outcome.status) for done, outcome in found.values()} == {(1, "ok")}


def test_nodes_that_see_no_common_folder_prepare_their_own_once(
    nodes: Nodes, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "identity_of", lambda folder: "of another disk")
    of = toy(tmp_path)
    local, expected = ran(of, tmp_path, "local", jobs=2)
    (tmp_path / "log").unlink()
    there, rows = ran(of, tmp_path, "cluster", executors=cluster.executor)
    assert there.decisions == local.decisions
    assert rows == expected
    made = (tmp_path / "log").read_text().split("\n")[:-1]
    folders = [
        folder
        for cache in nodes.caches[:2]
        for folder in cache.glob("probatum/cluster/prepared/*")
        if folder.is_dir()
    ]
    assert not any(folder.name.startswith(".") for folder in folders)
    assert len(made) == len(folders)
    assert {made.count("d1 0"), made.count("d2 0")} <= {1, 2}
    assert not (tmp_path / "cluster/prepared").exists()


def test_a_folder_that_cannot_be_prepared_fails_alike(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "identity_of", lambda folder: "of another disk")
    size = {"log": str(tmp_path / "log"), "sleep": 0.0, "prepare": "raises"}
    of = toy(tmp_path, budgets={"quick": Budget(10, size, seconds=20, memory_gb=1)})
    local, expected = ran(of, tmp_path, "local", jobs=2)
    there, rows = ran(of, tmp_path, "cluster", executors=cluster.executor)
    assert rows == expected
    assert there.decisions == local.decisions


def test_a_trial_lost_with_its_process_keeps_its_attempts(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_LOSSES", 2)
    lives = tmp_path / "lives"
    lives.write_text("1")
    with cluster.executor(False) as executor:
        found = run(executor, of_cluster("kills_what_runs_it", size={"file": str(lives)}))
        done, outcome = found["kills_what_runs_it"]
    assert (done.attempt, outcome.status, lives.read_text()) == (1, "ok", "0")
    lives.write_text("99")
    with (
        cluster.executor(False) as executor,
        pytest.raises(ClusterError, match="arm a, replicate 0\\) was lost 2 times"),
    ):
        run(executor, of_cluster("kills_what_runs_it", size={"file": str(lives)}))
    with cluster.executor(False) as executor:
        assert run(executor, task("ok"))["ok"][1].status == "ok"


def test_nodes_with_other_code_are_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ground", lambda task: "that of another version")
    with Store(f"sqlite:///{tmp_path}/e.db") as store:
        with pytest.raises(ClusterError, match=r"node \S+ has other code for trials_for_\w+"):
            execute(selection(toy(tmp_path)), store=store, executors=cluster.executor)
        assert not list(store.records())


def test_nothing_outlives_a_run_that_is_stopped(nodes: Nodes, tmp_path: Path) -> None:
    process, others = _started(nodes.address, tmp_path / "pids")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    assert _gone(others, within=20)


class _Remembering(ClusterExecutor):
    """Keeps which trials went with their node."""

    def __init__(self, cluster: Cluster, alone: bool) -> None:
        super().__init__(cluster, alone)
        self.losses: list[tuple[str, int]] = []

    def _lost(self, sent: Any, why: str) -> None:
        self.losses.append((sent.task.key, sent.task.attempt))
        super()._lost(sent, why)


def test_a_node_that_dies_changes_nothing(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = toy(tmp_path, seconds=120)
    local, expected = ran(of, tmp_path, "local", jobs=2)
    dying = tmp_path / "dying"
    monkeypatch.setenv("PROBATUM_TOY_DEATH", str(dying))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOY_DOOMED", "1")
        doomed = nodes.add(tmp_path / "cache")

    def remove() -> None:
        if _awaited(dying.exists, within=90):
            nodes.ray.remove_node(doomed, allow_graceful=False)

    used = []

    def executor(alone: bool) -> ClusterExecutor:
        used.append(_Remembering(cluster, alone))
        return used[-1]

    removing = threading.Thread(target=remove)
    removing.start()
    with Cluster(nodes.address) as cluster:
        there, rows = ran(of, tmp_path, "cluster", executors=executor)
    removing.join()
    assert used[0].losses
    assert set(used[0].losses) <= {(key, attempt) for key, attempt, *_ in rows}
    assert there.decisions == local.decisions
    assert rows == expected
    assert _gone([int(pid) for pid in dying.read_text().split()], within=20)
