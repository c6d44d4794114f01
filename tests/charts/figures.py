"""Figures to read, drawn by the tests themselves: what is on them is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

X = np.linspace(0.0, 10.0, 400)


def drawn(
    put: Callable[[Any], None], *, dpi: int = 100, size: tuple[float, float] = (6.4, 4.8), **rc: Any
) -> NDArray[np.uint8]:
    """The image of one plot that a function fills."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({key.replace("__", "."): value for key, value in rc.items()}):
        figure = Figure(figsize=size, dpi=dpi)
        canvas = FigureCanvasAgg(figure)
        put(figure.add_subplot())
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()
