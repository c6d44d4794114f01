"""Planned figures drawn by plotly in Chromium."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import shutil
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.drawing.by_gnuplot import RendererMissingError
from probatum.charts.drawing.by_scale import inner_box, marked_up, measured
from probatum.charts.drawing.drawn import DrawnPlot
from probatum.charts.drawing.plan import Panel, Plan, PlannedCurve, Scale, shown
from probatum.charts.plot_data import Box

__all__ = ["render"]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "D": "diamond",
    "x": "x-thin",
    "+": "cross-thin",
    "*": "asterisk",
}
_EXPONENTS = {"plain": "none", "power": "power", "e": "e", "SI": "SI"}
_text = partial(marked_up, raised="<sup>{}</sup>", lowered="<sub>{}</sub>")


def render(plan: Plan) -> tuple[NDArray[np.uint8], tuple[DrawnPlot, ...]]:
    """The image and what is where in it."""
    from PIL import Image

    look = plan.look
    traces: list[dict[str, Any]] = []
    plots = []
    layout: dict[str, Any] = {
        "width": plan.width,
        "height": plan.height,
        # A legend larger than its plot would move the plot.
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "autoexpand": False},
        "paper_bgcolor": look.page,
        "plot_bgcolor": look.paper,
        "font": {"family": look.font, "size": _em(plan) * 0.95, "color": look.ink},
        "annotations": [],
        "shapes": [],
        "showlegend": False,
    }
    number = 1
    for i, (panel, box) in enumerate(zip(plan.panels, plan.boxes, strict=True)):
        number = _place(panel, box, plan, number, (layout, traces))
        plots.append(_framed(panel, box, plan))
        if i == 0:
            _legend(panel, box, plan, layout)
        if plan.letters:
            layout["annotations"].append(_note(f"({chr(97 + i)})", box.left, box.top, plan))
        if panel.inset is not None:
            inner = inner_box(box, panel.inset_at)
            number = _place(panel.inset, inner, plan, number, (layout, traces), inset=True)
            plots.append(_framed(panel.inset, inner, plan, inset=True))
    data = _browser().screenshot(traces, layout)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).copy(), tuple(plots)


def _em(plan: Plan) -> float:
    return plan.look.font_pt * plan.dpi / 72


def _spine(plan: Plan) -> int:
    return max(1, round(plan.look.spine_pt * plan.dpi / 72))


def _framed(panel: Panel, box: Box, plan: Plan, *, inset: bool = False) -> DrawnPlot:
    """Spines lie outside the area of the curves."""
    half = _spine(plan) / 2
    outer = Box(box.left - half, box.top - half, box.right + half, box.bottom + half)
    return replace(measured(panel, box, plan, inset=inset), box=outer)


def _place(
    panel: Panel,
    box: Box,
    plan: Plan,
    number: int,
    figure: tuple[dict[str, Any], list[dict[str, Any]]],
    *,
    inset: bool = False,
) -> int:
    """Add a panel's axes and traces; gives the next free number of an axis."""
    layout, traces = figure
    mark = "" if number == 1 else str(number)
    across = [box.left / plan.width, box.right / plan.width]
    up = [1 - box.bottom / plan.height, 1 - box.top / plan.height]
    layout[f"xaxis{mark}"] = {
        **_axis(panel.x, panel.x_label if not inset else "", plan, inset=inset),
        "domain": across,
        "anchor": f"y{mark}",
    }
    layout[f"yaxis{mark}"] = {
        **_axis(panel.y, panel.y_label if not inset else "", plan, inset=inset),
        "domain": up,
        "anchor": f"x{mark}",
    }
    if not panel.y_numbers:
        layout[f"yaxis{mark}"].update(showticklabels=False, ticks="")
    second = number + 1
    if panel.right is not None:
        layout[f"yaxis{second}"] = {
            **_axis(panel.right, panel.right_label, plan, inset=False),
            "overlaying": f"y{mark}",
            "side": "right",
            "anchor": f"x{mark}",
            "showgrid": False,
            "mirror": False,
            "tickmode": "auto",
        }
    for curve in panel.curves:
        on = str(second) if curve.axis == "right" and panel.right is not None else mark
        trace = {**_trace(curve, panel, plan), "xaxis": f"x{mark}", "yaxis": f"y{on}"}
        # There is one legend for all plots; it stands in the first.
        traces.append({**trace, "showlegend": number == 1})
    if inset:
        return number + 2
    if panel.title:
        middle = (box.left + box.right) / 2
        layout["annotations"].append(_note(panel.title, middle, box.top, plan, anchor="center"))
    for text, u, v, to_u, to_v in panel.notes:
        column, row = box.left + u * box.width, box.bottom - v * box.height
        note = _note(text, column, row, plan)
        if to_u is not None and to_v is not None:
            tip = box.left + to_u * box.width, box.bottom - to_v * box.height
            note = {**_note(text, *tip, plan), "showarrow": True, "arrowcolor": plan.look.ink}
            note |= {"ax": column - tip[0], "ay": row - tip[1], "yanchor": "middle"}
        layout["annotations"].append(note)
    return number + 2


def _axis(scale: Scale, label: str, plan: Plan, *, inset: bool) -> dict[str, Any]:
    look = plan.look
    ends = [scale.low, scale.high]
    axis: dict[str, Any] = {
        "type": "log" if scale.log else "linear",
        "range": [float(np.log10(end)) for end in ends] if scale.log else ends,
        "title": {"text": _text(label)},
        "showline": True,
        "linecolor": look.ink,
        "linewidth": _spine(plan),
        "mirror": look.spines == "frame" and ("ticks" if look.all_sides else True),
        "ticks": "inside" if look.ticks == "in" else "outside",
        "ticklen": max(3.0, look.tick_pt * plan.dpi / 72),
        "tickcolor": look.ink,
        "tickwidth": max(1, _spine(plan) - 1),
        "zeroline": False,
        "showgrid": look.grid != "none" and not inset,
        "gridcolor": look.grid_color,
        "griddash": _DASHES[look.grid_dash],
        "exponentformat": _EXPONENTS[look.numbers],
    }
    if look.minor_ticks:
        axis["minor"] = {"ticks": axis["ticks"]}
    if inset:
        axis |= {"tickfont": {"size": _em(plan) * 0.7}, "nticks": 4}
    return axis


def _trace(curve: PlannedCurve, panel: Panel, plan: Plan) -> dict[str, Any]:
    x, y, _, _ = shown(curve, panel)
    stroke = curve.stroke
    scale = plan.dpi / 72
    trace: dict[str, Any] = {
        "type": "scatter",
        "x": x.tolist(),
        "y": y.tolist(),
        "name": curve.line.name,
        "mode": "lines",
    }
    if stroke.dash != "none":
        # Sharp corners and every point, as the truth has them.
        dash = _DASHES[stroke.dash]
        trace["line"] = {"color": stroke.color, "width": stroke.width * scale, "dash": dash}
        trace["line"] |= {"simplify": False}
    if stroke.marker:
        trace["mode"] = "markers" if stroke.dash == "none" else "lines+markers"
        thin = stroke.marker in "x+*"
        symbol = _SYMBOLS[stroke.marker] + ("" if stroke.filled and not thin else "-open")
        trace["marker"] = {
            "color": stroke.color,
            "symbol": symbol,
            "size": stroke.marker_size * scale,
            "maxdisplayed": 0 if stroke.every == 1 else max(2, x.size // stroke.every),
            "line": {"color": stroke.color, "width": scale},
        }
    return trace


def _legend(panel: Panel, box: Box, plan: Plan, layout: dict[str, Any]) -> None:
    if not panel.legend:
        return
    layout["showlegend"] = True
    frame = plan.look.ink if panel.legend_frame else "rgba(0,0,0,0)"
    legend: dict[str, Any] = {"bgcolor": "rgba(0,0,0,0)", "bordercolor": frame, "borderwidth": 1}
    left, right = box.left / plan.width, box.right / plan.width
    low, high = 1 - box.bottom / plan.height, 1 - box.top / plan.height
    if panel.legend == "outside":
        legend |= {"x": right + 0.01, "y": high, "xanchor": "left", "yanchor": "top"}
    else:
        is_left, is_low = "left" in panel.legend, "lower" in panel.legend
        legend |= {
            "x": left + 0.01 if is_left else right - 0.01,
            "y": low + 0.01 if is_low else high - 0.01,
            "xanchor": "left" if is_left else "right",
            "yanchor": "bottom" if is_low else "top",
        }
    layout["legend"] = legend


def _note(text: str, column: float, row: float, plan: Plan, anchor: str = "left") -> dict[str, Any]:
    return {
        "text": text,
        "x": column / plan.width,
        "y": 1 - row / plan.height,
        "xref": "paper",
        "yref": "paper",
        "xanchor": anchor,
        "yanchor": "bottom",
        "showarrow": False,
    }


class _Browser:
    """A Chromium with plotly's script in a page, held for all figures of a process.

    It lives in a thread of its own: playwright allows one user to a thread, and the caller may be
    another.
    """

    def __init__(self, program: str) -> None:
        self._asked: SimpleQueue[tuple[Any, SimpleQueue[Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, args=(program,), daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def screenshot(self, traces: list[dict[str, Any]], layout: dict[str, Any]) -> bytes:
        answer: SimpleQueue[Any] = SimpleQueue()
        self._asked.put(((traces, layout), answer))
        found = answer.get()
        if isinstance(found, BaseException):
            raise found
        return bytes(found)

    def close(self) -> None:
        self._asked.put(None)
        self._thread.join(timeout=10)

    def _serve(self, program: str) -> None:
        import plotly
        from playwright.sync_api import sync_playwright

        script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
        page: Any = None
        broken: BaseException | None = None
        with contextlib.ExitStack() as stack:
            try:
                chromium = stack.enter_context(sync_playwright()).chromium
                browser = stack.enter_context(chromium.launch(executable_path=program))
                page = browser.new_page()
                page.set_content("<body style='margin:0'><div id='figure'></div></body>")
                page.add_script_tag(path=script)
            except Exception as error:
                broken = error
            while (asked := self._asked.get()) is not None:
                (traces, layout), answer = asked
                try:
                    answer.put(broken or _shot(page, traces, layout))
                except Exception as error:
                    answer.put(error)


def _shot(page: Any, traces: list[dict[str, Any]], layout: dict[str, Any]) -> bytes:
    width, height = layout["width"], layout["height"]
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(
        """async ([traces, layout]) => {
            Plotly.purge('figure');
            await document.fonts.ready;
            await Plotly.newPlot('figure', traces, layout, {staticPlot: true});
        }""",
        [json.loads(json.dumps(traces)), layout],
    )
    return bytes(page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": height}))


@cache
def _browser() -> _Browser:
    try:
        import playwright
        import plotly  # noqa: F401
    except ImportError as error:
        remedy = f"{error.name} is not installed: pip install plotly playwright"
        raise RendererMissingError(remedy) from error
    del playwright
    named = os.environ.get("PROBATUM_CHROMIUM")
    program = named or next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        raise RendererMissingError(
            "plotly draws in Chromium, which is not on the search path; install it, or name it in "
            "PROBATUM_CHROMIUM"
        )
    return _Browser(program)
