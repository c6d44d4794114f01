"""Plug-in classification for the F score, Jaccard and every other linear-fractional metric."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from probatum.stats.calibration import CrossFit, ScoreCalibrator, cross_fit
from probatum.supervised.metrics import LinearFractional
from probatum.supervised.threshold import find_threshold

# Relative gap between mean probability and prevalence from which scores are called miscalibrated.
_CALIBRATION_GAP = 0.10


class LinearFractionalClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Turn a probabilistic classifier into a near-optimal one for a linear-fractional metric.

    The best classifier for such a metric cuts eta(x) = P(Y = 1 | X = x) at a threshold that solves
    a fixed-point equation in the distribution of eta(X) alone. So the threshold is computed from
    predicted probabilities of unlabelled rows: no validation split, no grid, no labels.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        Anything with `predict_proba` (or `decision_function`, with a calibration). None stands for
        `LogisticRegression()`.
    metric : {"f1", "fbeta", "jaccard", "tversky"} or LinearFractional, default="f1"
        What to maximise.
    beta : float, default=1.0
        Of "fbeta" (weight of recall) and "tversky" (weight of FN).
    alpha : float, default=1.0
        Of "tversky" (weight of FP).
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How to map the estimator's scores to probabilities, learned on out-of-fold scores; "auto"
        is isotonic from more than 1000 rows with at least 100 in each class, else sigmoid. The
        method stands and falls with calibrated probabilities: use None only for an estimator that
        gives them by itself. With None and `X_unlabeled` the estimator is fitted just once.
    prevalence : {"unlabeled", "labels"}, default="unlabeled"
        P(Y = 1) is the mean probability of the unlabelled rows, or the share of positive labels.
        A share that contradicts the probabilities (more true positives than positives at the
        threshold, say) raises a warning; then `expected_score_` means nothing.
    cv : int, splitter or iterable of splits, default=5
        Folds for out-of-fold probabilities; an int is lowered to the size of the smaller class.
    prefit : bool, default=False
        `estimator` is fitted already, on other rows than those given to `fit`.
    unlabeled_marker : object, default=None
        Rows whose label equals this (scikit-learn's convention is -1) are unlabelled rows; NaN
        stands for every missing value (NaN, None and pandas' NA).

    Attributes
    ----------
    threshold_ : float
        Probability above which a row is predicted positive (below which, where `side_` is
        "below"); a row exactly at it is predicted negative. Infinite for a constant rule.
    side_ : {"above", "below"}
    expected_score_ : float
        The value of the metric that the model expects of itself.
    metric_ : LinearFractional
    metric_coefficients_ : RatioCoefficients
        Coefficients (a0, a1, a2, b0, b1, b2) of the metric at `prevalence_`.
    prevalence_ : float
    classes_ : ndarray of shape (2,)
        Sorted; the second is the positive class.
    fit_unlabeled_ : {"cross-fitted", "unlabeled", "prefit"}
        Where the probabilities behind the threshold came from: out-of-fold probabilities of the
        labelled rows, unlabelled rows, or labelled rows that a prefitted estimator had not seen.
    estimator_ : classifier
        Fitted on all labelled rows.
    calibrator_ : ScoreCalibrator or None
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Raises
    ------
    ValueError
        In `fit`: y without exactly two classes, an unknown option, a metric whose denominator
        is not positive at some rule, or no calibration for an estimator without `predict_proba`.
    TypeError
        In `fit`: an estimator that is no classifier.

    Warns
    -----
    UserWarning
        If the mean probability and the labelled prevalence differ by more than 10 % of it (and by
        more than two standard errors), if the labelled prevalence contradicts the probabilities,
        if the metric rewards errors, or if every probability is 0.

    References
    ----------
    The general threshold is our derivation from the abstract of the 2026 paper on plug-in
    classification for linear-fractional metrics; for the F score see Chzhen, "Optimal rates for
    F-score binary classification via post-processing", 2020 (arXiv:1905.04039).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import f1_score
    >>> X, y = make_classification(4000, weights=[0.9], flip_y=0.1, random_state=0)
    >>> model = LinearFractionalClassifier(metric="f1")
    >>> model = model.fit(X[:1000], y[:1000], X_unlabeled=X[1000:])
    >>> 0.2 < model.threshold_ < 0.45
    True
    >>> f1_score(y[1000:], model.predict(X[1000:])) > f1_score(
    ...     y[1000:], model.estimator_.predict(X[1000:])
    ... )
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: str | LinearFractional = "f1",
        beta: float = 1.0,
        alpha: float = 1.0,
        calibration: Literal["auto", "sigmoid", "isotonic"] | None = "auto",
        prevalence: Literal["unlabeled", "labels"] = "unlabeled",
        cv: Any = 5,
        prefit: bool = False,
        unlabeled_marker: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.beta = beta
        self.alpha = alpha
        self.calibration = calibration
        self.prevalence = prevalence
        self.cv = cv
        self.prefit = prefit
        self.unlabeled_marker = unlabeled_marker

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        X_unlabeled: Any = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator on labelled rows and compute the threshold on unlabelled ones.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes of any type; the last in sorted order is the positive one.
        X_unlabeled : like X, of shape (n_unlabeled, n_features), default=None
            Rows whose labels are not known. None uses out-of-fold probabilities of X.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the labelled rows. They count in the estimator (if its `fit` takes them),
            the calibration and, where X itself gives the threshold, in the threshold. Beyond the
            estimator only their ratios count: a weight of 2 is two rows to isotonic calibration,
            but not to the sigmoid, whose smoothing goes by the number of rows.

        Returns
        -------
        self
        """
        metric = self._resolve_metric()
        if self.prevalence not in ("unlabeled", "labels"):
            raise ValueError(f"prevalence must be 'unlabeled' or 'labels', got {self.prevalence!r}")
        X, y, X_unlabeled, weight = self._split_labelled(X, y, X_unlabeled, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.metric_ = metric
        labelled_prevalence = float(np.average(codes, weights=weight))
        if labelled_prevalence in (0.0, 1.0):
            raise ValueError("only one class has a positive sample_weight; two classes are needed")
        estimator = LogisticRegression() if self.estimator is None else self.estimator
        _check_classifier(estimator)
        fit_params = self._estimator_fit_params(estimator, weight)
        if self.prefit:
            check_is_fitted(estimator)
            if not np.array_equal(np.sort(estimator.classes_), self.classes_):
                raise ValueError(
                    f"the prefitted estimator knows the classes {list(estimator.classes_)}, "
                    f"y has {self.classes_.tolist()}"
                )
        crossed = self._cross_fit(estimator, X, y, weight, fit_params, X_unlabeled is None)
        self.estimator_ = estimator if self.prefit else clone(estimator).fit(X, y, **fit_params)
        if self.calibration is None and not hasattr(self.estimator_, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} has no predict_proba; give calibration='sigmoid'"
            )
        self.calibrator_: ScoreCalibrator | None = None if crossed is None else crossed.calibrator
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if X_unlabeled is not None:
            self.fit_unlabeled_, proba, weight = "unlabeled", self._proba(X_unlabeled), None
        else:
            self.fit_unlabeled_ = "prefit" if self.prefit else "cross-fitted"
            proba = cast(CrossFit, crossed).proba
        self._labelled_prevalence = labelled_prevalence
        self._warn_if_miscalibrated(proba, weight, codes.size)
        self._set_threshold(proba, weight)
        return self

    def refit_threshold(self, X_unlabeled: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Recompute the threshold on new unlabelled rows; the estimator stays as it is.

        Valid where the law of X changed and P(Y = 1 | X) did not. With `prevalence="labels"` the
        prevalence stays that of the training labels.

        Parameters
        ----------
        X_unlabeled : like X, of shape (n_unlabeled, n_features)
        sample_weight : array-like of shape (n_unlabeled,), default=None

        Returns
        -------
        self
        """
        check_is_fitted(self, "estimator_")
        proba = self._proba(X_unlabeled)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self._set_threshold(proba, weight)
        self.fit_unlabeled_ = "unlabeled"
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of both classes, calibrated; shape (n_samples, 2)."""
        check_is_fitted(self, "estimator_")
        positive = self._proba(X)
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Signed distance of the probability from the threshold, positive for `classes_[1]`.

        Shape (n_samples,), in units of probability. An infinite threshold counts as -1 or 2, so
        that the values stay finite and keep their order.
        """
        check_is_fitted(self, "estimator_")
        margin = self._proba(X) - float(np.clip(self.threshold_, -1.0, 2.0))
        return margin if self.side_ == "above" else -margin

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predicted labels of shape (n_samples,)."""
        positive = (self.decision_function(X) > 0).astype(int)
        return cast(npt.NDArray[Any], self.classes_[positive])

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` takes for itself and what it hands to the estimator's `fit`."""
        estimator = LogisticRegression() if self.estimator is None else self.estimator
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags.sparse = inner.input_tags.sparse
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.pairwise = inner.input_tags.pairwise
        else:
            tags.input_tags.sparse = True
        return tags

    def _resolve_metric(self) -> LinearFractional:
        if isinstance(self.metric, LinearFractional):
            return self.metric
        named: dict[Any, Callable[[], LinearFractional]] = {
            "f1": LinearFractional.f1,
            "fbeta": lambda: LinearFractional.fbeta(self.beta),
            "jaccard": LinearFractional.jaccard,
            "tversky": lambda: LinearFractional.tversky(self.alpha, self.beta),
        }
        if not isinstance(self.metric, str) or self.metric not in named:
            raise ValueError(
                f"metric must be one of {sorted(named)} or a LinearFractional, got {self.metric!r}"
            )
        return named[self.metric]()

    def _split_labelled(
        self, X: Any, y: Any, X_unlabeled: Any, sample_weight: Any
    ) -> tuple[Any, npt.NDArray[Any], Any, npt.NDArray[np.float64] | None]:
        """Checked y and weights, and the rows marked as unlabelled moved to X_unlabeled."""
        if y is None:
            raise ValueError(
                "This LinearFractionalClassifier estimator requires y to be passed, "
                "but the target y is None"
            )
        nullable = isinstance(getattr(y, "dtype", None), pd.api.extensions.ExtensionDtype)
        if nullable:  # scikit-learn would make floats of booleans and integers
            y = pd.Series(y).astype(object).to_numpy()
        y = column_or_1d(y, warn=True)
        if not hasattr(X, "shape"):
            X = np.asarray(X)
        check_consistent_length(X, y)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            weight = weight.astype(float)
        if self.unlabeled_marker is not None:
            marked = np.array([_same(label, self.unlabeled_marker) for label in y], dtype=bool)
            if marked.any():
                rows = _safe_indexing(X, np.flatnonzero(marked))
                X_unlabeled = rows if X_unlabeled is None else _stack(X_unlabeled, rows)
                kept = np.flatnonzero(~marked)
                # Labels kept beside a marker may sit in an object array: give them their own type.
                X, y = _safe_indexing(X, kept), np.array(y[kept].tolist())
                weight = None if weight is None else weight[kept]
        if nullable and y.dtype == object and y.size:
            if pd.isna(y).any():
                raise ValueError(
                    "y contains NaN; give unlabeled_marker=np.nan if it means no label"
                )
            y = np.array(y.tolist())  # plain booleans, integers or strings
        if y.size == 0:
            raise ValueError(
                "Found array with 0 sample(s); labelled rows of two classes are needed"
            )
        check_classification_targets(y)
        kind, n_classes = type_of_target(y, input_name="y"), np.unique(y).size
        if kind != "binary":
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{kind}: y has {n_classes} classes"
            )
        if n_classes < 2:
            raise ValueError(f"y has {n_classes} class ({np.unique(y).tolist()}); two are needed")
        if X_unlabeled is not None and _num_samples(X_unlabeled) == 0:
            raise ValueError("X_unlabeled has no rows")
        return X, y, X_unlabeled, weight

    def _estimator_fit_params(
        self, estimator: Any, weight: npt.NDArray[np.float64] | None
    ) -> dict[str, Any]:
        if weight is None:
            return {}
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=weight)
            return dict(routed.estimator.fit)
        if has_fit_parameter(estimator, "sample_weight"):
            return {"sample_weight": weight}
        warnings.warn(
            f"{type(estimator).__name__}.fit takes no sample_weight: the weights count only in the "
            "calibration and the threshold",
            UserWarning,
            stacklevel=3,
        )
        return {}

    def _cross_fit(
        self,
        estimator: Any,
        X: Any,
        y: npt.NDArray[Any],
        weight: npt.NDArray[np.float64] | None,
        fit_params: dict[str, Any],
        needed_for_threshold: bool,
    ) -> CrossFit | None:
        """Out-of-fold probabilities, unless neither calibration nor threshold asks for them."""
        if self.calibration is None and not needed_for_threshold:
            return None
        return cross_fit(
            estimator,
            X,
            y,
            cv=self.cv,
            calibration=self.calibration,
            sample_weight=weight,
            fitted=self.prefit,
            fit_params=fit_params,
        )

    def _proba(self, X: Any) -> npt.NDArray[np.float64]:
        """P(Y = classes_[1] | X), calibrated."""
        if self.calibrator_ is not None and not self.calibrator_.probabilities:
            scores = np.asarray(self.estimator_.decision_function(X), dtype=float)
        else:
            column = list(self.estimator_.classes_).index(self.classes_[1])
            scores = np.asarray(self.estimator_.predict_proba(X), dtype=float)[:, column]
        return scores if self.calibrator_ is None else self.calibrator_.predict(scores)

    def _set_threshold(
        self, proba: npt.NDArray[np.float64], weight: npt.NDArray[np.float64] | None
    ) -> None:
        given = self._labelled_prevalence if self.prevalence == "labels" else None
        found, wrong = find_threshold(proba, self.metric_, weight, given)
        if wrong is not None:
            warnings.warn(
                f"prevalence='labels' gives no sound expected_score_: {wrong}",
                UserWarning,
                stacklevel=3,
            )
        self.threshold_, self.expected_score_ = found
        self.side_ = self.metric_.rule(found.score).side
        self.prevalence_ = float(np.average(proba, weights=weight)) if given is None else given
        self.metric_coefficients_ = self.metric_.coefficients(self.prevalence_)

    def _warn_if_miscalibrated(
        self, proba: npt.NDArray[np.float64], weight: npt.NDArray[np.float64] | None, n: int
    ) -> None:
        mean, share = float(np.average(proba, weights=weight)), self._labelled_prevalence
        gap = abs(mean - share)
        advice = "" if self.calibration == "auto" else ". Try calibration='auto'"
        # Rare positives: a tenth of the prevalence can be within the noise of the labels.
        if gap > _CALIBRATION_GAP * share and gap > 2 * np.sqrt(share * (1 - share) / n):
            warnings.warn(
                f"the mean probability is {mean:.3g} but {share:.3g} of the labels are positive: "
                "the scores are miscalibrated, or the unlabelled rows come from elsewhere; "
                f"the threshold can't be trusted unless it is the latter{advice}",
                UserWarning,
                stacklevel=3,
            )


def _check_classifier(estimator: Any) -> None:
    given = not isinstance(estimator, type) and hasattr(estimator, "fit")
    if not given or not (hasattr(estimator, "predict_proba") or is_classifier(estimator)):
        raise TypeError(f"estimator must be a classifier (an instance), got {_short(estimator)}")


def _short(value: Any) -> str:
    return " ".join(repr(value).split())[:80]


def _same(label: Any, marker: Any) -> bool:
    """Whether a label is the marker; missing values are all the same."""
    if pd.isna(label) or pd.isna(marker):
        return bool(pd.isna(label) and pd.isna(marker))
    return bool(label == marker)


def _stack(first: Any, second: Any) -> Any:
    """Rows of two tables of the same kind, one below the other."""
    if isinstance(second, pd.DataFrame):
        return pd.concat([first, second], ignore_index=True)
    if sparse.issparse(second):
        return sparse.vstack([first, second]).tocsr()
    return np.concatenate([np.asarray(first), np.asarray(second)])
