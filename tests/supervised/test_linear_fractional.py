"""The classifier: options, weights, unlabelled rows, routing and bad input."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from probatum.data import load, preprocessor
from probatum.stats.calibration import cross_fit_proba
from probatum.supervised import LinearFractional, LinearFractionalClassifier, optimal_threshold

F1 = LinearFractional.f1()


class Given(ClassifierMixin, BaseEstimator):
    """Takes the first column for the probability: a classifier that is calibrated by decree."""

    def fit(self, X: Any, y: Any) -> Given:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        p = np.asarray(X)[:, 0]
        return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(2000, weights=[0.85], flip_y=0.1, random_state=0)


def probabilities(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    eta = rng.beta(1, 5, n)
    return eta[:, None], (rng.random(n) < eta).astype(int)


def test_threshold_is_that_of_the_unlabelled_probabilities(sample: Any) -> None:
    X, y = sample
    model = LinearFractionalClassifier(calibration=None).fit(X[:500], y[:500], X[500:])
    eta = LogisticRegression().fit(X[:500], y[:500]).predict_proba(X[500:])[:, 1]
    assert (model.threshold_, model.expected_score_) == optimal_threshold(eta, F1)
    assert model.fit_unlabeled_ == "unlabeled"
    assert model.prevalence_ == pytest.approx(eta.mean())
    assert model.metric_coefficients_ == F1.coefficients(model.prevalence_)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[(model.decision_function(X) > 0) * 1]
    )


def test_without_unlabelled_rows_probabilities_are_out_of_fold(sample: Any) -> None:
    X, y = sample
    model = LinearFractionalClassifier(calibration="sigmoid", cv=4).fit(X, y)
    oof = cross_fit_proba(LogisticRegression(), X, y, cv=4, calibration="sigmoid")
    assert (model.threshold_, model.expected_score_) == optimal_threshold(oof, F1)
    assert model.fit_unlabeled_ == "cross-fitted"


def test_labels_play_no_part_in_the_threshold() -> None:
    X, y = probabilities(3000)
    U, _ = probabilities(3000, seed=1)
    model = LinearFractionalClassifier(Given(), calibration=None)
    first = model.fit(X, y, U).threshold_
    shuffled = np.random.default_rng(0).permutation(y)
    assert model.fit(X, shuffled, U).threshold_ == first


def test_better_than_one_half_and_near_the_best_possible() -> None:
    X, y = probabilities(20_000)
    model = LinearFractionalClassifier(Given(), calibration=None).fit(X, y)
    best = max(f1_score(y, X[:, 0] > t) for t in np.linspace(0.05, 0.6, 56))
    assert f1_score(y, model.predict(X)) > best - 0.01
    assert f1_score(y, X[:, 0] > 0.5) < best - 0.15
    assert model.expected_score_ == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize(
    ("metric", "options", "theta_of_score"),
    [
        ("f1", {}, lambda u: u / 2),
        ("fbeta", {"beta": 2.0}, lambda u: u / 5),
        ("jaccard", {}, lambda u: u / (1 + u)),
        ("tversky", {"alpha": 0.3, "beta": 0.7}, lambda u: 0.3 * u / (1 - u + u)),
        (LinearFractional.accuracy(), {}, lambda u: 0.5),
    ],
)
def test_metrics(metric: Any, options: dict, theta_of_score: Any) -> None:
    X, y = probabilities(2000)
    model = LinearFractionalClassifier(Given(), metric=metric, calibration=None, **options)
    model.fit(X, y)
    assert model.threshold_ == pytest.approx(theta_of_score(model.expected_score_))


def test_metric_that_rewards_errors_predicts_below_the_threshold() -> None:
    X, y = probabilities(500)
    metric = LinearFractional({"FP": 1, "FN": 1}, {"constant": 1}, "error rate")
    model = LinearFractionalClassifier(Given(), metric=metric, calibration=None)
    with pytest.warns(UserWarning, match="rewards errors"):
        model.fit(X, y)
    assert model.side_ == "below"
    np.testing.assert_array_equal(model.predict(X), X[:, 0] < 0.5)
    np.testing.assert_array_equal(model.decision_function(X) > 0, X[:, 0] < 0.5)


def test_constant_rule_keeps_finite_decisions() -> None:
    X, y = probabilities(200)
    metric = LinearFractional({"FN": 1, "TN": 1}, {"constant": 1})
    model = LinearFractionalClassifier(Given(), metric=metric, calibration=None).fit(X, y)
    assert model.threshold_ == np.inf
    assert not model.predict(X).any()
    assert np.isfinite(model.decision_function(X)).all()


def test_a_row_at_the_threshold_is_negative() -> None:
    X, y = probabilities(500)
    model = LinearFractionalClassifier(Given(), calibration=None).fit(X, y)
    assert model.predict(np.array([[model.threshold_]]))[0] == 0
    assert model.predict(np.array([[np.nextafter(model.threshold_, 1)]]))[0] == 1


@pytest.mark.parametrize("labels", [("no", "yes"), (-1, 1), (False, True), (1.0, 2.0)])
def test_any_two_labels_the_last_is_positive(labels: tuple) -> None:
    X, y = probabilities(800)
    model = LinearFractionalClassifier(Given()).fit(X, np.array(labels)[y])
    plain = LinearFractionalClassifier(Given()).fit(X, y)
    assert tuple(model.classes_) == labels
    np.testing.assert_array_equal(model.predict(X), np.array(labels)[plain.predict(X)])


@pytest.mark.parametrize(("calibration", "most"), [("isotonic", 3), ("sigmoid", 1)])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_weights_equal_repetition(calibration: Any, most: int, seed: int) -> None:
    """In estimator, calibration, prevalence and threshold, given folds that agree.

    The targets of the sigmoid count rows, whatever their weights: there only 0 and 1 are alike.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    y[:12] = np.arange(12) % 2
    weight = rng.integers(0, most + 1, 60)
    weight[:12] = 1
    fold = np.arange(60) % 3
    again = np.repeat(np.arange(60), weight)

    def folds(groups: np.ndarray) -> list:
        return [(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(3)]

    base = LinearFractionalClassifier(
        LogisticRegression(solver="newton-cholesky", tol=1e-12),
        calibration=calibration,
        prevalence="labels",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = clone(base).set_params(cv=folds(fold)).fit(X, y, sample_weight=weight)
        two = clone(base).set_params(cv=folds(fold[again])).fit(X[again], y[again])
    assert one.threshold_ == pytest.approx(two.threshold_, abs=1e-6)
    assert one.expected_score_ == pytest.approx(two.expected_score_, abs=1e-6)
    assert one.prevalence_ == pytest.approx(two.prevalence_)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "auto"])
def test_scale_of_weights_does_not_count(calibration: Any) -> None:
    X, y = probabilities(300)
    weight = np.random.default_rng(1).random(300) + 0.1
    base = LinearFractionalClassifier(GaussianNB(), calibration=calibration)
    one, small = (
        clone(base).fit(X, y, sample_weight=scale * weight) for scale in (1.0, 1 / 300 / 300)
    )
    assert small.threshold_ == pytest.approx(one.threshold_, abs=1e-9)
    assert small.expected_score_ == pytest.approx(one.expected_score_, abs=1e-9)


@pytest.mark.parametrize("calibration", ["auto", "sigmoid"])
def test_miscalibration_advice_is_for_those_who_do_not_follow_it(calibration: Any) -> None:
    X, y = probabilities(2000)
    weight = np.full(2000, 1 / 2000)
    model = LinearFractionalClassifier(LogisticRegression(C=np.inf), calibration=calibration)
    with pytest.warns(UserWarning, match="miscalibrated") as caught:
        model.fit(X, y, X_unlabeled=np.sqrt(X), sample_weight=weight)
    with pytest.warns(UserWarning, match="miscalibrated") as again:
        model.fit(X, y, X_unlabeled=np.sqrt(X), sample_weight=2000 * weight)
    assert str(caught[0].message) == str(again[0].message)
    assert ("calibration='auto'" in str(caught[0].message)) == (calibration != "auto")


def test_weights_move_the_threshold_even_if_the_estimator_takes_none() -> None:
    X, y = probabilities(2000)
    weight = np.where(X[:, 0] > 0.3, 5.0, 1.0)
    model = LinearFractionalClassifier(Given(), calibration=None)
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        model.fit(X, y, sample_weight=weight)
    assert model.threshold_ == optimal_threshold(X[:, 0], F1, sample_weight=weight).threshold


def test_marked_rows_are_unlabelled(sample: Any) -> None:
    X, y = sample
    marked = y.copy()
    marked[700:] = -1
    model = LinearFractionalClassifier(unlabeled_marker=-1, calibration=None).fit(X, marked)
    plain = LinearFractionalClassifier(calibration=None).fit(X[:700], y[:700], X[700:])
    assert model.threshold_ == plain.threshold_
    assert list(model.classes_) == [0, 1]
    both = LinearFractionalClassifier(unlabeled_marker=-1, calibration=None)
    both.fit(X[:1500], marked[:1500], X_unlabeled=X[1500:])
    assert both.threshold_ == pytest.approx(plain.threshold_, abs=1e-12)


def test_marked_rows_beside_text_labels_and_in_any_container(sample: Any) -> None:
    X, y = sample
    labels = np.array(["no", "yes"], dtype=object)[y]
    labels[700:] = None
    labels = np.where(labels == None, -1, labels)  # noqa: E711
    weight = np.linspace(1, 2, len(y))
    thresholds = []
    for rows in (X, pd.DataFrame(X), sparse.csr_matrix(X)):
        model = LinearFractionalClassifier(unlabeled_marker=-1)
        model.fit(rows[:1500], labels[:1500], X_unlabeled=rows[1500:], sample_weight=weight[:1500])
        thresholds.append(model.threshold_)
    assert list(model.classes_) == ["no", "yes"]
    assert np.ptp(thresholds) < 1e-3


def test_without_marker_minus_one_is_a_class() -> None:
    X, y = probabilities(300)
    assert list(LinearFractionalClassifier(Given()).fit(X, 2 * y - 1).classes_) == [-1, 1]


def test_prefitted_estimator_is_used_as_it_is(sample: Any) -> None:
    X, y = sample
    fitted = LogisticRegression().fit(X[:1000], y[:1000])
    before = fitted.coef_.copy()
    model = LinearFractionalClassifier(fitted, prefit=True, calibration=None)
    model.fit(X[1000:], y[1000:])
    assert model.estimator_ is fitted
    assert model.fit_unlabeled_ == "prefit"
    assert model.threshold_ == optimal_threshold(fitted.predict_proba(X[1000:])[:, 1], F1).threshold
    np.testing.assert_array_equal(fitted.coef_, before)
    calibrated = clone(model).set_params(calibration="sigmoid", estimator=fitted)
    assert calibrated.fit(X[1000:], y[1000:], X[:500]).calibrator_.method_ == "sigmoid"


def test_prefitted_estimator_of_other_classes_is_refused(sample: Any) -> None:
    X, y = sample
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="prefitted estimator knows the classes"):
        LinearFractionalClassifier(fitted, prefit=True).fit(X, y + 1)


def test_refit_threshold_follows_the_marginal() -> None:
    X, y = probabilities(3000)
    model = LinearFractionalClassifier(Given(), calibration=None).fit(X, y)
    old = model.threshold_
    shifted = np.random.default_rng(5).beta(3, 3, 3000)[:, None]
    assert model.refit_threshold(shifted) is model
    assert model.threshold_ == optimal_threshold(shifted[:, 0], F1).threshold > old
    weight = np.linspace(0, 1, 3000)
    model.refit_threshold(shifted, sample_weight=weight)
    assert model.threshold_ == optimal_threshold(shifted[:, 0], F1, sample_weight=weight).threshold


def test_prevalence_from_labels() -> None:
    X, y = probabilities(3000)
    model = LinearFractionalClassifier(Given(), calibration=None, prevalence="labels").fit(X, y)
    assert model.prevalence_ == pytest.approx(y.mean())


@pytest.mark.filterwarnings("ignore:the mean probability")
def test_labels_that_contradict_the_probabilities_are_noticed() -> None:
    X, y = probabilities(500)
    model = LinearFractionalClassifier(Given(), calibration=None, prevalence="labels")
    with pytest.warns(UserWarning, match="'labels' gives no sound expected_score_: prevalence="):
        model.fit(X, y, X_unlabeled=np.full((9, 1), 0.9))


def test_miscalibrated_scores_are_noticed_and_mended(sample: Any) -> None:
    X, y = sample
    balanced = LogisticRegression(class_weight="balanced")
    with pytest.warns(UserWarning, match="miscalibrated"):
        LinearFractionalClassifier(balanced, calibration=None).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mended = LinearFractionalClassifier(balanced).fit(X, y)
        LinearFractionalClassifier(calibration=None).fit(X, y)
    assert mended.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.1)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "auto"])
def test_classifier_without_probabilities(sample: Any, calibration: Any) -> None:
    X, y = sample
    model = LinearFractionalClassifier(LinearSVC(), calibration=calibration).fit(X, y)
    assert f1_score(y, model.predict(X)) > 0.5
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        LinearFractionalClassifier(LinearSVC(), calibration=None).fit(X, y)
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        LinearFractionalClassifier(LinearSVC(), calibration=None).fit(X, y, X_unlabeled=X)


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression, "forest", KMeans(2)])
def test_what_is_no_classifier_is_refused(sample: Any, estimator: Any) -> None:
    with pytest.raises(TypeError, match="estimator must be a classifier") as caught:
        LinearFractionalClassifier(estimator).fit(*sample)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["float64", "Int64", "boolean", "string", "object"])
def test_missing_labels_are_unlabelled_rows(sample: Any, dtype: str) -> None:
    X, y = sample
    words = {"boolean": [False, True], "string": ["no", "yes"], "object": ["no", "yes"]}
    labels = pd.Series(np.array(words.get(dtype, [0, 1]))[y]).astype(dtype)
    plain = LinearFractionalClassifier(calibration=None).fit(X[:700], y[:700], X[700:])
    whole = LinearFractionalClassifier(calibration=None).fit(X, labels)
    labels[700:] = np.nan if dtype in ("float64", "object") else pd.NA
    model = LinearFractionalClassifier(calibration=None, unlabeled_marker=np.nan).fit(X, labels)
    assert model.threshold_ == plain.threshold_
    kind = {"float64": "f", "Int64": "i", "boolean": "b"}.get(dtype, "UO")
    for fitted in (whole, model):
        assert fitted.classes_.tolist() == words.get(dtype, [0, 1])
        assert fitted.classes_.dtype.kind in kind
    if dtype in ("Int64", "boolean", "string"):
        with pytest.raises(ValueError, match="y contains NaN; give unlabeled_marker"):
            LinearFractionalClassifier(calibration=None).fit(X, labels)


def test_survives_pickle_and_joblib(sample: Any, tmp_path: Path) -> None:
    X, y = sample
    model = LinearFractionalClassifier(RandomForestClassifier(5, random_state=0)).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    buffer = BytesIO(pickle.dumps(model))
    for copy in (joblib.load(tmp_path / "model.joblib"), pickle.load(buffer)):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.metric_ == model.metric_


def test_in_pipelines_searches_and_scorers(sample: Any) -> None:
    X, y = sample
    pipe = make_pipeline(StandardScaler(), LinearFractionalClassifier(LogisticRegression()))
    assert cross_val_score(pipe, X, y, scoring="f1", cv=3).min() > 0.5
    search = GridSearchCV(
        LinearFractionalClassifier(LogisticRegression()),
        {"estimator__C": [0.1, 1], "metric": ["f1", LinearFractional.tversky(0.3, 0.7)]},
        scoring="f1",
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.5


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_unlabelled_rows_are_routed_and_transformed_in_a_pipeline(sample: Any) -> None:
    X, y = sample
    X = 100 * X
    final = LinearFractionalClassifier(calibration=None).set_fit_request(X_unlabeled=True)
    pipe = make_pipeline(StandardScaler(), final, transform_input=["X_unlabeled"])
    pipe.fit(X[:500], y[:500], X_unlabeled=X[500:])
    scaler = StandardScaler().fit(X[:500])
    alone = LinearFractionalClassifier(calibration=None).fit(
        scaler.transform(X[:500]), y[:500], scaler.transform(X[500:])
    )
    assert pipe[-1].threshold_ == alone.threshold_


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_to_the_estimator_that_asks(sample: Any) -> None:
    X, y = sample
    weight = np.linspace(0.1, 3, len(y))
    asks = LogisticRegression().set_fit_request(sample_weight=True)
    routed = LinearFractionalClassifier(asks, calibration=None).fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=False):
        plain = LinearFractionalClassifier(calibration=None).fit(X, y, sample_weight=weight)
    assert routed.threshold_ == plain.threshold_
    declines = LogisticRegression().set_fit_request(sample_weight=False)
    other = LinearFractionalClassifier(declines, calibration=None)
    other.fit(X, y, sample_weight=weight)
    assert not np.allclose(other.estimator_.coef_, routed.estimator_.coef_)


def test_real_table_with_categories_and_gaps() -> None:
    table = load("credit-data")
    model = LinearFractionalClassifier(
        make_pipeline(preprocessor(table.X), LogisticRegression(max_iter=500))
    )
    train = np.arange(len(table.y)) % 2 == 0
    model.fit(table.X[train], table.y[train], X_unlabeled=table.X[~train])
    tuned = f1_score(table.y[~train], model.predict(table.X[~train]))
    half = f1_score(table.y[~train], model.estimator_.predict(table.X[~train]))
    assert tuned > half + 0.02
    assert model.expected_score_ == pytest.approx(tuned, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "auc"}, r"metric must be one of .* got 'auc'"),
        ({"metric": 3}, "got 3"),
        ({"metric": "fbeta", "beta": -1}, "beta must be a positive number .* got -1"),
        ({"prevalence": "both"}, "got 'both'"),
        ({"calibration": "platt"}, "got 'platt'"),
        ({"cv": 1}, "cv must be at least 2, got 1"),
        ({"cv": [(np.arange(50), np.arange(50))]}, "cover every row exactly once"),
        ({"metric": LinearFractional({"TP": 1}, {"FN": 1}, "odds")}, "denominator of odds"),
    ],
)
def test_bad_options(options: dict, message: str) -> None:
    X, y = probabilities(200)
    with pytest.raises(ValueError, match=message) as caught:
        LinearFractionalClassifier(KNeighborsClassifier(), **options).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([1] * 6, {}, r"y has 1 class \(\[1\]\); two are needed"),
        ([0, 1, 2, 0, 1, 2], {}, "Only binary classification is supported"),
        ([0, 0, 0, 0, 0, 1], {}, "cross-fitting needs 2 rows of each class, got 1"),
        ([0, 1, 0, 1, 0, 1], {"X_unlabeled": np.empty((0, 1))}, "X_unlabeled has no rows"),
        (
            [0, 1, 0, 1, 0, 1],
            {"sample_weight": [1, 0, 1, 0, 1, 0]},
            "only one class has a positive",
        ),
        ([0, 1, 0, 1, 0, 1], {"sample_weight": [1, 1, 1, 1, 1, -1]}, "[Nn]egative"),
    ],
)
def test_bad_samples(y: list, options: dict, message: str) -> None:
    X = np.linspace(0, 1, 6)[:, None]
    with pytest.raises(ValueError, match=message):
        LinearFractionalClassifier(LogisticRegression()).fit(X, np.array(y), **options)


def test_splitter_may_shuffle(sample: Any) -> None:
    X, y = sample
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = LinearFractionalClassifier(cv=cv)
    assert model.fit(X, y).threshold_ == clone(model).fit(X, y).threshold_
