"""Claims of several parts: which of them speaks for the claim, at what level, and what it says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from filling import ARMS, OF, SURE, claim, decided, filled, noise, of_arm, within
from trials_for_engine import dataset, paper

from probatum.evidence import AllOf, Arm, Claim, Decision, Every, Rate, Row, Stat
from probatum.evidence import Within as WithinOf
from probatum.evidence.decide import (
    claim_alpha,
    claim_arms,
    control_decisions,
    controls,
    decide,
    floor,
    not_run,
    replicates_budget,
    tries_needed,
    untested,
)
from probatum.evidence.pieces import pieces
from probatum.evidence.procedures import Region, floor_of_mean, floor_of_rate
from probatum.stats import anytime_t_interval


def sure(parts: Sequence[WithinOf], **values: float | None) -> Decision:
    """Parts decided from one number per arm."""
    return decided(AllOf(tuple(parts)), lambda a, d, r: values[a], 1, SURE)


# --- which part speaks for the claim -------------------------------------------------------


def test_a_failing_part_leads_then_an_open_one_then_the_narrowest() -> None:
    fails, holds, unmeasured = of_arm("a", low=2.0), of_arm("b", low=0.0), of_arm("c", low=0.0)
    for parts in itertools.permutations([fails, holds, unmeasured]):
        found = sure(parts, a=1.0, b=5.0, c=None)
        assert (found.verdict, found.effect) == ("fails", 1.0)
        assert found.parts[found.deciding].label == "a: m"
    for parts in itertools.permutations([of_arm("a", low=0.0), holds, unmeasured]):
        found = sure(parts, a=1.0, b=5.0, c=None)
        assert (found.verdict, found.effect) == ("undecided", None)
        assert found.reason.startswith("c: m; nothing was measured")


@pytest.mark.parametrize(
    ("parts", "values", "leads"),
    [
        # Of failing parts the one that lies farthest outside.
        ([("a", 0.5, math.inf), ("b", 0.0, math.inf)], {"a": 0.2, "b": -1.0}, "b"),
        ([("a", -math.inf, 0.5), ("b", -math.inf, 0.0)], {"a": 0.7, "b": 1.0}, "b"),
        # Of holding ones the one nearest to an edge, whichever edge that is.
        ([("a", 0.0, 10.0), ("b", 0.0, 10.0)], {"a": 1.0, "b": 9.5}, "b"),
        ([("a", 0.0, 10.0), ("b", 0.0, 10.0)], {"a": 0.5, "b": 9.0}, "a"),
        ([("a", 5.0, math.inf), ("b", -3.0, math.inf)], {"a": 6.0, "b": -1.0}, "a"),
        ([("a", -math.inf, 5.0), ("b", -math.inf, -3.0)], {"a": 4.0, "b": -5.0}, "a"),
    ],
)
def test_the_part_nearest_to_its_edge_or_farthest_beyond_it_leads(
    parts: list[tuple[str, float, float]], values: dict[str, float], leads: str
) -> None:
    for order in (parts, parts[::-1]):
        found = sure([of_arm(*part) for part in order], c=0.0, **values)
        assert found.effect == values[leads]
        assert found.reason == f"{leads}: m"


def test_an_open_part_leads_over_one_that_holds_by_less() -> None:
    def value(a: str, d: str, r: int) -> float:
        return {"a": 1.0 + 8 * noise(a, d, r), "b": 0.02 + 0.001 * noise(a, d, r), "c": 0.0}[a]

    for parts in itertools.permutations([of_arm("a", low=0.0), of_arm("b", low=0.0)]):
        found = decided(AllOf(parts), value)
        assert found.verdict == "undecided"
        assert found.reason.startswith("a: m")
        assert {p.label: p.verdict for p in found.parts} == {"a: m": "undecided", "b: m": "holds"}
        assert found.more_needed == next(p for p in found.parts if p.label == "a: m").more_needed
        assert found.more_needed > 0


def test_of_open_parts_the_one_that_was_never_measured_leads_and_nothing_is_forecast() -> None:
    def value(a: str, d: str, r: int) -> float | None:
        return {"a": 8 * noise(a, d, r) + 1, "b": None, "c": 0.0}[a]

    for parts in itertools.permutations([of_arm("a", low=0.0), of_arm("b", low=0.0)]):
        found = decided(AllOf(parts), value)
        assert (found.verdict, found.effect, found.more_needed) == ("undecided", None, None)
        assert found.reason.startswith("b: m")


def test_more_is_needed_for_the_slowest_of_the_open_parts() -> None:
    def value(a: str, d: str, r: int) -> float:
        return {"a": 3, "b": 8, "c": 0}[a] * noise(a, d, r) + 1.0

    found = decided(AllOf((of_arm("a", low=0.0), of_arm("b", low=0.0))), value)
    needed = [part.more_needed for part in found.parts]
    assert None not in needed
    assert needed[0] != needed[1]
    assert found.more_needed == max(needed)  # type: ignore[type-var]


# --- levels and floors ---------------------------------------------------------------------


def test_the_level_of_a_paper_is_shared_as_it_says() -> None:
    ours = paper(claim(within()))
    assert claim_alpha(ours) == 0.05
    assert claim_alpha(replace(ours, level_shares=4)) == 0.05 / 4
    assert claim_alpha(replace(ours, claims=())) == 0.05


def test_parts_share_the_level_of_their_claim() -> None:
    bounded = within(stat=Stat("unit"), low=-0.02)
    level = replace(of_arm("a", low=0.5), stat=Stat("unit"))
    criteria = (bounded, AllOf((bounded, level)), replace(bounded, to=("b", "c")))
    one, two, both = (claim(criterion, procedure="exact") for criterion in criteria)
    region, bounds = Region(low=-0.02), (-1.0, 1.0)
    assert floor(one, 0.04) == floor_of_mean(region, "exact", 0.04, bounds)
    for shared in (two, both):
        assert floor(shared, 0.04) == floor_of_mean(region, "exact", 0.02, bounds)
    assert floor(one, 0.04) != floor(both, 0.04)
    rated = claim(AllOf((within(), Rate("hit", "a", low=0.9))))
    assert floor(rated, 0.04) == floor_of_mean(Region(0.9, 1.0), "exact", 0.02, (0.0, 1.0))
    assert floor(claim(within(), SURE), 0.04) == 1


def test_tries_are_needed_for_the_hardest_rate() -> None:
    easy, hard = (Rate("hit", "a", low=low, independent=True) for low in (0.5, 0.9))
    assert tries_needed(claim(hard), 0.04) == floor_of_rate(Region(0.9, 1.0), 0.04)
    for rates in ((easy, hard), (hard, easy)):
        needed = tries_needed(claim(AllOf(rates)), 0.04)
        assert needed == floor_of_rate(Region(0.9, 1.0), 0.02)
    assert tries_needed(claim(Rate("hit", "a", low=0.9)), 0.04) is None
    assert tries_needed(Claim("far", "It is.", "target", missing="a rocket"), 0.04) is None


def test_what_a_claim_reads() -> None:
    both = AllOf((within("c"), within("b"), Every("m", "b", high=1.0)))
    assert claim_arms(claim(both)) == ("a", "c", "b")
    assert replicates_budget(OF, 30) == 30
    assert replicates_budget(SURE, 30) == 1
    assert replicates_budget(replace(OF, source="recorded"), 30) == 1


# --- exceptions ----------------------------------------------------------------------------


def test_exceptions_share_the_level_among_the_data_sets() -> None:
    spread = [noise("a", "d2", r) for r in range(10)]
    mean = math.fsum(spread) / 10
    sd = math.sqrt(math.fsum((z - mean) ** 2 for z in spread) / 9)
    strict, lax = (anytime_t_interval(mean, sd, 10, level)[1] for level in (0.025, 0.1))
    assert lax < strict
    for edge, outside in (((strict + lax) / 2, ()), (strict + 0.01, ("d2",))):
        found = decided(
            of_arm("a", low=edge),
            lambda a, d, r: noise("a", "d2", r) + (100 + r if d == "d1" else 0),
        )
        alone = decided(
            of_arm("a", low=edge),
            lambda a, d, r: noise("a", "d2", r),
            of=replace(OF, datasets=(dataset("d2"),)),
        )
        assert (found.verdict, found.n) == ("holds", 10)
        assert found.exceptions == outside
        assert alone.exceptions == ()


def test_only_a_mean_that_holds_has_exceptions() -> None:
    recorded = replace(OF, source="recorded", datasets=(dataset("d1"),))

    def table(a: str, d: str, r: int) -> tuple[Row, ...]:
        values = {"x": 1.0, "y": 4.0} if a == "a" else {"x": 2.0, "y": 1.0}
        return tuple(Row(a, case, values={"m": v}) for case, v in values.items())

    holds = decided(within(low=0.5), table, 1, recorded)
    assert (holds.verdict, holds.effect, holds.exceptions) == ("holds", 1.0, ("d1/x",))
    fails = decided(within(low=2.0), table, 1, recorded)
    assert (fails.verdict, fails.exceptions) == ("fails", ())

    def hits(a: str, d: str, r: int) -> tuple[Row, ...]:
        return (Row(a, counts={"hit": (40 if d == "d1" else 20 + r % 3, 40)}),)

    rate = decided(Rate("hit", "a", low=0.6, independent=True), hits)
    assert (rate.verdict, rate.exceptions) == ("holds", ())


# --- what is refused, what is told ---------------------------------------------------------


def test_replicates_that_agree_in_every_arm_decide_nothing() -> None:
    def value(a: str, d: str, r: int) -> float:
        return (5.0 if a == "a" else 0.0) + (noise(a, d, r) if r > 1 else 0.0)

    found = decided(within(), value)
    assert (found.verdict, found.more_needed) == ("undecided", None)
    assert found.reason.startswith("refused: replicates 0 and 1 agree in every arm")
    assert found.parts[0].replicates == 5
    mine = replace(OF, datasets=(dataset("d1"), replace(dataset("d2"), own=True)))
    own = decided(within(), value, of=mine)
    assert own.reason.startswith("on these data the replicates don't differ in any arm")
    assert decided(within(), value, of=SURE).verdict == "holds"


def test_what_is_done_is_told_of_an_open_claim() -> None:
    def value(a: str, d: str, r: int) -> float:
        return 8 * noise(a, d, r)

    assert decided(of_arm("a", low=0.0), value, 13).reason == "13 of 20 replicates done"
    assert decided(of_arm("a", low=0.0), value, 20).reason == "budget spent"
    assert decided(of_arm("a", low=0.0), value, 30).reason == "budget spent"
    asked = claim(of_arm("a", low=0.0))
    found = decide(paper(asked), asked, filled(OF, value, 20), 20, upto=10)
    assert found.reason == "10 of 20 replicates done"
    assert decide(paper(asked), asked, filled(OF, value, 20), 20, upto=30).reason == "budget spent"


def test_an_exact_interval_beside_a_t_says_whether_it_confirms() -> None:
    def value(a: str, d: str, r: int) -> float:
        return 0.5 + 0.02 * noise(a, d, r)

    asked = claim(WithinOf(Stat("unit"), "a", scale="absolute", low=0.45))
    found = decide(paper(asked), asked, filled(OF, value, 20, "unit"), 20)
    low, high = found.parts[0].exact
    assert low < 0.45 < 0.5 < high
    said = f"exact interval [{low:.4g}, {high:.4g}], which does not confirm it"
    assert (found.verdict, found.reason) == ("holds", said)
    easy = claim(WithinOf(Stat("unit"), "a", scale="absolute", low=0.1))
    assert (
        "does not confirm"
        not in decide(paper(easy), easy, filled(OF, value, 20, "unit"), 20).reason
    )


def test_analysis_is_told_of_what_fails_and_preparation_of_all() -> None:
    of = replace(SURE, prepare="room.module:train")
    asked = {"of": of, "n": 1, "analysis": "It is the noise."}
    fails = decided(of_arm("a", low=2.0), lambda a, d, r: 1.0, **asked)
    assert fails.reason == "It is the noise.; given what train prepared"
    holds = decided(of_arm("a", low=0.0), lambda a, d, r: 1.0, **asked)
    assert holds.reason == "given what train prepared"


def test_failures_are_counted_up_to_the_look_that_decided() -> None:
    lost = {("a", "d1", 3), ("a", "d2", 12), ("b", "d1", 4), ("c", "d1", 1)}

    def value(a: str, d: str, r: int) -> float | None:
        level = 0.9 if a == "a" else 0.1
        return None if (a, d, r) in lost else level + 0.01 * noise(a, d, r)

    asked = claim(within(stat=Stat("unit"), low=0.01))
    found = decide(paper(asked), asked, filled(OF, value, 20, "unit"), 20)
    assert (found.verdict, found.n, found.failures) == ("holds", 10, 2)
    assert "2 failed trials, counted at the metric's bounds" in found.reason


def test_what_nobody_tried() -> None:
    far = Claim("far", "It is.", "target", missing="a rocket")
    ours = paper(claim(within()), far)
    for found in (untested(ours, far), decide(ours, far, None, 20)):
        assert (found.verdict, found.guarantee, found.unit) == ("untested", "none", "replicates")
        assert (found.n, found.level, found.failures, found.exceptions) == (0, 0.0, 0, ())
        assert (found.effect, found.low, found.high, found.more_needed) == (None,) * 4
        assert found.reason == "needs a rocket"
    assert decide(ours, ours.claims[0], None, 20).reason == "not run"
    assert not_run(ours, ours.claims[0], "no data").reason == "could not be run: no data"
    assert pieces(far) == []
    assert controls(far) == ()


def test_controls_are_asked_every_part() -> None:
    control = Arm("placebo", "builtins:dict", "control")
    of = replace(SURE, arms=(*ARMS, control))
    values = {"a": 3.0, "b": 1.0, "c": 0.0, "placebo": 2.0}
    evidence = filled(of, lambda a, d, r: values[a])
    both = claim(AllOf((within("b", low=1.5), within("c", low=0.5))), of)
    assert decide(paper(both), both, evidence, 20).verdict == "holds"
    found = control_decisions(paper(both), both, evidence, 20)
    assert list(found) == ["placebo"]
    assert [part.effect for part in found["placebo"].parts] == [1.0, 2.0]
    assert found["placebo"].verdict == "fails"
    single = control_decisions(paper(both), claim(within("c", low=0.5), of), evidence, 20)
    assert (single["placebo"].verdict, len(single["placebo"].parts)) == ("holds", 1)


def test_a_claim_fails_at_the_look_at_which_its_first_part_does() -> None:
    def value(a: str, d: str, r: int) -> float:
        # The second rival is as good until the tenth replicate, and better from then on.
        late = 0.3 * (-1) ** r if r < 10 else 1.0
        return {"a": 0.0, "b": 1.0, "c": late}[a] + 0.01 * noise(a, d, r)

    parts = (within("b"), within("c"))
    alone = decided(parts[1], value, 20)
    assert (alone.verdict, alone.n) == ("fails", 20)
    for order in (parts, parts[::-1]):
        found = decided(AllOf(order), value, 20)
        assert (found.verdict, found.n, found.effect) == ("fails", 10, pytest.approx(-1.0, abs=0.1))
        assert all(part.replicates == 10 for part in found.parts)


def test_a_claim_holds_at_the_look_at_which_its_last_part_does() -> None:
    lost = {("a", "d1", 3), ("a", "d2", 12), ("a", "d1", 17)}

    def value(a: str, d: str, r: int) -> float | None:
        level = {"a": 0.9, "b": 0.1, "c": 0.1 if r >= 5 or r % 2 else 0.8}[a]
        return None if (a, d, r) in lost else level + 0.01 * noise(a, d, r)

    units = [within(rival, stat=Stat("unit"), low=0.15) for rival in ("b", "c")]
    for order in (units, units[::-1]):
        asked = claim(AllOf(tuple(order)))
        found = decide(paper(asked), asked, filled(OF, value, 20, "unit"), 20)
        assert found.verdict == "holds"
        assert [part.replicates for part in found.parts] != [10, 10]
        last = max(part.replicates for part in found.parts)
        assert found.failures == sum(r < last for _, _, r in lost)
