"""What happens to a drawn image afterwards: blur, a crooked scan, JPEG; and to the truth."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from probatum.charts.drawing.drawn import DrawnPlot
from probatum.charts.drawing.plan import Damage
from probatum.charts.plot_data import Axis, Box, Floats

__all__ = ["damaged"]


def damaged(
    rng: np.random.Generator,
    image: NDArray[np.uint8],
    plots: tuple[DrawnPlot, ...],
    damage: Damage,
    page: str,
) -> tuple[NDArray[np.uint8], tuple[DrawnPlot, ...], bytes | None]:
    """The image after it, where its plots lie then, and the JPEG file if it is one.

    After a rotation a box is that of the middles of its sides.
    """
    from PIL import Image, ImageFilter

    picture = Image.fromarray(image)
    if damage.angle:
        from PIL.Image import Resampling

        picture = picture.rotate(damage.angle, Resampling.BICUBIC, fillcolor=page)
        centre = np.array([image.shape[1] / 2, image.shape[0] / 2])
        plots = tuple(_turned(plot, damage.angle, centre) for plot in plots)
    if damage.blur:
        picture = picture.filter(ImageFilter.GaussianBlur(damage.blur))
    if damage.noise:
        noisy = np.asarray(picture, float)
        noisy = noisy * 0.97 + rng.normal(0, damage.noise, noisy.shape[:2])[..., None]
        picture = Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
    if damage.jpeg is None:
        return np.asarray(picture), plots, None
    held = io.BytesIO()
    picture.save(held, "JPEG", quality=damage.jpeg)
    data = held.getvalue()
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")), plots, data


def _turned(plot: DrawnPlot, angle: float, centre: Floats) -> DrawnPlot:
    turn = np.radians(angle)
    # Rows grow downwards, so that a turn to the left takes a column to a smaller row.
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])

    def moved(px: Floats) -> Floats:
        return np.asarray((px - centre) @ matrix.T + centre)

    box = plot.box
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    ends = moved(
        np.array(
            [
                (box.left, middle[1]),
                (middle[0], box.top),
                (box.right, middle[1]),
                (middle[0], box.bottom),
            ]
        )
    )
    turned = Box(ends[0, 0], ends[1, 1], ends[2, 0], ends[3, 1])
    curves = tuple(replace(curve, px=moved(curve.px)) for curve in plot.curves)
    right = plot.right_axis
    rows = (box.bottom, box.top), (turned.bottom, turned.top)
    return replace(
        plot,
        box=turned,
        x_axis=_moved(plot.x_axis, (box.left, box.right), (turned.left, turned.right)),
        y_axis=_moved(plot.y_axis, *rows),
        right_axis=None if right is None else _moved(right, *rows),
        curves=curves,
    )


def _moved(axis: Axis, old: tuple[float, float], new: tuple[float, float]) -> Axis:
    """With the values at two old pixel coordinates at two new ones."""
    stretch = (old[1] - old[0]) / (new[1] - new[0])
    slope = axis.slope * stretch
    intercept = axis.intercept + axis.slope * old[0] - slope * new[0]
    ticks = tuple(replace(t, px=new[0] + (t.px - old[0]) / stretch) for t in axis.ticks)
    return replace(axis, slope=slope, intercept=intercept, ticks=ticks)
