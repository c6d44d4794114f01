"""scikit-learn's own conformance suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from probatum.supervised import LinearFractional, LinearFractionalClassifier


def _counts_rows(estimator: Any) -> dict[str, str]:
    # Weights of 1 and of 1/n must give one calibration. With that, no smoothing of Platt's targets
    # that fades as rows grow can also take a weight of 2 for two rows. Isotonic calibration and
    # none at all pass. scikit-learn excuses its own CalibratedClassifierCV alike.
    if estimator.calibration in (None, "isotonic"):
        return {}
    return dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "the targets of sigmoid calibration count rows, not weights",
    )


@parametrize_with_checks(
    [
        LinearFractionalClassifier(metric=LinearFractional.accuracy()),
        LinearFractionalClassifier(
            GaussianNB(), metric=LinearFractional.accuracy(), calibration=None, cv=3
        ),
        LinearFractionalClassifier(
            LogisticRegression(), LinearFractional.accuracy(), calibration="isotonic", cv=3
        ),
        LinearFractionalClassifier(LinearSVC(dual=False), metric=LinearFractional.accuracy(), cv=3),
    ],
    expected_failed_checks=_counts_rows,
)
def test_scikit_learn_conformance(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def _not_half(estimator: Any) -> dict[str, str]:
    # The check asks that predict cuts predict_proba at 1/2, which is what this class exists not to
    # do for any metric but accuracy. scikit-learn excuses its own TunedThresholdClassifierCV alike.
    return {
        "check_classifiers_train": "the optimal threshold of the F score is not 1/2",
        **_counts_rows(estimator),
    }


@parametrize_with_checks([LinearFractionalClassifier()], expected_failed_checks=_not_half)
def test_scikit_learn_conformance_for_f1(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_the_excused_check_is_excused_for_the_threshold_alone() -> None:
    from sklearn.utils.estimator_checks import check_classifiers_train

    with pytest.raises(AssertionError, match="Arrays are not equal"):
        check_classifiers_train("LinearFractionalClassifier", LinearFractionalClassifier())
