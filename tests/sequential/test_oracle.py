"""Oracle weights against published numbers, closed forms and a solver by bisection."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from probatum.sequential import bernoulli_kl, characteristic_time, oracle_weights


@pytest.mark.parametrize(
    ("means", "published"),
    [
        ((0.5, 0.45, 0.43, 0.4), (0.417, 0.390, 0.136, 0.057)),
        ((0.3, 0.21, 0.2, 0.19, 0.18), (0.336, 0.251, 0.177, 0.132, 0.104)),
    ],
)
def test_published_weights(means: tuple[float, ...], published: tuple[float, ...]) -> None:
    weights, _ = oracle_weights(means)
    assert weights == pytest.approx(published, abs=6e-4)


def entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


@settings(max_examples=200, deadline=None)
@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_two_arms_in_closed_form(one: float, two: float) -> None:
    assume(abs(one - two) > 1e-3)
    high, low = max(one, two), min(one, two)
    logit = (entropy(low) - entropy(high)) / (high - low)
    m = 1 / (1 + math.exp(-logit))
    weights, time = oracle_weights([high, low])
    assert time == pytest.approx(1 / bernoulli_kl(high, m), rel=1e-6)
    assert weights[0] == pytest.approx((m - low) / (high - low), abs=1e-6)


def by_bisection(means: np.ndarray) -> tuple[np.ndarray, float]:
    """The same allocation by nested `brentq`, in x instead of u."""
    b = int(np.argmax(means))
    others = [a for a in range(means.size) if a != b]

    def parts(a: int, x: float) -> tuple[float, float]:
        m = (means[b] + x * means[a]) / (1 + x)
        return bernoulli_kl(means[b], m), bernoulli_kl(means[a], m)

    def ratio(a: int, y: float) -> float:
        def off(u: float) -> float:
            k_b, k_a = parts(a, u / (1 - u))
            return k_b + u / (1 - u) * k_a - y

        u = brentq(off, 0, 1 - 1e-9, xtol=1e-15, rtol=1e-14)
        return float(u / (1 - u))

    def excess(y: float) -> float:
        total = 0.0
        for a in others:
            k_b, k_a = parts(a, ratio(a, y))
            total += k_b / k_a
        return total - 1

    nearest = min(bernoulli_kl(means[b], means[a]) for a in others)
    y = brentq(excess, 1e-4 * nearest, nearest * (1 - 1e-4), xtol=1e-17, rtol=1e-13)
    x = np.ones(means.size)
    for a in others:
        x[a] = ratio(a, y)
    return x / x.sum(), float(x.sum() / y)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=7))
def test_agrees_with_bisection(means: list[float]) -> None:
    mu = np.array(means)
    top = np.sort(mu)
    assume(top[-1] - top[-2] > 1e-3)
    weights, time = oracle_weights(mu)
    expected, expected_time = by_bisection(mu)
    assert weights == pytest.approx(expected, abs=1e-6)
    assert time == pytest.approx(expected_time, rel=1e-6)


def test_solves_the_max_min_problem() -> None:
    mu = np.array([0.8, 0.6, 0.5])

    def worst(w: np.ndarray) -> float:
        rates = []
        for a in (1, 2):
            m = (w[0] * mu[0] + w[a] * mu[a]) / (w[0] + w[a])
            rates.append(w[0] * bernoulli_kl(mu[0], m) + w[a] * bernoulli_kl(mu[a], m))
        return min(rates)

    weights, time = oracle_weights(mu)
    assert worst(weights) == pytest.approx(1 / time, rel=1e-9)
    found = minimize(
        lambda v: -worst(np.exp(v) / np.exp(v).sum()),
        np.zeros(3),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000},
    )
    assert -found.fun <= 1 / time * (1 + 1e-9)
    assert -found.fun == pytest.approx(1 / time, rel=1e-5)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_any_means_give_an_allocation(means: list[float]) -> None:
    weights, time = oracle_weights(means)
    assert weights.shape == (len(means),)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    assert time > 0
    # What is best gets at least as much as any other arm would need to be told from it.
    assert math.isinf(time) or weights[int(np.argmax(means))] > 0


@pytest.mark.parametrize("gap", [1e-4, 1e-6, 1e-8, 1e-10])
def test_near_ties_go_to_the_limit(gap: float) -> None:
    weights, time = oracle_weights([0.5, 0.5 - gap, 0.3])
    assert weights[:2] == pytest.approx([0.5, 0.5], abs=1e-4)
    assert time == pytest.approx(2 / gap**2, rel=1e-2)


@pytest.mark.parametrize("means", [[0.5, 0.5, 0.1], [0.0, 0.0], [1.0, 1.0, 0.2]])
def test_equal_best_arms_share(means: list[float]) -> None:
    weights, time = oracle_weights(means)
    assert weights[:2].tolist() == [0.5, 0.5]
    assert weights[2:].tolist() == [0.0] * (len(means) - 2)
    assert math.isinf(time)


def test_order_of_arms_does_not_matter() -> None:
    mu = np.array([0.3, 0.7, 0.5, 0.1])
    weights, time = oracle_weights(mu)
    order = [2, 0, 3, 1]
    moved, same = oracle_weights(mu[order])
    assert moved == pytest.approx(weights[order], rel=1e-9)
    assert same == pytest.approx(time) == pytest.approx(characteristic_time(mu))


@pytest.mark.parametrize("bad", [[0.5], [0.5, 1.2], [0.5, float("nan")], [[0.5, 0.4]]])
def test_bad_means_are_named(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="means must"):
        oracle_weights(bad)
