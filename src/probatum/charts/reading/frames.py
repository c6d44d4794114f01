"""Where the plots are: rectangles of spines, of gridlines, or of another ground."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from probatum.charts.plot_data import Box
from probatum.charts.reading.sheet import Floats, Sheet, ink, mode_color

__all__ = ["Frame", "find_frames", "skew", "tilt"]

Mask = NDArray[np.bool_]

_INK = 25.0
# Shares of the image's sides.
_LINE, _SMALLEST = 0.10, 0.14
_THICKEST = 14
_LONGEST_TICK = 16.0


@dataclass(frozen=True)
class Frame:
    """A plot's place.

    Attributes
    ----------
    box : Box
    stroke : float
        Thickness of its spines in pixels; 0 where there are none.
    sides : frozenset of str
        Sides that are drawn: ``left``, ``right``, ``top``, ``bottom``.
    inside : tuple of Box
        Smaller frames in it: insets, and framed legends.
    across, down : tuple of float
        Lines from side to side in it, as where panels share their spines.
    """

    box: Box
    stroke: float
    sides: frozenset[str]
    inside: tuple[Box, ...] = ()
    across: tuple[float, ...] = ()
    down: tuple[float, ...] = ()

    def split(self) -> list[Frame]:
        """The panels that these lines part it into."""
        box = self.box
        rows, columns = (box.top, *self.across, box.bottom), (box.left, *self.down, box.right)
        return [
            replace(self, box=Box(left, top, right, bottom), inside=(), across=(), down=())
            for top, bottom in itertools.pairwise(rows)
            for left, right in itertools.pairwise(columns)
        ]


@dataclass(frozen=True)
class _Line:
    """A straight stretch along an axis: its place across, its ends along, its thickness."""

    at: float
    start: int
    end: int
    thick: int

    @property
    def length(self) -> int:
        return self.end - self.start


def find_frames(sheet: Sheet) -> list[Frame]:
    """Plots, the largest first; those that lie in another are among its ``inside``."""
    dark = ink(sheet.rgb, sheet.background)
    height, width = dark.shape
    mask = dark > _INK
    rows = _lines(mask, max(20, int(_LINE * width)))
    columns = _lines(mask.T, max(20, int(_LINE * height)))
    found = _rectangles(rows, columns, width, height)
    if not found:
        found = _grounds(sheet)
    if not found:
        found = _loose(rows, columns, width, height)
    # The rim of a window or a picture is no plot's.
    inner = [frame for frame in found if not _is_rim(frame.box, width, height)]
    found = inner or [f for f in _grounds(sheet) if not _is_rim(f.box, width, height)] or found
    return _nested(_refined(frame, dark) for frame in found)


def _is_rim(box: Box, width: int, height: int) -> bool:
    near = 0.012 * max(width, height) + 2
    return (
        box.left < near
        and box.top < near
        and box.right > width - near
        and box.bottom > height - near
    )


def _lines(mask: Mask, least: int) -> list[_Line]:
    """Stretches of ink along rows, each at least so long and thinner than a bar."""
    sums = np.cumsum(np.pad(mask, ((0, 0), (1, 0))), axis=1, dtype=np.int32)
    full = sums[:, least:] - sums[:, :-least] == least
    if not full.any():
        return []
    # Each start of a full window covers what follows it.
    kept = np.zeros_like(mask)
    starts = np.zeros((mask.shape[0], mask.shape[1] + 1), np.int32)
    at = np.nonzero(full)
    np.add.at(starts, at, 1)
    np.add.at(starts, (at[0], at[1] + least), -1)
    kept = np.cumsum(starts, axis=1)[:, :-1] > 0
    labels, _ = ndimage.label(kept, np.ones((3, 3)))
    lines = []
    for i, where in enumerate(ndimage.find_objects(labels), 1):
        down, along = where
        if down.stop - down.start <= _THICKEST:
            bands = [(0, down.stop - down.start)]
        else:
            # A curve may lie along a spine; the spine is longer.
            lengths = (labels[where] == i).sum(axis=1)
            bands = _bands(lengths > 0.85 * lengths.max())
        for first, last in bands:
            if last - first <= _THICKEST:
                place = down.start + (first + last) / 2
                lines.append(_Line(place, along.start, along.stop, last - first))
    return lines


def _bands(mask: Mask) -> list[tuple[int, int]]:
    """Where a one-dimensional mask is true."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    starts, ends = np.nonzero(edges == 1)[0], np.nonzero(edges == -1)[0]
    return [(int(s), int(e)) for s, e in zip(starts, ends, strict=True)]


def _rectangles(rows: list[_Line], columns: list[_Line], width: int, height: int) -> list[Frame]:
    """Groups of lines that meet, as rectangles between the outermost of them."""
    reach = 4.0
    parent = list(range(len(rows) + len(columns)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            meets = row.start - reach <= column.at <= row.end + reach
            if meets and column.start - reach <= row.at <= column.end + reach:
                parent[root(i)] = root(len(rows) + j)
    groups: dict[int, tuple[list[_Line], list[_Line]]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(root(i), ([], []))[0].append(row)
    for j, column in enumerate(columns):
        groups.setdefault(root(len(rows) + j), ([], []))[1].append(column)
    frames = []
    for across, down in groups.values():
        if across and down:
            frames += _cells(across, down, width, height)
    return frames


def _cells(across: list[_Line], down: list[_Line], width: int, height: int) -> list[Frame]:
    """The rectangle of a group; several where panels share their spines."""
    left = _side([line.at for line in down], [line.start for line in across], min)
    right = _side([line.at for line in down], [line.end for line in across], max)
    top = _side([line.at for line in across], [line.start for line in down], min)
    bottom = _side([line.at for line in across], [line.end for line in down], max)
    if right - left < _SMALLEST * width or bottom - top < _SMALLEST * height:
        return []
    sides = set()
    near = 5.0
    for line in across:
        if line.length > 0.85 * (right - left):
            sides |= {"top"} if abs(line.at - top) < near else set()
            sides |= {"bottom"} if abs(line.at - bottom) < near else set()
    for line in down:
        if line.length > 0.85 * (bottom - top):
            sides |= {"left"} if abs(line.at - left) < near else set()
            sides |= {"right"} if abs(line.at - right) < near else set()
    box = Box(left, top, right, bottom)
    stroke = float(np.median([line.thick for line in (*across, *down)]))
    inner_across = _parting(across, top, bottom, box.width, _SMALLEST * height)
    inner_down = _parting(down, left, right, box.height, _SMALLEST * width)
    return [Frame(box, stroke, frozenset(sides), (), inner_across, inner_down)]


def _side(
    lines: list[float], ends: list[float], outermost: Callable[[list[float]], float]
) -> float:
    """A side: the outermost line along it, or where those that meet it end.

    A tick at a corner makes a spine seem longer than the plot.
    """
    line, end = outermost(lines), outermost(ends)
    return line if abs(line - end) <= _LONGEST_TICK else outermost([line, end])


def _parting(
    lines: list[_Line], start: float, end: float, length: float, least: float
) -> tuple[float, ...]:
    """Lines from side to side that leave panels of some size."""
    places: list[float] = []
    for line in sorted(lines, key=lambda line: line.at):
        last = places[-1] if places else start
        if line.length > 0.95 * length and line.at - last > least and end - line.at > least:
            places.append(line.at)
    return tuple(places)


def _loose(rows: list[_Line], columns: list[_Line], width: int, height: int) -> list[Frame]:
    """Axes that do not meet: the longest row low in the image and a column left of it."""
    best: tuple[float, Frame] | None = None
    for row in rows:
        for column in columns:
            gap = max(row.start - column.at, 0.0) + max(row.at - column.end, 0.0)
            beside = column.at <= row.start + 0.1 * width and row.at >= column.end - 0.1 * height
            if not beside or gap > 0.12 * (width + height) or row.end - column.at < 0.2 * width:
                continue
            box = Box(column.at, column.start, float(row.end), row.at)
            if best is None or box.width * box.height > best[0]:
                sides = frozenset({"left", "bottom"})
                best = (box.width * box.height, Frame(box, float(row.thick), sides))
    return [best[1]] if best else []


def _grounds(sheet: Sheet) -> list[Frame]:
    """Rectangles of another ground than that of the image's rim, as without spines."""
    rgb = sheet.rgb
    rim = mode_color(np.concatenate([rgb[:3].reshape(-1, 3), rgb[-3:].reshape(-1, 3)])[None])
    apart = ink(rgb, rim) > 3.0
    if apart.mean() < 0.05:
        return []
    ground = mode_color(rgb[apart][None])
    mask = ink(rgb, ground) < 4.0
    # What is drawn on it cuts it to pieces.
    mask = ndimage.binary_closing(mask, np.ones((7, 7)))
    labels, _ = ndimage.label(mask)
    height, width = mask.shape
    frames = []
    for i, where in enumerate(ndimage.find_objects(labels), 1):
        down, along = where
        tall, wide = down.stop - down.start, along.stop - along.start
        if wide < _SMALLEST * width or tall < _SMALLEST * height:
            continue
        if (labels[where] == i).mean() > 0.7:
            box = Box(along.start, down.start, along.stop, down.stop)
            frames.append(Frame(box, 0.0, frozenset()))
    return frames


def _refined(frame: Frame, dark: Floats) -> Frame:
    """The frame with its sides at the weighted centres of the spines."""
    box = frame.box
    half = max(3, int(frame.stroke) + 2)
    rows = slice(int(box.top) + half, int(box.bottom) - half)
    columns = slice(int(box.left) + half, int(box.right) - half)
    vertical, horizontal = np.median(dark[rows], axis=0), np.median(dark[:, columns], axis=1)
    left, right = (
        _centre(vertical, at, half) if side in frame.sides else at
        for side, at in (("left", box.left), ("right", box.right))
    )
    top, bottom = (
        _centre(horizontal, at, half) if side in frame.sides else at
        for side, at in (("top", box.top), ("bottom", box.bottom))
    )
    return replace(frame, box=Box(left, top, right, bottom))


def _centre(profile: Floats, at: float, half: int) -> float:
    start = max(0, round(at) - half)
    part = np.maximum(profile[start : round(at) + half + 1] - 12.0, 0.0)
    if part.sum() <= 0:
        return at
    return float((np.arange(len(part)) + start + 0.5) @ part / part.sum())


def _nested(frames: Iterable[Frame]) -> list[Frame]:
    """The outer frames, with those inside them told."""
    ordered = sorted(frames, key=lambda f: -f.box.width * f.box.height)
    outer: list[Frame] = []
    for frame in ordered:
        for i, other in enumerate(outer):
            if _within(frame.box, other.box):
                outer[i] = replace(other, inside=(*other.inside, frame.box))
                break
            if _overlap(frame.box, other.box) > 0.2:
                break
        else:
            outer.append(frame)
    return outer


def _within(inner: Box, outer: Box) -> bool:
    slack = 3.0
    return (
        inner.left >= outer.left - slack
        and inner.right <= outer.right + slack
        and inner.top >= outer.top - slack
        and inner.bottom <= outer.bottom + slack
    )


def _overlap(a: Box, b: Box) -> float:
    """Common area, as a share of the smaller box."""
    wide = min(a.right, b.right) - max(a.left, b.left)
    tall = min(a.bottom, b.bottom) - max(a.top, b.top)
    if wide <= 0 or tall <= 0:
        return 0.0
    return wide * tall / min(a.width * a.height, b.width * b.height)


def tilt(sheet: Sheet, frame: Frame) -> float:
    """Degrees by which turning the image makes the lowest spine of a plot level; 0 without one."""
    box = frame.box
    if box.width < 100:
        return 0.0
    reach = max(6, int(0.02 * box.width))
    start = max(0, int(box.bottom) - reach)
    band = ink(sheet.rgb[start : int(box.bottom) + reach], sheet.background)
    places, heights = [], []
    for share in (0.06, 0.28, 0.5, 0.72, 0.94):
        middle = int(box.left + share * box.width)
        profile = np.median(band[:, middle - 12 : middle + 13], axis=1)
        if profile.max() < _INK:
            continue
        labels, _ = ndimage.label(profile > 0.6 * profile.max())
        own = labels == labels[int(profile.argmax())]
        places.append(middle)
        heights.append(float(np.nonzero(own)[0] @ profile[own] / profile[own].sum()))
    if len(places) < 4:
        return 0.0
    slope, middle_height = np.polyfit(places, heights, 1)
    off = np.abs(np.polyval([slope, middle_height], places) - heights).max()
    return float(np.rad2deg(np.arctan(slope))) if off < 1.2 else 0.0


def skew(sheet: Sheet) -> float:
    """Degrees by which turning the image makes its lines run along rows and columns best."""
    mask = ink(sheet.rgb, sheet.background) > _INK
    step = max(1, max(mask.shape) // 900)
    rows, columns = np.nonzero(mask[::step, ::step])
    if len(rows) > 60_000:
        keep = np.linspace(0, len(rows) - 1, 60_000).astype(int)
        rows, columns = rows[keep], columns[keep]
    if len(rows) < 100:
        return 0.0

    def sharpness(angle: float) -> float:
        theta = np.deg2rad(angle)
        c, s = np.cos(theta), np.sin(theta)
        across = np.rint(rows * c - columns * s).astype(int)
        along = np.rint(columns * c + rows * s).astype(int)
        peaks = 0.0
        for projected in (across, along):
            counts = np.bincount(projected - projected.min()).astype(float)
            peaks += float(np.sort(counts**2)[-6:].sum())
        return peaks

    angles = np.arange(-2.0, 2.01, 0.1)
    values = [sharpness(float(angle)) for angle in angles]
    best = float(angles[int(np.argmax(values))])
    fine = best + np.arange(-0.1, 0.101, 0.02)
    return float(fine[int(np.argmax([sharpness(float(angle)) for angle in fine]))])
