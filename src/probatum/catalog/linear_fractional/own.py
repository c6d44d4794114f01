"""A reader's own table in the place of the paper's, and a reader's own classifier beside it."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from probatum.catalog.linear_fractional.tables import METRICS
from probatum.data import Features, Table, prepare_features, read_table
from probatum.evidence import Dataset
from probatum.evidence.model import resolve
from probatum.supervised import LinearFractional

LICENCE = "the reader's own"
# Half of the rows train, four fifths of these in a fold, and boosted trees have leaves of 20 rows:
# with fewer a tuned rival fails, and the verdict would be about that.
LEAST_ROWS, LEAST_OF_A_CLASS = 120, 10
# The smallest training sample of the experiments, and the positives that every arm needs in it.
SMALLEST_SAMPLE, LEAST_IN_SAMPLE = 100, 3

# --- data ----------------------------------------------------------------------------------------


# What the options of the command line come to.
HINT = "; --with NAME=VALUE takes positive, separator, encoding and drop (COL,COL)"


def own_table(
    file: Path,
    *,
    target: str,
    positive: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    drop: str = "",
) -> Dataset:
    """A reader's file as a data set; whatever is wrong with it is said here.

    Parameters
    ----------
    file : Path
        A table with labels; see `probatum.data.read_table`.
    target : str
        Column to predict; see `probatum.data.prepare_features`.
    positive : str, default=None
        The positive class; None is the rarer one.
    separator, encoding : str, default=None
        See `probatum.data.read_table`.
    drop : str
        Columns not to use, separated by commas.

    Raises
    ------
    ValueError
        If the file is no table, the target has not two classes, or there are fewer than 120 rows,
        than 10 of each class, or than 3 of each in a sample of 100 rows (or of half of them).
    OSError
        If the file can't be read.

    Warns
    -----
    UserWarning
        Of columns that are left out or interpreted.
    """
    params: dict[str, Any] = {
        "path": str(Path(file).absolute()),
        "target": target,
        "positive": positive,
        "separator": separator,
        "encoding": encoding,
        "drop": drop,
    }
    try:
        features = _features(**params)
    except ValueError as error:
        raise ValueError(f"{str(error).rstrip('.;')}{HINT}") from error
    counts = dict(zip(features.classes, np.bincount(features.y, minlength=2).tolist(), strict=True))
    rows, (fewest, least) = features.y.size, min(counts.items(), key=lambda item: item[1])
    if rows < LEAST_ROWS:
        raise ValueError(f"{file} has {rows} rows with a target; {LEAST_ROWS} are needed")
    if least < LEAST_OF_A_CLASS:
        raise ValueError(
            f"{file} has {least} rows of {fewest!r}; {LEAST_OF_A_CLASS} of each class are needed"
        )
    sample = min(SMALLEST_SAMPLE, rows // 2)
    if sample * least / rows < LEAST_IN_SAMPLE:
        raise ValueError(
            f"{least / rows:.2%} of the rows of {file} are {fewest!r}: training samples of "
            f"{sample} rows would hold fewer than {LEAST_IN_SAMPLE} of them, too few for any arm"
        )
    for note in features.notes:
        warnings.warn(f"{Path(file).name}: {note}", UserWarning, stacklevel=2)
    slug = re.sub(r"[^a-z0-9]+", "-", Path(file).name.split(".")[0].lower()).strip("-")
    own = f"own-{slug or 'table'}"
    return Dataset(own, f"{__name__}:load_own", LICENCE, params, f"{__name__}:own_identity")


def _features(
    path: str,
    target: str,
    positive: str | None,
    separator: str | None,
    encoding: str | None,
    drop: str,
) -> Features:
    table = read_table(path, separator=separator, encoding=encoding, words=(target,))
    dropped = [name.strip() for name in drop.split(",") if name.strip()]
    return prepare_features(table, target, dropped, positive=positive)


def load_own(path: str, target: str, positive: str | None, **reading: Any) -> Table:
    """The table of a data set that `own_table` made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the file was given
        features = _features(path, target, positive, **reading)
    return Table(
        name=Path(path).name,
        X=features.X,
        y=features.y,
        positive=features.positive,
        licence=LICENCE,
        source=path,
        description=f"The reader's own table; positive: {target} is {features.positive}.",
        nature="real",
    )


def own_identity(path: str, **reading: Any) -> str:
    """Hash of a file's bytes and of how it becomes a table; not of where it lies."""
    with Path(path).open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    stated = json.dumps([content, reading], sort_keys=True)
    return hashlib.sha256(stated.encode()).hexdigest()[:16]


# --- methods -------------------------------------------------------------------------------------


class ClassifierLike(Protocol):
    """A classifier as scikit-learn has them: fit(X, y) and predict(X), labels 0 and 1.

    If its constructor takes ``estimator``, ``metric`` or ``random_state`` it is given the
    experiment's probabilistic classifier, its `LinearFractional` metric and a seed; if its ``fit``
    takes ``X_unlabeled``, the pool of rows without labels.
    """

    def fit(self, X: Any, y: Any) -> Any: ...
    def predict(self, X: Any) -> Any: ...


@dataclass(frozen=True)
class OwnClassifier:
    """Arm for a reader's class, named ``module:attribute``."""

    make: str

    def __call__(
        self, learner: Any, metric: LinearFractional, pool: NDArray[np.float64], seed: int
    ) -> _Checked:
        return _Checked(self._built(learner, metric, seed), pool)

    def probe(self) -> Any:
        """One of the reader's objects, after it has learned and predicted a few rows."""
        rng = np.random.default_rng(0)
        y = np.arange(80) % 2
        X = rng.normal(size=(80, 3)) + y[:, None]
        model = self(LogisticRegression(), METRICS["f1"], rng.normal(size=(40, 3)), 0)
        for what, call in (("fit", lambda: model.fit(X, y)), ("predict", lambda: model.predict(X))):
            try:
                call()
            except Exception as error:
                raise ValueError(
                    f"{self.make}: {what} fails on 80 rows of 3 numbers with labels 0 and 1: "
                    f"{type(error).__name__}: {error}"
                ) from error
        return model.model

    def _built(self, learner: Any, metric: LinearFractional, seed: int) -> Any:
        own = resolve(self.make)
        offered = {"estimator": learner, "metric": metric, "random_state": seed}
        given = {name: value for name, value in offered.items() if name in _taken(own)}
        try:
            inspect.signature(own).bind(**given)
        except TypeError as error:
            raise TypeError(f"{self.make} takes more than is offered: {error}") from None
        except ValueError:  # built in: nobody knows what it takes
            pass
        return own(**given)


class _Checked(ClassifierMixin, BaseEstimator):
    """A reader's classifier: given the pool if it takes one, its predictions checked."""

    def __init__(self, model: Any, pool: Any) -> None:
        self.model = model
        self.pool = pool

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Self:
        # Arms share their rows, which are read-only: a method that scales in place gets its own.
        X = np.array(X)
        if "X_unlabeled" in _taken(self.model.fit):
            self.model.fit(X, y.copy(), X_unlabeled=np.array(self.pool))
        else:
            self.model.fit(X, y.copy())
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        found = np.asarray(self.model.predict(np.array(X)))
        if found.shape != (len(X),):
            raise ValueError(
                f"{type(self.model).__name__}.predict gave shape {found.shape} for {len(X)} rows"
            )
        if not np.isin(found, (0, 1)).all():
            odd = next(label for label in found.tolist() if label not in (0, 1))
            raise ValueError(
                f"{type(self.model).__name__}.predict must give labels 0 and 1, gave {odd!r}"
            )
        return found.astype(np.int64)


def _taken(call: Any) -> set[str]:
    """Names that can be given to something by keyword."""
    try:
        parameters = inspect.signature(call).parameters
    except (TypeError, ValueError):  # built in
        return set()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name for name, parameter in parameters.items() if parameter.kind in kinds}
