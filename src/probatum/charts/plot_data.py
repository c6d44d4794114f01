"""What is read out of a plot: axes, curves, and how sure each of them is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Axis",
    "Box",
    "CalibrationError",
    "Curve",
    "NoPlotFoundError",
    "OCRUnavailableError",
    "PlotData",
    "Tick",
]

Floats = NDArray[np.float64]
Kind = Literal["function", "loop", "markers"]


class NoPlotFoundError(ValueError):
    """There is no plot in the image, or none that can be told from the rest of it."""


class CalibrationError(ValueError):
    """Too few tick labels could be read to say what the axes measure."""


class OCRUnavailableError(ImportError):
    """What reads tick labels is not installed."""

    remedy = "pip install 'probatum[charts]'"


@dataclass(frozen=True)
class Box:
    """A rectangle of an image in pixels; the centre of the first pixel is (0.5, 0.5).

    For a plot its sides are the centres of the spines.
    """

    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        if not (self.left < self.right and self.top < self.bottom):
            raise ValueError(
                f"a box needs left < right and top < bottom, got {self.left:g}, {self.top:g}, "
                f"{self.right:g}, {self.bottom:g}"
            )

    @property
    def width(self) -> float:
        """In pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """In pixels."""
        return self.bottom - self.top


@dataclass(frozen=True)
class Tick:
    """A tick label that was read.

    Attributes
    ----------
    px : float
        Where it stands along its axis.
    value : float
        What the fit says there; what was read agrees with it or was corrected to it.
    text : str
        As it was read.
    inlier : bool
        Whether the calibration rests on it.
    """

    px: float
    value: float
    text: str = ""
    inlier: bool = True


@dataclass(frozen=True)
class Axis:
    """How pixels along one side of a plot are read as values.

    Attributes
    ----------
    scale : {"linear", "log"}
    slope, intercept : float
        value = slope * px + intercept; on a log axis the same gives log10(value).
    label, unit : str
    residual_px : float
        Largest distance of a label from the place where the fit has it.
    ticks : tuple of Tick
    calibrated : bool
        False if values are pixels, as no scale could be read with certainty.
    sure : float
        Share of the labels found that the fit explains.
    """

    scale: Literal["linear", "log"] = "linear"
    slope: float = 1.0
    intercept: float = 0.0
    label: str = ""
    unit: str = ""
    residual_px: float = 0.0
    ticks: tuple[Tick, ...] = ()
    calibrated: bool = True
    sure: float = 1.0

    def __post_init__(self) -> None:
        if self.scale not in ("linear", "log"):
            raise ValueError(f"scale must be 'linear' or 'log', got {self.scale!r}")
        if not math.isfinite(self.slope) or self.slope == 0 or not math.isfinite(self.intercept):
            raise ValueError(
                f"an axis needs a finite slope other than 0 and a finite intercept, got "
                f"{self.slope} and {self.intercept}"
            )

    def value(self, px: ArrayLike) -> Floats:
        """Values at pixel coordinates along the axis.

        Examples
        --------
        >>> Axis("log", slope=0.01, intercept=-1.0).value([100.0, 300.0])
        array([  1., 100.])
        """
        along = self.slope * np.asarray(px, float) + self.intercept
        return np.asarray(10.0**along if self.scale == "log" else along)

    def px(self, value: ArrayLike) -> Floats:
        """Pixel coordinates of values; NaN where a log axis has no place for them.

        Examples
        --------
        >>> Axis(slope=0.5, intercept=-10.0).px([0.0, 5.0])
        array([20., 30.])
        """
        along = np.asarray(value, float)
        if self.scale == "log":
            with np.errstate(divide="ignore", invalid="ignore"):
                along = np.where(along > 0, np.log10(along), np.nan)
        return np.asarray((along - self.intercept) / self.slope)


@dataclass(frozen=True)
class Curve:
    """One curve, in data coordinates and in pixels.

    Attributes
    ----------
    name : str
        Its entry in the legend, or ``curve 1`` and so on.
    x, y : ndarray of shape (n,)
        In the units of the axes.
    px : ndarray of shape (n, 2)
        Column and row of each point.
    color : tuple of int
        Red, green, blue; 0 to 255.
    kind : {"function", "loop", "markers"}
        One point per column from left to right, a path in its own order, or separate points.
    confidence : float
        The smallest of: share of tick labels that the calibration explains, share of the columns
        in which there is ink, and certainty at crossings.
    axis : {"left", "right"}
        Whose values ``y`` are.
    """

    name: str
    x: Floats
    y: Floats
    px: Floats
    color: tuple[int, int, int] = (0, 0, 0)
    kind: Kind = "function"
    confidence: float = 1.0
    axis: Literal["left", "right"] = "left"


@dataclass(frozen=True)
class PlotData:
    """What :func:`~probatum.charts.extract` reads out of one plot.

    Attributes
    ----------
    curves : tuple of Curve
    x_axis, y_axis : Axis
    box : Box
        Where the plot lies in the image.
    right_axis : Axis, optional
        A second y axis.
    warnings : tuple of str
        What to look at before the numbers are used.
    angle : float
        Degrees by which the image was turned counter-clockwise to make it upright.
    image : ndarray of shape (height, width, 3), dtype uint8
        What was read, upright; pixel coordinates are those of this image.
    """

    curves: tuple[Curve, ...]
    x_axis: Axis
    y_axis: Axis
    box: Box
    right_axis: Axis | None = None
    warnings: tuple[str, ...] = ()
    angle: float = 0.0
    image: NDArray[np.uint8] | None = field(default=None, repr=False, compare=False)

    @property
    def calibrated(self) -> bool:
        """Whether all values are those of the axes, and none are pixels."""
        axes = (self.x_axis, self.y_axis, self.right_axis)
        return all(axis.calibrated for axis in axes if axis is not None)

    def before_turning(self, px: ArrayLike) -> Floats:
        """Points of :attr:`image`, shape (n, 2), in the pixels of the image that was given."""
        points = np.asarray(px, float)
        if not self.angle or self.image is None:
            return points
        theta = np.deg2rad(self.angle)
        turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
        centre = np.array([self.image.shape[1] / 2, self.image.shape[0] / 2])
        return np.asarray((points - centre) @ turn.T + centre)

    def axis_of(self, curve: Curve) -> Axis:
        """The y axis of a curve."""
        return self.right_axis if curve.axis == "right" and self.right_axis else self.y_axis

    def to_frame(self) -> pd.DataFrame:
        """One line per point: ``curve``, ``x``, ``y``, ``column``, ``row``."""
        import pandas as pd

        columns = ["curve", "x", "y", "column", "row"]
        parts = [
            pd.DataFrame(
                {"curve": c.name, "x": c.x, "y": c.y, "column": c.px[:, 0], "row": c.px[:, 1]}
            )
            for c in self.curves
        ]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def described(axis: Axis) -> dict[str, Any]:
    """An axis as plain values, for JSON."""
    return {
        "scale": axis.scale,
        "slope": axis.slope,
        "intercept": axis.intercept,
        "label": axis.label,
        "unit": axis.unit,
        "calibrated": axis.calibrated,
        "residual_px": axis.residual_px,
        "sure": axis.sure,
        "ticks": [
            {"px": t.px, "value": t.value, "text": t.text, "inlier": t.inlier} for t in axis.ticks
        ],
    }


def named(names: Sequence[str]) -> list[str]:
    """Names without repetition: the second ``a`` is ``a (2)``.

    Examples
    --------
    >>> named(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found
