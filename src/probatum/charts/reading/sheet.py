"""The image as it is worked on: three channels, large enough, upright, with a known background."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ImageLike", "Sheet", "enlarged", "ink", "load", "mode_color", "opened", "turned"]

Image: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.floating[Any]]
ImageLike: TypeAlias = "str | os.PathLike[str] | NDArray[Any] | Any"

SMALLEST_SIDE = 500
MOST_PIXELS = 40_000_000
_LEVELS = 32


@dataclass(frozen=True)
class Sheet:
    """An image, and how its pixels lie in the one it was made of.

    Attributes
    ----------
    rgb : ndarray of shape (height, width, 3), dtype uint8
    background : tuple of int
    scale : float
        Its pixels per pixel of the original.
    original : ndarray of shape (height, width, 3), dtype uint8
        The image as it was given, turned as this one is.
    angle : float
        Degrees by which it was turned counter-clockwise.
    """

    rgb: Image
    background: tuple[int, int, int]
    scale: float
    original: Image
    angle: float = 0.0


def opened(image: ImageLike) -> Image:
    """An image as three channels on white; from a file, an array or a Pillow image.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no file, or nothing in it that is an image.
    """
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    if isinstance(image, np.ndarray):
        return _from_array(image)
    if isinstance(image, str | os.PathLike):
        path = Path(image)
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        try:
            with Pillow.open(path) as found:
                _check_size(found.size)
                return _flattened(found)
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
            if isinstance(error, ValueError) and "pixels" in str(error):
                raise
            raise ValueError(f"{path.name} is not an image that can be read") from None
    if hasattr(image, "convert") and hasattr(image, "size"):
        _check_size(image.size)
        return _flattened(image)
    raise TypeError(f"an image is a file, an array or a Pillow image, got {type(image).__name__}")


def _check_size(size: tuple[int, int]) -> None:
    if size[0] * size[1] > MOST_PIXELS:
        raise ValueError(
            f"an image may have {MOST_PIXELS / 1e6:g} million pixels, this one is "
            f"{size[0]} by {size[1]}"
        )
    if min(size) < 32:
        raise ValueError(f"an image of {size[0]} by {size[1]} pixels is too small to hold a plot")


def _flattened(image: Any) -> Image:
    from PIL import Image as Pillow

    if image.mode in ("I;16", "I", "F"):
        levels = np.asarray(image, float)
        top = levels.max() or 1.0
        return _from_array((levels / top * 255).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        whole = image.convert("RGBA")
        white = Pillow.new("RGBA", whole.size, "white")
        return np.asarray(Pillow.alpha_composite(white, whole).convert("RGB"))
    return np.asarray(image.convert("RGB"))


def _from_array(image: NDArray[Any]) -> Image:
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3, 4)):
        raise ValueError(
            f"an image has the shape (height, width) or (height, width, 3), got {image.shape}"
        )
    _check_size((image.shape[1], image.shape[0]))
    if image.dtype == bool:
        image = image.astype(np.uint8) * 255
    elif np.issubdtype(image.dtype, np.floating):
        if not np.isfinite(image).all() or image.min() < 0 or image.max() > 1:
            raise ValueError("an image of floats has values from 0 to 1")
        image = np.rint(image * 255).astype(np.uint8)
    elif image.dtype != np.uint8:
        raise ValueError(f"an image has values of uint8, or floats from 0 to 1, got {image.dtype}")
    if image.ndim == 2:
        image = image[..., None]
    if image.shape[2] == 1:
        return np.repeat(image, 3, axis=2)
    if image.shape[2] == 4:
        alpha = image[..., 3:].astype(float) / 255
        image = np.rint(image[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    return np.ascontiguousarray(image)


def load(image: ImageLike) -> Sheet:
    """Bring an image to the size and form that the other steps expect."""
    from PIL import Image as Pillow

    rgb = original = opened(image)
    scale = 1.0
    if min(rgb.shape[:2]) < SMALLEST_SIDE and max(rgb.shape[:2]) < 2500:
        scale = 2.0
        size = (rgb.shape[1] * 2, rgb.shape[0] * 2)
        rgb = np.asarray(Pillow.fromarray(rgb).resize(size, Pillow.Resampling.BICUBIC))
    return Sheet(rgb, mode_color(rgb), scale, original)


def enlarged(sheet: Sheet) -> Sheet:
    """The sheet with twice as many pixels a side."""
    from PIL import Image as Pillow

    size = (sheet.rgb.shape[1] * 2, sheet.rgb.shape[0] * 2)
    rgb = np.asarray(Pillow.fromarray(sheet.rgb).resize(size, Pillow.Resampling.BICUBIC))
    return replace(sheet, rgb=rgb, scale=2 * sheet.scale)


def turned(sheet: Sheet, angle: float) -> Sheet:
    """The sheet turned counter-clockwise about its centre, cut to the same size."""
    from PIL import Image as Pillow

    def upright(rgb: Image) -> Image:
        whole = Pillow.fromarray(rgb)
        return np.asarray(
            whole.rotate(angle, Pillow.Resampling.BICUBIC, fillcolor=sheet.background)
        )

    rgb = upright(sheet.rgb)
    original = rgb if sheet.original is sheet.rgb else upright(sheet.original)
    return Sheet(rgb, sheet.background, sheet.scale, original, angle)


def _codes(rgb: Image) -> NDArray[np.int32]:
    """Colours in 32 levels a channel, as one number."""
    parts = (rgb >> 3).astype(np.int32)
    return np.asarray((parts[..., 0] * _LEVELS + parts[..., 1]) * _LEVELS + parts[..., 2])


@lru_cache(maxsize=1)
def _lab() -> Floats:
    """CIELAB (D65) of each code, shape (32768, 3)."""
    level = (np.arange(_LEVELS) * 8 + 3.5) / 255
    # The darkest and the lightest level are black and white themselves.
    level[0], level[-1] = 0.0, 1.0
    grid = np.stack(np.meshgrid(level, level, level, indexing="ij"), -1).reshape(-1, 3)
    from skimage.color import rgb2lab

    return np.asarray(rgb2lab(grid[None])[0])


def lab_of(rgb: Image) -> Floats:
    """CIELAB of each pixel, to within an eighth of a channel's 256 levels."""
    return np.asarray(_lab()[_codes(rgb)])


def mode_color(rgb: Image) -> tuple[int, int, int]:
    """The most frequent colour."""
    codes = _codes(rgb).ravel()
    counts = np.bincount(codes, minlength=_LEVELS**3)
    most = rgb.reshape(-1, 3)[codes == int(counts.argmax())]
    r, g, b = (int(v) for v in np.median(most[:: max(1, len(most) // 10_000)], axis=0))
    return r, g, b


def ink(rgb: Image, background: tuple[int, int, int]) -> NDArray[np.float32]:
    """Distance of each pixel from the background in CIELAB; 100 is black on white."""
    codes = _codes(np.array([[background]], np.uint8))
    table = np.linalg.norm(_lab() - _lab()[int(codes[0, 0])], axis=1).astype(np.float32)
    return np.asarray(table[_codes(rgb)])
