"""From the strands of a path to its points."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probatum.charts.tracing.flow import Flow
from probatum.charts.tracing.paths import Path
from probatum.charts.tracing.strands import Strands

__all__ = ["Line", "lines_of"]

Floats = NDArray[np.float64]


@dataclass
class Line:
    """One path as points.

    Attributes
    ----------
    points : ndarray of shape (n, 2)
    inked : int
        Columns in which it has ink.
    first, last : int
        Strands it starts and ends in.
    ambiguity : float
    thick : float
        Thickness where it is level and by itself.
    """

    points: Floats
    inked: int
    first: int
    last: int
    ambiguity: float
    thick: float


@dataclass
class _Raw:
    """Per run of a path: its column, row and run, and whether it has the run for itself."""

    column: Floats
    row: Floats
    run: NDArray[np.int64]
    alone: NDArray[np.bool_]


def lines_of(strands: Strands, flow: Flow, paths: list[Path]) -> list[Line]:
    """Points of each path, one or more per column."""
    raws = [_raw(strands, flow, path) for path in paths]
    for raw in raws:
        _settle(raw, strands)
    peaks = _peaks(strands, raws)
    lines = []
    for k, (path, raw) in enumerate(zip(paths, raws, strict=True)):
        points = _points(strands, raw, peaks[k])
        inked = len(np.unique(raw.column))
        own = raw.run[raw.alone] if raw.alone.any() else raw.run
        thick = float(np.percentile(strands.runs.height[own], 20))
        first, last = path.strands[0], path.strands[-1]
        lines.append(Line(points, inked, first, last, path.ambiguity, thick))
    return lines


def _raw(strands: Strands, flow: Flow, path: Path) -> _Raw:
    runs = np.concatenate([strands.every[s].runs for s in path.strands])
    alone = np.concatenate(
        [np.full(len(strands.every[s]), flow.through[s] == 1) for s in path.strands]
    )
    column = strands.runs.column[runs] + 0.5
    return _Raw(column, strands.runs.centre[runs].copy(), runs, alone)


def _settle(raw: _Raw, strands: Strands) -> None:
    """Lead a path through the runs it shares: from where it came to where it goes on."""
    shared = ~raw.alone
    if not shared.any():
        return
    half = strands.stroke / 2
    first, stop = strands.runs.first[raw.run], strands.runs.stop[raw.run]
    low, high = first + half, stop - half
    thin = high <= low
    middle = (first + stop) / 2
    low, high = np.where(thin, middle, low), np.where(thin, middle, high)
    if raw.alone.any():
        known = np.flatnonzero(raw.alone)
        guess = np.interp(raw.column, raw.column[known], raw.row[known])
    else:
        guess = raw.row
    raw.row[shared] = np.clip(guess, low, high)[shared]


def _peaks(strands: Strands, raws: list[_Raw]) -> list[dict[int, tuple[float, float]]]:
    """Ink of shared runs above all paths, given to the uppermost, and below, to the lowest."""
    members: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for k, raw in enumerate(raws):
        for i in np.flatnonzero(~raw.alone):
            members[int(raw.run[i])].append((k, float(raw.row[i])))
    found: list[dict[int, tuple[float, float]]] = [{} for _ in raws]
    half = strands.stroke / 2
    least = 1.5 * strands.stroke
    for run, rows in members.items():
        top, bottom = strands.runs.first[run] + half, strands.runs.stop[run] - half
        upper, lower = min(rows, key=lambda r: r[1]), max(rows, key=lambda r: r[1])
        if upper[1] - top > least:
            found[upper[0]][run] = (float(top), upper[1])
        if bottom - lower[1] > least:
            reach = found[lower[0]].get(run, (lower[1], lower[1]))
            found[lower[0]][run] = (reach[0], float(bottom))
    return found


def _points(strands: Strands, raw: _Raw, peaks: dict[int, tuple[float, float]]) -> Floats:
    """One point per column, and the tops and bottoms of steep peaks besides."""
    from scipy import ndimage

    stroke = strands.stroke
    top = strands.runs.first[raw.run] + stroke / 2
    bottom = strands.runs.stop[raw.run] - stroke / 2
    for i in np.flatnonzero(~raw.alone):
        given = peaks.get(int(raw.run[i]))
        top[i], bottom[i] = given if given else (raw.row[i], raw.row[i])
    wide = 2 * max(1, round(stroke / 2)) + 1
    least = 0.6 * stroke + 0.5
    is_top = (top <= ndimage.minimum_filter1d(top, wide)) & (raw.row - top > least)
    is_bottom = (bottom >= ndimage.maximum_filter1d(bottom, wide)) & (bottom - raw.row > least)
    is_top, is_bottom = _middles(is_top), _middles(is_bottom)
    points: list[tuple[float, float]] = []
    columns, rows = raw.column.tolist(), raw.row.tolist()
    for i, (column, row) in enumerate(zip(columns, rows, strict=True)):
        if is_top[i] and is_bottom[i]:
            ends = [(column, float(top[i])), (column, float(bottom[i]))]
            points += ends if i and rows[i - 1] <= row else ends[::-1]
        elif is_top[i]:
            points.append((column, float(top[i])))
        elif is_bottom[i]:
            points.append((column, float(bottom[i])))
        else:
            points.append((column, row))
    return np.array(points)


def _middles(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The middle of each stretch that is marked: a flat top is one top."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], marked.view(np.int8), [0]))))
    middle = np.zeros(len(marked), bool)
    middle[(edges[::2] + edges[1::2] - 1) // 2] = True
    return middle
