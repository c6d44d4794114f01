"""The axes of a plot: labels beside its sides are read and matched to ticks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Axis, Box
from probatum.charts.reading.calibrate import Label, fit_axis, fit_two
from probatum.charts.reading.frames import Frame
from probatum.charts.reading.glyphs import (
    Glyph,
    Pieces,
    Word,
    bands,
    glyph_height,
    glyphs_in,
    rows_of,
    strip,
)
from probatum.charts.reading.numbers import Reading, multiplier, readings
from probatum.charts.reading.recogniser import Said, recognise
from probatum.charts.reading.sheet import Floats, Image, Sheet, enlarged, ink
from probatum.charts.reading.ticks import find_ticks

__all__ = ["Axes", "read_axes", "read_axes_closely"]

Side = Literal["left", "right", "bottom"]
Strip = NDArray[np.uint8]

_LEAST_SCORE = 0.35
# Labels alone, without ticks, stand this exactly.
_LOOSE = 2.6
# Characters lower than this are read again, unless the image is large.
_SMALL, _MOST_PIXELS = 15, 6_000_000
# A small v and a capital one look alike.
_UNITS = {unit.lower(): unit for unit in ("eV", "keV", "V", "mV", "Hz", "kHz", "mAh", "kV")}
_LETTERS = "VAKsmghWJNCFT"
_UNIT = re.compile(r"[(\[]([^()\[\]]{1,24})[)\]]\s*$|(?:/|,)\s*([^/,]{1,16})$")


@dataclass(frozen=True)
class _Found:
    """Words beside a side, with their glyphs, and the place of each along it."""

    pieces: Pieces
    words: list[Word]
    height: float
    places: list[float]


@dataclass(frozen=True)
class Axes:
    """What could be read of a plot's axes; None for what could not.

    ``height`` is that of the characters of its labels, ``found`` counts them by side, ``colors``
    are theirs.
    """

    x: Axis | None
    y: Axis | None
    right: Axis | None
    height: float
    found: dict[str, int]
    colors: dict[str, tuple[int, int, int]] = field(default_factory=dict)


def read_axes(rgb: Image, dark: Floats, frame: Frame, others: Sequence[Box] = ()) -> Axes:
    """Read the labels along the bottom, the left and the right of a plot.

    Parameters
    ----------
    rgb : ndarray of shape (height, width, 3)
    dark : ndarray of shape (height, width)
        Ink of the image.
    frame : Frame
    others : sequence of Box
        The other plots of the image, whose labels are none of this one's.

    Raises
    ------
    OCRUnavailableError
        If nothing can be read here.
    """
    sides: tuple[Side, ...] = ("bottom", "left", "right")
    found = {side: _beside(dark, frame, side, others) for side in sides}
    said = _read([found[side] for side in sides])
    axes = {side: _axis(dark, frame, side, found[side], said[i]) for i, side in enumerate(sides)}
    if axes["bottom"] is None and found["bottom"].words:
        # Labels may be set wide, as where a point was lost.
        wide = _beside(dark, frame, "bottom", others, gap=0.95)
        if len(wide.words) < len(found["bottom"].words):
            found["bottom"] = wide
            axes["bottom"] = _axis(dark, frame, "bottom", wide, _read([wide])[0])
    height = max(one.height for one in found.values())
    for side in sides[:2]:
        axes[side] = _titled(dark, frame, side, found[side], axes[side])
    counts = {str(side): len(found[side].words) for side in sides}
    colors = {str(side): _color(rgb, found[side]) for side in sides if found[side].words}
    return Axes(axes["bottom"], axes["left"], axes["right"], height, counts, colors)


def _color(rgb: Image, found: _Found) -> tuple[int, int, int]:
    """The colour of the darkest pixels of some labels."""
    pieces = found.pieces
    own = np.isin(pieces.labels, [g.id for word in found.words for g in word.glyphs])
    rows, columns = np.nonzero(own & (pieces.dark > 0.8 * pieces.dark[own].max()))
    r, g, b = np.median(rgb[rows + pieces.row, columns + pieces.column], axis=0)
    return int(r), int(g), int(b)


def read_axes_closely(sheet: Sheet, dark: Floats, frame: Frame, others: Sequence[Box] = ()) -> Axes:
    """The same; where labels are small and not all is read, once more in twice the size."""
    axes = read_axes(sheet.rgb, dark, frame, others)
    read = [axis for axis in (axes.x, axes.y) if axis is not None]
    whole = len(read) == 2 and all(axis.sure > 0.99 and len(axis.ticks) > 2 for axis in read)
    if not 0 < axes.height < _SMALL or whole or dark.size > _MOST_PIXELS:
        return axes
    large = enlarged(sheet)
    twice = replace(frame, box=_times_two(frame.box), stroke=2 * frame.stroke)
    again = read_axes(
        large.rgb, ink(large.rgb, large.background), twice, [_times_two(box) for box in others]
    )
    found = {
        side: max((one, _half(other)), key=_worth)
        for side, one, other in (
            ("x", axes.x, again.x),
            ("y", axes.y, again.y),
            ("right", axes.right, again.right),
        )
    }
    return replace(axes, x=found["x"], y=found["y"], right=found["right"])


def _worth(axis: Axis | None) -> float:
    """How much speaks for a reading: the labels that agree, less those that do not."""
    if axis is None:
        return -1.0
    return sum(1.0 if tick.inlier else -1.0 for tick in axis.ticks)


def _times_two(box: Box) -> Box:
    return Box(2 * box.left, 2 * box.top, 2 * box.right, 2 * box.bottom)


def _half(axis: Axis | None) -> Axis | None:
    if axis is None:
        return None
    ticks = tuple(replace(tick, px=tick.px / 2) for tick in axis.ticks)
    return replace(axis, slope=axis.slope * 2, residual_px=axis.residual_px / 2, ticks=ticks)


def _limits(dark: Floats, box: Box, others: Sequence[Box]) -> tuple[float, float, float]:
    """How far to the left, to the right and down from a plot its labels may reach."""
    left, right, down = 0.0, float(dark.shape[1]), float(dark.shape[0])
    for other in others:
        if other.top < box.bottom and other.bottom > box.top:
            if other.right <= box.left:
                left = max(left, other.right + 2)
            elif other.left >= box.right:
                # What lies in the middle between two plots is of the one on its right.
                right = min(right, box.right + 0.45 * (other.left - box.right))
        elif other.top >= box.bottom and other.left < box.right and other.right > box.left:
            down = min(down, other.top - 2)
    return left, right, down


def _beside(
    dark: Floats, frame: Frame, side: Side, others: Sequence[Box], gap: float = 0.58
) -> _Found:
    box, half = frame.box, frame.stroke / 2 + 1
    wide, tall = box.width, box.height
    least, most, down = _limits(dark, box, others)
    if side == "bottom":
        end = min(down, box.bottom + 0.4 * tall + 40)
        rows, columns = (box.bottom + half, end), (box.left - 0.08 * wide, box.right + 0.08 * wide)
        pieces = glyphs_in(dark, rows, columns)
        kept = [g for g in pieces.glyphs if g.top > pieces.row + 1]
        words, height = _first_line(kept, gap)
        return _Found(pieces, words, height, [w.centre[0] for w in words])
    rows = (box.top - 0.06 * tall - 12, box.bottom + 0.06 * tall + 12)
    if side == "left":
        columns = (max(least, box.left - 0.5 * wide - 60), box.left - half)
        pieces = glyphs_in(dark, rows, columns)
        edge = pieces.column + pieces.labels.shape[1] if pieces.labels.size else 0
        kept = [g for g in pieces.glyphs if g.right < edge - 1]
    else:
        columns = (box.right + half, min(most, box.right + 0.4 * wide + 60))
        pieces = glyphs_in(dark, rows, columns)
        kept = [g for g in pieces.glyphs if g.left > pieces.column + 1]
    words, height = _nearest_column(kept, side)
    return _Found(pieces, words, height, [w.centre[1] for w in words])


def _first_line(glyphs: Sequence[Glyph], gap: float) -> tuple[list[Word], float]:
    """The words of the first line of text below an axis."""
    # Below a spine there may be the lower half of the lowest label of the other axis.
    usual = glyph_height(glyphs)
    for band in bands(glyphs, least=max(6.0, 0.55 * usual)):
        height = glyph_height(band)
        if height:
            return rows_of(band, height, gap), height
    return [], 0.0


def _nearest_column(glyphs: Sequence[Glyph], side: Side) -> tuple[list[Word], float]:
    """The words that end, or begin, nearest to an axis, as its labels do."""
    near = sorted(glyphs, key=lambda g: -g.right if side == "left" else g.left)
    height = glyph_height(near[:24]) or glyph_height(near)
    if not height:
        return [], 0.0
    words = rows_of([g for g in glyphs if g.height < 2.2 * height], height, 1.2)
    words = [w for w in words if w.box.height < 2.2 * height]
    if not words:
        return [], 0.0
    # Labels of one axis are aligned on its side, or on the other one.
    words.sort(key=lambda w: -w.box.right if side == "left" else w.box.left)
    edges = np.array([w.box.right if side == "left" else -w.box.left for w in words])
    # A title stands further out, a stray piece nearer.
    cuts = np.nonzero(edges[:-1] - edges[1:] > 0.75 * height)[0] + 1
    groups = [words[a:b] for a, b in itertools.pairwise([0, *cuts.tolist(), len(words)])]
    return next((group for group in groups if len(group) > 1), groups[0]), height


def _read(sides: Sequence[_Found]) -> list[list[tuple[Said, Said | None]]]:
    """What the words of several sides say, in one call."""
    strips: list[Strip] = []
    for side in sides:
        for word in side.words:
            strips.append(strip(side.pieces, word.glyphs, side.height))
            if word.raised:
                strips.append(strip(side.pieces, word.raised, 0.7 * side.height))
    said = iter(recognise(strips))
    return [
        [(next(said), next(said) if word.raised else None) for word in side.words] for side in sides
    ]


def _axis(
    dark: Floats,
    frame: Frame,
    side: Side,
    found: _Found,
    said: Sequence[tuple[Said, Said | None]],
) -> Axis | None:
    labels = []
    for place, (base, raised) in zip(found.places, said, strict=True):
        read: tuple[Reading, ...] = ()
        if base.score >= _LEAST_SCORE:
            read = tuple(readings(base.text, raised.text if raised else None))
        labels.append(Label(place, base.text + (f"^{raised.text}" if raised else ""), read))
    known = [label for label in labels if label.readings]
    for marks in find_ticks(dark, frame, side):
        at = _matched([label.px for label in known], marks, found.height)
        if at is not None:
            fitted = fit_axis([replace(k, px=px) for k, px in zip(known, at, strict=True)])
            if fitted is not None:
                return _scaled(dark, frame, side, found, fitted)
    fitted = fit_axis(known, _LOOSE)
    if fitted is None:
        for marks in find_ticks(dark, frame, side):
            at = _matched([label.px for label in known], marks, found.height, least=2)
            if at is not None and len(at) == len(known):
                exact = [replace(k, px=px) for k, px in zip(known, at, strict=True)]
                fitted = fitted or fit_two(exact, [float(m) for m in marks], _LOOSE)
    return None if fitted is None else _scaled(dark, frame, side, found, fitted)


def _matched(
    places: Sequence[float], marks: Floats, height: float, least: int = 3
) -> list[float] | None:
    """The mark of each label; None if too few have one."""
    if not places:
        return None
    nearest = [float(marks[np.argmin(np.abs(marks - place))]) for place in places]
    near = [abs(n - place) <= 0.6 * height for n, place in zip(nearest, places, strict=True)]
    if sum(near) < max(least, 0.7 * len(places)):
        return None
    # What has no mark must not be taken for exact.
    return [n if ok else place for n, place, ok in zip(nearest, places, near, strict=True)]


def _scaled(dark: Floats, frame: Frame, side: Side, found: _Found, axis: Axis) -> Axis:
    """The axis with the factor that stands at its end, if one does."""
    if axis.scale == "log":
        return axis
    box, height = frame.box, found.height
    if side == "bottom":
        below = max(w.box.bottom for w in found.words)
        rows, columns = (below + 1, below + 3 * height), (box.right - 9 * height, box.right + 60)
        return _times(axis, _factor(dark, rows, columns, height))
    edge = box.left if side == "left" else box.right
    end = box.top - frame.stroke / 2 - 1
    # Ticks on the upper spine may touch the text.
    for cut in (0.0, 0.25, 0.5):
        rows = (box.top - 3.2 * height, end - cut * height)
        factor = _factor(dark, rows, (edge - 7 * height, edge + 9 * height), height)
        if factor != 1.0:
            return _times(axis, factor)
    return axis


def _factor(
    dark: Floats, rows: tuple[float, float], columns: tuple[float, float], height: float
) -> float:
    """A factor that is written in a part of the image; 1 if none is."""
    pieces = glyphs_in(dark, rows, columns)
    end = pieces.row + pieces.labels.shape[0]
    words = rows_of(
        [
            g
            for g in pieces.glyphs
            if g.height <= 1.6 * height
            and g.width <= 2 * height
            and not (g.bottom == end and g.width < 0.25 * height)
        ],
        height,
        0.75,
    )
    strips = []
    for word in words:
        strips.append(strip(pieces, word.glyphs, height))
        if word.raised:
            strips.append(strip(pieces, word.raised, 0.7 * height))
    said = iter(recognise(strips))
    for word in words:
        base, raised = next(said), next(said) if word.raised else None
        factor = multiplier(base.text, raised.text if raised else None)
        if factor is not None:
            return factor
    return 1.0


def _times(axis: Axis, factor: float) -> Axis:
    ticks = tuple(replace(tick, value=tick.value * factor) for tick in axis.ticks)
    return replace(axis, slope=axis.slope * factor, intercept=axis.intercept * factor, ticks=ticks)


def _titled(
    dark: Floats, frame: Frame, side: Side, found: _Found, axis: Axis | None
) -> Axis | None:
    """The axis with its title and unit."""
    if axis is None or not found.words:
        return axis
    box, height = frame.box, found.height
    if side == "bottom":
        below = max(w.box.bottom for w in found.words)
        end = min(below + 4.5 * height, found.pieces.row + found.pieces.labels.shape[0])
        part = dark[int(below) + 1 : int(end), int(box.left) : int(box.right)]
    else:
        edge = min(w.box.left for w in found.words)
        start = max(found.pieces.column, int(edge - 6 * height))
        # Upwards becomes to the right.
        part = np.rot90(dark[int(box.top) : int(box.bottom), start : int(edge) - 1], -1)
    text = _line(part)
    match = _UNIT.search(text)
    unit = (match[1] or match[2] or "").strip() if match else ""
    known = _UNITS.get(unit.lower(), unit)
    if match and len(unit) < 2 and text[: match.start()][-1:].strip() and unit not in _LETTERS:
        # The variable of a function, as in f(x).
        return replace(axis, label=text)
    text = f"{text[: match.start()]}{match[0].replace(unit, known)}" if match and unit else text
    return replace(axis, label=text, unit=known)


def _line(part: Floats) -> str:
    """The first line of text in a part of an image that is read as it stands."""
    if min(part.shape, default=0) < 6:
        return ""
    pieces = glyphs_in(np.ascontiguousarray(part), (0, part.shape[0]), (0, part.shape[1]))
    for band in bands(pieces.glyphs, least=7):
        height = glyph_height(band)
        if not height:
            continue
        words = rows_of(band, height, 1.6)
        longest = max(words, key=lambda w: w.box.width, default=None)
        if longest is None or longest.box.width < 0.8 * height:
            continue
        (said,) = recognise([strip(pieces, (*longest.glyphs, *longest.raised), height)])
        if said.score > 0.3:
            return said.text
        return ""
    return ""
