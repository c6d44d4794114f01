"""Anytime-valid t intervals: the right-Haar mixture of Student likelihood ratios.

For independent normal observations with unknown mean and variance, the ratio of the marginal
likelihood under a normal prior on the standardised effect, ``delta ~ N(0, scale)``, to that
under ``delta = 0``, both with the right-Haar prior on the standard deviation, depends on the data
only through the t statistic and is a martingale under every member of the null. Inverting it in
the hypothesised mean gives intervals that hold at all sample sizes at once.

Source: Lai (1976), *On confidence sequences*, Ann. Statist. 4; Gronau, Ly and Wagenmakers (2020),
*Informed Bayesian t-tests*, Am. Stat. 74; Wang and Ramdas (2025), *Anytime-valid t-tests and
confidence sequences for Gaussian means with unknown variance*, Sequential Analysis.
"""

from __future__ import annotations

import math

__all__ = ["anytime_t_e_value", "anytime_t_half_width", "anytime_t_interval"]

SCALE = 1.0
"""Prior variance of the standardised effect (a unit-information prior)."""


def _check(n: int, alpha: float, scale: float) -> None:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha}")
    if not scale > 0:
        raise ValueError(f"scale must be positive, got {scale}")


def anytime_t_e_value(t: float, n: int, scale: float = SCALE) -> float:
    """Evidence against a zero mean carried by a t statistic.

    Parameters
    ----------
    t : float
        One-sample t statistic, ``mean / (sd / sqrt(n))`` with the unbiased ``sd``.
    n : int
        Number of observations, at least 2.
    scale : float
        Prior variance of the standardised effect.

    Returns
    -------
    float
        The Bayes factor; under a zero mean the chance that it ever exceeds ``1 / alpha`` is at
        most ``alpha``.

    Examples
    --------
    >>> round(anytime_t_e_value(0.0, 9), 4)
    0.3162
    >>> anytime_t_e_value(5.0, 20) > 20
    True
    """
    _check(n, 0.5, scale)
    if n < 2:
        return 1.0
    nu, shrink = n - 1, 1 + n * scale
    x = t * t / nu
    log_e = -0.5 * math.log(shrink) + 0.5 * n * (math.log1p(x) - math.log1p(x / shrink))
    return math.exp(min(log_e, 700.0))


def anytime_t_half_width(n: int, alpha: float, scale: float = SCALE) -> float:
    """Half-width of the interval in units of the standard deviation.

    Parameters
    ----------
    n : int
        Number of observations.
    alpha : float
        One minus the coverage, over all sample sizes at once.
    scale : float
        Prior variance of the standardised effect.

    Returns
    -------
    float
        ``inf`` while ``n`` is too small for any t statistic to reach ``1 / alpha``.

    Examples
    --------
    >>> anytime_t_half_width(4, 0.05)
    inf
    >>> round(anytime_t_half_width(5, 0.05), 3)
    3.78
    >>> round(anytime_t_half_width(100, 0.05), 3)
    0.335
    """
    _check(n, alpha, scale)
    if n < 2:
        return math.inf
    shrink = 1 + n * scale
    log_a = (math.log(shrink) - 2 * math.log(alpha)) / n
    if log_a >= math.log(shrink):
        return math.inf
    a = math.exp(log_a)
    x = (a - 1) / (1 - a / shrink)
    return math.sqrt(x * (n - 1) / n)


def anytime_t_interval(
    mean: float, sd: float, n: int, alpha: float, scale: float = SCALE
) -> tuple[float, float]:
    """Interval for the mean that is valid at every sample size at once.

    Parameters
    ----------
    mean, sd : float
        Sample mean and unbiased standard deviation, in the data's unit.
    n : int
        Number of observations.
    alpha : float
        One minus the coverage.
    scale : float
        Prior variance of the standardised effect.

    Returns
    -------
    (float, float)
        Exact for normal observations, asymptotic otherwise; infinite while ``n`` is too small.

    Examples
    --------
    >>> low, high = anytime_t_interval(1.0, 0.5, 20, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.617, 1.383)
    """
    half = anytime_t_half_width(n, alpha, scale)
    if math.isinf(half):
        return -math.inf, math.inf
    return mean - half * sd, mean + half * sd
