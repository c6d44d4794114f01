"""Quantities that people read off spectra, with what a pixel's width leaves uncertain in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Derived",
    "cv_peaks",
    "eis_intercept",
    "gcd_capacity",
    "phase_purity",
    "raman_id_ig",
    "scherrer_size",
]

Floats = NDArray[np.float64]

_D_BAND, _G_BAND = (1300.0, 1400.0), (1560.0, 1620.0)
# A Raman baseline is drawn between these, where the curve reaches so far.
_FEET = (1150.0, 1750.0)
# Peaks lower than this share of the range are noise.
_PROMINENCE = 0.03
# Numbers beyond this are no readings, and their squares may be no numbers.
_LARGEST = 1e100


class Derived(NamedTuple):
    """A quantity and its standard uncertainty from the resolution of the image alone.

    What the curve's own error is (noise, a wrong baseline, a thick line) is not in it.
    """

    value: float
    uncertainty: float


def raman_id_ig(x: ArrayLike, y: ArrayLike, *, dy: float = 0.0) -> Derived:
    """Height of the D band of carbon over that of its G band.

    Heights are those above a straight line between the feet of both bands.

    Parameters
    ----------
    x : array_like of shape (n,)
        Raman shift in 1/cm.
    y : array_like of shape (n,)
        Intensity.
    dy : float
        Intensity per pixel.

    Raises
    ------
    ValueError
        If the curve does not reach from 1300 to 1620 1/cm, or has no G band.

    Examples
    --------
    >>> x = np.linspace(1000, 1900, 901)
    >>> band = lambda at, wide: 1 / (1 + ((x - at) / wide) ** 2)
    >>> round(raman_id_ig(x, 100 + 80 * band(1350, 25) + 100 * band(1585, 20)).value, 1)
    0.8
    """
    x, y = _function(x, y)
    if x[0] > _D_BAND[0] or x[-1] < _G_BAND[1]:
        raise ValueError(
            f"D and G bands lie between {_D_BAND[0]:g} and {_G_BAND[1]:g} 1/cm, the curve "
            f"reaches from {x[0]:g} to {x[-1]:g}"
        )
    level = y - _baseline(x, y, *_FEET)
    d, g = (_summit(x, level, *band) for band in (_D_BAND, _G_BAND))
    if g <= 0:
        raise ValueError("there is no G band above the line between 1150 and 1750 1/cm")
    ratio = d / g
    return _derived(ratio, _pixel(dy) * math.hypot(1.0, ratio) / g)


def scherrer_size(
    x: ArrayLike,
    y: ArrayLike,
    peak: float | None = None,
    *,
    wavelength: float = 1.5406,
    shape: float = 0.9,
    instrument: float = 0.0,
    dx: float = 0.0,
    dy: float = 0.0,
) -> Derived:
    """Size of crystallites from the width of a diffraction peak, by Scherrer's equation.

    D = K λ / (β cos θ), with β the full width at half maximum in radians.

    Parameters
    ----------
    x : array_like of shape (n,)
        2θ in degrees.
    y : array_like of shape (n,)
        Intensity.
    peak : float, optional
        2θ of the peak; the highest by default.
    wavelength : float
        λ in ångström; that of Cu Kα1 by default.
    shape : float
        K.
    instrument : float
        Width in degrees that the instrument adds; it is taken off in squares.
    dx : float
        Degrees per pixel.
    dy : float
        Intensity per pixel; it counts where the flanks are gentle.

    Returns
    -------
    Derived
        In the unit of the wavelength.

    Raises
    ------
    ValueError
        If there is no such peak, or it is no wider than the instrument makes it.
    """
    x, y = _function(x, y)
    if not (wavelength > 0 and shape > 0 and instrument >= 0):
        raise ValueError("wavelength and shape are positive, instrument is not negative")
    at = _peak_at(x, y, peak)
    if not 0 < x[at] < 180:
        raise ValueError(f"2 theta lies between 0 and 180 degrees, the peak is at {x[at]:g}")
    width, rises = _full_width(x, y, at)
    own = math.sqrt(max(width**2 - instrument**2, 0.0))
    if own == 0:
        raise ValueError(f"the peak at {x[at]:g} is no wider than the instrument's {instrument:g}")
    theta = math.radians(x[at] / 2)
    size = shape * wavelength / (math.radians(own) * math.cos(theta))
    return _derived(size, size * _width_uncertainty(rises, dx, dy) * width / own**2)


def _peak_at(x: Floats, y: Floats, near: float | None) -> int:
    """The highest peak, or the one within a degree of a place."""
    found = _peaks(x, y)
    if not len(found):
        raise ValueError("the curve has no peak")
    if near is None:
        return int(found[np.argmax(y[found])])
    at = int(found[np.argmin(np.abs(x[found] - near))])
    if not abs(x[at] - near) <= 1.0:
        raise ValueError(f"there is no peak within 1 degree of {near:g}")
    return at


def _width_uncertainty(rises: Sequence[float], dx: float, dy: float) -> float:
    """Of a full width at half maximum, from the slopes of its flanks.

    Both flanks are read to a pixel, and so is the half height between top and foot: if that is
    off, the flanks move apart or together.
    """
    run = [1 / rise if rise else 0.0 for rise in rises]
    across = _pixel(dy) * math.hypot(run[0], run[1], sum(run) / math.sqrt(2))
    return math.hypot(math.sqrt(2) * _pixel(dx), across)


def eis_intercept(x: ArrayLike, y: ArrayLike, *, dx: float = 0.0, dy: float = 0.0) -> Derived:
    """Resistance where a Nyquist curve meets the real axis at its high-frequency end.

    The curve rises out of the axis there. One that starts just above it is continued straight
    along its first two points; where it ends on the axis at low frequency does not count.

    Parameters
    ----------
    x : array_like of shape (n,)
        Z'.
    y : array_like of shape (n,)
        −Z''.
    dx, dy : float
        Z' and −Z'' per pixel.

    Raises
    ------
    ValueError
        If the curve neither crosses the axis nor comes close to it at its left end.
    """
    x, y = _path(x, y)
    order = np.lexsort((y, x))
    left, height = x[order], y[order]
    rising = np.nonzero((height[:-1] <= 0) & (height[1:] > 0))[0]
    near = 0.0 < height[0] <= np.ptp(height) * 0.08
    if near:
        i = 0
    elif height[0] <= 0 and len(rising):
        i = int(rising[0])
    else:
        raise ValueError(
            "the curve does not meet the real axis at its left end: -Z'' is "
            f"{height[0]:g} at Z' = {left[0]:g}"
        )
    rise, run = float(height[i + 1] - height[i]), float(left[i + 1] - left[i])
    # In steps from one point to the next; a curve that falls from above is not continued.
    share = 0.0 if rise == 0 or (rise < 0 < height[i + 1]) else -float(height[i]) / rise
    if abs(share * run) > 0.1 * np.ptp(left):
        share = 0.0
    lever = max(1.0, math.hypot(1 - share, share))
    slope = abs(run / rise) if rise else 0.0
    return _derived(
        float(left[i]) + share * run, lever * math.hypot(_pixel(dx), _pixel(dy) * slope)
    )


def gcd_capacity(x: ArrayLike, y: ArrayLike, *, dx: float = 0.0) -> Derived:
    """Capacity passed by the end of a charge or discharge curve.

    Parameters
    ----------
    x : array_like of shape (n,)
        Capacity.
    y : array_like of shape (n,)
        Voltage.
    dx : float
        Capacity per pixel.
    """
    x, y = _path(x, y)
    # Both ends are read where the curve starts below zero.
    ends = 2 if x.min() < 0 else 1
    return _derived(float(x.max() - min(0.0, x.min())), math.sqrt(ends) * _pixel(dx))


def cv_peaks(
    x: ArrayLike, y: ArrayLike, *, dx: float = 0.0, dy: float = 0.0
) -> tuple[Derived, Derived]:
    """Potentials of the highest and of the lowest current of a voltammogram.

    Parameters
    ----------
    x : array_like of shape (n,)
        Potential.
    y : array_like of shape (n,)
        Current, in the order of the sweep.
    dx, dy : float
        Potential and current per pixel; the middle is taken of the stretch of the sweep that is
        within half a pixel of the highest current.
    """
    x, y = _path(x, y)
    return _top(x, y, dx, dy), _top(x, -y, dx, dy)


def _top(x: Floats, y: Floats, dx: float, dy: float) -> Derived:
    at = int(np.argmax(y))
    _pixel(dy)
    low = np.nonzero(y < y[at] - dy / 2)[0]
    start = int(low[low < at].max(initial=-1)) + 1
    end = int(low[low > at].min(initial=len(y)))
    first, last = float(x[start:end].min()), float(x[start:end].max())
    return _derived((first + last) / 2, math.hypot(_pixel(dx), (last - first) / math.sqrt(12)))


def phase_purity(
    x: ArrayLike,
    y: ArrayLike,
    peaks: Sequence[float],
    *,
    window: float = 0.2,
    dx: float = 0.0,
    dy: float = 0.0,
) -> Derived:
    """Share of the area of a diffractogram's peaks that a reference pattern explains.

    Parameters
    ----------
    x : array_like of shape (n,)
        2θ in degrees.
    y : array_like of shape (n,)
        Intensity.
    peaks : sequence of float
        2θ of the peaks of the phase.
    window : float
        Degrees within which a peak is one of these.
    dx : float
        Degrees per pixel; half of what a window wider or narrower by a pixel changes is
        uncertain.
    dy : float
        Intensity per pixel; so uncertain is the foot that an area stands on.

    Raises
    ------
    ValueError
        If the curve has no peak, or there is no reference.
    """
    x, y = _function(x, y)
    known = np.asarray(list(peaks), float)
    if not len(known) or not np.isfinite(known).all():
        raise ValueError("a reference pattern has at least one peak, and finite ones")
    if not window > 0:
        raise ValueError(f"window is a positive number of degrees, got {window}")
    found = _peaks(x, y)
    if not len(found):
        raise ValueError("the curve has no peak")
    measured = [_area(x, y, int(i)) for i in found]
    areas, spans = np.array(measured).T
    if not areas.sum() > 0:
        raise ValueError("the peaks have no area")
    apart = np.abs(x[found][:, None] - known).min(axis=1)

    def share(reach: float) -> float:
        return float(areas[apart <= reach].sum() / areas.sum())

    _pixel(dx)
    seen = share(window)
    edge = abs(share(window + dx) - share(max(window - dx, 0.0))) / 2
    feet = _pixel(dy) * np.linalg.norm(((apart <= window) - seen) * spans) / areas.sum()
    return _derived(seen, math.hypot(edge, float(feet)))


def _derived(value: float, uncertainty: float) -> Derived:
    """Both as plain numbers, if they are any."""
    if not (math.isfinite(value) and math.isfinite(uncertainty)):
        raise ValueError("the curve's numbers are too large or too small for a finite result")
    return Derived(float(value), float(uncertainty))


def _pixel(size: float) -> float:
    """Standard uncertainty of a place that is known to a pixel."""
    if not (math.isfinite(size) and size >= 0):
        raise ValueError(f"a pixel's size is a number of zero or more, got {size}")
    return size / math.sqrt(12)


def _path(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, float), np.asarray(y, float)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"x and y are one-dimensional and of one length, got {first.shape} and {second.shape}"
        )
    kept = np.isfinite(first) & np.isfinite(second)
    if kept.sum() < 3:
        raise ValueError(f"a curve needs three finite points, got {int(kept.sum())}")
    first, second = first[kept], second[kept]
    if max(np.abs(first).max(), np.abs(second).max()) > _LARGEST:
        raise ValueError(f"a curve's numbers lie within {_LARGEST:g} of zero")
    return first, second


def _function(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The curve from left to right, with one value for each place."""
    first, second = _path(x, y)
    places, at = np.unique(first, return_inverse=True)
    if len(places) < 5:
        raise ValueError(f"a curve needs five places along x, got {len(places)}")
    sums: Any = np.bincount(at, weights=second)
    return places, sums / np.bincount(at)


def _baseline(x: Floats, y: Floats, low: float, high: float) -> Floats:
    """The line between the lowest points near two places."""
    ends = []
    for at in (max(low, x[0]), min(high, x[-1])):
        near = np.abs(x - at) <= 40.0
        if not near.any():
            raise ValueError(f"no point lies within 40 1/cm of {at:g}, where the baseline starts")
        i = np.nonzero(near)[0][np.argsort(y[near])[: max(1, int(0.2 * near.sum()))]]
        ends.append((float(x[i].mean()), float(y[i].mean())))
    (x0, y0), (x1, y1) = ends
    return np.asarray(y0 + (y1 - y0) * (x - x0) / (x1 - x0))


def _summit(x: Floats, y: Floats, low: float, high: float) -> float:
    """The top of a band: of a parabola through what lies within a tenth of it."""
    inside = np.nonzero((x >= low) & (x <= high))[0]
    if len(inside) < 3:
        raise ValueError(f"fewer than three points lie between {low:g} and {high:g}")
    top = int(inside[np.argmax(y[inside])])
    near = inside[(y[inside] > 0.9 * y[top]) & (np.abs(x[inside] - x[top]) < 15)]
    if len(near) < 5 or y[top] <= 0:
        return float(y[top])
    a, b, c = np.polyfit(x[near] - x[top], y[near], 2)
    at = -b / (2 * a) if a < 0 else math.inf
    inside_fit = abs(at) <= np.ptp(x[near]) / 2
    return float(c + b * at / 2) if inside_fit else float(y[top])


def _peaks(x: Floats, y: Floats) -> NDArray[np.intp]:
    from scipy.signal import find_peaks

    found, _ = find_peaks(y, prominence=_PROMINENCE * np.ptp(y))
    return np.asarray(found)


def _feet(y: Floats, at: int) -> tuple[int, int]:
    """The lowest points on both sides before the curve rises above the peak again."""
    from scipy.signal import peak_prominences

    _, left, right = peak_prominences(y, [at], wlen=None)
    return int(left[0]), int(right[0])


def _full_width(x: Floats, y: Floats, at: int) -> tuple[float, list[float]]:
    """Full width at half of the height above the higher foot, and the mean slope of each flank."""
    left, right = _feet(y, at)
    base = max(y[left], y[right])
    half = (y[at] + base) / 2
    ends, slopes = [], []
    for step, stop in ((-1, left), (1, right)):
        i = at
        while i != stop and y[i + step] > half:
            i += step
        j = i + step if i != stop else i
        share = 0.0 if y[i] == y[j] else (y[i] - half) / (y[i] - y[j])
        ends.append(float(x[i] + share * (x[j] - x[i])))
        # From the top to here: between two columns it would be that of a stair of pixels.
        out = abs(ends[-1] - float(x[at]))
        slopes.append(float(y[at] - half) / out if out else 0.0)
    return ends[1] - ends[0], slopes


def _area(x: Floats, y: Floats, at: int) -> tuple[float, float]:
    """Area above the higher foot, out to four half widths, and the length of its foot."""
    left, right = _feet(y, at)
    width, _ = _full_width(x, y, at)
    base = max(y[left], y[right])
    own = (
        (np.arange(len(x)) >= left)
        & (np.arange(len(x)) <= right)
        & (np.abs(x - x[at]) <= 2 * width)
    )
    if own.sum() < 2:
        return 0.0, 0.0
    area = np.trapezoid(np.maximum(y[own] - base, 0.0), x[own])
    return float(area), float(np.ptp(x[own]))
