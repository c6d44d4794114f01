"""Divergence, likelihood ratio and thresholds against independent formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import lambertw, rel_entr, zeta

from probatum.sequential import bernoulli_kl, glr_statistic, stopping_threshold
from probatum.sequential.glr import _c_exp, _inverse_h, divergence

MEANS = st.floats(0, 1, allow_subnormal=False)


def kl(p: float, q: float) -> float:
    return float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


@settings(deadline=None)
@given(MEANS, MEANS)
def test_divergence_is_that_of_scipy(p: float, q: float) -> None:
    assert bernoulli_kl(p, q) == pytest.approx(kl(p, q), rel=1e-7, abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(1e-14, 1e-4))
def test_divergence_of_near_means_keeps_its_digits(p: float, d: float) -> None:
    d = min(d, 0.01 * p)
    d = min(d, 0.01 * (1 - p))
    # The next term of the series is smaller by a factor of about d / min(p, 1 - p).
    lead = d * d / 2 * (1 / p + 1 / (1 - p)) + d**3 / 3 * (1 / p**2 - 1 / (1 - p) ** 2)
    assert divergence(p, p - d, d) == pytest.approx(lead, rel=2 * (d / min(p, 1 - p)) ** 2 + 1e-9)


@pytest.mark.parametrize("bad", [(-0.1, 0.5), (0.5, 1.1), (float("nan"), 0.5)])
def test_no_probability_no_divergence(bad: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        bernoulli_kl(*bad)


COUNTS = st.lists(
    st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    min_size=2,
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(COUNTS)
def test_glr_is_a_ratio_of_maximised_likelihoods(counts: list[tuple[int, int]]) -> None:
    s, n = np.array(counts).T
    found = glr_statistic(s, n)
    means = s / n
    best = int(np.argmax(means))
    if (means == means[best]).sum() > 1:
        assert found == 0.0
        return
    expected = min(
        n[best] * kl(means[best], (s[best] + s[a]) / (n[best] + n[a]))
        + n[a] * kl(means[a], (s[best] + s[a]) / (n[best] + n[a]))
        for a in range(n.size)
        if a != best
    )
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("all_of", [0, 1])
def test_glr_of_arms_that_all_fail_or_all_succeed_is_nothing(all_of: int) -> None:
    assert glr_statistic([5 * all_of, 5 * all_of, 5 * all_of], [5, 5, 5]) == 0.0


def test_glr_without_a_pull_of_an_arm_is_nothing() -> None:
    assert glr_statistic([9, 0], [10, 0]) == 0.0


@pytest.mark.parametrize(
    ("s", "n", "why"),
    [([1], [2], "at least 2"), ([1, 3], [2, 2], "between 0"), ([0.5, 1], [2, 2], "whole")],
)
def test_counts_must_be_counts(s: list[float], n: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        glr_statistic(s, n)


@settings(max_examples=200, deadline=None)
@given(st.floats(1.0001, 600))
def test_inverse_of_h_is_the_lower_branch_of_lambert_w(x: float) -> None:
    assert _inverse_h(x) == pytest.approx(-lambertw(-math.exp(-x), -1).real, rel=1e-9)


@pytest.mark.parametrize("x", [1.0, 745.2, 1e4, 1e8])
def test_inverse_of_h_where_the_exponential_underflows(x: float) -> None:
    u = _inverse_h(x)
    assert u - math.log(u) == pytest.approx(x, rel=1e-12)


def c_exp(x: float) -> float:
    """The textbook form, by scipy's Lambert W and zeta."""

    def h_inv(y: float) -> float:
        return float(-lambertw(-math.exp(-y), -1).real)

    z = 1.5
    y = (h_inv(1 + x) + math.log(2 * zeta(2))) / 2
    corner = 1 / math.log(z) + math.log(math.log(z))
    if y >= corner:
        return 2 * math.exp(1 / h_inv(y)) * h_inv(y)
    return 2 * z * (y - math.log(math.log(z)))


@settings(deadline=None)
@given(st.floats(0.01, 600))
def test_c_exp_is_the_textbook_form(x: float) -> None:
    assert _c_exp(x) == pytest.approx(c_exp(x), rel=1e-9)


def test_c_exp_is_not_its_approximation() -> None:
    def rough(x: float) -> float:
        return x + 4 * math.log(1 + x + math.sqrt(2 * x))

    assert rough(5.0) / _c_exp(5.0) == pytest.approx(0.91, abs=0.01)
    assert rough(35.0) / _c_exp(35.0) == pytest.approx(1.02, abs=0.01)


def test_mixture_threshold_by_hand() -> None:
    expected = 2 * c_exp(math.log(3 / 0.1) / 2)
    expected += 3 * math.log(1 + math.log(40)) + 3 * math.log(1 + math.log(7))
    found = stopping_threshold("mixture", [40, 10, 7, 90], 0, 2, math.log(10))
    assert found == pytest.approx(expected)


def test_heuristic_threshold_by_hand() -> None:
    found = stopping_threshold("heuristic", [40, 60], 0, 1, math.log(10))
    assert found == pytest.approx(math.log((1 + math.log(100)) / 0.1))
    assert stopping_threshold("uncorrected", [40, 60], 0, 1, 3.0) == 3.0


def test_threshold_approaches_log_inv_delta() -> None:
    ratios = [
        stopping_threshold("mixture", [t, t, t], 0, 1, target) / target
        for t, target in ((10**3, 2.3), (10**5, 230.0), (10**7, 2.3e5))
    ]
    assert ratios[0] > 5 > 1.3 > ratios[1] > 1.01 > ratios[2] > 1


@pytest.mark.parametrize(
    ("kind", "pulls", "target", "why"),
    [
        ("magic", [1, 1], 1.0, "one of"),
        ("mixture", [1, 0], 1.0, "each pulled"),
        ("mixture", [1, 1], 0.0, "positive"),
    ],
)
def test_threshold_of_nonsense(kind: str, pulls: list[int], target: float, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        stopping_threshold(kind, pulls, 0, 1, target)  # type: ignore[arg-type]
