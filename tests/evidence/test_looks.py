"""Looks: the numbers that a verdict, a forecast and a floor are made from, to the edge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betaln

from probatum.evidence.procedures import (
    ALPHA,
    FIRST_T_LOOK,
    MOST_REPLICATES,
    Look,
    Region,
    decide_mean,
    decide_rate,
    floor_of_mean,
    floor_of_rate,
    look_schedule,
    mean_looks,
    modal_share,
    rate_looks,
    replicates_needed,
    trials_needed,
)
from probatum.stats import (
    anytime_t_half_width,
    anytime_t_interval,
    betting_interval,
    log_wealth,
    rate_interval,
)

UNIT = (0.0, 1.0)


def t_interval(z: np.ndarray, alpha: float = ALPHA) -> tuple[float, float]:
    return anytime_t_interval(float(np.mean(z)), float(np.std(z, ddof=1)), len(z), alpha)


# --- the schedule and the region -----------------------------------------------------------


def test_steps_double_after_four_looks() -> None:
    assert list(look_schedule(10_000))[:17] == [
        *(5, 10, 15, 20),
        *(30, 40, 50, 60),
        *(80, 100, 120, 140),
        *(180, 220, 260, 300),
        380,
    ]
    assert list(look_schedule(10)) == [5, 10]
    assert list(look_schedule(11)) == [5, 10, 11]
    assert list(look_schedule(10, first=10)) == [10]
    assert list(look_schedule(9, first=10)) == []


def test_a_region_holds_its_edges() -> None:
    region = Region(0.0, 1.0)
    assert region.verdict(0.0, 1.0) == "holds"
    assert region.verdict(1.0, 1.5) == "undecided"
    assert region.verdict(-1.0, 0.0) == "undecided"
    assert region.verdict(math.nextafter(1.0, 2.0), 2.0) == "fails"
    assert Region(0.5, 0.5).verdict(0.5, 0.5) == "holds"
    for low, high in ((math.nan, 1.0), (0.0, math.nan)):
        with pytest.raises(ValueError, match="low <= high"):
            Region(low, high)
    assert Region(high=0.0).verdict(-5.0, -1.0) == "holds"


# --- one look ------------------------------------------------------------------------------


def test_the_commonest_value_is_found_to_nine_digits_of_the_largest() -> None:
    assert modal_share(np.array([1.0, 1.0 + 3e-10, 0.5, 0.25])) == 0.5
    assert modal_share(np.array([1.0, 1.0 + 3e-8, 0.5, 0.25])) == 0.25
    assert modal_share(np.array([1e-8, 2e-8, 3e-8, 1e-8])) == 0.5
    assert modal_share(np.array([1e8, 2e8, 3e8, 1e8])) == 0.5
    assert modal_share(np.array([0.0, -0.0, 1.0])) == pytest.approx(2 / 3)
    assert modal_share(np.array([0.0, 0.0])) == 1.0
    assert modal_share(np.array([math.inf, 1.0])) == 0.5


def test_a_t_interval_is_used_while_no_more_than_half_are_alike() -> None:
    half = np.r_[np.full(5, 1.0), np.linspace(1.1, 1.5, 5)]
    found = decide_mean(half, Region(low=0))
    assert (found.verdict, found.refused) == ("holds", "")
    assert (found.low, found.high) == t_interval(half)
    more = np.r_[np.full(6, 1.0), np.linspace(1.1, 1.5, 4)]
    refused = decide_mean(more, Region(low=0))
    assert (refused.verdict, refused.low, refused.high) == ("undecided", -math.inf, math.inf)
    assert refused.n == 10
    assert mean_looks(more, [10]) == []


def test_the_interval_is_that_of_the_look_it_stopped_at() -> None:
    z = np.random.default_rng(0).normal(0.4, 1.0, 60)
    z[3] = math.nan
    found = decide_mean(z, Region(low=-0.2, high=5.0), alpha=0.1)
    assert 10 < found.n < 60
    seen = np.delete(z[: found.n], 3)
    assert (found.low, found.high) == pytest.approx(t_interval(seen, 0.1))
    assert found.effect == pytest.approx(seen.mean())
    assert found.exact is None
    looks = mean_looks(z, [5, 10, 15, 20], alpha=0.1)
    assert [look.n for look in looks] == [15, 20]
    own = np.delete(z[:15], 3)
    assert looks[0] == pytest.approx((15, own.mean(), *t_interval(own, 0.1)))


def test_the_exact_interval_stands_beside_the_t_where_there_are_bounds() -> None:
    z = np.random.default_rng(1).uniform(0.4, 0.9, 20)
    found = decide_mean(z, Region(low=0.9), bounds=UNIT, alpha=0.01)
    assert found.exact == betting_interval(z[: found.n], 0.01, UNIT)
    alone = decide_mean(z, Region(low=0.9), bounds=UNIT, alpha=0.01, procedure="exact")
    assert alone.exact is None
    assert (alone.low, alone.high) == betting_interval(z[: alone.n], 0.01, UNIT)
    paths = mean_looks(z, [1, 5, 20], procedure="exact", bounds=UNIT, alpha=0.01)
    assert [look.n for look in paths] == [1, 5, 20]
    assert paths[1] == Look(5, pytest.approx(z[:5].mean()), *betting_interval(z[:5], 0.01, UNIT))


def test_a_forecast_needs_two_replicates() -> None:
    for n, there in ((1, False), (2, True), (3, True)):
        found = decide_mean([0.5] * n, Region(low=0.2), procedure="exact", bounds=UNIT)
        assert (found.more_needed is not None) is there
    region = Region(low=0.2)
    needed = replicates_needed(np.full(4, 0.5), region, procedure="exact", bounds=UNIT)
    found = decide_mean([0.5] * 4, region, procedure="exact", bounds=UNIT)
    assert found.more_needed == needed - 4


def test_nothing_is_looked_at_where_nothing_came() -> None:
    found = decide_rate([], [], Region(low=0.5))
    assert (found.verdict, found.low, found.high, found.n) == ("undecided", 0.0, 1.0, 0)
    assert math.isnan(found.effect)
    assert found.more_needed is None
    early = decide_rate([3, 2], [4, 4], Region(low=0.5), budget=20)
    assert (early.low, early.high, early.n, early.effect) == (0.0, 1.0, 2, 0.625)
    empty = decide_rate([0, 0], [0, 0], Region(low=0.5))
    assert (empty.more_needed, empty.n) == (None, 2)
    assert math.isnan(empty.effect)


def test_a_rate_is_of_the_tries_up_to_its_look() -> None:
    k, n = [4, 5, 3, 5, 4] * 8, [5] * 40
    found = decide_rate(k, n, Region(low=0.6))
    assert found.verdict == "holds"
    assert found.n in (10, 15, 20, 30)
    assert found.effect == sum(k[: found.n]) / (5 * found.n)
    assert (found.low, found.high) == rate_interval(sum(k[: found.n]), 5 * found.n, ALPHA)
    looks = rate_looks(k, n, [5, 10], alpha=0.1)
    assert looks == [
        Look(5, 0.84, *rate_interval(21, 25, 0.1)),
        Look(10, 0.84, *rate_interval(42, 50, 0.1)),
    ]
    assert rate_looks([0, 1], [0, 2], [1, 2])[0].n == 2


def test_a_forecast_of_a_rate_counts_replicates_of_the_size_seen() -> None:
    region = Region(low=0.85)
    found = decide_rate([9] * 10, [10] * 10, region)
    needed = trials_needed(0.9, region)
    assert found.verdict == "undecided"
    assert found.more_needed == math.ceil((needed - 100) / 10)
    assert decide_rate([9] * 10, [10] * 10, Region(low=0.9)).more_needed is None


# --- forecasts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("region", "gap"),
    [
        (Region(low=0.1), 0.4),
        (Region(high=0.8), 0.3),
        (Region(0.1, 0.8), 0.3),
        (Region(0.4, 2.0), 0.1),
        (Region(low=0.7), 0.2),
        (Region(high=0.2), 0.3),
    ],
)
def test_a_t_is_forecast_where_its_half_width_is_the_gap_to_the_edge(
    region: Region, gap: float
) -> None:
    z = np.array([-0.5, 0.5, 1.5, 0.5, 0.9, 0.1])
    sd = float(np.std(z, ddof=1))
    n = replicates_needed(z, region, alpha=0.02)
    assert anytime_t_half_width(n, 0.02) * sd <= gap + 1e-12
    assert n == FIRST_T_LOOK or anytime_t_half_width(n - 1, 0.02) * sd > gap - 1e-12
    assert n > FIRST_T_LOOK


def test_a_mean_on_an_edge_or_hardly_off_it_is_not_forecast() -> None:
    z = np.array([-1.0, 0.0, 1.0])
    assert replicates_needed(z, Region(low=0.0)) is None
    assert replicates_needed(z, Region(0.0, 1.0)) is None
    assert replicates_needed(z, Region(-1.0, 0.0)) is None
    assert replicates_needed(z, Region(low=-1e-9)) is None
    assert replicates_needed(np.array([5.0, 5.0]), Region(low=0.0)) == FIRST_T_LOOK
    with pytest.raises(ValueError, match="needs a metric with bounds"):
        replicates_needed(z, Region(low=0.5), procedure="exact")


@pytest.mark.parametrize(
    "region",
    [Region(low=0.3), Region(high=0.8), Region(0.3, 0.8), Region(low=0.7), Region(high=0.4)],
)
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 3.0)])
def test_an_exact_forecast_is_where_wealth_against_the_edges_reaches_its_target(
    region: Region, bounds: tuple[float, float]
) -> None:
    z = np.array([0.25, 0.5, 0.75, 0.7])
    n = replicates_needed(z, region, procedure="exact", alpha=0.1, bounds=bounds)
    mean, (a, b) = z.mean(), bounds
    unit, target = (z - a) / (b - a), math.log(2 / 0.1)

    def reached(times: int) -> bool:
        """Whether so many rounds of the four clear the edges that count."""
        many = np.tile(unit, times)
        below = log_wealth(many, (region.low - a) / (b - a)) if region.low > a else math.inf
        above = log_wealth(1 - many, (b - region.high) / (b - a)) if region.high < b else math.inf
        if region.low <= mean <= region.high:
            return below >= target and above >= target
        high, low = (b - region.low) / (b - a), (region.high - a) / (b - a)
        return (
            log_wealth(many, low) >= target
            if mean > region.high
            else log_wealth(1 - many, high) >= target
        )

    assert reached(math.ceil(n / 4))
    assert not reached((n - 1) // 4)


def test_one_replicate_may_do() -> None:
    assert replicates_needed(np.ones(2), Region(low=1e-3), procedure="exact", bounds=UNIT) == 1
    assert trials_needed(1.0, Region(high=0.01), 0.5) == 1
    assert trials_needed(0.5, Region(high=0.0)) == 1
    assert trials_needed(0.5, Region(low=1.0)) == 1


def test_trials_are_forecast_where_the_evidence_against_the_edges_reaches_its_target() -> None:
    def evidence(k: float, n: float, p: float) -> float:
        prior = betaln(k + 0.5, n - k + 0.5) - betaln(0.5, 0.5)
        return float(prior - k * math.log(p) - (n - k) * math.log(1 - p))

    for region, edges in (
        (Region(0.2, 0.6), (0.2, 0.6)),
        (Region(low=0.2), (0.2,)),
        (Region(0.5, 0.6), (0.5,)),
        (Region(high=0.3), (0.3,)),
    ):
        n = trials_needed(0.4, region, 0.01)
        assert all(evidence(0.4 * n, n, p) >= -math.log(0.01) for p in edges)
        assert not all(evidence(0.4 * (n - 1), n - 1, p) >= -math.log(0.01) for p in edges)
    assert trials_needed(0.4, Region(0.4, 0.6)) is None
    assert trials_needed(0.6, Region(0.4, 0.6)) is None
    assert trials_needed(0.4, Region(low=0.4 + 1e-7)) is None


# --- floors --------------------------------------------------------------------------------


def test_the_floor_of_a_t_is_where_it_is_finite() -> None:
    for alpha in (1e-3, 1e-9, 1e-12, 1e-15):
        n = floor_of_mean(Region(low=0), "t", alpha)
        assert math.isfinite(anytime_t_half_width(n, alpha))
        assert n == FIRST_T_LOOK or math.isinf(anytime_t_half_width(n - 1, alpha))


@pytest.mark.parametrize(
    ("region", "best"),
    [
        (Region(low=0.2), 1.0),
        (Region(high=-0.2), -1.0),
        (Region(-1.0, -0.2), -1.0),
        (Region(0.2, 1.0), 1.0),
        (Region(-0.5, 0.25), 0.0),
        (Region(low=-0.25), 0.0),
        (Region(high=0.25), 0.0),
        # Equality lies on the edge: it is not claimed.
        (Region(low=0.0), 1.0),
        (Region(-1.0, 0.0), -1.0),
    ],
)
def test_the_floor_of_a_mean_is_what_the_best_mean_takes(region: Region, best: float) -> None:
    bounds = (-1.0, 1.0)
    n = floor_of_mean(region, "exact", 0.02, bounds)
    needed = replicates_needed(
        np.array([best]), region, procedure="exact", alpha=0.02, bounds=bounds
    )
    assert n == needed < MOST_REPLICATES


@pytest.mark.parametrize("region", [Region(0.2, 0.6), Region(0.0, 0.5), Region(-0.5, 0.0)])
def test_the_floor_between_two_edges_is_that_of_no_mean_undercut(region: Region) -> None:
    bounds = (-1.0, 1.0)
    n = floor_of_mean(region, "exact", 0.05, bounds)
    each = [
        replicates_needed(np.array([m]), region, procedure="exact", bounds=bounds)
        for m in np.linspace(region.low, region.high, 67)[1:-1]
    ]
    least = min(needed for needed in each if needed is not None)
    assert least <= n <= 1.1 * least + 1


def test_the_floor_of_a_rate_between_two_edges() -> None:
    region = Region(0.2, 0.6)
    least = min(trials_needed(float(p), region) or 10**9 for p in np.linspace(0.21, 0.59, 191))
    assert least <= floor_of_rate(region) <= 1.1 * least
    assert floor_of_rate(Region(low=0.9), 0.01) == trials_needed(1.0, Region(low=0.9), 0.01)
    assert floor_of_rate(Region(high=0.1), 0.01) == trials_needed(0.0, Region(high=0.1), 0.01)


def test_what_no_mean_can_reach_has_no_floor() -> None:
    assert floor_of_mean(Region(low=1.5), "exact", ALPHA, (-1.0, 1.0)) == MOST_REPLICATES
    assert floor_of_mean(Region(high=-1.5), "exact", ALPHA, (-1.0, 1.0)) == MOST_REPLICATES
    assert floor_of_mean(Region(low=1.0), "exact", ALPHA, (-1.0, 1.0)) == MOST_REPLICATES


# --- as little as can be -------------------------------------------------------------------


def test_a_share_is_of_values_that_agree_to_nine_digits_and_no_fewer() -> None:
    assert modal_share(np.array([1.0, 1.0 + 3e-9, 0.5, 0.25])) == 0.25
    assert modal_share(np.array([math.inf, 1.0, 2.0])) == pytest.approx(1 / 3)


def test_one_replicate_decides_where_it_says_enough() -> None:
    found = decide_mean([1.0], Region(low=1e-3), procedure="exact", bounds=UNIT)
    assert (found.verdict, found.n) == ("holds", 1)


def test_replicates_that_say_nothing_have_no_interval() -> None:
    for procedure in ("t", "exact"):
        nothing = decide_mean([math.nan] * 20, Region(low=0.2), procedure=procedure, bounds=UNIT)
        assert (nothing.low, nothing.high, nothing.n) == (-math.inf, math.inf, 20)
        assert (nothing.verdict, nothing.more_needed, nothing.exact) == ("undecided", None, None)
    z = np.array([math.nan, 0.5, 0.75])
    looks = mean_looks(z, [1, 3], procedure="exact", bounds=UNIT)
    assert [look.n for look in looks] == [3]


def test_one_replicate_more_of_many_tries_may_do() -> None:
    region = Region(low=0.9)
    assert trials_needed(1.0, region) == 53
    assert decide_rate([10] * 5, [10] * 5, region).more_needed == 1
    assert decide_rate([7] * 5, [7] * 5, region).more_needed == 3


def test_values_at_a_bound_by_rounding_and_edges_beyond_it_are_forecast() -> None:
    bounds = (-1.0, 1.0)
    for sign in (-1.0, 1.0):
        z = sign * np.array([1.0 + 1e-13, -0.5, -0.5, -0.5])
        region = Region(low=-0.9) if sign < 0 else Region(high=0.9)
        exact = replicates_needed(np.clip(z, -1, 1), region, procedure="exact", bounds=bounds)
        assert replicates_needed(z, region, procedure="exact", bounds=bounds) == exact is not None
    z = np.array([-0.5, 0.25, 0.5])
    for region in (Region(high=-2.0), Region(low=2.0)):
        assert replicates_needed(z, region, procedure="exact", bounds=bounds) == 1
    assert trials_needed(1.0, Region(low=1.5)) == 1
    assert trials_needed(0.0, Region(high=-0.5)) == 1


def test_a_mean_on_an_edge_is_not_forecast_though_nothing_varies() -> None:
    assert replicates_needed(np.zeros(4), Region(low=0.0)) is None
    assert replicates_needed(np.zeros(4), Region(high=0.0)) is None


def test_forecasts_end_at_about_ten_million() -> None:
    z = np.array([-1.0, 0.0, 1.0])

    def needed(n: float) -> int | None:
        """The forecast where the gap to the edge is about the half-width at ``n``."""
        gap = math.sqrt((math.log(n) - 2 * math.log(ALPHA)) / n)
        return replicates_needed(z, Region(low=-gap))

    assert needed(2e6) == pytest.approx(2e6, rel=0.01)
    assert needed(4.8e6) == pytest.approx(4.8e6, rel=0.01)
    assert needed(2e7) is None
    assert needed(5e7) is None


def test_a_schedule_starts_at_one_where_nothing_else_is_asked() -> None:
    assert list(look_schedule(1)) == [1]
    assert list(look_schedule(0)) == []
