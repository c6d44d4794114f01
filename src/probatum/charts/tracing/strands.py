"""Ink of one colour as strands: chains of vertical runs, one per column, between junctions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Runs", "Strand", "Strands", "runs_of", "strands_of", "stroke_of"]

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST = 1500


@dataclass(frozen=True)
class Runs:
    """Vertical runs of ink, column by column and from the top down.

    Attributes
    ----------
    column : ndarray of int
    first, stop : ndarray of int
        First row, and the row after the last.
    centre : ndarray of float
        Row of the centre of its ink, where the first row's centre is 0.5.
    """

    column: Ints
    first: Ints
    stop: Ints
    centre: Floats

    @property
    def height(self) -> Ints:
        """In pixels."""
        return self.stop - self.first


@dataclass
class Strand:
    """A chain of runs, one per column, that meets others at its ends only."""

    runs: Ints
    left: int
    right: int
    after: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return self.right - self.left + 1


@dataclass(frozen=True)
class Strands:
    """The strands of a colour, from left to right."""

    runs: Runs
    every: list[Strand]
    stroke: float
    size: tuple[int, int]

    @property
    def dashed(self) -> bool:
        """Whether the ink is in many pieces, none of which is most of it."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        n = len(self.every)
        pairs = np.array([(s, t) for s, one in enumerate(self.every) for t in one.after], int)
        pairs = pairs.reshape(-1, 2)
        graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        pieces, which = connected_components(graph, directed=False)
        if pieces < 10:
            return False
        ink = [float(self.runs.height[one.runs].sum()) for one in self.every]
        share = np.bincount(which, ink) / sum(ink)
        return bool(share.max() < 0.3 and (share > 0.003).sum() >= 10)

    def line(self, which: int) -> tuple[Floats, Floats]:
        """Columns and rows of a strand's centres."""
        runs = self.every[which].runs
        return np.asarray(self.runs.column[runs] + 0.5), self.runs.centre[runs]


def runs_of(mask: Mask, weight: NDArray[Any]) -> Runs:
    """Runs of ink; their centres are weighted by how much of each pixel is covered."""
    height = mask.shape[0] + 1
    cells, start, length = _runs(mask)
    if not len(cells):
        none = np.zeros(0, int)
        return Runs(none, none, none, np.zeros(0))
    column, first = cells[start] // height, cells[start] % height
    row = cells % height
    held = weight[row, cells // height].astype(float)
    total = np.add.reduceat(held, start)
    moment = np.add.reduceat(held * (row + 0.5), start)
    stop = first + length
    centre = np.where(total > 1e-9, moment / np.maximum(total, 1e-9), (first + stop) / 2)
    return Runs(column, first, stop, np.clip(centre, first, stop))


def _runs(mask: Mask) -> tuple[Ints, Ints, Ints]:
    """Ink column by column, as numbers of a grid with a spare row, and its unbroken runs."""
    height = mask.shape[0]
    flat = np.flatnonzero(np.ascontiguousarray(mask.T))
    cells = flat + flat // height
    start = np.flatnonzero(np.diff(cells, prepend=-2) != 1)
    return cells, start, np.diff(start, append=len(cells))


def stroke_of(mask: Mask) -> float:
    """Thickness of the lines: the median over ink of the shorter of both runs through a pixel."""
    if not mask.any():
        return 1.0
    _, _, tall = _runs(mask)
    _, _, wide = _runs(mask.T)
    down = np.zeros(mask.shape[::-1], np.int32)
    down[mask.T] = np.repeat(tall, tall)
    across = np.zeros(mask.shape, np.int32)
    across[mask] = np.repeat(wide, wide)
    return float(max(1.0, np.median(np.minimum(across, down.T)[mask])))


def strands_of(mask: Mask, weight: NDArray[Any], stroke: float) -> Strands:
    """Follow runs from column to column as long as each touches one other only."""
    runs = runs_of(mask, weight)
    height = mask.shape[0] + 2
    source, target = _touching(runs, height)
    n = len(runs.column)
    out_degree = np.bincount(source, minlength=n)
    in_degree = np.bincount(target, minlength=n)
    chained = (out_degree[source] == 1) & (in_degree[target] == 1)
    following = np.full(n, -1)
    following[source[chained]] = target[chained]
    is_start = np.ones(n, bool)
    is_start[target[chained]] = False
    every: list[Strand] = []
    strand_of = np.full(n, -1)
    next_run = following.tolist()
    for start in np.nonzero(is_start)[0].tolist():
        chain = [start]
        while next_run[chain[-1]] >= 0:
            chain.append(next_run[chain[-1]])
        strand_of[chain] = len(every)
        left, right = int(runs.column[chain[0]]), int(runs.column[chain[-1]])
        every.append(Strand(np.array(chain), left, right))
    for a, b in zip(source[~chained].tolist(), target[~chained].tolist(), strict=True):
        s, t = int(strand_of[a]), int(strand_of[b])
        every[s].after.append(t)
        every[t].before.append(s)
    return _fewer(Strands(runs, every, stroke, mask.shape))


def _touching(runs: Runs, height: int) -> tuple[Ints, Ints]:
    """Pairs of runs in neighbouring columns that touch, corners included."""
    begins = runs.column * height + runs.first
    ends = runs.column * height + runs.stop
    low = np.searchsorted(ends, (runs.column + 1) * height + runs.first, side="left")
    high = np.searchsorted(begins, (runs.column + 1) * height + runs.stop, side="right")
    counts = np.maximum(high - low, 0)
    source = np.repeat(np.arange(len(begins)), counts)
    nth = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    return source, low[source] + nth


def _fewer(strands: Strands) -> Strands:
    """Without specks and spurs, and with a limited number of strands."""
    every = strands.every
    runs = strands.runs
    spur = max(1.0, 0.6 * strands.stroke)
    keep = np.ones(len(every), bool)
    for i, one in enumerate(every):
        tall = int(runs.height[one.runs].max())
        # A bump at the edge of a line: it hangs on one side only and is no longer than thick.
        alone = (not one.after) != (not one.before)
        if alone and len(one) <= spur and tall <= 1.5 * strands.stroke:
            keep[i] = False
        if not one.after and not one.before and len(one) * tall < 0.6 * strands.stroke**2:
            keep[i] = False
    if keep.sum() > _MOST:
        sizes = np.array([len(one) for one in every]) * keep
        keep[np.argsort(-sizes, kind="stable")[_MOST:]] = False
    order = [i for i in np.lexsort(([s.right for s in every], [s.left for s in every])) if keep[i]]
    new = {int(old): i for i, old in enumerate(order)}
    kept = [
        Strand(
            every[old].runs,
            every[old].left,
            every[old].right,
            [new[j] for j in every[old].after if j in new],
            [new[j] for j in every[old].before if j in new],
        )
        for old in order
    ]
    return Strands(runs, kept, strands.stroke, strands.size)
