"""Text within a plot: entries of a legend, names beside curves, notes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probatum.charts.plot_data import Box
from probatum.charts.reading.frames import Frame
from probatum.charts.reading.glyphs import Glyph, Word, glyphs_in, rows_of, strip
from probatum.charts.reading.recogniser import recognise
from probatum.charts.reading.sheet import Floats

__all__ = ["Text", "texts_in"]

_LEAST_SCORE = 0.55
_MOST_WORDS = 60


@dataclass(frozen=True)
class Text:
    """Words that were read, and their rectangle."""

    box: Box
    text: str


def texts_in(dark: Floats, frame: Frame, height: float) -> list[Text]:
    """Text within a plot.

    Parameters
    ----------
    dark : ndarray of shape (height, width)
        Ink of the image.
    frame : Frame
    height : float
        That of the characters of its tick labels.
    """
    if height < 5:
        return []
    box, edge = frame.box, frame.stroke / 2 + 1
    rows, columns = (box.top + edge, box.bottom - edge), (box.left + edge, box.right - edge)
    pieces = glyphs_in(dark, rows, columns)
    likely = [g for g in pieces.glyphs if _may_be_text(g, height)]
    words = [w for w in rows_of(likely, 0.85 * height, 1.1) if _may_be_word(w, height)]
    words.sort(key=lambda w: -w.box.width)
    words = words[:_MOST_WORDS]
    strips = [strip(pieces, (*w.glyphs, *w.raised), _tall(w)) for w in words]
    return [
        Text(word.box, said.text)
        for word, said in zip(words, recognise(strips), strict=True)
        if said.score >= _LEAST_SCORE and _reads_as_text(said.text)
    ]


def _may_be_text(glyph: Glyph, height: float) -> bool:
    return (
        1 < glyph.height <= 1.9 * height
        and glyph.width <= 2.4 * height
        and (glyph.height >= 0.1 * height or glyph.width >= 0.1 * height)
    )


def _tall(word: Word) -> float:
    return float(np.median([g.height for g in word.glyphs]))


def _may_be_word(word: Word, height: float) -> bool:
    tall = [g for g in word.glyphs if g.height >= 0.45 * height]
    return len(tall) >= 2 and len(tall) >= 0.5 * len(word.glyphs)


def _reads_as_text(text: str) -> bool:
    """Whether it is no row of markers or dashes."""
    known = [c for c in text if c.isalnum()]
    return (
        len(known) >= 2 and len(set(text.lower())) >= 2 and not set(text.lower()) <= set("o0.-_ ")
    )
