"""Speed of `probatum.supervised` beside scikit-learn's tools for the same job.

    python benchmarks/supervised.py [--json] [--repeats 5]

Ours and theirs run in turn in one process on one thread; medians are shown (one run of the slow
cases), and a ratio below one means that ours is faster. The fits come in two kinds: with unlabelled
rows and an estimator taken as calibrated, which is the paper's setting (one fit of the estimator),
and the default (calibrated by cross-fitting: six fits of the estimator, as many as the peer's).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn
from _side_by_side import arguments, record, seconds, show
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import TunedThresholdClassifierCV

from probatum.supervised import LinearFractional, LinearFractionalClassifier, optimal_threshold

PAPER = "linear-fractional"
SKLEARN = f"scikit-learn {sklearn.__version__}"
F1 = LinearFractional.f1()


def sweep(y: np.ndarray, scores: np.ndarray) -> float:
    """The peer: best F1 threshold by a sweep over labelled scores."""
    precision, recall, thresholds = precision_recall_curve(y, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
    return float(thresholds[np.argmax(f1[:-1])])


def threshold_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Threshold from scores, and how its cost grows."""
    rng = np.random.default_rng(0)
    sizes, ours = (10**4, 10**5, 10**6, 10**7), []
    for n in sizes:
        scores = rng.beta(0.5, 6, n)
        y = rng.random(n) < scores
        pair = seconds(
            [
                lambda scores=scores: optimal_threshold(scores, F1),
                lambda y=y, scores=scores: sweep(y, scores),
            ],
            repeats if n < 10**7 else 1,
        )
        ours.append(pair[0])
        yield record(
            PAPER, "optimal_threshold", "precision_recall_curve sweep", SKLEARN, {"n": n}, pair
        )
    slope = float(np.polyfit(np.log(sizes[1:]), np.log(ours[1:]), 1)[0])
    line = record(
        PAPER, "optimal_threshold growth", "linear", SKLEARN, {"n": sizes[-1]}, (slope, 1.0)
    )
    yield line | {"version": "", "unit": "exponent of n"}


def fit_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Whole fits beside TunedThresholdClassifierCV with its default settings."""
    models = {
        "logistic": (LogisticRegression(), (1_000, 10_000)),
        "forest": (RandomForestClassifier(50, random_state=0), (2_000,)),
        "boosting": (HistGradientBoostingClassifier(max_iter=50, random_state=0), (1_000, 10_000)),
    }
    for name, (model, sizes) in models.items():
        for n in sizes:
            X, y = make_classification(2 * n, weights=[0.9], flip_y=0.05, random_state=0)
            X, X_unlabeled, y = X[:n], X[n:], y[:n]
            peer = TunedThresholdClassifierCV(model, scoring="f1")
            plain = LinearFractionalClassifier(model, calibration=None)
            default = LinearFractionalClassifier(model)
            times = seconds(
                [
                    lambda m=plain, X=X, y=y, u=X_unlabeled: m.fit(X, y, X_unlabeled=u),
                    lambda m=default, X=X, y=y: m.fit(X, y),
                    lambda m=peer, X=X, y=y: m.fit(X, y),
                ],
                min(repeats, 2) if name == "logistic" else 1,
            )
            kinds = ("unlabelled rows, calibration=None", "default, cross-fitted")
            for kind, ours in zip(kinds, times, strict=False):
                what = f"fit, {name}, {kind}"
                yield record(
                    PAPER, what, "TunedThresholdClassifierCV", SKLEARN, {"n": n}, (ours, times[-1])
                )


def main() -> None:
    """Run everything and print it."""
    args = arguments(__doc__, 5).parse_args()
    warnings.simplefilter("ignore")  # a warning's printing would be timed as well
    X, y = make_classification(200, random_state=0)  # the first fit pays for lazy imports
    LinearFractionalClassifier().fit(X, y)
    show((lines(args.repeats) for lines in (threshold_lines, fit_lines)), args.json)


if __name__ == "__main__":
    main()
