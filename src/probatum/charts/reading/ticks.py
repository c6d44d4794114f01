"""Where the ticks of an axis stand: outside the spine, inside it, or as gridlines."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import ndimage

from probatum.charts.reading.frames import Frame
from probatum.charts.reading.sheet import Floats

__all__ = ["find_ticks"]

Side = Literal["left", "right", "bottom"]

_INK = 22.0
_WIDEST = 8


def find_ticks(dark: Floats, frame: Frame, side: Side) -> list[Floats]:
    """Places of marks along a side, one array for each kind that is there.

    Parameters
    ----------
    dark : ndarray of shape (height, width)
        Ink of the image.
    frame : Frame
    side : {"left", "right", "bottom"}

    Returns
    -------
    list of ndarray
        Marks outside the spine, marks inside it, the same with short ones, gridlines; of these
        those that are two or more.
    """
    box = frame.box
    if side == "bottom":
        image, spine, start, end = dark, box.bottom, box.left, box.right
    elif side == "left":
        # Turned so that the left side is the bottom one; places along it are rows.
        image, spine, start, end = dark.T[::-1], dark.shape[1] - box.left, box.top, box.bottom
    else:
        image, spine, start, end = dark.T, box.right, box.top, box.bottom
    half = frame.stroke / 2
    found = [
        _marks(image[_rows(spine + half + 0.5, 4)], start, end),
        _marks(image[_rows(spine - half - 4.5, 4)], start, end),
    ]
    # Minor ticks are shorter.
    found.append(_marks(image[_rows(spine + half + 0.5, 1)], start, end))
    found.append(_marks(image[_rows(spine - half - 1.5, 1)], start, end))
    far = box.height if side == "bottom" else box.width
    inside = image[max(0, int(spine - 0.97 * far)) : max(1, int(spine - half - 1))]
    found.append(_grid(inside, start, end))
    return [marks for marks in found if len(marks) >= 2]


def _rows(start: float, count: int) -> slice:
    first = max(0, round(start))
    return slice(first, first + count)


def _marks(band: Floats, start: float, end: float) -> Floats:
    """Narrow places where a whole band is inked."""
    if band.size == 0:
        return np.zeros(0)
    return _peaks(np.sort(band, axis=0)[band.shape[0] // 4], _INK, start, end)


def _grid(inside: Floats, start: float, end: float) -> Floats:
    """Narrow places that are inked from end to end, if faintly."""
    if inside.shape[0] < 10:
        return np.zeros(0)
    return _peaks(np.percentile(inside[::3], 25, axis=0), 2.5, start, end)


def _peaks(profile: Floats, least: float, start: float, end: float) -> Floats:
    labels, count = ndimage.label(profile > least)
    if not count:
        return np.zeros(0)
    found = []
    for (where,) in ndimage.find_objects(labels):
        # Ends are soft, and weigh little.
        first, last = max(0, where.start - 1), min(len(profile), where.stop + 1)
        weight = np.maximum(profile[first:last], 0.0)
        at = float((np.arange(first, last) + 0.5) @ weight / weight.sum())
        if where.stop - where.start <= _WIDEST and start - 3 <= at <= end + 3:
            found.append(at)
    return np.array(found)
