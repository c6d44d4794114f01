"""Truth of figures whose renderer puts plots exactly where it is told to."""

from __future__ import annotations

import re

import numpy as np

from probatum.charts.drawing.drawn import DrawnCurve, DrawnPlot
from probatum.charts.drawing.plan import Panel, Plan, shown
from probatum.charts.plot_data import Box

__all__ = ["inner_box", "marked_up", "measured", "rgb"]


def measured(panel: Panel, box: Box, plan: Plan, *, inset: bool = False) -> DrawnPlot:
    """Where the curves of a panel lie, given where its box lies."""
    curves = []
    for curve in panel.curves:
        x, y, u, v = shown(curve, panel)
        px = np.column_stack([box.left + u * box.width, box.bottom - v * box.height])
        stroke = curve.stroke
        curves.append(
            DrawnCurve(
                curve.line.name,
                x,
                y,
                px,
                rgb(stroke.color),
                stroke.dash,
                stroke.marker,
                curve.kind,
                curve.axis,
                stroke.width * plan.dpi / 72,
            )
        )
    right = None
    if panel.right is not None:
        right = panel.right.axis(box.bottom, box.top, panel.right_label, True)
    return DrawnPlot(
        box,
        panel.x.axis(box.left, box.right, panel.x_label, panel.x_numbers),
        panel.y.axis(box.bottom, box.top, panel.y_label, panel.y_numbers),
        tuple(curves),
        right,
        inset,
    )


def inner_box(box: Box, at: tuple[float, float, float, float]) -> Box:
    """Shares (left, low, right, high) of a box in pixels; sides are pixel centres."""
    sides = (
        box.left + at[0] * box.width,
        box.bottom - at[3] * box.height,
        box.left + at[2] * box.width,
        box.bottom - at[1] * box.height,
    )
    return Box(*(float(np.floor(side)) + 0.5 for side in sides))


def rgb(color: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#rrggbb``."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def marked_up(text: str, raised: str, lowered: str) -> str:
    """matplotlib's markup of super- and subscripts in another one.

    Examples
    --------
    >>> marked_up("j / mA cm$^{-2}$", "<sup>{}</sup>", "<sub>{}</sub>")
    'j / mA cm<sup>-2</sup>'
    """
    text = text.replace("$\\theta$", "θ")

    def written(match: re.Match[str]) -> str:
        form = raised if match[1] == "^" else lowered
        return form.format(match[2].strip("{}"))

    return re.sub(r"\$([\^_])(\{[^}]*\}|.)\$", written, text)
