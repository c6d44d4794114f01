"""The threshold that maximises a linear-fractional metric, from probabilities alone.

Only the law of the regression function enters the optimum, so nothing here takes labels. The
"population" may be any sample of probabilities, with weights: an unlabelled sample, or the atoms
of a distribution with their masses.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from probatum.supervised.metrics import (
    Array,
    LinearFractional,
    RatioCoefficients,
    ThresholdRule,
    check_weights,
)

# How far rounding may push the implied probability of a cell below zero.
_ROUNDING = 1e-9
# Newton's steps on a convex piecewise linear function: six were the most ever seen.
_MAX_STEPS = 1000


class OptimalThreshold(NamedTuple):
    """Threshold (a probability) and the value of the metric that it attains."""

    threshold: float
    score: float


class RegretParts(NamedTuple):
    """Where the loss of a plug-in rule comes from; ``total <= regression + bias + sampling``."""

    total: float
    regression: float
    bias: float
    sampling: float


@dataclass(frozen=True)
class _Population:
    """Probabilities with weights and what the metric's ratio needs of them."""

    eta: Array
    weight: Array | None
    total: float
    prevalence: float
    coefficients: RatioCoefficients

    def mean(self, values: Array | npt.NDArray[np.bool_]) -> float:
        if self.weight is None:
            return float(np.sum(values)) / self.total
        return float(self.weight @ values) / self.total

    def least_cell(self, positive: npt.NDArray[np.bool_]) -> tuple[str, float]:
        """The implied cell that is most negative at a rule; none is if the prevalence is right."""
        eta_g, g = self.mean(self.eta * positive), self.mean(positive)
        cells = {"FN": self.prevalence - eta_g, "TN": 1 - self.prevalence - g + eta_g}
        return min(cells.items(), key=lambda cell: cell[1])

    def contradiction(self, positive: npt.NDArray[np.bool_]) -> str | None:
        """What is wrong with a prevalence that leaves a cell negative at a rule."""
        name, value = self.least_cell(positive)
        if value >= -_ROUNDING:
            return None
        return (
            f"prevalence={self.prevalence:.4g} contradicts the probabilities (their mean is "
            f"{self.mean(self.eta):.4g}): it implies {name} = {value:.3g} < 0 at this rule; "
            "give prevalence=None or recalibrate them"
        )

    def check(self, positive: npt.NDArray[np.bool_]) -> None:
        if (wrong := self.contradiction(positive)) is not None:
            raise ValueError(wrong)

    def ratio(self, positive: npt.NDArray[np.bool_]) -> tuple[float, float]:
        """Numerator and denominator of the metric at a rule."""
        # A boolean selection followed by a sum is several times faster than a product over all.
        chosen = self.eta[positive]
        if self.weight is None:
            g, eta_g = chosen.size / self.total, float(chosen.sum()) / self.total
        else:
            w = self.weight[positive]
            g, eta_g = float(w.sum()) / self.total, float(w @ chosen) / self.total
        a0, a1, a2, b0, b1, b2 = self.coefficients
        return a0 + a1 * eta_g + a2 * g, b0 + b1 * eta_g + b2 * g


def _population(
    proba: npt.ArrayLike,
    metric: LinearFractional,
    sample_weight: npt.ArrayLike | None,
    prevalence: float | None,
) -> _Population:
    eta = np.asarray(proba, dtype=float)
    if eta.ndim != 1 or eta.size == 0:
        raise ValueError(f"proba must be a 1-D array with at least one row, got shape {eta.shape}")
    low, high = float(eta.min()), float(eta.max())
    if not (low >= 0 and high <= 1):  # written so that NaN is refused too
        raise ValueError(f"proba must lie in [0, 1], got values from {low} to {high}")
    w = check_weights(sample_weight, eta.size)
    total = float(eta.size if w is None else w.sum())
    if prevalence is None:
        mean = float(eta.sum() if w is None else w @ eta) / total
        prevalence = min(max(mean, 0.0), 1.0)
    elif not 0 <= prevalence <= 1:
        raise ValueError(f"prevalence must lie in [0, 1], got {prevalence!r}")
    return _Population(eta, w, total, prevalence, metric.coefficients(prevalence))


def _least_denominator(population: _Population) -> float:
    """min over all rules of D(g) = b0 + E[(b1 eta + b2) g]: pick the rows where it is negative."""
    *_, b0, b1, b2 = population.coefficients
    if b2 >= 0 and b1 + b2 >= 0:  # not negative anywhere on [0, 1]
        return b0
    return b0 + population.mean(np.minimum(b1 * population.eta + b2, 0.0))


def optimal_threshold(
    proba: npt.ArrayLike,
    metric: LinearFractional,
    *,
    sample_weight: npt.ArrayLike | None = None,
    prevalence: float | None = None,
) -> OptimalThreshold:
    """Threshold on the probabilities that maximises a linear-fractional metric.

    The best attainable value u* is the root of the convex, piecewise linear, strictly decreasing

        h(u) = a0 - u b0 + E[((a1 - u b1) eta + a2 - u b2)_+]

    and the optimal rule predicts positive where (a1 - u* b1) eta + a2 - u* b2 > 0. Newton's method
    on h (Dinkelbach's algorithm) visits a handful of its pieces and ends on the exact root, so the
    cost is linear in the number of scores: they are not even sorted.

    Parameters
    ----------
    proba : array-like of shape (n_samples,)
        P(Y = 1 | X) of every row, in [0, 1]. No labels are needed.
    metric : LinearFractional
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, or the masses of the atoms of a distribution.
    prevalence : float, default=None
        P(Y = 1) where it is known better than as the mean of `proba`. It must leave room for the
        rule that is found: one under which true positives exceed it, or false positives exceed
        its complement, is refused, for the score would mean nothing (F1 above 1, say).

    Returns
    -------
    threshold : float
        Predict positive strictly above it; strictly below it if the metric rewards errors, a case
        that raises a warning (`LinearFractional.rule` of the returned score knows the side). It
        may lie outside [0, 1], and be infinite, where a constant rule is best.
    score : float
        The value of the metric that the rule attains if `proba` are the true probabilities.

    Raises
    ------
    ValueError
        If the metric's denominator is not positive at some rule, or `prevalence` contradicts
        `proba`.

    References
    ----------
    Chzhen, "Optimal rates for F-score binary classification via post-processing", 2020
    (arXiv:1905.04039), for the F score; the general form is our derivation.

    Examples
    --------
    For the F score the threshold is half of the best attainable score.

    >>> import numpy as np
    >>> from probatum.supervised import LinearFractional
    >>> theta, score = optimal_threshold(np.array([0.1, 0.2, 0.6, 0.9]), LinearFractional.f1())
    >>> round(theta, 4), round(score, 4)
    (0.3947, 0.7895)
    """
    found, wrong = find_threshold(proba, metric, sample_weight, prevalence)
    if wrong is not None:
        raise ValueError(wrong)
    return found


def find_threshold(
    proba: npt.ArrayLike,
    metric: LinearFractional,
    sample_weight: npt.ArrayLike | None,
    prevalence: float | None,
) -> tuple[OptimalThreshold, str | None]:
    """As `optimal_threshold`, but a prevalence that contradicts the probabilities is only told."""
    population = _population(proba, metric, sample_weight, prevalence)
    rule, score = _solve(population, metric)
    if rule.side == "below":
        warnings.warn(
            f"{metric.name} rewards errors: its optimal rule predicts positive below the threshold",
            UserWarning,
            stacklevel=3,
        )
    wrong = None if prevalence is None else population.contradiction(rule(population.eta))
    return OptimalThreshold(rule.threshold, score), wrong


def _solve(population: _Population, metric: LinearFractional) -> tuple[ThresholdRule, float]:
    least = _least_denominator(population)
    if least <= 0:
        if least == 0 and population.prevalence == 0:
            warnings.warn(
                f"{metric.name} is undefined: every probability is zero; predicting all negative",
                UserWarning,
                stacklevel=3,
            )
            return ThresholdRule(np.inf), 0.0
        raise ValueError(
            f"the denominator of {metric.name} is {least:.3g} <= 0 at some rule; "
            f"den={dict(metric.den)} must make it positive at every rule"
        )
    # Start at the better constant rule; from there on u only grows.
    candidates = [np.ones(population.eta.size, bool), np.zeros(population.eta.size, bool)]
    ratios = [population.ratio(g) for g in candidates]
    score = max(top / bottom for top, bottom in ratios)
    rule = metric.rule(score)
    for _ in range(_MAX_STEPS):
        top, bottom = population.ratio(rule(population.eta))
        better = top / bottom
        if not better > score:
            # Equal: the exact root. Smaller: the last step was rounding, and so the root too.
            return rule, score
        score, rule = better, metric.rule(better)
    raise RuntimeError(f"no fixed point within {_MAX_STEPS} steps for {metric.name}")


def expected_score(
    proba: npt.ArrayLike,
    rule: npt.ArrayLike | Callable[[Array], npt.NDArray[np.bool_]],
    metric: LinearFractional,
    *,
    sample_weight: npt.ArrayLike | None = None,
    prevalence: float | None = None,
) -> float:
    """Value of a metric at a rule when `proba` are the true probabilities.

    The expectation over the labels is taken inside numerator and denominator: a ratio of
    expectations, not the mean of the scores of many samples.

    Parameters
    ----------
    proba : array-like of shape (n_samples,)
        P(Y = 1 | X), in [0, 1].
    rule : array-like of shape (n_samples,) or callable
        Predictions, 1 or True for positive; or a function of the probabilities that returns them,
        such as a `ThresholdRule`.
    metric : LinearFractional
    sample_weight, prevalence
        As in `optimal_threshold`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the denominator is zero at this rule, or `prevalence` contradicts `proba` there.

    Examples
    --------
    >>> import numpy as np
    >>> eta = np.array([0.1, 0.2, 0.6, 0.9])
    >>> round(expected_score(eta, ThresholdRule(0.5), LinearFractional.f1()), 4)
    0.7895
    """
    population = _population(proba, metric, sample_weight, prevalence)
    positive = _decisions(rule, population.eta)
    population.check(positive)
    top, bottom = population.ratio(positive)
    if bottom == 0:
        raise ValueError(f"the denominator of {metric.name} is zero at this rule")
    return top / bottom


def regret(
    proba: npt.ArrayLike,
    rule: npt.ArrayLike | Callable[[Array], npt.NDArray[np.bool_]],
    metric: LinearFractional,
    *,
    sample_weight: npt.ArrayLike | None = None,
    prevalence: float | None = None,
) -> float:
    """How far a rule falls short of the optimum, by an exact identity.

        Phi(g*) - Phi(g) = |a1 - u* b1| E[|eta - theta*| 1{g != g*}] / D(g)

    It costs no cancellation, so it is accurate where the difference of two scores is all rounding.

    Parameters
    ----------
    proba, rule, metric, sample_weight, prevalence
        As in `expected_score`.

    Returns
    -------
    float
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> eta, metric = np.array([0.1, 0.2, 0.6, 0.9]), LinearFractional.f1()
    >>> round(regret(eta, ThresholdRule(0.15), metric), 4)
    0.0811
    >>> best = optimal_threshold(eta, metric).score
    >>> round(best - expected_score(eta, ThresholdRule(0.15), metric), 4)
    0.0811
    """
    population = _population(proba, metric, sample_weight, prevalence)
    best, score = _solve(population, metric)
    positive = _decisions(rule, population.eta)
    population.check(positive)
    population.check(best(population.eta))
    _, bottom = population.ratio(positive)
    gain = _gain(population, score)
    return population.mean(np.abs(gain) * (positive != best(population.eta))) / bottom


def regret_parts(
    proba: npt.ArrayLike,
    estimate: npt.ArrayLike,
    threshold: float,
    metric: LinearFractional,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> RegretParts:
    """Split the regret of a plug-in rule into regression, threshold bias and threshold sampling.

    The plug-in rule cuts an estimate eta_hat of the true eta at theta_N, found on a sample. On the
    set where it disagrees with the optimal rule, |eta - theta*| is at most

        |eta_hat - eta|  +  |theta_inf(eta_hat) - theta*|  +  |theta_N - theta_inf(eta_hat)|

    where theta_inf(eta_hat) is the threshold that the estimate would get from an infinite
    unlabelled sample. Putting this into the identity of `regret` gives the three parts.

    Parameters
    ----------
    proba, estimate : array-like of shape (n_samples,)
        True and estimated P(Y = 1 | X) over the population, in [0, 1].
    threshold : float
        theta_N, the threshold in use.
    metric : LinearFractional
        One whose optimal rule lies above the threshold (every metric that rewards no errors).
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    RegretParts
        ``total`` is the regret; the other three sum to at least that.

    Examples
    --------
    >>> import numpy as np
    >>> eta = np.linspace(0, 1, 1001) ** 2
    >>> parts = regret_parts(eta, np.clip(eta + 0.05, 0, 1), 0.4, LinearFractional.f1())
    >>> parts.total <= parts.regression + parts.bias + parts.sampling
    True
    """
    truth = _population(proba, metric, sample_weight, None)
    guess = _population(estimate, metric, sample_weight, None)
    if truth.eta.shape != guess.eta.shape:
        raise ValueError(
            f"proba and estimate differ in shape: {truth.eta.shape} and {guess.eta.shape}"
        )
    best, score = _solve(truth, metric)
    limit, _ = _solve(guess, metric)
    if (
        "below" in (best.side, limit.side)
        or not np.isfinite([best.threshold, limit.threshold]).all()
    ):
        raise ValueError(f"{metric.name} has no finite threshold above which to predict positive")
    positive = guess.eta > threshold
    _, bottom = truth.ratio(positive)
    disagree = positive != best(truth.eta)
    slope = abs(truth.coefficients.a1 - score * truth.coefficients.b1) / bottom
    where = truth.mean(disagree)
    return RegretParts(
        total=truth.mean(np.abs(_gain(truth, score)) * disagree) / bottom,
        regression=slope * truth.mean(np.abs(guess.eta - truth.eta) * disagree),
        bias=slope * abs(limit.threshold - best.threshold) * where,
        sampling=slope * abs(threshold - limit.threshold) * where,
    )


def _gain(population: _Population, score: float) -> Array:
    """(a1 - u b1) eta + a2 - u b2: what predicting a row positive adds to N - u D."""
    _, a1, a2, _, b1, b2 = population.coefficients
    return (a1 - score * b1) * population.eta + (a2 - score * b2)


def _decisions(
    rule: npt.ArrayLike | Callable[[Array], npt.NDArray[np.bool_]], eta: Array
) -> npt.NDArray[np.bool_]:
    given = np.asarray(rule(eta) if callable(rule) else rule)
    if given.shape != eta.shape:
        raise ValueError(f"rule has shape {given.shape}, expected {eta.shape}")
    if given.dtype != bool and not np.isin(given, (0, 1)).all():
        raise ValueError("rule must hold only 0 and 1 (or False and True)")
    return given.astype(bool)
