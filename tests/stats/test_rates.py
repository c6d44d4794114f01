"""Exponents of power laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import linregress

from probatum.stats.rates import fit_rate

SIZES = np.array([100, 300, 1_000, 3_000, 10_000])


@given(exponent=st.floats(-3, 3), constant=st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_exact_laws_are_recovered(exponent: float, constant: float) -> None:
    fit = fit_rate(SIZES, constant * SIZES**exponent)
    assert fit.exponent == pytest.approx(exponent, abs=1e-9)
    assert fit.constant == pytest.approx(constant, rel=1e-7)
    assert fit.low <= fit.exponent <= fit.high


def test_one_curve_equals_linear_regression() -> None:
    y = np.random.default_rng(0).lognormal(size=5)
    theirs = linregress(np.log(SIZES), np.log(y))
    ours = fit_rate(SIZES, y)
    assert ours.exponent == pytest.approx(theirs.slope)
    assert ours.standard_error == pytest.approx(theirs.stderr)
    assert ours.n == 5


def test_intervals_from_replicates_cover_though_sizes_are_dependent() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        walk = np.cumsum(rng.normal(size=(15, 5)), axis=1)  # a slow error along each curve
        fit = fit_rate(SIZES, np.exp(0.1 * walk) / SIZES, level=0.9)
        covered += fit.low <= -1 <= fit.high
    assert 0.86 < covered / 400 < 0.94


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        ([1, 2], [1, 2, 3], {}, "last axis of y"),
        ([1, 2, 0], [1, 2, 3], {}, "x must be positive"),
        ([1, 2, 3], [1, -2, 3], {}, "y must be positive"),
        ([1, 2, 3], [1, 2, float("nan")], {}, "y must be positive and finite"),
        ([1, 2], [1, 2], {}, "need 3 distinct sizes, got 2"),
        ([1, 2], [[1, 2]], {}, "need 2 distinct sizes and 2 replicates, got 2 and 1"),
        ([1, 2, 3], [1, 2, 3], {"level": 1}, "level must lie between 0 and 1, got 1"),
    ],
)
def test_bad_input(x: list, y: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_rate(x, y, **options)
