"""Loops: a way there and a way back that meet at both ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probatum.charts.tracing.polyline import Line

__all__ = ["Loop", "loops_of"]

Floats = NDArray[np.float64]


class Loop(NamedTuple):
    """Two lines, by their index, that make one path."""

    there: int
    back: int
    points: Floats
    closed: bool


def loops_of(
    lines: list[Line], mask: NDArray[np.bool_], stroke: float, least: float, *, forced: bool
) -> list[Loop]:
    """Pairs of lines that are one loop.

    Both must begin, and end, in the same ink or close to each other. Two curves that only happen
    to meet at both ends are told from a loop by crossing each other, or by lying on each other.
    """
    candidates = []
    for i in range(len(lines)):
        for k in range(i + 1, len(lines)):
            worth = _fit(lines[i], lines[k], mask, stroke, least, forced)
            if worth is not None:
                candidates.append((worth, i, k))
    candidates.sort()
    used: set[int] = set()
    found = []
    for _, i, k in candidates:
        if i in used or k in used:
            continue
        used.update((i, k))
        upper, lower = lines[i].points, lines[k].points
        found.append(Loop(i, k, np.concatenate([upper, lower[::-1], upper[:1]]), True))
    for i in range(len(lines)):
        for k in range(i + 1, len(lines)):
            if i in used or k in used:
                continue
            folded = _folded(lines[i].points, lines[k].points, mask, stroke, least)
            if folded is not None:
                used.update((i, k))
                found.append(Loop(i, k, folded, False))
    return found


def _folded(
    a: Floats, b: Floats, mask: NDArray[np.bool_], stroke: float, least: float
) -> Floats | None:
    """A path that turns at an upright edge on one side and is open at the other; None if none."""
    wide = max(float(np.ptp(a[:, 0])), float(np.ptp(b[:, 0])))
    for side in (0, -1):
        far = -1 - side
        edge = abs(a[side, 1] - b[side, 1])
        if edge < 6.0 * stroke or abs(a[side, 0] - b[side, 0]) > stroke + 1.0:
            continue
        if abs(a[far, 0] - b[far, 0]) > 0.03 * wide or wide < 0.1 * mask.shape[1]:
            continue
        x = np.linspace(max(a[0, 0], b[0, 0]), min(a[-1, 0], b[-1, 0]), 101)
        gap = np.abs(np.interp(x, a[:, 0], a[:, 1]) - np.interp(x, b[:, 0], b[:, 1]))
        if np.mean(gap > stroke) < 0.85 or gap.mean() < 0.03 * mask.shape[0]:
            continue
        if _inked(a[side], b[side], mask, stroke) > least:
            return np.asarray(np.concatenate([a[::-1], b] if side == 0 else [a, b[::-1]]))
    return None


def _fit(
    one: Line,
    other: Line,
    mask: NDArray[np.bool_],
    stroke: float,
    least: float,
    forced: bool,
) -> float | None:
    """How far apart the ends of two lines are; None if they make no loop."""
    a, b = one.points, other.points
    begin, end = float(np.abs(a[0] - b[0]).sum()), float(np.abs(a[-1] - b[-1]).sum())
    near = 3.0 * stroke + 4.0
    met_left = one.first == other.first or _inked(a[0], b[0], mask, stroke) > least
    met_right = one.last == other.last or _inked(a[-1], b[-1], mask, stroke) > least
    if not forced and not (met_left or met_right):
        return None
    if (not met_left and begin > near) or (not met_right and end > near):
        return None
    left, right = max(a[0, 0], b[0, 0]), min(a[-1, 0], b[-1, 0])
    shorter = min(np.ptp(a[:, 0]), np.ptp(b[:, 0]))
    if right - left < 0.9 * max(np.ptp(a[:, 0]), np.ptp(b[:, 0]), 1.0):
        return None
    x = np.linspace(left, right, 101)
    gap = np.interp(x, a[:, 0], a[:, 1]) - np.interp(x, b[:, 0], b[:, 1])
    apart = np.abs(gap) > stroke
    if not forced:
        if apart.mean() < 0.5 or np.abs(gap).mean() < max(2.0 * stroke, 0.03 * mask.shape[0]):
            return None
        one_side = max(float((gap[apart] > 0).mean()), float((gap[apart] < 0).mean()))
        if one_side < 0.85:
            return None
        # A sweep turns at once; curves that merge run along each other for a while.
        together = max(int(apart.argmax()), int(apart[::-1].argmax())) * (right - left) / 100
        if together > 0.1 * (right - left) + 2.0 * stroke:
            return None
    unlike = 6.0 * abs(one.thick - other.thick)
    return begin + end + unlike - 0.01 * float(shorter)


def _inked(a: Floats, b: Floats, mask: NDArray[np.bool_], stroke: float) -> float:
    """Share of the way from one end to the other on which there is ink."""
    if abs(a[0] - b[0]) > 4.0 * stroke + 6.0:
        return 0.0
    n = int(abs(a[1] - b[1])) + 2
    rows = np.clip(np.linspace(a[1], b[1], n).astype(int), 0, mask.shape[0] - 1)
    middle = np.linspace(a[0], b[0], n)
    reach = int(stroke / 2) + 1
    seen = np.zeros(n, bool)
    for away in range(-reach, reach + 1):
        seen |= mask[rows, np.clip((middle + away).astype(int), 0, mask.shape[1] - 1)]
    return float(seen.mean())
