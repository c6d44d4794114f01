"""Text and legends within a plot, told from curves by their shapes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probatum.charts.tracing.track import TextBox

__all__ = ["Entry", "drop_lettering"]

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Entry:
    """An entry of a legend: its text and the colour of the line beside it."""

    text: str
    color: tuple[int, int, int]


@dataclass(frozen=True)
class _Pieces:
    """Connected pieces of ink: labels, the sides of each (left, top, right, bottom), its pixels.

    ``across`` is the mean number of runs of ink that a column through it meets, ``down`` that of
    a row.
    """

    labels: NDArray[np.int32]
    sides: NDArray[np.int64]
    size: NDArray[np.int64]
    across: NDArray[np.float64]
    down: NDArray[np.float64]
    color: NDArray[np.float64]


@dataclass(frozen=True)
class _Row:
    """A row of text: its sides, the height of its letters, what it says."""

    left: float
    top: float
    right: float
    bottom: float
    height: float
    text: str = ""


def drop_lettering(
    away: Floats, rgb: Floats, text: Sequence[TextBox], left: int, top: int
) -> tuple[Entry, ...]:
    """Take text, legend samples and frames around them away; give the entries of the legend."""
    pieces = _pieces(away, rgb)
    if not len(pieces.size):
        return ()
    rows, letters = _rows(pieces, away.shape[0])
    gone = set(letters)
    for one in text:
        box = one.box
        row = _Row(
            box.left - left, box.top - top, box.right - left, box.bottom - top, box.height, one.text
        )
        rows.append(row)
        gone.update(_within(pieces, row))
    entries = []
    for row in rows:
        samples = _samples(pieces, row)
        gone.update(samples)
        if row.text and samples:
            entries.append(Entry(row.text, _color(away, rgb, pieces, samples)))
    gone.update(_frames(pieces))
    drop = np.zeros(len(pieces.size) + 1, bool)
    drop[[g + 1 for g in gone]] = True
    away[drop[pieces.labels]] = 0.0
    return tuple(entries)


def _pieces(away: Floats, rgb: Floats) -> _Pieces:
    from scipy import ndimage

    mask = away > 0
    labels, n = ndimage.label(mask, structure=np.ones((3, 3)))
    found = ndimage.find_objects(labels)
    sides = np.array([(s[1].start, s[0].start, s[1].stop, s[0].stop) for s in found], int).reshape(
        -1, 4
    )
    inked = labels[mask]
    above, before = np.zeros_like(mask), np.zeros_like(mask)
    above[1:], before[:, 1:] = mask[:-1], mask[:, :-1]
    size, tops, lefts = (
        np.bincount(inked[kept], minlength=n + 1)[1:]
        for kept in (slice(None), ~above[mask], ~before[mask])
    )
    width, height = sides[:, 2] - sides[:, 0], sides[:, 3] - sides[:, 1]
    # Of the colours the darkest count most: edges are a mixture with the background.
    held = away[mask] ** 2
    total = np.maximum(np.bincount(inked, held, n + 1)[1:], 1e-9)
    tinted = [np.bincount(inked, held * band[mask], n + 1)[1:] for band in np.moveaxis(rgb, 2, 0)]
    color = np.stack(tinted, axis=1) / total[:, None]
    return _Pieces(labels, sides, size, tops / width, lefts / height, color)


def _rows(pieces: _Pieces, tall: int) -> tuple[list[_Row], list[int]]:
    """Rows of pieces that stand like letters, and these pieces."""
    left, top, right, bottom = pieces.sides.T
    width, height = right - left, bottom - top
    most = max(30, int(0.09 * tall))
    likely = (height >= 5) & (height <= most) & (width <= 2.5 * height) & (width >= 1)
    likely &= pieces.size >= 0.12 * width * height
    order = [int(i) for i in np.argsort(left, kind="stable") if likely[i]]
    if len(order) > 1500:
        return [], []
    used: set[int] = set()
    rows, letters = [], []
    for nth, start in enumerate(order):
        if start in used:
            continue
        chain = [start]
        for i in order[nth + 1 :]:
            last = chain[-1]
            if left[i] > right[last] + most:
                break
            if i in used or left[i] <= left[last]:
                continue
            h = max(height[last], height[i])
            level = abs(bottom[i] - bottom[last]) <= 0.3 * h or (
                abs(top[i] + bottom[i] - top[last] - bottom[last]) <= 0.4 * h
            )
            if -2 <= left[i] - right[last] <= 0.9 * h and level:
                chain.append(i)
        if _is_word(pieces, chain):
            used.update(chain)
            row = _row_of(pieces, chain)
            rows.append(row)
            letters += chain + _small_marks(pieces, row)
    return rows, letters


def _is_word(pieces: _Pieces, chain: list[int]) -> bool:
    """Whether pieces in a row vary in shape as letters do, on one base line."""
    if len(chain) < 2:
        return False
    left, top, right, bottom = pieces.sides[chain].T
    height, width = bottom - top, right - left
    tall = float(np.median(height))
    if float(height.max()) > 2.2 * tall:
        return False
    # Dashes and filled markers are one run of ink in every column and row; letters are more.
    if pieces.across[chain].mean() < 1.3 or pieces.down[chain].mean() < 1.15:
        return False
    off = np.abs(pieces.color[chain] - np.median(pieces.color[chain], axis=0)).max(axis=1)
    if float(np.mean(off < 40.0)) < 0.8:
        return False
    levelled = float(np.mean(np.abs(bottom - np.median(bottom)) <= max(1.5, 0.16 * tall)))
    shape = np.stack([width, height, pieces.size[chain]], axis=1) / tall
    varied = float(np.ptp(width) / tall) > 0.12 or float(np.std(shape[:, 2]) / tall) > 0.05
    return levelled >= 0.6 and varied and float(np.median(width)) <= 1.4 * tall


def _row_of(pieces: _Pieces, chain: list[int]) -> _Row:
    sides = pieces.sides[chain]
    return _Row(
        float(sides[:, 0].min()),
        float(sides[:, 1].min()),
        float(sides[:, 2].max()),
        float(sides[:, 3].max()),
        float(np.median(sides[:, 3] - sides[:, 1])),
    )


def _within(pieces: _Pieces, row: _Row, more: float = 1.5) -> list[int]:
    left, top, right, bottom = pieces.sides.T
    inside = (
        (left >= row.left - more)
        & (right <= row.right + more)
        & (top >= row.top - more)
        & (bottom <= row.bottom + more)
    )
    return [int(i) for i in np.flatnonzero(inside)]


def _small_marks(pieces: _Pieces, row: _Row) -> list[int]:
    """Dots, dashes and accents among letters."""
    return _within(pieces, row, 0.4 * row.height)


def _samples(pieces: _Pieces, row: _Row) -> list[int]:
    """Pieces of the line that a legend shows to the left of a row of text."""
    left, top, right, bottom = pieces.sides.T
    height = max(row.height, 6.0)
    middle = (row.top + row.bottom) / 2
    beside = (
        (right <= row.left + 1)
        & (left >= row.left - 7 * height)
        & (np.abs((top + bottom) / 2 - middle) <= 0.5 * height)
        & (bottom - top <= 1.6 * height)
    )
    found = np.flatnonzero(beside)
    if not len(found):
        return []
    nearest = row.left - float(right[found].max())
    reach = float(right[found].max() - left[found].min())
    if nearest > 2.2 * height or reach < 0.8 * height:
        return []
    return [int(i) for i in found]


def _color(away: Floats, rgb: Floats, pieces: _Pieces, samples: list[int]) -> tuple[int, int, int]:
    ink = np.isin(pieces.labels, [s + 1 for s in samples])
    strong = ink & (away >= np.percentile(away[ink], 60))
    r, g, b = (int(v) for v in np.median(rgb[strong], axis=0))
    return r, g, b


def _frames(pieces: _Pieces) -> list[int]:
    """Pieces that are thin rectangles, as around a legend."""
    found = []
    for i, (left, top, right, bottom) in enumerate(pieces.sides.tolist()):
        if right - left < 16 or bottom - top < 10:
            continue
        # A frame is little of its rectangle.
        if pieces.size[i] > 8 * (right - left + bottom - top):
            continue
        own = pieces.labels[top:bottom, left:right] == i + 1
        edge = max(2, int(0.04 * min(own.shape)))
        sides = (own[:edge], own[-edge:], own[:, :edge].T, own[:, -edge:].T)
        if min(float(side.any(axis=0).mean()) for side in sides) < 0.85:
            continue
        corner = max(edge, int(0.2 * min(own.shape)))
        inner = own[edge:-edge, edge:-edge]
        inner = inner[corner - edge : -(corner - edge) or None]
        if inner.size and inner.mean() < 0.03:
            found.append(i)
    return found
