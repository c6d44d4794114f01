"""Plans: everything about a figure that is decided before it is drawn, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from probatum.charts.drawing.look import Look, Stroke
from probatum.charts.drawing.material import Line
from probatum.charts.plot_data import Axis, Box, Floats, Kind

__all__ = [
    "Damage",
    "Panel",
    "Plan",
    "PlannedCurve",
    "Scale",
    "crosses",
    "crossings",
    "densely",
    "shown",
]

# Noise that crosses noise all along is nothing that anyone could follow.
MOST_CROSSINGS = 12


@dataclass(frozen=True)
class Scale:
    """What one side of a plot measures, from its left or lower end to the other."""

    low: float
    high: float
    log: bool = False

    def share(self, values: Floats) -> Floats:
        """Where values lie between the two ends, 0 to 1."""
        low, high = self.low, self.high
        if self.log:
            values, low, high = np.log10(values), np.log10(low), np.log10(high)
        return np.asarray((values - low) / (high - low))

    def value(self, share: Floats) -> Floats:
        """The inverse of `share`."""
        low, high = self.low, self.high
        if self.log:
            low, high = np.log10(low), np.log10(high)
        along = low + np.asarray(share) * (high - low)
        return np.asarray(10.0**along if self.log else along)

    def axis(self, start: float, end: float, label: str, shows_numbers: bool) -> Axis:
        """As an axis whose ends lie at two pixel coordinates."""
        low, high = self.low, self.high
        if self.log:
            low, high = float(np.log10(low)), float(np.log10(high))
        slope = (high - low) / (end - start)
        return Axis(
            "log" if self.log else "linear",
            float(slope),
            float(low - slope * start),
            label=label,
            calibrated=shows_numbers,
        )


@dataclass(frozen=True)
class PlannedCurve:
    """One curve, its looks, and on which side its numbers are."""

    line: Line
    stroke: Stroke
    kind: Kind
    axis: Literal["left", "right"] = "left"
    errors: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    `legend` is a corner ("upper left", ...), "outside" or empty. `notes` are texts at shares of
    the box, with the share that an arrow points at, if there is one.
    """

    curves: tuple[PlannedCurve, ...]
    x: Scale
    y: Scale
    x_label: str
    y_label: str
    right: Scale | None = None
    right_label: str = ""
    x_numbers: bool = True
    y_numbers: bool = True
    title: str = ""
    legend: str = ""
    legend_alpha: float = 0.8
    legend_frame: bool = True
    notes: tuple[tuple[str, float, float, float | None, float | None], ...] = ()
    band: tuple[float, float] | None = None
    multiplier: int = 0
    inset: Panel | None = None
    inset_at: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    traits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Damage:
    """What happens to the image after it was drawn."""

    jpeg: int | None = None
    blur: float = 0.0
    angle: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True)
class Plan:
    """A whole figure; `boxes` are in pixels, one per panel."""

    width: int
    height: int
    dpi: int
    look: Look
    panels: tuple[Panel, ...]
    boxes: tuple[Box, ...]
    strata: tuple[str, ...]
    damage: Damage = field(default_factory=Damage)
    letters: bool = False


def shown(curve: PlannedCurve, panel: Panel) -> tuple[Floats, Floats, Floats, Floats]:
    """What of a curve lies in the box: x, y, and their shares of the box's sides.

    Curves that are functions are cut at the sides, loops lie inside by construction.
    """
    scale = panel.right if curve.axis == "right" and panel.right is not None else panel.y
    u, v = panel.x.share(curve.line.x), scale.share(curve.line.y)
    if curve.kind == "loop":
        return curve.line.x, curve.line.y, u, v
    inside = (u >= 0) & (u <= 1)
    if curve.kind == "markers":
        inside &= (v >= 0) & (v <= 1)
        return curve.line.x[inside], curve.line.y[inside], u[inside], v[inside]
    order = np.argsort(u, kind="stable")
    u, v = u[order], v[order]
    ends = [end for end in (0.0, 1.0) if u[0] < end < u[-1]]
    cut = np.interp(ends, u, v)
    keep = (u >= 0) & (u <= 1)
    at = np.concatenate([u[keep], ends])
    height = np.concatenate([v[keep], cut])
    order = np.argsort(at, kind="stable")
    u, v = at[order], height[order]
    return panel.x.value(u), scale.value(v), u, v


def crosses(first: tuple[Floats, Floats], second: tuple[Floats, Floats], *, loop: bool) -> bool:
    """Whether two curves cross, and part visibly on both sides; all in shares of the box."""
    if loop:
        paths = densely(*first), densely(*second)
        together = 0.0
        for shift in (0.0, 0.5):  # two paths may cross exactly between cells
            one, two = (set(map(tuple, (np.stack(p, 1) * 150 + shift).astype(int))) for p in paths)
            together = max(together, len(one & two) / min(len(one), len(two)))
        return 0 < together < 0.6
    return 1 <= crossings(first, second) <= MOST_CROSSINGS


def crossings(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> int:
    """How often two functions change places, by more than a fiftieth of the box's height."""
    low = max(first[0].min(), second[0].min())
    high = min(first[0].max(), second[0].max())
    if high - low < 0.2:
        return 0
    grid = np.linspace(low, high, 400)
    gap = np.interp(grid, *first) - np.interp(grid, *second)
    clear = gap[np.abs(gap) > 0.02]
    return int((np.diff(np.sign(clear)) != 0).sum()) if clear.size > 40 else 0


def densely(u: Floats, v: Floats) -> tuple[Floats, Floats]:
    """A path in shares of the box, at steps of a third of a percent."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(u), np.diff(v)))])
    at = np.linspace(0, along[-1], 1 + int(along[-1] * 300))
    return np.interp(at, along, u), np.interp(at, along, v)
