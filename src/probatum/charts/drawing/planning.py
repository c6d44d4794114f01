"""Random plans of figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from probatum.charts.drawing.look import look
from probatum.charts.drawing.panels import inset_panel, random_panel
from probatum.charts.drawing.plan import Damage, Panel, Plan
from probatum.charts.plot_data import Box

__all__ = ["STRATA", "plan_figure"]

STRATA = (
    "easy",  # functions in solid lines on a plain page, a colour each
    "one colour",  # at least two curves of one colour that cross
    "dashes",  # dashed, dotted or both
    "markers",  # with lines or without
    "loops",  # voltammograms and Nyquist plots
    "log",  # one axis or both
    "twin",  # a second y axis
    "inset",  # a smaller plot within the plot
    "stack",  # curves moved apart, mostly without numbers on the y axis
    "dark",  # light curves on a dark page
    "jpeg",  # of quality 40 to 95
    "scan",  # turned by up to 0.7 degrees, blurred and noisy
    "panels",  # two to four plots
)
_STRUCTURES = ("twin", "inset", "stack", "panels", "loops", "log")
# Rows and columns of figures with several panels.
_LAYOUTS = ((1, 2), (1, 2), (2, 1), (2, 2), (1, 3))


def plan_figure(rng: np.random.Generator, stratum: str | None) -> Plan:
    """A random figure of a stratum, or of any.

    Without a stratum, three of five figures have curves of one colour that cross.
    """
    if stratum is None:
        rest = [s for s in STRATA if s != "one colour"]
        stratum = "one colour" if rng.random() < 0.45 else str(rng.choice(rest))
    elif stratum not in STRATA:
        raise ValueError(f"stratum must be one of {', '.join(STRATA)}, got {stratum!r}")
    traits = _traits(rng, stratum)
    plain = stratum == "easy"
    grid = _LAYOUTS[int(rng.integers(len(_LAYOUTS)))] if "panels" in traits else (1, 1)
    width, height, dpi, font_pt = _size(rng, grid)
    looks = look(rng, dark="dark" in traits, plain=plain, font_pt=font_pt)
    count = grid[0] * grid[1]
    panels = [random_panel(rng, traits - {"panels", "inset"}, looks, stratum) for _ in range(count)]
    if count > 1:
        panels = [
            replace(p, legend="upper right" if p.legend == "outside" else p.legend) for p in panels
        ]
    if "inset" in traits:
        panels = [inset_panel(rng, panels[0])]
    boxes = _boxes(rng, panels, grid, (width, height, looks.font_pt * dpi / 72))
    strata = (traits & {"dark", "panels", "inset"}).union(*(p.traits for p in panels))
    damage = _damage(rng, traits)
    strata |= {"jpeg"} if damage.jpeg is not None else set()
    strata |= {"scan"} if damage.angle else set()
    strata |= {"easy"} if plain else set()
    ordered = tuple(s for s in STRATA if s in strata)
    letters = count > 1 and bool(rng.random() < 0.8)
    return Plan(width, height, dpi, looks, tuple(panels), boxes, ordered, damage, letters)


def _traits(rng: np.random.Generator, stratum: str) -> frozenset[str]:
    """The stratum, and what else makes the figure hard."""
    if stratum == "easy":
        return frozenset({"easy"})
    found = {stratum}
    for other, chance in (("dashes", 0.15), ("markers", 0.15), ("dark", 0.08), ("jpeg", 0.3)):
        if rng.random() < chance:
            found.add(other)
    if rng.random() < 0.04:
        found.add("scan")
    if stratum not in _STRUCTURES and rng.random() < 0.3:
        others = [s for s in _STRUCTURES if s != "stack" or stratum != "one colour"]
        found.add(str(rng.choice(others)))
    if "stack" not in found and rng.random() < 0.35:
        found.add("one colour")
    return frozenset(found)


def _size(rng: np.random.Generator, grid: tuple[int, int]) -> tuple[int, int, int, float]:
    """Width and height in pixels, dots per inch, size of letters in points."""
    rows, columns = grid
    low = 500 if grid == (1, 1) else min(1400, 550 * columns)
    width = int(np.exp(rng.uniform(np.log(low), np.log(1800))))
    height = int(min(width / columns * rng.uniform(0.6, 0.9) * rows, 1900))
    inches = (max(3.2, width / 300), min(9.0, width / 80))
    dpi = int(np.clip(width / rng.uniform(*inches), 80, 300))
    most = min(width / columns / 26, height / rows / 15) * 72 / dpi
    font_pt = float(np.clip(rng.uniform(6.5, 13), 5.0, most))
    # Letters of less than 9 pixels are not to be read by anyone.
    return width, height, dpi, round(max(font_pt, 9.5 * 72 / dpi), 1)


def _damage(rng: np.random.Generator, traits: frozenset[str]) -> Damage:
    if "easy" in traits:
        return Damage()
    quality = int(rng.integers(40, 96)) if "jpeg" in traits else None
    if "scan" in traits:
        angle = float(rng.choice([-1, 1]) * rng.uniform(0.15, 0.7))
        return Damage(
            quality, float(rng.uniform(0.3, 0.9)), round(angle, 3), float(rng.uniform(2, 6))
        )
    return Damage(quality, float(rng.uniform(0.3, 0.8)) if rng.random() < 0.12 else 0.0)


def _boxes(
    rng: np.random.Generator,
    panels: list[Panel],
    grid: tuple[int, int],
    size: tuple[int, int, float],
) -> tuple[Box, ...]:
    """Where each panel lies; sides are pixel centres, as spines are drawn there."""
    width, height, em = size
    rows, columns = grid
    cell = width / columns, height / rows
    found = []
    for i, panel in enumerate(panels):
        left = (6.3 if panel.y_numbers else 2.6) * em * rng.uniform(1.0, 1.15)
        right = (6.3 if panel.right is not None else 1.6) * em
        right += 9.5 * em if panel.legend == "outside" else 0
        top = (2.6 if panel.title else 1.9 if panel.multiplier or len(panels) > 1 else 1.1) * em
        corner = (i % columns) * cell[0], (i // columns) * cell[1]
        sides = (
            corner[0] + left,
            corner[1] + top,
            corner[0] + cell[0] - right,
            corner[1] + cell[1] - 3.9 * em,
        )
        found.append(Box(*(float(np.floor(side)) + 0.5 for side in sides)))
    return tuple(found)
