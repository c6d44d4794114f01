"""Speed of `probatum.supervised` beside scikit-learn's tools for the same job.

    python benchmarks/supervised.py [--json] [--repeats 5]

Ours and theirs run in turn in one process on one thread; medians are shown (one run of the slow
cases), and a ratio below one means that ours is faster. The fits come in two kinds: with unlabelled
rows and an estimator taken as calibrated, which is the paper's setting (one fit of the estimator),
and the default (calibrated by cross-fitting: six fits of the estimator, as many as the peer's).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import TunedThresholdClassifierCV
from threadpoolctl import threadpool_limits

from probatum.supervised import LinearFractional, LinearFractionalClassifier, optimal_threshold

PAPER = "linear-fractional"
F1 = LinearFractional.f1()


def seconds(calls: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Median time of each call; they run in turn, so that a busy moment hits them alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, kept in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            kept.append(time.perf_counter() - start)
    return [float(np.median(kept)) for kept in times]


def record(what: str, peer: str, size: dict[str, int], pair: Sequence[float]) -> dict[str, Any]:
    """One line of the output."""
    return {
        "paper": PAPER,
        "what": what,
        "peer": peer,
        "version": f"scikit-learn {sklearn.__version__}",
        "size": size,
        "ours": pair[0],
        "theirs": pair[1],
        "ratio": pair[0] / pair[1],
        "unit": "s",
    }


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
        yield record("optimal_threshold", "precision_recall_curve sweep", {"n": n}, pair)
    slope = float(np.polyfit(np.log(sizes[1:]), np.log(ours[1:]), 1)[0])
    line = record("optimal_threshold growth", "linear", {"n": sizes[-1]}, (slope, 1.0))
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
                yield record(what, "TunedThresholdClassifierCV", {"n": n}, (ours, times[-1]))


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of the quick cases")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # a warning's printing would be timed as well
    with threadpool_limits(1):
        X, y = make_classification(200, random_state=0)  # the first fit pays for lazy imports
        LinearFractionalClassifier().fit(X, y)
        for lines in (threshold_lines, fit_lines):
            for line in lines(args.repeats):
                if args.json:
                    print(json.dumps(line), flush=True)
                    continue
                size = f"n={line['size']['n']:,}"
                print(
                    f"{line['what']:<52} {size:<14} ours {line['ours']:9.4f}  theirs "
                    f"{line['theirs']:9.4f}  ratio {line['ratio']:6.3f}  {line['unit']}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
