"""Cross-fitted, calibrated probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, logit
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probatum.stats.calibration import ScoreCalibrator, cross_fit, cross_fit_proba


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(1500, weights=[0.8], flip_y=0.1, random_state=0)


def test_uncalibrated_equals_cross_val_predict(sample: Any) -> None:
    X, y = sample
    theirs = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")[:, 1]
    np.testing.assert_array_equal(
        cross_fit_proba(LogisticRegression(), X, y, calibration=None), theirs
    )


def test_labels_and_containers_make_no_difference(sample: Any) -> None:
    X, y = sample
    plain = cross_fit_proba(LogisticRegression(), X, y)
    text = cross_fit_proba(LogisticRegression(), pd.DataFrame(X), np.array(["no", "yes"])[y])
    np.testing.assert_array_equal(plain, text)
    thin = cross_fit_proba(LogisticRegression(tol=1e-8), sparse.csr_array(X), y)
    np.testing.assert_allclose(plain, thin, atol=1e-2)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "auto"])
@pytest.mark.parametrize("model", [GaussianNB(), RandomForestClassifier(20, random_state=0)])
def test_calibration_improves_what_is_distorted(sample: Any, calibration: Any, model: Any) -> None:
    X, y = sample
    raw = cross_fit_proba(model, X, y, calibration=None).clip(1e-6, 1 - 1e-6)
    mended = cross_fit_proba(model, X, y, calibration=calibration).clip(1e-6, 1 - 1e-6)
    assert log_loss(y, mended) < log_loss(y, raw) + 0.02
    assert mended.mean() == pytest.approx(y.mean(), rel=0.05)


def test_no_row_vouches_for_itself() -> None:
    # Pure noise and an estimator that memorises: in sample it would look perfect.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), (rng.random(2000) < 0.3).astype(int)
    for calibration in ("sigmoid", "isotonic"):
        p = cross_fit_proba(DecisionTreeClassifier(), X, y, calibration=calibration)
        assert abs(np.corrcoef(p, y)[0, 1]) < 0.06
        assert p.std() < 0.05


def test_estimator_is_left_alone_and_weights_reach_it(sample: Any) -> None:
    X, y = sample
    model = LogisticRegression()
    heavy = cross_fit_proba(model, X, y, sample_weight=1 + 9 * y, calibration=None)
    assert not hasattr(model, "coef_")
    assert heavy.mean() > cross_fit_proba(model, X, y, calibration=None).mean() + 0.1


def test_random_state_shuffles(sample: Any) -> None:
    X, y = sample
    first, again, other = (
        cross_fit_proba(LogisticRegression(), X, y, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_decision_values_can_be_calibrated(sample: Any) -> None:
    X, y = sample
    fit = cross_fit(LinearSVC(), X, y, calibration="sigmoid")
    assert not fit.probabilities
    assert fit.proba.mean() == pytest.approx(y.mean(), rel=0.05)


def test_fitted_estimator_is_not_refitted(sample: Any) -> None:
    X, y = sample
    model = LogisticRegression().fit(X[:700], y[:700])
    fit = cross_fit(model, X[700:], y[700:], calibration=None, fitted=True)
    np.testing.assert_array_equal(fit.proba, model.predict_proba(X[700:])[:, 1])


def test_sigmoid_keeps_calibrated_probabilities_and_mends_tilted_ones() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, 20_000)
    y = rng.random(20_000) < p
    assert np.abs(ScoreCalibrator("sigmoid").fit(p, y).predict(p) - p).max() < 0.03
    tilted = expit(1 + 2 * logit(p))
    assert np.abs(ScoreCalibrator("sigmoid").fit(tilted, y).predict(tilted) - p).max() < 0.03


def test_sigmoid_is_the_logistic_regression_on_smoothed_targets() -> None:
    rng = np.random.default_rng(1)
    s = rng.normal(size=60)
    y = (rng.random(60) < expit(s)).astype(int)
    w = rng.random(60)
    w *= 60 / w.sum()  # Platt's targets count rows
    positive = w @ y
    target = np.where(y, (positive + 1) / (positive + 2), 1 / (w.sum() - positive + 2))
    reference = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(
        np.r_[s, s][:, None],
        np.repeat([1, 0], 60),
        sample_weight=np.r_[w * target, w * (1 - target)],
    )
    ours = ScoreCalibrator("sigmoid", probabilities=False).fit(s, y, w).predict(s)
    np.testing.assert_allclose(ours, reference.predict_proba(s[:, None])[:, 1], atol=1e-6)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 1e-9, 0.2, 0.5, 0.99, 1.0]), st.booleans()),
        min_size=2,
        max_size=40,
    ).filter(lambda rows: 0 < sum(label for _, label in rows) < len(rows)),
    method=st.sampled_from(["sigmoid", "isotonic", "auto"]),
)
@settings(max_examples=100, deadline=None)
def test_any_scores_give_increasing_probabilities(rows: list, method: Any) -> None:
    scores, labels = (np.array(column) for column in zip(*rows, strict=True))
    grid = np.linspace(0, 1, 101)
    p = ScoreCalibrator(method).fit(scores, labels).predict(grid)
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) >= -1e-12).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "auto"])
def test_scale_of_weights_and_rows_of_weight_zero_do_not_count(method: Any) -> None:
    rng = np.random.default_rng(2)
    p = rng.random(1005)
    y, w = rng.random(1005) < p, np.where(np.arange(1005) < 10, 0.0, 1 + rng.random(1005))
    expected = ScoreCalibrator(method).fit(p[10:], y[10:], w[10:])
    for scale in (1e-6, 1, 1e6):
        fitted = ScoreCalibrator(method).fit(p, y, scale * w)
        assert fitted.method_ == expected.method_
        np.testing.assert_allclose(fitted.predict(p), expected.predict(p), atol=1e-9)


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [(100, 901, "isotonic"), (99, 902, "sigmoid"), (500, 500, "sigmoid")],
)
def test_auto(positives: int, negatives: int, expected: str) -> None:
    y = np.repeat([1, 0], [positives, negatives])
    scores = np.random.default_rng(0).random(len(y))
    assert ScoreCalibrator().fit(scores, y).method_ == expected


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.zeros(10, int), {}, "two classes, got 1"),
        (np.arange(10) % 3, {}, r"two classes, got 3 \(multiclass\)"),
        (np.eye(1, 10, dtype=int)[0], {}, "needs 2 rows of each class, got 1"),
        (np.arange(10) % 2, {"cv": 0}, "cv must be at least 2, got 0"),
        (np.arange(10) % 2, {"calibration": "beta"}, "got 'beta'"),
        (np.arange(10) % 2, {"cv": [([0, 1], [2, 3])]}, "cover every row exactly once"),
    ],
)
def test_bad_input(y: np.ndarray, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cross_fit_proba(GaussianNB(), np.arange(10.0)[:, None], y, **options)


def test_splitters_are_welcome() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    p = cross_fit_proba(LogisticRegression(), X, y, cv=LeaveOneOut(), calibration=None)
    assert p.shape == (20,)


def test_folds_use_the_method_that_auto_settles_on_for_all_rows() -> None:
    X, y = make_classification(1100, random_state=0)  # 880 rows in a training fold
    auto, isotonic = (
        cross_fit(LogisticRegression(), X, y, calibration=how) for how in ("auto", "isotonic")
    )
    assert auto.calibrator is not None
    assert auto.calibrator.method_ == "isotonic"
    np.testing.assert_array_equal(auto.proba, isotonic.proba)
