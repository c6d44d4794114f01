"""Simulated rewards that do not depend on who asks for them, and the plain ask/tell loop.

The reward of the i-th pull of arm a on tape s is a function of (s, a, i) and the arm's mean: all
policies that are run on one tape see the same luck, however they interleave the arms. Nothing is
stored, so that a run may be as long as it likes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probatum.sequential.compiled import kernel

__all__ = ["RewardTape", "Steerable", "play", "run_seeds", "tape_uniform"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
TO_UNIT = 2.0**-53


@kernel
def _mixed(x: np.uint64) -> np.uint64:
    """Output function of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@kernel
def tape_uniform(tape: np.uint64, arm: int, pull: int) -> float:
    """Uniform number in [0, 1) of a pull (counted from 0) of an arm on a tape.

    Each (tape, arm) is a SplitMix64 stream of its own, read at a place of one's choice.
    """
    stream = _mixed(_mixed(tape + GOLDEN) + GOLDEN * np.uint64(arm + 1))
    return float(_mixed(stream + GOLDEN * np.uint64(pull + 1)) >> np.uint64(11)) * TO_UNIT


def run_seeds(seed: int, n_runs: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Seeds of independent runs: of their tapes, and of what their policies draw.

    Parameters
    ----------
    seed : int
        Non-negative.
    n_runs : int

    Returns
    -------
    tapes, policies : ndarray of uint64, shape (n_runs,)

    Examples
    --------
    >>> tapes, policies = run_seeds(0, 3)
    >>> len({*tapes.tolist(), *policies.tolist()})
    6
    """
    if n_runs < 1:
        raise ValueError(f"n_runs must be at least 1, got {n_runs}")
    state = np.random.SeedSequence(seed).generate_state(2 * n_runs, np.uint64).astype(np.uint64)
    return state[:n_runs], state[n_runs:]


class RewardTape:
    """Bernoulli rewards of one run, arm by arm.

    Parameters
    ----------
    means : array-like of float, shape (K,)
        Success probabilities.
    tape : int
        Seed, in [0, 2^64).

    Examples
    --------
    >>> one, two = RewardTape([0.5, 0.2], 7), RewardTape([0.5, 0.2], 7)
    >>> first = [one.pull(0), one.pull(0), one.pull(1)]
    >>> _ = two.pull(1)
    >>> [two.pull(0), two.pull(0)] == first[:2]
    True
    """

    def __init__(self, means: ArrayLike, tape: int) -> None:
        self.means = np.asarray(means, dtype=np.float64)
        if self.means.ndim != 1 or not ((self.means >= 0) & (self.means <= 1)).all():
            raise ValueError(f"means must be a list of numbers in [0, 1], got {means!r}")
        self.tape = np.uint64(tape)
        self.pulls = np.zeros(self.means.size, dtype=np.int64)

    def pull(self, arm: int) -> int:
        """Reward, 0 or 1, of the next pull of an arm."""
        reward = int(tape_uniform(self.tape, arm, int(self.pulls[arm])) < self.means[arm])
        self.pulls[arm] += 1
        return reward


class Steerable(Protocol):
    """As much of a sequential policy as it takes to run it."""

    @property
    def stopped(self) -> bool: ...
    def ask(self) -> int: ...
    def tell(self, arm: int, reward: float, /) -> None: ...


def play(policy: Steerable, tape: RewardTape, max_pulls: int) -> NDArray[np.int64]:
    """Run a policy on a tape until it stops or the pulls are spent; pulls of each arm.

    Raises
    ------
    ValueError
        If the policy asks for an arm that is not there.
    """
    for _ in range(max_pulls):
        if policy.stopped:
            break
        arm = policy.ask()
        if not 0 <= arm < tape.means.size:
            raise ValueError(f"asked for arm {arm!r}; there are {tape.means.size}, from 0 on")
        policy.tell(arm, tape.pull(arm))
    return tape.pulls
