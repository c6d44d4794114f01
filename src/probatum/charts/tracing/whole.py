"""Tracing from end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import Box
from probatum.charts.tracing.colors import Group, groups_of
from probatum.charts.tracing.flow import flow_of
from probatum.charts.tracing.foreground import Ground, ground_of
from probatum.charts.tracing.lettering import Entry
from probatum.charts.tracing.loops import Loop, loops_of
from probatum.charts.tracing.markers import markers_of
from probatum.charts.tracing.paths import paths_of
from probatum.charts.tracing.polyline import Line, lines_of
from probatum.charts.tracing.strands import strands_of, stroke_of
from probatum.charts.tracing.track import Mode, TextBox, TraceOptions, Track

__all__ = ["trace"]

Mask = NDArray[np.bool_]


def trace(
    image: NDArray[np.uint8],
    box: Box,
    *,
    text: Sequence[TextBox] = (),
    exclude: Sequence[Box] = (),
    mode: Mode = "auto",
    n_curves: int | None = None,
    options: TraceOptions | None = None,
) -> tuple[Track, ...]:
    """Follow the curves in a plot.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3), dtype uint8
    box : Box
        The plot's sides, at the centres of its spines.
    text : sequence of TextBox
        Text within the plot. Entries of a legend give names.
    exclude : sequence of Box
        Parts to leave out, such as insets.
    mode : {"auto", "function", "loop", "markers"}
        What the curves are.
    n_curves : int, optional
        Number of curves, if it is known.
    options : TraceOptions, optional

    Returns
    -------
    tuple of Track
        In the order of their colours' share of the ink; no track where there is no ink.
    """
    _check(image, mode, n_curves)
    chosen = options or TraceOptions()
    ground = ground_of(image, box, exclude, text)
    if ground is None:
        return ()
    groups = groups_of(ground)
    number = n_curves if len(groups) == 1 else None
    usual = stroke_of(ground.mask)
    tracks: list[Track] = []
    for group in groups:
        tracks += _traced(group, ground, usual, mode, number, chosen)
    return tuple(_with_names(_large(tracks), ground.entries))


def _with_names(tracks: list[Track], entries: Sequence[Entry]) -> list[Track]:
    """Names from the legend, where one colour there is clearly the nearest."""
    named = list(tracks)
    free = list(range(len(tracks)))
    for entry in entries:
        apart = [
            (sum(abs(a - b) for a, b in zip(entry.color, tracks[i].color, strict=True)), i)
            for i in free
        ]
        if apart and min(apart)[0] < 60:
            _, i = min(apart)
            named[i] = replace(tracks[i], name=entry.text)
            free.remove(i)
    return named


def _is_frame(px: NDArray[np.float64]) -> bool:
    """Whether a path is an upright rectangle, as around a legend."""
    low, high = px.min(axis=0), px.max(axis=0)
    if (high - low).min() < 8:
        return False
    at_edge = np.minimum(px - low, high - px).min(axis=1) < 2.0
    upper, lower = px[px[:, 1] < low[1] + 2.0, 0], px[px[:, 1] > high[1] - 2.0, 0]
    width = 0.9 * (high[0] - low[0])
    return bool(at_edge.mean() > 0.95 and np.ptp(upper) > width and np.ptp(lower) > width)


def _large(tracks: list[Track]) -> list[Track]:
    """Without scraps, such as letters and samples of a legend, if there are curves besides."""
    if not tracks:
        return tracks
    tracks = [track for track in tracks if not _is_frame(track.px)]
    sizes = [float(np.ptp(track.px, axis=0).max()) for track in tracks]
    return [t for t, size in zip(tracks, sizes, strict=True) if size > 0.15 * max(sizes)]


def _check(image: NDArray[Any], mode: str, n_curves: int | None) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(
            f"an image has the shape (height, width, 3) and values of uint8, got {image.shape} "
            f"and {image.dtype}"
        )
    if mode not in ("auto", "function", "loop", "markers"):
        raise ValueError(f"mode is 'auto', 'function', 'loop' or 'markers', got {mode!r}")
    if n_curves is not None and n_curves < 1:
        raise ValueError(f"n_curves must be at least 1, got {n_curves}")


def _traced(
    group: Group,
    ground: Ground,
    usual: float,
    mode: Mode,
    n_curves: int | None,
    options: TraceOptions,
) -> list[Track]:
    """The curves of one colour."""
    stroke = stroke_of(group.mask)
    if mode in ("auto", "markers"):
        points = markers_of(group.mask, stroke, forced=mode == "markers")
        if points is not None:
            px = points + ground.corner
            return [Track(px, group.color, "markers", stroke=stroke)] if len(px) else []
    full = float(np.percentile(ground.away[group.mask], 80))
    weight = np.where(group.mask, np.minimum(ground.away / full, 1.0), 0.0)
    if not options.weighting:
        weight = group.mask.astype(float)
    mask = _restored(group.mask, ground.covered, usual)
    weight[mask & ~group.mask] = 0.3
    strands = strands_of(mask, weight, stroke)
    if strands.dashed:
        # Dashes of a noisy curve lie above each other in a column: they are led together first.
        closed = _closed(mask, int(np.ceil(stroke)) + 1)
        strands = strands_of(closed, np.where(closed, np.maximum(weight, 0.05), 0.0), stroke)
    if not strands.every:
        return []
    flow = flow_of(strands, ground.covered & ~group.mask, n_curves, joint=options.joint)
    paths = paths_of(strands, flow, prediction=options.prediction)
    width, height = group.mask.shape[1], group.mask.shape[0]
    lines = lines_of(strands, flow, paths)
    loops: list[Loop] = []
    if mode in ("auto", "loop"):
        loops = loops_of(
            lines, group.mask, stroke, 0.35 if strands.dashed else 0.9, forced=mode == "loop"
        )
    tracks = [_loop(loop, lines, group, ground, stroke) for loop in loops]
    joined = {i for loop in loops for i in (loop.there, loop.back)}
    for i, line in enumerate(lines):
        if i in joined:
            continue
        wide = np.ptp(line.points[:, 0]) / width
        tall = np.ptp(line.points[:, 1]) / height
        if max(wide, tall) >= 0.05 and len(line.points) >= 2:
            tracks.append(_track(line, group, ground, stroke))
    return tracks


def _restored(mask: Mask, covered: Mask, stroke: float) -> Mask:
    """Ink with what thin lines of other colours hide of it."""
    others = covered & ~mask
    if np.count_nonzero(others) < 0.02 * np.count_nonzero(mask):
        return mask
    return np.asarray(mask | (others & _closed(mask, int(np.ceil(0.75 * stroke)))))


def _closed(mask: Mask, reach: int) -> Mask:
    """Ink with gaps up to twice a reach filled."""
    wide = 2 * reach
    padded = np.pad(mask, wide)
    filled = ~_widened(~_widened(padded, wide), wide)
    inner = filled[wide : wide + mask.shape[0], wide : wide + mask.shape[1]]
    return np.asarray(inner)


def _widened(mask: Mask, reach: int) -> Mask:
    """Where there is ink within a reach on either side, each axis by itself."""
    for axis in (0, 1):
        wide = mask.swapaxes(0, axis).copy()
        grown = wide.copy()
        for sign in (1, -1):
            span, part = 0, wide.copy()
            while span < reach // 2:
                step = min(max(span, 1), reach // 2 - span)
                moved = part.copy()
                if sign > 0:
                    moved[step:] |= part[:-step]
                else:
                    moved[:-step] |= part[step:]
                part, span = moved, span + step
            grown |= part
        mask = grown.swapaxes(0, axis)
    return mask


def _loop(loop: Loop, lines: list[Line], group: Group, ground: Ground, stroke: float) -> Track:
    parts = (lines[loop.there], lines[loop.back])
    spanned = sum(float(np.ptp(part.points[:, 0])) + 1 for part in parts)
    return Track(
        loop.points + ground.corner,
        group.color,
        "loop",
        float(min(1.0, sum(part.inked for part in parts) / spanned)),
        float(np.clip(max(part.ambiguity for part in parts), 0.0, 1.0)),
        closed=loop.closed,
        stroke=stroke,
    )


def _track(line: Line, group: Group, ground: Ground, stroke: float) -> Track:
    spanned = np.ptp(line.points[:, 0]) + 1
    px = line.points + ground.corner
    return Track(
        px,
        group.color,
        "function",
        float(min(1.0, line.inked / spanned)),
        float(np.clip(line.ambiguity, 0.0, 1.0)),
        stroke=stroke,
    )
