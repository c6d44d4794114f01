"""Figures in random hard styles, drawn from real curves, with the truth about every curve."""

from probatum.charts.drawing.drawn import Drawn, DrawnCurve, DrawnPlot, load_drawn
from probatum.charts.drawing.figures import RENDERERS, draw
from probatum.charts.drawing.planning import STRATA
from probatum.charts.drawing.unreadable import UNREADABLE, draw_unreadable

__all__ = [
    "RENDERERS",
    "STRATA",
    "UNREADABLE",
    "Drawn",
    "DrawnCurve",
    "DrawnPlot",
    "draw",
    "draw_unreadable",
    "load_drawn",
]
