"""Linear-fractional performance metrics and the threshold rule that maximises them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import UndefinedMetricWarning

Array = npt.NDArray[np.float64]

_CELLS = ("TP", "FP", "FN", "TN")
_KEYS = ("constant", *_CELLS)


class RatioCoefficients(NamedTuple):
    """A metric once the prevalence is known.

    For a rule g with values in {0, 1} and the regression function eta(x) = P(Y = 1 | X = x),

        Phi(g) = (a0 + a1 E[eta g] + a2 E[g]) / (b0 + b1 E[eta g] + b2 E[g]).
    """

    a0: float
    a1: float
    a2: float
    b0: float
    b1: float
    b2: float


@dataclass(frozen=True)
class ThresholdRule:
    """Predict positive on one side of a threshold; a score equal to it is predicted negative.

    Parameters
    ----------
    threshold : float
        In units of probability. ``inf`` and ``-inf`` make the rule constant.
    side : {"above", "below"}
        Which scores are predicted positive. "below" is optimal for metrics that reward errors.

    Examples
    --------
    >>> import numpy as np
    >>> ThresholdRule(0.4)(np.array([0.3, 0.4, 0.5])).astype(int)
    array([0, 0, 1])
    """

    threshold: float
    side: Literal["above", "below"] = "above"

    def __call__(self, proba: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Predicted class of every score, True for positive."""
        z = np.asarray(proba)
        above: npt.NDArray[np.bool_]
        above = z > self.threshold if self.side == "above" else z < self.threshold
        return above


@dataclass(frozen=True, eq=False, repr=False)
class LinearFractional:
    """A metric that is a ratio of linear forms of the confusion probabilities.

        Phi = (c0 + cTP TP + cFP FP + cFN FN + cTN TN) / (d0 + dTP TP + dFP FP + dFN FN + dTN TN)

    where TP, FP, FN, TN are the probabilities of the four cells and sum to one. Calling the
    object scores labels, so it can be given to `sklearn.metrics.make_scorer`.

    Parameters
    ----------
    num, den : mapping of str to float
        Coefficients of the numerator and of the denominator. Keys are "TP", "FP", "FN", "TN" and
        "constant"; a missing key is zero.
    name : str, default="custom"
        Shown in messages.

    Raises
    ------
    ValueError
        If a key is unknown, a coefficient is not finite or every denominator coefficient is zero.

    References
    ----------
    Koyejo, Natarajan, Ravikumar, Dhillon, "Consistent binary classification with generalized
    performance metrics", NeurIPS 2014.

    Examples
    --------
    >>> metric = LinearFractional(num={"TP": 2}, den={"TP": 2, "FP": 1, "FN": 1})
    >>> metric == LinearFractional.f1()
    True
    >>> round(metric([0, 1, 1, 1], [0, 1, 1, 0]), 3)
    0.8
    """

    num: Mapping[str, float]
    den: Mapping[str, float]
    name: str = field(default="custom")

    def __post_init__(self) -> None:
        for part in ("num", "den"):
            given = getattr(self, part)
            unknown = sorted(set(given) - set(_KEYS))
            if unknown:
                raise ValueError(f"unknown keys {unknown} in {part}; known keys: {list(_KEYS)}")
            full = {key: float(given.get(key, 0.0)) for key in _KEYS}
            if not all(np.isfinite(value) for value in full.values()):
                raise ValueError(f"coefficients must be finite, got {part}={dict(given)}")
            object.__setattr__(self, part, MappingProxyType(full))
        if not any(self.den.values()):
            raise ValueError("den must have at least one coefficient other than zero")

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy can be neither pickled nor copied.
        return type(self), (dict(self.num), dict(self.den), self.name)

    def __repr__(self) -> str:
        num, den = dict(self.num), dict(self.den)
        return f"{type(self).__name__}(num={num}, den={den}, name={self.name!r})"

    @property
    def _key(self) -> tuple[float, ...]:
        return (*self.num.values(), *self.den.values())

    def __eq__(self, other: object) -> bool:
        # The name is for messages: two metrics with equal coefficients are the same metric.
        return isinstance(other, LinearFractional) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @classmethod
    def f1(cls) -> Self:
        """F1 score, 2 TP / (2 TP + FP + FN)."""
        return cls.fbeta(1.0)

    @classmethod
    def fbeta(cls, beta: float = 1.0) -> Self:
        """F score that weighs recall `beta` times as much as precision.

        (1 + beta^2) TP / ((1 + beta^2) TP + FP + beta^2 FN), for beta from 1e-100 to 1e100.
        """
        if not (_is_number(beta) and 1e-100 <= beta <= 1e100):
            raise ValueError(f"beta must be a positive number from 1e-100 to 1e100, got {beta!r}")
        b2 = float(beta) ** 2
        name = "f1" if b2 == 1.0 else f"fbeta(beta={beta:g})"
        return cls({"TP": 1 + b2}, {"TP": 1 + b2, "FP": 1.0, "FN": b2}, name)

    @classmethod
    def jaccard(cls) -> Self:
        """Jaccard index, TP / (TP + FP + FN)."""
        return cls({"TP": 1.0}, {"TP": 1.0, "FP": 1.0, "FN": 1.0}, "jaccard")

    @classmethod
    def tversky(cls, alpha: float, beta: float) -> Self:
        """Tversky index, TP / (TP + alpha FP + beta FN), for alpha >= 0 and beta > 0."""
        if not (_is_number(alpha) and alpha >= 0 and _is_number(beta) and beta > 0):
            raise ValueError(f"need alpha >= 0 and beta > 0, got alpha={alpha!r}, beta={beta!r}")
        name = f"tversky(alpha={alpha:g}, beta={beta:g})"
        return cls({"TP": 1.0}, {"TP": 1.0, "FP": float(alpha), "FN": float(beta)}, name)

    @classmethod
    def accuracy(cls) -> Self:
        """Accuracy, TP + TN."""
        return cls({"TP": 1.0, "TN": 1.0}, {"constant": 1.0}, "accuracy")

    @classmethod
    def balanced_accuracy(cls, prevalence: float) -> Self:
        """Mean of recall and specificity, a linear metric once P(Y = 1) = `prevalence` is given."""
        if not (_is_number(prevalence) and 0 < prevalence < 1):
            raise ValueError(f"prevalence must lie strictly between 0 and 1, got {prevalence!r}")
        num = {"TP": 0.5 / prevalence, "TN": 0.5 / (1 - prevalence)}
        return cls(num, {"constant": 1.0}, f"balanced_accuracy(prevalence={prevalence:g})")

    def coefficients(self, prevalence: float) -> RatioCoefficients:
        """The metric as a function of E[eta g] and E[g] when P(Y = 1) = `prevalence`."""
        return RatioCoefficients(
            *_reduce(self.num, prevalence),
            *_reduce(self.den, prevalence),
        )

    def rule(self, score: float) -> ThresholdRule:
        """The rule that is optimal if `score` is the best attainable value of the metric.

        g(x) = 1{(a1 - u b1) eta(x) + a2 - u b2 > 0} with u = `score`: a threshold whatever the
        distribution. Neither a1, b1, a2 nor b2 depends on the prevalence.
        """
        _, a1, a2, _, b1, b2 = self.coefficients(0.0)
        slope, offset = a1 - score * b1, a2 - score * b2
        # Rounding leaves a slope of a few ulp where it is zero in exact arithmetic, and a ratio of
        # two rounding errors is no threshold.
        if abs(slope) <= 8 * np.finfo(float).eps * (abs(a1) + abs(score * b1)):
            return ThresholdRule(-np.inf if offset > 0 else np.inf)
        return ThresholdRule(float(-offset / slope), "above" if slope > 0 else "below")

    def from_confusion(self, tp: float, fp: float, fn: float, tn: float) -> float:
        """Value of the metric from the four cells, as counts, weights or probabilities."""
        total = tp + fp + fn + tn
        cells = dict(zip(_CELLS, (tp, fp, fn, tn), strict=True))
        top = self.num["constant"] * total + sum(self.num[k] * v for k, v in cells.items())
        bottom = self.den["constant"] * total + sum(self.den[k] * v for k, v in cells.items())
        if bottom == 0:
            warnings.warn(
                f"{self.name} is undefined: its denominator is zero on these labels; using 0",
                UndefinedMetricWarning,
                stacklevel=3,
            )
            return 0.0
        return float(top / bottom)

    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        pos_label: Any = 1,
    ) -> float:
        """Score predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True and predicted labels.
        sample_weight : array-like of shape (n_samples,), default=None
        pos_label : object, default=1
            The label of the positive class; every other label counts as negative. For labels
            other than 0 and 1 make the scorer with ``make_scorer(metric, pos_label="yes")``.

        Returns
        -------
        float
            Zero, with an `UndefinedMetricWarning`, where the denominator is zero.

        Raises
        ------
        ValueError
            If `pos_label` occurs nowhere, but two other labels do, or one of another kind (a
            string for a number). A sample with negatives alone is scored.
        """
        true, pred = np.asarray(y_true) == pos_label, np.asarray(y_pred) == pos_label
        if true.ndim != 1 or true.shape != pred.shape:
            raise ValueError(
                f"y_true and y_pred must be 1-D of equal length, got {true.shape} and {pred.shape}"
            )
        if not (true.any() or pred.any()):
            _check_pos_label(y_true, y_pred, pos_label)
        w = check_weights(sample_weight, true.size)
        if w is None:
            # Counting is several times faster than summing weights, and tuners call this a lot.
            tp = int(np.count_nonzero(true & pred))
            fp, fn = int(np.count_nonzero(pred)) - tp, int(np.count_nonzero(true)) - tp
            return self.from_confusion(tp, fp, fn, true.size - tp - fp - fn)
        cells = (w[true & pred], w[~true & pred], w[true & ~pred], w[~true & ~pred])
        return self.from_confusion(*(float(cell.sum()) for cell in cells))

    @property
    def __name__(self) -> str:
        # sklearn.metrics.make_scorer shows the name of the function that it wraps.
        return self.name


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and bool(np.isfinite(float(value)))


def _check_pos_label(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, pos_label: Any) -> None:
    """Refuse labels without the positive one, unless it may just be missing in this sample."""
    labels = set(np.asarray(y_true).tolist()) | set(np.asarray(y_pred).tolist())
    text = isinstance(pos_label, str)
    if len(labels) > 1 or any(isinstance(label, str) != text for label in labels):
        shown = sorted(labels, key=str)
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels {shown[:10]} of y_true and y_pred"
        )


def _reduce(c: Mapping[str, float], pi: float) -> tuple[float, float, float]:
    """Coefficients of 1, E[eta g] and E[g] in one linear form, from TP = E[eta g],
    FP = E[g] - E[eta g], FN = pi - E[eta g] and TN = 1 - pi - E[g] + E[eta g]."""
    return (
        c["constant"] + c["FN"] * pi + c["TN"] * (1 - pi),
        c["TP"] - c["FP"] - c["FN"] + c["TN"],
        c["FP"] - c["TN"],
    )


def check_weights(sample_weight: npt.ArrayLike | None, n: int) -> Array | None:
    """Checked weights, or None where every row weighs the same."""
    if sample_weight is None:
        return None
    w = np.asarray(sample_weight, dtype=float)
    if w.shape != (n,):
        raise ValueError(f"sample_weight has shape {w.shape}, expected ({n},)")
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight must be finite and not negative")
    if not w.any():
        raise ValueError("sample_weight must not be zero on every row")
    return w
