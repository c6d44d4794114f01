"""Decisions: each criterion on trials of known law, inline and through the whole engine."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from trials_for_engine import arm, dataset, experiment, paper, selection

from probatum.evidence import (
    AllOf,
    Arm,
    Budget,
    Claim,
    Criterion,
    Decision,
    Every,
    Metric,
    Rate,
    Row,
    Stat,
    Within,
)
from probatum.evidence.decide import claim_alpha, control_decisions, controls, decide, floor
from probatum.evidence.measure import Evidence
from probatum.evidence.model import Experiment
from probatum.evidence.run import execute
from probatum.evidence.store import Record, Store


def decided(of: Experiment, criterion: Criterion, **changes: Any) -> Decision:
    """The decision on one claim, run inline with nothing stored beforehand."""
    claim = Claim("c", "It is.", "paper", of, criterion, **changes)
    with Store("sqlite://") as store:
        return execute(selection(paper(claim)), store=store, jobs=0).decisions[0]


def budget(replicates: int, **size: Any) -> dict[str, Budget]:
    return {"quick": Budget(replicates, size)}


CURVE = {
    "metrics": {"err": Metric("lower"), "cost": Metric("lower")},
    "budgets": budget(20, n=(10, 30, 100, 300)),
}


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-0.55, -0.45, "holds"), (-math.inf, -0.6, "fails"), (-0.5, 0.0, "undecided")],
)
def test_a_log_log_slope(low: float, high: float, verdict: str) -> None:
    of = experiment((arm("a", "method", exponent=-0.5),), "curve", **CURVE)
    found = decided(of, Within(Stat("err", "loglog"), "a", scale="absolute", low=low, high=high))
    assert found.verdict == verdict
    assert found.guarantee == "asymptotic"
    if verdict == "undecided":
        assert (found.n, found.reason) == (20, "budget spent")


def test_other_statistics_of_a_curve() -> None:
    of = experiment((arm("a", "method", exponent=-0.5), arm("b", exponent=-0.2)), "curve", **CURVE)
    cheaper = Within(Stat("err", "loglog", against="cost"), "a", scale="absolute", high=-0.2)
    assert decided(of, cheaper).verdict == "holds"
    steeper = Within(Stat("err", "loglog", tail=0.5), "a", to=("b",), high=-0.2)
    assert decided(of, steeper).verdict == "holds"
    falling = Within(Stat("err", "spearman"), "a", scale="absolute", high=-0.5)
    found = decided(of, falling)
    # All replicates give -1: a t interval would be a point.
    assert (found.verdict, "more than half of the replicates" in found.reason) == (
        "undecided",
        True,
    )
    assert decided(of, falling, procedure="exact").verdict == "holds"
    smaller = Within(Stat("err", "max"), "a", to=("b",), scale="log-ratio", low=0.2)
    assert decided(of, smaller).verdict == "holds"


GAPS = {"metrics": {"gap": Metric("lower")}}


def test_every_holds_by_enumeration_and_fails_by_one_counterexample() -> None:
    of = experiment((arm("a", "method"),), "gaps", **GAPS)
    found = decided(of, Every("gap", "a", high=0.0, at_least=60))
    assert (found.verdict, found.guarantee, found.n, found.unit) == (
        "holds",
        "enumeration",
        80,
        "cases",
    )
    assert found.level == 0
    broken = experiment((arm("a", "method", breaks=7),), "gaps", **GAPS)
    found = decided(broken, Every("gap", "a", high=0.0, at_least=60))
    assert (found.verdict, found.n) == ("fails", 80)
    assert "counterexample: gap = 0.001 > 0 at d1, replicate 7, case c2" in found.reason
    assert decided(broken, Every("gap", "a", high=0.0, slack=0.01, at_least=60)).verdict == "holds"
    assert decided(broken, Every("gap", "a", high=0.0, case="c1", at_least=20)).verdict == "holds"
    few = decided(of, Every("gap", "a", high=0.0, at_least=1000))
    assert (few.verdict, few.reason) == ("undecided", "160 of 1000 cases seen")


def test_every_does_not_hold_over_failures() -> None:
    failing = experiment((arm("a", "method", fate={3: "raises"}),), "gaps", **GAPS)
    found = decided(failing, Every("gap", "a", high=0.0, at_least=8))
    assert (found.verdict, found.failures) == ("undecided", 2)
    assert "2 trials failed or lack gap" in found.reason


HIT = {"metrics": {"m": Metric("higher"), "hit": Metric("higher", (0, 1))}}


@pytest.mark.parametrize("independent", [True, False])
@pytest.mark.parametrize(
    ("rate", "low", "verdict"),
    [(0.95, 0.8, "holds"), (0.7, 0.9, "fails"), (0.8, 0.8, "undecided")],
)
def test_rates(independent: bool, rate: float, low: float, verdict: str) -> None:
    of = experiment((arm("a", "method", rate=rate),), "counts", **HIT, budgets=budget(40))
    found = decided(of, Rate("hit", "a", low=low, independent=independent))
    assert (found.verdict, found.guarantee) == (verdict, "exact")


def test_independent_tries_need_fewer_replicates() -> None:
    of = experiment((arm("a", "method", rate=0.95),), "counts", **HIT, budgets=budget(80))
    each = decided(of, Rate("hit", "a", low=0.85, independent=True))
    shares = decided(of, Rate("hit", "a", low=0.85))
    assert (each.verdict, shares.verdict) == ("holds", "holds")
    assert each.n < shares.n


@pytest.mark.parametrize("independent", [True, False])
@pytest.mark.parametrize("how", ["fate", "silent"])
def test_a_rate_does_not_gain_by_trials_that_fail_or_say_nothing(
    independent: bool, how: str
) -> None:
    lost = range(1, 40, 2)
    settings = {"fate": dict.fromkeys(lost, "raises"), "silent": tuple(lost)}
    sly = arm("a", "method", rate=1.0, **{how: settings[how]})
    of = experiment((sly,), "counts", **HIT, budgets=budget(40))
    found = decided(of, Rate("hit", "a", low=0.9, independent=independent))
    assert found.verdict == "fails"
    assert found.effect == pytest.approx(0.5, abs=0.12)


def test_one_try_a_replicate() -> None:
    of = experiment((arm("a", "method", rate=1.0, tries=1),), "counts", **HIT, budgets=budget(100))
    assert decided(of, Rate("hit", "a", low=0.9, independent=True)).verdict == "holds"
    assert decided(of, Rate("hit", "a", low=0.9)).verdict == "holds"


def published(**tables: dict[str, float]) -> Experiment:
    arms = tuple(arm(name, table=table) for name, table in tables.items())
    return experiment(arms, "published", datasets=(dataset("d1"),), source="recorded")


def test_recorded_cases_are_described() -> None:
    of = published(a={"x": 3.0, "y": 2.0, "w": 1.0}, b={"x": 1.0, "y": 3.0, "z": 9.0})
    found = decided(of, Within(Stat("m"), "a", to=("b",), low=0.25))
    assert (found.verdict, found.guarantee, found.n, found.unit) == (
        "holds",
        "descriptive",
        2,
        "cases",
    )
    assert (found.effect, found.exceptions) == (0.5, ("d1/y",))
    nothing = published(a={"x": 1.0}, b={"y": 1.0})
    found = decided(nothing, Within(Stat("m"), "a", to=("b",), low=0.25))
    assert (found.verdict, found.reason) == ("undecided", "nothing was measured")
    assert (found.effect, found.n) == (None, 0)


def test_a_failed_table_is_not_left_out() -> None:
    arms = (
        arm("a", table={"x": 3.0}, fate={0: "raises"}),
        arm("b", table={"x": 1.0}),
    )
    of = experiment(arms, "published", datasets=(dataset("d1"),), source="recorded")
    assert decided(of, Within(Stat("m"), "a", to=("b",), low=0.25)).verdict == "undecided"
    assert decided(of, Within(Stat("m"), "b", to=("a",), low=0.25)).verdict == "undecided"


def test_a_rate_of_a_deterministic_experiment_is_a_number() -> None:
    of = experiment((arm("a", "method", rate=1.0),), "counts", **HIT, source="deterministic")
    found = decided(of, Rate("hit", "a", low=0.9))
    assert (found.verdict, found.guarantee, found.effect) == ("holds", "deterministic", 1.0)


def test_several_rivals_and_parts() -> None:
    arms = (
        arm("a", "method", mean=1.0),
        arm("b", mean=0.0),
        arm("c", mean=0.9),
        arm("d", mean=2.0),
    )
    of = experiment(arms)
    both = decided(of, Within(Stat("m"), "a", to=("b", "c"), low=-0.3))
    assert both.verdict == "holds"
    assert [p.label for p in both.parts] == ["a against b: m", "a against c: m"]
    assert both.effect == pytest.approx(0.1, abs=0.1)
    assert both.reason.startswith("a against c: m")
    above = Within(Stat("m"), "a", to=("b",), low=0.5)
    near = Within(Stat("m"), "a", scale="absolute", low=0.5, high=1.5)
    assert decided(of, AllOf((above, near))).verdict == "holds"
    lost = decided(of, AllOf((above, Within(Stat("m"), "a", to=("d",), low=0.5), near)))
    assert lost.verdict == "fails"
    assert lost.reason.startswith("a against d: m")
    assert lost.effect == pytest.approx(-1.0, abs=0.2)


def test_exceptions_lie_outside_though_the_average_holds() -> None:
    arms = (arm("a", "method", mean=1.0, on={"d2": -1.5}), arm("b", mean=0.0))
    of = experiment(arms)
    found = decided(of, Within(Stat("m"), "a", to=("b",), low=0.1))
    assert (found.verdict, found.exceptions) == ("holds", ("d2 against b",))
    each = decided(of, Within(Stat("m"), "a", to=("b",), low=0.1, over="each"))
    assert (each.verdict, each.exceptions) == ("fails", ())
    assert [p.label for p in each.parts] == ["a against b on d1: m", "a against b on d2: m"]
    fine = decided(
        replace(of, arms=(arm("a", mean=1.0), arms[1])),
        Within(Stat("m"), "a", to=("b",), low=0.1, over="each"),
    )
    assert (fine.verdict, fine.exceptions) == ("holds", ())


def test_failures_of_the_method_and_of_its_rivals() -> None:
    fate = dict.fromkeys(range(0, 20, 2), "raises")
    good, bad = arm("a", "method", mean=1.0), arm("b", mean=0.0)
    within = Within(Stat("m"), "a", to=("b",), low=0.5)
    for arms in ((arm("a", mean=1.0, fate=fate), bad), (good, arm("b", mean=0.0, fate=fate))):
        found = decided(experiment(arms), within)
        assert found.verdict == "fails"
        assert found.effect < -10
        assert found.failures
        assert "failed trials" in found.reason
        always = replace(
            arms[0], params={**arms[0].params, "fate": dict.fromkeys(range(20), "raises")}
        )
        assert decided(experiment((always, arms[1])), within).verdict != "holds"


def test_an_unbounded_metric_with_failures_never_holds() -> None:
    free = {"metrics": {"m": Metric("higher")}, "budgets": budget(40)}
    within = Within(Stat("m"), "a", to=("b",), low=0.5)
    for fate in ({2: "raises"}, {17: "raises"}):
        arms = (arm("a", "method", mean=1.0, sd=0.1, fate=fate), arm("b", mean=0.0))
        found = decided(experiment(arms, **free), within)
        if 2 in fate:
            assert (found.verdict, found.n) == ("undecided", 40)
            assert "1 replicates failed and the metric has no bounds" in found.reason
        else:
            # Decided before it failed.
            assert (found.verdict, found.n) == ("holds", 10)
    arms = (arm("a", "method", mean=-1.0, fate={2: "raises"}), arm("b", mean=0.0))
    assert decided(experiment(arms, **free), within).verdict == "fails"
    one_sided = (arm("a", "method", mean=1.0), arm("b", mean=0.0, fate={3: "raises"}))
    assert decided(experiment(one_sided, **free), within).verdict == "undecided"


def filled(of: Experiment, value: Any, n: int, skip: Any = ()) -> Evidence:
    found = Evidence(of)
    for a in of.arms:
        for d in of.datasets:
            for r in range(n):
                status = "raised" if (a.id, r) in skip else "ok"
                rows = (Row(a.id, values={"m": value(a.id, d.id, r)}),) if status == "ok" else ()
                found.add(Record("k", "toy", of.id, a.id, d.id, r, status, rows))
    return found


def test_what_came_after_the_first_decisive_look_changes_nothing() -> None:
    of = experiment(
        (arm("a", "method"), arm("b")),
        metrics={"m": Metric("higher")},
        budgets=budget(60),
    )
    claim = Claim("c", "It is.", "paper", of, Within(Stat("m"), "a", to=("b",), low=0.1))
    ours = paper(claim)

    def value(arm_id: str, data: str, r: int) -> float:
        good = 1.0 if r < 20 else -50.0
        return (good if arm_id == "a" else 0.0) + 0.01 * math.sin(r * 7.0 + len(data) + ord(arm_id))

    short = decide(ours, claim, filled(of, value, 10), 60)
    assert (short.verdict, short.n) == ("holds", 10)
    for later in (filled(of, value, 60), filled(of, value, 60, skip={("a", 30), ("b", 12)})):
        assert decide(ours, claim, later, 60) == short
    assert decide(ours, claim, filled(of, value, 60), 60, upto=9).verdict == "undecided"


@pytest.mark.parametrize("wins", [True, False])
def test_a_claim_of_several_parts_is_decided_as_a_whole(wins: bool) -> None:
    of = experiment(
        (arm("a", "method"), arm("b"), arm("c")),
        metrics={"m": Metric("higher")},
        budgets=budget(60),
    )
    sure = Within(Stat("m"), "a", to=("b",), low=0.1 if wins else 5.0)
    # Decided at the second look if at all, and never the other way.
    later = Within(Stat("m"), "a", to=("c",), low=0.1)
    claim = Claim("c", "It is.", "paper", of, AllOf((sure, later)))

    def value(arm_id: str, data: str, r: int) -> float:
        noise = 0.01 * math.sin(r * 7.0 + len(data) + ord(arm_id))
        if arm_id == "c" and r < 10:
            return noise + (1.0 if r % 2 else -1.0)
        return noise + (1.0 if arm_id == "a" else 0.0)

    ours = paper(claim)
    found = [decide(ours, claim, filled(of, value, n), 60) for n in (10, 15, 20, 30, 60)]
    assert found[-1].verdict == ("holds" if wins else "fails")
    first = next(d for d in found if d.verdict != "undecided")
    assert max(part.n for part in first.parts) == (15 if wins else 10)
    assert first.n == first.parts[first.deciding].n
    assert all(d == first for d in found[found.index(first) :])


def test_the_level_is_shared_by_the_claims_that_are_declared() -> None:
    of = experiment((arm("a", "method", mean=1.0, sd=0.5), arm("b", mean=0.0, sd=0.5)))
    sure = replace(of, id="sure", source="deterministic")
    within = Within(Stat("m"), "a", to=("b",), low=0.4)
    claims = [Claim(f"c{i}", "It is.", "paper", of, within) for i in range(4)]
    others = (
        Claim("sure", "It is.", "paper", sure, within),
        Claim("every", "It is.", "paper", of, Every("m", "a", high=60.0)),
        Claim("far", "It is.", "target", missing="a rocket"),
    )
    ours = paper(*claims, *others)
    assert claim_alpha(ours) == 0.05 / 4
    assert claim_alpha(paper(claims[0])) == 0.05
    assert claim_alpha(paper(*others)) == 0.05
    with Store("sqlite://") as store:
        alone = execute([(ours, claims[2])], store=store, jobs=0).decisions[0]
        together = execute(selection(ours), store=store, jobs=0).decisions[2]
    assert alone == together
    assert alone.level == 0.05 / 4
    with Store("sqlite://") as store:
        free = execute(selection(paper(claims[2])), store=store, jobs=0).decisions[0]
    assert free.high - free.low != alone.high - alone.low or free.n != alone.n


def test_floors() -> None:
    scores = {"metrics": {"m": Metric("higher", (0, 1)), "hit": Metric("higher", (0, 1))}}
    of = experiment((arm("a", "method"), arm("b")), **scores)

    def least(criterion: Criterion, **changes: Any) -> int:
        return floor(Claim("c", "It is.", "paper", of, criterion, **changes), 0.05)

    near = Within(Stat("m"), "a", to=("b",), low=-0.02)
    assert least(near) == 10
    assert least(near, procedure="exact") == 214
    assert least(Every("m", "a", high=1.0, at_least=500)) == 1
    assert least(Rate("hit", "a", low=0.9, independent=True)) == 1
    # Each replicate is one observation: it takes about ln(2 / 0.05) / -ln(0.9) of them.
    assert 36 <= least(Rate("hit", "a", low=0.9)) <= 80


def test_controls_stand_in_for_the_method() -> None:
    arms = (
        arm("a", "method", mean=1.0),
        arm("b", mean=0.0),
        Arm("c", "builtins:dict", "control", params={"mean": 0.0}),
        Arm("named", "builtins:dict", "control", params={"mean": 0.0}),
    )
    of = experiment(arms)
    within = Within(Stat("m"), "a", to=("b", "named"), low=0.5)
    claim = Claim("c", "It is.", "paper", of, within)
    ours = paper(claim)
    assert controls(claim) == ("c",)
    with Store("sqlite://") as store:
        report = execute(selection(ours), store=store, jobs=0)
    assert report.decisions[0].verdict == "holds"
    run = report.runs[0]
    assert report.controls()["toy/c"]["c"].verdict == "fails"
    found = control_decisions(ours, claim, run.evidence, run.target)
    assert found["c"].n == report.decisions[0].n
    with Store("sqlite://") as store:
        first = execute(selection(ours), store=store, jobs=0)
        again = execute(selection(ours), store=store, jobs=0)
    assert again.reused
    assert again.controls() == first.controls()


def test_identical_arms_and_false_claims() -> None:
    twins = (arm("a", "method", mean=0.5, sd=0.2), arm("b", mean=0.5, sd=0.2))
    for low in (0.001, 0.05):
        of = experiment(twins, budgets=budget(60))
        assert decided(of, Within(Stat("m"), "a", to=("b",), low=low)).verdict != "holds"
    shared = (
        arm("a", "method", mean=0.5, shared=1.0, sd=0.0),
        arm("b", mean=0.5, shared=1.0, sd=0.0),
    )
    found = decided(experiment(shared), Within(Stat("m"), "a", to=("b",), low=0.001))
    assert found.verdict != "holds"
    assert "more than half of the replicates share one value" in found.reason
    exact = decided(
        experiment(shared, budgets=budget(60), metrics={"m": Metric("higher", (-5.0, 5.0))}),
        Within(Stat("m"), "a", to=("b",), low=2.0),
        procedure="exact",
    )
    assert exact.verdict == "fails"
    false = experiment((arm("a", "method", mean=0.0), arm("b", mean=0.0)))
    assert decided(false, Within(Stat("m"), "a", to=("b",), low=0.5)).verdict == "fails"
