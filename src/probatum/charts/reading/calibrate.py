"""The scale that most labels of an axis agree on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probatum.charts.plot_data import Axis, Tick
from probatum.charts.reading.numbers import Reading

__all__ = ["Label", "fit_axis", "fit_two"]

# In pixels of the image that is read; labels stand within half a pixel of their ticks.
_TOLERANCE = 1.6
_ENOUGH = 3
_SHARE, _LOG_SHARE = 0.6, 0.8
# What a label says must not be explained by assuming much.
_DOUBT = 0.15
# Of a round step, between the outermost labels.
_MOST_STEPS = 40


@dataclass(frozen=True)
class Label:
    """A label at a place along its axis, and the numbers that it may say."""

    px: float
    text: str
    readings: tuple[Reading, ...]


def _round(values: Sequence[float], scale: str) -> bool:
    """Whether values are such as people and programs put at ticks.

    Three numbers out of five may lie on a line by chance; that they are also multiples of one round
    step, or a digit times powers of ten, is not by chance.
    """
    if scale == "log":
        return all(abs(v / 10 ** math.floor(math.log10(v) + 1e-9) % 1) < 1e-6 for v in values)
    span = max(values) - min(values)
    if span == 0:
        return False
    least = math.floor(math.log10(span / _MOST_STEPS))
    for step in (m * 10.0**k for k in range(least, least + 4) for m in (1.0, 2.0, 2.5, 3.0, 5.0)):
        if span / step <= _MOST_STEPS:
            counts = np.array(values) / step
            if np.abs(counts - np.rint(counts)).max() < 1e-6 * max(1.0, np.abs(counts).max()):
                return True
    return False


def fit_two(labels: Sequence[Label], marks: Sequence[float], tolerance: float) -> Axis | None:
    """The axis of two labels, if marks between and beside them confirm it.

    Two labels fit any line. Minor ticks at the places of 2 to 9 times a power of ten say that the
    axis is logarithmic; marks at equal distances, both labels among them, that it is linear.
    """
    known = [label for label in labels if label.readings]
    if len(known) != 2 or len(labels) > 3 or len(marks) < 3:
        return None
    (first, second), values = known, [label.readings[0] for label in known]
    if any(reading.doubt for reading in values) or values[0].value == values[1].value:
        return None
    if abs(first.px - second.px) < 8 * tolerance:
        return None
    log = all(reading.value > 0 for reading in values) and _log_marks(first, second, marks)
    if not log and not _even_marks(first, second, marks):
        return None
    a, b = (math.log10(r.value) if log else r.value for r in values)
    slope = (b - a) / (second.px - first.px)
    ticks = tuple(Tick(k.px, r.value, k.text) for k, r in zip(known, values, strict=True))
    return Axis(
        scale="log" if log else "linear",
        slope=slope,
        intercept=a - slope * first.px,
        ticks=ticks,
        sure=2 / 3,
    )


def _log_marks(first: Label, second: Label, marks: Sequence[float]) -> bool:
    """Whether most marks are where multiples of powers of ten stand, and half of these have one."""
    one, other = first.readings[0].value, second.readings[0].value
    decades = math.log10(other / one)
    if abs(decades - round(decades)) > 1e-9:
        return False
    per_decade = (second.px - first.px) / decades
    places = np.asarray(marks, float)
    shares = np.array([math.log10(k) for k in range(1, 10)])
    along = np.mod((places - first.px) / per_decade, 1.0)
    apart = np.abs(along[:, None] - np.append(shares, 1.0)).min(axis=1) * abs(per_decade)
    fitting = apart < 2.0
    seen = {int(np.argmin(np.abs(shares - a))) for a in along[fitting]}
    return len(places) >= 6 and fitting.mean() > 0.8 and len(seen) >= 5


def _even_marks(first: Label, second: Label, marks: Sequence[float]) -> bool:
    """Whether marks stand at equal distances, both labels among them."""
    places = np.sort(np.asarray(marks, float))
    steps = np.diff(places)
    if len(places) < 3 or np.ptp(steps) > 2.5:
        return False
    near = [float(np.abs(places - label.px).min()) for label in (first, second)]
    return max(near) < 2.0


@dataclass(frozen=True)
class _Fit:
    scale: str
    slope: float
    intercept: float
    inliers: tuple[tuple[int, float], ...]
    residual: float
    doubt: int


def fit_axis(labels: Sequence[Label], tolerance: float = _TOLERANCE) -> Axis | None:
    """The axis that labels with numbers agree on, or None if too few do.

    At least three labels must lie on one line to within the tolerance, linear or logarithmic, and
    these must be most of all that hold a number.
    """
    known = [label for label in labels if label.readings]
    found = _fitted(known, tolerance)
    if found is not None and (found.scale == "linear" or found.sure >= _LOG_SHARE):
        return found
    # Between powers of ten some programs write the first digit alone: 2, 5 and so on.
    powers = [label for label in known if len(label.text.strip()) != 1]
    if len(powers) < len(known):
        return _fitted(powers, tolerance)
    return None


def _fitted(known: Sequence[Label], tolerance: float) -> Axis | None:
    if len(known) < _ENOUGH:
        return None
    fits = [fit for log in (False, True) if (fit := _best(known, log, tolerance)) is not None]
    if not fits:
        return None
    # A logarithmic axis is the one that needs more to be believed.
    fit = max(fits, key=lambda f: (len(f.inliers) - _DOUBT * f.doubt, -f.residual))
    sure = len(fit.inliers) / len(known)
    if len(fit.inliers) < _ENOUGH or sure < _SHARE:
        return None
    inliers = dict(fit.inliers)
    few = len(fit.inliers) == _ENOUGH or sure < 0.99 or fit.doubt > 0
    if few and not _round(list(inliers.values()), fit.scale):
        return None
    ticks = []
    for i, label in enumerate(known):
        along = fit.slope * label.px + fit.intercept
        value = inliers.get(i, 10.0**along if fit.scale == "log" else along)
        ticks.append(Tick(label.px, float(value), label.text, i in inliers))
    return Axis(
        scale="log" if fit.scale == "log" else "linear",
        slope=fit.slope,
        intercept=fit.intercept,
        residual_px=fit.residual,
        ticks=tuple(ticks),
        sure=sure,
    )


def _best(labels: Sequence[Label], log: bool, tolerance: float) -> _Fit | None:
    """The line through two labels that most others lie on, fitted to all of these."""
    places = [label.px for label in labels]
    options = []
    for label in labels:
        values = [(r.value, r.doubt) for r in label.readings if not log or r.value > 0]
        options.append([(math.log10(v) if log else v, v, doubt) for v, doubt in values])
    best: _Fit | None = None
    for i, j in itertools.combinations(range(len(labels)), 2):
        if abs(places[i] - places[j]) < 4 * tolerance:
            continue
        for (a, _, _), (b, _, _) in itertools.product(options[i], options[j]):
            if a == b:
                continue
            fit = _judged(places, options, (i, a), (j, b), log, tolerance)
            if fit is not None and (best is None or _rank(fit) > _rank(best)):
                best = fit
    return best


def _rank(fit: _Fit) -> tuple[float, float]:
    return len(fit.inliers) - _DOUBT * fit.doubt, -fit.residual


def _judged(
    places: Sequence[float],
    options: Sequence[Sequence[tuple[float, float, int]]],
    one: tuple[int, float],
    other: tuple[int, float],
    log: bool,
    tolerance: float,
) -> _Fit | None:
    slope = (other[1] - one[1]) / (places[other[0]] - places[one[0]])
    intercept = one[1] - slope * places[one[0]]
    for _ in range(2):
        chosen = []
        for k, values in enumerate(options):
            at = slope * places[k] + intercept
            near = [(abs(v - at), v, said, doubt) for v, said, doubt in values]
            if near and min(near)[0] <= tolerance * abs(slope):
                _, v, said, doubt = min(near)
                chosen.append((k, v, said, doubt))
        if len(chosen) < _ENOUGH:
            return None
        px = np.array([places[k] for k, *_ in chosen])
        along = np.array([v for _, v, *_ in chosen])
        if np.ptp(along) == 0:
            return None
        centred = px - px.mean()
        slope = float(centred @ along / (centred @ centred))
        intercept = float(along.mean() - slope * px.mean())
        if slope == 0 or not math.isfinite(slope):
            return None
    residual = float(np.abs((along - intercept) / slope - px).max())
    if residual > tolerance:
        return None
    return _Fit(
        "log" if log else "linear",
        slope,
        intercept,
        tuple((k, said) for k, _, said, _ in chosen),
        residual,
        sum(doubt for *_, doubt in chosen) + 1 * log,
    )
