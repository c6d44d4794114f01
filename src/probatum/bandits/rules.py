"""What every policy does in one step, compiled: which arm next, and whether to stop.

A policy object and the batch simulation call the same two functions, `next_arm` and `settle`.
State is three arrays of shape (K,): pulls and successes (int64), and `memory` (float64), in which
tracking keeps the sum of its allocations and racing marks the arms that are out.

Sources: posterior tracking from its abstract; Track-and-Stop and Chernoff racing, Garivier and
Kaufmann (2016); T3C, Shang et al. (2020); KL-LUCB, Kaufmann and Kalyanakrishnan (2013); lil'UCB
with its authors' practical constants, Jamieson et al. (2014).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probatum.sequential.compiled import kernel
from probatum.sequential.glr import HEURISTIC, MIXTURE, divergence, glr_stop, leader_of, pair_glr
from probatum.sequential.oracle import solve_oracle
from probatum.sequential.tracking import (
    draw_arm,
    forced_arm,
    lift_weights,
    most_behind,
    unpulled_arm,
)

__all__ = [
    "CUMULATIVE",
    "C_TRACK",
    "D_TRACK",
    "LIL_UCB",
    "LUCB_RULE",
    "POSTERIOR",
    "PLUG_IN",
    "RACING",
    "T3C",
    "UNIFORM",
    "UNION",
    "next_arm",
    "settle",
]

POSTERIOR, CUMULATIVE, PLUG_IN, D_TRACK, C_TRACK = 0, 1, 2, 3, 4
UNIFORM, T3C, RACING, LUCB_RULE, LIL_UCB = 5, 6, 7, 8, 9
UNION = 3
"""Threshold of KL-LUCB that has a proof; the others are in `probatum.sequential.glr`."""


@kernel
def _posterior_draw(rng: Any, pulls: Any, successes: Any, prior_a: float, prior_b: float) -> Any:
    theta = np.empty(pulls.size)
    for a in range(pulls.size):
        theta[a] = rng.beta(prior_a + successes[a], prior_b + pulls[a] - successes[a])
    return theta


@kernel
def _posterior(
    rng: Any, pulls: Any, successes: Any, memory: Any, prior_a: float, prior_b: float, sampled: bool
) -> int:
    """Posterior tracking: draw an instance, take its oracle allocation, draw the arm from that.

    Without `sampled` the arm whose count lags most behind the sum of the drawn allocations.
    """
    theta = _posterior_draw(rng, pulls, successes, prior_a, prior_b)
    weights = np.empty(pulls.size)
    solve_oracle(theta, weights)
    if sampled:
        return draw_arm(weights, rng.random())
    for a in range(pulls.size):
        memory[a] += weights[a]
    return most_behind(memory, 1.0, pulls)


@kernel
def _plug_in(pulls: Any, successes: Any) -> Any:
    """Oracle allocation of the empirical means."""
    means, weights = np.empty(pulls.size), np.empty(pulls.size)
    for a in range(pulls.size):
        means[a] = successes[a] / pulls[a]
    solve_oracle(means, weights)
    return weights


@kernel
def _track(pulls: Any, successes: Any, memory: Any, t: int, cumulative: bool) -> int:
    """Track-and-Stop: follow the allocation of the empirical means, with forced exploration."""
    if not cumulative:
        arm = forced_arm(pulls, t)
        return arm if arm >= 0 else most_behind(_plug_in(pulls, successes), float(t), pulls)
    weights = _plug_in(pulls, successes)
    k = pulls.size
    lift_weights(weights, 0.5 / math.sqrt(k * k + t))
    for a in range(k):
        memory[a] += weights[a]
    return most_behind(memory, 1.0, pulls)


@kernel
def _top_two(rng: Any, pulls: Any, successes: Any, prior_a: float, prior_b: float) -> int:
    """T3C: the best of a posterior draw or, every other time, who is hardest to tell from it."""
    theta = _posterior_draw(rng, pulls, successes, prior_a, prior_b)
    best = 0
    for a in range(1, pulls.size):
        if theta[a] > theta[best]:
            best = a
    if rng.random() < 0.5:
        return best
    challenger, least = -1, math.inf
    for a in range(pulls.size):
        if a == best:
            continue
        z = pair_glr(
            float(successes[best]), float(pulls[best]), float(successes[a]), float(pulls[a])
        )
        # The draw decides between equal costs, which are those of arms that look better.
        if z < least or (z == least and theta[a] > theta[challenger]):
            challenger, least = a, z
    return challenger


@kernel
def _fewest_in(pulls: Any, memory: Any) -> int:
    """Least pulled of the arms that are not out."""
    least = -1
    for a in range(pulls.size):
        if memory[a] == 0.0 and (least < 0 or pulls[a] < pulls[least]):
            least = a
    return least


@kernel
def _upper_bound(mean: float, level: float) -> float:
    """Largest q with kl(mean, q) <= level.

    kl is convex in q and at least 2 (q - mean)^2, so that Newton falls to the root from there.
    """
    if mean >= 1.0:
        return 1.0
    q = min(mean + math.sqrt(0.5 * level), 1.0 - 1e-12)
    for _ in range(60):
        off = divergence(mean, q, mean - q) - level
        if off <= 0.0:
            break
        step = off * q * (1.0 - q) / (q - mean)
        q -= step
        if step <= 1e-12 * q:
            break
    return q


@kernel
def _lucb_pair(pulls: Any, successes: Any, threshold: int, log_inv_delta: float) -> Any:
    """Leader, challenger (highest upper bound of the others), and by how much they overlap."""
    t, k = float(pulls.sum()), pulls.size
    beta = log_inv_delta + math.log1p(math.log(t))
    if threshold == UNION:
        beta = log_inv_delta + math.log(405.5 * k) + 1.1 * math.log(t)
    leader, _ = leader_of(pulls, successes)
    challenger, top = -1, -1.0
    for a in range(k):
        if a != leader:
            high = _upper_bound(successes[a] / pulls[a], beta / pulls[a])
            if high > top:
                challenger, top = a, high
    # A lower bound is an upper bound on failures.
    low = 1.0 - _upper_bound(1.0 - successes[leader] / pulls[leader], beta / pulls[leader])
    return leader, challenger, top - low


@kernel
def _lil_ucb(pulls: Any, successes: Any, log_inv_delta: float) -> int:
    """Highest index of lil'UCB with beta = 1/2, epsilon = 0 and variance bound 1/4."""
    best, top = 0, -math.inf
    for a in range(pulls.size):
        # ln(t + 2), so that the iterated logarithm is defined from the first pull on.
        spread = math.log(math.log(pulls[a] + 2.0)) + log_inv_delta
        index = successes[a] / pulls[a] + 1.5 * math.sqrt(max(0.5 * spread / pulls[a], 0.0))
        if index > top:
            best, top = a, index
    return best


@kernel
def next_arm(
    rule: int,
    rng: Any,
    pulls: Any,
    successes: Any,
    memory: Any,
    prior: Any,
    threshold: int,
    log_inv_delta: float,
) -> int:
    """Arm to pull next under a rule; each arm is pulled once first."""
    arm = unpulled_arm(pulls)
    if arm >= 0:
        return arm
    t = pulls.sum()
    if rule in (POSTERIOR, CUMULATIVE):
        sampled = rule == POSTERIOR
        return _posterior(rng, pulls, successes, memory, prior[0], prior[1], sampled)
    if rule == PLUG_IN:
        return draw_arm(_plug_in(pulls, successes), rng.random())
    if rule in (D_TRACK, C_TRACK):
        return _track(pulls, successes, memory, t, rule == C_TRACK)
    if rule == UNIFORM:
        return most_behind(memory, 0.0, pulls)
    if rule == T3C:
        return _top_two(rng, pulls, successes, prior[0], prior[1])
    if rule == RACING:
        return _fewest_in(pulls, memory)
    if rule == LUCB_RULE:
        leader, challenger, _ = _lucb_pair(pulls, successes, threshold, log_inv_delta)
        fewer: int = challenger if pulls[challenger] < pulls[leader] else leader
        return fewer
    return _lil_ucb(pulls, successes, log_inv_delta)


@kernel
def _race(
    pulls: Any, successes: Any, memory: Any, threshold: int, log_inv_delta: float, constant: float
) -> tuple[int, bool]:
    """Put arms out that are told from the best; the best, and whether it is the last.

    Looks only when all arms still in have been pulled equally often; looking again changes nothing.
    """
    while True:
        best, worst, inside = -1, -1, 0
        for a in range(pulls.size):
            if memory[a] != 0.0:
                continue
            inside += 1
            if best < 0:
                best = worst = a
                continue
            if pulls[a] != pulls[best]:
                return best, False
            if successes[a] > successes[best]:
                best = a
            if successes[a] <= successes[worst]:
                worst = a
        if inside == 1:
            return best, True
        n = float(pulls[best])
        if n == 0.0:
            return best, False
        beta = log_inv_delta
        if threshold == HEURISTIC:
            beta += math.log1p(math.log(float(pulls.sum())))
        elif threshold == MIXTURE:
            beta = constant + 6.0 * math.log1p(math.log(n))
        if pair_glr(float(successes[best]), n, float(successes[worst]), n) <= beta:
            return best, False
        memory[worst] = 1.0


@kernel
def settle(
    rule: int,
    pulls: Any,
    successes: Any,
    memory: Any,
    threshold: int,
    log_inv_delta: float,
    constant: float,
) -> tuple[bool, int, bool, float, float]:
    """Whether to stop, leader, whether it is alone, GLR and threshold at its hardest challenger.

    Called after each outcome. `constant` is `mixture_constant`.
    """
    leader, alone, glr, beta = glr_stop(pulls, successes, threshold, log_inv_delta, constant)
    if rule == RACING:
        winner, last = _race(pulls, successes, memory, threshold, log_inv_delta, constant)
        return last, winner if last else leader, alone or last, glr, beta
    if rule in (LUCB_RULE, LIL_UCB):
        if unpulled_arm(pulls) >= 0:
            return False, leader, False, 0.0, math.inf
        if rule == LUCB_RULE:
            overlap = _lucb_pair(pulls, successes, threshold, log_inv_delta)[2]
            return alone and overlap < 0.0, leader, alone, glr, beta
        t = pulls.sum()
        for a in range(pulls.size):
            # lambda = 1 + 10/K.
            if pulls[a] >= 1.0 + (1.0 + 10.0 / pulls.size) * (t - pulls[a]):
                return True, a, True, glr, beta
        return False, leader, alone, glr, beta
    return alone and glr > beta, leader, alone, glr, beta
