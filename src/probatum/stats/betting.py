"""Exact confidence sequences for the mean of bounded observations, by betting.

A gambler who bets a fixed fraction ``c`` of the fair maximum on "the mean is above m" multiplies
her wealth by ``1 - c + c x / m`` at each observation ``x`` in [0, 1]. Under mean ``m`` her wealth
is a nonnegative martingale, and so is the average over several fractions; by Ville's inequality
it ever exceeds ``2 / alpha`` with chance at most ``alpha / 2``. Fixed fractions make the wealth
monotone in ``m``, so the interval's ends come from bisection rather than from a grid, and
independent of the order of the observations.

Source: Waudby-Smith and Ramdas (2024), *Estimating means of bounded random variables by
betting*, JRSS B 86, section B (grid Kelly).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

__all__ = ["betting_interval", "log_wealth"]

FRACTIONS: NDArray[np.float64] = np.asarray(2.0 ** -np.arange(8), dtype=np.float64)
"""Fractions of the largest fair bet; the best constant bet is within a factor sqrt(2) of one."""

WEIGHTS: NDArray[np.float64] = np.asarray(
    0.5 ** np.arange(8) / (0.5 ** np.arange(8)).sum(), dtype=np.float64
)
"""Wealth put on each fraction: most on the boldest, which decides between near-equal arms."""


SMALLEST = 2.0**-48
"""Ends below count as zero."""


def log_wealth(x: NDArray[np.float64], m: float) -> float:
    """Logarithm of the wealth from betting that the mean of ``x`` exceeds ``m``.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Observations in [0, 1].
    m : float
        Hypothesised mean in [0, 1].

    Returns
    -------
    float
        Log of the weighted wealth over the betting fractions; ``inf`` where ``m`` is impossible.

    Examples
    --------
    >>> round(log_wealth(np.ones(10), 0.5), 3)
    6.273
    """
    if m <= 0:
        return math.inf if np.any(x > 0) else 0.0
    with np.errstate(divide="ignore"):
        factors = np.log1p(FRACTIONS[:, None] * (x[None, :] / m - 1))
    totals = factors.sum(axis=1)
    peak = totals.max()
    if np.isneginf(peak):
        return -math.inf
    return float(peak + np.log(WEIGHTS @ np.exp(totals - peak)))


def _lower_end(x: NDArray[np.float64], target: float) -> float:
    """Largest ``m`` whose wealth reaches ``exp(target)``: wealth falls as ``m`` grows."""
    high = float(x.mean())
    if log_wealth(x, high) >= target:
        return high
    low = high / 2
    while low >= SMALLEST and log_wealth(x, low) < target:
        low, high = low / 2, low
    if low < SMALLEST:
        return 0.0
    end, step = brentq(lambda m: log_wealth(x, m) - target, low, high, xtol=1e-12 * low), 1e-12
    # The root may lie a little too high; the end of an interval may not.
    while log_wealth(x, end) < target:
        end, step = end * (1 - step), 2 * step
    return float(end)


def betting_interval(
    x: ArrayLike, alpha: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Interval for the mean of bounded observations, exact at every sample size at once.

    Parameters
    ----------
    x : array-like of shape (n,)
        Observations within ``bounds``, each with the same conditional mean given the past.
    alpha : float
        One minus the coverage.
    bounds : (float, float)
        Known smallest and largest possible values.

    Returns
    -------
    (float, float)

    Raises
    ------
    ValueError
        If ``alpha`` or ``bounds`` are invalid or an observation lies outside the bounds.

    Examples
    --------
    >>> low, high = betting_interval([0.6, 0.7, 0.65, 0.7] * 10, 0.05, (0, 1))
    >>> round(low, 2), round(high, 2)
    (0.59, 0.7)
    """
    a, b = bounds
    if not (math.isfinite(a) and math.isfinite(b) and a < b):
        raise ValueError(f"bounds must be finite and increasing, got {bounds}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha}")
    values = np.asarray(x, dtype=float)
    if values.size == 0:
        return a, b
    # Averages over data sets may leave the bounds by rounding alone.
    slack = 1e-9 * (b - a)
    outside = (values < a - slack) | (values > b + slack) | np.isnan(values)
    if outside.any():
        raise ValueError(f"observation {values[outside][0]} lies outside the bounds {bounds}")
    unit = np.clip((values - a) / (b - a), 0.0, 1.0)
    target = math.log(2 / alpha)
    low = _lower_end(unit, target)
    high = 1.0 - _lower_end(1.0 - unit, target)
    return a + (b - a) * low, a + (b - a) * high
