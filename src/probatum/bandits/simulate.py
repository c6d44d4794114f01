"""Many runs of a policy on simulated Bernoulli arms, on common random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probatum.bandits.policy import BAIPolicy
from probatum.bandits.rules import next_arm, settle
from probatum.sequential import RewardTape, play, run_seeds
from probatum.sequential.compiled import kernel
from probatum.sequential.glr import mixture_constant
from probatum.sequential.simulate import tape_uniform

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Path", "follow", "simulate_bai"]


@kernel
def _run(
    rule: int,
    rng: Any,
    tape: Any,
    means: Any,
    prior: Any,
    threshold: int,
    log_inv_delta: float,
    max_pulls: int,
    pulls: Any,
    successes: Any,
    checkpoints: Any,
    seen_pulls: Any,
    seen_glr: Any,
) -> tuple[bool, int, float, float, int]:
    """One run: whether it stopped, leader, GLR, threshold, last time the leader was wrong.

    ``pulls`` and ``successes`` are filled; at each checkpoint (a number of pulls, ascending) a row
    of ``seen_pulls`` and an entry of ``seen_glr``.
    """
    memory = np.zeros(means.size)
    constant = mixture_constant(means.size, log_inv_delta)
    truth, last_wrong, at = means.argmax(), 0, 0
    stopped, leader, glr, beta = False, 0, 0.0, np.inf
    for t in range(1, max_pulls + 1):
        arm = next_arm(rule, rng, pulls, successes, memory, prior, threshold, log_inv_delta)
        if tape_uniform(tape, arm, pulls[arm]) < means[arm]:
            successes[arm] += 1
        pulls[arm] += 1
        stopped, leader, alone, glr, beta = settle(
            rule, pulls, successes, memory, threshold, log_inv_delta, constant
        )
        if leader != truth or not alone:
            last_wrong = t
        while at < checkpoints.size and checkpoints[at] == t:
            seen_pulls[at] = pulls
            seen_glr[at] = glr
            at += 1
        if stopped:
            break
    return stopped, leader, glr, beta, last_wrong


def _one(
    policy: BAIPolicy,
    means: NDArray[np.float64],
    tape: np.uint64,
    seed: int,
    max_pulls: int,
    log_inv_delta: float,
    checkpoints: NDArray[np.int64],
) -> tuple[Any, ...]:
    k = means.size
    pulls, successes = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    seen_pulls = np.zeros((checkpoints.size, k), dtype=np.int64)
    seen_glr = np.zeros(checkpoints.size)
    ended = _run(
        policy.rule,
        np.random.default_rng(seed),
        tape,
        means,
        np.asarray(policy.prior, dtype=np.float64),
        policy.threshold_code,
        log_inv_delta,
        max_pulls,
        pulls,
        successes,
        checkpoints,
        seen_pulls,
        seen_glr,
    )
    return (*ended, pulls, successes, seen_pulls, seen_glr)


def _problem(policy: BAIPolicy, means: ArrayLike) -> NDArray[np.float64]:
    mu = np.ascontiguousarray(means, dtype=np.float64)
    if mu.shape != (policy.n_arms,):
        raise ValueError(f"means must be {policy.n_arms} numbers, got shape {mu.shape}")
    if not ((mu >= 0) & (mu <= 1)).all():
        raise ValueError(f"means must lie in [0, 1], got {mu.tolist()}")
    return mu


@dataclass(frozen=True)
class Path:
    """What runs that never stop look like on their way.

    Attributes
    ----------
    times : ndarray of shape (C,)
        Numbers of pulls at which one looked.
    pulls : ndarray of int, shape (R, C, K)
        Pulls of each arm.
    glr : ndarray of shape (R, C)
        GLR of the leader, in nats.
    last_wrong : ndarray of int, shape (R,)
        Last time at which the true best arm was not alone in the lead.
    """

    times: NDArray[np.int64]
    pulls: NDArray[np.int64]
    glr: NDArray[np.float64]
    last_wrong: NDArray[np.int64]


def follow(
    policy: BAIPolicy, means: ArrayLike, times: Sequence[int], n_runs: int, random_state: int
) -> Path:
    """Run a policy's sampling rule without its stop, and look at given times.

    Parameters
    ----------
    policy : BAIPolicy
        Its rule and prior are used, its state is not.
    means : array-like of float, shape (K,)
    times : sequence of int
        Ascending, at least 1.
    n_runs : int
    random_state : int

    Examples
    --------
    >>> from probatum.bandits import Uniform
    >>> path = follow(Uniform(2), [0.6, 0.4], [10, 100], n_runs=3, random_state=0)
    >>> path.pulls[0].tolist()
    [[5, 5], [50, 50]]
    """
    mu, at = _problem(policy, means), np.asarray(times, dtype=np.int64)
    if at.ndim != 1 or not at.size or at[0] < 1 or (np.diff(at) <= 0).any():
        raise ValueError(f"times must be ascending and at least 1, got {list(times)}")
    tapes, seeds = run_seeds(random_state, n_runs)
    runs = [
        _one(policy, mu, tape, int(seed), int(at[-1]), np.inf, at)
        for tape, seed in zip(tapes, seeds, strict=True)
    ]
    return Path(
        at,
        np.array([run[7] for run in runs]),
        np.array([run[8] for run in runs]),
        np.array([run[4] for run in runs]),
    )


def simulate_bai(
    policy: BAIPolicy,
    means: ArrayLike,
    n_runs: int,
    random_state: int,
    *,
    max_pulls: int | None = None,
    backend: Literal["numba", "ask-tell"] = "numba",
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Independent runs of a policy on Bernoulli arms.

    Run r has its own tape of rewards, which depends on `random_state` and r alone: policies
    simulated with one `random_state` are compared on common random numbers.

    Parameters
    ----------
    policy : BAIPolicy
        Used as a template: its state and generator are left alone.
    means : array-like of float, shape (K,)
        Success probabilities.
    n_runs : int
    random_state : int
        Non-negative.
    max_pulls : int, optional
        Pulls after which a run is given up; by default the policy's own, or ten million.
    backend : {"numba", "ask-tell"}
        The compiled loop, or the policy's own ask and tell; both give the same.
    n_jobs : int, default=1
        Threads.

    Returns
    -------
    DataFrame
        One row a run: ``run``, ``stopped``, ``best_arm`` (-1 where undecided), ``correct``,
        ``n_pulls``, ``glr`` and ``threshold`` (nats), ``pulls_0`` ... ``pulls_K-1``.

    Raises
    ------
    ValueError
        If the means do not fit the policy.

    Examples
    --------
    >>> from probatum.bandits import PosteriorTracking
    >>> runs = simulate_bai(PosteriorTracking(3, delta=0.1), [0.8, 0.6, 0.3], 20, 0)
    >>> bool(runs["stopped"].all()), float(runs["correct"].mean())
    (True, 1.0)
    """
    import pandas as pd

    mu = _problem(policy, means)
    if backend not in ("numba", "ask-tell"):
        raise ValueError(f"backend must be numba or ask-tell, got {backend!r}")
    most = max_pulls or policy.max_pulls or 10_000_000
    tapes, seeds = run_seeds(random_state, n_runs)
    none = np.zeros(0, dtype=np.int64)

    def run(pair: tuple[np.uint64, np.uint64]) -> tuple[Any, ...]:
        tape, seed = pair
        if backend == "numba":
            ended = _one(policy, mu, tape, int(seed), most, policy.log_inv_delta, none)
            return (*ended[:4], ended[5])
        own = policy.fresh(int(seed))
        pulls = play(own, RewardTape(mu, int(tape)), most)
        state = own.state()
        return (own.identified, state.leader, state.glr, state.threshold, pulls)

    with ThreadPoolExecutor(max(n_jobs, 1)) as pool:
        pairs = list(zip(tapes, seeds, strict=True))
        runs = [run(pair) for pair in pairs] if n_jobs <= 1 else list(pool.map(run, pairs))
    truth = int(mu.argmax())
    table = pd.DataFrame(
        {
            "run": range(n_runs),
            "stopped": [bool(r[0]) for r in runs],
            "best_arm": [int(r[1]) if r[0] else -1 for r in runs],
            "correct": [bool(r[0]) and int(r[1]) == truth for r in runs],
            "n_pulls": [int(r[4].sum()) for r in runs],
            "glr": [float(r[2]) for r in runs],
            "threshold": [float(r[3]) for r in runs],
        }
    )
    for a in range(mu.size):
        table[f"pulls_{a}"] = [int(r[4][a]) for r in runs]
    return table
