"""Bernoulli divergence, generalised likelihood ratio and stopping thresholds.

Source: Garivier and Kaufmann, "Optimal best arm identification with fixed confidence" (2016),
section 3.2, for the statistic and the heuristic threshold; Kaufmann and Koolen, "Mixture
martingales revisited" (2021), theorem 7, for the threshold with a proof.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probatum.sequential.compiled import kernel

__all__ = [
    "HEURISTIC",
    "MIXTURE",
    "THRESHOLDS",
    "UNCORRECTED",
    "Threshold",
    "bernoulli_kl",
    "divergence",
    "glr_statistic",
    "glr_stop",
    "leader_of",
    "mixture_constant",
    "pair_glr",
    "stopping_threshold",
]

Threshold = Literal["mixture", "heuristic", "uncorrected"]
HEURISTIC, MIXTURE, UNCORRECTED = 0, 1, 2
THRESHOLDS: dict[str, int] = {
    "heuristic": HEURISTIC,
    "mixture": MIXTURE,
    "uncorrected": UNCORRECTED,
}
# Relative distance below which the leading terms of the two logarithms would cancel.
NEAR = 1e-3


@kernel
def _excess(p: float, q: float, d: float) -> float:
    """p ln(p/q) - d, which is d^2/(2p) + d^3/(3p^2) + ... with d = p - q; at p = 0 it is -d."""
    if p <= 0.0:
        return -d
    r = d / p
    if -NEAR < r < NEAR:
        return p * r * r * (0.5 + r * (1 / 3 + r * (0.25 + r * (0.2 + r / 6))))
    if q <= 0.0:
        return math.inf
    # The smaller over the larger, which can't overflow.
    log_ratio = -math.log(q / p) if q < p else math.log(p / q)
    return p * log_ratio - d


@kernel
def divergence(p: float, q: float, d: float) -> float:
    """kl(p, q) from p, q and d = p - q, which the caller may know better than it can be computed.

    Its two terms lose d each, which they have with opposite signs, so that nothing cancels where
    p and q are close.
    """
    return max(_excess(p, q, d) + _excess(1.0 - p, 1.0 - q, -d), 0.0)


@kernel
def pair_glr(s_b: float, n_b: float, s_a: float, n_a: float) -> float:
    """Evidence that arm b beats arm a: N_b kl(m_b, m) + N_a kl(m_a, m), m their common mean."""
    m_b, m_a = s_b / n_b, s_a / n_a
    if m_b <= m_a:
        return 0.0
    n = n_b + n_a
    m, gap = (s_b + s_a) / n, (s_b * n_a - s_a * n_b) / (n_a * n_b)
    return n_b * divergence(m_b, m, gap * n_a / n) + n_a * divergence(m_a, m, -gap * n_b / n)


@kernel
def leader_of(pulls: Any, successes: Any) -> tuple[int, bool]:
    """Arm with the highest empirical mean (the first of equal ones), and whether it is alone.

    Means are compared as fractions of whole numbers, so that equal means are seen as equal.
    """
    best, alone = 0, True
    for a in range(1, pulls.size):
        left, right = successes[a] * pulls[best], successes[best] * pulls[a]
        if left > right:
            best, alone = a, True
        elif left == right:
            alone = False
    return best, alone


@kernel
def _inverse_h(x: float) -> float:
    """The u >= 1 with u - ln u = x, that is -W_{-1}(-exp(-x)); Newton, for any x >= 1.

    The exponential of the textbook form underflows beyond x = 745.
    """
    if x <= 1.0:
        return 1.0
    # Above the root, whence Newton on a convex function descends to it.
    u = x + math.log(x + math.sqrt(2.0 * (x - 1.0))) + 1e-12
    for _ in range(50):
        step = (u - math.log(u) - x) * u / (u - 1.0)
        u = max(u - step, 1.0 + 1e-16)
        if abs(step) <= 1e-14 * u:
            break
    return u


@kernel
def _c_exp(x: float) -> float:
    """C_exp of theorem 7, with z = 3/2."""
    z = 1.5
    y = 0.5 * (_inverse_h(1.0 + x) + math.log(math.pi * math.pi / 3.0))
    corner = 1.0 / math.log(z) - math.log(1.0 / math.log(z))
    if y >= corner:
        u = _inverse_h(y)
        return 2.0 * math.exp(1.0 / u) * u
    return 2.0 * z * (y - math.log(math.log(z)))


@kernel
def mixture_constant(n_arms: int, log_inv_delta: float) -> float:
    """2 C_exp(ln((K-1)/delta) / 2): the part of the mixture threshold that does not move."""
    return 2.0 * _c_exp(0.5 * (log_inv_delta + math.log(n_arms - 1.0)))


@kernel
def _beta(
    kind: int, log_inv_delta: float, constant: float, t: float, n_b: float, n_a: float
) -> Any:
    if kind == HEURISTIC:
        return log_inv_delta + math.log1p(math.log(t))
    if kind == MIXTURE:
        return constant + 3.0 * math.log1p(math.log(n_b)) + 3.0 * math.log1p(math.log(n_a))
    return log_inv_delta


@kernel
def glr_stop(
    pulls: Any, successes: Any, kind: int, log_inv_delta: float, constant: float
) -> tuple[int, bool, float, float]:
    """Leader, whether it is alone, and GLR and threshold at its hardest challenger.

    ``constant`` is `mixture_constant`; it is computed once per run. The hardest challenger is the
    one whose GLR lies farthest below, or least above, its threshold.
    """
    best, alone = leader_of(pulls, successes)
    t = 0.0
    for a in range(pulls.size):
        if pulls[a] == 0:
            return best, False, 0.0, math.inf
        t += pulls[a]
    least, glr, threshold = math.inf, 0.0, math.inf
    for a in range(pulls.size):
        if a == best:
            continue
        n_b, n_a = float(pulls[best]), float(pulls[a])
        z = pair_glr(float(successes[best]), n_b, float(successes[a]), n_a) if alone else 0.0
        beta = _beta(kind, log_inv_delta, constant, t, n_b, n_a)
        # An infinite threshold (never stop) still shows the smallest GLR.
        margin = z - beta if beta < math.inf else z
        if margin < least:
            least, glr, threshold = margin, z, beta
    return best, alone, glr, threshold


def bernoulli_kl(p: float, q: float) -> float:
    """Kullback-Leibler divergence of Bernoulli laws, in nats.

    Parameters
    ----------
    p, q : float
        Success probabilities in [0, 1].

    Returns
    -------
    float
        ``inf`` where q excludes what p allows.

    Examples
    --------
    >>> round(bernoulli_kl(0.5, 0.25), 6)
    0.143841
    >>> bernoulli_kl(0.3, 0.3), bernoulli_kl(0.5, 1.0)
    (0.0, inf)
    """
    for name, value in (("p", p), ("q", q)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    return float(divergence(float(p), float(q), float(p) - float(q)))


def _counts(successes: ArrayLike, pulls: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    s, n = np.asarray(successes), np.asarray(pulls)
    if s.ndim != 1 or s.shape != n.shape or s.size < 2:
        raise ValueError(
            "successes and pulls must be two equally long lists of at least 2 arms, got shapes "
            f"{s.shape} and {n.shape}"
        )
    if not (np.all(s == np.floor(s)) and np.all(n == np.floor(n))):
        raise ValueError("successes and pulls must be whole numbers")
    if (s < 0).any() or (s > n).any():
        raise ValueError(f"successes must lie between 0 and pulls, got {s.tolist()}, {n.tolist()}")
    return s.astype(np.int64), n.astype(np.int64)


def glr_statistic(successes: ArrayLike, pulls: ArrayLike) -> float:
    """Evidence for the empirically best arm, in nats: the smallest over its challengers.

    Parameters
    ----------
    successes, pulls : array-like of int, shape (K,)

    Returns
    -------
    float
        0 where an arm was never pulled, or the best is not alone.

    Examples
    --------
    >>> round(glr_statistic([60, 40], [100, 100]), 4)
    4.0271
    >>> glr_statistic([5, 5, 1], [10, 10, 10])
    0.0
    """
    s, n = _counts(successes, pulls)
    return float(glr_stop(n, s, UNCORRECTED, 1.0, 0.0)[2])


def stopping_threshold(
    kind: Threshold, pulls: ArrayLike, best: int, challenger: int, log_inv_delta: float
) -> float:
    """Value that the GLR of two arms must exceed, in nats.

    Parameters
    ----------
    kind : {"mixture", "heuristic", "uncorrected"}
        "mixture" makes the answer delta-correct (theorem 7, a union over K - 1 challengers);
        "heuristic" is ln((1 + ln t)/delta), which published experiments use and nobody proved;
        "uncorrected" is ln(1/delta), which ignores that one looks all the time.
    pulls : array-like of int, shape (K,)
        At least 1 each.
    best, challenger : int
        The two arms.
    log_inv_delta : float
        ln(1/delta), so that delta may be far below the smallest float.

    Examples
    --------
    >>> round(stopping_threshold("heuristic", [50, 50], 0, 1, 3.0), 4)
    4.7237
    """
    if kind not in THRESHOLDS:
        raise ValueError(f"threshold must be one of {', '.join(THRESHOLDS)}, got {kind!r}")
    n = np.asarray(pulls, dtype=float)
    if n.ndim != 1 or n.size < 2 or not (n >= 1).all():
        raise ValueError(f"pulls must hold at least 2 arms, each pulled, got {np.asarray(pulls)}")
    if not log_inv_delta > 0:
        raise ValueError(f"log_inv_delta must be positive, got {log_inv_delta!r}")
    constant = mixture_constant(n.size, float(log_inv_delta))
    code = THRESHOLDS[kind]
    found = _beta(
        code, float(log_inv_delta), constant, float(n.sum()), float(n[best]), float(n[challenger])
    )
    return float(found)
