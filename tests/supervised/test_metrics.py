"""The metric as a scorer of labels, beside scikit-learn's own scores."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from probatum.supervised import LinearFractional

PAIRS: list[tuple[LinearFractional, Callable[..., float]]] = [
    (LinearFractional.f1(), metrics.f1_score),
    (LinearFractional.fbeta(0.5), lambda *a, **k: metrics.fbeta_score(*a, beta=0.5, **k)),
    (LinearFractional.fbeta(2), lambda *a, **k: metrics.fbeta_score(*a, beta=2, **k)),
    (LinearFractional.jaccard(), metrics.jaccard_score),
    (LinearFractional.tversky(1, 1), metrics.jaccard_score),
    (LinearFractional.tversky(0.5, 0.5), metrics.f1_score),
    (LinearFractional.accuracy(), metrics.accuracy_score),
]

rows = st.tuples(st.booleans(), st.booleans(), st.integers(1, 5))


@given(data=st.lists(rows, min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_equals_scikit_learn_with_and_without_weights(data: list[tuple[bool, bool, int]]) -> None:
    y, predicted, weight = (np.array(column) for column in zip(*data, strict=True))
    for ours, theirs in PAIRS:
        assert ours(y, predicted) == pytest.approx(theirs(y, predicted))
        assert ours(y, predicted, sample_weight=weight) == pytest.approx(
            theirs(y, predicted, sample_weight=weight)
        )


def test_balanced_accuracy_at_its_own_prevalence() -> None:
    y, predicted = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 0])
    ours = LinearFractional.balanced_accuracy(0.4)(y, predicted)
    assert ours == pytest.approx(metrics.balanced_accuracy_score(y, predicted))


def test_scorer_with_any_label() -> None:
    y, predicted = ["no", "yes", "yes"], ["no", "no", "yes"]
    assert LinearFractional.f1()(y, predicted, pos_label="yes") == pytest.approx(2 / 3)
    X = np.random.default_rng(0).normal(size=(90, 2))
    labels = np.where(X[:, 0] > 0, "yes", "no")
    scorer = metrics.make_scorer(LinearFractional.f1(), pos_label="yes")
    assert cross_val_score(LogisticRegression(), X, labels, scoring=scorer).min() > 0.8


@pytest.mark.parametrize(
    ("y", "predicted", "options", "message"),
    [
        (["yes", "no"], ["yes", "no"], {}, r"pos_label=1 is not among the labels \['no', 'yes'\]"),
        (["no"], ["no"], {}, r"pos_label=1 is not among the labels \['no'\]"),
        ([0, 1], [0, 1], {"pos_label": "yes"}, r"pos_label='yes' is not among the labels \[0, 1\]"),
        ([0, 2], [0, 0], {}, r"labels \[0, 2\]"),
    ],
)
def test_label_that_is_not_there_is_refused(
    y: list, predicted: list, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        LinearFractional.f1()(y, predicted, **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(("label", "positive"), [(0, 1), (-1, 1), (False, 1), ("no", "yes")])
def test_sample_without_positives_is_scored(label: object, positive: object) -> None:
    assert LinearFractional.f1()([label] * 2, [label] * 2, pos_label=positive) == 0
    assert LinearFractional.accuracy()([label] * 2, [label] * 2, pos_label=positive) == 1


def test_undefined_score_is_zero_with_a_warning() -> None:
    with pytest.warns(UndefinedMetricWarning, match="f1 is undefined"):
        assert LinearFractional.f1()([0, 0], [0, 0]) == 0.0


def test_coefficients_reduce_the_ratio() -> None:
    rng = np.random.default_rng(0)
    metric = LinearFractional(
        {"TP": 2, "FN": -1, "constant": 0.5}, {"constant": 3, "FP": 1, "TN": 0.3}
    )
    eta, mass = rng.random(6), rng.dirichlet(np.ones(6))
    g = np.array([0, 1, 1, 0, 0, 1])
    pi, eta_g, e_g = mass @ eta, mass @ (eta * g), mass @ g
    c = metric.coefficients(pi)
    direct = metric.from_confusion(eta_g, e_g - eta_g, pi - eta_g, 1 - pi - e_g + eta_g)
    reduced = (c.a0 + c.a1 * eta_g + c.a2 * e_g) / (c.b0 + c.b1 * eta_g + c.b2 * e_g)
    assert direct == pytest.approx(reduced, abs=1e-14)


def test_equality_hash_and_copies() -> None:
    metric = LinearFractional.fbeta(1.0)
    assert metric == LinearFractional.f1()
    assert hash(metric) == hash(LinearFractional.f1())
    assert metric != LinearFractional.jaccard()
    assert metric != "f1"
    for copy in (pickle.loads(pickle.dumps(metric)), deepcopy(metric), clone(metric, safe=False)):
        assert copy == metric
        assert copy.name == metric.name
    assert eval(repr(metric)) == metric
    with pytest.raises(TypeError, match="does not support item assignment"):
        metric.num["TP"] = 9  # type: ignore[index]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearFractional({"tp": 1}, {"TP": 1}), r"unknown keys \['tp'\] in num"),
        (lambda: LinearFractional({"TP": float("nan")}, {"TP": 1}), "finite"),
        (lambda: LinearFractional({"TP": 1}, {}), "at least one coefficient"),
        (
            lambda: LinearFractional.fbeta(0),
            "beta must be a positive number from 1e-100 to 1e100, got 0",
        ),
        (lambda: LinearFractional.fbeta("2"), "beta must be .* got '2'"),  # type: ignore[arg-type]
        (lambda: LinearFractional.fbeta(1e200), r"beta must be .* got 1e\+200"),
        (lambda: LinearFractional.tversky("1", 1), "alpha='1'"),  # type: ignore[arg-type]
        (lambda: LinearFractional.tversky(-1, 1), "alpha=-1"),
        (lambda: LinearFractional.balanced_accuracy(1.0), "got 1.0"),
        (lambda: LinearFractional.f1()([0, 1], [0]), "equal length"),
    ],
)
def test_bad_input(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
