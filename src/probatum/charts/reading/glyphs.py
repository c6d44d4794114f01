"""Pieces of ink that may be characters, and the words that they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from probatum.charts.plot_data import Box
from probatum.charts.reading.sheet import Floats

__all__ = ["Glyph", "Word", "glyph_height", "glyphs_in", "rows_of", "strip"]

INK = 28.0
_PAD = 0.35


@dataclass(frozen=True)
class Glyph:
    """A connected piece of ink: sides in whole pixels, right and bottom beyond it."""

    left: int
    top: int
    right: int
    bottom: int
    id: int

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Word:
    """Glyphs in a row; those of a raised end, as of an exponent, apart."""

    glyphs: tuple[Glyph, ...]
    raised: tuple[Glyph, ...] = ()

    @property
    def box(self) -> Box:
        every = (*self.glyphs, *self.raised)
        return Box(
            min(g.left for g in every),
            min(g.top for g in every),
            max(g.right for g in every),
            max(g.bottom for g in every),
        )

    @property
    def centre(self) -> tuple[float, float]:
        """Column of the whole, row of what stands on the line."""
        tall = [g for g in self.glyphs if g.height > 0.5 * max(h.height for h in self.glyphs)]
        box = self.box
        top, bottom = min(g.top for g in tall), max(g.bottom for g in tall)
        return (box.left + box.right) / 2, (top + bottom) / 2


@dataclass(frozen=True)
class Pieces:
    """The glyphs of a part of an image, and which pixels are whose.

    ``labels`` and ``dark`` begin at ``(row, column)`` of the image.
    """

    glyphs: list[Glyph]
    labels: NDArray[np.int32]
    dark: Floats
    row: int
    column: int


def glyphs_in(dark: Floats, rows: tuple[float, float], columns: tuple[float, float]) -> Pieces:
    """Pieces of ink in a part of an image."""
    top, bottom = max(0, int(rows[0])), min(dark.shape[0], int(np.ceil(rows[1])))
    left, right = max(0, int(columns[0])), min(dark.shape[1], int(np.ceil(columns[1])))
    part = dark[top : max(top, bottom), left : max(left, right)]
    if part.size == 0:
        return Pieces([], np.zeros((0, 0), np.int32), part, top, left)
    labels, _ = ndimage.label(part > INK, np.ones((3, 3)))
    found = [
        Glyph(c.start + left, r.start + top, c.stop + left, r.stop + top, i)
        for i, (r, c) in enumerate(ndimage.find_objects(labels), 1)
    ]
    return Pieces(found, labels, part, top, left)


def glyph_height(glyphs: Sequence[Glyph]) -> float:
    """The usual height of a character among pieces of ink; 0 where there is none."""
    heights = np.array([g.height for g in glyphs if 5 <= g.height <= 90 and g.width <= 90])
    if not len(heights):
        return 0.0
    tall = heights[heights >= 0.5 * np.percentile(heights, 90)]
    return float(np.median(tall))


def rows_of(glyphs: Sequence[Glyph], height: float, gap: float) -> list[Word]:
    """Words: glyphs that stand beside each other with less than ``gap`` heights between them."""
    left = sorted(glyphs, key=lambda g: g.left)
    groups: list[list[Glyph]] = []
    for glyph in left:
        best = None
        for group in groups:
            apart = glyph.left - max(g.right for g in group)
            low, high = min(g.top for g in group), max(g.bottom for g in group)
            beside = low - 0.25 * height <= glyph.middle <= high + 0.25 * height
            tight = apart < gap * height and beside
            if tight and (best is None or apart < best[0]):
                best = (apart, group)
        if best is None:
            groups.append([glyph])
        else:
            best[1].append(glyph)
    return [word for group in groups if (word := _word(group, height)) is not None]


def _word(group: list[Glyph], height: float) -> Word | None:
    """A group with its raised end apart; None if it is no more than dots and dashes."""
    if max(g.height for g in group) < 0.45 * height:
        return None
    base = max(g.bottom for g in group if g.height >= 0.45 * height)
    end = len(group)
    while end > 1 and group[end - 1].bottom < base - 0.22 * height:
        end -= 1
    raised = group[end:]
    if raised and max(g.height for g in raised) >= 0.4 * height:
        return Word(tuple(group[:end]), tuple(raised))
    return Word(tuple(group))


def strip(pieces: Pieces, glyphs: Sequence[Glyph], height: float) -> NDArray[np.uint8]:
    """These glyphs alone as dark text on white, with a margin, ready to be read."""
    pad = max(2, round(_PAD * height))
    left, right = min(g.left for g in glyphs), max(g.right for g in glyphs)
    top, bottom = min(g.top for g in glyphs), max(g.bottom for g in glyphs)
    rows = slice(max(0, top - pieces.row - 2), bottom - pieces.row + 2)
    columns = slice(max(0, left - pieces.column - 2), right - pieces.column + 2)
    labels = pieces.labels[rows, columns]
    others = (labels > 0) & ~np.isin(labels, [g.id for g in glyphs])
    # The soft edges of other pieces go with them; points too faint for a piece of their own stay.
    others = ndimage.binary_dilation(others, np.ones((3, 3)))
    dark = pieces.dark[rows, columns]
    # Text may stand on another ground than the image's.
    bare = labels == 0
    ground = float(np.median(dark[bare])) if bare.any() else 0.0
    dark = np.where(others, 0.0, np.maximum(dark - ground, 0.0))
    most = float(dark.max()) or 1.0
    shade = 255 - np.clip(dark / most, 0, 1) * 255
    return np.pad(shade.astype(np.uint8), pad, constant_values=255)


def bands(glyphs: Sequence[Glyph], least: float) -> Iterator[list[Glyph]]:
    """Lines of text from the top down: glyphs whose rows overlap, at least so high."""
    group: list[Glyph] = []
    bottom = -1
    for glyph in sorted(glyphs, key=lambda g: g.top):
        if group and glyph.top > bottom:
            if bottom - min(g.top for g in group) >= least:
                yield group
            group = []
        group.append(glyph)
        bottom = max(bottom if len(group) > 1 else -1, glyph.bottom)
    if group and bottom - min(g.top for g in group) >= least:
        yield group
