"""The trials of paper 36 measure what they say, checked on cases with known answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.catalog.linear_fractional import tables, theory
from probatum.catalog.linear_fractional._real_tables import REAL_TABLES, real_tables
from probatum.evidence import Arm
from probatum.evidence.trial import TrialBlock
from probatum.supervised import LinearFractional, expected_score, optimal_threshold


def test_margin_law_puts_the_threshold_where_it_says() -> None:
    for exponent in (0.1, 1 / 3, 1.0, 2.0):
        eta, mass = theory.Margin().law(exponent, 100_000)
        assert mass.sum() == pytest.approx(1)
        assert (mass > 0).all()
        found = optimal_threshold(eta, theory.F1, sample_weight=mass)
        assert found.threshold == pytest.approx(theory.THETA, abs=1e-6)


def test_margin_law_has_its_exponent() -> None:
    eta, mass = theory.Margin().law(0.5, 200_000)
    near = np.abs(eta[:-2] - theory.THETA)
    shares = [mass[:-2][near <= t].sum() for t in (0.02, 0.04, 0.08)]
    assert np.diff(np.log(shares)) / np.log(2) == pytest.approx([0.5, 0.5], abs=0.01)


def test_true_threshold_of_the_uniform_law() -> None:
    # theta / 2 = (1 - theta)^2 / 2 has the root (3 - sqrt 5) / 2.
    assert theory.true_threshold("uniform") == pytest.approx((3 - 5**0.5) / 2, abs=1e-9)


def test_every_score_agrees_with_the_library() -> None:
    rng = np.random.default_rng(0)
    rules = rng.integers(0, 2, size=(20, 8)).astype(float)
    for _ in range(20):
        eta, mass = rng.random(8), rng.dirichlet(np.ones(8))
        metric = theory.random_metric(rng)
        own = [expected_score(eta, g, metric, sample_weight=mass) for g in rules]
        assert theory.every_score(eta, mass, rules, metric) == pytest.approx(own, abs=1e-10)


def test_about_half_of_the_metrics_reward_errors() -> None:
    rng = np.random.default_rng(1)
    sides = []
    for _ in range(200):
        metric = theory.random_metric(rng)
        sides.append(theory.FixedPointRule().rule(rng.random(8), np.ones(8), metric).side)
    assert 60 < sides.count("below") < 140


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=4, max_size=40),
    st.sampled_from(sorted(tables.METRICS)),
)
def test_best_cut_is_the_best_of_all_cuts(rows: list[tuple[bool, int]], name: str) -> None:
    y = np.array([label for label, _ in rows], dtype=int)
    scores = np.array([score / 5 for _, score in rows])
    if len(set(y)) < 2:
        return
    metric = tables.METRICS[name]
    cut = tables.best_cut(y, scores, metric)
    candidates = [np.mean(pair) for pair in itertools.pairwise(np.unique(scores))]
    best = max(metric(y, (scores > c).astype(int)) for c in [*candidates, -1.0])
    assert metric(y, (scores > cut).astype(int)) == pytest.approx(best)


def test_split_keeps_rows_apart_and_shares_them_between_arms() -> None:
    dataset = next(d for d in REAL_TABLES if d.id == "yeast4")
    one = tables.split(dataset, 300, np.random.default_rng(0))
    two = tables.split(dataset, 300, np.random.default_rng(0))
    assert one is two
    assert not one.train.flags.writeable
    assert one.y_train.size == 300
    assert one.train.shape[0] + one.pool.shape[0] + one.test.shape[0] == 1484
    assert 0.02 < one.y_test.mean() < 0.05


def test_every_arm_of_the_real_tables_fits_and_predicts() -> None:
    dataset = next(d for d in REAL_TABLES if d.id == "page-blocks0")
    size = {"n_train": (100,), "learners": ("logistic",), "metrics": ("f1",)}
    scores = {}
    for arm in real_tables.arms:
        block = TrialBlock("linear-fractional/real-tables", (arm,), dataset, size, 0)
        (row,) = tables.scores(block)
        scores[arm.id] = row.values["f1"]
    assert all(0 < value <= 1 for value in scores.values()), scores


def test_the_method_beats_its_control_where_it_should() -> None:
    """Distorted scores must cost: else the control controls nothing."""
    dataset = next(d for d in REAL_TABLES if d.id == "default")
    size = {"n_train": (1000,), "learners": ("logistic",), "metrics": ("f1",)}
    arms = (
        Arm("method", f"{tables.__name__}:PlugIn"),
        Arm(
            "control",
            f"{tables.__name__}:PlugIn",
            params={"balanced": True, "calibration": None},
        ),
    )
    values = [
        tables.scores(TrialBlock("x/y", (a,), dataset, size, 0))[0].values["f1"] for a in arms
    ]
    assert values[0] > values[1] + 0.05


def test_metrics_are_what_they_are_called() -> None:
    y, guess = np.array([1, 1, 0, 0, 0]), np.array([1, 0, 1, 0, 0])
    assert tables.METRICS["f1"](y, guess) == pytest.approx(0.5)
    assert tables.METRICS["jaccard"](y, guess) == pytest.approx(1 / 3)
    assert tables.METRICS["tversky"](y, guess) == pytest.approx(1 / (1 + 0.3 + 0.7))
    assert tables.METRICS["with-negatives"](y, guess) == pytest.approx(1.2 / 3.2)
    assert LinearFractional.f1() == tables.METRICS["f1"]
