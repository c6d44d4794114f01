"""Runs that share a store, rivals that never ran, budgets that can't decide."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from trials_for_engine import HERE, arm, experiment, paper, selection

from probatum.evidence import Arm, Budget, Claim, Metric, Stat, Within
from probatum.evidence.model import Paper
from probatum.evidence.run import execute
from probatum.evidence.shipped import ship, write_index
from probatum.evidence.shipped_index import CHECKSUMS, damaged
from probatum.evidence.store import Store
from probatum.evidence.trial import Outcome, Row, Task

BETTER = Within(Stat("m"), "good", to=("poor",), low=0.5)


def toy(poor: Arm, **changes: object) -> Paper:
    of = experiment((arm("good", "method", mean=1.0), poor), **changes)
    return paper(Claim("better", "It is.", "paper", of, BETTER, analysis="As we feared."))


def test_a_rival_that_never_ran_leaves_the_claim_open(store: Store) -> None:
    crashing = arm("poor", fate=dict.fromkeys(range(20), "raises"))
    decision = execute(selection(toy(crashing)), store=store, jobs=0).decisions[0]
    assert decision.verdict == "undecided"
    assert "poor never ran" in decision.reason
    assert "failed trials, counted at the metric's bounds" in decision.reason


def test_a_rival_that_failed_once_is_compared(store: Store) -> None:
    decision = execute(selection(toy(arm("poor", fate={3: "raises"}))), store=store, jobs=0)
    assert "never ran" not in decision.decisions[0].reason


def test_the_analysis_stands_beside_a_failure(store: Store) -> None:
    decision = execute(selection(toy(arm("poor", mean=3.0))), store=store, jobs=0).decisions[0]
    assert decision.verdict == "fails"
    assert decision.reason.endswith("As we feared.")


def test_a_budget_that_can_decide_nothing_is_not_spent(store: Store) -> None:
    budgets = {"smoke": Budget(2), "standard": Budget(20)}
    of = toy(arm("poor"), budgets=budgets)
    report = execute(selection(of), store=store, jobs=0, profile="quick")
    assert not report.statuses
    assert report.decisions[0].verdict == "undecided"
    assert "10 replicates are the least" in report.decisions[0].reason
    assert execute(selection(of), store=store, jobs=0, profile="smoke").statuses["ok"] == 8


def task(attempt: int) -> Task:
    return Task(
        key="k",
        target=f"{HERE}:noisy",
        experiment="toy/e",
        arms=(arm("good"),),
        dataset=experiment((arm("good"),)).datasets[0],
        replicate=0,
        size={},
        metrics={"m": Metric("higher")},
        seconds=1.0,
        memory_gb=1.0,
        attempt=attempt,
    )


@pytest.mark.parametrize("final", [True, False])
def test_a_good_end_is_never_superseded(store: Store, final: bool) -> None:
    good = Outcome("ok", (Row("good", values={"m": 1.0}),))
    late = Outcome("crashed", message="too late", transient=True)
    assert store.add(task(1), good, paper="toy", fingerprint="f", final=True)
    assert not store.add(task(2), late, paper="toy", fingerprint="f", final=final)
    (record,) = store.records(attempts=True)
    assert (record.status, record.final) == ("ok", True)


def test_a_good_end_that_is_about_to_be_stored_is_waited_for(store_url: str) -> None:
    good = Outcome("ok", (Row("good", values={"m": 1.0}),))
    late = Outcome("crashed", transient=True)
    began, may_end = threading.Event(), threading.Event()

    with Store(store_url) as first, Store(store_url) as second, ThreadPoolExecutor(2) as pool:
        assert first.add(task(1), late, paper="toy", fingerprint="f", final=False)
        commit = first._engine.dialect.do_commit

        def do_commit(connection: Any) -> None:
            began.set()
            may_end.wait(20)
            commit(connection)

        first._engine.dialect.do_commit = do_commit
        wanted = {"paper": "toy", "fingerprint": "f", "final": True}
        earlier = pool.submit(first.add, task(2), good, **wanted)
        assert began.wait(20)
        later = pool.submit(second.add, task(3), late, **wanted)
        time.sleep(0.3)
        may_end.set()
        assert (earlier.result(), later.result()) == (True, False)
        kept = [(r.attempt, r.status, r.final) for r in second.records(attempts=True)]
    assert kept == [(1, "crashed", False), (2, "ok", True)]


def test_two_runs_on_one_store_share_their_trials(store_url: str) -> None:
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_run_together import toy
        from trials_for_engine import arm, selection
        from probatum.evidence.run import execute
        from probatum.evidence.store import Store
        with Store({store_url!r}) as store:
            report = execute(selection(toy(arm("poor"))), store=store, jobs=1)
            print(report.decisions[0].verdict, report.decisions[0].n)
        """
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert said[0] == said[1] != ""
    with Store(store_url) as store:
        records = list(store.records(attempts=True))
    # A trial that both had begun is run twice and stored once.
    assert len(records) == len({record.key for record in records})
    assert all(record.final for record in records)


def test_a_long_temporary_folder_does_not_stop_the_workers(tmp_path: Path) -> None:
    folder = tmp_path / ("long-" * 20)
    folder.mkdir()
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_run_together import toy
        from trials_for_engine import arm, selection
        from probatum.evidence.run import execute
        from probatum.evidence.store import Store
        with Store({f"sqlite:///{tmp_path}/long.db"!r}) as store:
            print(execute(selection(toy(arm("poor"))), store=store, jobs=1).statuses["ok"])
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_shipped_files_that_changed_are_named(store: Store, tmp_path: Path) -> None:
    of = toy(arm("poor"), budgets={"standard": Budget(10)})
    report = execute(selection(of), store=store, jobs=0, profile="standard")
    folder = tmp_path / "shipped"
    ship(report.runs, store, folder)
    write_index([of], folder)
    assert damaged(folder) == []
    table = folder / "toy.csv"
    kept = table.read_text()
    table.write_text(kept.replace("0.", "1.", 1))
    assert damaged(folder) == ["toy.csv"]
    table.unlink()
    assert damaged(folder) == ["toy.csv"]
    table.write_text(kept)
    (folder / "index.json").unlink()
    assert damaged(folder) == ["index.json"]
    (folder / CHECKSUMS).unlink()
    assert damaged(folder) == ["toy.csv", "toy.json"]
