"""What in a plot is ink of curves: not background, grid, spines, text or legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Box
from probatum.charts.tracing.lettering import Entry, drop_lettering
from probatum.charts.tracing.track import TextBox

__all__ = ["Ground", "ground_of"]

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Distances in RGB, of 441 between black and white.
_FAINT, _CLEAR = 26.0, 48.0
_SAME = 20.0


@dataclass(frozen=True)
class Ground:
    """The inside of a plot.

    Attributes
    ----------
    rgb : ndarray of shape (height, width, 3)
    away : ndarray of shape (height, width)
        Distance of each pixel from the background or gridline that it lies on; 0 where there is
        no ink.
    left, top : int
        Column and row of its first pixel in the image.
    background : ndarray of shape (3,)
    covered : ndarray of bool
        Where ink of any kind may lie over a curve.
    entries : tuple of Entry
        Of a legend.
    """

    rgb: Floats
    away: Floats
    left: int
    top: int
    background: Floats
    covered: Mask
    entries: tuple[Entry, ...] = ()

    @property
    def corner(self) -> NDArray[np.float64]:
        """What turns places within it into places in the image."""
        return np.array([self.left, self.top], float)

    @property
    def mask(self) -> Mask:
        """Where there is ink."""
        return self.away > 0


def ground_of(
    image: NDArray[np.uint8], box: Box, exclude: Sequence[Box], text: Sequence[TextBox]
) -> Ground | None:
    """The inside of a plot with all that is no curve taken away; None if the box is too small."""
    height, width = image.shape[:2]
    left, right = max(0, int(box.left) + 1), min(width, int(np.ceil(box.right)) - 1)
    top, bottom = max(0, int(box.top) + 1), min(height, int(np.ceil(box.bottom)) - 1)
    if right - left < 8 or bottom - top < 8:
        return None
    rgb = image[top:bottom, left:right].astype(np.float32)
    background = _background(image[top:bottom, left:right])
    away = _distance(rgb, background)
    away = _without_lines(rgb, away, background)
    for one in exclude:
        _blank(away, one, left, top, 3.0)
    away[away < _FAINT] = 0.0
    _drop_edges(away)
    _drop_faint(away)
    covered = away > 0
    entries = drop_lettering(away, rgb, text, left, top)
    return Ground(rgb, away, left, top, background, covered, entries)


def _background(crop: NDArray[np.uint8]) -> Floats:
    codes = (crop >> 3).astype(np.int32)
    flat = ((codes[..., 0] << 10) | (codes[..., 1] << 5) | codes[..., 2]).ravel()
    most = crop.reshape(-1, 3)[flat == np.bincount(flat).argmax()]
    return np.asarray(np.median(most[:: max(1, len(most) // 5000)], axis=0), np.float32)


def _distance(rgb: Floats, to: Any) -> Floats:
    apart = rgb - to
    return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", apart, apart)))


def _without_lines(rgb: Floats, away: Floats, background: Floats) -> Floats:
    """Distances with shaded bands, gridlines and what is left of spines taken as background.

    The median of a column is the colour of a vertical gridline or band where there is one, and
    the background elsewhere; so is that of a row. A line of curves is not taken for one unless it
    reaches from side to side in one colour.
    """
    strong = float(np.percentile(away[away > _FAINT], 90)) if (away > _FAINT).any() else 0.0
    some = [max(1, side // 250) for side in away.shape]
    medians = [np.median(rgb[:: some[0]], axis=0), np.median(rgb[:, :: some[1]], axis=1)]
    offs = [np.sqrt(((median - background) ** 2).sum(-1)) for median in medians]
    for axis in (0, 1):
        for at in np.flatnonzero(_in_band(offs[axis])):
            _relative(rgb, away, medians[axis], axis, int(at), strong)
    for axis in (0, 1):
        _drop_dashed(rgb, away, axis, strong)
    for axis in (0, 1):
        for at in np.flatnonzero((offs[axis] > 5.0) & ~_in_band(offs[axis])):
            _relative(rgb, away, medians[axis], axis, int(at), strong)
    return away


def _in_band(off: Floats) -> Mask:
    """Columns, or rows, whose neighbours on one side are off the background as well."""
    wide = 13
    marked = off > 5.0
    filled = np.convolve(marked, np.ones(wide, int), "valid") == wide
    band = np.zeros(len(off), bool)
    for at in np.flatnonzero(filled):
        band[at : at + wide] = True
    return band


def _relative(rgb: Floats, away: Floats, median: Floats, axis: int, at: int, strong: float) -> None:
    line = rgb[:, at] if axis == 0 else rgb[at]
    to_line = np.sqrt(((line - median[at]) ** 2).sum(-1))
    kept = away[:, at] if axis == 0 else away[at]
    same = to_line < _SAME
    share, tip = float(np.mean(same)), max(3, len(same) // 40)
    # A gridline is faint or reaches both sides of the plot; a level or upright part of a curve
    # is and does neither.
    # Ticks may lie over its ends.
    there = same | (kept > _FAINT)
    tips = int(there[:tip].mean() > 0.6) + int(there[-tip:].mean() > 0.6)
    strength = float(np.median(kept)) / max(strong, 1.0)
    if strength < 0.4 or (tips == 2 and (strength < 0.55 or share > 0.93)):
        np.minimum(kept, to_line, out=kept)


def _drop_dashed(rgb: Floats, away: Floats, axis: int, strong: float) -> None:
    """Take away dashed and dotted gridlines: ink spread evenly over a whole row.

    Lines as dark as the curves must be more than one to be taken for a grid.
    """
    lines = away.T if axis == 0 else away
    length = lines.shape[1]
    parts = 8
    if length < 10 * parts:
        return
    inked = lines > _FAINT
    cut = inked[:, : length // parts * parts].reshape(len(lines), parts, -1).mean(axis=2)
    tip = max(8, length // 40)
    tips = np.stack([inked[:, :tip].mean(axis=1), inked[:, -tip:].mean(axis=1)]) > 0.1
    even = np.flatnonzero(
        (cut.min(axis=1) > 0.12) & (np.median(cut, axis=1) > 0.2) & tips.all(axis=0)
    )
    # A legend may lie over part of a grid.
    mostly = np.flatnonzero((np.sort(cut, axis=1)[:, 3] > 0.2) & tips.any(axis=0))
    if int((np.diff(mostly) > 5).sum()) >= 3:
        even = np.union1d(even, mostly)
    if not len(even):
        return
    several = int((np.diff(even) > 5).sum()) >= 1
    colors = rgb.swapaxes(0, 1) if axis == 0 else rgb
    usual = np.median(np.concatenate([colors[at, inked[at]] for at in even]), axis=0)
    for at in even:
        row = inked[at]
        if not several and float(np.median(lines[at, row])) > 0.75 * strong:
            continue
        # Where a curve passes, ink goes on above or below.
        above = inked[at - 3] if at >= 3 else np.zeros(length, bool)
        below = inked[at + 3] if at + 3 < len(lines) else np.zeros(length, bool)
        if float(np.mean((above | below)[row])) > 0.4:
            continue
        same = _distance(colors[at][None], usual)[0] < 60.0
        lines[at, row & same & ~above & ~below] = 0.0


def _blank(away: Floats, box: Box, left: int, top: int, more: float) -> None:
    rows = slice(max(0, int(box.top - top - more)), max(0, int(box.bottom - top + more) + 1))
    columns = slice(max(0, int(box.left - left - more)), max(0, int(box.right - left + more) + 1))
    away[rows, columns] = 0.0


def _drop_edges(away: Floats) -> None:
    """Take away what is left of spines at the sides of the box, and ticks that start there."""
    for side in (away, away[::-1], away.T, away.T[::-1]):
        for at in range(min(4, len(side))):
            if np.mean(side[at] > 0) > 0.55:
                side[at] = 0.0
        _drop_ticks(side)


def _drop_ticks(side: Floats) -> None:
    """Take away ink at one side that looks like ticks: narrow, straight, ending soon, many alike.

    ``side`` has the side as its first row.
    """
    deep = min(24, len(side) // 6)
    if deep < 3:
        return
    strip = side[: deep + 1] > 0
    first = strip[:3].any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], first.view(np.int8), [0]))))
    found = []
    for start, stop in edges.reshape(-1, 2):
        if stop - start > 8:
            continue
        around = np.asarray(strip[:, max(0, start - 1) : stop + 1].any(axis=1))
        around[:3] = True
        length = int(np.argmin(around)) if not around.all() else 0
        # A tick is as narrow at its end as at its start.
        narrow = length <= 3 or strip[3:length, max(0, start - 2) : stop + 2].mean() > 0.3
        if length > 0 and narrow:
            found.append((start, stop, length))
    if len(found) < 3:
        return
    lengths = np.array([length for _, _, length in found])
    for start, stop, length in found:
        if np.sum(np.abs(lengths - length) <= 1) >= 3:
            side[: length + 1, max(0, start - 1) : stop + 1] = 0.0


def _drop_faint(away: Floats) -> None:
    """Take away pieces of ink that are faint throughout."""
    from scipy import ndimage

    pieces, n = ndimage.label(away > 0, structure=np.ones((3, 3)))
    if not n:
        return
    clear = np.bincount(pieces[away >= _CLEAR], minlength=n + 1) > 0
    clear[0] = True
    away[~clear[pieces]] = 0.0
