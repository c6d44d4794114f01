"""Single comparisons: how each is named, measured, decided and followed over its looks."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from filling import OF, SURE, Value, claim, decided, filled, noise, of_arm, within
from trials_for_engine import dataset, paper

from probatum.evidence import AllOf, Every, Rate, Row, Stat
from probatum.evidence import Within as WithinOf
from probatum.evidence.decide import (
    decide,
)
from probatum.evidence.pieces import interval_path, measured, pieces, region_of, replicate_effects
from probatum.evidence.procedures import Region
from probatum.stats import anytime_t_interval, rate_interval

# --- single comparisons --------------------------------------------------------------------


def test_comparisons_are_named_by_what_is_compared() -> None:
    asked = AllOf(
        (
            within("b", stat=Stat("m", "loglog", case="x"), over="each"),
            of_arm("a", low=0.5),
            Rate("hit", "b", low=0.5, case="y"),
            Every("m", "c", high=1.0),
        )
    )
    found = pieces(claim(asked))
    assert [piece.label for piece in found] == [
        "a against b on d1: log-log slope of m, x",
        "a against b on d2: log-log slope of m, x",
        "a: m",
        "b: hit, y",
        "c: m",
    ]
    assert [piece.datasets for piece in found] == [("d1",), ("d2",), *[("d1", "d2")] * 3]
    assert [piece.rival for piece in found] == ["b", "b", None, None, None]
    assert measured(Stat("m", "max")) == "largest m"


def test_the_region_of_an_every_has_its_slack() -> None:
    assert region_of(Every("m", "a", high=1.0, slack=0.25)) == Region(high=1.25)
    assert region_of(Rate("hit", "a", low=0.25)) == Region(0.25, 1.0)


def test_effects_of_replicates_weigh_data_sets_the_same() -> None:
    values = {("a", "d1"): 5.0, ("a", "d2"): 2.0, ("b", "d1"): 1.0, ("b", "d2"): 1.0}
    evidence = filled(
        OF, lambda a, d, r: None if (a, d, r) == ("b", "d2", 1) else values.get((a, d), 0.0) + r, 3
    )
    (piece,) = pieces(claim(within()))
    found = replicate_effects(piece, evidence, 3).tolist()
    assert (found[0], found[2]) == (2.5, 2.5)
    assert math.isnan(found[1])
    (alone,) = pieces(claim(of_arm("a", low=0.5)))
    assert replicate_effects(alone, evidence, 2).tolist() == [3.5, 4.5]


def counted(a: str, d: str, r: int) -> tuple[Row, ...]:
    """All of ten on one data set, three of thirty on the other, and none at all at times."""
    if r == 1:
        return (Row(a, values={"m": 1.0}, counts={"hit": (0, 0)}),)
    return (Row(a, counts={"hit": (10, 10) if d == "d1" else (3, 30)}),)


def test_a_rate_is_a_share_of_each_replicate_or_of_all_tries() -> None:
    evidence = filled(OF, counted, 3)
    (piece,) = pieces(claim(Rate("hit", "a", low=0.5)))
    found = replicate_effects(piece, evidence, 3).tolist()
    assert (found[0], found[2]) == (pytest.approx(0.55), pytest.approx(0.55))
    assert math.isnan(found[1])
    tries = decided(Rate("hit", "a", low=0.5, independent=True), counted, 20)
    assert tries.effect == pytest.approx(13 / 40)
    assert tries.guarantee == "exact"
    once = decided(Rate("hit", "a", low=0.3), counted, 1, SURE)
    assert (once.effect, once.verdict, once.n) == (pytest.approx(13 / 40), "holds", 1)
    never = decided(Rate("hit", "a", low=0.3), lambda a, d, r: counted(a, d, 1), 1, SURE)
    assert (never.verdict, never.reason) == ("undecided", "nothing was measured")


def test_a_number_without_spread_is_the_mean_over_data_sets_or_cases() -> None:
    values = {("a", "d1"): 4.0, ("a", "d2"): 1.0, ("b", "d1"): 1.0, ("b", "d2"): 0.0}
    found = decided(within(), lambda a, d, r: values.get((a, d), 0.0), 1, SURE)
    assert (found.effect, found.low, found.high, found.n) == (2.0, 2.0, 2.0, 2)
    assert (found.guarantee, found.unit, found.level) == ("deterministic", "replicates", 0.0)
    half = decided(
        within(),
        lambda a, d, r: None if (a, d) == ("b", "d2") else values.get((a, d), 0.0),
        1,
        SURE,
    )
    assert (half.verdict, half.effect) == ("undecided", None)
    assert half.parts[0].replicates == 1
    nothing = decided(within(), lambda a, d, r: 1.0, 0, SURE)
    assert (nothing.verdict, nothing.parts[0].replicates) == ("undecided", 0)
    assert nothing.reason == "nothing was measured"


def test_a_recorded_level_needs_the_arms_own_table_alone() -> None:
    recorded = replace(OF, source="recorded", datasets=(dataset("d1"),))
    level = of_arm("a", low=0.5)
    others = decided(level, lambda a, d, r: 1.0 if a == "a" else None, 1, recorded)
    assert (others.verdict, others.guarantee) == ("holds", "descriptive")
    own = decided(level, lambda a, d, r: None if a == "a" else 1.0, 1, recorded)
    assert own.verdict == "undecided"


def test_failures_that_cannot_be_counted_leave_open_what_would_hold_to_the_end() -> None:
    def value(a: str, d: str, r: int) -> float | None:
        if (a, r) == ("a", 2):
            return None
        return (1.0 if a == "a" else 0.0) + 0.01 * noise(a, d, r)

    found = decided(within(), value)
    part = found.parts[0]
    assert (found.verdict, part.n, part.replicates) == ("undecided", 20, 20)
    assert part.reason.startswith("1 replicates failed and the metric has no bounds")
    assert decided(within(low=1.5), value).verdict == "fails"

    def late(a: str, d: str, r: int) -> float | None:
        return None if (a, r) == ("a", 15) else 0.01 * noise(a, d, r) + (a == "a")

    later = decided(within(), late)
    assert (later.verdict, later.n) == ("holds", 10)


def test_a_rival_that_never_ran_is_not_beaten() -> None:
    unit = within(stat=Stat("unit"), low=-0.5)

    def value(a: str, d: str, r: int) -> float | None:
        return None if a == "b" else 0.9 + 0.01 * noise(a, d, r)

    asked = claim(replace(unit, low=-1.0, high=0.9))
    found = decide(paper(asked), asked, filled(OF, value, 20, "unit"), 20)
    assert (found.verdict, found.more_needed) == ("undecided", None)
    assert found.reason.startswith("b never ran")

    def once(a: str, d: str, r: int) -> float | None:
        return 0.1 if (a, d, r) == ("b", "d2", 4) else value(a, d, r)

    ran = decide(paper(asked), asked, filled(OF, once, 20, "unit"), 20)
    assert (ran.verdict, "never ran" in ran.reason) == ("holds", False)
    nothing = decide(paper(asked), asked, filled(OF, value, 0, "unit"), 20)
    assert nothing.reason == "0 of 20 replicates done"


# --- every value ---------------------------------------------------------------------------


def test_every_is_looked_at_on_the_schedule_and_stops_where_it_is_decided() -> None:
    def value(broken: int) -> Value:
        return lambda a, d, r: 2.0 if (d, r) == ("d2", broken) else 0.5 + 0.01 * r

    every = Every("m", "a", high=1.0, at_least=9)
    holds = decided(every, value(99))
    assert (holds.verdict, holds.n, holds.parts[0].replicates) == ("holds", 10, 5)
    assert holds.effect == holds.low == holds.high == pytest.approx(0.54)
    assert (holds.unit, holds.guarantee) == ("cases", "enumeration")
    exactly = decided(replace(every, at_least=10), value(99))
    assert (exactly.verdict, exactly.n) == ("holds", 10)
    more = decided(replace(every, at_least=11), value(99))
    assert (more.verdict, more.n, more.parts[0].replicates) == ("holds", 20, 10)
    # What breaks after it was decided changes nothing; at that look it does.
    assert decided(every, value(5)) == holds
    fails = decided(every, value(4))
    assert (fails.verdict, fails.effect, fails.n) == ("fails", 2.0, 10)
    assert fails.parts[0].replicates == 5
    assert fails.reason == "counterexample: m = 2 > 1 at d2, replicate 4"
    assert decided(replace(every, high=1.75, slack=0.25), value(4)).verdict == "holds"


def test_every_tells_what_is_missing() -> None:
    every = Every("m", "a", high=1.0, at_least=9)
    # Four replicates are there, and the first look is at five.
    few = decided(every, lambda a, d, r: 0.5 - r, 4)
    assert (few.verdict, few.n, few.reason) == ("undecided", 0, "0 of 9 cases seen")
    none = decided(every, lambda a, d, r: 0.5, 0)
    assert (none.verdict, none.effect, none.n) == ("undecided", None, 0)
    lost = decided(every, lambda a, d, r: None if (d, r) == ("d1", 2) else 0.5 - r)
    assert (lost.verdict, lost.n, lost.effect) == ("undecided", 39, 0.5)
    assert lost.parts[0].replicates == 20
    assert lost.reason.startswith("39 of 9 cases seen, 1 trials failed or lack m")
    late = decided(every, lambda a, d, r: None if (d, r) == ("d1", 7) else 0.5 - r)
    assert (late.verdict, late.n) == ("holds", 10)


# --- the interval at each look -------------------------------------------------------------


def test_the_path_of_an_interval_is_what_was_seen_at_each_look() -> None:
    def value(a: str, d: str, r: int) -> float:
        return 0.5 + 0.3 * noise(a, d, r)

    asked = claim(of_arm("a", low=0.5))
    (piece,) = pieces(asked)
    evidence = filled(OF, value, 20)
    path = interval_path(asked, piece, evidence, 20, 40, 0.05)
    assert [look.n for look in path] == [10, 15, 20]
    z = [(value("a", "d1", r) + value("a", "d2", r)) / 2 for r in range(15)]
    mean = math.fsum(z) / 15
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in z) / 14)
    assert path[1][1:] == pytest.approx((mean, *anytime_t_interval(mean, sd, 15, 0.05)))
    assert interval_path(asked, piece, evidence, 14, 40, 0.05) == path[:1]
    of_sure = claim(of_arm("a", low=0.5), SURE)
    assert interval_path(of_sure, piece, filled(SURE, value), 1, 1, 0.05) == []
    every = claim(Every("m", "a", high=1.0))
    assert interval_path(every, pieces(every)[0], evidence, 20, 40, 0.05) == []


def test_the_path_of_a_rate_is_exact() -> None:
    def tries(a: str, d: str, r: int) -> tuple[Row, ...]:
        return (Row(a, counts={"hit": (3 + r % 2, 5)}),)

    evidence = filled(OF, tries, 10)
    each = claim(Rate("hit", "a", low=0.5, independent=True))
    path = interval_path(each, pieces(each)[0], evidence, 10, 40, 0.05)
    assert [look.n for look in path] == [5, 10]
    assert path[1][1:] == pytest.approx((0.7, *rate_interval(70, 100, 0.05)))
    shares = claim(Rate("hit", "a", low=0.5))
    wide = interval_path(shares, pieces(shares)[0], evidence, 10, 40, 0.05)
    assert [look.n for look in wide] == [5, 10]
    assert wide[1].effect == pytest.approx(0.7)
    assert wide[1].low < path[1].low
    exact = claim(WithinOf(Stat("unit"), "a", scale="absolute", low=0.5), procedure="exact")
    units = filled(OF, lambda a, d, r: 0.5 + 0.1 * noise(a, d, r), 10, "unit")
    assert [look.n for look in interval_path(exact, pieces(exact)[0], units, 10, 40, 0.05)] == [
        5,
        10,
    ]


def test_every_passes_over_looks_at_which_nothing_was_there() -> None:
    every = Every("m", "a", high=1.0, at_least=9)
    silent = decided(every, lambda a, d, r: () if a == "a" and r < 5 else 0.5 - r)
    assert (silent.verdict, silent.n, silent.effect) == ("undecided", 30, -4.5)
    assert silent.reason.startswith("30 of 9 cases seen, 10 trials failed or lack m")
    nothing = decided(every, lambda a, d, r: () if a == "a" else -r)
    assert (nothing.verdict, nothing.n, nothing.effect) == ("undecided", 0, None)


def test_a_failure_after_the_look_that_decided_is_no_failure_of_it() -> None:
    every = Every("m", "a", high=1.0, at_least=9)
    for lost, n in ((5, 10), (4, 39)):
        found = decided(every, lambda a, d, r, lost=lost: None if (d, r) == ("d1", lost) else -r)
        assert (found.verdict, found.n) == ("holds" if n == 10 else "undecided", n)


def test_recorded_tables_are_all_needed() -> None:
    recorded = replace(OF, source="recorded")

    def table(arm: str, lost: str) -> Value:
        return lambda a, d, r: None if (a, d) == (arm, lost) else {"a": 2.0}.get(a, 1.0)

    for lost in ("d1", "d2"):
        for arm_id in ("a", "b"):
            found = decided(within(), table(arm_id, lost), 1, recorded)
            assert (found.verdict, found.reason.split(";")[0]) == (
                "undecided",
                "nothing was measured",
            )
        assert decided(within(), table("c", lost), 1, recorded).verdict == "holds"
        assert decided(of_arm("a", low=0.5), table("b", lost), 1, recorded).verdict == "holds"
