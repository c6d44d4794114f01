"""Exact confidence sequences for a success rate: the beta-binomial mixture.

Under success rate ``p`` the ratio of the beta-binomial to the binomial likelihood is a
martingale; the rates at which it stays below ``1 / alpha`` form an interval that holds at every
sample size at once.

Source: Robbins (1970), *Statistical methods related to the law of the iterated logarithm*, Ann.
Math. Statist. 41; Howard, Ramdas, McAuliffe and Sekhon (2021), Ann. Statist. 49.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import betaln

__all__ = ["log_rate_evidence", "rate_interval"]

PRIOR = 0.5
"""Both parameters of the mixing beta law (Jeffreys)."""


def _xlogy(x: float, y: float) -> float:
    if x == 0:
        return 0.0
    return x * math.log(y) if y > 0 else -math.inf


def log_rate_evidence(k: float, n: float, p: float) -> float:
    """Log evidence against the success rate ``p`` after ``k`` successes in ``n`` trials.

    Parameters
    ----------
    k, n : float
        Successes and trials (whole numbers; fractions are allowed for predictions).
    p : float
        Hypothesised success rate in [0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> round(log_rate_evidence(20, 20, 0.5), 2)
    11.79
    """
    mixture = float(betaln(k + PRIOR, n - k + PRIOR) - betaln(PRIOR, PRIOR))
    likelihood = _xlogy(k, p) + _xlogy(n - k, 1 - p)
    return math.inf if math.isinf(likelihood) else mixture - likelihood


def _root(inside: float, outside: float, excluded: Callable[[float], bool]) -> float:
    if not excluded(outside):
        return outside
    for _ in range(48):
        middle = 0.5 * (inside + outside)
        if excluded(middle):
            outside = middle
        else:
            inside = middle
    return outside


def rate_interval(k: int, n: int, alpha: float) -> tuple[float, float]:
    """Interval for a success rate, exact at every sample size at once.

    Parameters
    ----------
    k, n : int
        Successes and trials, ``0 <= k <= n``. Trials are independent with a common rate, or come
        in rounds whose average rate is the estimand (unequal rates only make it conservative).
    alpha : float
        One minus the coverage.

    Returns
    -------
    (float, float)

    Raises
    ------
    ValueError
        If the counts or ``alpha`` are out of range.

    Examples
    --------
    >>> low, high = rate_interval(48, 50, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.807, 0.999)
    >>> rate_interval(0, 0, 0.05)
    (0.0, 1.0)
    """
    if not 0 <= k <= n:
        raise ValueError(f"counts must satisfy 0 <= k <= n, got k={k}, n={n}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha}")
    if n == 0:
        return 0.0, 1.0
    limit = -math.log(alpha)

    def excluded(p: float) -> bool:
        return log_rate_evidence(k, n, p) >= limit

    centre = k / n
    return _root(centre, 0.0, excluded), _root(centre, 1.0, excluded)
