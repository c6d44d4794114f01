"""What was read, drawn over the figure: a picture, and a page on which it can be put right."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Axis, Curve, PlotData, described

__all__ = ["correction_page", "overlay"]

# Colours that are told apart on the washed-out figure.
_MARKS = ("#d81b60", "#1e88e5", "#007a5a", "#b26a00", "#6a3fbf", "#008a9a", "#9c2f00", "#4a6b00")
# A picture of more bytes than this is compressed with loss.
_HEAVY = 1_000_000


def overlay(plot: PlotData) -> NDArray[np.uint8]:
    """The figure, washed out, with the curves and ticks that were read drawn over it.

    Returns
    -------
    ndarray of shape (height, width, 3), dtype uint8
    """
    from PIL import Image, ImageDraw

    if plot.image is None:
        raise ValueError("there is no image to draw on")
    pale = (plot.image.astype(float) * 0.45 + 255 * 0.55).astype(np.uint8)
    picture = Image.fromarray(pale)
    pen = ImageDraw.Draw(picture)
    box = plot.box
    pen.rectangle((box.left, box.top, box.right, box.bottom), outline="#0a84ff")
    for tick in plot.x_axis.ticks:
        pen.line(
            (tick.px, box.bottom - 5, tick.px, box.bottom + 5), fill=_tick(tick.inlier), width=2
        )
    sides = [(plot.y_axis, box.left), *([(plot.right_axis, box.right)] if plot.right_axis else [])]
    for axis, at in sides:
        for tick in axis.ticks:
            pen.line((at - 5, tick.px, at + 5, tick.px), fill=_tick(tick.inlier), width=2)
    for i, curve in enumerate(plot.curves):
        color = _MARKS[i % len(_MARKS)]
        points = [(float(x) - 0.5, float(y) - 0.5) for x, y in curve.px]
        if curve.kind == "markers" or len(points) < 2:
            for x, y in points:
                pen.ellipse((x - 3, y - 3, x + 3, y + 3), outline=color)
        else:
            pen.line(points, fill=color, width=2, joint="curve")
    return np.asarray(picture)


def _tick(inlier: bool) -> str:
    return "#0a84ff" if inlier else "#dd0000"


def correction_page(plots: Sequence[PlotData], name: str) -> str:
    """A page, whole in itself, on which the calibration and the curves can be corrected.

    Parameters
    ----------
    plots : sequence of PlotData
        With their images.
    name : str
        Of the figure; what is downloaded from the page is called so.

    Returns
    -------
    str
        HTML.
    """
    from jinja2 import Environment

    parts = {part: _asset(f"page.{part}") for part in ("html", "css", "js")}
    images = _pictures(plots)
    shown = [_facts(plot, _own_name(name, i, len(plots))) for i, plot in enumerate(plots)]
    # Nothing in it can end the element that it stands in.
    data = json.dumps(shown, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    template = Environment(autoescape=True).from_string(parts["html"])
    from markupsafe import Markup

    return template.render(
        title=name,
        plots=[
            {
                "image": image,
                "image_id": image_id,
                "width": facts["width"],
                "height": facts["height"],
                "warnings": plot.warnings,
            }
            for (image_id, image), facts, plot in zip(images, shown, plots, strict=True)
        ],
        # JSON whose signs are escaped above, and files of this package.
        data=Markup(data),  # nosec B704
        style=Markup(parts["css"]),  # nosec B704
        script=Markup(parts["js"]),  # nosec B704
        style_hash=_hash(parts["css"]),
        script_hash=_hash(parts["js"]),
    )


def _own_name(name: str, i: int, count: int) -> str:
    return name if count == 1 else f"{name}-{i + 1}"


def _asset(name: str) -> str:
    return (resources.files("probatum.charts") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _pictures(plots: Sequence[PlotData]) -> list[tuple[str, str]]:
    """For each plot the id of its picture, and the picture itself where it comes first.

    Plots of one figure share an image, which the page holds once.
    """
    held: list[NDArray[np.uint8]] = []
    found = []
    for plot in plots:
        if plot.image is None:
            raise ValueError("a page needs the image of each plot")
        known = [i for i, other in enumerate(held) if other is plot.image]
        if not known:
            held.append(plot.image)
        i = known[0] if known else len(held) - 1
        found.append((f"picture-{i}", "" if known else _data_uri(plot.image)))
    return found


def _data_uri(image: NDArray[np.uint8]) -> str:
    from PIL import Image

    picture = Image.fromarray(image)
    kind, written = "png", io.BytesIO()
    picture.save(written, "PNG")
    if written.tell() > _HEAVY:
        # Noise, as of a photograph or a scan: lossless it would weigh ten times as much.
        kind, written = "jpeg", io.BytesIO()
        picture.save(written, "JPEG", quality=90, subsampling=0)
    return f"data:image/{kind};base64," + base64.b64encode(written.getvalue()).decode()


def _facts(plot: PlotData, name: str) -> dict[str, Any]:
    """What the page's script works on."""
    assert plot.image is not None
    height, width = plot.image.shape[:2]
    axes = {"x": _handled(plot.x_axis, plot.box.left, plot.box.right)}
    axes["y"] = _handled(plot.y_axis, plot.box.bottom, plot.box.top)
    if plot.right_axis is not None:
        axes["right"] = _handled(plot.right_axis, plot.box.bottom, plot.box.top)
    return {
        "name": name,
        "width": width,
        "height": height,
        "box": vars(plot.box),
        "axes": axes,
        "curves": [_curve(curve, i) for i, curve in enumerate(plot.curves)],
    }


def _handled(axis: Axis, start: float, end: float) -> dict[str, Any]:
    """An axis with two handles: at its outermost labels, or at the ends of the plot."""
    known = sorted((tick for tick in axis.ticks if tick.inlier), key=lambda tick: tick.px)
    ends, values = [start, end], [float(v) for v in axis.value([start, end])]
    if len(known) > 1:
        # Where the fit has what the labels say: a person expects to see their numbers.
        values = [known[0].value, known[-1].value]
        ends = [float(px) for px in axis.px(values)]
    if not axis.calibrated or not all(math.isfinite(v) for v in (*ends, *values)):
        ends, values = [start, end], [start, end]
    return {
        **described(axis),
        "handles": [{"px": px, "value": value} for px, value in zip(ends, values, strict=True)],
    }


def _curve(curve: Curve, i: int) -> dict[str, Any]:
    return {
        "name": curve.name,
        "kind": curve.kind,
        "axis": curve.axis,
        "color": "#{:02x}{:02x}{:02x}".format(*curve.color),
        "contrast": _MARKS[i % len(_MARKS)],
        "confidence": curve.confidence,
        "px": [[round(float(x), 6), round(float(y), 6)] for x, y in curve.px],
    }
