"""How many curves run through each strand: the cheapest flow that covers the ink.

Each curve is one unit of flow from a start to an end. Starts and ends within the plot have a
price, so has ink left uncovered, a gap that is bridged, and, a little, a strand that two share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.tracing.strands import Strands

__all__ = ["Flow", "flow_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHARING = 0.02
_MOST_CURVES = 40


@dataclass(frozen=True)
class Flow:
    """Curves through each strand and each connection.

    Attributes
    ----------
    through, starts, ends : ndarray of int
        Per strand.
    source, target : ndarray of int
        Strands that each connection joins.
    along : ndarray of int
        Curves along each connection.
    """

    through: Ints
    starts: Ints
    ends: Ints
    source: Ints
    target: Ints
    along: Ints


@dataclass(frozen=True)
class _Ends:
    """Where strands begin or end: column, row, slope, and their run's first and last row."""

    column: Floats
    row: Floats
    slope: Floats
    first: Floats
    stop: Floats


def flow_of(
    strands: Strands, hidden: NDArray[np.bool_], n_curves: int | None, *, joint: bool
) -> Flow:
    """The cheapest flow.

    Parameters
    ----------
    strands : Strands
    hidden : ndarray of bool
        Where ink of other colours may lie over this one.
    n_curves : int, optional
        Number of curves, if it is known.
    joint : bool
        Whether a strand may be shared.
    """
    from scipy.optimize import linprog
    from scipy.sparse import bmat, csr_matrix, eye, vstack

    n = len(strands.every)
    source, target, price = _connections(strands, hidden)
    worth, length = _worth(strands)
    start_price, end_price = _prices(strands)
    m = len(source)
    # Variables: first unit, further units, starts, ends, connections.
    cost = np.concatenate([-worth, _SHARING * length + 1e-3, start_price, end_price, price])
    every, into, out_of = eye(n), _incidence(target, n), _incidence(source, n)
    balance = bmat([[every, every, -every, None, -into], [every, every, None, -every, -out_of]])
    sides = np.zeros(2 * n)
    if n_curves is not None:
        started = np.concatenate([np.zeros(2 * n), np.ones(n), np.zeros(n + m)])
        balance = vstack([balance, csr_matrix(started)])
        sides = np.append(sides, float(n_curves))
    most = np.full(4 * n + m, float(_MOST_CURVES))
    most[:n] = 1.0
    if not joint:
        most[n : 2 * n] = 0.0
    bounds = np.stack([np.zeros_like(most), most], axis=1)
    solved = linprog(cost, A_eq=balance.tocsr(), b_eq=sides, bounds=bounds, method="highs-ds")
    if solved.x is None:
        return flow_of(strands, hidden, None, joint=joint)
    units = np.rint(solved.x).astype(int)
    return Flow(
        units[:n] + units[n : 2 * n],
        units[2 * n : 3 * n],
        units[3 * n : 4 * n],
        source,
        target,
        units[4 * n :],
    )


def _incidence(ends: Ints, n: int) -> Any:
    """Which strand each connection has at one end, as a matrix."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(ends)), (ends, np.arange(len(ends)))), shape=(n, len(ends)))


def _worth(strands: Strands) -> tuple[Floats, Floats]:
    """What covering each strand is worth, and its length."""
    heights = strands.runs.height / (2.0 * strands.stroke)
    worth = [float(np.maximum(heights[one.runs], 1.0).sum()) for one in strands.every]
    return np.array(worth), np.array([float(len(one)) for one in strands.every])


def _prices(strands: Strands) -> tuple[Floats, Floats]:
    """Prices of starting and ending in each strand: low at the sides of the ink."""
    lefts = np.array([one.left for one in strands.every], float)
    rights = np.array([one.right for one in strands.every], float)
    width = strands.size[1]
    # Dashes in a cloud are pieces of few curves rather than many short ones.
    inner = (0.03 * width + 3.0) * (4.0 if strands.dashed else 1.0)
    near = 0.015 * width + 2.0
    start = np.where(lefts - lefts.min() <= near, 0.15 * inner, inner)
    end = np.where(rights.max() - rights <= near, 0.15 * inner, inner)
    return start, end


def _end_slopes(strands: Strands) -> tuple[_Ends, _Ends]:
    """Line fits at both ends of each strand."""
    runs = strands.runs
    reach = max(6, int(0.03 * strands.size[1]))
    found: list[list[tuple[float, float, float, float, float]]] = [[], []]
    for i, one in enumerate(strands.every):
        x, y = strands.line(i)
        for side, part in ((0, slice(0, reach)), (1, slice(-reach, None))):
            run = one.runs[0 if side == 0 else -1]
            at = 0 if side == 0 else -1
            px, py = x[part], y[part]
            slope = 0.0
            if len(px) >= 3:
                centred = px - px.mean()
                slope = float(centred @ (py - py.mean()) / max(float(centred @ centred), 1e-9))
            found[side].append((x[at], y[at], slope, runs.first[run], runs.stop[run]))
    begin, end = (_Ends(*np.array(side, float).reshape(-1, 5).T) for side in found)
    return begin, end


def _connections(strands: Strands, hidden: NDArray[np.bool_]) -> tuple[Ints, Ints, Floats]:
    """Strands that touch, and gaps that a curve may cross, with prices."""
    touching = [(s, t, 0.0) for s, one in enumerate(strands.every) for t in one.after]
    begin, end = _end_slopes(strands)
    free_end = np.array([i for i, one in enumerate(strands.every) if not one.after], int)
    free_start = np.array([i for i, one in enumerate(strands.every) if not one.before], int)
    gaps: list[tuple[int, int, float]] = []
    if len(free_end) and len(free_start):
        gaps = _gaps(strands, begin, end, free_end, free_start, hidden)
    pairs = touching + gaps
    if not pairs:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    source, target, price = (np.array(side) for side in zip(*pairs, strict=True))
    return source.astype(int), target.astype(int), price.astype(float)


def _gaps(
    strands: Strands,
    begin: _Ends,
    end: _Ends,
    free_end: Ints,
    free_start: Ints,
    hidden: NDArray[np.bool_],
) -> list[tuple[int, int, float]]:
    width, stroke = strands.size[1], strands.stroke
    across = begin.column[free_start][None] - end.column[free_end][:, None]
    rise = begin.row[free_start][None] - end.row[free_end][:, None]
    clear = np.maximum(
        begin.first[free_start][None] - end.stop[free_end][:, None],
        end.first[free_end][:, None] - begin.stop[free_start][None],
    )
    lefts = np.array([s.left for s in strands.every])
    rights = np.array([s.right for s in strands.every])
    ordered = (lefts[free_start][None] >= lefts[free_end][:, None]) & (
        rights[free_start][None] > rights[free_end][:, None]
    )
    ordered &= (across >= -(stroke + 4)) & (across <= 0.3 * width)
    before = np.abs(rise - end.slope[free_end][:, None] * across)
    after = np.abs(rise - begin.slope[free_start][None] * across)
    span = np.maximum(np.maximum(across, clear), 1.0)
    off = np.minimum(before, after)
    # Along a steep line rows say little: the gap from end to end counts.
    off = np.minimum(off, np.maximum(clear, 0.0) + np.maximum(across, 0))
    near = ordered & (off <= 3.0 * stroke + span)
    dashed = strands.dashed
    tight = off <= 3.0 * stroke + (0.8 if dashed else 0.3) * span
    score = span + 0.5 * off
    empty = max(20.0, 12.0 * stroke, 0.05 * width) if dashed else max(12.0, 7.0 * stroke)
    near &= free_end[:, None] != free_start[None]
    i, j = np.nonzero(near & _among_nearest(np.where(near, score, np.inf)))
    share = _hidden_share(hidden, end, free_end[i], begin, free_start[j])
    gap = span[i, j]
    taken = ((gap <= empty) & tight[i, j]) | (share >= 0.6)
    price = gap * (0.03 + 0.4 * (1 - share)) + 0.5 * off[i, j] / stroke
    return [
        (int(free_end[a]), int(free_start[b]), float(p))
        for a, b, p in zip(i[taken], j[taken], price[taken], strict=True)
    ]


def _among_nearest(score: Floats) -> NDArray[np.bool_]:
    """Pairs that are among the five best of either side."""
    best = np.zeros(score.shape, bool)
    for axis in (0, 1):
        most = min(5, score.shape[axis]) - 1
        bar = np.partition(score, most, axis=axis).take([most], axis=axis)
        best |= score <= bar
    return best


def _hidden_share(hidden: NDArray[np.bool_], end: _Ends, s: Ints, begin: _Ends, t: Ints) -> Floats:
    """Share of the way across each gap on which ink of another colour lies."""
    at = np.linspace(0.04, 0.96, 24)
    dx, dy = begin.column[t] - end.column[s], begin.row[t] - end.row[s]
    columns = (end.column[s][:, None] + dx[:, None] * at).astype(int)
    rows = (end.row[s][:, None] + dy[:, None] * at).astype(int)
    np.clip(columns, 0, hidden.shape[1] - 1, out=columns)
    np.clip(rows, 0, hidden.shape[0] - 1, out=rows)
    return np.asarray(hidden[rows, columns].mean(axis=1))
