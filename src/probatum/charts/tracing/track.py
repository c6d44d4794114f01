"""What tracing is told and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Box

__all__ = ["Color", "Kind", "Mode", "TextBox", "TraceOptions", "Track"]

Kind = Literal["function", "loop", "markers"]
Mode = Literal["auto", "function", "loop", "markers"]
Color = tuple[int, int, int]


@dataclass(frozen=True)
class TextBox:
    """Text within a plot, and its rectangle in the pixels of the image."""

    box: Box
    text: str = ""


@dataclass(frozen=True)
class TraceOptions:
    """Parts of tracing that can be left out, to measure what they are worth.

    Attributes
    ----------
    joint : bool
        Trace all curves of one colour together; otherwise one run per column is followed.
    prediction : bool
        Judge crossings by the slopes on both sides; otherwise by the nearest row.
    weighting : bool
        Weigh pixels by their coverage; otherwise each counts alike.
    """

    joint: bool = True
    prediction: bool = True
    weighting: bool = True


@dataclass(frozen=True)
class Track:
    """One curve in pixels.

    Attributes
    ----------
    px : ndarray of shape (n, 2)
        Column and row of each point: one or more per column from left to right, in the order of
        a path, or separate points.
    color : tuple of int
        Red, green, blue.
    kind : {"function", "loop", "markers"}
    support : float
        Share of its columns in which there is ink of its own.
    ambiguity : float
        How close the second-best reading of its crossings comes to the one taken, 0 to 1.
    closed : bool
        Whether the path ends where it starts.
    name : str
        Its entry in the legend, if one was found.
    stroke : float
        Thickness of the line in pixels.
    """

    px: NDArray[np.float64]
    color: Color = (0, 0, 0)
    kind: Kind = "function"
    support: float = 1.0
    ambiguity: float = 0.0
    closed: bool = False
    name: str = ""
    stroke: float = 1.0
