"""How far probabilities are shares: bins with their intervals, and their picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

BINS = 10


class Bin(NamedTuple):
    """Rows of similar probability: how many, its mean, the share of positives, its interval."""

    n: int
    mean: float
    share: float
    low: float
    high: float


def reliability_bins(
    proba: NDArray[np.float64], y: NDArray[np.int64], bins: int = BINS
) -> tuple[Bin, ...]:
    """Bins of about as many rows each, equal probabilities together.

    The interval is that of Clopper and Pearson at 95 %.

    Examples
    --------
    >>> import numpy as np
    >>> (low, high) = reliability_bins(np.repeat([0.2, 0.6], 50), np.tile([0, 1], 50), bins=2)
    >>> low.n, round(low.mean, 2), low.share, low.low < 0.5 < low.high
    (50, 0.2, 0.5, True)
    """
    edges = np.unique(np.quantile(proba, np.linspace(0, 1, bins + 1)[1:-1]))
    place = np.searchsorted(edges, proba, side="right")
    found = []
    for at in np.unique(place):
        inside = place == at
        n, k = int(inside.sum()), int(y[inside].sum())
        low = float(beta.ppf(0.025, k, n - k + 1)) if k else 0.0
        high = float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0
        found.append(Bin(n, float(proba[inside].mean()), k / n, low, high))
    return tuple(found)


def draw(
    file: Path,
    file_format: str,
    bins: tuple[Bin, ...],
    proba: NDArray[np.float64],
    model: Any,
    positive: str,
) -> None:
    """Reliability diagram of 6 by 5 inches, over a histogram of the probabilities.

    Parameters
    ----------
    file : Path
    file_format : {"png", "svg", "pdf"}
    bins, proba
        Out of fold.
    model : LinearFractionalClassifier
        Of which the threshold is marked.
    positive : str
        How the positive class is called.
    """
    import matplotlib
    from matplotlib.figure import Figure

    # Text of someone's table is not to be read as mathematics, and an SVG not to change by itself.
    with matplotlib.rc_context({"text.parse_math": False, "svg.hashsalt": "probatum"}):
        figure = Figure(figsize=(6, 5), dpi=150, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
        mean = np.array([one.mean for one in bins])
        share = np.array([one.share for one in bins])
        reach = np.array(
            [[one.share - one.low for one in bins], [one.high - one.share for one in bins]]
        )
        above.plot([0, 1], [0, 1], color="0.6", lw=1, zorder=0, label="probability = share")
        above.errorbar(
            mean,
            share,
            yerr=reach,
            fmt="o",
            color="#1f5f8b",
            capsize=3,
            label="bins, 95 %",
        )
        threshold = float(model.threshold_)
        if 0 <= threshold <= 1:
            for axes in (above, below):
                axes.axvline(threshold, color="#c1440e", ls="--", lw=1.5)
            above.plot(
                [],
                [],
                color="#c1440e",
                ls="--",
                label=f"threshold {threshold:.3f} ({model.metric_.name})",
            )
        right = min(max(1.05 * float(proba.max()), 1.2 * min(threshold, 1.0), 0.05), 1.0)
        top = min(1.05 * max(float((share + reach[1]).max()), right), 1.02)
        above.set(xlim=(0, right), ylim=(0, top), ylabel=f"share of {positive[:40]!r}")
        figure.suptitle("Reliability of out-of-fold probabilities", fontsize=11)
        # Above the axes: inside, wherever it is put, it covers some table's bins.
        above.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize=8, frameon=False
        )
        below.hist(proba, bins=np.linspace(0, right, 41), color="#1f5f8b", log=True)
        below.yaxis.set_major_formatter("{x:g}")  # matplotlib's own, 10^2, is mathematics
        below.yaxis.set_minor_formatter("")
        below.set(xlabel=f"predicted probability of {positive[:40]!r}", ylabel="rows")
        for axes in (above, below):
            axes.spines[["top", "right"]].set_visible(False)
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(file, format=file_format, metadata=dated.get(file_format))
