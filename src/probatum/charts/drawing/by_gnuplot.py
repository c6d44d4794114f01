"""Planned figures drawn by gnuplot."""

from __future__ import annotations

import io
import shutil
import subprocess
from functools import partial

import numpy as np
from numpy.typing import NDArray

from probatum.charts.drawing.by_scale import inner_box, marked_up, measured
from probatum.charts.drawing.drawn import DrawnPlot
from probatum.charts.drawing.plan import Panel, Plan, PlannedCurve, Scale, shown
from probatum.charts.plot_data import Box

__all__ = ["RendererMissingError", "render"]

_SECONDS = 60
_DASHES = {"solid": "1", "dashed": "2", "dotted": "3", "dashdot": "4", "none": "1"}
# Open and filled.
_POINTS = {"o": (6, 7), "s": (4, 5), "^": (8, 9), "v": (10, 11), "D": (12, 13)}
_CROSSES = {"x": 2, "+": 1, "*": 3}
_text = partial(marked_up, raised="^{{{}}}", lowered="_{{{}}}")


class RendererMissingError(OSError):
    """The program that draws the figure is not installed."""


def render(plan: Plan) -> tuple[NDArray[np.uint8], tuple[DrawnPlot, ...]]:
    """The image and what is where in it."""
    from PIL import Image

    program = shutil.which("gnuplot")
    if program is None:
        raise RendererMissingError("gnuplot is not on the search path; install it")
    script, plots = _script(plan)
    done = subprocess.run(
        [program], input=script.encode(), capture_output=True, timeout=_SECONDS, check=False
    )
    if done.returncode or not done.stdout:
        raise RuntimeError(f"gnuplot failed: {done.stderr.decode(errors='replace')[-300:]}")
    image = np.asarray(Image.open(io.BytesIO(done.stdout)).convert("RGB")).copy()
    return image, plots


def _script(plan: Plan) -> tuple[str, tuple[DrawnPlot, ...]]:
    look = plan.look
    em = look.font_pt * plan.dpi / 72
    size = f"size {plan.width},{plan.height}"
    # The terminal's point is a pixel.
    lines = [
        f'set terminal pngcairo {size} enhanced background rgb "{look.page}" '
        f'font "{look.font},{em * 0.72:.2f}"',
        "set encoding utf8",
        "set multiplot",
    ]
    plots = []
    for i, (panel, box) in enumerate(zip(plan.panels, plan.boxes, strict=True)):
        letter = f"({chr(97 + i)})" if plan.letters else ""
        lines += _panel(panel, box, plan, f"p{i}", letter)
        plots.append(measured(panel, box, plan))
        if panel.inset is not None:
            place = inner_box(box, panel.inset_at)
            lines += _panel(panel.inset, place, plan, f"i{i}", "", inset=True)
            plots.append(measured(panel.inset, place, plan, inset=True))
    return "\n".join([*lines, "unset multiplot", ""]), tuple(plots)


def _panel(
    panel: Panel, box: Box, plan: Plan, name: str, letter: str, *, inset: bool = False
) -> list[str]:
    look = plan.look
    ink = f'textcolor rgb "{look.ink}"'
    lines = ["reset", *_margins(box, plan), *_blocks(panel, name)]
    lines.append(
        f"set object 1 rectangle from graph 0,0 to graph 1,1 behind fs solid noborder "
        f'fc rgb "{look.paper}"'
    )
    sides = {"frame": 31, "L": 3, "no top": 11}[look.spines]
    if panel.right is not None:
        sides |= 8
    width = max(1, round(look.spine_pt * plan.dpi / 72))
    lines.append(f'set border {sides} lw {width} lc rgb "{look.ink}"')
    small = f' font ",{look.font_pt * plan.dpi / 72 * 0.5:.2f}"' if inset else ""
    mirror = "mirror" if look.all_sides and look.spines == "frame" else "nomirror"
    where = "in" if look.ticks == "in" else "out"
    lines += [f"set {axis}tics {where} {mirror} {ink}{small}" for axis in "xy"]
    em = look.font_pt * plan.dpi / 72 * (0.7 if inset else 1.0)
    lines += _axis("x", panel.x, box.width / (5.0 * em))
    lines += _axis("y", panel.y, box.height / (2.5 * em), power=bool(panel.multiplier))
    if look.minor_ticks:
        lines += [f"set m{axis}tics" for axis in "xy"]
    if not panel.y_numbers:
        lines.append("unset ytics")
    if panel.right is not None:
        lines += [f"set ytics nomirror {ink}", f"set y2tics {where} {ink}"]
        lines += [f"set y2range [{panel.right.low!r}:{panel.right.high!r}]"]
        lines += [f'set y2label "{_text(panel.right_label)}" {ink}']
    if look.grid != "none" and not inset:
        minor = " mxtics mytics" if look.grid == "both" else ""
        dash = _DASHES[look.grid_dash]
        lines.append(f'set grid xtics ytics{minor} lc rgb "{look.grid_color}" dt {dash} lw 1')
    if not inset:
        lines += [f'set xlabel "{_text(panel.x_label)}" {ink}']
        lines += [f'set ylabel "{_text(panel.y_label)}" {ink}']
        title = " ".join(part for part in (letter, panel.title) if part)
        lines += [f'set title "{title}" {ink}'] if title else []
        lines += _notes(panel, ink)
    lines.append(_legend(panel, ink) if panel.legend and not inset else "unset key")
    drawn = [_curve(c, f"${name}_{i}", panel, plan) for i, c in enumerate(panel.curves)]
    return [*lines, "plot " + ", ".join(drawn)]


def _margins(box: Box, plan: Plan) -> list[str]:
    """The outermost pixel centres are 0 and 1 of its screen."""
    across, up = plan.width - 1, plan.height - 1
    return [
        f"set lmargin at screen {(box.left - 0.5) / across:.9f}",
        f"set rmargin at screen {(box.right - 0.5) / across:.9f}",
        f"set tmargin at screen {1 - (box.top - 0.5) / up:.9f}",
        f"set bmargin at screen {1 - (box.bottom - 0.5) / up:.9f}",
    ]


def _blocks(panel: Panel, name: str) -> list[str]:
    lines = []
    for i, curve in enumerate(panel.curves):
        x, y, _, _ = shown(curve, panel)
        rows = [f"{a!r} {b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        lines += [f"${name}_{i} << EOD", *rows, "EOD"]
    return lines


def _axis(axis: str, scale: Scale, most: float, *, power: bool = False) -> list[str]:
    """Range and numbers of an axis, `most` of them at most."""
    lines = [f"set {axis}range [{scale.low!r}:{scale.high!r}]"]
    if scale.log:
        low, high = sorted((scale.low, scale.high))
        lines.append(f"set logscale {axis}")
        if high / low > 100:
            return [*lines, f'set format {axis} "10^{{%L}}"']
        powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))))
        marks = [float(f"{m}e{power}") for power in powers for m in (1, 2, 3, 4, 5, 6, 8)]
        seen = [f"{mark:g}" for mark in marks if low <= mark <= high]
        return [*lines, f"set {axis}tics ({', '.join(seen)})"]
    rough = abs(scale.high - scale.low) / min(max(most, 4.0), 9.0)
    power_of_ten = 10.0 ** np.floor(np.log10(rough))
    step = next(float(m * power_of_ten) for m in (1, 2, 5, 10) if m * power_of_ten >= rough)
    lines.append(f"set {axis}tics {step:.10g}")
    if power:
        lines.append(f'set format {axis} "%.1t×10^{{%T}}"')
    return lines


def _notes(panel: Panel, ink: str) -> list[str]:
    lines = []
    for text, u, v, to_u, to_v in panel.notes:
        lines.append(f'set label "{text}" at graph {u:.4f},{v:.4f} {ink} front')
        if to_u is not None and to_v is not None:
            lines.append(f"set arrow from graph {u:.4f},{v:.4f} to graph {to_u:.4f},{to_v:.4f}")
    return lines


def _legend(panel: Panel, ink: str) -> str:
    if panel.legend == "outside":
        return f"set key outside right top {ink}"
    across, along = panel.legend.split()[1], panel.legend.split()[0]
    place = f"inside {across} {'top' if along == 'upper' else 'bottom'}"
    return f"set key {place} spacing 1.2 {'box' if panel.legend_frame else 'nobox'} {ink}"


def _curve(curve: PlannedCurve, block: str, panel: Panel, plan: Plan) -> str:
    stroke = curve.stroke
    lw = stroke.width * plan.dpi / 72
    parts = [block, "using 1:2"]
    if curve.axis == "right" and panel.right is not None:
        parts.append("axes x1y2")
    style = f'lc rgb "{stroke.color}" lw {lw:.2f} dt {_DASHES[stroke.dash]}'
    if not stroke.marker:
        parts.append(f"with lines {style}")
    else:
        shape = _CROSSES.get(stroke.marker) or _POINTS[stroke.marker][stroke.filled]
        points = f"pt {shape} ps {stroke.marker_size * plan.dpi / 72 / 7:.2f}"
        if stroke.dash == "none":
            parts.append(f'with points {points} lc rgb "{stroke.color}"')
        else:
            parts.append(f"with linespoints {points} pi {stroke.every} {style}")
    return " ".join([*parts, f'title "{curve.line.name}"'])
