"""``probatum use linear-fractional``: the method on a table of one's own.

What is told of it was not fitted to: scores come from rows of folds that no step had seen, the
calibration and the threshold included.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from probatum.catalog.linear_fractional.options import check_paths, parse_metric
from probatum.catalog.linear_fractional.predictions import (
    Unlabelled,
    decimal_sign,
    write_predictions,
)
from probatum.catalog.linear_fractional.reliability import Bin, draw, reliability_bins
from probatum.catalog.linear_fractional.tables import best_cut, learner_for
from probatum.data import Features, prepare_features, preprocessor
from probatum.data.user_tables import read_cells, typed
from probatum.evidence import Answer, Progress
from probatum.evidence.tool import silent
from probatum.files import whole_file
from probatum.stats.calibration import cross_fit
from probatum.supervised import LinearFractional, LinearFractionalClassifier, optimal_threshold

Array = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Learner = Literal["logistic", "forest", "boosting"]

FOLDS = 5
# Fewer rows of a class leave a fold with one or none.
LEAST_OF_A_CLASS, FEW_OF_A_CLASS = 10, 50
# The threshold's error goes with the root of the pool: rows to predict must be as many to serve.
LEAST_POOL = 100
RESAMPLES = 2000
# Of ten bins half a one is off by chance.
BINS_OFF = 3
_RULES = ("computed", "swept", "half")
_RULE_WORDS = {
    "computed": "computed threshold",
    "swept": "threshold swept over the labels",
    "half": "threshold 0.5",
}


def classify(
    train: Annotated[Path, "table with labels: CSV, TSV (also .gz), Parquet or Excel"],
    *,
    target: Annotated[str, "column to predict; two classes"],
    positive: Annotated[str | None, "the positive class (default: the rarer one)"] = None,
    metric: Annotated[str, "f1, jaccard, fbeta:B or tversky:A,B"] = "f1",
    estimator: Annotated[Learner, "what gives the probabilities"] = "logistic",
    unlabeled: Annotated[Path | None, "table without labels, to compute the threshold from"] = None,
    predict: Annotated[Path | None, "table of rows to predict"] = None,
    output: Annotated[Path | None, "where to write the predictions (.csv or .tsv, or .gz)"] = None,
    plot: Annotated[Path | None, "where to draw the reliability (.png, .svg or .pdf)"] = None,
    drop: Annotated[str, "columns not to use, COL,COL"] = "",
    separator: Annotated[str | None, "of the cells in a line (default: found)"] = None,
    encoding: Annotated[str | None, "of the files (default: utf-8)"] = None,
    seed: Annotated[int, "of folds and estimators"] = 0,
    progress: Progress = silent,
) -> Answer:
    """Fit a classifier for an F-score, Jaccard or Tversky index, and predict.

    The threshold is computed from probabilities of rows without labels: those of --unlabeled, else
    at least 100 of --predict, else out-of-fold probabilities of the training rows. Scores are
    measured on folds that nothing was fitted to, beside a threshold of 0.5 and the best one that
    a search over the labels finds.

    Returns
    -------
    Answer
        Scores, threshold and calibration; the files are the predictions (all columns, then row
        number from 1, probability of the positive class, predicted class) and the plot.

    Raises
    ------
    ValueError
        If an option or a table is not what it should be; says which and what is accepted.
    OSError
        If a file can't be read or written.
    ImportError
        If the plot needs matplotlib and it is not there.
    """
    asked = parse_metric(metric)
    if estimator not in get_args(Learner):
        known = ", ".join(get_args(Learner))
        raise ValueError(f"--estimator must be one of {known}, got {estimator!r}")
    if not 0 <= seed < 2**31:
        raise ValueError(f"--seed must lie from 0 to {2**31 - 1}, got {seed}")
    check_paths((train, unlabeled, predict), predict, output, plot)
    said: list[str] = []
    with _collected(said):
        read = _read(train, separator, encoding, target)
    dropped = [name.strip() for name in drop.split(",") if name.strip()]
    features = prepare_features(read.frame, target, dropped, positive=positive)
    said += features.notes
    _check_size(features, said)
    given = (separator, encoding, said)
    pool = None if unlabeled is None else _other(unlabeled, features, read, *given)
    rows = None if predict is None else _other(predict, features, read, *given)

    learner = make_pipeline(preprocessor(features.X), learner_for(estimator, seed))
    folds = _out_of_fold(learner, features, asked, seed, progress)
    progress(FOLDS, FOLDS + 1, "fitting to all rows")
    model, source = _fitted(learner, features, asked, seed, pool, rows, said)
    progress(FOLDS + 1, FOLDS + 1, "done")
    bins = reliability_bins(folds.proba, features.y)
    scores = _scores(folds, features.y, asked, seed)
    said += _doubts(model, features, bins, scores, asked)

    lines = _summary(train, features, model, source, scores, bins)
    values = _values(features, model, source, scores, bins, folds, estimator, seed)
    files = []
    if plot is not None:
        with whole_file(plot) as draft:
            draw(draft, plot.suffix[1:].lower(), bins, folds.proba, model, features.classes[1])
        files.append(plot)
    if rows is not None and predict is not None:
        proba = model.predict_proba(rows.X)[:, 1]
        chosen = np.asarray(model.predict(rows.X), dtype=bool)
        lines += (
            f"{chosen.sum()} of {chosen.size} rows of {predict.name} predicted "
            f"{features.positive!r}",
        )
        values["predicted"] = {"rows": int(chosen.size), "positive": int(chosen.sum())}
        if output is not None:
            said += write_predictions(output, rows, proba, chosen, features.classes)
            files.append(output)
    return Answer(lines, values, tuple(files), tuple(dict.fromkeys(said)))


# --- what goes in --------------------------------------------------------------------------------


@contextmanager
def _collected(said: list[str]) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            said.append(
                "the logistic regression has not converged; leave out columns (--drop) or take "
                "another --estimator"
            )
        # Levels that a fold lacks, and classes with fewer rows than folds, are no news.
        elif not str(warning.message).startswith(("Found unknown cat", "The least populated")):
            said.append(" ".join(str(warning.message).split()))


def _check_size(features: Features, said: list[str]) -> None:
    for code, name in enumerate(features.classes):
        count = int(np.count_nonzero(features.y == code))
        if count < LEAST_OF_A_CLASS:
            raise ValueError(
                f"{count} rows of {name!r} are too few: at least {LEAST_OF_A_CLASS} of each class "
                "are needed"
            )
        if count < FEW_OF_A_CLASS:
            said.append(f"only {count} rows of {name!r}: scores and calibration are rough")


@dataclass(frozen=True)
class _Read:
    """A table: cells as they are written, the same typed, and how the file writes them."""

    cells: pd.DataFrame
    frame: pd.DataFrame
    separator: str
    decimal: str | None


def _read(path: Path, separator: str | None, encoding: str | None, target: str = "") -> _Read:
    # In the target "None" may be a class.
    cells, found = read_cells(path, separator=separator, encoding=encoding, words=(target,))
    frame = cells if found is None else typed(cells, found, words=(target,))
    return _Read(cells, frame, found or ",", decimal_sign(cells, frame))


def _other(
    path: Path,
    features: Features,
    train: _Read,
    separator: str | None,
    encoding: str | None,
    said: list[str],
) -> Unlabelled:
    """Another table than that of the training rows."""
    with _collected(said):
        read = _read(path, separator, encoding)
    try:
        X, notes = features.apply(read.frame)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    # What is done to the training rows too has been said.
    said += [f"{path.name}: {note}" for note in notes if note not in features.notes]
    # A table without fractions is written as the training table is.
    decimal = read.decimal or (train.decimal if read.separator == train.separator else None)
    return Unlabelled(X, read.cells, read.frame, read.separator, path, decimal or ".")


# --- what is fitted and measured -----------------------------------------------------------------


@dataclass(frozen=True)
class _Folds:
    """Of every training row, what models say that had not seen its fold."""

    proba: Array
    predicted: dict[str, Booleans]


def _splitter(seed: int) -> StratifiedKFold:
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


def _out_of_fold(
    learner: Any, features: Features, metric: LinearFractional, seed: int, progress: Progress
) -> _Folds:
    """Nested: in each fold the estimator, its calibration and all thresholds are learned anew.

    One round of inner folds serves the calibration, the computed threshold and the swept one; a
    test holds it to what LinearFractionalClassifier itself would predict.
    """
    X, y = features.X, features.y
    proba = np.empty(y.size)
    predicted = {rule: np.empty(y.size, dtype=bool) for rule in _RULES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is to be said of a fit is said of the last one
        for done, (train, test) in enumerate(_splitter(seed).split(X, y)):
            progress(done, FOLDS + 1, f"fold {done + 1} of {FOLDS}")
            inner = cross_fit(learner, X.iloc[train], y[train], cv=_splitter(seed))
            raw = clone(learner).fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])[:, 1]
            assert inner.calibrator is not None
            proba[test] = inner.calibrator.predict(raw)
            best = optimal_threshold(inner.proba, metric)
            predicted["computed"][test] = metric.rule(best.score)(proba[test])
            predicted["swept"][test] = raw > best_cut(y[train], inner.scores, metric)
            predicted["half"][test] = raw > 0.5
    return _Folds(proba, predicted)


def _fitted(
    learner: Any,
    features: Features,
    metric: LinearFractional,
    seed: int,
    pool: Unlabelled | None,
    rows: Unlabelled | None,
    said: list[str],
) -> tuple[LinearFractionalClassifier, str]:
    """The model of all rows, and where its threshold comes from."""
    source = "out-of-fold probabilities of the training rows"
    if pool is not None:
        if len(pool.X) < LEAST_POOL:
            said.append(
                f"{len(pool.X)} rows of {pool.file.name} are few to compute a threshold from "
                f"({LEAST_POOL} or more are better)"
            )
    elif rows is not None and len(rows.X) >= LEAST_POOL:
        pool = rows
    elif rows is not None:
        said.append(
            f"{len(rows.X)} rows to predict are too few to compute the threshold from: that came "
            "from the training rows; --unlabeled takes more rows without labels"
        )
    if pool is not None:
        source = f"{len(pool.X)} unlabelled rows of {pool.file.name}"
    model = LinearFractionalClassifier(learner, metric=metric, cv=_splitter(seed))
    with _collected(said):
        model.fit(features.X, features.y, X_unlabeled=None if pool is None else pool.X)
    return model, source


@dataclass(frozen=True)
class _Estimate:
    """A score, or a difference of two, with the middle 95 % of resampled rows."""

    score: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.score:.3f} ({self.low:.3f} to {self.high:.3f})"


def _scores(
    folds: _Folds, y: NDArray[np.int64], metric: LinearFractional, seed: int
) -> dict[str, _Estimate]:
    """Scores out of fold and their differences; rows are resampled, models are not refitted."""
    code = y.astype(int)
    for rule in _RULES:
        code = 2 * code + folds.predicted[rule]
    counts = np.bincount(code, minlength=2 ** (1 + len(_RULES)))
    rng = np.random.default_rng(seed)
    drawn = np.vstack([counts, rng.multinomial(y.size, counts / y.size, size=RESAMPLES)])
    bits = np.arange(counts.size)
    positive = bits >> len(_RULES) & 1 == 1
    of = {}
    for place, rule in enumerate(reversed(_RULES)):
        chosen = bits >> place & 1 == 1
        of[rule] = _score(drawn, positive, chosen, metric)
    of["computed_minus_half"] = of["computed"] - of["half"]
    of["computed_minus_swept"] = of["computed"] - of["swept"]
    found = {}
    for name, values in of.items():
        low, high = np.quantile(values[1:], [0.025, 0.975])
        found[name] = _Estimate(float(values[0]), float(low), float(high))
    return found


def _score(drawn: Any, positive: Booleans, chosen: Booleans, metric: LinearFractional) -> Array:
    """The metric of each row of counts; 0 where it is undefined."""
    cells = {
        "TP": drawn[:, positive & chosen].sum(axis=1),
        "FP": drawn[:, ~positive & chosen].sum(axis=1),
        "FN": drawn[:, positive & ~chosen].sum(axis=1),
        "TN": drawn[:, ~positive & ~chosen].sum(axis=1),
        "constant": drawn.sum(axis=1),
    }
    top = sum(metric.num[name] * cell for name, cell in cells.items())
    bottom = np.asarray(sum(metric.den[name] * cell for name, cell in cells.items()), dtype=float)
    score = np.zeros(len(drawn))
    np.divide(top, bottom, out=score, where=bottom != 0)
    return score


# --- what is told --------------------------------------------------------------------------------


def _doubts(
    model: LinearFractionalClassifier,
    features: Features,
    bins: tuple[Bin, ...],
    scores: dict[str, _Estimate],
    metric: LinearFractional,
) -> list[str]:
    """What may be wrong with the model, and what would help."""
    found = []
    name, own = metric.name, scores["computed"]
    positives = int(features.y.sum())
    everything = metric.from_confusion(positives, features.y.size - positives, 0, 0)
    if own.score <= everything:
        found.append(
            f"{name} out of fold, {own.score:.3f}, is no better than that of predicting "
            f"{features.positive!r} everywhere ({everything:.3f}): the columns say little, or "
            "another --estimator would say more"
        )
    if (off := _off(bins)) >= BINS_OFF:
        found.append(
            f"the probabilities are off in {off} of {len(bins)} bins out of fold, so the threshold "
            "may be too: try another --estimator; --plot shows where"
        )
    if model.expected_score_ > own.high + 0.02:
        found.append(
            f"the model expects {name} {model.expected_score_:.3f} of itself, more than was "
            "measured out of fold: trust the latter, unless the unlabelled rows differ"
        )
    return found


def _off(bins: tuple[Bin, ...]) -> int:
    return sum(not one.low <= one.mean <= one.high for one in bins)


def _summary(
    train: Path,
    features: Features,
    model: LinearFractionalClassifier,
    source: str,
    scores: dict[str, _Estimate],
    bins: tuple[Bin, ...],
) -> tuple[str, ...]:
    name, share = model.metric_.name, float(features.y.mean())
    width = max(map(len, _RULE_WORDS.values()))
    mean = float(np.average([b.mean for b in bins], weights=[b.n for b in bins]))
    return (
        f"{features.y.size} rows of {train.name}, {share:.2%} of them {features.positive!r} "
        f"(positive), {len(features.rules)} columns used",
        f"threshold for {name}: {model.threshold_:.4f}, from {source}",
        f"{name} that the model expects of itself: {model.expected_score_:.3f}",
        f"{name} out of {FOLDS} folds that no step had seen (95 % of resampled rows):",
        *(f"  {_RULE_WORDS[rule]:{width}}  {scores[rule]}" for rule in _RULES),
        f"  computed minus swept {scores['computed_minus_swept']}, "
        f"minus 0.5 {scores['computed_minus_half']}",
        f"calibration out of fold: mean probability {mean:.4f}, share of {features.positive!r} "
        f"{share:.4f}; {_off(bins)} of {len(bins)} bins off by more than chance",
    )


def _values(
    features: Features,
    model: LinearFractionalClassifier,
    source: str,
    scores: dict[str, _Estimate],
    bins: tuple[Bin, ...],
    folds: _Folds,
    estimator: str,
    seed: int,
) -> dict[str, Any]:
    threshold = float(model.threshold_)
    return {
        "rows": int(features.y.size),
        "columns": [rule.name for rule in features.rules],
        "classes": list(features.classes),
        "positive": features.positive,
        "prevalence": float(features.y.mean()),
        "metric": model.metric_.name,
        "estimator": estimator,
        "seed": seed,
        "threshold": threshold if np.isfinite(threshold) else None,
        "threshold_from": source,
        "expected_score": float(model.expected_score_),
        "out_of_fold": {
            "folds": FOLDS,
            **{name: dict(vars(estimate)) for name, estimate in scores.items()},
        },
        "calibration": {
            "mean_probability": float(folds.proba.mean()),
            "bins_off": _off(bins),
            "bins": [one._asdict() for one in bins],
        },
        "predicted": None,
    }


# --- the example ---------------------------------------------------------------------------------


def example_files(folder: Path) -> None:
    """A shop's customers, made up: ``customers.csv`` with who left, ``new.csv`` without."""
    rng = np.random.default_rng(0)
    n = 600
    visits, age = rng.poisson(6, n), rng.integers(18, 80, n)
    plan = rng.choice(["basic", "plus", "family"], n, p=[0.6, 0.3, 0.1])
    logit = 0.8 - 0.6 * visits + 0.02 * (age - 50) + 0.8 * (plan == "basic")
    left = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    table = pd.DataFrame(
        {
            "customer_id": 1000 + np.arange(n) * 7,
            "since": (pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")),
            "age": pd.Series(age).mask(rng.random(n) < 0.05).astype("Int64"),
            "plan": plan,
            "visits": visits,
            "left": left,
        }
    )
    table[:400].to_csv(folder / "customers.csv", index=False)
    table[400:].drop(columns="left").to_csv(folder / "new.csv", index=False)
