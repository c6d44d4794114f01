"""The rules that decide a claim, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from probatum.evidence.naming import one_of

__all__ = ["AllOf", "Criterion", "Every", "Rate", "Stat", "Within"]

# A float holds no factor beyond it.
_LARGEST_LOG = 700.0


def _region(low: float, high: float) -> None:
    if math.isnan(low) or math.isnan(high) or low > high or (math.isinf(low) and math.isinf(high)):
        raise ValueError(f"a region needs low <= high, one of them finite, got [{low}, {high}]")


@dataclass(frozen=True)
class Stat:
    """One scalar per replicate, dataset and arm, from a trial's rows.

    ``slope`` fits metric against ``against`` ("x" or another metric), ``loglog`` the same on
    logarithms, over the largest ``tail`` share of abscissae; ``spearman`` and ``kendall`` are rank
    correlations. ``case`` keeps only rows of a case; ``per_case`` takes the scalar in each case
    and averages over them.
    """

    of: str
    how: Literal["mean", "slope", "loglog", "spearman", "kendall", "max"] = "mean"
    against: str = "x"
    tail: float = 1.0
    case: str | None = None
    per_case: bool = False

    def __post_init__(self) -> None:
        one_of("how", self.how, ("mean", "slope", "loglog", "spearman", "kendall", "max"))
        if self.per_case and self.case is not None:
            raise ValueError(f"either one case ({self.case!r}) or per_case, not both")
        if not 0 < self.tail <= 1:
            raise ValueError(f"tail must lie in (0, 1], got {self.tail}")

    @property
    def is_level(self) -> bool:
        """Whether the scalar is on the metric's own scale."""
        return self.how in ("mean", "max")


@dataclass(frozen=True)
class Within:
    """A mean lies in ``[low, high]``.

    ``absolute`` is the arm's own value. ``difference`` and ``log-ratio`` compare it with each
    rival in ``to`` and are oriented so that a positive effect is better for the arm (slopes and
    rank correlations are not oriented). ``over="each"`` asks it of every dataset.
    """

    stat: Stat
    arm: str
    to: tuple[str, ...] = ()
    scale: Literal["absolute", "difference", "log-ratio"] = "difference"
    low: float = -math.inf
    high: float = math.inf
    over: Literal["average", "each"] = "average"

    def __post_init__(self) -> None:
        one_of("scale", self.scale, ("absolute", "difference", "log-ratio"))
        one_of("over", self.over, ("average", "each"))
        if self.scale == "absolute" and self.to:
            raise ValueError(f"an absolute criterion takes no rivals, got {self.to}")
        if self.scale != "absolute" and not self.to:
            raise ValueError(f"a {self.scale} needs at least one rival in `to`")
        _region(self.low, self.high)
        edges = [edge for edge in (self.low, self.high) if math.isfinite(edge)]
        if self.scale == "log-ratio" and any(abs(edge) > _LARGEST_LOG for edge in edges):
            raise ValueError(
                f"edges of a log-ratio are natural logarithms of factors, within "
                f"±{_LARGEST_LOG:g}, got [{self.low:g}, {self.high:g}]"
            )

    def bounds(self, metric: tuple[float, float] | None) -> tuple[float, float] | None:
        """Smallest and largest possible effect, from the bounds of the metric it is of.

        Examples
        --------
        >>> Within(Stat("f1"), "a", to=("b",), low=-0.02).bounds((0.0, 1.0))
        (-1.0, 1.0)
        """
        if self.stat.how in ("spearman", "kendall"):
            metric = (-1.0, 1.0)
        if metric is None or self.scale == "log-ratio" or self.stat.how in ("slope", "loglog"):
            return None
        low, high = metric
        return metric if self.scale == "absolute" else (low - high, high - low)


@dataclass(frozen=True)
class Rate:
    """A success rate lies in ``[low, high]``; ``of`` names a metric given as counts.

    ``independent`` says that the tries of one replicate share no luck (no model, no instance, no
    data set drawn once for all of them). Only then does each count by itself; otherwise the share
    of successes of a replicate is one observation.
    """

    of: str
    arm: str
    low: float = 0.0
    high: float = 1.0
    case: str | None = None
    independent: bool = False

    def __post_init__(self) -> None:
        _region(self.low, self.high)
        if self.low <= 0 and self.high >= 1:
            raise ValueError("a rate needs low > 0 or high < 1: anything would hold")


@dataclass(frozen=True)
class Every:
    """No value exceeds ``high`` by more than ``slack``: one counterexample fails it.

    ``at_least`` is the number of cases without a counterexample from which it holds.
    """

    of: str
    arm: str
    high: float
    slack: float = 1e-9
    at_least: int = 1
    case: str | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.high + self.slack) and self.slack >= 0):
            raise ValueError(
                f"a limit needs a finite high and slack >= 0, got {self.high} and {self.slack}"
            )


@dataclass(frozen=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Within | Rate | Every, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("AllOf needs at least one part")


Criterion: TypeAlias = Within | Rate | Every | AllOf
