"""Out-of-fold class probabilities, calibrated without letting a row vouch for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

Array = npt.NDArray[np.float64]
Calibration = Literal["auto", "sigmoid", "isotonic"] | None

# scikit-learn's guide: isotonic calibration overfits below about a thousand rows.
_ISOTONIC_ROWS = 1000
# Our reading: it overfits as well where one class is this rare, however many rows there are.
_ISOTONIC_MINORITY = 100


class ScoreCalibrator:
    """Increasing map from a classifier's scores to probabilities.

    Parameters
    ----------
    method : {"auto", "sigmoid", "isotonic"}, default="auto"
        "sigmoid" is Platt's logistic regression on the score, on its log-odds where scores are
        probabilities (so that calibrated probabilities stay as they are), with a slope that is
        not negative. "auto" is "isotonic" from more than 1000 rows with at least 100 in each
        class, else "sigmoid".
    probabilities : bool, default=True
        Whether scores are probabilities in [0, 1]; otherwise they are unbounded decision values.

    Attributes
    ----------
    method_ : {"sigmoid", "isotonic"}
        The method in use.

    References
    ----------
    Platt 1999; Zadrozny and Elkan 2002; Niculescu-Mizil and Caruana 2005.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(5000)
    >>> y = rng.random(5000) < p**2  # the scores p are too high
    >>> calibrated = ScoreCalibrator("isotonic").fit(p, y).predict(p)
    >>> bool(abs(calibrated - p**2).mean() < 0.03)
    True
    """

    method_: Literal["sigmoid", "isotonic"]

    def __init__(
        self,
        method: Literal["auto", "sigmoid", "isotonic"] = "auto",
        *,
        probabilities: bool = True,
    ) -> None:
        if method not in ("auto", "sigmoid", "isotonic"):
            raise ValueError(f"calibration must be auto, sigmoid, isotonic or None, got {method!r}")
        self.method = method
        self.probabilities = probabilities

    def fit(
        self,
        scores: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit to scores of shape (n_samples,) and labels 0 and 1 of the same shape.

        Only the ratios of the weights count, not their scale; a row of weight zero is as good as
        absent. Platt's targets and "auto" count rows: those of positive weight.
        """
        s, target = np.asarray(scores, dtype=float), np.asarray(y, dtype=float)
        if s.ndim != 1 or s.shape != target.shape:
            raise ValueError(
                f"scores and y must be 1-D of equal length, got {s.shape}, {target.shape}"
            )
        positives = int(target.sum())
        if not 0 < positives < target.size:
            raise ValueError("y must hold both classes, 0 and 1")
        weight = np.ones(s.size) if sample_weight is None else np.asarray(sample_weight, float)
        counted = int(np.count_nonzero(weight > 0))
        if counted:
            weight = weight * (counted / weight.sum())
        self.method_ = "sigmoid" if self.method == "auto" else self.method
        positives = int(np.count_nonzero(target[weight > 0]))
        minority = min(positives, counted - positives)
        if self.method == "auto" and counted > _ISOTONIC_ROWS and minority >= _ISOTONIC_MINORITY:
            self.method_ = "isotonic"
        if self.method_ == "isotonic":
            self._map: Any = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
            self._map.fit(s, target, sample_weight=weight)
            return self
        # Log-odds of 0 and 1 are infinite; half of the smallest score seen stands for them.
        odd = np.minimum(s, 1 - s)[weight > 0]
        inside = odd[odd > 0]
        self._clip = max(float(inside.min()) / 2, 1e-12) if inside.size else 1e-3
        self._map = _fit_sigmoid(self._feature(s), target, weight)
        return self

    def predict(self, scores: npt.ArrayLike) -> Array:
        """Probabilities of shape (n_samples,)."""
        s = np.asarray(scores, dtype=float)
        if self.method_ == "isotonic":
            return cast(Array, self._map.predict(s))
        intercept, slope = self._map
        return cast(Array, expit(intercept + slope * self._feature(s)))

    def _feature(self, s: Array) -> Array:
        if not self.probabilities:
            return s
        return cast(Array, logit(np.clip(s, self._clip, 1 - self._clip)))


def _fit_sigmoid(s: Array, y: Array, w: Array) -> tuple[float, float]:
    """Intercept and slope of Platt's calibration, by Newton's method on the log loss.

    Platt's targets, a little inside 0 and 1, keep the optimum finite on separable scores.
    """
    total = w.sum()
    centre = float(w @ s / total)
    scale = float(np.sqrt(w @ (s - centre) ** 2 / total)) or 1.0
    positive = float(w @ y)
    high, low = (positive + 1) / (positive + 2), 1 / (total - positive + 2)
    target = np.where(y > 0, high, low)
    z = (s - centre) / scale
    mean = float(w @ target / total)
    beta = np.array([logit(mean), 0.0])
    loss = _log_loss(beta, z, target, w)
    for _ in range(100):
        p = expit(beta[0] + beta[1] * z)
        residual, curvature = w * (target - p), w * p * (1 - p)
        gradient = np.array([residual.sum(), residual @ z])
        cross = curvature @ z
        hessian = np.array([[curvature.sum(), cross], [cross, curvature @ z**2]])
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        size = 1.0
        while (trial := _log_loss(beta + size * step, z, target, w)) > loss and size > 1e-8:
            size /= 2
        beta, gain, loss = beta + size * step, loss - trial, trial
        if gain <= 1e-13 * abs(loss):
            break
    if beta[1] < 0:  # scores that rank backwards out of fold carry no usable order
        return float(logit(mean)), 0.0
    return float(beta[0] - beta[1] * centre / scale), float(beta[1] / scale)


def _log_loss(beta: Array, z: Array, target: Array, w: Array) -> float:
    t = beta[0] + beta[1] * z
    return float(w @ (np.logaddexp(0, t) - target * t))


@dataclass(frozen=True)
class CrossFit:
    """What cross-fitting learned about one estimator on one sample.

    Attributes
    ----------
    proba : ndarray of shape (n_samples,)
        Out-of-fold P(Y = classes[1] | X), calibrated if that was asked for.
    scores : ndarray of shape (n_samples,)
        The out-of-fold scores before calibration.
    classes : ndarray of shape (2,)
    calibrator : ScoreCalibrator or None
        Fitted to all out-of-fold scores: the map for an estimator trained on all rows.
    """

    proba: Array
    scores: Array
    classes: npt.NDArray[Any]
    calibrator: ScoreCalibrator | None

    @property
    def probabilities(self) -> bool:
        """Whether the estimator's own scores were probabilities."""
        return self.calibrator is None or self.calibrator.probabilities


def cross_fit_proba(
    estimator: BaseEstimator,
    X: Any,
    y: npt.ArrayLike,
    *,
    cv: Any = 5,
    calibration: Calibration = "auto",
    sample_weight: npt.ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Out-of-fold probabilities of the positive class, optionally calibrated.

    No row vouches for itself: its score comes from an estimator fitted on the other folds, and
    the calibrator of that score is fitted to the out-of-fold scores and labels of the other folds.
    That takes `cv` fits of the estimator; calibrators cost next to nothing.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Cloned, never changed. Without `predict_proba` it needs `decision_function` and a
        calibration.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes; the positive one is the last in sorted order.
    cv : int, splitter or iterable of splits, default=5
        The test folds must cover every row once. As an int it is lowered to the size of the
        smaller class if that has fewer rows.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        See `ScoreCalibrator`.
    sample_weight : array-like of shape (n_samples,), default=None
        Given to the estimator's `fit` if it takes weights, and to the calibrator.
    random_state : int, RandomState or None, default=None
        Shuffles the rows before they are cut into `cv` folds; None keeps them in order, as
        `sklearn.model_selection.cross_val_predict` does.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If y hasn't two classes with two rows each, or the folds do not cover every row once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> p = cross_fit_proba(forest, X, y, calibration="sigmoid", random_state=0)
    >>> bool(abs(p.mean() - y.mean()) < 0.02)
    True
    """
    return cross_fit(
        estimator,
        X,
        y,
        cv=cv,
        calibration=calibration,
        sample_weight=sample_weight,
        random_state=random_state,
    ).proba


def cross_fit(
    estimator: BaseEstimator,
    X: Any,
    y: npt.ArrayLike,
    *,
    cv: Any = 5,
    calibration: Calibration = "auto",
    sample_weight: npt.ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    fitted: bool = False,
    fit_params: dict[str, Any] | None = None,
) -> CrossFit:
    """As `cross_fit_proba`, with what is needed to go on: raw scores and the final calibrator.

    Parameters
    ----------
    estimator, X, y, cv, calibration, sample_weight, random_state
        As in `cross_fit_proba`.
    fitted : bool, default=False
        The estimator was trained on other rows: use its scores as they are and cross-fit only the
        calibrator.
    fit_params : dict, default=None
        Arguments of the estimator's `fit`, those as long as X cut with the rows; None gives it
        `sample_weight` if it takes weights.

    Returns
    -------
    CrossFit

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> fit = cross_fit(GaussianNB(), *load_breast_cancer(return_X_y=True), calibration="sigmoid")
    >>> fit.calibrator.method_, fit.proba.shape
    ('sigmoid', (569,))
    """
    X, labels = indexable(X, np.asarray(y))
    kind = type_of_target(labels, input_name="y")
    classes, codes = np.unique(labels, return_inverse=True)
    if kind != "binary" or classes.size != 2:
        raise ValueError(f"y must hold two classes, got {classes.size} ({kind})")
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if fit_params is None and weight is not None and has_fit_parameter(estimator, "sample_weight"):
        fit_params = {"sample_weight": weight}
    folds = _folds(cv, X, labels, codes, random_state)
    scores = np.empty(codes.size)
    if fitted:
        scores[:], probabilities = _scores(estimator, X, classes)
    else:
        probabilities = True
        for train, test in folds:
            model = clone(estimator)
            rows = _cut(fit_params, train, codes.size)
            model.fit(_safe_indexing(X, train), labels[train], **rows)
            scores[test], probabilities = _scores(model, _safe_indexing(X, test), classes)
    if calibration is None:
        if not probabilities:
            raise ValueError(
                f"{type(estimator).__name__} has no predict_proba; give calibration='sigmoid'"
            )
        return CrossFit(scores, scores, classes, None)
    final = _calibrator(scores, codes, weight, slice(None), calibration, probabilities)
    proba = np.empty(codes.size)
    for train, test in folds:
        # "auto" is settled once, on all rows: the folds imitate the final calibrator.
        part = _calibrator(scores, codes, weight, train, final.method_, probabilities)
        proba[test] = part.predict(scores[test])
    return CrossFit(proba, scores, classes, final)


def _calibrator(
    scores: Array,
    codes: npt.NDArray[np.intp],
    weight: Array | None,
    rows: Any,
    method: Literal["auto", "sigmoid", "isotonic"],
    probabilities: bool,
) -> ScoreCalibrator:
    w = None if weight is None else weight[rows]
    return ScoreCalibrator(method, probabilities=probabilities).fit(scores[rows], codes[rows], w)


def _folds(
    cv: Any,
    X: Any,
    labels: npt.NDArray[Any],
    codes: npt.NDArray[np.intp],
    random_state: int | np.random.RandomState | None,
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    smaller = int(np.bincount(codes).min())
    if isinstance(cv, (int, np.integer)):
        if cv < 2:
            raise ValueError(f"cv must be at least 2, got {cv}")
        if smaller < 2:
            raise ValueError(f"cross-fitting needs 2 rows of each class, got {smaller} of one")
        shuffle = random_state is not None
        cv = StratifiedKFold(
            min(int(cv), smaller),
            shuffle=shuffle,
            random_state=check_random_state(random_state) if shuffle else None,
        )
    folds = list(check_cv(cv, labels, classifier=True).split(X, labels))
    seen = np.zeros(codes.size, dtype=int)
    for _, test in folds:
        seen[test] += 1
    if not (seen == 1).all():
        raise ValueError("the test folds of cv must cover every row exactly once")
    return folds


def _cut(params: dict[str, Any] | None, rows: Any, n: int) -> dict[str, Any]:
    cut = {}
    for name, value in (params or {}).items():
        along = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n
        cut[name] = _safe_indexing(value, rows) if along else value
    return cut


def _scores(model: Any, X: Any, classes: npt.NDArray[Any]) -> tuple[Array, bool]:
    """Scores of the positive class and whether they are probabilities."""
    known = list(model.classes_)
    if hasattr(model, "predict_proba"):
        proba = np.asarray(model.predict_proba(X), dtype=float)
        # A model trained on one class only (odd folds, zero weights) has a single column.
        column = known.index(classes[1]) if classes[1] in known else None
        return (np.zeros(len(proba)) if column is None else proba[:, column]), True
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=float), False
    raise ValueError(f"{type(model).__name__} has neither predict_proba nor decision_function")
