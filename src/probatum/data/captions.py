"""Votes on captions of a cartoon caption contest: success rates that nobody here made up."""

from __future__ import annotations

import gzip
import hashlib
import io
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from probatum.data.store import DataNotFoundError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CAPTION_CONTESTS", "Captions", "captions_identity", "load_captions", "top_captions"]

CAPTION_CONTESTS = (527, 528, 529, 530)
FILE = "caption-contest.csv.gz"
SHA256 = "9f96e059ed03bd7c60029953863dc2a58f6e05387d87be733ed38c720618be9d"


@dataclass(frozen=True)
class Captions:
    """One contest.

    Attributes
    ----------
    contest : int
    caption : ndarray of int, shape (n,)
        Number of the caption in the contest.
    funny : ndarray of int, shape (n,)
        Votes for "funny" or "somewhat funny".
    votes : ndarray of int, shape (n,)
        All votes.
    licence, source : str
    """

    contest: int
    caption: npt.NDArray[np.int64]
    funny: npt.NDArray[np.int64]
    votes: npt.NDArray[np.int64]
    licence: str = "CC BY 4.0"
    source: str = "github.com/nextml/NEXT-data, votes gathered by lil'UCB"


def load_captions(contest: int) -> Captions:
    """Votes on the captions of a contest.

    Parameters
    ----------
    contest : {527, 528, 529, 530}

    Raises
    ------
    ValueError
        If there is no such contest.
    DataNotFoundError
        If the installed file is damaged.

    Examples
    --------
    >>> captions = load_captions(530)
    >>> captions.votes.size, int((captions.votes >= 100).sum())
    (3429, 184)
    """
    if contest not in CAPTION_CONTESTS:
        known = ", ".join(map(str, CAPTION_CONTESTS))
        raise ValueError(f"contest must be one of {known}, got {contest!r}")
    import pandas as pd

    packed = (resources.files("probatum.data") / "tables" / FILE).read_bytes()
    if hashlib.sha256(packed).hexdigest() != SHA256:
        raise DataNotFoundError("caption-contest", f"{FILE} is damaged; reinstall probatum")
    table = pd.read_csv(io.BytesIO(gzip.decompress(packed)))
    table = table[table["contest"] == contest]
    funny = table["somewhat_funny"] + table["funny"]
    return Captions(
        contest,
        table["caption_id"].to_numpy(dtype="int64"),
        funny.to_numpy(dtype="int64"),
        (funny + table["unfunny"]).to_numpy(dtype="int64"),
    )


def top_captions(contest: int, top: int, least_votes: int) -> npt.NDArray[np.float64]:
    """Shares of votes for funny of the best captions that were voted on often enough.

    Parameters
    ----------
    contest : int
    top : int
        Number of captions.
    least_votes : int
        Votes that a caption must have, so that its share is known.

    Returns
    -------
    ndarray of shape (top,)
        Highest first.

    Examples
    --------
    >>> top_captions(530, 3, 100).round(3).tolist()
    [0.6, 0.582, 0.566]
    """
    import numpy as np

    captions = load_captions(contest)
    known = captions.votes >= least_votes
    if not 1 <= top <= known.sum():
        raise ValueError(f"top must lie between 1 and {int(known.sum())}, got {top}")
    shares = captions.funny[known] / captions.votes[known]
    return np.sort(shares)[::-1][:top].copy()


def captions_identity(contest: int, top: int, least_votes: int) -> str:
    """Hash of the content of `top_captions`, without reading it."""
    stated = f"{SHA256} {contest} {top} {least_votes}"
    return hashlib.sha256(stated.encode()).hexdigest()[:16]
