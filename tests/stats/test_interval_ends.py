"""Intervals at the edge of what they take: bounds, levels, few observations, rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from probatum.stats import (
    anytime_t_e_value,
    anytime_t_half_width,
    anytime_t_interval,
    betting_interval,
    log_rate_evidence,
    log_wealth,
    rate_interval,
)
from probatum.stats.betting import WEIGHTS
from probatum.stats.rates import fit_rate

NO_LEVELS = [0.0, 1.0, -0.5, 1.5]


@pytest.mark.parametrize("alpha", NO_LEVELS)
def test_levels_lie_strictly_between_0_and_1(alpha: float) -> None:
    said = "must lie strictly between 0 and 1"
    with pytest.raises(ValueError, match=said):
        anytime_t_half_width(10, alpha)
    with pytest.raises(ValueError, match=said):
        anytime_t_interval(0.0, 1.0, 10, alpha)
    with pytest.raises(ValueError, match=said):
        betting_interval([0.5] * 10, alpha, (0.0, 1.0))
    with pytest.raises(ValueError, match=said):
        rate_interval(5, 10, alpha)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        fit_rate([1, 2, 4], [1, 2, 4], level=alpha)


# --- anytime t -----------------------------------------------------------------------------


def test_an_e_value_needs_an_observation_and_a_scale() -> None:
    for n, scale in ((0, 1.0), (-1, 1.0), (5, 0.0), (5, -1.0), (5, math.nan)):
        with pytest.raises(ValueError, match="must be"):
            anytime_t_e_value(1.0, n, scale)
    assert anytime_t_e_value(3.0, 1) == 1.0
    assert anytime_t_e_value(3.0, 2) != 1.0


def test_two_observations_bound_a_mean_where_little_is_asked() -> None:
    half = anytime_t_half_width(2, 0.9, 10.0)
    assert math.isfinite(half)
    # At its end the evidence is what the level asks.
    assert anytime_t_e_value(half * math.sqrt(2), 2, 10.0) == pytest.approx(1 / 0.9)
    assert anytime_t_half_width(1, 0.9, 10.0) == math.inf
    # The level that no t statistic exceeds and that the supremum just reaches.
    assert anytime_t_half_width(3, 0.25) == math.inf
    assert math.isfinite(anytime_t_half_width(3, 0.2501))


# --- betting -------------------------------------------------------------------------------


def test_wealth_against_a_mean_of_zero() -> None:
    assert log_wealth(np.zeros(3), 0.0) == 0.0
    assert log_wealth(np.array([0.0, 0.25]), 0.0) == math.inf
    assert log_wealth(np.array([0.25, 0.5]), 0.0) == math.inf


def test_wealth_that_no_number_holds_has_a_logarithm() -> None:
    x, m = np.ones(10_000), 1e-3
    # The boldest bet takes it all: the others are nothing beside it.
    assert log_wealth(x, m) == pytest.approx(10_000 * math.log(1 / m) + math.log(WEIGHTS[0]))
    with np.errstate(divide="ignore"):
        assert log_wealth(np.r_[0.0, x], m) > 9_000 * math.log(1 / m) / 2


@pytest.mark.parametrize(
    "bounds",
    [(0.0, math.inf), (-math.inf, 1.0), (math.nan, 1.0), (0.5, 0.5), (1.0, 0.0)],
)
def test_bounds_are_finite_and_increasing(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="bounds must be finite and increasing"):
        betting_interval([], 0.05, bounds)


@pytest.mark.parametrize(("a", "b"), [(-1.0, 1.0), (0.0, 1.0), (0.0, 1000.0), (-3.0, -1.0)])
def test_observations_may_leave_the_bounds_by_rounding_alone(a: float, b: float) -> None:
    inside = [a, b, a + 0.25 * (b - a)] * 5
    wide = b - a
    beyond = [a - 5e-10 * wide, b + 5e-10 * wide, a + 0.25 * wide] * 5
    found = betting_interval(beyond, 0.05, (a, b))
    assert found == pytest.approx(betting_interval(inside, 0.05, (a, b)), rel=1e-9)
    assert a <= found[0] < found[1] <= b
    for out in (a - 5e-9 * wide, b + 5e-9 * wide, math.nan):
        with pytest.raises(ValueError, match="lies outside the bounds"):
            betting_interval([*inside, out], 0.05, (a, b))


def test_what_is_beyond_a_bound_by_rounding_counts_as_the_bound() -> None:
    for edge in (0.0, 1.0):
        beyond = edge + (1e-10 if edge else -1e-10)
        found = betting_interval([beyond] * 30, 0.05, (0.0, 1.0))
        assert found == betting_interval([edge] * 30, 0.05, (0.0, 1.0))


def test_ends_are_sharp_however_small_they_are() -> None:
    for size in (1e-2, 1e-5, 1e-8, 1e-11):
        x = np.full(60, size)
        low, _ = betting_interval(x, 0.05, (0.0, 1.0))
        target = math.log(2 / 0.05)
        assert 0 < low < size
        assert log_wealth(x, low) >= target > log_wealth(x, low * (1 + 1e-9))


def test_ends_below_the_smallest_count_as_zero() -> None:
    low, high = betting_interval(np.full(60, 2.0**-60), 0.05, (0.0, 1.0))
    assert low == 0.0
    assert 0 < high < 0.2
    assert betting_interval([0.0] * 5, 0.05, (0.0, 1.0))[0] == 0.0
    # Half of this mean is the smallest end that counts: reached by sixty, and not by three.
    assert betting_interval([2.0**-47] * 3, 0.05, (0.0, 1.0))[0] == 0.0
    assert 2.0**-48 <= betting_interval([2.0**-47] * 60, 0.05, (0.0, 1.0))[0] < 2.0**-47


# --- rates of success ----------------------------------------------------------------------


def test_a_rate_that_is_impossible_has_all_evidence_against_it() -> None:
    assert log_rate_evidence(1, 3, 0.0) == math.inf
    assert log_rate_evidence(1, 3, 1.0) == math.inf
    assert math.isfinite(log_rate_evidence(0, 3, 0.0))
    assert math.isfinite(log_rate_evidence(3, 3, 1.0))


@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (19, 20)])
def test_the_ends_of_a_rate_are_where_the_evidence_reaches_its_threshold(k: int, n: int) -> None:
    for end, side in zip(rate_interval(k, n, 0.1), (-1, 1), strict=True):
        if end in (0.0, 1.0):
            assert log_rate_evidence(k, n, end) < -math.log(0.1)
        else:
            assert log_rate_evidence(k, n, end) >= -math.log(0.1)
            assert log_rate_evidence(k, n, end - side * 1e-9) < -math.log(0.1)


# --- rates of decay ------------------------------------------------------------------------


def test_as_few_sizes_and_replicates_as_can_do() -> None:
    two = fit_rate([1, 2], [[1, 2], [1, 4]])
    assert (two.exponent, two.n) == (pytest.approx(1.5), 2)
    assert fit_rate([1, 2, 4], [1, 2, 4]).n == 3
    for x, y in (
        ([1, 2], [1, 2]),
        ([1, 1, 2], [1, 1, 2]),
        ([1, 2], [[1, 2]]),
        ([1, 1], [[1, 1], [1, 2]]),
    ):
        with pytest.raises(ValueError, match="distinct sizes"):
            fit_rate(x, y)


def test_one_value_that_is_no_number_is_enough_to_refuse() -> None:
    for bad in (math.nan, math.inf, 0.0, -1.0):
        with pytest.raises(ValueError, match="x must be positive and finite"):
            fit_rate([1, 2, bad], [1, 2, 3])
        with pytest.raises(ValueError, match="y must be positive and finite"):
            fit_rate([1, 2, 3], [1, bad, 3])


def test_the_interval_of_replicates_is_students_for_the_mean_of_their_slopes() -> None:
    x = np.array([10.0, 100.0, 1000.0, 10_000.0])
    y = np.random.default_rng(3).lognormal(sigma=0.3, size=(6, 4)) * 5 * x**-0.7
    slopes = [stats.linregress(np.log(x), np.log(row)).slope for row in y]
    found = fit_rate(x, y, level=0.9)
    low, high = stats.t.interval(0.9, 5, np.mean(slopes), stats.sem(slopes))
    assert found.exponent == pytest.approx(np.mean(slopes))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.standard_error == pytest.approx(stats.sem(slopes))
    assert (found.level, found.n) == (0.9, 6)
    assert fit_rate(x, y).level == 0.95
    centre = np.log(y).mean() - found.exponent * np.log(x).mean()
    assert found.constant == pytest.approx(math.exp(centre))
