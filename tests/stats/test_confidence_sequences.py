"""The three confidence sequences against quadrature, published values and other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
import ville
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from scipy.special import gammaln

from probatum.stats import (
    anytime_t_e_value,
    anytime_t_half_width,
    anytime_t_interval,
    betting_interval,
    rate_interval,
)
from probatum.stats.beta_binomial import log_rate_evidence
from probatum.stats.betting import FRACTIONS, WEIGHTS, log_wealth

ALPHAS = st.floats(1e-6, 0.5)


def mixture_of_t_densities(t, n, g, weight=lambda delta, g: 1.0, half_line=False):
    """Bayes factor by quadrature over noncentral t densities, normal prior times ``weight``."""

    def integrand(delta):
        prior = stats.norm.pdf(delta, 0, math.sqrt(g)) * weight(delta, g)
        return stats.nct.pdf(t, n - 1, math.sqrt(n) * delta) * prior

    factor, start = (2.0, 0.0) if half_line else (1.0, -np.inf)
    value = integrate.quad(integrand, start, np.inf, limit=400, epsabs=1e-14)[0]
    return factor * value / stats.t.pdf(t, n - 1)


def moment(delta, g):
    return delta * delta / g


# --- anytime-valid t -----------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.16, 1.0, 4.0])
@pytest.mark.parametrize(
    ("t", "n"), [(0.0, 2), (0.5, 3), (-2.5, 5), (2.0, 20), (4.0, 12), (3, 100)]
)
def test_t_e_value_is_the_mixture_of_noncentral_t_densities(t, n, scale):
    assert anytime_t_e_value(t, n, scale) == pytest.approx(
        mixture_of_t_densities(t, n, scale), rel=1e-6
    )


def test_the_quadrature_gives_the_values_published_for_safestats():
    """R safestats, tests/testthat/test-saviTTestVignette.R: paired test, moment prior, g = 0.16.

    t = -0.783633940 on 36 pairs with mean difference -2.57989440: e-value 0.02019529 (one-sided)
    and confidence sequence -12.79129930 to 7.63151051. The same integral with a normal prior is
    what :func:`anytime_t_e_value` has in closed form; safestats has that form too, as its
    ``eGauss`` (R/tTest.R, ``safeTTestStat``).
    """
    t, n, mean, g = -0.783633940, 36, -2.57989440, 0.16
    one_sided = mixture_of_t_densities(t, n, g, moment, half_line=True)
    assert one_sided == pytest.approx(0.02019529, rel=1e-6)
    sd = mean * math.sqrt(n) / t
    root = optimize.brentq(lambda s: mixture_of_t_densities(s, n, g, moment) - 20, 1, 10)
    published = (-12.79129930, 7.63151051)
    assert mean - root * sd / 6 == pytest.approx(published[0], abs=1e-5)
    assert mean + root * sd / 6 == pytest.approx(published[1], abs=1e-5)
    assert anytime_t_e_value(t, n, g) == pytest.approx(mixture_of_t_densities(t, n, g), rel=1e-8)


@pytest.mark.parametrize(
    ("t", "n", "scale", "log_e"),
    [
        (0.0, 9, 1.0, -1.1512925464970227),
        (2.0, 20, 1.0, 0.2885396981971855),
        (3.5, 12, 1.0, 2.7148319333571145),
        (5.0, 100, 1.0, 8.825669035098983),
        (3.0, 15, 0.5, 2.1064427845453895),
    ],
)
def test_t_e_value_is_the_one_of_savvi(t, n, scale, log_e):
    """``savvi.linear_regression.log_bf(t**2, n - 1, 1 / scale, n)`` of savvi 0.3.1."""
    assert math.log(anytime_t_e_value(t, n, scale)) == pytest.approx(log_e, rel=1e-10)


def test_t_interval_is_the_one_of_savvi_at_equal_degrees_of_freedom():
    """savvi 0.3.1 counts one degree too few for an intercept alone: n - 2 where t has n - 1.

    ``LinearRegression(alpha=0.05, p=1, phi=1)`` on the 30 values below gave t = -0.9654622,
    log e = -1.25771336 with nu = 28, and the interval -0.98944648 to 0.54723742. Our formula with
    its count reproduces them; ours is narrower by the missing degree.
    """
    y = np.random.default_rng(7).normal(0.4, 1.5, 30)
    n, nu, shrink = 30, 28, 31.0
    t = math.sqrt(n) * y.mean() / y.std(ddof=1)
    assert t == pytest.approx(-0.9654622, rel=1e-6)
    log_e = -0.5 * math.log(shrink) + 0.5 * (nu + 1) * (
        math.log1p(t * t / nu) - math.log1p(t * t / nu / shrink)
    )
    assert log_e == pytest.approx(-1.25771336, rel=1e-6)
    low, high = anytime_t_interval(y.mean(), y.std(ddof=1), n, 0.05)
    assert -0.98944648 < low < high < 0.54723742
    assert (high - low) / (0.54723742 + 0.98944648) == pytest.approx(1, abs=0.03)


@given(n=st.integers(2, 10**6), alpha=ALPHAS, scale=st.floats(0.01, 100))
def test_the_end_of_the_t_interval_is_where_the_e_value_reaches_its_threshold(n, alpha, scale):
    half = anytime_t_half_width(n, alpha, scale)
    if math.isinf(half):
        assert anytime_t_e_value(1e9, n, scale) < 1.0001 / alpha
    else:
        assert anytime_t_e_value(half * math.sqrt(n), n, scale) == pytest.approx(
            1 / alpha, rel=1e-4
        )


@given(n=st.integers(2, 10**5), alpha=ALPHAS)
def test_the_t_interval_narrows_with_n_and_with_alpha(n, alpha):
    assert anytime_t_half_width(n + 1, alpha) <= anytime_t_half_width(n, alpha)
    assert anytime_t_half_width(n, alpha * 1.5) <= anytime_t_half_width(n, alpha)


@given(
    st.floats(-1e3, 1e3), st.floats(0, 1e3), st.integers(5, 500),
    st.floats(-1e3, 1e3), st.floats(1e-3, 1e3),
)  # fmt: skip
def test_the_t_interval_shifts_and_scales_with_the_data(mean, sd, n, shift, factor):
    low, high = anytime_t_interval(mean, sd, n, 0.05)
    moved = anytime_t_interval(shift + factor * mean, factor * sd, n, 0.05)
    assert moved == pytest.approx((shift + factor * low, shift + factor * high), rel=1e-9, abs=1e-6)


@given(t=st.floats(-50, 50), n=st.integers(2, 1000))
def test_the_t_e_value_is_even_grows_with_the_statistic_and_is_bounded(t, n):
    e = anytime_t_e_value(t, n)
    assert e == anytime_t_e_value(-t, n)
    assert anytime_t_e_value(abs(t) + 0.5, n) >= e
    assert math.log(e) <= min(math.log1p(n) * (n - 1) / 2, 700) + 1e-9


def test_t_extremes():
    assert anytime_t_e_value(3.0, 1) == 1.0
    assert math.isinf(anytime_t_half_width(1, 0.05))
    assert anytime_t_interval(1.0, 2.0, 1, 0.05) == (-math.inf, math.inf)
    assert anytime_t_interval(2.0, 0.0, 10, 0.05) == (2.0, 2.0)
    assert math.isfinite(anytime_t_e_value(1e8, 10**6))
    # n = 1e6, alpha = 1e-6: the normal mixture boundary, sqrt((log(1 + n) + 2 log(1/alpha)) / n).
    wide = math.sqrt((math.log1p(1e6) + 2 * math.log(1e6)) / 1e6)
    assert anytime_t_half_width(10**6, 1e-6) == pytest.approx(wide, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0.05), "n must be at least 1, got 0"),
        ((5, 0.0), "alpha must lie strictly between 0 and 1, got 0.0"),
        ((5, math.nan), "alpha must lie strictly"),
        ((5, 0.05, 0.0), "scale must be positive, got 0.0"),
    ],
)
def test_t_refuses_what_makes_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        anytime_t_half_width(*arguments)


def test_t_expected_e_value_under_the_null_is_one():
    for n in (3, 10, 40):
        value = integrate.quad(lambda t, n=n: anytime_t_e_value(t, n) * stats.t.pdf(t, n - 1),
                               -np.inf, np.inf, limit=500)[0]  # fmt: skip
        assert value == pytest.approx(1, rel=1e-4)


# --- betting -------------------------------------------------------------------------------

UNIT_LISTS = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_wealth_is_the_product_of_the_bets():
    x, m = np.array([0.2, 0.9, 0.7, 0.4]), 0.35
    wealth = sum(w * np.prod(1 - c + c * x / m) for c, w in zip(FRACTIONS, WEIGHTS, strict=True))
    assert log_wealth(x, m) == pytest.approx(math.log(wealth), rel=1e-12)
    assert pytest.approx(1) == WEIGHTS.sum()


def test_wealth_is_fair_under_every_two_point_law():
    for high, low, p in ((1.0, 0.0, 0.3), (0.4, 0.0, 0.9), (1.0, 0.6, 0.01)):
        m = p * high + (1 - p) * low
        fair = p * math.exp(log_wealth(np.array([high]), m))
        fair += (1 - p) * math.exp(log_wealth(np.array([low]), m))
        assert fair == pytest.approx(1, rel=1e-12)


@given(UNIT_LISTS, st.floats(1e-3, 0.999), st.floats(1e-3, 0.999))
def test_wealth_falls_as_the_hypothesised_mean_grows(x, m, other):
    low, high = sorted((m, other))
    assert log_wealth(np.array(x), low) >= log_wealth(np.array(x), high) - 1e-9


@settings(deadline=None)
@given(UNIT_LISTS, ALPHAS, st.randoms(use_true_random=False))
def test_betting_interval_holds_the_sample_mean_whatever_the_order(x, alpha, random):
    low, high = betting_interval(x, alpha, (0, 1))
    assert 0 <= low <= np.mean(x) + 1e-12
    assert np.mean(x) - 1e-12 <= high <= 1
    shuffled = list(x)
    random.shuffle(shuffled)
    assert betting_interval(shuffled, alpha, (0, 1)) == pytest.approx((low, high), abs=1e-9)
    wider = betting_interval(x, alpha / 2, (0, 1))
    assert wider[0] <= low + 1e-12
    assert wider[1] >= high - 1e-12


@settings(deadline=None)
@given(UNIT_LISTS, st.floats(-100, 100), st.floats(0.01, 100))
def test_betting_interval_moves_with_the_bounds_and_mirrors(x, shift, width):
    x = np.array(x)
    low, high = betting_interval(x, 0.05, (0, 1))
    moved = betting_interval(shift + width * x, 0.05, (shift, shift + width))
    assert moved == pytest.approx((shift + width * low, shift + width * high), abs=1e-6 * width)
    assert betting_interval(1 - x, 0.05, (0, 1)) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@settings(deadline=None)
@given(UNIT_LISTS, ALPHAS)
def test_the_lower_end_is_where_the_wealth_reaches_its_threshold(x, alpha):
    x = np.array(x)
    low, _ = betting_interval(x, alpha, (0, 1))
    target = math.log(2 / alpha)
    if low > 0:
        assert log_wealth(x, low) >= target
        assert log_wealth(x, low * (1 + 1e-9)) <= target + 1e-6 * x.size


def test_betting_edge_cases():
    assert betting_interval([], 0.05, (-1, 2)) == (-1, 2)
    for x, end in (([0.0] * 30, 0), ([1.0] * 30, 1)):
        interval = betting_interval(x, 0.05, (0, 1))
        assert interval[end] == end
        assert 0.05 < abs(interval[1 - end] - end) < 0.2
    low, high = betting_interval([0.5] * 10, 0.05, (0, 1))
    assert 0 < low < 0.5 < high < 1
    assert low == pytest.approx(1 - high)
    assert betting_interval([1 + 1e-12], 0.05, (0, 1))[1] == 1
    x = np.random.default_rng(1).random(100_000)
    low, high = betting_interval(x, 1e-6, (0, 1))
    assert low < x.mean() < high < low + 0.02


@pytest.mark.parametrize(
    ("x", "alpha", "bounds", "message"),
    [
        ([1.2], 0.05, (0, 1), r"observation 1.2 lies outside the bounds \(0, 1\)"),
        ([math.nan], 0.05, (0, 1), "observation nan lies outside"),
        ([0.5], 1.0, (0, 1), "alpha must lie strictly"),
        ([0.5], 0.05, (1, 0), "bounds must be finite and increasing"),
        ([0.5], 0.05, (0, math.inf), "bounds must be finite and increasing"),
    ],
)
def test_betting_refuses_what_makes_no_sense(x, alpha, bounds, message):
    with pytest.raises(ValueError, match=message):
        betting_interval(x, alpha, bounds)


@pytest.mark.parametrize("name", ["beta", "narrow", "rare"])
def test_betting_is_as_narrow_as_the_one_of_ville(name):
    rng = np.random.default_rng(3)
    draws = {
        "beta": lambda: rng.beta(2, 2, 200),
        "narrow": lambda: rng.beta(30, 20, 150),
        "rare": lambda: (rng.random(300) < 0.1) * 1.0,
    }
    means = {"beta": 0.5, "narrow": 0.6, "rare": 0.1}
    ratios, ours_covers, theirs_covers = [], 0, 0
    for _ in range(15):
        x = draws[name]()
        peer = ville.BettingCS(bounds=(0, 1), alpha=0.05, grid=1000, intersect=False).fit(x)
        low, high = betting_interval(x, 0.05, (0, 1))
        ratios.append((high - low) / (peer.upper_[-1] - peer.lower_[-1]))
        ours_covers += low <= means[name] <= high
        theirs_covers += peer.lower_[-1] <= means[name] <= peer.upper_[-1]
    assert 0.5 < np.median(ratios) < 1.1
    assert min(ours_covers, theirs_covers) >= 14


# --- rates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n", "p"), [(0, 5, 0.2), (3, 9, 0.5), (20, 20, 0.9), (40, 100, 0.3)])
def test_rate_evidence_is_the_integral_over_its_prior(k, n, p):
    def integrand(angle):  # q = sin(angle)^2 takes the arcsine law to the uniform one
        q = math.sin(angle) ** 2
        return q**k * (1 - q) ** (n - k) / (p**k * (1 - p) ** (n - k)) * 2 / math.pi

    value = integrate.quad(integrand, 0, math.pi / 2, epsabs=1e-13)[0]
    assert log_rate_evidence(k, n, p) == pytest.approx(math.log(value), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_rate_evidence_is_fair_and_fairer_still_for_unequal_rates(p):
    n = 12
    e = np.exp([log_rate_evidence(k, n, p) for k in range(n + 1)])
    assert e @ stats.binom.pmf(range(n + 1), n, p) == pytest.approx(1, rel=1e-9)
    spread = min(p, 1 - p)
    unequal = np.convolve(
        stats.binom.pmf(range(7), 6, p - spread), stats.binom.pmf(range(7), 6, p + spread)
    )
    assert e @ unequal <= 1 + 1e-9


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 7), (48, 50), (700, 1000)])
def test_rate_interval_is_the_one_of_ville(k, n):
    x = np.r_[np.ones(k), np.zeros(n - k)]
    peer = ville.BernoulliCS(alpha=0.05, prior=(0.5, 0.5), intersect=False).fit(x)
    expected = (peer.lower_[-1], peer.upper_[-1])
    assert rate_interval(k, n, 0.05) == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 2000), st.floats(0, 1), ALPHAS)
def test_rate_interval_properties(n, share, alpha):
    k = round(share * n)
    low, high = rate_interval(k, n, alpha)
    assert 0 <= low <= k / n <= high <= 1
    assert rate_interval(n - k, n, alpha) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    for end in (low, high):
        if 0 < end < 1:
            assert log_rate_evidence(k, n, end) == pytest.approx(-math.log(alpha), abs=1e-6)
    wider = rate_interval(k, n, alpha / 2)
    assert wider[0] <= low
    assert high <= wider[1]
    if k < n:
        assert rate_interval(k + 1, n, alpha)[0] >= low


def test_rate_edge_cases():
    assert rate_interval(0, 0, 0.05) == (0.0, 1.0)
    assert rate_interval(0, 1, 0.05)[0] == 0.0
    assert rate_interval(50, 50, 0.05)[1] == 1.0
    assert log_rate_evidence(1, 2, 0.0) == math.inf
    assert log_rate_evidence(0, 2, 1.0) == math.inf
    assert log_rate_evidence(0, 4, 0.0) < 0
    low, high = rate_interval(400_000, 10**6, 1e-6)
    assert low < 0.4 < high < low + 0.01
    # Stirling's series by hand for the largest case.
    n, k, p = 10**6, 400_000, 0.41
    beta = gammaln(k + 0.5) + gammaln(n - k + 0.5) - gammaln(n + 1) - math.log(math.pi)
    expected = beta - k * math.log(p) - (n - k) * math.log(1 - p)
    assert log_rate_evidence(k, n, p) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2, 0.05), "counts must satisfy 0 <= k <= n, got k=3, n=2"),
        ((-1, 2, 0.05), "got k=-1, n=2"),
        ((1, 2, 1.5), "alpha must lie strictly between 0 and 1, got 1.5"),
    ],
)
def test_rate_refuses_what_makes_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        rate_interval(*arguments)
