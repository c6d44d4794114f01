"""Runs: what fails is a result of its own, and n depends on the evidence alone."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trials_for_engine import (
    HERE,
    arm,
    dataset,
    experiment,
    paper,
    selection,
)

from probatum.evidence import (
    AllOf,
    Budget,
    Claim,
    Dataset,
    Decision,
    Every,
    Metric,
    Paper,
    Stat,
    Within,
)
from probatum.evidence.run import RunReport, execute
from probatum.evidence.store import Store

GOOD, POOR = arm("good", "method", mean=1.0), arm("poor", mean=0.0)


def better(*, to: str = "poor", low: float = 0.5, of: Any = None, **changes: Any) -> Claim:
    of = of or experiment((GOOD, POOR), **changes)
    return Claim("better", "It is.", "paper", of, Within(Stat("m"), "good", to=(to,), low=low))


def run(of: Paper, store: Store, **settings: Any) -> RunReport:
    return execute(selection(of), store=store, **{"jobs": 0, **settings})


def attempts(store: Store, **where: object) -> list[tuple[int, str, bool]]:
    return [
        (r.attempt, r.status, r.final)
        for r in store.records(attempts=True)
        if all(getattr(r, name) == value for name, value in where.items())
    ]


FATES = ("raises", "hangs", "segfaults", "eats-memory", "nan", "unknown-metric")
ENDS = {
    "raises": ("raised", 1, "ZeroDivisionError: on purpose"),
    "hangs": ("timeout", 2, "limit of 1 s"),
    "segfaults": ("crashed", 2, "SIGSEGV"),
    "eats-memory": ("out of memory", 2, "MemoryError"),
    "nan": ("bad result", 1, "m is nan"),
    "unknown-metric": ("bad result", 1, "unknown metric 'other'"),
}


@pytest.fixture(scope="module")
def fated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, RunReport]]:
    """A finished run in which every arm but two ends in its own way."""
    of = experiment(
        (arm("ok", "method", mean=1.0), arm("poor"), *map(arm, FATES)),
        "fated",
        datasets=(dataset("d1"),),
        budgets={"quick": Budget(1, seconds=1, memory_gb=0.3)},
    )
    claims = [
        Claim(f"above-{a}", "It is.", "paper", of, Within(Stat("m"), "ok", to=(a,), low=0.1))
        for a in FATES
    ]
    with Store(f"sqlite:///{tmp_path_factory.mktemp('fates')}/e.db") as store:
        yield store, execute(selection(paper(*claims)), store=store, jobs=2)


@pytest.mark.parametrize("fate", FATES)
def test_each_way_of_failing_is_a_state_of_its_own(
    fated: tuple[Store, RunReport], fate: str
) -> None:
    store, report = fated
    status, tries, said = ENDS[fate]
    records = [r for r in store.records(attempts=True) if r.arm == fate]
    assert [r.status for r in records] == [status] * tries
    assert [(r.attempt, r.final) for r in records] == [
        (i + 1, i + 1 == tries) for i in range(tries)
    ]
    assert all(said in r.message for r in records)
    assert report.runs[0].evidence.failed[fate, "d1", 0] == status
    if status == "raised":
        assert "in _meet" in records[0].traceback
    elif status in ("timeout", "crashed"):
        assert "trials_for_engine.py" in records[0].traceback
    assert (records[-1].limit_seconds, records[-1].limit_gb) == (1.0, 0.3)
    assert records[-1].fingerprint
    assert records[-1].environment in store.environments()


def test_the_others_go_on(fated: tuple[Store, RunReport]) -> None:
    store, report = fated
    assert {a for a, _, _ in report.runs[0].evidence.rows} == {"ok", "poor"}
    assert report.statuses == {
        "ok": 2,
        "raised": 1,
        "timeout": 1,
        "crashed": 1,
        "out of memory": 1,
        "bad result": 2,
    }
    stored = Counter(record.status for record in store.records())
    assert stored == report.statuses


def test_a_transient_failure_that_goes_away_is_no_failure(store: Store, tmp_path: Path) -> None:
    flaky = arm("good", "method", mean=1.0, fate={2: f"once:{tmp_path}"})
    of = experiment((flaky, POOR), datasets=(dataset("d1"),))
    report = run(paper(better(of=of)), store, jobs=1)
    assert attempts(store, arm="good", replicate=2) == [(1, "crashed", False), (2, "ok", True)]
    assert report.statuses["crashed"] == 0
    assert report.decisions[0].failures == 0


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_timeout_is_tried_again_when_the_limit_grows(store: Store, jobs: int) -> None:
    slow = arm("good", "method", mean=1.0, fate={0: "hangs"})

    def of(seconds: float) -> Paper:
        budgets = {"quick": Budget(1, seconds=seconds, memory_gb=1)}
        return paper(
            better(of=experiment((slow,), budgets=budgets, datasets=(dataset("d1"),)), to="good")
        )

    assert run(of(0.3), store, jobs=jobs).statuses == {"timeout": 1}
    assert run(of(0.3), store, jobs=jobs).reused == 1
    assert run(of(0.2), store, jobs=jobs).reused == 1
    again = run(of(0.5), store, jobs=jobs)
    assert (again.reused, again.statuses) == (0, {"timeout": 1})
    states = [(i, "timeout", i == 4) for i in (1, 2, 3, 4)]
    assert attempts(store) == states


def test_fresh_forgets(store: Store) -> None:
    of = paper(better())
    assert sum(run(of, store).statuses.values()) == 40
    assert run(of, store).reused == 40
    report = run(of, store, fresh=True)
    assert (report.reused, sum(report.statuses.values())) == (0, 40)
    assert len(attempts(store)) == 40


def test_missing_data_are_no_result_and_the_rest_goes_on(store: Store) -> None:
    lost = arm("good", "method", mean=1.0, fate=dict.fromkeys(range(20), "absent"))
    absent = replace(better(of=experiment((lost, POOR), id="lost")), id="lost")
    fine = better()
    report = run(paper(absent, fine), store)
    assert [d.verdict for d in report.decisions] == ["untested", "holds"]
    assert "set PROBATUM_DATA" in report.decisions[0].reason
    assert report.problems == ["toy/lost: moon data are not available: set PROBATUM_DATA"]
    assert {r.arm for r in store.records() if r.experiment == "lost"} <= {"poor"}
    # Once they are there, the rest of it runs.
    found = replace(absent, experiment=experiment((GOOD, POOR), id="lost"))
    assert [d.verdict for d in run(paper(found, fine), store).decisions] == ["holds", "holds"]


def test_missing_identity_is_a_problem_of_that_experiment(store: Store, tmp_path: Path) -> None:
    mine = Dataset(
        "mine", f"{HERE}:load", "own", {"file": str(tmp_path / "no.csv")}, f"{HERE}:content"
    )
    absent = replace(better(of=experiment((GOOD, POOR), id="lost", datasets=(mine,))), id="lost")
    report = run(paper(absent, better()), store)
    assert [d.verdict for d in report.decisions] == ["untested", "holds"]
    assert report.problems == ["toy/lost: no.csv is not available"]


def test_hostile_messages_are_kept(store: Store) -> None:
    odd = arm("good", "method", mean=1.0, fate={0: "surrogate"})
    report = run(paper(better(of=experiment((odd, POOR)))), store)
    assert report.statuses["raised"] == 2
    message = next(r.message for r in store.records() if r.status == "raised")
    assert message == "ValueError: bad file name \\udc80 and \\0 in it"


def strip(decision: Decision) -> dict[str, Any]:
    return dataclasses.asdict(decision)


def test_n_depends_neither_on_jobs_nor_order_nor_other_claims(tmp_path: Path) -> None:
    arms = (arm("good", "method", mean=0.5, sd=0.5), arm("poor", sd=0.5), arm("third", sd=0.5))
    of = experiment(arms, budgets={"quick": Budget(60)})
    early = better(of=of, low=0.05)
    late = Claim(
        "late", "Too close.", "paper", of, Within(Stat("m"), "good", to=("third",), low=0.5)
    )
    found = {}
    for name, jobs, swapped, alone in (
        ("inline", 0, False, False),
        ("one", 1, False, False),
        ("two", 2, False, False),
        ("swapped", 0, True, False),
        ("alone", 0, False, True),
    ):
        order = replace(of, arms=arms[::-1]) if swapped else of
        first, second = replace(early, experiment=order), replace(late, experiment=order)
        both = paper(second, first) if swapped else paper(first, second)
        chosen = [(both, first)] if alone else selection(both)
        with Store(f"sqlite:///{tmp_path}/{name}.db") as store:
            report = execute(chosen, store=store, jobs=jobs)
            found[name] = {d.claim: strip(d) for d in report.decisions}
            # What another claim needed is there by now and changes nothing.
            again = execute([(both, first)], store=store, jobs=0)
            assert strip(again.decisions[0]) == found[name]["better"]
            assert again.reused
    assert found["inline"]["better"]["n"] < 60 == found["inline"]["late"]["n"]
    assert found["inline"] == found["one"] == found["two"] == found["swapped"]
    assert found["alone"]["better"] == found["inline"]["better"]


def test_an_equal_replicate_is_refused_and_nothing_more_is_run(store: Store) -> None:
    report = run(paper(better(of=experiment((GOOD, POOR), "same"))), store)
    assert report.decisions[0].verdict == "undecided"
    assert report.decisions[0].reason.startswith("refused: replicates 0 and 1 agree")
    assert sum(report.statuses.values()) == 5 * 2 * 2


def test_deterministic_and_recorded_experiments_run_once(store: Store) -> None:
    sure = experiment((GOOD, POOR), "same", source="deterministic")
    report = run(paper(better(of=sure)), store)
    assert sum(report.statuses.values()) == 4
    decision = report.decisions[0]
    assert (decision.verdict, decision.guarantee, decision.n) == ("holds", "deterministic", 2)
    assert decision.level == 0


def test_an_exclusive_experiment_times_arms_side_by_side(store: Store) -> None:
    arms = (arm("fast", "method", work=200), arm("slow", work=4000))
    of = experiment(
        arms,
        "timed",
        datasets=(dataset("d1"),),
        metrics={"seconds": Metric("lower")},
        exclusive=True,
    )
    fast = Within(Stat("seconds"), "fast", to=("slow",), scale="log-ratio", low=0.7)
    report = run(paper(Claim("fast", "It is.", "paper", of, fast)), store, jobs=2)
    assert report.decisions[0].verdict == "holds"
    assert {r.arm for r in store.records()} == {"*"}
    assert run(paper(Claim("fast", "It is.", "paper", of, fast)), store).reused == 10


def test_arms_of_a_block_share_one_record_and_one_fate(store: Store) -> None:
    good = arm("good", "method", mean=1.0, fate={0: "raises"})
    of = experiment((good, POOR), together=True)
    report = run(paper(better(of=of)), store)
    assert sum(report.statuses.values()) == 40
    evidence = report.runs[0].evidence
    assert evidence.failed == {(a, d, 0): "raised" for a in ("good", "poor") for d in ("d1", "d2")}
    assert report.decisions[0].failures == 4


def with_prepare(tmp_path: Path, per: str = "dataset", **size: object) -> Any:
    return experiment(
        (GOOD, POOR),
        "prepared",
        prepare=f"{HERE}:prepare",
        prepare_per=per,
        budgets={"quick": Budget(20, {"log": str(tmp_path / "log"), **size}, seconds=20)},
    )


@pytest.mark.parametrize(("per", "times", "jobs"), [("dataset", 2, 0), ("replicate", 20, 2)])
def test_what_is_prepared_is_shared_by_arms(
    store: Store, tmp_path: Path, per: str, times: int, jobs: int
) -> None:
    of = paper(better(of=with_prepare(tmp_path, per)))
    report = run(of, store, jobs=jobs)
    assert report.decisions[0].verdict == "holds"
    assert "given what prepare prepared" in report.decisions[0].reason
    log = (tmp_path / "log").read_text().splitlines()
    assert len(log) == len(set(log)) == times
    run(of, store, fresh=True)
    assert len((tmp_path / "log").read_text().splitlines()) == times


def test_a_failed_prepare_fails_its_trials_only_and_once(store: Store, tmp_path: Path) -> None:
    report = run(paper(better(of=with_prepare(tmp_path, prepare="raises"))), store)
    assert report.statuses == {"ok": 20, "raised": 20}
    failed = [r for r in store.records() if r.status == "raised"]
    assert {r.dataset for r in failed} == {"d2"}
    assert all("prepare failed: ZeroDivisionError: no set-up" in r.message for r in failed)
    assert all("in prepare" in r.traceback for r in failed)
    assert (tmp_path / "log").read_text().split().count("d2") == 1
    assert report.decisions[0].verdict == "fails"


def test_a_passing_trouble_of_prepare_is_retried(store: Store, tmp_path: Path) -> None:
    report = run(paper(better(of=with_prepare(tmp_path, prepare="once"))), store)
    assert report.statuses == {"ok": 40}
    assert report.decisions[0].verdict == "holds"


def test_a_prepare_without_its_data_is_no_result(store: Store, tmp_path: Path) -> None:
    report = run(paper(better(of=with_prepare(tmp_path, prepare="absent"))), store)
    assert report.decisions[0].verdict == "untested"
    assert "the model is not available" in report.problems[0]
    assert not list(store.records(attempts=True))


def test_a_budget_below_every_floor_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="5 replicates can't decide toy/better: it needs at"):
        run(paper(better()), store, replicates=5)
    assert not list(store.records())


def test_an_arm_that_lacks_its_rows_is_a_bad_result(store: Store) -> None:
    of = experiment((GOOD, POOR), "forgets", together=True)
    report = run(paper(better(of=of)), store)
    assert set(report.statuses) == {"bad result"}
    assert report.decisions[0].verdict == "undecided"


def test_untested_claims_are_told_and_need_nothing(store: Store) -> None:
    claim = Claim("space", "In space too.", "target", missing="a rocket")
    every = Every("m", "good", high=100.0)
    both = AllOf((every, Within(Stat("m"), "good", to=("poor",), low=0.5)))
    tested = Claim("both", "Both.", "paper", experiment((GOOD, POOR)), both)
    report = run(paper(claim, tested), store)
    assert [d.verdict for d in report.decisions] == ["untested", "holds"]
    assert report.decisions[0].reason == "needs a rocket"
    assert report.decisions[1].level == 0.05
