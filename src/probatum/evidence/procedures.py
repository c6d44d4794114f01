"""From replicates to a verdict: intervals that stay valid at every look.

Everything here works on plain numbers, one per replicate, so that it can be simulated:
:func:`decide_mean` and :func:`decide_rate` are what every stochastic claim goes through.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from probatum.stats import anytime_t_half_width, anytime_t_interval, betting_interval, rate_interval
from probatum.stats.beta_binomial import log_rate_evidence
from probatum.stats.betting import FRACTIONS, WEIGHTS

__all__ = [
    "ALPHA",
    "Look",
    "Procedure",
    "Region",
    "Sequential",
    "decide_mean",
    "decide_rate",
    "floor_of_mean",
    "floor_of_rate",
    "look_schedule",
    "mean_looks",
    "modal_share",
    "rate_looks",
    "replicates_needed",
    "trials_needed",
]

ALPHA = 0.05
FIRST_T_LOOK = 10
MODAL_LIMIT = 0.5
MOST_REPLICATES = 10**7

Procedure = Literal["t", "exact"]
SequentialVerdict = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True)
class Region:
    """Closed set of effects that a claim allows."""

    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ValueError(f"a region needs low <= high, got [{self.low}, {self.high}]")
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError("a region needs at least one finite end: anything would hold")

    def verdict(self, low: float, high: float) -> SequentialVerdict:
        """``holds`` inside, ``fails`` when disjoint, else ``undecided``."""
        if self.low <= low and high <= self.high:
            return "holds"
        if high < self.low or low > self.high:
            return "fails"
        return "undecided"


@dataclass(frozen=True)
class Sequential:
    """Where a sequence of looks stopped.

    ``n`` counts replicates looked at; ``exact`` is the betting interval beside a t interval where
    the metric has bounds; ``refused`` says why a look could not be used.
    """

    verdict: SequentialVerdict
    effect: float
    low: float
    high: float
    n: int
    exact: tuple[float, float] | None = None
    refused: str = ""
    more_needed: int | None = None


class Look(NamedTuple):
    """An interval as it stood after so many replicates."""

    n: int
    effect: float
    low: float
    high: float


def look_schedule(budget: int, first: int = 1) -> Iterator[int]:
    """Numbers of replicates at which a claim is looked at, up to ``budget``.

    Four looks at each step size, which then doubles: 5, 10, 15, 20, 30, ..., 60, 80, ...; the
    budget itself is always the last look.

    Examples
    --------
    >>> list(look_schedule(70))
    [5, 10, 15, 20, 30, 40, 50, 60, 70]
    >>> list(look_schedule(30, first=10))
    [10, 15, 20, 30]
    """
    n, step, used = 0, 5, 0
    while n + step < budget:
        n += step
        used += 1
        if used % 4 == 0:
            step *= 2
        if n >= first:
            yield n
    if budget >= first:
        yield budget


def modal_share(z: NDArray[np.float64]) -> float:
    """Share of the commonest value.

    Values count as one when they agree to nine digits of the largest: differences of scores and
    averages over data sets carry rounding that would otherwise hide ties.

    Examples
    --------
    >>> modal_share(np.array([0.0, 0.0, 0.0, 1.0]))
    0.75
    >>> modal_share(np.array([0.3 - 0.1, 0.9 - 0.7, 0.2, 0.5]))
    0.75
    """
    largest = float(np.max(np.abs(z)))
    shares = np.round(z / largest, 9) if 0 < largest < math.inf else z
    # Adding zero turns -0.0 into 0.0.
    return Counter((shares + 0.0).tolist()).most_common(1)[0][1] / z.size


def _look(
    z: NDArray[np.float64], procedure: Procedure, alpha: float, bounds: tuple[float, float] | None
) -> tuple[float, float, str]:
    if procedure == "exact":
        if bounds is None:
            raise ValueError("the exact procedure needs a metric with bounds")
        return (*betting_interval(z, alpha, bounds), "")
    if modal_share(z) > MODAL_LIMIT:
        why = "more than half of the replicates share one value: a t interval does not apply"
        return -math.inf, math.inf, why
    low, high = anytime_t_interval(float(z.mean()), float(z.std(ddof=1)), z.size, alpha)
    return low, high, ""


def decide_mean(
    z: Sequence[float] | NDArray[np.float64],
    region: Region,
    *,
    procedure: Procedure = "t",
    alpha: float = ALPHA,
    bounds: tuple[float, float] | None = None,
    budget: int | None = None,
) -> Sequential:
    """Decide whether the mean of the replicates lies in a region, watching them come in.

    Parameters
    ----------
    z : array-like of shape (n,)
        One contrast per replicate, in order; NaN for one that could not be measured.
    region : Region
        The claimed set of means.
    procedure : {"t", "exact"}
        Anytime-valid t (asymptotic unless replicates are normal) or betting (exact for bounds).
    alpha : float
        One minus the simultaneous coverage.
    bounds : (float, float), optional
        Smallest and largest possible replicate.
    budget : int, optional
        Replicates planned, where more are to come; it sets the looks. Defaults to ``n``.

    Returns
    -------
    Sequential
        As of the first decisive look, or of the last one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> decide_mean(rng.normal(1, 1, 60), Region(low=0)).verdict
    'holds'
    """
    values = np.asarray(z, dtype=float)
    first = FIRST_T_LOOK if procedure == "t" else 1
    low, high, refused, seen, looked = -math.inf, math.inf, "", values[:0], values.size
    for n in look_schedule(budget or values.size, first):
        if n > values.size:
            break
        looked, seen = n, values[:n][~np.isnan(values[:n])]
        if seen.size < first:
            continue
        low, high, refused = _look(seen, procedure, alpha, bounds)
        if not refused and region.verdict(low, high) != "undecided":
            break
    if not seen.size:
        # Not looked at yet: the effect so far is shown, without an interval.
        seen = values[~np.isnan(values)]
    verdict = "undecided" if refused else region.verdict(low, high)
    exact = None
    if bounds is not None and procedure == "t" and seen.size:
        exact = betting_interval(seen, alpha, bounds)
    more = None
    if verdict == "undecided" and seen.size >= 2 and not refused:
        needed = replicates_needed(seen, region, procedure=procedure, alpha=alpha, bounds=bounds)
        more = None if needed is None else max(needed - seen.size, 1)
    effect = float(seen.mean()) if seen.size else math.nan
    return Sequential(verdict, effect, low, high, looked, exact, refused, more)


def mean_looks(
    z: NDArray[np.float64],
    looks: Sequence[int],
    *,
    procedure: Procedure = "t",
    alpha: float = ALPHA,
    bounds: tuple[float, float] | None = None,
) -> list[Look]:
    """The interval for the mean at each look that has one; arguments as of :func:`decide_mean`.

    Examples
    --------
    >>> [look.n for look in mean_looks(np.random.default_rng(0).normal(size=20), [5, 10, 20])]
    [10, 20]
    """
    found = []
    for n in looks:
        seen = z[:n][~np.isnan(z[:n])]
        if seen.size < (FIRST_T_LOOK if procedure == "t" else 1):
            continue
        low, high, refused = _look(seen, procedure, alpha, bounds)
        if not refused:
            found.append(Look(n, float(seen.mean()), low, high))
    return found


def rate_looks(
    successes: Sequence[int], trials: Sequence[int], looks: Sequence[int], alpha: float = ALPHA
) -> list[Look]:
    """The interval for a rate at each look; arguments as of :func:`decide_rate`.

    Examples
    --------
    >>> [round(look.effect, 2) for look in rate_looks([1, 2, 1], [2, 2, 2], [1, 3])]
    [0.5, 0.67]
    """
    ks, ns = np.cumsum(successes), np.cumsum(trials)
    seen = [(n, int(ks[n - 1]), int(ns[n - 1])) for n in looks]
    return [Look(n, k / of, *rate_interval(k, of, alpha)) for n, k, of in seen if of]


def decide_rate(
    successes: Sequence[int],
    trials: Sequence[int],
    region: Region,
    *,
    alpha: float = ALPHA,
    budget: int | None = None,
) -> Sequential:
    """Decide whether a success rate lies in a region, watching the counts come in.

    Parameters
    ----------
    successes, trials : sequence of int
        Counts per replicate, in order.
    region : Region
        The claimed set of rates.
    alpha : float
        One minus the simultaneous coverage.
    budget : int, optional
        Replicates planned, where more are to come; it sets the looks. Defaults to ``n``.

    Returns
    -------
    Sequential
        Exact for independent trials.

    Examples
    --------
    >>> decide_rate([10] * 20, [10] * 20, Region(low=0.9)).verdict
    'holds'
    """
    if len(successes) != len(trials):
        raise ValueError(
            f"successes and trials must be equally long, got {len(successes)} and {len(trials)}"
        )
    ks, ns = np.cumsum(successes), np.cumsum(trials)
    if not ks.size:
        return Sequential("undecided", math.nan, 0.0, 1.0, 0)
    low, high, last = 0.0, 1.0, ks.size
    for look in look_schedule(budget or ks.size):
        if look > ks.size:
            break
        last = look
        low, high = rate_interval(int(ks[look - 1]), int(ns[look - 1]), alpha)
        if region.verdict(low, high) != "undecided":
            break
    k, n = int(ks[last - 1]), int(ns[last - 1])
    verdict, more = region.verdict(low, high), None
    if verdict == "undecided" and n:
        needed = trials_needed(k / n, region, alpha)
        per_replicate = n / last
        if needed is not None:
            more = max(math.ceil((needed - n) / per_replicate), 1)
    return Sequential(verdict, k / n if n else math.nan, low, high, last, more_needed=more)


def _first(decided_at: int, decides: object) -> int | None:
    """Smallest n from ``decided_at`` on at which ``decides(n)``, which must be monotone."""
    assert callable(decides)
    n = max(decided_at, 1)
    low = n - 1
    while not decides(n):
        low, n = n, n * 2
        if n > MOST_REPLICATES:
            return None
    while low + 1 < n:
        middle = (low + n) // 2
        if decides(middle):
            n = middle
        else:
            low = middle
    return n


def _distances(
    mean: float, region: Region, bounds: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[float | None, float | None]:
    """Edges that the lower and the upper end must clear for the verdict the mean points to.

    An edge at or beyond the bounds is cleared by every interval.
    """
    if region.low <= mean <= region.high:
        low = None if region.low <= bounds[0] else region.low
        high = None if region.high >= bounds[1] else region.high
        return low, high
    return (region.high, None) if mean > region.high else (None, region.low)


def replicates_needed(
    z: NDArray[np.float64],
    region: Region,
    *,
    procedure: Procedure = "t",
    alpha: float = ALPHA,
    bounds: tuple[float, float] | None = None,
) -> int | None:
    """Replicates at which a decision is expected if those to come look like those seen.

    Parameters are those of :func:`decide_mean`.

    Returns
    -------
    int or None
        ``None`` where the mean sits on an edge, or beyond ten million.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(0.5, 1, 50)
    >>> 20 < replicates_needed(z, Region(low=0)) < 200
    True
    """
    mean = float(np.mean(z))
    if procedure == "t":
        clear_low, clear_high = _distances(mean, region)
        gap = min(
            mean - clear_low if clear_low is not None else math.inf,
            clear_high - mean if clear_high is not None else math.inf,
        )
        sd = float(np.std(z, ddof=1))
        if gap <= 0:
            return None
        return _first(FIRST_T_LOOK, lambda n: anytime_t_half_width(n, alpha) * sd <= gap)
    if bounds is None:
        raise ValueError("the exact procedure needs a metric with bounds")
    a, b = bounds
    clear_low, clear_high = _distances(mean, region, bounds)
    unit = np.clip((np.asarray(z) - a) / (b - a), 0.0, 1.0)
    growth = []
    if clear_low is not None:
        growth.append(_growth(unit, (clear_low - a) / (b - a)))
    if clear_high is not None:
        growth.append(_growth(1 - unit, (b - clear_high) / (b - a)))
    target = math.log(2 / alpha)
    return _first(1, lambda n: all(_wealth(n, g) >= target for g in growth))


def _growth(unit: NDArray[np.float64], m: float) -> NDArray[np.float64]:
    """Mean log growth of each betting fraction per replicate."""
    with np.errstate(divide="ignore"):
        factors = np.log1p(FRACTIONS[:, None] * (unit[None, :] / max(m, 1e-12) - 1))
    return np.asarray(factors.mean(axis=1))


def _wealth(n: int, growth: NDArray[np.float64]) -> float:
    return float(logsumexp(n * growth, b=WEIGHTS))


def trials_needed(rate: float, region: Region, alpha: float = ALPHA) -> int | None:
    """Bernoulli trials at which a decision is expected at a success rate.

    Examples
    --------
    >>> trials_needed(1.0, Region(low=0.9), 0.05)
    53
    """
    edges = [p for p in _distances(rate, region, (0.0, 1.0)) if p is not None]
    if any(p == rate for p in edges):
        return None
    # Beyond [0, 1] no likelihood is left: one trial excludes such an edge.
    edges = [p for p in edges if 0 <= p <= 1]
    target = -math.log(alpha)
    return _first(1, lambda n: all(log_rate_evidence(rate * n, n, p) >= target for p in edges))


def floor_of_mean(
    region: Region,
    procedure: Procedure,
    alpha: float = ALPHA,
    bounds: tuple[float, float] | None = None,
) -> int:
    """Fewest replicates at which a claim on a mean could hold at all.

    For the t, where no t statistic however large decides before; for the exact procedure, where
    every replicate shows equal arms (or, if equality is not claimed, the best possible value).

    Examples
    --------
    >>> floor_of_mean(Region(low=0), "t", 0.05), floor_of_mean(Region(low=0), "t", 0.005)
    (10, 10)
    >>> floor_of_mean(Region(low=-0.02), "exact", 0.05, (-1, 1))
    214
    """
    if procedure == "t":
        reach = _first(2, lambda n: math.isfinite(anytime_t_half_width(n, alpha)))
        assert reach is not None
        return max(reach, FIRST_T_LOOK)
    if bounds is None:
        raise ValueError("the exact procedure needs a metric with bounds")

    def needed(mean: float) -> int | None:
        z = np.array([mean])
        return replicates_needed(z, region, procedure="exact", alpha=alpha, bounds=bounds)

    if region.low < 0 < region.high:
        return needed(0.0) or MOST_REPLICATES
    return _floor(needed, region, bounds)


def floor_of_rate(region: Region, alpha: float = ALPHA) -> int:
    """Fewest Bernoulli trials at which a claim on a rate could hold at all.

    Examples
    --------
    >>> floor_of_rate(Region(high=0.05), 0.05)
    116
    """
    return _floor(lambda rate: trials_needed(rate, region, alpha), region, (0.0, 1.0))


def _floor(
    needed: Callable[[float], int | None], region: Region, bounds: tuple[float, float]
) -> int:
    """Fewest replicates over the means inside the region and the bounds.

    The farther a constant mean lies from an edge the sooner that edge is cleared, so the best is
    an end that no edge guards or, between two edges, where both are cleared together.
    """
    low, high = max(region.low, bounds[0]), min(region.high, bounds[1])
    if low > high:
        return MOST_REPLICATES
    if region.high >= bounds[1] or region.low <= bounds[0]:
        return needed(high if region.high >= bounds[1] else low) or MOST_REPLICATES
    grid = np.linspace(low, high, 66)[1:-1]
    return min(needed(float(mean)) or MOST_REPLICATES for mean in grid)
