"""Plans: what a run would need, before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from trials_for_engine import arm, dataset, experiment, paper, selection

from probatum.evidence import Budget, Claim, Metric, Paper, Rate, Stat, Within
from probatum.evidence.decide import floor
from probatum.evidence.plan import ExperimentPlan, plan
from probatum.evidence.procedures import ALPHA, Region, floor_of_rate
from probatum.evidence.run import execute
from probatum.evidence.shipped import read_sidecar, ship
from probatum.evidence.store import Store

BUDGETS = {
    "quick": Budget(20, {"n": (1, 2)}, memory_gb=2),
    "standard": Budget(30, {"n": (1, 2)}),
    "full": Budget(300, {"n": (9,)}),
}
ARMS = (arm("a", "method", mean=1.0), arm("b", mean=0.0))
OF = experiment(ARMS, budgets=BUDGETS)
# Too close to call, so that every replicate runs.
EDGE = Within(Stat("m"), "a", to=("b",), low=1.0)


def toy(of: object = OF, procedure: str = "t") -> Paper:
    return paper(Claim("c", "It is.", "paper", of, EDGE, procedure=procedure))  # type: ignore[arg-type]


def test_a_plan_counts_what_is_missing(store: Store) -> None:
    (before,) = plan(selection(toy()), store=store, jobs=3)
    assert (before.paper, before.experiment, before.claims) == ("toy", "e", ("c",))
    assert (before.replicates, before.trials, before.stored) == (20, 80, 0)
    assert before.seconds is None
    assert before.memory_gb == 6
    assert 0 < before.disk_mb < 1
    assert not before.notes
    execute(selection(toy()), store=store, jobs=0)
    (after,) = plan(selection(toy()), store=store)
    assert (after.stored, after.seconds, after.disk_mb) == (80, 0, 0)
    (more,) = plan(selection(toy()), store=store, profile="standard")
    assert (more.trials, more.stored) == (120, 80)
    # Sizes are tuples in the catalog and lists in the store.
    assert 0 < more.seconds < 5
    (other,) = plan(selection(toy()), store=store, profile="full")
    assert (other.stored, other.seconds) == (0, None)


def test_times_come_from_shipped_evidence_where_the_store_has_none(
    store: Store, tmp_path: Path
) -> None:
    ship(execute(selection(toy()), store=store, jobs=0, profile="standard").runs, store, tmp_path)
    sidecars = {"toy": read_sidecar("toy", tmp_path)}
    with Store("sqlite://") as empty:
        (found,) = plan(selection(toy()), store=empty, profile="standard", sidecars=sidecars)
        assert found.stored == 0
        assert found.seconds is not None
        (other,) = plan(selection(toy()), store=empty, profile="full", sidecars=sidecars)
        assert other.seconds is None


def test_a_claim_that_the_budget_cannot_decide_is_noted(store: Store) -> None:
    scores = replace(OF, metrics={"m": Metric("higher", (-1, 1))})
    near = replace(EDGE, low=-0.02)
    claim = Claim("near", "It is.", "paper", scores, near, procedure="exact")
    (found,) = plan(selection(paper(claim)), store=store)
    assert found.notes[0].startswith("near needs at least 4")
    (enough,) = plan(selection(paper(claim)), store=store, replicates=1000)
    assert not enough.notes
    with pytest.raises(ValueError, match="20 replicates can't decide toy/near"):
        plan(selection(paper(claim)), store=store, replicates=20)


def test_exclusive_trials_use_one_worker(store: Store) -> None:
    (found,) = plan(selection(toy(replace(OF, exclusive=True))), store=store, jobs=8)
    assert (found.trials, found.memory_gb) == (40, 2)
    once = replace(OF, source="deterministic", datasets=(dataset("d"),))
    (found,) = plan(selection(toy(once)), store=store, jobs=8)
    assert (found.replicates, found.trials) == (1, 2)


def test_a_rate_says_how_many_tries_it_needs(store: Store) -> None:
    counted = experiment(
        (arm("good", "method", rate=0.95),), "counts", metrics={"hit": Metric("higher")}
    )
    rate = Rate("hit", "good", low=0.8, independent=True)
    of = paper(Claim("often", "It is.", "paper", counted, rate))
    (entry,) = plan(selection(of), store=store)
    assert entry.notes == (
        f"often needs at least {floor_of_rate(Region(low=0.8))} tries over all replicates",
    )


def test_seconds_are_those_of_what_is_missing_over_the_workers(
    store: Store, tmp_path: Path
) -> None:
    cells = {"one": {"seconds": 1.0}, "two": {"seconds": 4.0}}
    sidecars = {"toy": {"e": {"cells": cells, "size": {"n": [1, 2]}}}}

    def planned(jobs: int) -> ExperimentPlan:
        return plan(selection(toy()), store=store, sidecars=sidecars, jobs=jobs)[0]

    # Eighty trials of two and a half seconds, of 1200 bytes each.
    assert [planned(jobs).seconds for jobs in (0, 1, 2, 4)] == [200.0, 200.0, 100.0, 50.0]
    assert [planned(jobs).memory_gb for jobs in (0, 1, 2, 4)] == [2, 2, 4, 8]
    assert planned(1).disk_mb == 0.096
    (alone,) = plan(selection(toy()), store=store, sidecars=sidecars)
    assert (alone.seconds, alone.memory_gb) == (200.0, 2)
    (other,) = plan(selection(toy(replace(OF, id="other"))), store=store, sidecars=sidecars)
    assert other.seconds is None
    single = toy(replace(OF, datasets=OF.datasets[:1]))
    (small,) = plan(selection(single), store=store, replicates=11)
    assert (small.trials, small.disk_mb) == (22, 0.026)


def test_a_budget_that_just_does_is_not_noted(store: Store) -> None:
    claim = Claim("near", "It is.", "paper", OF, EDGE)
    least = floor(claim, ALPHA)
    (found,) = plan(selection(paper(claim)), store=store, replicates=least)
    assert (found.notes, found.trials) == ((), 4 * least)
