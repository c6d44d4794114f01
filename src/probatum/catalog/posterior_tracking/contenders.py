"""Arms: best-arm policies of the library on the compiled simulation, all on the same rewards.

An arm is called with a number of arms and ln(1/delta) and gives the policy to be simulated.
``again`` puts an arm on rewards of its own, so that a rule can be compared with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from probatum.bandits import (
    LUCB,
    BAIPolicy,
    ChernoffRacing,
    LilUCB,
    Path,
    PosteriorTracking,
    TopTwo,
    TrackAndStop,
    Uniform,
    follow,
    simulate_bai,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """How independent runs ended: pulls, whether the answer was right, threshold at the stop."""

    pulls: NDArray[np.int64]
    correct: NDArray[np.bool_]
    threshold: Array


class Contender(Protocol):
    """What a trial drives."""

    again: bool

    def identify(
        self, means: Array, log_inv_delta: float, n_runs: int, seed: int, max_pulls: int
    ) -> Runs: ...


class Compiled:
    """A policy of the library, run by the compiled simulation."""

    def __init__(self, policy: type[BAIPolicy], again: bool = False, **options: Any) -> None:
        self.policy, self.again, self.options = policy, again, options

    def _policy(self, n_arms: int, log_inv_delta: float) -> BAIPolicy:
        return self.policy(n_arms, log_inv_delta=log_inv_delta, **self.options)

    def identify(
        self, means: Array, log_inv_delta: float, n_runs: int, seed: int, max_pulls: int
    ) -> Runs:
        policy = self._policy(means.size, log_inv_delta)
        runs = simulate_bai(policy, means, n_runs, seed, max_pulls=max_pulls)
        return Runs(
            runs["n_pulls"].to_numpy(), runs["correct"].to_numpy(), runs["threshold"].to_numpy()
        )

    def follow(self, means: Array, times: Sequence[int], n_runs: int, seed: int) -> Path:
        """Runs without a stop, seen at some times."""
        return follow(self._policy(means.size, 1.0), means, times, n_runs, seed)


class Weakened(Compiled):
    """Control: the same rule, stopped at a quarter of ln(1/delta)."""

    def _policy(self, n_arms: int, log_inv_delta: float) -> BAIPolicy:
        return super()._policy(n_arms, log_inv_delta / 4)


def posterior(threshold: str = "heuristic", tracking: str = "sample") -> Compiled:
    """The method."""
    return Compiled(PosteriorTracking, threshold=threshold, tracking=tracking)


def posterior_weakened() -> Compiled:
    """Control of delta-correctness: the likelihood ratio need only pass ln(1/delta)/4."""
    return Weakened(PosteriorTracking, threshold="uncorrected")


def track_and_stop(threshold: str = "heuristic", tracking: str = "D") -> Compiled:
    """Track-and-Stop; tracking "unforced" takes the draw from the method, and forces nothing."""
    return Compiled(TrackAndStop, threshold=threshold, tracking=tracking)


def top_two(threshold: str = "heuristic") -> Compiled:
    """T3C."""
    return Compiled(TopTwo, threshold=threshold)


def uniform(threshold: str = "heuristic", again: bool = False) -> Compiled:
    """Every arm in turn, the same stop."""
    return Compiled(Uniform, again, threshold=threshold)


def racing(threshold: str = "heuristic") -> Compiled:
    """Chernoff racing."""
    return Compiled(ChernoffRacing, threshold=threshold)


def lucb() -> Compiled:
    """KL-LUCB at the heuristic level that the others have."""
    return Compiled(LUCB, threshold="heuristic")


def lil_ucb() -> Compiled:
    """lil'UCB with its authors' practical constants."""
    return Compiled(LilUCB)
