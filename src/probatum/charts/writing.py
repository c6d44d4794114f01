"""Files of what was read: CSV, calibration, a picture and a page to check it by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probatum.charts.plot_data import PlotData, described
from probatum.files import whole_file

__all__ = ["calibration_facts", "save"]


def calibration_facts(plot: PlotData) -> dict[str, Any]:
    """Axes, box, warnings and curves of a plot as plain values."""
    return {
        "box": vars(plot.box),
        "calibrated": plot.calibrated,
        "x": described(plot.x_axis),
        "y": described(plot.y_axis),
        "right": described(plot.right_axis) if plot.right_axis is not None else None,
        "turned_degrees": plot.angle,
        "warnings": list(plot.warnings),
        "curves": [
            {
                "name": curve.name,
                "kind": curve.kind,
                "axis": curve.axis,
                "color": "#{:02x}{:02x}{:02x}".format(*curve.color),
                "points": len(curve.x),
                "confidence": round(curve.confidence, 4),
            }
            for curve in plot.curves
        ],
    }


def save(plots: Sequence[PlotData], folder: str | Path, name: str) -> list[Path]:
    """Write what was read from a figure.

    Parameters
    ----------
    plots : sequence of PlotData
        Those of one figure.
    folder : path
        Made if it is not there.
    name : str
        Of the figure, without an ending.

    Returns
    -------
    list of Path
        Per plot ``NAME.csv`` and ``NAME.overlay.png`` (``NAME-1`` and so on where there are
        several), and for the figure ``NAME.calibration.json`` and ``NAME.html``.

    Raises
    ------
    ValueError
        If there is no plot, one has no image, or the name is that of a folder; nothing is
        written then.
    OSError
        If a file cannot be written. None is there in part: each is the old one or the new one.
    """
    from PIL import Image

    from probatum.charts.page import correction_page, overlay

    if not plots:
        raise ValueError("there is no plot to write")
    if name in ("", ".", "..") or any(sign in name for sign in "/\\\0"):
        raise ValueError(f"the name of a figure is that of a file without its folder, got {name!r}")
    # All of what can fail for its content is made before anything is written.
    facts = {"figure": name, "plots": [calibration_facts(plot) for plot in plots]}
    calibration = json.dumps(facts, indent=1, allow_nan=False) + "\n"
    page = correction_page(plots, name)
    to = Path(folder)
    to.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for i, plot in enumerate(plots, 1):
        own = name if len(plots) == 1 else f"{name}-{i}"
        with whole_file(to / f"{own}.csv") as draft:
            plot.to_frame().to_csv(draft, index=False, float_format="%.10g")
        written.append(to / f"{own}.csv")
        with whole_file(to / f"{own}.overlay.png") as draft:
            Image.fromarray(overlay(plot)).save(draft, "PNG")
        written.append(to / f"{own}.overlay.png")
    for file, text in ((f"{name}.calibration.json", calibration), (f"{name}.html", page)):
        with whole_file(to / file) as draft:
            draft.write_text(text, encoding="utf-8", newline="")
        written.append(to / file)
    return written
