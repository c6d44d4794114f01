"""Random figures with known content."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from typing import Literal

import numpy as np

from probatum.charts.drawing.damage import damaged
from probatum.charts.drawing.drawn import Drawn
from probatum.charts.drawing.planning import plan_figure

__all__ = ["RENDERERS", "draw"]

RENDERERS = ("matplotlib", "gnuplot", "plotly")


def draw(
    seed: int | np.random.Generator,
    *,
    stratum: str | None = None,
    renderer: Literal["matplotlib", "gnuplot", "plotly"] = "matplotlib",
) -> Drawn:
    """A figure in a random style, drawn from real curves and variants of them.

    Parameters
    ----------
    seed : int or Generator
        The same seed gives the same bytes, with the same versions of the renderer and its fonts.
    stratum : str, optional
        One of `STRATA`, what the figure must have; by default any, and in most of the figures
        curves of one colour cross.
    renderer : {"matplotlib", "gnuplot", "plotly"}

    Raises
    ------
    ValueError
        If there is no such stratum or renderer.
    DataNotFoundError
        If the real curves are not here.

    Examples
    --------
    >>> figure = draw(1, stratum="loops")  # doctest: +SKIP
    >>> figure.plots[0].curves[0].kind  # doctest: +SKIP
    'loop'
    """
    if renderer not in RENDERERS:
        raise ValueError(f"renderer must be one of {', '.join(RENDERERS)}, got {renderer!r}")
    rng = np.random.default_rng(seed)
    plan = plan_figure(rng, stratum)
    by = import_module(f"probatum.charts.drawing.by_{renderer}")
    image, plots = by.render(plan)
    image, plots, jpeg = damaged(rng, image, plots, plan.damage, plan.look.page)
    style = {
        "renderer": renderer,
        "strata": list(plan.strata),
        "asked": stratum,
        "dpi": plan.dpi,
        "look": asdict(plan.look),
        "damage": asdict(plan.damage),
        "sources": sorted({c.line.source for p in plan.panels for c in p.curves}),
        "legends": [p.legend for p in plan.panels],
    }
    return Drawn(image, plots, style, jpeg)
