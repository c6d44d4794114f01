"""Measures: the numbers that a criterion asks for, and what a failure counts as."""

from __future__ import annotations

import math

import pytest
from trials_for_engine import arm, dataset, experiment

from probatum.evidence import Every, Experiment, Metric, Rate, Row, Stat, Within
from probatum.evidence.measure import (
    Evidence,
    Unmeasurable,
    case_contrasts,
    case_values,
    contrast,
    replicate_counts,
    stat_value,
)
from probatum.evidence.store import Record

CURVE = [Row("a", x=x, values={"err": 5 * x**-0.5, "cost": x**2}) for x in (4.0, 1.0, 16.0, 64.0)]
METRICS = {
    "m": Metric("higher", (0.0, 1.0)),
    "loss": Metric("lower", (0.0, 2.0)),
    "free": Metric("higher"),
    "hit": Metric("higher", (0.0, 1.0)),
    "miss": Metric("lower", (0.0, 1.0)),
}
OF = experiment((arm("a", "method"), arm("b")), metrics=METRICS)


@pytest.mark.parametrize(
    ("stat", "value"),
    [
        (Stat("err", "loglog"), -0.5),
        (Stat("err", "loglog", against="cost"), -0.25),
        (Stat("err", "spearman"), -1.0),
        (Stat("err", "max"), 5.0),
        (Stat("cost"), (1 + 16 + 256 + 4096) / 4),
        (Stat("cost", "slope", tail=0.5), (4096 - 256) / 48),
        (Stat("cost", "slope", tail=0.01), (4096 - 256) / 48),
    ],
)
def test_statistics_of_a_curve(stat: Stat, value: float) -> None:
    assert stat_value(stat, CURVE) == pytest.approx(value)
    assert stat_value(stat, CURVE[::-1]) == pytest.approx(value)


def test_a_case_keeps_its_rows_only() -> None:
    rows = [Row("a", case=c, values={"m": v}) for c, v in (("x", 1.0), ("x", 3.0), ("y", 10.0))]
    assert stat_value(Stat("m", case="x"), rows) == 2
    assert stat_value(Stat("m", "max"), rows) == 10
    assert stat_value(Stat("m"), rows) == pytest.approx(14 / 3)


@pytest.mark.parametrize(
    ("stat", "rows", "why"),
    [
        (Stat("m"), [], "no value of m"),
        (Stat("m", case="z"), [Row("a", values={"m": 1.0})], "no value of m in case 'z'"),
        (Stat("m", "slope"), [Row("a", x=1.0, values={"m": 1.0})] * 2, "two abscissae"),
        (Stat("m", "slope"), [Row("a", values={"m": 1.0})] * 2, "two abscissae"),
        (
            Stat("m", "loglog"),
            [Row("a", x=x, values={"m": x}) for x in (0.0, 1.0)],
            "positive numbers",
        ),
        (
            Stat("m", "spearman"),
            [Row("a", x=x, values={"m": 1.0}) for x in (0.0, 1.0)],
            "constant",
        ),
    ],
)
def test_what_cannot_be_measured_is_said(stat: Stat, rows: list[Row], why: str) -> None:
    with pytest.raises(Unmeasurable, match=why):
        stat_value(stat, rows)


def evidence(*records: tuple[str, str, int, object], of: Experiment = OF) -> Evidence:
    """Of records as arm, dataset, replicate and rows, or a status where it failed."""
    found = Evidence(of)
    for arm_id, data, replicate, rows in records:
        failed = isinstance(rows, str)
        found.add(
            Record(
                "k",
                "toy",
                of.id,
                arm_id,
                data,
                replicate,
                str(rows) if failed else "ok",
                () if failed else rows,  # type: ignore[arg-type]
            )
        )
    return found


def ok(arm_id: str, value: float, metric: str = "m", case: str = "") -> tuple[Row, ...]:
    return (Row(arm_id, case, values={metric: value}),)


@pytest.mark.parametrize(
    ("metric", "own", "other", "effect"),
    [
        ("m", ok("a", 0.7), ok("b", 0.4), 0.3),
        ("m", "raised", ok("b", 0.4), -0.4),
        ("m", ok("a", 0.7), "timeout", -0.3),
        ("m", "raised", "raised", -1.0),
        ("loss", ok("a", 0.7, "loss"), ok("b", 1.0, "loss"), 0.3),
        ("loss", "crashed", ok("b", 0.5, "loss"), -1.5),
        ("loss", ok("a", 0.7, "loss"), "crashed", -0.7),
        ("free", ok("a", 0.7, "free"), ok("b", 0.4, "free"), 0.3),
        ("free", "raised", ok("b", 0.4, "free"), None),
        ("free", ok("a", 0.7, "free"), "raised", None),
        # A row without the value counts as a failure.
        ("m", ok("a", 0.7, "free"), ok("b", 0.4), -0.4),
        ("m", ok("a", 0.7), ok("b", 0.4, "free"), -0.3),
    ],
)
def test_failures_count_at_the_bound_that_hurts_the_claim(
    metric: str, own: object, other: object, effect: float | None
) -> None:
    found = evidence(("a", "d1", 0, own), ("b", "d1", 0, other))
    within = Within(Stat(metric), "a", to=("b",), low=0.1)
    assert contrast(found, within, "b", "d1", 0) == (
        None if effect is None else pytest.approx(effect)
    )


def test_log_ratios_are_oriented_and_need_positive_numbers() -> None:
    within = Within(Stat("loss"), "a", to=("b",), scale="log-ratio", low=0.1)
    found = evidence(("a", "d1", 0, ok("a", 0.5, "loss")), ("b", "d1", 0, ok("b", 1.0, "loss")))
    assert contrast(found, within, "b", "d1", 0) == pytest.approx(math.log(2))
    found = evidence(("a", "d1", 0, ok("a", 0.0, "loss")), ("b", "d1", 0, ok("b", 1.0, "loss")))
    assert contrast(found, within, "b", "d1", 0) is None


def test_slopes_are_not_oriented_and_failures_leave_them_open() -> None:
    rows = tuple(Row("a", x=x, values={"loss": x}) for x in (0.1, 0.2))
    within = Within(Stat("loss", "slope"), "a", scale="absolute", low=0.5)
    assert contrast(evidence(("a", "d1", 0, rows)), within, None, "d1", 0) == pytest.approx(1)
    assert contrast(evidence(("a", "d1", 0, "raised")), within, None, "d1", 0) is None


def hits(arm_id: str, k: int, n: int, metric: str = "hit") -> tuple[Row, ...]:
    return (Row(arm_id, counts={metric: (k, n)}),)


def test_failed_tries_count_as_many_as_the_arm_had_before() -> None:
    found = evidence(
        ("a", "d1", 0, "raised"),
        ("a", "d2", 0, hits("a", 3, 5)),
        ("a", "d1", 1, hits("a", 10, 10)),
        ("a", "d2", 1, "raised"),
        ("a", "d1", 2, "timeout"),
        ("a", "d2", 2, ok("a", 1.0)),
        ("b", "d1", 0, hits("b", 99, 100)),
    )
    assert replicate_counts(found, Rate("hit", "a", low=0.5), 3) == [
        [(0, 1), (3, 5)],
        [(10, 10), (0, 5)],
        [(0, 10), (0, 5)],
    ]
    # Where the counted event is bad, a failure is one.
    found = evidence(("a", "d1", 0, hits("a", 0, 8, "miss")), ("a", "d2", 0, "raised"))
    assert replicate_counts(found, Rate("miss", "a", high=0.5), 1) == [[(0, 8), (1, 1)]]


def test_every_value_is_seen_and_what_lacks_one_is_told() -> None:
    found = evidence(
        ("a", "d1", 0, ok("a", 0.1) + ok("a", 0.2, case="x")),
        ("a", "d2", 0, "raised"),
        ("a", "d1", 1, ok("a", 0.3, "free")),
        ("a", "d2", 1, ok("a", 0.4)),
    )
    values, lost = case_values(found, Every("m", "a", high=1.0), 2)
    assert values == [("d1", 0, "", 0.1), ("d1", 0, "x", 0.2), ("d2", 1, "", 0.4)]
    assert lost == [0, 1]
    values, lost = case_values(found, Every("m", "a", high=1.0, case="x"), 1)
    assert [v[3] for v in values] == [0.2]
    assert lost == [0]


def test_recorded_cases_are_those_of_both_arms() -> None:
    def table(arm_id: str, **cases: float) -> tuple[Row, ...]:
        return tuple(Row(arm_id, c, values={"m": v}) for c, v in cases.items())

    of = experiment(
        OF.arms, metrics=METRICS, source="recorded", datasets=(dataset("d1"), dataset("d2"))
    )
    found = evidence(
        ("a", "d1", 0, table("a", x=0.5, y=0.25) + table("a", x=0.75)),
        ("a", "d2", 0, table("a", x=0.5)),
        ("b", "d1", 0, table("b", x=0.125, z=1.0)),
        ("b", "d2", 0, table("b", x=0.25)),
        of=of,
    )
    within = Within(Stat("m"), "a", to=("b",), low=0.1)
    both = ["d1", "d2"]
    assert list(case_contrasts(found, within, "b", both)) == [("d1/x", 0.5), ("d2/x", 0.25)]
    assert list(case_contrasts(found, within, "b", ["d2"])) == [("d2/x", 0.25)]
    assert len(list(case_contrasts(found, within, None, both))) == 3
    only = Within(Stat("m", case="y"), "a", scale="absolute", low=0.1)
    assert list(case_contrasts(found, only, None, both)) == [("d1/y", 0.25)]


def test_prefixes_failures_and_agreement() -> None:
    found = evidence(
        *(("a", d, r, ok("a", 0.1)) for d in ("d1", "d2") for r in range(4)),
        ("b", "d1", 0, ok("b", 0.5)),
        ("b", "d2", 0, "raised"),
        ("b", "d2", 1, "raised"),
    )
    assert found.complete(["a"], 3) == 3
    assert found.complete(["a"], 9) == 4
    assert found.complete(["a", "b"], 9) == 1
    assert found.failures(["b"], 1) == 1
    assert found.failures(["a", "b"], 9) == 2
    assert found.replicates_agree()
    found.add(Record("k", "toy", "e", "b", "d1", 1, "ok", ok("b", 0.6)))
    assert not found.replicates_agree()


def test_a_scalar_per_case_is_averaged_over_cases():
    rows = [Row("a", "one", x, {"m": x, "loss": x}) for x in (1.0, 2.0, 3.0)]
    rows += [Row("a", "two", x, {"m": x, "loss": -x}) for x in (1.0, 2.0, 3.0)]
    rows += [Row("a", "other", values={"free": 1.0})]
    assert stat_value(Stat("m", "kendall", against="loss"), rows) < 0.5
    assert stat_value(Stat("m", "kendall", against="loss", per_case=True), rows) == 0
    assert stat_value(Stat("m", "kendall", against="loss", case="one"), rows) == 1
    assert stat_value(Stat("m", "max", per_case=True), [*rows, Row("a", "3", values={"m": 9})]) == 5
    with pytest.raises(Unmeasurable, match="no value of hit"):
        stat_value(Stat("hit", per_case=True), rows)
    with pytest.raises(ValueError, match="not both"):
        Stat("m", case="one", per_case=True)


def test_an_arm_that_failed_in_a_joint_trial_is_a_failure_of_its_own():
    evidence = Evidence(OF)
    rows = (Row("a", values={"m": 0.5}), Row("b", failed="gave up"))
    evidence.add(Record("k", "p", "e", "*", "d", 0, "ok", rows))
    assert evidence.rows == {("a", "d", 0): rows[:1]}
    assert evidence.failed == {("b", "d", 0): "raised"}


def test_a_later_record_of_a_cell_counts_in_its_place():
    for first in (ok("a", 0.25), "raised"):
        found = evidence(("a", "d1", 0, first), ("a", "d1", 1, ok("a", 0.5)))
        stat = Stat("m")
        assert found.scalar(stat, ("a", "d1", 1)) == 0.5
        assert found.scalar(stat, ("a", "d1", 0)) == (None if first == "raised" else 0.25)
        found.add(Record("k", "toy", "e", "a", "d1", 0, "ok", ok("a", 0.75)))
        assert found.scalar(stat, ("a", "d1", 0)) == 0.75
        assert found.scalar(stat, ("a", "d1", 1)) == 0.5


def test_an_arm_with_one_failed_row_among_others_has_failed():
    rows = (Row("a", values={"m": 0.5}), Row("a", failed="gave up"), Row("b", values={"m": 1.0}))
    found = Evidence(OF)
    found.add(Record("k", "p", "e", "*", "d", 0, "ok", rows))
    assert found.failed == {("a", "d", 0): "raised"}
    assert found.rows == {("b", "d", 0): rows[2:]}
    found.add(Record("k", "p", "e", "*", "d", 1, "timeout", ()))
    assert found.failed[("b", "d", 1)] == "timeout"


LINE = [
    Row("a", x=x, values={"m": y}) for x, y in zip((1, 2, 3, 4, 5), (9, 0, 4, 1, 7), strict=True)
]


@pytest.mark.parametrize(
    ("tail", "kept"), [(0.2, 2), (0.4, 2), (0.41, 3), (0.5, 3), (0.6, 3), (0.7, 4), (1.0, 5)]
)
def test_a_tail_keeps_the_largest_abscissae_rounded_up(tail: float, kept: int) -> None:
    for rows in (LINE, LINE[::-1], LINE[2:] + LINE[:2]):
        for how in ("slope", "spearman", "kendall"):
            stat = Stat("m", how, tail=tail)  # type: ignore[arg-type]
            assert stat_value(stat, rows) == pytest.approx(
                stat_value(Stat("m", how), LINE[5 - kept :])  # type: ignore[arg-type]
            )


def test_rows_that_lack_a_number_are_passed_over() -> None:
    others = [
        Row("a", values={"free": 1.0}),
        Row("a", x=9.0, values={"free": 1.0}),
        Row("a", values={"m": 50.0}),
    ]
    assert stat_value(Stat("m", "slope"), others + LINE) == stat_value(Stat("m", "slope"), LINE)
    cased = [Row("a", "x", x=7.0, values={"m": 99.0}), *LINE]
    assert stat_value(Stat("m", "slope", case=""), cased) == stat_value(Stat("m", "slope"), LINE)


def test_rank_correlations_of_two_levels() -> None:
    rows = [Row("a", x=x, values={"m": float(x > 2)}) for x in (1.0, 2.0, 3.0, 4.0)]
    assert stat_value(Stat("m", "spearman"), rows) == pytest.approx(4 / math.sqrt(20))
    assert stat_value(Stat("m", "kendall"), rows) == pytest.approx(4 / math.sqrt(24))


@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        ((0.0, 1.0, 2.0), (1.0, 2.0, 3.0)),
        ((1.0, 2.0, 3.0), (1.0, 0.0, 2.0)),
        ((-0.5, 1.0, 2.0), (1.0, 2.0, 3.0)),
        ((1.0, 2.0, 3.0), (1.0, -0.5, 2.0)),
    ],
)
def test_one_number_without_a_logarithm_is_enough(xs: tuple, ys: tuple) -> None:
    rows = [Row("a", x=x, values={"m": y}) for x, y in zip(xs, ys, strict=True)]
    with pytest.raises(Unmeasurable, match="needs positive numbers"):
        stat_value(Stat("m", "loglog"), rows)


@pytest.mark.parametrize(
    ("own", "other", "ratio"),
    [(1.0, 0.5, math.log(2)), (0.25, 0.5, -math.log(2)), (0.5, 0.0, None), (0.0, 0.5, None)],
)
def test_a_log_ratio_is_of_two_positive_numbers(
    own: float, other: float, ratio: float | None
) -> None:
    within = Within(Stat("m"), "a", to=("b",), scale="log-ratio", low=0.1)
    found = evidence(("a", "d1", 0, ok("a", own)), ("b", "d1", 0, ok("b", other)))
    assert contrast(found, within, "b", "d1", 0) == (ratio and pytest.approx(ratio))
    recorded = list(case_contrasts(found, within, "b", ["d1"]))
    assert recorded == ([] if ratio is None else [("d1", pytest.approx(ratio))])


def test_cases_that_one_arm_lacks_are_passed_over() -> None:
    table = {"a": {"x": 1.0, "y": 2.0, "z": 4.0}, "b": {"y": 1.0, "z": 1.0}}
    rows = {a: tuple(Row(a, c, values={"m": v}) for c, v in of.items()) for a, of in table.items()}
    found = evidence(("a", "d1", 0, rows["a"]), ("b", "d1", 0, rows["b"]))
    within = Within(Stat("m"), "a", to=("b",), low=0.1)
    assert list(case_contrasts(found, within, "b", ["d1"])) == [("d1/y", 1.0), ("d1/z", 3.0)]


def test_agreement_takes_two_replicates_of_an_arm() -> None:
    one = evidence(("a", "d1", 0, ok("a", 0.5)), ("a", "d2", 2, ok("a", 0.5)))
    assert not one.replicates_agree()
    two = evidence(*(("a", "d1", r, ok("a", 0.5)) for r in (0, 1)), ("b", "d1", 0, ok("b", 0.1)))
    assert two.replicates_agree()


def test_counts_of_a_case_and_of_several_rows_add_up() -> None:
    rows = (
        Row("a", "x", counts={"hit": (1, 4)}),
        Row("a", "y", counts={"hit": (2, 3)}),
        Row("a", "x", counts={"hit": (3, 5)}),
    )
    found = evidence(("a", "d1", 0, rows), ("a", "d2", 0, rows[:1]), ("a", "d1", 1, "raised"))
    assert replicate_counts(found, Rate("hit", "a", low=0.5), 2) == [
        [(6, 12), (1, 4)],
        [(0, 12), (0, 4)],
    ]
    assert replicate_counts(found, Rate("hit", "a", low=0.5, case="x"), 1) == [[(4, 9), (1, 4)]]
