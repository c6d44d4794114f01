"""What a strip of text says: the recognition model of RapidOCR, run by ONNX Runtime alone."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.charts.plot_data import OCRUnavailableError

__all__ = ["Said", "available", "recognise"]

_HEIGHT = 48
# Wider strips are read at this width; the text in them is then narrower, not cut.
_WIDEST = 1280
_MODEL = "ch_PP-OCRv4_rec_infer.onnx"
# Memory for one call grows with it.
_TOGETHER = 16


@dataclass(frozen=True)
class Said:
    """What was read, and the smallest probability of its characters."""

    text: str
    score: float


def available() -> bool:
    """Whether text can be read here."""
    return importlib.util.find_spec("onnxruntime") is not None and _model_file() is not None


def _model_file() -> Path | None:
    # Found without importing the package, which would want OpenCV and a display's libraries.
    found = importlib.util.find_spec("rapidocr_onnxruntime")
    for folder in (found.submodule_search_locations or []) if found else []:
        file = Path(folder) / "models" / _MODEL
        if file.is_file():
            return file
    return None


@lru_cache(maxsize=1)
def _session() -> tuple[Any, list[str]]:
    file = _model_file()
    if file is None or importlib.util.find_spec("onnxruntime") is None:
        raise OCRUnavailableError(
            f"tick labels can't be read without OCR: {OCRUnavailableError.remedy}; or give the "
            "calibration"
        )
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 1)
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    characters = session.get_modelmeta().custom_metadata_map["character"].splitlines()
    return session, ["", *characters, " "]


def recognise(strips: Sequence[NDArray[Any]]) -> list[Said]:
    """Read strips of text.

    Parameters
    ----------
    strips : sequence of ndarray of shape (height, width), dtype uint8
        Dark text on a light ground, one line each.

    Returns
    -------
    list of Said

    Raises
    ------
    OCRUnavailableError
        If the model or ONNX Runtime is not installed.
    """
    if not strips:
        return []
    session, characters = _session()
    ready = [_resized(strip) for strip in strips]
    order = sorted(range(len(ready)), key=lambda i: ready[i].shape[1])
    said: list[Said] = [Said("", 0.0)] * len(ready)
    for start in range(0, len(order), _TOGETHER):
        batch = order[start : start + _TOGETHER]
        width = max(32, max(ready[i].shape[1] for i in batch))
        values = np.zeros((len(batch), 3, _HEIGHT, width), np.float32)
        for row, i in enumerate(batch):
            values[row, :, :, : ready[i].shape[1]] = ready[i]
        (found,) = session.run(None, {session.get_inputs()[0].name: values})
        for row, i in enumerate(batch):
            said[i] = _decoded(found[row], characters)
    return said


def _resized(strip: NDArray[Any]) -> NDArray[np.float32]:
    from PIL import Image as Pillow

    height, width = strip.shape
    wide = int(np.clip(np.ceil(_HEIGHT * width / height), 8, _WIDEST))
    small = Pillow.fromarray(strip).resize((wide, _HEIGHT), Pillow.Resampling.BILINEAR)
    return np.asarray(small, np.float32) / 127.5 - 1.0


def _decoded(probabilities: NDArray[np.float32], characters: list[str]) -> Said:
    """The best path, without repetitions and blanks."""
    best = probabilities.argmax(axis=1)
    kept = (best != 0) & np.concatenate([[True], best[1:] != best[:-1]])
    if not kept.any():
        return Said("", 0.0)
    text = "".join(characters[i] if i < len(characters) else "" for i in best[kept])
    scores = probabilities.max(axis=1)[kept]
    return Said(text.strip(), float(scores.min()))
