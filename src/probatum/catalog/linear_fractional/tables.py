"""Trials on real tables: the plug-in rule beside the ways people choose a threshold today."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    train_test_split,
)

from probatum.data import Table, preprocessor
from probatum.evidence import Block, Dataset, Row
from probatum.evidence.model import resolve
from probatum.supervised import LinearFractional, LinearFractionalClassifier

Array = NDArray[np.float64]

METRICS: dict[str, LinearFractional] = {
    "f1": LinearFractional.f1(),
    "jaccard": LinearFractional.jaccard(),
    "tversky": LinearFractional.tversky(0.3, 0.7),
    # A ratio in which true negatives count: a bonus for the rows left alone.
    "with-negatives": LinearFractional(
        num={"TP": 1.0, "TN": 0.1}, den={"TP": 1.0, "FP": 1.0, "FN": 1.0, "TN": 0.1}
    ),
}


class Contender(Protocol):
    """What an arm must be: a classifier, built for a learner and a metric."""

    def fit(self, X: Array, y: NDArray[np.int64]) -> Any: ...
    def predict(self, X: Array) -> NDArray[np.int64]: ...


# --- arms: called with (learner, metric, pool, seed), they give a classifier ---------------------


@dataclass(frozen=True)
class PlugIn:
    """The method: the threshold computed from probabilities of unlabelled rows.

    ``unlabeled`` takes the pool of unlabelled rows, otherwise out-of-fold probabilities of the
    training rows are used. ``balanced`` is the control: the scores are distorted by class weights
    and not calibrated, which takes away what the method rests on.
    """

    calibration: Literal["auto", "sigmoid", "isotonic"] | None = "auto"
    unlabeled: bool = True
    balanced: bool = False

    def __call__(self, learner: Any, metric: LinearFractional, pool: Array, seed: int) -> Contender:
        if self.balanced:
            learner = clone(learner).set_params(class_weight="balanced")
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        model = LinearFractionalClassifier(
            learner, metric=metric, calibration=self.calibration, cv=folds
        )
        return _WithPool(model, pool if self.unlabeled else None)


class _WithPool(ClassifierMixin, BaseEstimator):
    """A classifier whose fit is also given a pool of unlabelled rows."""

    def __init__(self, model: Any, pool: Any) -> None:
        self.model = model
        self.pool = pool

    def fit(self, X: Array, y: NDArray[np.int64]) -> Self:
        with warnings.catch_warnings():
            # The control's scores are miscalibrated on purpose.
            warnings.simplefilter("ignore")
            self.model.fit(X, y, X_unlabeled=self.pool)
        self.threshold_ = self.model.threshold_
        return self

    def predict(self, X: Array) -> NDArray[np.int64]:
        return np.asarray(self.model.predict(X))


@dataclass(frozen=True)
class Half:
    """What predict does by itself, with class weights or not."""

    balanced: bool = False

    def __call__(self, learner: Any, metric: LinearFractional, pool: Array, seed: int) -> Contender:
        changed: Contender = clone(learner)
        if self.balanced:
            changed = clone(learner).set_params(class_weight="balanced")
        return changed


@dataclass(frozen=True)
class TunedCV:
    """scikit-learn's tuner: five refits, the mean score over a grid of thresholds."""

    thresholds: int = 100

    def __call__(self, learner: Any, metric: LinearFractional, pool: Array, seed: int) -> Contender:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        model: Contender = TunedThresholdClassifierCV(
            learner, scoring=make_scorer(metric), thresholds=self.thresholds, cv=folds
        )
        return model


class OutOfFoldSweep(ClassifierMixin, BaseEstimator):
    """The strongest tuner: the best of all cuts of pooled out-of-fold scores."""

    def __init__(self, learner: Any, metric: LinearFractional, seed: int) -> None:
        self.learner = learner
        self.metric = metric
        self.seed = seed

    def fit(self, X: Array, y: NDArray[np.int64]) -> Self:
        folds = StratifiedKFold(5, shuffle=True, random_state=self.seed)
        scores = cross_val_predict(self.learner, X, y, cv=folds, method="predict_proba")[:, 1]
        self.threshold_ = best_cut(y, scores, self.metric)
        self.model_ = clone(self.learner).fit(X, y)
        return self

    def predict(self, X: Array) -> NDArray[np.int64]:
        return np.asarray(self.model_.predict_proba(X)[:, 1] > self.threshold_).astype(int)


class HoldOut(OutOfFoldSweep):
    """The textbook way: 30 % of the rows are kept to choose the threshold on."""

    def fit(self, X: Array, y: NDArray[np.int64]) -> Self:
        own, kept, y_own, y_kept = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=self.seed
        )
        self.model_ = clone(self.learner).fit(own, y_own)
        scores = self.model_.predict_proba(kept)[:, 1]
        self.threshold_ = best_cut(y_kept, scores, self.metric)
        return self


@dataclass(frozen=True)
class Sweep:
    """Arm for the two that search all cuts."""

    hold_out: bool = False

    def __call__(self, learner: Any, metric: LinearFractional, pool: Array, seed: int) -> Contender:
        return (HoldOut if self.hold_out else OutOfFoldSweep)(learner, metric, seed)


@dataclass(frozen=True)
class Smote:
    """Synthetic minority rows in training, then a threshold of one half."""

    def __call__(self, learner: Any, metric: LinearFractional, pool: Array, seed: int) -> Contender:
        from imblearn.over_sampling import SMOTE
        from imblearn.pipeline import make_pipeline

        # A hundred rows can hold three positives, so no more than two neighbours.
        resample = SMOTE(k_neighbors=2, random_state=seed)
        pipeline: Contender = make_pipeline(resample, clone(learner))
        return pipeline


def best_cut(y: NDArray[np.int64], scores: NDArray[np.float64], metric: LinearFractional) -> float:
    """Threshold between scores that is best on the labels, over all cuts, in one sweep."""
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(y[order])
    taken = np.arange(1, y.size + 1)
    tp, fp = hits.astype(float), (taken - hits).astype(float)
    fn, tn = hits[-1] - tp, y.size - hits[-1] - fp
    cells = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
    top = sum(metric.num[name] * cell for name, cell in cells.items()) + metric.num["constant"]
    bottom = sum(metric.den[name] * cell for name, cell in cells.items()) + metric.den["constant"]
    values = np.where(np.append(ranked[1:] < ranked[:-1], True), top / bottom, -np.inf)
    at = int(np.argmax(values))
    # Taking every row needs a threshold below the lowest score.
    below = ranked[at + 1] if at + 1 < ranked.size else ranked[at] - 1e-6
    return float(0.5 * (ranked[at] + below))


# --- trials --------------------------------------------------------------------------------------


def learner_for(name: str, seed: int) -> Any:
    """A probabilistic classifier as its users would set it up."""
    if name == "logistic":
        return LogisticRegression(max_iter=2000)
    if name == "forest":
        return RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
    return HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)


@dataclass(frozen=True)
class Split:
    """One replicate of a table, encoded as its training rows say: train, pool, test."""

    train: Array
    y_train: NDArray[np.int64]
    pool: Array
    test: Array
    y_test: NDArray[np.int64]


def split(dataset: Dataset, n: int, rng: np.random.Generator) -> Split:
    """Training rows stratified by class; the rest halved into unlabelled pool and test rows.

    A table that is too small for ``n`` training rows gives half of its rows. Imputation, levels
    and scales are learned on the training rows, once for all arms and folds: no label is used.
    """
    train_seed, pool_seed = (int(seed) for seed in rng.integers(2**31, size=2))
    params = json.dumps(dict(dataset.params), sort_keys=True)
    return _encoded(dataset.load, params, n, train_seed, pool_seed)


@lru_cache(maxsize=16)
def _opened(load: str, params: str) -> Table:
    """A table that the arms of a block share in one worker."""
    table: Table = resolve(load)(**json.loads(params))
    return table


@lru_cache(maxsize=16)
def _encoded(load: str, params: str, n: int, train_seed: int, pool_seed: int) -> Split:
    table = _opened(load, params)
    n = min(n, table.y.size // 2)
    rows = np.arange(table.y.size)
    train, rest = train_test_split(rows, train_size=n, stratify=table.y, random_state=train_seed)
    pool, test = train_test_split(
        rest, test_size=0.5, stratify=table.y[rest], random_state=pool_seed
    )
    with warnings.catch_warnings():
        # Levels that a small sample lacks.
        warnings.simplefilter("ignore")
        encode = preprocessor(table.X).fit(table.X.iloc[train])
        encoded = [np.asarray(encode.transform(table.X.iloc[at])) for at in (train, pool, test)]
    for shared in encoded:
        shared.flags.writeable = False
    return Split(encoded[0], table.y[train], encoded[1], encoded[2], table.y[test])


def scores(block: Block) -> list[Row]:
    """Test scores of an arm under each metric, per learner and training size."""
    make, arm = block.arms[0].build(), block.arms[0].id
    rows = []
    for n in block.size["n_train"]:
        rng = block.rng(f"split {n}")
        part, seed = split(block.dataset, n, rng), int(rng.integers(2**31))
        for name in block.size["learners"]:
            values = {}
            for metric in block.size["metrics"]:
                model = make(learner_for(name, seed), METRICS[metric], part.pool, seed)
                values[metric] = _tested(model, part, METRICS[metric])
            rows.append(Row(arm, f"{name} {n}", values=values))
    return rows


def _tested(model: Contender, part: Split, metric: LinearFractional) -> float:
    with warnings.catch_warnings():
        # Scorers complain of folds in which nothing is predicted positive.
        warnings.simplefilter("ignore")
        model.fit(part.train, part.y_train)
        return metric(part.y_test, model.predict(part.test))


def spread(block: Block) -> list[Row]:
    """Standard deviation of the threshold over independent training samples of one size."""
    make, arm = block.arms[0].build(), block.arms[0].id
    found = []
    for draw in range(block.size["samples"]):
        rng = block.rng(f"sample {draw}")
        part, seed = split(block.dataset, block.size["n_train"], rng), int(rng.integers(2**31))
        model = make(learner_for("logistic", seed), METRICS["f1"], part.pool, seed)
        _tested(model, part, METRICS["f1"])
        found.append(float(getattr(model, "threshold_", getattr(model, "best_threshold_", 0.5))))
    # Thresholds that agree to the last digit would have no logarithm.
    return [Row(arm, values={"threshold_sd": max(float(np.std(found, ddof=1)), 1e-6)})]


class PlugInThreshold:
    """The method, given a fitted regression: its threshold from the pool."""

    def __call__(self, scorer: Any, X: Array, y: NDArray[np.int64], pool: Array) -> float:
        model = LinearFractionalClassifier(scorer, calibration=None, prefit=True)
        with warnings.catch_warnings():
            # A split can leave a prevalence that the scores do not match.
            warnings.simplefilter("ignore")
            return float(model.fit(X, y, X_unlabeled=pool).threshold_)


class ValidatedThreshold:
    """Control: the threshold that is best on labelled rows."""

    def __call__(self, scorer: Any, X: Array, y: NDArray[np.int64], pool: Array) -> float:
        return best_cut(y, scorer.predict_proba(X)[:, 1], METRICS["f1"])


def permuted_labels(block: Block) -> list[Row]:
    """How far the threshold moves when the labels it is fitted with are permuted."""
    rng = block.rng("split")
    part = split(block.dataset, block.size["n_train"], rng)
    half = part.y_train.size // 2
    scorer = learner_for("logistic", 0).fit(part.train[:half], part.y_train[:half])
    X, y = part.train[half:], part.y_train[half:]
    threshold = block.arms[0].build()
    moved = threshold(scorer, X, rng.permutation(y), part.pool) - threshold(scorer, X, y, part.pool)
    return [Row(block.arms[0].id, values={"shift": abs(moved)})]


def unlabelled_rows(block: Block) -> list[Row]:
    """Test F1 with the threshold found on an unlabelled pool of the arm's size.

    The pool is drawn with replacement from the table's rows outside training and test.
    """
    size, arm = block.arms[0].build(), block.arms[0].id
    rng = block.rng("split")
    part, seed = split(block.dataset, block.size["n_train"], rng), int(rng.integers(2**31))
    draws = block.rng("pool").integers(part.pool.shape[0], size=100 * part.y_train.size)
    pool = part.pool[draws[: size(part.y_train.size)]]
    model = PlugIn()(learner_for("logistic", seed), METRICS["f1"], pool, seed)
    return [Row(arm, values={"f1": _tested(model, part, METRICS["f1"])})]


@dataclass(frozen=True)
class PoolSize:
    """Size of the unlabelled pool: a multiple of the training rows, or a fixed few."""

    times: float = 1.0
    rows: int | None = None

    def __call__(self, n_train: int) -> int:
        return self.rows or max(int(self.times * n_train), 2)
