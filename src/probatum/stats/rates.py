"""Exponents of power laws: y ~ C x^exponent, by least squares on logarithms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats


class RateFit(NamedTuple):
    """A fitted power law ``y ~ constant * x ** exponent``.

    ``low`` and ``high`` bound the exponent at confidence ``level``; ``n`` is the number of units
    that the interval rests on: points, or replicates where there are several.
    """

    exponent: float
    low: float
    high: float
    constant: float
    standard_error: float
    level: float
    n: int


def fit_rate(x: npt.ArrayLike, y: npt.ArrayLike, *, level: float = 0.95) -> RateFit:
    """Fit the exponent of a power law, with an interval.

    Parameters
    ----------
    x : array-like of shape (n_sizes,)
        Positive sizes, at least two of them distinct (three for an interval from one curve).
    y : array-like of shape (n_sizes,) or (n_replicates, n_sizes)
        Positive values. From a single curve the interval is that of the regression slope, which
        takes the residuals as independent and the law as exact. From replicates a slope is fitted
        to each and the interval is Student's for their mean, which asks neither.
    level : float, default=0.95
        Confidence of the interval, between 0 and 1.

    Returns
    -------
    RateFit

    Raises
    ------
    ValueError
        If shapes disagree, a value is not positive and finite, or there is too little to fit.

    Examples
    --------
    >>> import numpy as np
    >>> n = np.array([100, 1_000, 10_000, 100_000])
    >>> fit = fit_rate(n, 3 / np.sqrt(n))
    >>> round(fit.exponent, 6), round(fit.constant, 6)
    (-0.5, 3.0)
    >>> noise = np.random.default_rng(0).lognormal(sigma=0.1, size=(20, 4))
    >>> fit = fit_rate(n, noise / np.sqrt(n))
    >>> fit.low < -0.5 < fit.high, fit.n
    (True, 20)
    """
    sizes, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if sizes.ndim != 1 or values.ndim not in (1, 2) or values.shape[-1] != sizes.size:
        raise ValueError(
            "x must be 1-D and the last axis of y as long, "
            f"got shapes {sizes.shape} and {values.shape}"
        )
    for name, array in (("x", sizes), ("y", values)):
        if not (np.isfinite(array).all() and (array > 0).all()):
            raise ValueError(f"{name} must be positive and finite for a log-log fit")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level!r}")
    replicated = values.ndim == 2
    least = 2 if replicated else 3
    if np.unique(sizes).size < least or (replicated and len(values) < 2):
        raise ValueError(
            f"need {least} distinct sizes{' and 2 replicates' if replicated else ''}, "
            f"got {np.unique(sizes).size}{f' and {len(values)}' if replicated else ''}"
        )
    log_x, log_y = np.log(sizes), np.log(np.atleast_2d(values))
    centred = log_x - log_x.mean()
    slopes = log_y @ centred / (centred @ centred)
    exponent = float(slopes.mean())
    intercept = float(log_y.mean()) - exponent * float(log_x.mean())
    if replicated:
        n, freedom = len(slopes), len(slopes) - 1
        error = float(slopes.std(ddof=1) / np.sqrt(n))
    else:
        n, freedom = int(sizes.size), int(sizes.size) - 2
        residuals = log_y[0] - intercept - exponent * log_x
        error = float(np.sqrt(residuals @ residuals / freedom / (centred @ centred)))
    half = float(stats.t.ppf(0.5 + level / 2, freedom)) * error
    return RateFit(
        exponent, exponent - half, exponent + half, float(np.exp(intercept)), error, level, n
    )
