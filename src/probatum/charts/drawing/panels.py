"""Random plans of single plots."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np

from probatum.charts.drawing.look import ALONE, ALONE_LIGHT, Look, Stroke, palette, stroke
from probatum.charts.drawing.material import KINDS, Line, Material, material, offset
from probatum.charts.drawing.plan import (
    MOST_CROSSINGS,
    Panel,
    PlannedCurve,
    Scale,
    crosses,
    crossings,
    densely,
    shown,
)
from probatum.charts.plot_data import Floats, Kind

__all__ = ["inset_panel", "random_panel"]

_ATTEMPTS = 12
_CORNERS = ("upper right", "upper left", "lower right", "lower left")
_FUNCTIONS = ("xafs", "raman", "xps", "xrd", "gcd")
_TITLES = ("Sample A", "Ni 2p", "after 100 cycles", "Figure 3", "T = 300 K", "C 1s", "(Fe,Cu)Ox")
_NOTES = ("A1", "peak", "(111)", "D", "G", "E0", "onset", "2.45", "*", "II")


def random_panel(rng: np.random.Generator, asked: Set[str], look: Look, stratum: str) -> Panel:
    """A plot that has the traits asked for; `traits` of the panel says which it has.

    Curves of one colour that cross are looked for among several random series. Charge and
    discharge of a cell always cross, and serve where that fails.
    """
    wants_crossing = "one colour" in asked
    panel = None
    for attempt in range(_ATTEMPTS if wants_crossing else 1):
        last = attempt == _ATTEMPTS - 1
        kind = "gcd" if last and not asked & {"loops", "log"} else _kind(rng, asked)
        panel = _series(rng, asked, look, stratum, kind, alike=wants_crossing)
        if not wants_crossing or "one colour" in panel.traits:
            break
    assert panel is not None
    return _furnished(rng, panel, look, plain=stratum == "easy")


def inset_panel(rng: np.random.Generator, panel: Panel) -> Panel:
    """The same plot with head room, and in it an inset with a part of the first curve."""
    curve = panel.curves[0]
    low, high = sorted(rng.uniform(0.1, 0.9, 2))
    if high - low < 0.2:
        low, high = max(0.05, low - 0.15), min(0.95, high + 0.15)
    x = panel.x.value(np.array([low, high]))
    inside = (curve.line.x >= x.min()) & (curve.line.x <= x.max())
    if inside.sum() < 12:
        inside = np.ones(curve.line.x.size, bool)
        x = panel.x.value(np.array([0.0, 1.0]))
    line = replace(curve.line, x=curve.line.x[inside], y=curve.line.y[inside])
    y = _limits(line.y, 0.08, _is_log(panel, curve))
    small = replace(curve, line=line, errors=False, axis="left")
    inset = Panel((small,), Scale(float(x[0]), float(x[1]), panel.x.log), y, "", "")
    height, width = float(rng.uniform(0.32, 0.42)), float(rng.uniform(0.34, 0.45))
    places = [(left, low) for left in (0.14, 0.3, 0.97 - width) for low in (0.97 - height, 0.15)]
    free = [place for place in places if not _under(panel, *place, width, height)]
    right = panel.right
    if free:
        left, low = free[int(rng.integers(len(free)))]
        top = panel.y
    else:
        left, low = float(rng.uniform(0.15, 0.5)), 0.97 - height
        factor = 1 / (1 - height - 0.17)
        top = _stretched(panel.y, factor)
        right = None if right is None else _stretched(right, factor)
    at = (left, low, left + width, low + height)
    legend = panel.legend if panel.legend == "outside" else ""
    return replace(
        panel,
        y=top,
        right=right,
        inset=inset,
        inset_at=at,
        legend=legend,
        notes=(),
        traits=(*panel.traits, "inset"),
    )


def _under(panel: Panel, left: float, low: float, width: float, height: float) -> bool:
    """Whether curves lie under an inset or under its numbers."""
    for curve in panel.curves:
        u, v = densely(*shown(curve, panel)[2:])
        inside = (u > left - 0.13) & (u < left + width + 0.02)
        if (inside & (v > low - 0.11) & (v < low + height + 0.02)).any():
            return True
    return False


def _is_log(panel: Panel, curve: PlannedCurve) -> bool:
    """Whether the scale of a curve's values is logarithmic."""
    scale = panel.right if curve.axis == "right" and panel.right is not None else panel.y
    return scale.log


def _kind(rng: np.random.Generator, asked: Set[str]) -> str:
    if "loops" in asked:
        return str(rng.choice(["cv", "cv", "eis"]))
    if "log" in asked:
        return str(rng.choice(["bode", "bode", "xrd", "raman", "xps"]))
    if asked & {"twin", "stack"}:
        return str(rng.choice(_FUNCTIONS))
    weights = np.array(list(KINDS.values()), float)
    if asked & {"easy"}:
        return str(rng.choice(_FUNCTIONS))
    return str(rng.choice(list(KINDS), p=weights / weights.sum()))


def _series(
    rng: np.random.Generator, asked: Set[str], look: Look, stratum: str, kind: str, *, alike: bool
) -> Panel:
    """Curves of one kind, their strokes and scales."""
    few = stratum == "easy"
    least = 2 if alike or asked & {"stack", "twin"} else 1
    n = int(rng.integers(least, 4 if few or kind == "cv" else 6 if least == 2 else 7))
    n = min(n, 5)
    found = material(rng, kind, n)
    if "stack" in asked:
        gap = float(rng.uniform(0.35, 0.8) if alike else rng.uniform(0.7, 1.15))
        found = replace(found, lines=offset(found.lines, gap))
    log_y = not found.loop and (
        ("log" in asked and (not found.log_x or rng.random() < 0.6)) and "twin" not in asked
    )
    if log_y:
        found = replace(found, lines=_positive(rng, found))
    strokes, shared = _strokes(rng, asked, look, found, alike=alike)
    kinds = [_curve_kind(found, s) for s in strokes]
    curves = [
        PlannedCurve(line, s, k) for line, s, k in zip(found.lines, strokes, kinds, strict=True)
    ]
    panel = _scaled(rng, asked, found, curves, log_y)
    traits = {"loops"} if found.loop else set()
    traits |= {"log"} if log_y or found.log_x else set()
    traits |= {"dashes"} if any(s.dash not in ("solid", "none") for s in strokes) else set()
    traits |= {"markers"} if any(s.marker for s in strokes) else set()
    traits |= asked & {"stack", "twin"}
    traits |= {"one colour"} if shared and _cross_in_one_colour(panel) else set()
    return replace(panel, traits=tuple(sorted(traits)))


def _positive(rng: np.random.Generator, found: Material) -> tuple[Line, ...]:
    """Lines above zero, as a logarithmic axis needs them, most of their background taken off."""
    if found.log_x:
        return found.lines
    low = min(float(line.y.min()) for line in found.lines)
    height = max(float(np.ptp(line.y)) for line in found.lines)
    lift = float(rng.uniform(0.005, 0.05)) * height - low
    return tuple(replace(line, y=line.y + lift) for line in found.lines)


def _strokes(
    rng: np.random.Generator, asked: Set[str], look: Look, found: Material, *, alike: bool
) -> tuple[list[Stroke], bool]:
    """How each line is drawn, and whether some share a colour."""
    n = len(found.lines)
    _, colors = palette(rng, n, dark=look.dark)
    if alike:
        single = str(rng.choice(ALONE_LIGHT if look.dark else ALONE))
        if n > 2 and rng.random() < 0.3:  # two share a colour, the others have their own
            first, second = sorted(rng.choice(n, 2, replace=False))
            colors[first] = colors[second] = single
        else:
            colors = [single] * n
    width = float(rng.uniform(0.6, 2.5))
    every_dashed = rng.random() < 0.3
    only_markers = "markers" in asked and not alike and "dashes" not in asked and rng.random() < 0.4
    chosen = int(rng.integers(n))
    strokes = []
    for i, (line, color) in enumerate(zip(found.lines, colors, strict=True)):
        first = i == chosen
        dashed = "dashes" in asked and (first or every_dashed or rng.random() < 0.4)
        marked = "markers" in asked and (first or rng.random() < 0.5)
        made = stroke(rng, color, line.x.size, dashed=dashed, marked=marked)
        if rng.random() < 0.8:
            made = replace(made, width=round(width, 2))
        if marked and only_markers and made.marker:
            made = replace(made, dash="none")
        strokes.append(made)
    return strokes, alike


def _curve_kind(found: Material, made: Stroke) -> Kind:
    if made.dash == "none":
        return "markers"
    return "loop" if found.loop else "function"


def _scaled(
    rng: np.random.Generator,
    asked: Set[str],
    found: Material,
    curves: list[PlannedCurve],
    log_y: bool,
) -> Panel:
    """Scales that hold all curves, a second one for some of them in a twin plot."""
    curves = [_only_points(curve) for curve in curves]
    x_all = np.concatenate([curve.line.x for curve in curves])
    tight = not found.loop and rng.random() < 0.5
    x = _limits(x_all, -0.01 if tight else float(rng.uniform(0.01, 0.06)), found.log_x)
    if found.reversed_x or (not found.loop and rng.random() < 0.03):
        x = replace(x, low=x.high, high=x.low)
    right = None
    right_label = ""
    if "twin" in asked:
        n_right = int(rng.integers(1, len(curves)))
        factor = float(10 ** rng.uniform(-2, 3))
        for i in range(len(curves) - n_right, len(curves)):
            line = curves[i].line
            moved = replace(line, y=line.y * factor)
            curves[i] = replace(curves[i], line=moved, axis="right")
        right = _y_limits(rng, [c for c in curves if c.axis == "right"], x, False)
        right_label = str(
            rng.choice(["Coulombic efficiency (%)", "Temperature (K)", "dQ/dV (a.u.)"])
        )
    y = _y_limits(rng, [c for c in curves if c.axis == "left"], x, log_y)
    numbers = not ("stack" in asked and rng.random() < 0.7)
    return Panel(
        tuple(curves),
        x,
        y,
        found.x_label,
        found.y_label,
        right,
        right_label,
        y_numbers=numbers,
    )


def _only_points(curve: PlannedCurve) -> PlannedCurve:
    """A curve without a line keeps only the points that are drawn."""
    if curve.kind != "markers":
        return curve
    every = curve.stroke.every
    line = replace(curve.line, x=curve.line.x[::every], y=curve.line.y[::every])
    return replace(curve, line=line, stroke=replace(curve.stroke, every=1))


def _y_limits(rng: np.random.Generator, curves: list[PlannedCurve], x: Scale, log: bool) -> Scale:
    low, high = sorted((x.low, x.high))
    parts = []
    for curve in curves:
        inside = (curve.line.x >= low) & (curve.line.x <= high)
        parts.append(curve.line.y[inside] if inside.sum() > 2 else curve.line.y)
    return _limits(np.concatenate(parts), float(rng.uniform(0.03, 0.12)), log)


def _limits(values: Floats, margin: float, log: bool) -> Scale:
    if log:
        values = np.log10(values)
    low, high = float(values.min()), float(values.max())
    room = (high - low) * margin or 0.5
    low, high = low - room, high + room
    return Scale(10.0**low, 10.0**high, True) if log else Scale(low, high)


def _stretched(scale: Scale, factor: float) -> Scale:
    """With more room at the upper end."""
    low, high = scale.value(np.array([0.0, factor]))
    return Scale(float(low), float(high), scale.log)


def _cross_in_one_colour(panel: Panel) -> bool:
    """Whether curves of one colour cross, none so often that no eye could follow."""
    places = [(c.stroke.color, c.kind, shown(c, panel)[2:]) for c in panel.curves]
    found = False
    for i, (color, kind, first) in enumerate(places):
        for other, _, second in places[:i]:
            if color != other:
                continue
            if kind == "function" and crossings(first, second) > MOST_CROSSINGS:
                return False
            found = found or crosses(first, second, loop=kind == "loop")
    return found


def _furnished(rng: np.random.Generator, panel: Panel, look: Look, *, plain: bool) -> Panel:
    """With legend, title, notes and the rest."""
    n = len(panel.curves)
    legend = ""
    if (n > 1 and rng.random() < 0.75) or rng.random() < 0.2:
        legend = "outside" if rng.random() < 0.12 and panel.right is None else ""
        if not legend:
            covered = {corner: _covered(panel, corner) for corner in _CORNERS}
            best = min(covered, key=lambda corner: covered[corner])
            over = not plain and rng.random() < 0.25
            legend = str(rng.choice(_CORNERS)) if over else best
            if not over and covered[best] > 0:
                factor = 1 + 0.09 * n
                panel = replace(panel, y=_stretched(panel.y, factor), legend="upper right")
                if panel.right is not None:
                    panel = replace(panel, right=_stretched(panel.right, factor))
                legend = "upper right"
    notes = () if plain or rng.random() < 0.7 else _notes(rng, panel)
    errors = not plain and rng.random() < 0.04 and "loops" not in panel.traits
    curves = panel.curves
    if errors:
        curves = (replace(curves[0], errors=True), *curves[1:])
    band = None
    if not plain and rng.random() < 0.06:
        start = float(rng.uniform(0.1, 0.7))
        band = (start, start + float(rng.uniform(0.05, 0.2)))
    large = max(abs(panel.y.low), abs(panel.y.high))
    multiplier = 0
    if not panel.y.log and large > 0 and panel.y_numbers:
        power = int(np.floor(np.log10(large)))
        multiplier = power if abs(power) >= 4 or (abs(power) >= 3 and rng.random() < 0.5) else 0
    return replace(
        panel,
        curves=curves,
        legend=legend,
        legend_alpha=float(rng.choice([0.0, 0.5, 0.8])),
        legend_frame=bool(rng.random() < 0.55),
        title=str(rng.choice(_TITLES)) if rng.random() < 0.2 else "",
        notes=notes,
        band=band,
        multiplier=multiplier,
    )


def _covered(panel: Panel, corner: str) -> int:
    """How many points of curves a legend would cover."""
    height, width = 0.09 * len(panel.curves) + 0.05, 0.42
    total = 0
    for curve in panel.curves:
        _, _, u, v = shown(curve, panel)
        in_x = u < width if "left" in corner else u > 1 - width
        in_y = v < height if "lower" in corner else v > 1 - height
        total += int((in_x & in_y).sum())
    return total


def _notes(
    rng: np.random.Generator, panel: Panel
) -> tuple[tuple[str, float, float, float | None, float | None], ...]:
    """Peak labels and arrows."""
    found = []
    for _ in range(int(rng.integers(1, 4))):
        curve = panel.curves[int(rng.integers(len(panel.curves)))]
        _, _, u, v = shown(curve, panel)
        i = int(rng.integers(u.size))
        text = str(rng.choice(_NOTES))
        away = float(np.clip(v[i] + rng.choice([-1, 1]) * rng.uniform(0.06, 0.2), 0.04, 0.93))
        aside = float(np.clip(u[i] + rng.uniform(-0.1, 0.1), 0.03, 0.9))
        arrow = rng.random() < 0.4
        found.append(
            (text, aside, away, float(u[i]) if arrow else None, float(v[i]) if arrow else None)
        )
    return tuple(found)
