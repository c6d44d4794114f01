"""Images out of which no numbers can be read, though some look as if they could."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.drawing.by_matplotlib import render, settings
from probatum.charts.drawing.damage import damaged
from probatum.charts.drawing.drawn import Drawn, DrawnPlot
from probatum.charts.drawing.look import PALETTES
from probatum.charts.drawing.plan import Plan
from probatum.charts.drawing.planning import plan_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["UNREADABLE", "draw_unreadable"]

UNREADABLE = (
    "no labels",
    "garbled labels",
    "blurred labels",
    "photograph",
    "bar chart",
    "pie",
    "table",
    "empty axes",
)
_PLAIN_STRATA = ("easy", "easy", "dashes", "loops", "jpeg")
_WORDS = ("NMC", "LFP", "LCO", "Si", "Sn", "Graphite", "MoS2", "Pt/C", "RuO2", "blank")


def draw_unreadable(seed: int | np.random.Generator, kind: str) -> Drawn:
    """An image that must be refused.

    Parameters
    ----------
    seed : int or Generator
    kind : str
        One of `UNREADABLE`.

    Returns
    -------
    Drawn
        Its plots, where there are any, say where curves lie in pixels; their axes are not
        calibrated. "empty axes" have numbers, but no curve.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in UNREADABLE:
        raise ValueError(f"kind must be one of {', '.join(UNREADABLE)}, got {kind!r}")
    rng = np.random.default_rng(seed)
    plan = plan_figure(rng, str(rng.choice(_PLAIN_STRATA)))
    while any(panel.inset is not None or panel.right is not None for panel in plan.panels):
        plan = plan_figure(rng, "easy")
    plots: tuple[DrawnPlot, ...] = ()
    if kind == "photograph":
        image = _texture(rng, plan)
    elif kind in _OTHERS:
        image = _other(rng, plan, _OTHERS[kind])
    else:
        image, plots = _spoilt(rng, plan, kind)
    image, plots, jpeg = damaged(rng, image, plots, plan.damage, plan.look.page)
    style = {
        "renderer": "matplotlib",
        "strata": [],
        "unreadable": kind,
        "dpi": plan.dpi,
        "look": asdict(plan.look),
        "damage": asdict(plan.damage),
    }
    return Drawn(image, plots, style, jpeg)


def _spoilt(
    rng: np.random.Generator, plan: Plan, kind: str
) -> tuple[NDArray[np.uint8], tuple[DrawnPlot, ...]]:
    """A plot of curves that lost its numbers, or numbers that lost their curves."""
    panels = plan.panels
    if kind == "no labels":
        panels = tuple(
            replace(panel, x_numbers=False, y_numbers=False, multiplier=0) for panel in panels
        )
    elif kind == "empty axes":
        panels = tuple(
            replace(panel, curves=(), legend="", notes=(), band=None) for panel in panels
        )
    elif kind == "garbled labels":
        panels = tuple(replace(panel, multiplier=0) for panel in panels)
    plan = replace(plan, panels=panels)
    image, plots = render(plan, relabel=_garbler(rng) if kind == "garbled labels" else None)
    if kind == "blurred labels":
        image = _blurred_outside(image, plan)
    if kind != "empty axes":
        plots = tuple(
            replace(
                plot,
                x_axis=replace(plot.x_axis, calibrated=False, ticks=()),
                y_axis=replace(plot.y_axis, calibrated=False, ticks=()),
            )
            for plot in plots
        )
    return image, plots


def _garbler(rng: np.random.Generator) -> Callable[[int], list[str]]:
    """Makes labels for equally spaced ticks: letters, or numbers of which no three fit a scale."""
    letters = list("abcdefghkmnpqrstuwxyzABCDEFGHKLMNPQRSTUVWXYZ#%&?")

    def labels(count: int) -> list[str]:
        if rng.random() < 0.4:
            return ["".join(rng.choice(letters, 3)) for _ in range(count)]
        found: list[int] = []
        while len(found) < count:
            value = int(rng.integers(11, 9999))
            if not any(_on_a_line(a, b, len(found), value, found) for a, b in _pairs(len(found))):
                found.append(value)
        return [str(value) for value in found]

    return labels


def _pairs(count: int) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2))


def _on_a_line(a: int, b: int, place: int, value: int, found: list[int]) -> bool:
    """Whether a number at a place goes on what two others began, linearly or by decades."""
    for scale in (float, np.log10):
        first, second, third = (float(scale(v)) for v in (found[a], found[b], value))
        step = (second - first) / (b - a)
        if abs(first + step * (place - a) - third) < 0.15 * abs(step):
            return True
    return False


def _blurred_outside(image: NDArray[np.uint8], plan: Plan) -> NDArray[np.uint8]:
    """The plots stay sharp, what stands beside them is gone."""
    from PIL import Image, ImageFilter

    em = plan.look.font_pt * plan.dpi / 72
    soft = Image.fromarray(image).filter(ImageFilter.GaussianBlur(0.55 * em))
    mixed = np.asarray(soft).copy()
    for box in plan.boxes:
        rows = slice(int(box.top) - 1, int(box.bottom) + 2)
        columns = slice(int(box.left) - 1, int(box.right) + 2)
        mixed[rows, columns] = image[rows, columns]
    return mixed


def _texture(rng: np.random.Generator, plan: Plan) -> NDArray[np.uint8]:
    """Clouds of several sizes and edges, as a micrograph has them."""
    from scipy.ndimage import gaussian_filter

    shape = plan.height // 2, plan.width // 2
    layers = np.zeros(shape)
    for sigma in (1, 4, 12, 40):
        layer = gaussian_filter(rng.normal(size=shape), sigma)
        layers += layer / layer.std() * sigma**0.4
    if rng.random() < 0.6:  # grains
        layers += 2 * (gaussian_filter(rng.normal(size=shape), 9) > 0)
    layers = (layers - layers.min()) / np.ptp(layers)
    tint = rng.uniform(0.6, 1.0, 3) if rng.random() < 0.5 else np.ones(3)
    image = (255 * layers[..., None] * tint).astype(np.uint8)
    return np.repeat(np.repeat(image, 2, axis=0), 2, axis=1)


def _other(
    rng: np.random.Generator, plan: Plan, drawn: Callable[[np.random.Generator, Axes, Plan], None]
) -> NDArray[np.uint8]:
    """A chart that has no curves."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(settings(plan.look)):
        size = plan.width / plan.dpi, plan.height / plan.dpi
        figure = Figure(figsize=size, dpi=plan.dpi, facecolor=plan.look.page)
        canvas: Any = FigureCanvasAgg(figure)
        drawn(rng, figure.add_axes((0.15, 0.15, 0.78, 0.78)), plan)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _bars(rng: np.random.Generator, axes: Axes, plan: Plan) -> None:
    n = int(rng.integers(3, 8))
    colors: Any = PALETTES[str(rng.choice(["tab10", "set1", "greys"]))]
    names = rng.choice(_WORDS, n, replace=False)
    axes.bar(names, rng.uniform(5, 100, n), color=colors[0] if rng.random() < 0.6 else colors)
    axes.set_ylabel("Capacity retention (%)")


def _pie(rng: np.random.Generator, axes: Axes, plan: Plan) -> None:
    n = int(rng.integers(3, 7))
    names = [str(name) for name in rng.choice(_WORDS, n, replace=False)]
    axes.pie(rng.uniform(1, 10, n), labels=names, autopct="%.0f%%")


def _table(rng: np.random.Generator, axes: Axes, plan: Plan) -> None:
    rows = int(rng.integers(3, 8))
    cells = [[f"{v:.3g}" for v in rng.uniform(0.1, 900, 4)] for _ in range(rows)]
    axes.axis("off")
    names = rng.choice(_WORDS, rows, replace=False)
    table = axes.table(cells, rowLabels=list(names), colLabels=["a", "b", "c", "R"], loc="center")
    table.scale(0.9, 1.6)


_OTHERS = {"bar chart": _bars, "pie": _pie, "table": _table}
