"""Which ink is of one colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probatum.charts.tracing.foreground import Ground

__all__ = ["Group", "groups_of"]

_NEAR = 13.0
_MOST = 12
# Makes a and b of CIELAB positive.
_SHIFT = np.array([0.0, 110.0, 110.0])


@dataclass(frozen=True)
class Group:
    """Ink of one colour."""

    mask: NDArray[np.bool_]
    color: tuple[int, int, int]


def groups_of(ground: Ground) -> list[Group]:
    """Ink parted by its colour, the most of it first."""
    from scipy import ndimage
    from skimage.color import rgb2lab

    mask = ground.mask
    if not mask.any():
        return []
    most = ndimage.maximum_filter(ground.away, 3)
    core = mask & (ground.away >= 0.86 * most)
    rows, columns = np.nonzero(core)
    lab = rgb2lab(ground.rgb[rows, columns][None] / 255.0)[0]
    centres = _centres(lab, ground)
    which = _nearest(lab, centres)
    which, centres = _joined(which, centres, rows, columns, ground)
    labels = np.full(mask.shape, -1, np.int16)
    labels[rows, columns] = which
    _spread(labels, mask)
    groups = []
    for k in range(len(centres)):
        own = labels == k
        if np.count_nonzero(own) < 0.15 * mask.shape[1]:
            continue
        strong = ground.away[rows, columns][which == k]
        pure = which == k
        pure[pure] = strong >= np.percentile(strong, 50)
        r, g, b = (int(v) for v in np.median(ground.rgb[rows, columns][pure], axis=0))
        groups.append(Group(own, (r, g, b)))
    groups.sort(key=lambda group: -np.count_nonzero(group.mask))
    return groups


def _spread(labels: NDArray[np.int16], mask: NDArray[np.bool_]) -> None:
    """Give the edges of lines the colour of the nearest middle of a line."""
    height, width = mask.shape
    around = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)]
    for _ in range(12):
        rows, columns = np.nonzero(mask & (labels < 0))
        if not len(rows):
            break
        new = np.full(len(rows), -1, np.int16)
        for down, across in around:
            r, c = rows + down, columns + across
            inside = (new < 0) & (r >= 0) & (r < height) & (c >= 0) & (c < width)
            new[inside] = labels[r[inside], c[inside]]
        labels[rows, columns] = new


def _centres(lab: NDArray[np.float64], ground: Ground) -> NDArray[np.float64]:
    """Peaks of the density of colours."""
    from scipy import ndimage

    step = 4.0
    bins = np.clip(np.rint((lab + _SHIFT) / step).astype(int), 0, [25, 55, 55])
    density = np.zeros((26, 56, 56), np.float32)
    np.add.at(density, tuple(bins.T), 1.0)
    smooth = ndimage.gaussian_filter(density, 0.8, mode="constant")
    least = max(0.10 * ground.mask.shape[1], 0.01 * len(lab))
    # From here on bins stand for the pixels in them.
    filled = np.argwhere((density > 0) | (smooth > 0.5))
    places, counts = filled * step - _SHIFT, density[tuple(filled.T)]
    heights = smooth[tuple(filled.T)]
    found: list[NDArray[np.float64]] = []
    left = np.ones(len(filled), bool)
    while len(found) < _MOST and left.any() and heights.max() > 0:
        near = np.linalg.norm(places - places[int(heights.argmax())], axis=1) < _NEAR
        mine = near & left
        left &= ~near
        heights[near] = 0.0
        if counts[mine].sum() >= least:
            core = mine & (counts >= 0.5 * counts[mine].max())
            found.append(np.average(places[core], axis=0, weights=counts[core]))
    return np.array(found) if found else np.median(lab, axis=0)[None]


def _nearest(lab: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    apart = np.linalg.norm(lab[:, None] - centres[None], axis=2)
    return np.asarray(apart.argmin(axis=1))


def _joined(
    which: NDArray[np.int64],
    centres: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    ground: Ground,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Colours that are only the edges or thin parts of another are joined to it."""
    from skimage.color import rgb2lab

    paper = rgb2lab(ground.background[None, None] / 255.0)[0, 0]
    span = centres - paper
    size = np.linalg.norm(span, axis=1)
    counts = np.bincount(which, minlength=len(centres))
    near = [_drawn(which == b, rows, columns, ground.mask.shape) for b in range(len(centres))]
    target = np.arange(len(centres))
    for a in np.argsort(counts, kind="stable"):
        best = 0.35
        for b in range(len(centres)):
            if b == a or target[b] == a:
                continue
            along = float(span[a] @ span[b]) / max(size[b] ** 2, 1e-9)
            off = np.linalg.norm(span[a] - along * span[b])
            paler = size[a] < size[b] and off <= max(9.0, 0.2 * size[a])
            # Compression leaves rims of other hues along a line: they lie nowhere else.
            rim = size[a] < 0.75 * size[b] or counts[a] < 0.4 * counts[b]
            if not paler and not rim:
                continue
            touching = float(near[b][rows[which == a], columns[which == a]].mean())
            if touching > (best if paler else max(best, 0.75)):
                best, target[a] = touching, b
    for a in range(len(target)):
        while target[target[a]] != target[a]:
            target[a] = target[target[a]]
    kept, new = np.unique(target, return_inverse=True)
    return new[which], centres[kept]


def _drawn(
    own: NDArray[np.bool_],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    shape: tuple[int, ...],
) -> NDArray[np.bool_]:
    """Where some of the pixels lie within two pixels."""
    drawn = np.zeros((shape[0] + 4, shape[1] + 4), bool)
    for down in range(5):
        for across in range(5):
            drawn[rows[own] + down, columns[own] + across] = True
    return drawn[2:-2, 2:-2]
