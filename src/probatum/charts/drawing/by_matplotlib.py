"""Planned figures drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.drawing.by_scale import inner_box, rgb
from probatum.charts.drawing.drawn import DrawnCurve, DrawnPlot
from probatum.charts.drawing.look import Look
from probatum.charts.drawing.plan import Panel, Plan, PlannedCurve, Scale, shown
from probatum.charts.plot_data import Axis, Box, Floats, Tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg

__all__ = ["render", "settings"]

_NUDGE = 0.25
_LINES = {"solid": "-", "dashed": "--", "dotted": ":", "dashdot": "-.", "none": "none"}


def render(
    plan: Plan, relabel: Callable[[int], list[str]] | None = None
) -> tuple[NDArray[np.uint8], tuple[DrawnPlot, ...]]:
    """The image and what is where in it; `relabel` makes other labels for a number of ticks."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(settings(plan.look)):
        size = plan.width / plan.dpi, plan.height / plan.dpi
        figure = Figure(figsize=size, dpi=plan.dpi, facecolor=plan.look.page)
        canvas: Any = FigureCanvasAgg(figure)
        drawn = []
        for i, (panel, box) in enumerate(zip(plan.panels, plan.boxes, strict=True)):
            axes, right = _add(canvas, panel, box, plan)
            if relabel is not None:
                _relabel(axes, relabel)
            if plan.letters:
                axes.set_title(f"({chr(97 + i)})", loc="left", fontsize=plan.look.font_pt * 1.1)
            inner = None
            if panel.inset is not None:
                place = inner_box(box, panel.inset_at)
                inner = _add(canvas, panel.inset, place, plan, inset=True)[0]
            drawn.append((panel, axes, right, inner))
        canvas.draw()
        image = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        plots = []
        for panel, axes, right, inner in drawn:
            plots.append(_measured(panel, axes, right, plan.height, plan))
            if inner is not None and panel.inset is not None:
                plots.append(_measured(panel.inset, inner, None, plan.height, plan, inset=True))
    return image, tuple(plots)


@cache
def _fonts() -> frozenset[str]:
    """Families that matplotlib knows; its list may be older than the fonts of the system."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {entry.name for entry in fontManager.ttflist}
    if "Liberation Sans" not in known:
        for path in sorted(findSystemFonts()):
            if "Liberation" in path:
                fontManager.addfont(path)
    return frozenset(entry.name for entry in fontManager.ttflist)


def settings(look: Look) -> Any:
    """matplotlib's parameters for a look, a dictionary."""
    serif = "Serif" in look.font or look.font == "STIXGeneral"
    spare = "DejaVu Serif" if serif else "DejaVu Sans"
    sides = {
        "left": True,
        "bottom": True,
        "right": look.spines != "L",
        "top": look.spines == "frame",
    }
    return {
        "font.family": [look.font, spare] if look.font in _fonts() else [spare],
        "mathtext.fontset": "dejavuserif" if serif else "dejavusans",
        "font.size": look.font_pt,
        "axes.labelsize": look.font_pt,
        "axes.titlesize": look.font_pt * 1.1,
        "xtick.labelsize": look.font_pt * 0.9,
        "ytick.labelsize": look.font_pt * 0.9,
        "legend.fontsize": look.font_pt * 0.85,
        "axes.facecolor": look.paper,
        "axes.edgecolor": look.ink,
        "axes.labelcolor": look.ink,
        "axes.linewidth": look.spine_pt,
        "axes.titlecolor": look.ink,
        "text.color": look.ink,
        "xtick.color": look.ink,
        "ytick.color": look.ink,
        **{f"axes.spines.{side}": seen for side, seen in sides.items()},
        **{f"{axis}tick.direction": look.ticks for axis in "xy"},
        **{f"{axis}tick.major.size": look.tick_pt for axis in "xy"},
        **{f"{axis}tick.minor.size": look.tick_pt * 0.55 for axis in "xy"},
        **{f"{axis}tick.major.width": min(look.spine_pt, 1.2) for axis in "xy"},
        **{f"{axis}tick.minor.visible": look.minor_ticks for axis in "xy"},
        "xtick.top": look.all_sides and look.spines == "frame",
        "ytick.right": look.all_sides and look.spines == "frame",
        "axes.axisbelow": True,
        "path.simplify": True,
        "path.simplify_threshold": 0.1,
    }


def _add(
    canvas: FigureCanvasAgg, panel: Panel, box: Box, plan: Plan, *, inset: bool = False
) -> tuple[Axes, Axes | None]:
    look = plan.look
    # Spines are rounded to whole pixels, halves upwards; a nudge leaves them in their place.
    sides = (
        (box.left - _NUDGE) / plan.width,
        1 - (box.bottom - _NUDGE) / plan.height,
        box.width / plan.width,
        box.height / plan.height,
    )
    axes = canvas.figure.add_axes(sides, zorder=2 if inset else 1)
    _scales(axes, panel, panel.y, look, inset=inset)
    right = None
    if panel.right is not None:
        right = axes.twinx()
        right.spines["right"].set_visible(True)
        right.set_yscale("log" if panel.right.log else "linear")
        right.set_ylim(panel.right.low, panel.right.high)
        right.set_ylabel(panel.right_label)
        axes.tick_params(axis="y", which="both", right=False)
    if look.grid != "none" and not inset:
        axes.grid(True, color=look.grid_color, ls=_LINES[look.grid_dash], lw=0.6)
        if look.grid == "both":
            axes.minorticks_on()
            axes.grid(True, which="minor", color=look.grid_color, ls=":", lw=0.4)
    handles = []
    for curve in panel.curves:
        on = right if curve.axis == "right" and right is not None else axes
        handles.append(_line(on, curve, inset))
    if panel.band is not None:
        axes.axvspan(*panel.x.value(np.array(panel.band)), color="#f2a900", alpha=0.2, lw=0)
    if not inset:
        _texts(axes, panel, look, handles)
    return axes, right


def _relabel(axes: Axes, labels: Callable[[int], list[str]]) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        places = [float(v) for v in axis.get_majorticklocs() if low <= v <= high]
        axis.set_major_locator(FixedLocator(places))
        axis.set_major_formatter(FixedFormatter(labels(len(places))))
        axis.set_minor_formatter(NullFormatter())


def _scales(axes: Axes, panel: Panel, y: Scale, look: Look, *, inset: bool) -> None:
    axes.set_xscale("log" if panel.x.log else "linear")
    axes.set_yscale("log" if y.log else "linear")
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(y.low, y.high)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if not panel.y_numbers:
        axes.tick_params(axis="y", which="both", left=False, right=False, labelleft=False)
    if not panel.x_numbers:
        axes.tick_params(axis="x", which="both", labelbottom=False)
    if panel.multiplier and not y.log:
        axes.ticklabel_format(
            axis="y", style="sci", scilimits=(-3, 3), useMathText=look.numbers == "power"
        )
    if inset:
        from matplotlib.ticker import MaxNLocator

        axes.tick_params(labelsize=look.font_pt * 0.7, length=2)
        for axis, scale in ((axes.xaxis, panel.x), (axes.yaxis, y)):
            if not scale.log:
                axis.set_major_locator(MaxNLocator(4))


def _line(axes: Axes, curve: PlannedCurve, inset: bool) -> Any:
    stroke = curve.stroke
    shrink = 0.7 if inset else 1.0
    if curve.errors:
        step = max(1, curve.line.x.size // 25)
        axes.errorbar(
            curve.line.x[::step],
            curve.line.y[::step],
            yerr=np.ptp(curve.line.y) * 0.04,
            fmt="none",
            ecolor=stroke.color,
            elinewidth=0.7,
            capsize=2,
        )
    (line,) = axes.plot(
        curve.line.x,
        curve.line.y,
        ls=_LINES[stroke.dash],
        lw=stroke.width * shrink,
        color=stroke.color,
        marker=stroke.marker or None,
        markevery=stroke.every if stroke.marker else None,
        ms=stroke.marker_size * shrink,
        mfc=stroke.color if stroke.filled else "none",
        label=curve.line.name,
    )
    return line


def _texts(axes: Axes, panel: Panel, look: Look, handles: list[Any]) -> None:
    if panel.title:
        axes.set_title(panel.title)
    for text, u, v, to_u, to_v in panel.notes:
        if to_u is None or to_v is None:
            axes.text(u, v, text, transform=axes.transAxes)
            continue
        axes.annotate(
            text,
            (to_u, to_v),
            (u, v),
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "->", "color": look.ink, "lw": 0.8},
        )
    if not panel.legend:
        return
    place: dict[str, Any] = {"loc": panel.legend}
    if panel.legend == "outside":
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    # A twin's legend would lie under the other axes, were it not drawn last.
    legend = axes.legend(
        handles,
        [curve.line.name for curve in panel.curves],
        frameon=panel.legend_frame,
        framealpha=panel.legend_alpha,
        labelcolor=look.ink,
        facecolor=look.paper,
        **place,
    )
    legend.set_zorder(5)


def _measured(
    panel: Panel, axes: Axes, right: Axes | None, height: int, plan: Plan, *, inset: bool = False
) -> DrawnPlot:
    """Where it all lies, by matplotlib's own transforms; its rows count from below."""
    extent = axes.bbox
    sides = extent.x0, height - extent.y1, extent.x1, height - extent.y0
    box = Box(*map(float, sides))
    curves = []
    for curve in panel.curves:
        on = right if curve.axis == "right" and right is not None else axes
        curves.append(_truth(curve, panel, on, plan))
    x_axis = panel.x.axis(box.left, box.right, panel.x_label, panel.x_numbers)
    y_axis = panel.y.axis(box.bottom, box.top, panel.y_label, panel.y_numbers)
    right_axis = None
    if right is not None and panel.right is not None:
        right_axis = panel.right.axis(box.bottom, box.top, panel.right_label, True)
        right_axis = _ticked(right_axis, right.yaxis, panel.right)
    return DrawnPlot(
        box,
        _ticked(x_axis, axes.xaxis, panel.x),
        _ticked(y_axis, axes.yaxis, panel.y) if panel.y_numbers else y_axis,
        tuple(curves),
        right_axis,
        inset,
    )


def _truth(curve: PlannedCurve, panel: Panel, axes: Axes, plan: Plan) -> DrawnCurve:
    x, y, _, _ = shown(curve, panel)
    px: Floats = axes.transData.transform(np.column_stack([x, y]))
    px[:, 1] = plan.height - px[:, 1]
    stroke = curve.stroke
    return DrawnCurve(
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


def _ticked(axis: Axis, drawn: Any, scale: Scale) -> Axis:
    from dataclasses import replace

    low, high = sorted((scale.low, scale.high))
    ticks = []
    for tick, value in zip(drawn.get_major_ticks(), drawn.get_majorticklocs(), strict=False):
        if low <= value <= high:
            text = tick.label1.get_text() or tick.label2.get_text()
            ticks.append(Tick(float(axis.px([value])[0]), float(value), text))
    return replace(axis, ticks=tuple(ticks))
