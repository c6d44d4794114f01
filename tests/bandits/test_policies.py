"""Policies keep the contract, agree with the compiled simulation, and refuse bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.bandits import (
    LUCB,
    BAIPolicy,
    ChernoffRacing,
    LilUCB,
    PosteriorTracking,
    TopTwo,
    TrackAndStop,
    Uniform,
)
from probatum.bandits.simulate import _one
from probatum.sequential import (
    RewardTape,
    bernoulli_kl,
    check_sequential,
    glr_statistic,
    oracle_weights,
    play,
    stopping_threshold,
)

Make = Callable[..., BAIPolicy]
POLICIES: dict[str, tuple[type[BAIPolicy], dict[str, Any]]] = {
    "posterior": (PosteriorTracking, {}),
    "posterior-heuristic": (PosteriorTracking, {"threshold": "heuristic", "delta": 0.2}),
    "posterior-cumulative": (PosteriorTracking, {"tracking": "cumulative", "prior": (0.5, 2.0)}),
    "track-d": (TrackAndStop, {}),
    "track-c": (TrackAndStop, {"tracking": "C", "threshold": "heuristic"}),
    "unforced": (TrackAndStop, {"tracking": "unforced", "max_pulls": 3000}),
    "top-two": (TopTwo, {}),
    "uniform": (Uniform, {"threshold": "uncorrected"}),
    "racing": (ChernoffRacing, {}),
    "racing-heuristic": (ChernoffRacing, {"threshold": "heuristic"}),
    "lucb": (LUCB, {}),
    "lil-ucb": (LilUCB, {}),
}
NAMES = pytest.mark.parametrize("name", POLICIES)


def make(name: str, seed: Any = None, n_arms: int = 3, **more: Any) -> BAIPolicy:
    policy, options = POLICIES[name]
    return policy(n_arms, random_state=seed, **{**options, **more})


@NAMES
def test_keeps_the_contract_and_agrees_with_the_compiled_loop(name: str) -> None:
    def simulate(means: np.ndarray, tape: int, random_state: int, max_pulls: int) -> np.ndarray:
        policy, none = make(name), np.zeros(0, dtype=np.int64)
        target, most = policy.log_inv_delta, policy.max_pulls or max_pulls
        return np.asarray(_one(policy, means, np.uint64(tape), random_state, most, target, none)[5])

    check_sequential(lambda seed: make(name, seed), max_pulls=20_000, simulate=simulate)


def test_next_arm_of_posterior_tracking_by_hand() -> None:
    """The step, written in plain NumPy with the generator's own draws."""
    policy = PosteriorTracking(4, random_state=42)
    policy.tell_counts([3, 5, 1, 4], [9, 11, 8, 10])
    rng = np.random.default_rng(42)
    for _ in range(50):
        s, n = np.array(policy.result().successes), policy.n_pulls_
        theta = [rng.beta(1 + s[a], 1 + n[a] - s[a]) for a in range(4)]
        weights, _ = oracle_weights(theta)
        expected = int(np.searchsorted(np.cumsum(weights), rng.random(), side="right"))
        arm = policy.ask()
        assert arm == min(expected, 3)
        policy.tell(arm, int(arm == 1))
        if policy.stopped:
            break


@pytest.mark.parametrize("threshold", ["mixture", "heuristic"])
def test_stops_at_the_glr_and_not_before(threshold: Any) -> None:
    policy = PosteriorTracking(3, delta=0.1, threshold=threshold, random_state=1)
    tape = RewardTape([0.9, 0.4, 0.2], 3)
    while not policy.stopped:
        found = policy.result()
        least = glr_statistic(found.successes, found.n_pulls)
        # The mixture threshold is each challenger's own, so that the hardest may not be the least.
        assert found.glr == pytest.approx(least) or (threshold == "mixture" and found.glr > least)
        assert found.threshold is not None
        assert found.glr <= found.threshold
        arm = policy.ask()
        policy.tell(arm, tape.pull(arm))
    found = policy.result()
    assert found.verdict == "identified"
    assert found.best_arm == found.leader == policy.best_arm_ == 0
    assert found.threshold is not None
    assert found.glr > found.threshold
    challengers = [stopping_threshold(threshold, found.n_pulls, 0, a, math.log(10)) for a in (1, 2)]
    assert any(found.threshold == pytest.approx(one) for one in challengers)
    assert found.total == sum(found.n_pulls) == int(policy.n_pulls_.sum())
    assert policy.glr_ == found.glr
    assert found.means[0] == pytest.approx(found.successes[0] / found.n_pulls[0])


@NAMES
def test_every_arm_is_pulled_once_first(name: str) -> None:
    policy = make(name, 0, 5)
    asked = []
    for _ in range(5):
        asked.append(policy.ask())
        policy.tell(asked[-1], 0)
    assert asked == [0, 1, 2, 3, 4]


@NAMES
@pytest.mark.parametrize("reward", [0, 1])
def test_all_failures_or_all_successes_are_no_answer(name: str, reward: int) -> None:
    policy = make(name, 0, max_pulls=60)
    arms = []
    while not policy.stopped:
        arms.append(policy.ask())
        policy.tell(arms[-1], reward)
    found = policy.result()
    assert found.verdict == "undecided" or name == "lil-ucb"  # lil'UCB stops by counts alone
    assert len(set(arms)) == 3


def test_two_equally_good_arms_end_undecided() -> None:
    policy = PosteriorTracking(3, threshold="mixture", max_pulls=2000, random_state=0)
    play(policy, RewardTape([0.5, 0.5, 0.2], 1), 5000)
    found = policy.result()
    assert policy.stopped
    assert found.stopped
    assert found.verdict == "undecided"
    assert found.best_arm is None
    assert found.total == 2000
    # The third is told from them long before, and left alone.
    assert found.n_pulls[2] < 200


def test_certain_arms() -> None:
    policy = PosteriorTracking(2, delta=0.01, random_state=0)
    play(policy, RewardTape([1.0, 0.0], 0), 1000)
    assert policy.result().best_arm == 0
    assert policy.result().total < 60


def test_delta_beyond_floats() -> None:
    policy = PosteriorTracking(2, log_inv_delta=2000.0, threshold="heuristic", random_state=0)
    assert policy.delta == 0.0
    play(policy, RewardTape([0.9, 0.1], 0), 100_000)
    assert policy.best_arm_ == 0
    assert policy.glr_ > 2000
    least = oracle_weights([0.9, 0.1])[1] * 2000
    assert policy.n_pulls_.sum() == pytest.approx(least, rel=0.15)


def test_half_rewards_are_drawn() -> None:
    policy = PosteriorTracking(2, random_state=0)
    for _ in range(400):
        policy.tell(0, 0.25, binarize=True)
    assert policy.result().successes[0] == pytest.approx(100, abs=40)
    with pytest.raises(ValueError, match="0 or 1"):
        policy.tell(0, 0.25)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        policy.tell(0, 1.25, binarize=True)


def test_counts_at_once_are_the_same_as_one_by_one() -> None:
    one, two = (PosteriorTracking(2, random_state=0) for _ in range(2))
    for reward in (1, 1, 0):
        one.tell(0, reward)
    one.tell(1, 0)
    two.tell_counts([2, 0], [3, 1])
    assert one.result() == two.result()
    assert one.ask() == two.ask()


@pytest.mark.parametrize(
    ("s", "n", "why"),
    [
        ([1], [1], "2 arms"),
        ([2, 0], [1, 0], "between 0"),
        ([0.5, 0], [1, 0], "whole"),
        ([math.nan, 0], [1, 0], "whole"),
        ([-1, 0], [1, 0], "between 0"),
    ],
)
def test_counts_that_are_none(s: list[float], n: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        PosteriorTracking(2).tell_counts(s, n)


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({"n_arms": 1}, ValueError, "n_arms must be at least 2"),
        ({"n_arms": 2.5}, TypeError, "n_arms"),
        ({"n_arms": True}, TypeError, "n_arms"),
        ({"delta": 0.0}, ValueError, "delta must lie"),
        ({"delta": 1.0}, ValueError, "delta must lie"),
        ({"delta": math.nan}, ValueError, "delta must lie"),
        ({"log_inv_delta": -1.0}, ValueError, "log_inv_delta"),
        ({"log_inv_delta": math.inf}, ValueError, "log_inv_delta"),
        ({"threshold": "none"}, ValueError, "threshold must be one of"),
        ({"tracking": "E"}, ValueError, "tracking must be one of"),
        ({"prior": (0.0, 1.0)}, ValueError, "prior"),
        ({"max_pulls": 0}, ValueError, "max_pulls"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], error: type, why: str) -> None:
    with pytest.raises(error, match=why):
        PosteriorTracking(**{"n_arms": 2, **options})


@pytest.mark.parametrize("arm", [-1, 3, 1.0, "0", True, None])
def test_arms_that_are_none(arm: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="arm must"):
        PosteriorTracking(3).tell(arm, 1)


@NAMES
def test_what_is_saved_is_plain_json_and_damage_is_found(name: str) -> None:
    policy = make(name, 0)
    policy.tell(0, 1)
    saved = json.loads(policy.to_json())
    kind = type(policy)
    assert kind.from_json(json.dumps(saved)).to_json() == policy.to_json()
    for key, value in (
        ("policy", "Other"),
        ("format", 99),
        ("pulls", [1]),
        ("pulls", None),
        ("successes", [5, 0, 0]),
        ("memory", [0.0]),
        ("asked", 17),
        ("rng", {}),
        ("options", {"n_arms": 3}),
    ):
        with pytest.raises((ValueError, TypeError)):
            kind.from_json(json.dumps({**saved, key: value}))
    for text in ("", "[]", "{", "null"):
        with pytest.raises(ValueError, match="not a saved"):
            kind.from_json(text)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6),
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=60),
    st.sampled_from(sorted(POLICIES)),
)
def test_any_outcomes_in_any_order(
    n_arms: int, outcomes: list[tuple[int, bool]], name: str
) -> None:
    policy = make(name, 0, n_arms)
    for arm, reward in outcomes:
        if policy.stopped:
            break
        policy.tell(arm % n_arms, reward)
    found = policy.result()
    assert (found.best_arm is not None) == (found.verdict == "identified")
    assert sum(found.successes) <= found.total
    if not policy.stopped:
        assert 0 <= policy.ask() < n_arms


def test_racing_puts_out_and_never_pulls_again() -> None:
    policy = ChernoffRacing(3, delta=0.1, threshold="heuristic", random_state=0)
    play(policy, RewardTape([0.7, 0.6, 0.05], 2), 100_000)
    pulls = policy.n_pulls_
    assert policy.best_arm_ == 0
    assert pulls[0] == pulls[1] > 3 * pulls[2]


def test_lucb_bounds_are_those_of_the_divergence() -> None:
    from probatum.bandits.rules import _upper_bound

    for mean, level in ((0.3, 0.01), (0.0, 0.5), (0.9, 1.0), (0.5, 8.0)):
        q = _upper_bound(mean, level)
        assert bernoulli_kl(mean, q) == pytest.approx(level, rel=1e-6)
        assert q > mean
    assert _upper_bound(1.0, 0.1) == 1.0
    assert _upper_bound(0.99, 2.0) == pytest.approx(1.0)
