"""How many of the curves of a plot were recovered, and how closely.

A curve counts as recovered if the band around what was read and the band around the truth have
an intersection over union of at least a half. A band is a line one pixel wide, widened by a disc.
A level line that is 3.7 pixels off is just recovered at a tolerance of 5; steep parts weigh by
their length. The measure is this library's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Closeness", "LineRecall", "RecallResult", "closeness"]

Floats = NDArray[np.float64]
_MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class RecallResult:
    """What of the truth was recovered.

    Attributes
    ----------
    recall : float
        Share of the true curves recovered; NaN if there are none.
    precision : float
        Share of what was read that is a true curve; NaN if nothing was read.
    matches : tuple of (int, int, float)
        Index of what was read, index of the true curve, and their intersection over union; each
        index occurs once at most. Pairs below the bar are listed too.
    recovered : tuple of int
        Indices of the true curves recovered.
    """

    recall: float
    precision: float
    matches: tuple[tuple[int, int, float], ...]
    recovered: tuple[int, ...]


@dataclass(frozen=True)
class Closeness:
    """Distances along y between what was read and the truth, in shares of the y range.

    Attributes
    ----------
    median, p95 : float
        Of the absolute distances at the true points that what was read spans.
    covered : float
        Share of the true points that it spans.
    """

    median: float
    p95: float
    covered: float

    @property
    def accurate(self) -> bool:
        """Median at most 1 % and 95th percentile at most 3 % of the range, half or more covered."""
        return self.covered >= 0.5 and self.median <= 0.01 and self.p95 <= 0.03


@dataclass(frozen=True)
class LineRecall:
    """Recall over curves by the overlap of bands around them.

    Parameters
    ----------
    tol : float
        Radius in pixels by which lines are widened.
    iou : float
        Intersection over union from which a curve is recovered.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([[0.0, 10.0], [100.0, 10.0]])
    >>> LineRecall().score([line + [0.0, 2.0]], [line]).recall
    1.0
    """

    tol: float = 5.0
    iou: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.tol <= 100:
            raise ValueError(f"tol lies between 0 and 100 pixels, got {self.tol}")
        if not 0 < self.iou <= 1:
            raise ValueError(f"iou lies between 0 and 1, got {self.iou}")

    def score(
        self,
        predicted: Sequence[ArrayLike],
        truth: Sequence[ArrayLike],
        *,
        predicted_kinds: Sequence[str] | None = None,
        truth_kinds: Sequence[str] | None = None,
    ) -> RecallResult:
        """Match what was read with the truth, one to one.

        Parameters
        ----------
        predicted, truth : sequence of array_like of shape (n, 2)
            Polylines, column and row of each point in pixels; not finite points are breaks.
        predicted_kinds, truth_kinds : sequence of str, optional
            Kind of each. Where both of a pair are ``"markers"``, they are compared as separate
            points; in every other pair the points are joined in their order.
        """
        read = [_points(one) for one in predicted]
        true = [_points(one) for one in truth]
        shares = self.overlaps(read, true)
        of_read = [i for i, k in enumerate(predicted_kinds or ()) if k == "markers"]
        of_true = [j for j, k in enumerate(truth_kinds or ()) if k == "markers"]
        if of_read and of_true:
            apart = self.overlaps(
                [_apart(read[i]) for i in of_read], [_apart(true[j]) for j in of_true]
            )
            shares[np.ix_(of_read, of_true)] = apart
        return self._matched(shares)

    def _matched(self, shares: Floats) -> RecallResult:
        from scipy.optimize import linear_sum_assignment

        # A pair above the bar is never given up for two pairs below it.
        worth = shares + np.where(shares >= self.iou, 10.0, 0.0)
        rows, columns = linear_sum_assignment(worth, maximize=True)
        matches = tuple(
            (int(i), int(j), float(shares[i, j]))
            for i, j in zip(rows, columns, strict=True)
            if shares[i, j] > 0
        )
        found = tuple(sorted(j for _, j, share in matches if share >= self.iou))
        n_read, n_true = shares.shape
        return RecallResult(
            len(found) / n_true if n_true else float("nan"),
            len(found) / n_read if n_read else float("nan"),
            matches,
            found,
        )

    def overlaps(self, predicted: Sequence[ArrayLike], truth: Sequence[ArrayLike]) -> Floats:
        """Intersection over union of every pair, shape (predicted, truth)."""
        lines = [_points(one) for one in [*predicted, *truth]]
        shares = np.zeros((len(predicted), len(truth)))
        finite = [line[np.isfinite(line).all(axis=1)] for line in lines]
        if not (len(predicted) and len(truth)) or not any(len(line) for line in finite):
            return shares
        reach = int(np.ceil(self.tol)) + 1
        together = np.concatenate(finite)
        low = np.floor(together.min(axis=0)).astype(int) - reach
        size = np.floor(together.max(axis=0)).astype(int) + reach + 1 - low
        if int(size[0]) * int(size[1]) > _MOST_CELLS:
            raise ValueError(f"curves span {size[0]} by {size[1]} pixels: too many to compare")
        bands = [_band(line - low, size[::-1], self.tol) for line in lines]
        sizes = [int(np.bitwise_count(band).sum()) for band in bands]
        for i in range(len(predicted)):
            for j in range(len(truth)):
                other = len(predicted) + j
                both = int(np.bitwise_count(bands[i] & bands[other]).sum())
                either = sizes[i] + sizes[other] - both
                shares[i, j] = both / either if either else 0.0
        return shares


def closeness(predicted: ArrayLike, truth: ArrayLike, y_range: float) -> Closeness:
    """How closely a function curve was read.

    Parameters
    ----------
    predicted, truth : array_like of shape (n, 2)
        x and y of each point, in data coordinates.
    y_range : float
        What distances are divided by: the length of the y axis.
    """
    if not y_range > 0:
        raise ValueError(f"y_range must be above 0, got {y_range}")
    read, true = _points(predicted), _points(truth)
    read = read[np.isfinite(read).all(axis=1)]
    true = true[np.isfinite(true).all(axis=1)]
    if not len(read) or not len(true):
        return Closeness(float("nan"), float("nan"), 0.0)
    order = np.argsort(read[:, 0], kind="stable")
    x, y = read[order].T
    inside = (true[:, 0] >= x[0]) & (true[:, 0] <= x[-1])
    if not inside.any():
        return Closeness(float("nan"), float("nan"), 0.0)
    away = np.abs(np.interp(true[inside, 0], x, y) - true[inside, 1]) / y_range
    return Closeness(float(np.median(away)), float(np.percentile(away, 95)), float(np.mean(inside)))


def _points(line: ArrayLike) -> Floats:
    points = np.asarray(line, float)
    if points.size == 0:
        return np.empty((0, 2))
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a curve has the shape (n, 2), got {points.shape}")
    return points


def _apart(points: Floats) -> Floats:
    """Points with a break after each."""
    broken = np.full((2 * len(points), 2), np.nan)
    broken[::2] = points
    return broken


def _cells(line: Floats) -> NDArray[np.int64]:
    """Cells that a polyline passes through, one step of a pixel at a time."""
    known = np.asarray(np.isfinite(line).all(axis=1))
    both = known[:-1] & known[1:]
    start, step = line[:-1][both], np.diff(line, axis=0)[both]
    steps = np.ceil(np.abs(step).max(axis=1)).astype(int) if len(step) else np.zeros(0, int)
    which = np.repeat(np.arange(len(steps)), steps)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(steps) - steps, steps)
    share = nth / np.maximum(steps[which], 1)
    on = start[which] + share[:, None] * step[which]
    # Steps of whole pixels must not fall short of the next cell by rounding.
    return np.asarray(np.floor(np.concatenate([on, line[known]]) + 1e-9), np.int64)


def _band(line: Floats, size: Any, radius: float) -> NDArray[np.uint64]:
    """Cells within a distance of a polyline, as bits."""
    rows, columns = (int(side) for side in size)
    cells = _cells(line)
    drawn = np.zeros((rows, columns), bool)
    drawn[cells[:, 1], cells[:, 0]] = True
    band = np.zeros_like(drawn)
    reach = int(np.floor(radius))
    widened, wide = drawn.copy(), 0
    # From the top of the disc to its middle the rows get wider, so that each widens the last.
    for away in range(reach, -1, -1):
        half = int(np.floor(np.sqrt(radius**2 - away**2)))
        while wide < half:
            wide += 1
            widened[:, wide:] |= drawn[:, :-wide]
            widened[:, :-wide] |= drawn[:, wide:]
        band[: rows - away] |= widened[away:]
        band[away:] |= widened[: rows - away]
    packed = np.packbits(band.ravel())
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)
