"""What stands behind a decision agrees with it, and with plain arithmetic on the rows."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from trials_for_engine import arm, dataset, experiment, paper, selection

from probatum.evidence import AllOf, Budget, Claim, Decision, Every, Metric, Rate, Row, Stat, Within
from probatum.evidence.detail import MOST_POINTS, Detail, claim_detail
from probatum.evidence.measure import Evidence
from probatum.evidence.run import Run, execute, open_runs
from probatum.evidence.store import Record, Store

SCORES = experiment(
    (
        arm("good", "method", mean=1.0),
        arm("poor", mean=0.5, fate={3: "raises"}),
        arm("worse", mean=0.0),
        arm("none", "control", mean=-1.0),
    ),
    datasets=(dataset("d1"), dataset("d2"), dataset("d3")),
    metrics={"m": Metric("higher", (-10, 10))},
    budgets={"quick": Budget(20, {"n": (1,)})},
)


def decided(claim: Claim, store: Store) -> tuple[Run, Decision, Detail]:
    of = paper(claim)
    run = execute(selection(of), store=store, jobs=0).runs[0]
    decision = run.decisions[claim.id]
    return run, decision, claim_detail(of, claim, run.evidence, decision, run.replicates)


def better(**changes: object) -> Claim:
    within = Within(Stat("m"), "good", to=("poor", "worse"), low=0.05)
    return Claim("better", "It is.", "paper", SCORES, replace(within, **changes))  # type: ignore[arg-type]


def test_the_average_is_the_decision_and_the_mean_of_the_data_sets(store):
    _, decision, detail = decided(better(), store)
    (part,) = detail.parts
    assert [e.rival for e in part.overall] == ["poor", "worse"]
    for whole, of in zip(part.overall, decision.parts, strict=True):
        assert (whole.effect, whole.low, whole.high) == (of.effect, of.low, of.high)
        alone = [e.effect for e in part.by_dataset if e.rival == whole.rival]
        assert len(alone) == 3
        assert math.fsum(alone) / 3 == pytest.approx(whole.effect)
    for estimate in part.by_dataset:
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < estimate.effect < estimate.high


def test_the_path_ends_where_the_decision_stands(store):
    _, decision, detail = decided(better(), store)
    for (name, looks), of in zip(detail.parts[0].path, decision.parts, strict=True):
        assert name in ("poor", "worse")
        assert [look.n for look in looks] == sorted({look.n for look in looks})
        assert (looks[-1].n, looks[-1].effect) == (of.replicates, pytest.approx(of.effect))
        assert (looks[-1].low, looks[-1].high) == pytest.approx((of.low, of.high))


def test_arms_are_compared_over_the_replicates_that_decided(store):
    run, decision, detail = decided(better(), store)
    seen = max(part.replicates for part in decision.parts)
    cells = {(cell.group, cell.arm): cell for cell in detail.parts[0].cells}
    assert len(cells) == 12
    for (where, name), cell in cells.items():
        values = [
            run.evidence.rows[name, where, r][0].values["m"]
            for r in range(seen)
            if (name, where, r) in run.evidence.rows
        ]
        assert cell.value == pytest.approx(math.fsum(values) / len(values))
        assert cell.n + cell.failed == seen
        assert cell.best == (name == "good")
    assert {(f.arm, f.status, f.count) for f in detail.failed} == {("poor", "raised", 1)}


def test_each_data_set_is_shown_once_where_each_is_asked(store):
    _, _, detail = decided(better(over="each"), store)
    (part,) = detail.parts
    assert len(part.overall) == 6
    assert not part.by_dataset
    assert {e.dataset for e in part.overall} == {"d1", "d2", "d3"}


def test_lower_is_better_marks_the_lowest(store):
    costs = replace(SCORES, metrics={"m": Metric("lower", (-10, 10))})
    within = Within(Stat("m"), "good", to=("poor",), low=0.05)
    _, _, detail = decided(Claim("cheap", "It is.", "paper", costs, within), store)
    assert {cell.arm for cell in detail.parts[0].cells if cell.best} == {"none"}


CURVES = experiment(
    (arm("good", "method", exponent=-0.5), arm("poor", exponent=-0.1)),
    "curve",
    id="curves",
    metrics={"err": Metric("lower"), "cost": Metric("lower")},
    budgets={"quick": Budget(20, {"n": (10, 30, 100)})},
    together=True,
)


def test_a_slope_comes_with_the_curve_that_it_is_taken_from(store):
    within = Within(Stat("err", "loglog"), "good", scale="absolute", high=-0.3)
    run, _, detail = decided(Claim("slope", "It is.", "paper", CURVES, within), store)
    (part,) = detail.parts
    curves = {(curve.arm, curve.dataset): curve.points for curve in part.curves}
    where = CURVES.datasets[0].id
    xs = [x for x, _ in curves["good", where]]
    assert xs == [10, 30, 100]
    rows = [run.evidence.rows["good", where, r] for r in range(part.overall[0].n)]
    first = [next(row.values["err"] for row in of if row.x == 10) for of in rows]
    assert curves["good", where][0][1] == pytest.approx(math.fsum(first) / len(first))
    assert not any(cell.best for cell in part.cells)
    assert part.of == "log-log slope of err"


def test_counts_and_worst_cases(store):
    counts = experiment(
        (arm("good", "method", rate=0.95), arm("none", "control", rate=0.2)),
        "counts",
        id="counts",
        metrics={"m": Metric("higher"), "hit": Metric("higher", (0, 1))},
        budgets={"quick": Budget(20, {"n": (1,)})},
    )
    rate = Rate("hit", "good", low=0.5, independent=True)
    run, decision, detail = decided(Claim("often", "It is.", "paper", counts, rate), store)
    (part,) = detail.parts
    assert (part.scale, part.overall[0].effect) == ("rate", decision.effect)
    cells = {(c.group, c.arm): c for c in part.cells}
    where, seen = counts.datasets[0].id, decision.parts[0].replicates
    tallies = [run.evidence.rows["good", where, r][0].counts["hit"] for r in range(seen)]
    share = sum(k for k, _ in tallies) / sum(n for _, n in tallies)
    assert cells[where, "good"].value == pytest.approx(share)
    assert cells[where, "good"].best


def test_the_worst_case_is_shown_against_its_limit(store):
    every = Every("m", "good", high=60.0, at_least=5)
    _, decision, detail = decided(Claim("bounded", "It is.", "paper", SCORES, every), store)
    (part,) = detail.parts
    assert (part.scale, part.low) == ("worst", -math.inf)
    assert part.overall[0].effect == decision.effect
    assert max(e.effect for e in part.by_dataset) == pytest.approx(decision.effect)
    assert all(e.low is None for e in part.by_dataset)
    assert not part.path


def test_parts_of_one_criterion_stand_apart(store):
    both = AllOf(
        (
            Within(Stat("m"), "good", to=("poor",), low=0.05),
            Within(Stat("m"), "good", scale="absolute", low=0.2),
        )
    )
    _, decision, detail = decided(Claim("both", "It is.", "paper", SCORES, both), store)
    assert [part.scale for part in detail.parts] == ["difference", "absolute"]
    assert [p.overall[0].effect for p in detail.parts] == [p.effect for p in decision.parts]


def test_nothing_tried_is_nothing_to_show(store):
    of = paper(Claim("space", "It is.", "target", missing="a rocket"), better())
    run = open_runs(selection(of), "quick")[0]
    space = of.claim("space")
    blank = claim_detail(of, space, run.evidence, _blank(of, space), 10)
    assert blank == Detail((), ())


def _blank(of, claim):
    from probatum.evidence.decide import untested

    return untested(of, claim)


def test_long_curves_are_thinned_and_keep_their_ends():
    long = replace(CURVES, datasets=(dataset("d1"),), source="deterministic")
    within = Within(Stat("err", "loglog"), "good", scale="absolute", high=-0.3)
    claim = Claim("slope", "It is.", "paper", long, within)
    evidence = Evidence(long)
    for name in ("good", "poor"):
        rows = tuple(Row(name, x=float(x), values={"err": 1 / x}) for x in range(1, 501))
        evidence.add(Record("", "toy", "curves", name, "d1", 0, "ok", rows))
    of = paper(claim)
    from probatum.evidence.decide import decide

    decision = decide(of, claim, evidence, 1)
    assert decision.verdict == "holds"
    points = claim_detail(of, claim, evidence, decision, 1).parts[0].curves[0].points
    assert len(points) == MOST_POINTS
    assert (points[0][0], points[-1][0]) == (1.0, 500.0)
