"""Random looks: fonts, colours, spines, grids, sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["DASHES", "MARKERS", "PALETTES", "Look", "Stroke", "look", "palette", "stroke"]

PALETTES = {
    "tab10": ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b"),
    "set1": ("#e41a1c", "#377eb8", "#4daf4a", "#984ea3", "#ff7f00", "#a65628"),
    "dark2": ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02"),
    "origin": ("#000000", "#ff0000", "#0000ff", "#009f9f", "#ff00ff", "#808000"),
    "matlab": ("#0072bd", "#d95319", "#edb120", "#7e2f8e", "#77ac30", "#4dbeee"),
    "plotly": ("#636efa", "#ef553b", "#00cc96", "#ab63fa", "#ffa15a", "#19d3f3"),
    "gnuplot": ("#9400d3", "#009e73", "#56b4e9", "#e69f00", "#f0e442", "#0072b2"),
    "okabe": ("#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00"),
    "greys": ("#000000", "#404040", "#6a6a6a", "#8c8c8c", "#a6a6a6", "#555555"),
    "viridis": ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#bddf26"),
    "reds": ("#67000d", "#a50f15", "#cb181d", "#ef3b2c", "#fb6a4a", "#fc9272"),
    "blues": ("#08306b", "#08519c", "#2171b5", "#4292c6", "#6baed6", "#9ecae1"),
}
LIGHT = ("#8dd3c7", "#feffb3", "#bfbbd9", "#fa8174", "#81b1d2", "#fdb462")
ALONE = ("#000000", "#000000", "#1f77b4", "#d62728", "#08306b", "#2ca02c", "#444444", "#6a3d9a")
ALONE_LIGHT = ("#ffffff", "#8dd3c7", "#feffb3", "#fa8174", "#81b1d2")
DASHES = ("dashed", "dotted", "dashdot")
MARKERS = ("o", "s", "^", "D", "v", "x", "+", "*")
# matplotlib brings DejaVu and STIX; where Liberation is missing, DejaVu takes its place.
SANS = ("DejaVu Sans", "Liberation Sans", "Liberation Sans", "Liberation Sans Narrow")
SERIF = ("DejaVu Serif", "Liberation Serif", "STIXGeneral")
# Page, paper of the plot, ink, gridlines.
LIGHT_THEMES = (
    ("#ffffff", "#ffffff", "#000000", "#c8c8c8"),
    ("#ffffff", "#ffffff", "#000000", "#b0b0b0"),
    ("#ffffff", "#ffffff", "#262626", "#d9d9d9"),
    ("#ffffff", "#ebebeb", "#333333", "#ffffff"),
    ("#ffffff", "#eaeaf2", "#262626", "#ffffff"),
    ("#ffffff", "#e5ecf6", "#2a3f5f", "#ffffff"),
    ("#f7f5ee", "#fdfcf7", "#222222", "#d5d0c0"),
)
DARK_THEMES = (
    ("#000000", "#000000", "#ffffff", "#555555"),
    ("#111111", "#1a1a1a", "#dddddd", "#444444"),
    ("#0d1b2a", "#0d1b2a", "#e0e1dd", "#415a77"),
    ("#2e3440", "#3b4252", "#eceff4", "#4c566a"),
)


@dataclass(frozen=True)
class Look:
    """What all plots of a figure share; sizes in points.

    `spines` is "frame" (four sides), "L" (left and bottom) or "no top", `grid` "none", "major" or
    "both", `numbers` how large ones are written.
    """

    page: str
    paper: str
    ink: str
    grid_color: str
    font: str
    font_pt: float
    spines: str
    spine_pt: float
    ticks: str
    tick_pt: float
    all_sides: bool
    minor_ticks: bool
    grid: str
    grid_dash: str
    dark: bool
    numbers: str


@dataclass(frozen=True)
class Stroke:
    """How a curve is drawn; sizes in points."""

    color: str
    dash: str = "solid"
    width: float = 1.0
    marker: str = ""
    filled: bool = True
    every: int = 1
    marker_size: float = 4.0
    alpha: float = 1.0


def look(rng: np.random.Generator, *, dark: bool, plain: bool, font_pt: float) -> Look:
    """A random look; a `plain` one has a white page and neither grid nor odd spines."""
    themes = DARK_THEMES if dark else LIGHT_THEMES[:3] if plain else LIGHT_THEMES
    page, paper, ink, grid_color = themes[int(rng.integers(len(themes)))]
    # Without spines a coloured paper is all that shows where the plot ends.
    spines = str(rng.choice(["frame", "L", "no top"], p=[0.7, 0.2, 0.1]))
    fonts = SANS if rng.random() < 0.65 else SERIF
    bare = rng.random() < 0.5
    return Look(
        page,
        paper,
        ink,
        grid_color,
        str(rng.choice(fonts)),
        font_pt,
        "frame" if plain else spines,
        float(rng.choice([0.5, 0.8, 1.0, 1.5, 2.0])),
        str(rng.choice(["out", "in", "inout"], p=[0.5, 0.4, 0.1])),
        float(rng.uniform(2.5, 5.0)),
        bool(rng.random() < 0.25),
        bool(rng.random() < 0.35),
        "none"
        if plain or (bare and paper == page)
        else str(rng.choice(["major", "both"], p=[0.8, 0.2])),
        str(rng.choice(["solid", "dotted", "dashed"], p=[0.6, 0.2, 0.2])),
        dark,
        str(rng.choice(["plain", "power", "e", "SI"], p=[0.3, 0.3, 0.2, 0.2])),
    )


def palette(rng: np.random.Generator, n: int, *, dark: bool) -> tuple[str, list[str]]:
    """A palette's name and `n` of its colours."""
    if dark:
        colors = LIGHT
        name = "light"
    else:
        name = str(rng.choice(list(PALETTES)))
        colors = PALETTES[name]
    if name in ("viridis", "greys", "reds", "blues") and n > 1:
        picks = np.round(np.linspace(0, len(colors) - 1, n)).astype(int)
        return name, [colors[i] for i in picks]
    return name, [colors[i % len(colors)] for i in range(n)]


def stroke(
    rng: np.random.Generator, color: str, n_points: int, *, dashed: bool, marked: bool
) -> Stroke:
    """A random way to draw a curve of a colour."""
    every = max(1, int(n_points / rng.uniform(12, 40))) if marked else 1
    return Stroke(
        color,
        str(rng.choice(DASHES)) if dashed else "solid",
        round(float(rng.uniform(0.6, 2.5)), 2),
        str(rng.choice(MARKERS)) if marked else "",
        bool(rng.random() < 0.5),
        every,
        round(float(rng.uniform(3.0, 7.0)), 1),
    )
