"""Which curve goes which way: a flow taken apart into paths, judged by bending.

Where curves that shared a strand part again, each way of pairing what came in with what goes out
is weighed as a whole: lines are fitted to both sides over a stretch that grows with the length of
the shared part, and the pairing that bends least is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from probatum.charts.tracing.flow import Flow
from probatum.charts.tracing.strands import Strands

__all__ = ["Path", "paths_of"]

Floats = NDArray[np.float64]

# Share of the plot's width over which slopes are fitted at most.
_LONGEST = 0.14
_UNKNOWN = 3.0
_END = -1
# Price of a change of thickness by one stroke, in strokes of bending.
_THICKNESS = 2.0
# Price of going on smooth after noise, and the other way.
_ROUGHNESS = 1.5

# Columns, rows, thickness and roughness of a stretch of line.
_Stretch = tuple[Floats, Floats, float, float]


@dataclass
class Path:
    """Strands that one curve runs through."""

    strands: list[int] = field(default_factory=list)
    ambiguity: float = 0.0


def paths_of(strands: Strands, flow: Flow, *, prediction: bool) -> list[Path]:
    """Take a flow apart."""
    return _Unravelling(strands, flow, prediction).run()


class _Unravelling:
    def __init__(self, strands: Strands, flow: Flow, prediction: bool) -> None:
        self.strands, self.flow, self.prediction = strands, flow, prediction
        self.reach = max(8, int(_LONGEST * strands.size[1]))
        self.ways: list[list[tuple[int, int]]] = [[] for _ in strands.every]
        for s, t, units in zip(flow.source, flow.target, flow.along, strict=True):
            if units > 0:
                self.ways[s].append((int(t), int(units)))
        self.short = 2 * strands.stroke + 2
        self._futures: dict[int, _Stretch] = {}

    def run(self) -> list[Path]:
        paths: list[Path] = []
        here: dict[int, list[int]] = {}
        # Strands come from left to right, so all that leads to one is settled before it.
        for s in range(len(self.strands.every)):
            if self.flow.through[s] == 0:
                continue
            present = here.pop(s, [])
            for _ in range(int(self.flow.starts[s])):
                present.append(len(paths))
                paths.append(Path())
            for p in present:
                paths[p].strands.append(s)
            slots = [t for t, units in self.ways[s] for _ in range(units)]
            slots += [_END] * (len(present) - len(slots))
            for p, t in zip(present, self._assigned(s, present, slots, paths), strict=False):
                if t != _END:
                    here.setdefault(t, []).append(p)
        return paths

    def _assigned(
        self, s: int, present: list[int], slots: list[int], paths: list[Path]
    ) -> list[int]:
        """The way that each path takes."""
        from scipy.optimize import linear_sum_assignment

        if len(set(slots)) <= 1 or len(present) <= 1:
            return slots
        price = np.zeros((len(present), len(slots)))
        histories = [self._history(paths[p]) for p in present]
        for j, t in enumerate(slots):
            if t != _END and j and slots[j - 1] == t:
                price[:, j] = price[:, j - 1]
                continue
            for i, history in enumerate(histories):
                price[i, j] = self._bending(history, t)
        rows, columns = linear_sum_assignment(price)
        best = float(price[rows, columns].sum())
        doubt = _second(price, rows, columns, best, slots)
        for p in present:
            paths[p].ambiguity = max(paths[p].ambiguity, doubt)
        return [slots[j] for j in columns]

    def _own(self, s: int) -> bool:
        """Whether a strand says something about the one curve in it."""
        return int(self.flow.through[s]) == 1 and len(self.strands.every[s]) > self.short

    def _history(self, path: Path) -> _Stretch | None:
        """Columns and rows of the last stretch that a path had for itself."""
        at = len(path.strands) - 1
        while at >= 0 and not self._own(path.strands[at]):
            at -= 1
        if at < 0:
            return None
        parts = []
        n = 0
        while at >= 0 and n < self.reach and self.flow.through[path.strands[at]] == 1:
            parts.append(path.strands[at])
            n += len(self.strands.every[parts[-1]])
            at -= 1
        return self._stretch(parts[::-1], slice(-self.reach, None))

    def _stretch(self, parts: list[int], kept: slice) -> _Stretch:
        runs = np.concatenate([self.strands.every[s].runs for s in parts])[kept]
        of = self.strands.runs
        # A slope makes runs taller, nothing makes them shorter.
        thick = float(np.percentile(of.height[runs], 20))
        row = of.centre[runs]
        rough = float(np.median(np.abs(np.diff(row, 2)))) if len(row) > 12 else np.nan
        return of.column[runs] + 0.5, row, thick, rough

    def _future(self, s: int) -> _Stretch:
        """Columns and rows of the stretch that begins with a strand."""
        if s not in self._futures:
            parts, n, at = [], 0, s
            while True:
                parts.append(at)
                n += len(self.strands.every[at])
                if n >= self.reach or len(self.ways[at]) != 1:
                    break
                following = self.ways[at][0][0]
                if self.flow.through[following] != self.flow.through[at]:
                    break
                at = following
            self._futures[s] = self._stretch(parts, slice(0, self.reach))
        return self._futures[s]

    def _bending(self, history: _Stretch | None, t: int) -> float:
        if history is None or t == _END:
            return _UNKNOWN
        (x0, y0, thick, rough), (x1, y1, thick_after, rough_after) = history, self._future(t)
        if not self.prediction:
            return float(abs(y1[0] - y0[-1]))
        before, after = np.stack([x0, y0], axis=1)[::-1], np.stack([x1, y1], axis=1)
        across = before[0] - after[0]
        gap = max(float(np.hypot(*across)), 1.0)
        stroke = self.strands.stroke
        costs = []
        for factor in (0.5, 1.5, 4.0):
            long = float(np.clip(factor * gap + 4 * stroke, 8, self.reach))
            (at, way), (to, on) = _leading(before, long), _leading(after, long)
            # Both ways lead away from the shared part, so straight on is -1.
            turn = float(np.arccos(np.clip(-(way @ on), -1.0, 1.0)))
            apart = at - to
            normal = way - on
            normal = np.array([-normal[1], normal[0]]) / max(float(np.hypot(*normal)), 1e-9)
            jump = abs(float(apart @ normal)) if turn < 2.0 else float(np.hypot(*apart))
            costs.append(min((jump + 0.5 * turn * (gap + 0.5 * long)) / stroke, 60.0))
        price = float(np.mean(costs)) + _THICKNESS * abs(thick - thick_after) / stroke
        if np.isfinite(rough + rough_after):
            price += _ROUGHNESS * abs(rough - rough_after) / (max(rough, rough_after) + 0.4)
        return price


def _leading(points: Floats, long: float) -> tuple[Floats, Floats]:
    """Where a line ends and the direction in which it leads away from there, over a length."""
    steps = np.hypot(*np.diff(points[: int(long) + 2], axis=0).T)
    n = max(int(np.searchsorted(np.cumsum(steps), long)) + 1, 3)
    part = points[:n]
    if len(part) < 2:
        return part[0], np.array([0.0, 0.0])
    centre = part.mean(axis=0)
    off = part - centre
    xx, xy, yy = (
        float(off[:, 0] @ off[:, 0]),
        float(off[:, 0] @ off[:, 1]),
        float(off[:, 1] @ off[:, 1]),
    )
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    way = np.array([np.cos(angle), np.sin(angle)])
    if float(way @ (part[-1] - part[0])) < 0:
        way = -way
    return centre + way * float(way @ (part[0] - centre)), way


def _second(
    price: Floats,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    best: float,
    slots: list[int],
) -> float:
    """How close the best other pairing comes, where two paths change places."""
    others = [
        best
        - price[rows[i], columns[i]]
        - price[rows[k], columns[k]]
        + price[rows[i], columns[k]]
        + price[rows[k], columns[i]]
        for i in range(len(rows))
        for k in range(i)
        if slots[columns[i]] != slots[columns[k]]
    ]
    if not others:
        return 0.0
    return float((best + 0.5) / (min(others) + 0.5))
