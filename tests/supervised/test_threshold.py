"""The optimum against brute force, closed forms and identities."""

from __future__ import annotations

import itertools
import time
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.metrics import precision_recall_curve

from probatum.supervised import (
    LinearFractional,
    ThresholdRule,
    expected_score,
    optimal_threshold,
    regret,
    regret_parts,
)

RULES = np.array(list(itertools.product([False, True], repeat=8)))
CELLS = ("TP", "FP", "FN", "TN")
F1 = LinearFractional.f1()

pytestmark = pytest.mark.filterwarnings("ignore:.*rewards errors")


def all_scores(
    eta: np.ndarray, mass: np.ndarray, metric: LinearFractional
) -> tuple[np.ndarray, np.ndarray]:
    """Value and denominator of all 2^8 rules, from the confusion cells and nothing of ours."""
    tp, fp = RULES @ (mass * eta), RULES @ (mass * (1 - eta))
    cells = {"TP": tp, "FP": fp, "FN": mass @ eta - tp, "TN": mass @ (1 - eta) - fp}
    top, bottom = (
        part["constant"] + sum(part[cell] * cells[cell] for cell in CELLS)
        for part in (metric.num, metric.den)
    )
    with np.errstate(all="ignore"):
        return top / bottom, bottom


def random_case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, LinearFractional]:
    num, den = rng.normal(size=4), rng.normal(size=4) + 1
    eta, mass = rng.random(8), rng.dirichlet(np.ones(8))
    return (
        eta,
        mass,
        LinearFractional(dict(zip(CELLS, num, strict=True)), dict(zip(CELLS, den, strict=True))),
    )


def test_equals_brute_force_over_all_rules_for_random_metrics_of_both_slopes() -> None:
    rng = np.random.default_rng(0)
    sides = {"above": 0, "below": 0}
    while sum(sides.values()) < 400:
        eta, mass, metric = random_case(rng)
        scores, bottom = all_scores(eta, mass, metric)
        if bottom.min() < 0.1:
            continue
        _, best = optimal_threshold(eta, metric, sample_weight=mass)
        rule = metric.rule(best)
        sides[rule.side] += 1
        assert best == pytest.approx(scores.max(), abs=1e-12)
        assert expected_score(eta, rule, metric, sample_weight=mass) == pytest.approx(
            scores.max(), abs=1e-12
        )
    assert min(sides.values()) > 100


def test_regret_identity_holds_for_every_rule() -> None:
    rng = np.random.default_rng(1)
    cases = 0
    while cases < 20:
        eta, mass, metric = random_case(rng)
        scores, bottom = all_scores(eta, mass, metric)
        if bottom.min() < 0.1:
            continue
        cases += 1
        identity = [regret(eta, rule, metric, sample_weight=mass) for rule in RULES]
        np.testing.assert_allclose(identity, scores.max() - scores, atol=1e-11)


def test_rules_that_ignore_the_metric_lose() -> None:
    rng = np.random.default_rng(2)
    lost = {"half": 0, "sign": 0}
    n = 0
    while n < 200:
        eta, mass, metric = random_case(rng)
        _, bottom = all_scores(eta, mass, metric)
        if bottom.min() < 0.1:
            continue
        n += 1
        theta, best = optimal_threshold(eta, metric, sample_weight=mass)
        lost["half"] += expected_score(eta, eta > 0.5, metric, sample_weight=mass) < best - 1e-9
        lost["sign"] += expected_score(eta, eta > theta, metric, sample_weight=mass) < best - 1e-9
    assert lost["half"] > 100
    assert lost["sign"] > 60  # about half of the slopes are negative


@given(
    atoms=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=30).filter(
        lambda rows: sum(w for _, w in rows) > 0
    ),
    metric=st.sampled_from(
        [
            F1,
            LinearFractional.fbeta(2),
            LinearFractional.jaccard(),
            LinearFractional.tversky(0.3, 0.7),
            LinearFractional.accuracy(),
            LinearFractional.balanced_accuracy(0.2),
            LinearFractional({"FP": 1, "TN": 0.5}, {"constant": 2, "FN": -1}),
        ]
    ),
)
@settings(max_examples=200, deadline=None)
def test_no_threshold_on_either_side_does_better(
    atoms: list[tuple[int, int]], metric: LinearFractional
) -> None:
    """Ties, zero weights and equal scores: every cut is tried; weights equal repetition."""
    eta = np.array([a for a, _ in atoms]) / 8
    weight = np.array([w for _, w in atoms], dtype=float)
    assume(weight @ eta > 0)
    theta, best = optimal_threshold(eta, metric, sample_weight=weight)
    cuts = [ThresholdRule(t, s) for t in np.r_[-1, np.unique(eta), 2] for s in ("above", "below")]
    tried = max(expected_score(eta, rule, metric, sample_weight=weight) for rule in cuts)
    assert best == pytest.approx(tried, abs=1e-12)
    repeated = optimal_threshold(np.repeat(eta, weight.astype(int)), metric)
    assert best == pytest.approx(repeated.score, abs=1e-12)
    assert theta == pytest.approx(repeated.threshold, abs=1e-10)
    scaled = optimal_threshold(eta, metric, sample_weight=7 * weight)
    assert best == pytest.approx(scaled.score, abs=1e-12)


def test_closed_forms() -> None:
    # eta = x^2 with x uniform: theta of F1 solves theta E eta = E (eta - theta)_+.
    grid = (np.arange(1_000_000) + 0.5) / 1_000_000
    eta = grid**2
    theta, best = optimal_threshold(eta, F1)
    root = brentq(lambda t: t / 3 - ((1 - t**1.5) / 3 - t * (1 - t**0.5)), 0.1, 0.9, xtol=1e-15)
    assert theta == pytest.approx(root, abs=1e-6)
    assert theta == pytest.approx(best / 2, abs=1e-12)
    beta = optimal_threshold(eta, LinearFractional.fbeta(2))
    assert beta.threshold == pytest.approx(beta.score / 5, abs=1e-12)
    jaccard = optimal_threshold(eta, LinearFractional.jaccard())
    assert jaccard.threshold == pytest.approx(theta, abs=1e-12)
    assert jaccard.score == pytest.approx(best / (2 - best), abs=1e-12)
    assert optimal_threshold(eta, LinearFractional.accuracy()).threshold == 0.5
    pi = float(eta.mean())
    balanced = LinearFractional.balanced_accuracy(pi)
    assert optimal_threshold(eta, balanced).threshold == pytest.approx(pi, abs=1e-12)


def test_equals_the_sweep_over_labelled_scores() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 5000).astype(float)  # eta in {0, 1}: F1 is attained exactly
    assert optimal_threshold(labels, F1).score == 1.0
    scores = rng.random(2000)
    y = rng.random(2000) < scores
    precision, recall, _ = precision_recall_curve(y, scores)
    observed = np.nanmax(2 * precision * recall / (precision + recall))
    assert optimal_threshold(scores, F1).score == pytest.approx(observed, abs=0.03)


@pytest.mark.parametrize("level", [0.01, 0.5, 1.0])
def test_equal_scores_are_all_predicted_positive(level: float) -> None:
    theta, best = optimal_threshold(np.full(9, level), F1)
    assert theta < level
    assert best == pytest.approx(2 * level / (1 + level))


def test_tie_at_the_threshold_is_negative() -> None:
    rule = ThresholdRule(0.5)
    assert not rule(np.array([0.5]))[0]
    assert not ThresholdRule(0.5, "below")(np.array([0.5]))[0]


def test_constant_rule_where_the_slope_vanishes() -> None:
    # All that counts is how many are predicted positive.
    metric = LinearFractional({"TP": 1, "FP": 1}, {"constant": 1})
    theta, best = optimal_threshold(np.array([0.2, 0.7]), metric)
    assert (theta, best) == (-np.inf, 1.0)
    metric = LinearFractional({"FN": 1, "TN": 1}, {"constant": 1})
    assert optimal_threshold(np.array([0.2, 0.7]), metric) == (np.inf, 1.0)
    assert regret(np.array([0.2, 0.7]), [1, 0], metric) == pytest.approx(0.5)


def test_no_positives_at_all() -> None:
    with pytest.warns(UserWarning, match="every probability is zero"):
        assert optimal_threshold(np.zeros(5), F1) == (np.inf, 0.0)
    # A metric that is defined there raises no warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert optimal_threshold(np.zeros(5), LinearFractional.accuracy()).score == 1.0


def test_negative_slope_warns_and_predicts_below() -> None:
    metric = LinearFractional({"FP": 1, "FN": 1}, {"constant": 1}, name="error rate")
    with pytest.warns(UserWarning, match="error rate rewards errors"):
        theta, best = optimal_threshold(np.array([0.1, 0.8]), metric)
    assert theta == 0.5
    assert metric.rule(best).side == "below"
    assert best == pytest.approx(0.85)


def test_prevalence_known_from_elsewhere() -> None:
    eta = np.array([0.1, 0.4, 0.9])
    metric = LinearFractional.jaccard()
    mean = optimal_threshold(eta, metric, prevalence=float(eta.mean()))
    assert mean.score == pytest.approx(optimal_threshold(eta, metric).score)
    assert optimal_threshold(eta, metric, prevalence=0.6).score < mean.score


@pytest.mark.parametrize(("eta", "prevalence", "cell"), [(0.9, 0.01, "FN"), (0.3, 0.9, "TN")])
def test_prevalence_that_contradicts_the_probabilities_is_refused(
    eta: float, prevalence: float, cell: str
) -> None:
    proba, rule = np.array([eta, eta]), np.array([1, 1])
    message = rf"prevalence={prevalence} contradicts .* mean is {eta}\): it implies {cell} = -"
    for ask in (
        lambda: optimal_threshold(proba, F1, prevalence=prevalence),
        lambda: expected_score(proba, rule, F1, prevalence=prevalence),
        lambda: regret(proba, rule, F1, prevalence=prevalence),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            ask()
        assert "\n" not in str(caught.value)


@given(shift=st.floats(-0.3, 0.3), noise=st.integers(0, 1000), threshold=st.floats(0.05, 0.9))
@settings(max_examples=60, deadline=None)
def test_parts_bound_the_regret(shift: float, noise: int, threshold: float) -> None:
    rng = np.random.default_rng(noise)
    eta = rng.beta(1, 4, 300)
    estimate = np.clip(eta + shift + 0.1 * rng.normal(size=300), 0.001, 1)
    parts = regret_parts(eta, estimate, threshold, F1)
    assert parts.total <= parts.regression + parts.bias + parts.sampling + 1e-12
    assert parts.total == pytest.approx(regret(eta, estimate > threshold, F1), abs=1e-12)
    exact = regret_parts(eta, eta, optimal_threshold(eta, F1).threshold, F1)
    assert exact == (0, 0, 0, 0)


def test_parts_need_a_finite_threshold() -> None:
    metric = LinearFractional({"TP": 1, "FP": 1}, {"constant": 1}, name="share")
    with pytest.raises(ValueError, match="share has no finite threshold"):
        regret_parts([0.2, 0.7], [0.3, 0.6], 0.5, metric)
    with pytest.raises(ValueError, match="differ in shape"):
        regret_parts([0.2, 0.7], [0.3, 0.6, 0.1], 0.5, F1)


@pytest.mark.parametrize(
    ("proba", "options", "message"),
    [
        ([], {}, "at least one row"),
        ([[0.1, 0.9]], {}, "1-D"),
        ([0.1, 1.2], {}, r"\[0, 1\], got values from 0.1 to 1.2"),
        ([0.1, float("nan")], {}, r"must lie in \[0, 1\]"),
        ([0.1, 0.2], {"sample_weight": [1]}, r"shape \(1,\), expected \(2,\)"),
        ([0.1, 0.2], {"sample_weight": [1, -1]}, "not negative"),
        ([0.1, 0.2], {"sample_weight": [0, 0]}, "zero on every row"),
        ([0.1, 0.2], {"prevalence": 1.5}, r"\[0, 1\], got 1.5"),
    ],
)
def test_bad_input(proba: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        optimal_threshold(proba, F1, **options)
    assert "\n" not in str(caught.value)


def test_denominator_that_can_vanish_is_refused_by_name() -> None:
    precision = LinearFractional({"TP": 1}, {"TP": 1, "FP": 1}, name="precision")
    with pytest.raises(ValueError, match=r"denominator of precision is 0 <= 0 .*'TP': 1.0"):
        optimal_threshold([0.2, 0.5], precision)
    signed = LinearFractional({"TP": 1}, {"constant": 0.1, "FP": -1})
    with pytest.raises(ValueError, match=r"denominator of custom is -"):
        optimal_threshold([0.2, 0.5], signed)
    with pytest.raises(ValueError, match="zero at this rule"):
        expected_score([0.2, 0.5], [0, 0], precision)


@pytest.mark.parametrize("rule", [[1], [0.5, 1], [2, 0]])
def test_rule_must_be_binary_and_as_long_as_the_scores(rule: list) -> None:
    with pytest.raises(ValueError, match="rule"):
        expected_score([0.2, 0.5], rule, F1)


def test_a_million_scores_in_a_fifth_of_a_second() -> None:
    scores = np.random.default_rng(0).beta(0.5, 6, 1_000_000)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        optimal_threshold(scores, F1)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.2


def test_error_of_the_threshold_falls_with_the_root_of_the_sample() -> None:
    rng = np.random.default_rng(0)
    sizes = [100, 1_000, 10_000, 100_000]
    grid = (np.arange(1_000_000) + 0.5) / 1_000_000
    theta = optimal_threshold(grid**2, F1).threshold
    errors = [
        np.mean(
            [abs(optimal_threshold(rng.random(n) ** 2, F1).threshold - theta) for _ in range(60)]
        )
        for n in sizes
    ]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.08)
