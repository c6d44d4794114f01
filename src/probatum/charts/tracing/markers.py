"""Markers: many pieces of ink alike, each of which is one point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["markers_of"]

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

_FEWEST = 5


def markers_of(mask: Mask, stroke: float, *, forced: bool) -> Floats | None:
    """Centroids of markers, from left to right; None if the ink is not that of markers.

    Parameters
    ----------
    mask : ndarray of bool
        Ink of one colour.
    stroke : float
        Thickness of its lines.
    forced : bool
        Take it for markers whatever it looks like; a line through them is taken away by opening.
    """
    found = _alike(mask)
    if forced and (found is None or len(found) < _FEWEST):
        found = _opened(mask, stroke)
    return found


def _alike(mask: Mask) -> Floats | None:
    from scipy import ndimage

    labels, n = ndimage.label(mask, structure=np.ones((3, 3)))
    if not _FEWEST <= n <= 2000:
        return None
    size = np.bincount(labels[mask], minlength=n + 1)[1:]
    boxes = ndimage.find_objects(labels)
    tall = np.array([s[0].stop - s[0].start for s in boxes])
    wide = np.array([s[1].stop - s[1].start for s in boxes])
    usual = np.median(size)
    like = (np.abs(size - usual) < 0.3 * usual) & (
        np.maximum(tall, wide) < 1.7 * np.minimum(tall, wide)
    )
    diameter = float(np.median(np.maximum(tall, wide)))
    if like.sum() < _FEWEST or diameter < 4 or size[like].sum() < 0.6 * size.sum():
        return None
    every = np.flatnonzero(like | (size > 1.5 * usual)) + 1
    centres = np.array(ndimage.center_of_mass(mask, labels, every)).reshape(-1, 2)[:, ::-1] + 0.5
    if _is_dotted(centres, diameter):
        return None
    return np.asarray(centres[np.argsort(centres[:, 0], kind="stable")])


def _is_dotted(centres: Floats, diameter: float) -> bool:
    """Whether points follow each other as closely and evenly as the dots of a line."""
    from scipy.spatial import cKDTree

    apart = cKDTree(centres).query(centres, k=2)[0][:, 1]
    middle = float(np.median(apart))
    return middle <= 2.6 * diameter and float(np.std(apart)) < 0.25 * middle


def _opened(mask: Mask, stroke: float) -> Floats:
    """Centres of what is thicker than the lines."""
    from scipy import ndimage

    depth = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    deep = float(depth.max(initial=0.0))
    labels, n = ndimage.label(depth > max(0.6 * deep, min(0.75 * stroke, 0.9 * deep)))
    if not n:
        return np.zeros((0, 2))
    centres = np.array(ndimage.center_of_mass(depth, labels, np.arange(1, n + 1)))
    centres = centres.reshape(-1, 2)[:, ::-1] + 0.5
    return np.asarray(centres[np.argsort(centres[:, 0], kind="stable")])
