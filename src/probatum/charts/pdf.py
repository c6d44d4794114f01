"""Plots in the pages of a PDF: their curves as they were drawn, where they are paths."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Box, Kind
from probatum.charts.tracing import Track

__all__ = ["Page", "pages", "vector_tracks"]

Floats = NDArray[np.float64]

DPI = 200
MOST_PAGES = 200
# A page that is larger at this resolution, such as a poster, is read at a lower one.
_LONGEST_PX = 6000
# A form of so few shapes that is so small, in points, is a marker.
_MARKER_SHAPES, _MARKER_SIZE = 8, 24.0
# Level and upright lines of so many pixels stand for themselves.
_RULED = 60.0
# What is inside a frame smaller than this share of the plot belongs to a legend.
_LEGEND = 0.6
# A path is a curve if it has so many points, or reaches over such a share of the plot.
_POINTS, _REACH = 8, 0.2


@dataclass(frozen=True)
class _Path:
    """A drawn path in pixels of the rendered page, and the form that it is an instance of."""

    points: Floats
    color: tuple[int, int, int]
    width: float
    filled: bool
    form: str = ""


@dataclass(frozen=True)
class Page:
    """A page as an image and as paths.

    Attributes
    ----------
    number : int
        From 1.
    image : ndarray of shape (height, width, 3), dtype uint8
        At 200 dots per inch, or fewer where the page is large.
    paths : tuple
        What was drawn on it, in the pixels of the image.
    """

    number: int
    image: NDArray[np.uint8]
    paths: tuple[_Path, ...]


def pages(file: str | os.PathLike[str]) -> Iterator[Page]:
    """The pages of a PDF, one after the other.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no file, or it is no PDF that can be read.
    """
    import pdfplumber

    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with pdfplumber.open(path) as document:
            if not document.pages:
                raise ValueError("it has no pages")
            for number, page in enumerate(document.pages[:MOST_PAGES], 1):
                yield _page(number, page)
                page.close()
    except MemoryError:
        raise
    except Exception as error:
        # The parsers raise whatever a broken file makes them stumble over.
        raise ValueError(f"{path.name} is not a PDF that can be read ({_why(error)})") from None


def _why(error: Exception) -> str:
    """In a few words."""
    from pdfminer.pdfdocument import PDFPasswordIncorrect

    inner = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    if isinstance(inner, PDFPasswordIncorrect):
        return "it needs a password"
    said = str(inner).strip().splitlines()
    return said[0] if said else type(inner).__name__


def _page(number: int, page: Any) -> Page:
    longest = max(page.width, page.height)
    if not longest > 0:
        raise ValueError(f"page {number} has no size")
    dpi = min(DPI, 72 * _LONGEST_PX / longest)
    image = np.asarray(page.to_image(resolution=dpi).original.convert("RGB"))
    # The image's sides are whole pixels, so that it is not to scale.
    shown = _shown(page.page_obj)
    scale = np.array(image.shape[1::-1]) / np.ptp(shown, axis=0)
    corner = np.array([-shown[:, 0].min(), shown[:, 1].max()])
    paths = []
    for shapes, form in _shapes(page.layout):
        path = _path(shapes, form, corner, scale)
        if path is not None:
            paths.append(_colored(path, image) if form else path)
    return Page(number, image, tuple(_joined(paths)))


def _shown(page: Any) -> Floats:
    """Two corners of what an image of a page shows, in the layout's points, turned as it is."""
    x0, y0, x1, y1 = (float(side) for side in page.mediabox)
    media = np.array([[x0, y0], [x1, y1]])
    crop = np.array([float(side) for side in page.cropbox]).reshape(2, 2)
    x, y = np.clip(crop, media.min(axis=0), media.max(axis=0)).T
    turned = {
        0: (x - x0, y - y0),
        90: (y - y0, x1 - x),
        180: (x1 - x, y1 - y),
        270: (y1 - y, x - x0),
    }
    corners = np.stack(turned[page.rotate % 360], axis=1)
    # A box that holds nothing of the page is passed over.
    return (
        corners
        if (np.ptp(corners, axis=0) > 0).all()
        else np.abs(np.diff(media, axis=0)) * [[0], [1]]
    )


def _shapes(layout: Any, form: str = "") -> Iterator[tuple[list[Any], str]]:
    """What is drawn on a page, in its order; a form that is a marker as one."""
    from pdfminer.layout import LTCurve, LTFigure

    for item in layout:
        if isinstance(item, LTFigure):
            inner = list(item)
            shapes = [one for one in inner if isinstance(one, LTCurve)]
            small = max(item.width, item.height) <= _MARKER_SIZE
            if shapes and len(shapes) == len(inner) <= _MARKER_SHAPES and small:
                yield shapes, item.name
            else:
                yield from _shapes(inner, form)
        elif isinstance(item, LTCurve):
            yield [item], form


def _path(shapes: Sequence[Any], form: str, corner: Floats, scale: Floats) -> _Path | None:
    from pdfminer.layout import LTRect

    corners = [[(float(x), -float(y)) for x, y in _outline(one)] for one in shapes]
    for one, points in zip(shapes, corners, strict=True):
        if isinstance(one, LTRect) and points:
            points.append(points[0])
    whole = np.array([point for part in corners for point in part]).reshape(-1, 2)
    if not len(whole) or not np.isfinite(whole).all():
        return None
    first = shapes[0]
    drawn = bool(first.stroke)
    color = first.stroking_color if drawn else first.non_stroking_color
    width = float(first.linewidth or 0.0) * float(scale.mean())
    return _Path((whole + corner) * scale, _rgb(color), width, not drawn, form)


def _outline(shape: Any) -> Sequence[tuple[float, float]]:
    """The corners of a shape; of a small one, such as a circle of two arcs, all that bends it."""
    if max(shape.width, shape.height) > _MARKER_SIZE or not shape.original_path:
        return list(shape.pts)
    return [point for part in shape.original_path for point in part[1:]] or list(shape.pts)


def _colored(path: _Path, image: NDArray[np.uint8]) -> _Path:
    """A form in the colour that it has on the page, as its own says nothing of it."""
    middle = (path.points.min(axis=0) + path.points.max(axis=0)) / 2
    at = np.concatenate([middle[None], path.points]).astype(int)
    at = at[((at >= 0) & (at < image.shape[1::-1])).all(axis=1)]
    seen = image[at[:, 1], at[:, 0]].astype(int)
    if not len(seen):
        return path
    strong = seen[0] if np.ptp(seen[0]) > 30 or seen[0].max() < 200 else np.median(seen, axis=0)
    r, g, b = (int(part) for part in strong)
    return replace(path, color=(r, g, b))


def _rgb(color: Any) -> tuple[int, int, int]:
    """A colour of a PDF: grey, RGB or CMYK from 0 to 1; black if it is something else."""
    values = [color] if isinstance(color, int | float) else list(color or ())
    if not values or not all(isinstance(v, int | float) for v in values):
        return 0, 0, 0
    if len(values) == 1:
        values = values * 3
    elif len(values) == 4:
        c, m, y, k = values
        values = [(1 - part) * (1 - k) for part in (c, m, y)]
    r, g, b = (round(255 * min(max(float(v), 0.0), 1.0)) for v in values[:3])
    return r, g, b


def _joined(paths: Iterable[_Path]) -> list[_Path]:
    """Paths of which one begins where another ends, as some programs draw each stretch apart."""
    chains: list[list[_Path]] = []
    ends: dict[tuple[Any, ...], int] = {}
    for path in paths:
        key = (path.color, path.width, path.filled, path.form)
        first, last = (tuple(np.round(path.points[i], 1)) for i in (0, -1))
        sides = np.ptp(path.points, axis=0)
        # Spines and gridlines meet at corners, and are no curve.
        ruled = len(path.points) == 2 and sides.min() < 0.5 and sides.max() > _RULED
        open_line = not (path.filled or path.form or ruled or first == last)
        at = ends.pop((*key, *first), None) if open_line else None
        if at is None:
            at = len(chains)
            chains.append([path])
        else:
            chains[at].append(path)
        if open_line:
            ends[*key, *last] = at
    return [
        replace(chain[0], points=np.concatenate([p.points[i > 0 :] for i, p in enumerate(chain)]))
        for chain in chains
    ]


def vector_tracks(paths: Sequence[_Path], box: Box) -> tuple[Track, ...]:
    """Curves among the paths of a page that lie in a plot; none if it is a picture.

    Parameters
    ----------
    paths : sequence
        Of :class:`Page`.
    box : Box
        The plot's, in the pixels of the page's image.
    """
    lines, marks = [], []
    legends: list[Floats] = []
    for path in paths:
        if _is_legend(path, box):
            legends.append(path.points)
        # What a legend holds is drawn after its frame; what was drawn before lies under it.
        if any(_within(path.points, legend) for legend in legends):
            continue
        wide, tall = np.ptp(path.points, axis=0)
        inside = _clipped(path.points, box)
        if max(wide, tall) < 0.035 * max(box.width, box.height):
            marks.append(path)
        elif not path.filled and len(inside) > 1 and _is_curve(inside, box):
            lines.append((path, inside))
    tracks = [
        Track(points, path.color, _kind(points), closed=_closed(points), stroke=path.width)
        for path, points in lines
    ]
    return (*tracks, *_markers(marks, tracks, box))


def _clipped(points: Floats, box: Box) -> Floats:
    """What of a path lies in the plot, to a pixel; where it leaves it ends at the side."""
    low = np.array([box.left, box.top]) - 1
    high = np.array([box.right, box.bottom]) + 1
    start, step = points[:-1], np.diff(points, axis=0)
    # Shares of each stretch at which it comes in and goes out, over both directions.
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.stack([(low - start) / step, (high - start) / step])
    level = step == 0
    beside = level & ((start < low) | (start > high))
    enter = np.where(level, 0.0, np.nan_to_num(sides.min(axis=0))).max(axis=1).clip(0, None)
    leave = np.where(level, 1.0, np.nan_to_num(sides.max(axis=0))).min(axis=1).clip(None, 1)
    seen = (enter <= leave) & ~beside.any(axis=1)
    ends = np.stack([start + enter[:, None] * step, start + leave[:, None] * step], axis=1)
    inside: Floats = ends[seen].reshape(-1, 2)
    if not len(inside):
        return inside
    fresh = np.append(True, np.abs(np.diff(inside, axis=0)).max(axis=1) > 1e-6)
    return np.asarray(inside[fresh])


def _is_legend(path: _Path, box: Box) -> bool:
    """Whether it is a frame within the plot."""
    wide, tall = np.ptp(path.points, axis=0)
    if path.form or not (
        0.035 * max(box.width, box.height) < max(wide, tall)
        and wide < _LEGEND * box.width
        and tall < _LEGEND * box.height
    ):
        return False
    return _closed(path.points) and _is_frame(path.points)


def _is_frame(points: Floats) -> bool:
    """Whether its sides run along the image's own, but for its rounded corners."""
    steps = np.abs(np.diff(points, axis=0))
    straight = (steps.min(axis=1) < 0.05) & (steps.max(axis=1) > 8)
    lengths = np.hypot(*steps.T)
    return bool(lengths[straight].sum() > 0.7 * lengths.sum())


def _within(points: Floats, frame: Floats) -> bool:
    inner = (points.min(axis=0) > frame.min(axis=0)) & (points.max(axis=0) < frame.max(axis=0))
    return bool(inner.all())


def _is_curve(points: Floats, box: Box) -> bool:
    """Whether it is no spine, gridline, tick, frame of a legend or sample in it."""
    wide = np.ptp(points[:, 0])
    if len(points) <= 5:
        level = np.abs(np.diff(points, axis=0)).min(axis=1).max() < 0.5
        frame = len(points) >= 4 and np.abs(points[0] - points[-1]).max() < 0.5
        return bool(not level and not frame and wide >= _REACH * box.width)
    if _closed(points) and _is_frame(points):
        return False
    return len(points) >= _POINTS or bool(wide >= _REACH * box.width)


def _closed(points: Floats) -> bool:
    return len(points) > 3 and bool(np.abs(points[0] - points[-1]).max() < 0.5)


def _kind(points: Floats) -> Kind:
    """A loop if it goes back by more than programs do that leave out points of a noisy line."""
    x = points[:, 0]
    back = min(float((np.maximum.accumulate(way) - way).max()) for way in (x, -x))
    return "function" if back <= max(2.0, 0.005 * np.ptp(x)) else "loop"


def _markers(marks: Sequence[_Path], lines: Sequence[Track], box: Box) -> list[Track]:
    """Small shapes of one colour and size, at their centres; not those on a line alike."""
    groups: dict[tuple[Any, ...], list[tuple[Floats, tuple[int, int, int]]]] = {}
    for mark in marks:
        size = tuple(np.round(np.ptp(mark.points, axis=0) * 2).astype(int))
        middle = (mark.points.min(axis=0) + mark.points.max(axis=0)) / 2
        if (
            box.left - 1 <= middle[0] <= box.right + 1
            and box.top - 1 <= middle[1] <= box.bottom + 1
        ):
            # Colours of a form are those seen, which another may lie over.
            of = mark.form or mark.color
            groups.setdefault((of, size, len(mark.points)), []).append((middle, mark.color))
    found = []
    for (_, size, _), members in groups.items():
        points = np.array([middle for middle, _ in members])
        color = Counter(seen for _, seen in members).most_common(1)[0][0]
        if len(points) < 5 or min(size) < 3 or _on_a_line(points, color, lines):
            continue
        found.append(Track(points[np.argsort(points[:, 0], kind="stable")], color, "markers"))
    return found


def _on_a_line(points: Floats, color: tuple[int, int, int], lines: Sequence[Track]) -> bool:
    for line in lines:
        if line.color != color:
            continue
        apart = np.hypot(*(points[:, None] - line.px[None]).transpose(2, 0, 1)).min(axis=1)
        if np.median(apart) < 1.5:
            return True
    return False
