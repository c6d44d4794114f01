"""The batch simulation: common random numbers, published sample sizes, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probatum.bandits import (
    LUCB,
    ChernoffRacing,
    LilUCB,
    PosteriorTracking,
    TopTwo,
    TrackAndStop,
    Uniform,
    follow,
    simulate_bai,
)

RULES = (PosteriorTracking, TrackAndStop, TopTwo, Uniform, ChernoffRacing, LUCB, LilUCB)


@pytest.mark.parametrize("kind", RULES)
def test_both_backends_give_the_same(kind: type) -> None:
    policy = kind(4, delta=0.1)
    means = [0.8, 0.5, 0.45, 0.1]
    fast = simulate_bai(policy, means, 6, 5)
    slow = simulate_bai(policy, means, 6, 5, backend="ask-tell")
    pd.testing.assert_frame_equal(fast, slow)


def test_threads_change_nothing_and_the_template_is_left_alone() -> None:
    policy = PosteriorTracking(3, delta=0.1)
    before = policy.to_json()
    one = simulate_bai(policy, [0.7, 0.5, 0.2], 8, 0)
    two = simulate_bai(policy, [0.7, 0.5, 0.2], 8, 0, n_jobs=3)
    pd.testing.assert_frame_equal(one, two)
    assert policy.to_json() == before


def test_policies_share_their_luck() -> None:
    """Two rules that pull the same arms see the same rewards, whatever they draw."""
    means = [0.55, 0.45]
    uniform = simulate_bai(Uniform(2, 0.1, "heuristic"), means, 30, 3)
    racing = simulate_bai(ChernoffRacing(2, 0.1, "heuristic"), means, 30, 3)
    # With two arms racing is equal allocation that looks every other time.
    assert (racing["n_pulls"] >= uniform["n_pulls"]).all()
    assert np.corrcoef(racing["n_pulls"], uniform["n_pulls"])[0, 1] > 0.9


@pytest.mark.parametrize(
    ("policy", "published"),
    [
        (TrackAndStop(4, 0.1, "heuristic"), 4052),
        (ChernoffRacing(4, 0.1, "heuristic"), 4516),
        (LUCB(4, 0.1, "heuristic"), 8437),
    ],
)
def test_baselines_need_what_was_published(policy: object, published: int) -> None:
    """Table 1 of Garivier and Kaufmann (2016): mean pulls at delta = 0.1."""
    runs = simulate_bai(policy, [0.5, 0.45, 0.43, 0.4], 150, 1)  # type: ignore[arg-type]
    error = runs["n_pulls"].std() / len(runs) ** 0.5
    assert abs(runs["n_pulls"].mean() - published) < 4 * error
    assert runs["correct"].mean() > 0.9


def test_runs_that_are_given_up_have_no_answer() -> None:
    runs = simulate_bai(PosteriorTracking(2), [0.5, 0.5], 4, 0, max_pulls=300)
    assert not runs["stopped"].any()
    assert (runs["best_arm"] == -1).all()
    assert (runs["n_pulls"] == 300).all()
    assert not runs["correct"].any()


def test_own_limit_is_kept() -> None:
    runs = simulate_bai(PosteriorTracking(2, max_pulls=50), [0.5, 0.5], 2, 0)
    assert (runs["n_pulls"] == 50).all()


def test_follow_counts_what_simulate_pulls() -> None:
    policy = PosteriorTracking(3)
    path = follow(policy, [0.7, 0.5, 0.2], [10, 50, 200], 4, 9)
    assert path.pulls.shape == (4, 3, 3)
    assert (path.pulls.sum(axis=2) == [10, 50, 200]).all()
    assert (np.diff(path.pulls, axis=1) >= 0).all()
    assert ((path.last_wrong >= 1) & (path.last_wrong <= 200)).all()
    limited = simulate_bai(PosteriorTracking(3, 1e-9), [0.7, 0.5, 0.2], 4, 9, max_pulls=50)
    assert limited[["pulls_0", "pulls_1", "pulls_2"]].to_numpy().tolist() == (
        path.pulls[:, 1].tolist()
    )


@pytest.mark.parametrize(
    ("means", "more", "why"),
    [
        ([0.5], {}, "2 numbers"),
        ([0.5, 1.5], {}, r"\[0, 1\]"),
        ([0.5, 0.4], {"backend": "julia"}, "backend"),
        ([0.5, 0.4], {"n_runs": 0}, "n_runs"),
    ],
)
def test_bad_problems_are_named(means: list[float], more: dict[str, object], why: str) -> None:
    options = {"n_runs": 1, "random_state": 0, **more}
    with pytest.raises(ValueError, match=why):
        simulate_bai(PosteriorTracking(2), means, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("times", [[], [0], [5, 5], [9, 3]])
def test_times_must_ascend(times: list[int]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        follow(Uniform(2), [0.5, 0.4], times, 1, 0)
