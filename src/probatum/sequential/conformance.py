"""A check that readers can run on a sequential policy of their own, as `check_estimator` is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.sequential.policy import SequentialPolicy
from probatum.sequential.simulate import RewardTape, play

__all__ = ["check_sequential"]

Factory = Callable[[int], Any]
Simulate = Callable[[NDArray[np.float64], int, int, int], NDArray[np.int64]]


def check_sequential(
    factory: Factory,
    means: Any = (0.7, 0.5, 0.2),
    *,
    max_pulls: int = 5000,
    simulate: Simulate | None = None,
) -> None:
    """Check that a policy keeps the contract of `SequentialPolicy`, on Bernoulli rewards.

    Parameters
    ----------
    factory : callable
        ``factory(random_state)`` gives a fresh policy for ``len(means)`` arms.
    means : sequence of float
        Success probabilities of a problem that the policy can solve.
    max_pulls : int
        Pulls after which a run is given up.
    simulate : callable, optional
        ``simulate(means, tape, random_state, max_pulls)`` gives the pulls of each arm in a batch
        simulation of one run; it must agree with the ask/tell loop.

    Raises
    ------
    AssertionError
        Says what is wrong.

    Examples
    --------
    >>> from probatum.bandits import PosteriorTracking
    >>> check_sequential(lambda seed: PosteriorTracking(3, random_state=seed))
    """
    mu = np.asarray(means, dtype=np.float64)
    policy = factory(0)
    assert isinstance(policy, SequentialPolicy), (
        "a policy has ask, tell, stopped, result, to_json and from_json"
    )
    _check_asking(factory, mu)
    _check_telling(factory, mu.size)
    _check_repeats(factory, mu, max_pulls)
    _check_round_trip(factory, mu, max_pulls)
    _check_stop(factory, mu, max_pulls)
    if simulate is not None:
        for seed in range(3):
            told = play(factory(seed), RewardTape(mu, seed + 100), max_pulls)
            batch = simulate(mu, seed + 100, seed, max_pulls)
            assert told.tolist() == list(batch), (
                f"ask/tell pulled {told.tolist()}, the batch simulation {list(batch)}"
            )


def _check_asking(factory: Factory, mu: NDArray[np.float64]) -> None:
    policy, tape = factory(1), RewardTape(mu, 1)
    for _ in range(50):
        if policy.stopped:
            break
        arm = policy.ask()
        assert isinstance(arm, int), f"ask gave a {type(arm).__name__}, not an int"
        assert 0 <= arm < mu.size, f"ask gave {arm}, arms are 0 to {mu.size - 1}"
        assert policy.ask() == arm, "asking again before telling changed the answer"
        policy.tell(arm, tape.pull(arm))


def _check_telling(factory: Factory, n_arms: int) -> None:
    for arm, reward in ((-1, 1.0), (n_arms, 1.0), (0, float("nan")), (0, 2.0), (0, -1.0)):
        policy = factory(2)
        try:
            policy.tell(arm, reward)
        except (ValueError, TypeError):
            continue
        raise AssertionError(f"tell({arm}, {reward}) raised neither ValueError nor TypeError")
    policy = factory(2)
    other = (policy.ask() + 1) % n_arms
    policy.tell(other, 1)
    assert 0 <= policy.ask() < n_arms, "an outcome that was not asked for broke the policy"


def _trace(policy: Any, tape: RewardTape, pulls: int) -> list[int]:
    arms: list[int] = []
    while len(arms) < pulls and not policy.stopped:
        arms.append(policy.ask())
        policy.tell(arms[-1], tape.pull(arms[-1]))
    return arms


def _check_repeats(factory: Factory, mu: NDArray[np.float64], max_pulls: int) -> None:
    one, two = (_trace(factory(3), RewardTape(mu, 3), max_pulls) for _ in range(2))
    assert one == two, "equal random_state and equal outcomes gave different actions"


def _check_round_trip(factory: Factory, mu: NDArray[np.float64], max_pulls: int) -> None:
    for before in (0, 1, mu.size, 40):
        policy, tape = factory(4), RewardTape(mu, 4)
        _trace(policy, tape, before)
        if not policy.stopped:
            policy.ask()  # a question that is open must survive as well
        twin = type(policy).from_json(policy.to_json())
        again = RewardTape(mu, 4)
        again.pulls[:] = tape.pulls
        went, goes = _trace(policy, tape, max_pulls), _trace(twin, again, max_pulls)
        assert went == goes, f"read back from JSON after {before} outcomes it goes on differently"
        assert policy.result() == twin.result(), "read back from JSON it ends differently"


def _check_stop(factory: Factory, mu: NDArray[np.float64], max_pulls: int) -> None:
    policy = factory(5)
    play(policy, RewardTape(mu, 5), max_pulls)
    assert policy.stopped, f"has not stopped after {max_pulls} pulls of an easy problem"
    for what, call in (("ask", policy.ask), ("tell", lambda: policy.tell(0, 1))):
        try:
            call()
        except RuntimeError:
            continue
        raise AssertionError(f"{what} after the stop raised no RuntimeError")
