"""Oracle allocation of a Bernoulli best-arm problem and its characteristic time.

Source: Garivier and Kaufmann, "Optimal best arm identification with fixed confidence" (2016),
section 2.2. With b the best arm, D_a = mu_b - mu_a, a share u of an arm's weight among (b, a) and
m = mu_b - u D_a the common mean of the two, the allocation equalises

    g_a(u) = kl(mu_b, m) + x kl(mu_a, m) = y   for all a != b,     x = u / (1 - u),

at the y for which F(y) = sum_a kl(mu_b, m_a) / kl(mu_a, m_a) = 1. Terms in m' cancel, so that
dg_a/dx = kl(mu_a, m) and dF/dy = y sum_a D_a^2 / ((1 + x)^3 m (1 - m) kl(mu_a, m)^3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probatum.sequential.compiled import kernel
from probatum.sequential.glr import divergence

__all__ = ["characteristic_time", "oracle_weights", "solve_oracle"]

# Closer than this to 0 or 1 nothing is lost by clipping, and logarithms stay finite.
CLIP = 1e-9
TIE = 1e-12
# Relative step below which Newton has converged, since the next one would be its square.
NEWTON = 1e-7


@kernel
def _share(mu_b: float, mu_a: float, y: float, start: float) -> Any:
    """Solve g_a(u) = y for u; also kl(mu_b, m) and kl(mu_a, m) there.

    Newton in u, in which g_a is linear where arms are near, inside a bracket that is halved where
    a step would leave it.
    """
    d = mu_b - mu_a
    low, high, u = 0.0, 1.0, start
    k_b, k_a = 0.0, 0.0
    for _ in range(60):
        m, rest = mu_b - u * d, 1.0 - u
        k_b, k_a = divergence(mu_b, m, u * d), divergence(mu_a, m, -rest * d)
        off = k_b + u / rest * k_a - y
        if off > 0.0:
            high = u
        else:
            low = u
        new = u - off * rest * rest / k_a
        if not low < new < high:
            new = 0.5 * (low + high)
        moved = new - u
        if abs(moved) <= NEWTON * min(u, rest):
            # Newton squares a relative error: the next step would change nothing. Both
            # divergences move along with u.
            bend = d * d / (m * (1.0 - m)) * moved
            return new, k_b + u * bend, k_a - rest * bend
        u = new
    return u, k_b, k_a


@kernel
def _start(nearest: float, divergences: Any, best: int) -> float:
    """Root z of sum_a (y / (k_a - y))^2 = 1, y = k_min z/(1 + z): F as it is where arms are near.

    z lies between 1/sqrt(K-1) and 1; the sum is convex in z, so Newton from 1 falls to the root.
    """
    z = 1.0
    for _ in range(20):
        total, slope = 0.0, 0.0
        for a in range(divergences.size):
            if a == best:
                continue
            # y/(k - y) with k = k_min r is z / (r (1 + z) - z).
            r = divergences[a] / nearest
            below = r * (1.0 + z) - z
            total += (z / below) ** 2
            slope += 2.0 * z * r / below**3
        step = (total - 1.0) / slope
        z -= step
        if abs(step) < 1e-3 * z:
            break
    return z


@kernel
def _best_two(means: Any) -> tuple[int, int]:
    best, second = 0, -1
    for a in range(1, means.size):
        if means[a] > means[best]:
            best, second = a, best
        elif second < 0 or means[a] > means[second]:
            second = a
    return best, second


@kernel
def _balance(mu: Any, best: int, y: float, shares: Any, drift: Any) -> tuple[float, float]:
    """F(y) and dF/dy; shares are solved for y, and drift is filled with du/dy."""
    total, slope = 0.0, 0.0
    for a in range(mu.size):
        if a == best:
            continue
        d = mu[best] - mu[a]
        u, k_b, k_a = _share(mu[best], mu[a], y, shares[a])
        m, rest = mu[best] - u * d, 1.0 - u
        shares[a], drift[a] = u, rest * rest / k_a
        total += k_b / k_a
        slope += y * d * d * rest**3 / (m * (1.0 - m) * k_a**3)
    return total, slope


@kernel
def solve_oracle(means: Any, weights: Any) -> float:
    """Write the oracle weights of `means` into `weights`; return the characteristic time.

    Two best arms that agree to 1e-12 get one half each, which is the limit, and infinity is
    returned.
    """
    k = means.size
    best, second = _best_two(means)
    mu, divergences, shares, drift = np.empty(k), np.empty(k), np.empty(k), np.zeros(k)
    for a in range(k):
        mu[a] = min(max(means[a], CLIP), 1.0 - CLIP)
    if mu[best] - mu[second] <= TIE:
        weights[:] = 0.0
        weights[best] = weights[second] = 0.5
        return math.inf
    for a in range(k):
        divergences[a] = divergence(mu[best], mu[a], mu[best] - mu[a])
    nearest = divergences[second]
    # y lives below the smallest divergence: y = k_min z/(1 + z), z > 0.
    z = _start(nearest, divergences, best)
    y = nearest * z / (1.0 + z)
    for a in range(k):
        shares[a] = y / divergences[a] if a != best else 0.0
    low, high = 0.0, math.inf
    for _ in range(60):
        total, slope = _balance(mu, best, y, shares, drift)
        if total > 1.0:
            high = z
        else:
            low = z
        # Newton on the square root of F in z, in which it is linear for two near arms.
        root = math.sqrt(total)
        new = z - (root - 1.0) * 2.0 * root * (1.0 + z) ** 2 / (slope * nearest)
        if not low < new < high:
            new = 0.5 * (low + high) if high < math.inf else 2.0 * z
        done = abs(new - z) <= NEWTON * z
        z = new
        new_y = nearest * z / (1.0 + z)
        for a in range(k):
            # Shares follow y, which leaves the next solve little to do.
            moved = shares[a] + drift[a] * (new_y - y)
            shares[a] = moved if 0.0 < moved < 1.0 else 0.5
        y = new_y
        if done:
            break
    total = 0.0
    for a in range(k):
        weights[a] = 1.0 if a == best else shares[a] / (1.0 - shares[a])
        total += weights[a]
    for a in range(k):
        weights[a] /= total
    time: float = total / y
    return time


def _means(means: ArrayLike) -> NDArray[np.float64]:
    mu = np.asarray(means, dtype=np.float64)
    if mu.ndim != 1 or mu.size < 2:
        raise ValueError(f"means must be a list of at least 2 arms, got shape {mu.shape}")
    if not ((mu >= 0) & (mu <= 1)).all():
        raise ValueError(f"means must lie in [0, 1], got {mu.tolist()}")
    return mu


def oracle_weights(means: ArrayLike) -> tuple[NDArray[np.float64], float]:
    """Allocation that identifies the best Bernoulli arm soonest, and the characteristic time.

    Parameters
    ----------
    means : array-like of float, shape (K,)
        Success probabilities in [0, 1]; clipped to [1e-9, 1 - 1e-9].

    Returns
    -------
    weights : ndarray of shape (K,)
        Shares of pulls, w* in the source; one half on each of two best arms that are equal.
    time : float
        T*: pulls per ln(1/delta) that any delta-correct rule needs as delta goes to 0; infinite
        where the best arm is not unique.

    Raises
    ------
    ValueError
        For fewer than 2 arms or a mean outside [0, 1].

    Examples
    --------
    >>> weights, time = oracle_weights([0.5, 0.45, 0.43, 0.4])
    >>> weights.round(3).tolist(), round(time, 1)
    ([0.417, 0.39, 0.136, 0.057], 989.8)
    """
    mu = _means(means)
    weights = np.empty(mu.size)
    return weights, float(solve_oracle(mu, weights))


def characteristic_time(means: ArrayLike) -> float:
    """T* of `oracle_weights`.

    Examples
    --------
    >>> round(characteristic_time([0.8, 0.6, 0.5]), 2)
    47.37
    """
    return oracle_weights(means)[1]
