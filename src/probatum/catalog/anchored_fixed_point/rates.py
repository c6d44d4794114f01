"""Trials on rates: does k times the residual stay bounded, and what do the analyses share?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.catalog.anchored_fixed_point.problems import reflected_resolvent
from probatum.catalog.anchored_fixed_point.rivals import MapForm
from probatum.evidence import Block, Row
from probatum.optimize import BASES, regularize, tikhonov

Vector = NDArray[np.float64]

# Residuals are cut off here, so that a diverging method has a ratio too.
FLOOR, CEILING = 1e-14, 1e100


def decades(residuals: Vector, power: float = 1.0) -> tuple[float, float]:
    """Largest value of k^power times the residual in the last decade of k, and the one before.

    A residual of order k^-power keeps the two alike; fitted slopes of methods without a rate are
    not stable from draw to draw, this ratio is.

    Examples
    --------
    >>> last, before = decades(3 / np.arange(1, 1002), 1.0)
    >>> round(last / before, 6)
    1.0
    """
    last = residuals.size - 1
    k = np.arange(1, last + 2)
    scaled = k**power * np.clip(np.nan_to_num(residuals, nan=CEILING), FLOOR, CEILING)
    return float(scaled[last // 10 :].max()), float(scaled[last // 100 : last // 10].max())


def equation_rates(block: Block) -> list[Row]:
    """How k times the residual, and sqrt(k) times the residual, move from decade to decade.

    A method that the divergence guard stopped is judged on the iterations that it made.
    """
    problem = block.dataset.open()(block.rng("problem"))
    residuals = block.arms[0].build().residuals(problem, int(block.size["steps"]))
    last, before = decades(residuals)
    last_root, before_root = decades(residuals, 0.5)
    values = {
        "r1": last / before,
        "r_half": last_root / before_root,
        "shrink": before / last,
        "constant": last / (problem.L * problem.distance),
    }
    return [Row(block.arms[0].id, values=values)]


def map_rates(block: Block) -> list[Row]:
    """Largest (k + 1) |x_k - T(x_k)| / |x0 - x*| over all k."""
    problem = block.dataset.open()(block.rng("problem"))
    residuals = block.arms[0].build().residuals(problem, int(block.size["steps"]))
    k = np.arange(residuals.size)
    return [
        Row(
            block.arms[0].id,
            values={"scaled": float(((k + 1) * residuals).max() / problem.distance)},
        )
    ]


def same_sequence(block: Block) -> list[Row]:
    """Largest distance of an arm's iterates from those of the textbook's Halpern iteration."""
    problem = block.dataset.open()(block.rng("problem"))
    steps = int(block.size["steps"])
    textbook = MapForm("halpern").iterates(problem, steps)
    own = block.arms[0].build().iterates(problem, steps)
    apart = np.linalg.norm(own - textbook, axis=1).max() / problem.distance
    return [Row(block.arms[0].id, values={"apart": float(apart)})]


# --- the residual recurrence ----------------------------------------------------------------------


@dataclass(frozen=True)
class Recurrence:
    """A method with the contraction factor that the recurrence gives it.

    With r_k the norm of G_k(x_k) it reads ``r_k <= rho_k r_(k-1) + C (d_(k-1) - d_k) |x0 - x*|``.
    rho_k is 1 - d_k, and for the forward step ``sqrt((1 - d_k)^2 + eta_k^2 L^2)`` plus the
    relative change of eta_k. ``anchored=False`` is the control: the base method, its residual
    |F(x_k)|, and the factor 1 - 1/(k + 2) that it would need.
    """

    base: str
    share: float = 1.0
    c: float = 1.0
    k0: float = 2.0
    vanishing: bool = False
    anchored: bool = True

    def weights(self, k: int) -> tuple[float, float]:
        delta = self.c / (k + self.k0)
        if self.base == "picard":
            return 1 - delta, delta
        return (math.sqrt(0.5 * delta) if self.vanishing else self.share), delta

    def trace(self, operator: Any, x0: Vector, steps: int) -> Vector:
        """Norms of G_k(x_k) for k = 0, ..., steps, for an operator with L = 1."""
        base = BASES[self.base]
        x = x0.copy()

        def used(k: int) -> tuple[float, float]:
            eta, delta = self.weights(k)
            return (eta, delta) if self.anchored else (eta, 0.0)

        run = tikhonov(base)(x, x0, used)
        at, norms = next(run), []
        for k in range(steps + 1):
            eta, delta = used(k)
            if base.kind == "map":
                norms.append(float(np.linalg.norm(x - (eta * operator(x) + delta * x0))))
            else:
                norms.append(float(np.linalg.norm(regularize(operator, x0, eta, delta)(x))))
            for _ in range(base.queries):
                at = run.send(operator(at))
        return np.array(norms)

    def rho(self, k: int) -> float:
        eta, delta = self.weights(k)
        if not self.vanishing:
            return 1 - delta
        before = self.weights(k - 1)[0]
        return math.hypot(1 - delta, eta) + abs(eta - before) / before


def recurrence(block: Block) -> list[Row]:
    """The smallest C that serves an arm at every k, and how k r_k moves from decade to decade."""
    problem = block.dataset.open()(block.rng("problem"))
    arm: Recurrence = block.arms[0].build()
    # x - F(x) need not be nonexpansive; the map that a resolvent makes of F is.
    operator = reflected_resolvent(problem) if arm.base == "picard" else problem.F
    norms = arm.trace(operator, problem.x0, int(block.size["steps"]))
    needed = [
        (norms[k] - arm.rho(k) * norms[k - 1])
        / ((arm.weights(k - 1)[1] - arm.weights(k)[1]) * problem.distance)
        for k in range(1, norms.size)
    ]
    last, before = decades(norms)
    return [Row(block.arms[0].id, values={"constant": float(max(needed)), "r1": last / before})]
