"""A drawn figure and where its curves lie; writing and reading it."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Axis, Box, Floats, Kind, Tick, described

__all__ = ["Drawn", "DrawnCurve", "DrawnPlot", "load_drawn"]

_DECIMALS = 4


@dataclass(frozen=True)
class DrawnCurve:
    """One curve as it was drawn.

    Attributes
    ----------
    name : str
        Its entry in the legend, if there is one.
    x, y : ndarray of shape (n,)
        In the units of the axes, clipped to the box.
    px : ndarray of shape (n, 2)
        Column and row of each point, where the data are; between two points the line is straight
        in pixels. Renderers round: gnuplot all points to the nearest pixel, matplotlib markers to
        the next one.
    color : tuple of int
        Red, green, blue; 0 to 255.
    dash : {"solid", "dashed", "dotted", "dashdot", "none"}
        "none" for markers without a line.
    marker : str
        Of matplotlib's codes; empty for none.
    kind : {"function", "loop", "markers"}
    axis : {"left", "right"}
        Whose values ``y`` are.
    width_px : float
        Of the line.
    """

    name: str
    x: Floats
    y: Floats
    px: Floats
    color: tuple[int, int, int] = (0, 0, 0)
    dash: str = "solid"
    marker: str = ""
    kind: Kind = "function"
    axis: Literal["left", "right"] = "left"
    width_px: float = 1.0


@dataclass(frozen=True)
class DrawnPlot:
    """One pair of axes of a figure.

    Attributes
    ----------
    box : Box
    x_axis, y_axis : Axis
        As drawn; ``calibrated`` is False where the figure shows no numbers along the axis, though
        slope and intercept are still those of the drawing. Ticks are known of what matplotlib drew
        only. In a crooked scan they hold along the middle of the plot.
    curves : tuple of DrawnCurve
    right_axis : Axis, optional
    inset : bool
        Whether it lies inside the plot before it.
    """

    box: Box
    x_axis: Axis
    y_axis: Axis
    curves: tuple[DrawnCurve, ...]
    right_axis: Axis | None = None
    inset: bool = False


@dataclass(frozen=True)
class Drawn:
    """A figure with known content.

    Attributes
    ----------
    image : ndarray of shape (height, width, 3), dtype uint8
    plots : tuple of DrawnPlot
    style : dict
        How it was drawn, in plain values; ``style["strata"]`` lists what makes it hard.
    jpeg : bytes, optional
        The file of which `image` is the content, if it is a JPEG file.
    """

    image: NDArray[np.uint8] = field(repr=False)
    plots: tuple[DrawnPlot, ...]
    style: dict[str, Any]
    jpeg: bytes | None = field(default=None, repr=False)

    @property
    def strata(self) -> tuple[str, ...]:
        """What makes the figure hard."""
        return tuple(self.style["strata"])

    def encoded(self) -> bytes:
        """The image as a PNG file, or as the JPEG file that it is."""
        if self.jpeg is not None:
            return self.jpeg
        from PIL import Image

        held = io.BytesIO()
        Image.fromarray(self.image).save(held, "PNG", compress_level=6)
        return held.getvalue()

    def save(self, folder: str | Path, name: str) -> Path:
        """Write ``NAME.png`` or ``NAME.jpg``, and ``NAME.json`` with the truth.

        Returns
        -------
        Path
            Of the image.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        image = folder / f"{name}{'.png' if self.jpeg is None else '.jpg'}"
        image.write_bytes(self.encoded())
        truth = {"image": image.name, "style": self.style, "plots": [_plain(p) for p in self.plots]}
        (folder / f"{name}.json").write_text(json.dumps(truth, indent=None), encoding="utf-8")
        return image


def load_drawn(path: str | Path) -> Drawn:
    """Read a figure that `Drawn.save` wrote.

    Parameters
    ----------
    path : str or Path
        Its JSON file.
    """
    from PIL import Image

    path = Path(path)
    truth = json.loads(path.read_text(encoding="utf-8"))
    data = (path.parent / truth["image"]).read_bytes()
    image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    jpeg = data if truth["image"].endswith(".jpg") else None
    return Drawn(image, tuple(_plot(p) for p in truth["plots"]), truth["style"], jpeg)


def _plain(plot: DrawnPlot) -> dict[str, Any]:
    box = plot.box
    return {
        "box": [box.left, box.top, box.right, box.bottom],
        "x_axis": described(plot.x_axis),
        "y_axis": described(plot.y_axis),
        "right_axis": None if plot.right_axis is None else described(plot.right_axis),
        "inset": plot.inset,
        "curves": [
            {
                "name": c.name,
                # Nine digits are finer than any pixel and keep the files small.
                "x": [float(f"{v:.9g}") for v in c.x],
                "y": [float(f"{v:.9g}") for v in c.y],
                "px": np.round(c.px, _DECIMALS).tolist(),
                "color": list(c.color),
                "dash": c.dash,
                "marker": c.marker,
                "kind": c.kind,
                "axis": c.axis,
                "width_px": c.width_px,
            }
            for c in plot.curves
        ],
    }


def _plot(plain: dict[str, Any]) -> DrawnPlot:
    curves = []
    for c in plain["curves"]:
        arrays = {key: np.asarray(c[key], float) for key in ("x", "y", "px")}
        curves.append(DrawnCurve(**{**c, **arrays, "color": tuple(c["color"])}))
    right = plain["right_axis"]
    return DrawnPlot(
        Box(*plain["box"]),
        _axis(plain["x_axis"]),
        _axis(plain["y_axis"]),
        tuple(curves),
        None if right is None else _axis(right),
        plain["inset"],
    )


def _axis(plain: dict[str, Any]) -> Axis:
    return Axis(**{**plain, "ticks": tuple(Tick(**tick) for tick in plain["ticks"])})
