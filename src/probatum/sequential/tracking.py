"""From an allocation to the next arm: draw from it, or keep the counts close to it.

Source: Garivier and Kaufmann (2016), section 3.1, for C- and D-tracking.
"""

from __future__ import annotations

import math
from typing import Any

from probatum.sequential.compiled import kernel

__all__ = ["draw_arm", "forced_arm", "lift_weights", "most_behind", "unpulled_arm"]


@kernel
def unpulled_arm(pulls: Any) -> int:
    """First arm that was never pulled, -1 if there is none."""
    for a in range(pulls.size):
        if pulls[a] == 0:
            return a
    return -1


@kernel
def draw_arm(weights: Any, uniform: float) -> int:
    """Arm drawn from an allocation by a uniform number in [0, 1)."""
    total, last = 0.0, 0
    for a in range(weights.size):
        if weights[a] > 0.0:
            total += weights[a]
            last = a
            if uniform < total:
                return a
    # The weights' sum fell short of the uniform number by rounding.
    return last


@kernel
def most_behind(targets: Any, scale: float, pulls: Any) -> int:
    """Arm whose count lags most behind its target (the first of equal ones).

    D-tracking: targets are the allocation, scale is t. C-tracking: targets are the sum of all
    allocations so far, scale is 1.
    """
    best, most = 0, -math.inf
    for a in range(pulls.size):
        lag = scale * targets[a] - pulls[a]
        if lag > most:
            best, most = a, lag
    return best


@kernel
def forced_arm(pulls: Any, t: int) -> int:
    """Least pulled arm where its count is below sqrt(t) - K/2, else -1: D-tracking's floor."""
    least = 0
    for a in range(1, pulls.size):
        if pulls[a] < pulls[least]:
            least = a
    return least if pulls[least] < math.sqrt(t) - 0.5 * pulls.size else -1


@kernel
def lift_weights(weights: Any, floor: float) -> None:
    """Nearest allocation, in the largest coordinate change, of which none is below a floor.

    C-tracking's forced exploration. What is below is lifted to the floor, and all above give up
    the same amount, as far as the floor lets them.
    """
    k = weights.size
    low, high = 0.0, 1.0
    for _ in range(60):
        cut = 0.5 * (low + high)
        total = 0.0
        for a in range(k):
            total += max(weights[a] - cut, floor)
        if total > 1.0:
            low = cut
        else:
            high = cut
        if high - low < 1e-15:
            break
    cut = 0.5 * (low + high)
    for a in range(k):
        weights[a] = max(weights[a] - cut, floor)
