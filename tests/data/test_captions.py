"""The caption contests are the known ones."""

from __future__ import annotations

import hashlib
from importlib import resources

import numpy as np
import pytest

from probatum.data import load_captions, top_captions
from probatum.data.captions import CAPTION_CONTESTS, FILE, SHA256, captions_identity


def test_the_file_is_known_and_its_licence_stated() -> None:
    folder = resources.files("probatum.data") / "tables"
    assert hashlib.sha256((folder / FILE).read_bytes()).hexdigest() == SHA256
    assert "caption-contest" in (folder / "LICENSES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("contest", "known"), [(527, 41), (528, 0), (529, 49), (530, 184)])
def test_contests(contest: int, known: int) -> None:
    captions = load_captions(contest)
    assert captions.licence == "CC BY 4.0"
    assert (captions.votes >= 100).sum() == known
    assert (captions.funny <= captions.votes).all()
    assert np.unique(captions.caption).size == captions.caption.size


def test_best_captions() -> None:
    shares = top_captions(530, 184, 100)
    assert shares[0] == pytest.approx(0.6, abs=0.001)
    assert shares[-1] == pytest.approx(0.28, abs=0.01)
    assert (np.diff(shares) <= 0).all()
    assert captions_identity(530, 10, 100) != captions_identity(527, 10, 100)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match=f"one of {CAPTION_CONTESTS[0]}"):
        load_captions(1)
    with pytest.raises(ValueError, match="between 1 and 41"):
        top_captions(527, 42, 100)
