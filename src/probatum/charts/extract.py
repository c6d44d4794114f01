"""From an image of a plot to its numbers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from probatum.charts.plot_data import (
    Axis,
    Box,
    Curve,
    NoPlotFoundError,
    PlotData,
    named,
)

if TYPE_CHECKING:
    from probatum.charts.reading.axes import Axes
    from probatum.charts.reading.frames import Frame
    from probatum.charts.reading.inside import Text
    from probatum.charts.reading.sheet import Floats, ImageLike, Sheet
    from probatum.charts.tracing import TraceOptions, Track

__all__ = ["extract", "extract_all"]

Mode = Literal["auto", "function", "loop", "markers"]
Side = Literal["left", "right"]

MOST_CURVES = 40
_TILTED = 0.04
_ALIGNED = 3.0
# Where fewer of the labels agree, lines from side to side may part panels.
_WHOLE = 0.8


@dataclass(frozen=True)
class _Asked:
    mode: Mode
    ocr: bool
    n_curves: int | None
    calibration: Mapping[str, Axis] | None
    options: TraceOptions | None
    paths: Sequence[Any] = ()


def extract(
    image: ImageLike,
    *,
    box: Box | Sequence[float] | None = None,
    calibration: Mapping[str, Axis] | None = None,
    mode: Mode = "auto",
    ocr: Literal["auto", "off"] = "auto",
    n_curves: int | None = None,
    options: TraceOptions | None = None,
) -> PlotData:
    """Read the curves of the largest plot in an image.

    Parameters
    ----------
    image : str, path, ndarray or PIL.Image.Image
        A file, or values of uint8 with the shape (height, width) or (height, width, 3).
    box : Box or sequence of four floats, optional
        Left, top, right and bottom of the plot in pixels, instead of looking for it.
    calibration : mapping, optional
        Axes under ``x``, ``y`` and, for a second y axis, ``right``, instead of reading labels.
    mode : {"auto", "function", "loop", "markers"}
        What the curves are.
    ocr : {"auto", "off"}
        Whether tick labels are read.
    n_curves : int, optional
        Number of curves, where it is known.
    options : TraceOptions, optional

    Returns
    -------
    PlotData
        An axis without certain scale is in pixels, with ``calibrated=False`` and a warning.

    Raises
    ------
    NoPlotFoundError
        If there is no plot.
    OCRUnavailableError
        If labels must be read, and what reads them is not installed.
    ValueError, FileNotFoundError
        If the image can't be read.
    """
    asked = _asked(mode, ocr, n_curves, calibration, options)
    if _pdf(image) is not None:
        if box is not None:
            raise ValueError("a box is one of an image, not of a PDF's pages")
        plots = extract_all(image, mode=mode, ocr=ocr, options=options)
        return max(plots, key=lambda plot: plot.box.width * plot.box.height)
    return _plots(image, _box(box), asked, most=1)[0]


def extract_all(
    image: ImageLike,
    *,
    mode: Mode = "auto",
    ocr: Literal["auto", "off"] = "auto",
    options: TraceOptions | None = None,
) -> list[PlotData]:
    """Read all plots in an image or a PDF, in reading order; see :func:`extract`.

    In a PDF whose plots are paths, the curves are those paths, not what they look like. Pages
    without a plot are passed over.
    """
    asked = _asked(mode, ocr, None, None, options)
    file = _pdf(image)
    if file is None:
        return _plots(image, None, asked, most=None)
    from probatum.charts.pdf import pages

    found: list[PlotData] = []
    for page in pages(file):
        try:
            found += _plots(page.image, None, replace(asked, paths=page.paths), most=None)
        except NoPlotFoundError:
            continue
    if not found:
        raise NoPlotFoundError("no page of it has a plot")
    return found


def _pdf(image: ImageLike) -> Path | None:
    """The file, if it is a PDF."""
    if isinstance(image, str | os.PathLike) and Path(image).suffix.lower() == ".pdf":
        return Path(image)
    return None


def _asked(
    mode: Mode,
    ocr: str,
    n_curves: int | None,
    calibration: Mapping[str, Axis] | None,
    options: TraceOptions | None,
) -> _Asked:
    if mode not in ("auto", "function", "loop", "markers"):
        raise ValueError(f"mode is 'auto', 'function', 'loop' or 'markers', got {mode!r}")
    if ocr not in ("auto", "off"):
        raise ValueError(f"ocr is 'auto' or 'off', got {ocr!r}")
    if n_curves is not None and not 1 <= n_curves <= MOST_CURVES:
        raise ValueError(f"n_curves lies between 1 and {MOST_CURVES}, got {n_curves}")
    for name in calibration or {}:
        if name not in ("x", "y", "right"):
            raise ValueError(f"a calibration has axes x, y and right, got {name!r}")
    return _Asked(mode, ocr == "auto", n_curves, calibration, options)


def _box(box: Box | Sequence[float] | None) -> Box | None:
    if box is None or isinstance(box, Box):
        return box
    if len(box) != 4:
        raise ValueError(f"a box is left, top, right and bottom, got {len(box)} numbers")
    return Box(*(float(side) for side in box))


def _plots(image: ImageLike, box: Box | None, asked: _Asked, most: int | None) -> list[PlotData]:
    from probatum.charts.reading.axes import Axes
    from probatum.charts.reading.frames import Frame, find_frames, skew, tilt
    from probatum.charts.reading.sheet import ink, load, turned

    sheet = load(image)
    frames: list[Frame]
    if box is not None:
        frames = [Frame(_scaled(box, sheet), 2.0 * sheet.scale, frozenset({"left", "bottom"}))]
    else:
        frames = find_frames(sheet)
        angle = tilt(sheet, frames[0]) if frames else skew(sheet)
        if abs(angle) > _TILTED:
            straight = turned(sheet, angle)
            found = find_frames(straight)
            if found:
                sheet, frames = straight, found
    if not frames:
        raise NoPlotFoundError(
            "no plot was found: no spines, gridlines or ground that make a rectangle; give its box"
        )
    dark = ink(sheet.rgb, sheet.background)
    wanted = frames[:most]
    if asked.ocr and not {"x", "y"} <= set(asked.calibration or {}):
        read = _with_axes(sheet, dark, wanted, [frame.box for frame in frames])
    else:
        read = [(frame, Axes(None, None, None, 0.0, {})) for frame in wanted]
    plots = [_plot(sheet, dark, frame, axes, asked) for frame, axes in read[:most]]
    return _in_order(plots) if most is None else plots


def _scaled(box: Box, sheet: Sheet) -> Box:
    height, width = (side / sheet.scale for side in sheet.rgb.shape[:2])
    if not (box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height):
        raise ValueError(
            f"the box {box.left:g}, {box.top:g}, {box.right:g}, {box.bottom:g} does not lie in "
            f"the image of {width:g} by {height:g} pixels"
        )
    return Box(*(side * sheet.scale for side in (box.left, box.top, box.right, box.bottom)))


def _with_axes(
    sheet: Sheet, dark: Floats, frames: Sequence[Frame], boxes: Sequence[Box]
) -> list[tuple[Frame, Axes]]:
    """Frames with what was read beside them; one that several panels share is parted."""
    from probatum.charts.reading.axes import read_axes_closely

    def read(frame: Frame, others: Sequence[Box]) -> tuple[Frame, Axes]:
        return frame, read_axes_closely(sheet, dark, frame, others)

    found: list[tuple[Frame, Axes]] = []
    for frame in frames:
        others = [box for box in boxes if box is not frame.box]
        whole = read(frame, others)
        y = whole[1].y
        if (y is None or y.sure < _WHOLE) and (frame.across or frame.down):
            parts = frame.split()
            panels = [
                read(part, [*others, *(p.box for p in parts if p is not part)]) for part in parts
            ]
            known = sum(_agreeing(axes.y) for _, axes in panels)
            if known > _agreeing(y):
                found += panels
                continue
        found.append(whole)
    return _sharing(found)


def _agreeing(axis: Axis | None) -> int:
    """Labels that a calibration rests on."""
    return sum(tick.inlier for tick in axis.ticks) if axis is not None else 0


def _sharing(read: Sequence[tuple[Frame, Axes]]) -> list[tuple[Frame, Axes]]:
    """Panels above each other, of which the lowest alone has the labels of their x axis."""
    found = list(read)
    for i, (frame, axes) in enumerate(found):
        if axes.x is not None:
            continue
        below = [
            (other.box.top, theirs.x)
            for other, theirs in read
            if theirs.x is not None
            and other.box.top > frame.box.top
            and abs(other.box.left - frame.box.left) < _ALIGNED
            and abs(other.box.right - frame.box.right) < _ALIGNED
        ]
        if below:
            found[i] = frame, replace(axes, x=min(below, key=lambda one: one[0])[1])
    return found


def _plot(sheet: Sheet, dark: Floats, frame: Frame, axes: Axes, asked: _Asked) -> PlotData:
    from probatum.charts.reading.inside import texts_in

    texts = texts_in(dark, frame, axes.height) if asked.ocr else []
    tracks = _drawn(sheet, frame, asked) or _traced(sheet, frame, texts, asked)
    given = asked.calibration or {}
    warnings: list[str] = []
    x = _axis("x", given, axes.x, axes.found.get("bottom", 0), sheet.scale, warnings)
    y = _axis("y", given, axes.y, axes.found.get("left", 0), sheet.scale, warnings)
    right = _right(given, axes, sheet)
    if right is not None:
        warnings.append("there are two y axes: Curve.axis says on which one a curve was read")
    sure = min(axis.sure if axis.calibrated else 0.0 for axis in (x, y))
    names = named([track.name or f"curve {i}" for i, track in enumerate(tracks, 1)])
    curves = []
    for track, name in zip(tracks, names, strict=True):
        side: Side = "right" if right is not None and _is_of(track, axes) else "left"
        y_of = right if side == "right" and right is not None else y
        curves.append(_curve(track, name, x, y_of, sure, sheet.scale, side))
    if not curves:
        warnings.append("no curve was found in the plot")
    box = Box(*(side / sheet.scale for side in astuple(frame.box)))
    return PlotData(tuple(curves), x, y, box, right, tuple(warnings), sheet.angle, sheet.original)


def _drawn(sheet: Sheet, frame: Frame, asked: _Asked) -> Sequence[Track]:
    """The curves of a page's own paths."""
    if not asked.paths or sheet.angle or sheet.scale != 1.0:
        return ()
    from probatum.charts.pdf import vector_tracks

    return vector_tracks(asked.paths, frame.box)


def _traced(sheet: Sheet, frame: Frame, texts: Sequence[Text], asked: _Asked) -> Sequence[Track]:
    from probatum.charts.tracing import TextBox, TraceOptions, trace

    return trace(
        sheet.rgb,
        frame.box,
        text=[TextBox(text.box, text.text) for text in texts],
        exclude=frame.inside,
        mode=asked.mode,
        n_curves=asked.n_curves,
        options=asked.options or TraceOptions(),
    )


def _curve(
    track: Track, name: str, x: Axis, y: Axis, sure: float, scale: float, side: Side
) -> Curve:
    px = np.asarray(track.px, float) / scale
    confidence = min(sure, track.support, 1.0 - track.ambiguity)
    return Curve(
        name,
        x.value(px[:, 0]),
        y.value(px[:, 1]),
        px,
        track.color,
        track.kind,
        float(np.clip(confidence, 0.0, 1.0)),
        side,
    )


def _axis(
    name: str,
    given: Mapping[str, Axis],
    read: Axis | None,
    found: int,
    scale: float,
    warnings: list[str],
) -> Axis:
    """The axis given, or read, or one in pixels."""
    if name in given:
        return given[name]
    if read is not None:
        return _unscaled(read, scale)
    why = f"{found} labels were seen beside it" if found else "no label was seen beside it"
    option = "--x" if name == "x" else "--y"
    warnings.append(
        f"the {name} axis could not be calibrated ({why}): its values are pixels; give two of its "
        f"values ({option})"
    )
    return Axis(calibrated=False, sure=0.0)


def _unscaled(axis: Axis, scale: float) -> Axis:
    """An axis of the enlarged image as one of the original."""
    ticks = tuple(replace(tick, px=tick.px / scale) for tick in axis.ticks)
    return replace(
        axis, slope=axis.slope * scale, residual_px=axis.residual_px / scale, ticks=ticks
    )


def _right(given: Mapping[str, Axis], axes: Axes, sheet: Sheet) -> Axis | None:
    if "right" in given:
        return given["right"]
    return None if axes.right is None else _unscaled(axes.right, sheet.scale)


def _is_of(track: Track, axes: Axes) -> bool:
    """Whether a curve has the colour of the right axis, if that has one of its own."""
    own, other = axes.colors.get("right"), axes.colors.get("left")
    if own is None or max(own) - min(own) < 40:
        return False
    to_own = sum(abs(a - b) for a, b in zip(own, track.color, strict=True))
    if other is None:
        return to_own < 120
    return to_own < min(120, sum(abs(a - b) for a, b in zip(other, track.color, strict=True)))


def _in_order(plots: Sequence[PlotData]) -> list[PlotData]:
    """From the top down, and from left to right where they stand beside each other."""
    left = sorted(plots, key=lambda plot: plot.box.top)
    found: list[PlotData] = []
    while left:
        first = left[0]
        row = [p for p in left if p.box.top < (first.box.top + first.box.bottom) / 2]
        found += sorted(row, key=lambda plot: plot.box.left)
        left = [p for p in left if not any(p is one for one in row)]
    return found
