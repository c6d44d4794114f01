"""What the rate trials run: the library's methods, and textbook forms written apart from them.

The textbook forms share no code with the library, so that agreement means something; each is
written as its source writes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from probatum.catalog.anchored_fixed_point.problems import Equation, FixedPoint, Operator
from probatum.evidence.model import resolve
from probatum.optimize import fixed_point_anchored, monotone_root

Vector = NDArray[np.float64]
GOLDEN = (1 + math.sqrt(5)) / 2


class Solver(Protocol):
    """What an arm of the rate trials does: residuals per iteration, of steps + 1 iterates."""

    def residuals(self, problem: Equation, steps: int) -> Vector: ...


@dataclass(frozen=True)
class Ours:
    """A method of `monotone_root`, with its own step size and schedule."""

    method: str
    share: float | None = None

    def residuals(self, problem: Equation, steps: int) -> Vector:
        step = {"L": problem.L} if self.share is None else {"eta": self.share / problem.L}
        found = monotone_root(
            problem.F,
            problem.x0,
            method=cast(Any, self.method),
            tol=0.0,
            maxiter=steps,
            **cast(Any, step),
        )
        return cast(Vector, found.residuals)


@dataclass(frozen=True)
class Textbook:
    """A method from its formula: one of `FORMS`."""

    form: str

    def residuals(self, problem: Equation, steps: int) -> Vector:
        F = problem.F
        points = FORMS[self.form](F, problem.x0, problem.L)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = [math.sqrt(v @ v) for v in (F(x) for x in islice(points, steps + 1))]
        return np.array(norms)


# --- textbook forms of methods for F(x) = 0: they yield their iterates ----------------------------


def graal(F: Operator, x0: Vector, L: float) -> Any:
    """Golden ratio algorithm with a constant step (Malitsky, 2020, algorithm 1)."""
    x, mean, step = x0, x0, GOLDEN / (2 * L)
    while True:
        yield x
        mean = ((GOLDEN - 1) * x + mean) / GOLDEN
        x = mean - step * F(x)


def eag(F: Operator, x0: Vector, L: float) -> Any:
    """EAG-C (Yoon and Ryu, 2021) with step 1/(8L)."""
    x, k, step = x0, 0, 1 / (8 * L)
    while True:
        yield x
        beta = 1 / (k + 2)
        half = x + beta * (x0 - x) - step * F(x)
        x, k = x + beta * (x0 - x) - step * F(half), k + 1


def feg(F: Operator, x0: Vector, L: float) -> Any:
    """Fast extragradient (Lee and Kim, 2021) for monotone operators."""
    x, k = x0, 0
    while True:
        yield x
        beta = 1 / (k + 1)
        half = x + beta * (x0 - x) - (1 - beta) / L * F(x)
        x, k = x + beta * (x0 - x) - F(half) / L, k + 1


def reg(F: Operator, x0: Vector, L: float) -> Any:
    """Regularised extragradient, from its two lines."""
    return _extragradient(F, x0, L, lambda k: 1 / (k + 2), second=True)


def anchor_dropped(F: Operator, x0: Vector, L: float) -> Any:
    """Control: the regularised extragradient without the anchor in its second query."""
    return _extragradient(F, x0, L, lambda k: 1 / (k + 2), second=False)


def constant_weight(F: Operator, x0: Vector, L: float) -> Any:
    """Control: the regularised extragradient with a weight that doesn't vanish."""
    return _extragradient(F, x0, L, lambda k: 0.01, second=True)


def _extragradient(
    F: Operator, x0: Vector, L: float, weight: Callable[[int], float], *, second: bool
) -> Any:
    x, k, step = x0, 0, 0.5 / L
    while True:
        yield x
        delta = weight(k)
        y = x - step * F(x) - delta * (x - x0)
        x, k = x - step * F(y) - (delta * (y - x0) if second else 0.0), k + 1


def unanchored_forward(F: Operator, x0: Vector, L: float) -> Any:
    """Control: forward steps of the vanishing size of the regularised ones, without anchor."""
    x, k = x0, 0
    while True:
        yield x
        x, k = x - math.sqrt(0.5 * 3 / (k + 6)) / L * F(x), k + 1


FORMS: dict[str, Callable[[Operator, Vector, float], Any]] = {
    "graal": graal,
    "eag": eag,
    "feg": feg,
    "reg": reg,
    "anchor-dropped": anchor_dropped,
    "constant-weight": constant_weight,
    "unanchored-forward": unanchored_forward,
}


# --- arms for x = T(x): they give the iterates ----------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """Picard on the regularised map, as the library runs it."""

    schedule: str | float = "halpern"

    def iterates(self, problem: FixedPoint, steps: int) -> Vector:
        points: list[Vector] = []
        found = fixed_point_anchored(
            problem.T,
            problem.x0,
            schedule=cast(Any, self.schedule),
            tol=0.0,
            maxiter=steps,
            callback=points.append,
        )
        return np.array([*points, found.x])

    def residuals(self, problem: FixedPoint, steps: int) -> Vector:
        found = fixed_point_anchored(
            problem.T,
            problem.x0,
            schedule=cast(Any, self.schedule),
            tol=0.0,
            maxiter=steps,
        )
        return cast(Vector, found.residuals)


@dataclass(frozen=True)
class MapForm:
    """Textbook iterations for a map: Halpern, Krasnoselskii-Mann, or the anchor misplaced."""

    form: str

    def iterates(self, problem: FixedPoint, steps: int) -> Vector:
        return np.array(list(islice(self._points(problem), steps + 1)))

    def residuals(self, problem: FixedPoint, steps: int) -> Vector:
        points = islice(self._points(problem), steps + 1)
        return np.array([np.linalg.norm(x - problem.T(x)) for x in points])

    def _points(self, problem: FixedPoint) -> Any:
        x, T, home = problem.x0, problem.T, problem.x0
        k = 0
        while True:
            yield x
            if self.form == "halpern":
                x = home / (k + 2) + (k + 1) / (k + 2) * T(x)
            elif self.form == "krasnoselskii-mann":
                x = 0.5 * (x + T(x))
            elif self.form == "anchor-outside":
                x = T(home / (k + 2) + (k + 1) / (k + 2) * x)
            else:
                raise ValueError(f"unknown form {self.form!r}")
            k += 1


# --- a reader's own method ------------------------------------------------------------------------


class MonotoneSolver(Protocol):
    """What a reader's own method for F(x) = 0 must be: a class with this method.

    It returns the iterates, as an array of shape (iterations, size) or a sequence of vectors, or a
    result with an attribute `residuals`, the norm of F at each iterate.
    """

    def solve(self, F: Any, x0: Any, L: float, maxiter: int) -> Any: ...


@dataclass(frozen=True)
class Readers:
    """A reader's own class as an arm."""

    make: str

    def probe(self) -> Any:
        """One object of the reader's class."""
        return resolve(self.make)()

    def residuals(self, problem: Equation, steps: int) -> Vector:
        found = self.probe().solve(problem.F, problem.x0.copy(), problem.L, steps)
        own = getattr(found, "residuals", None)
        if own is None:
            own = [np.linalg.norm(problem.F(np.asarray(x, dtype=float))) for x in found]
        norms = np.asarray(own, dtype=float)
        if norms.ndim != 1 or norms.size <= steps // 10:
            raise ValueError(
                f"{self.make} gave residuals of shape {norms.shape}; at least {steps // 10 + 1} "
                "iterates are needed to judge a rate"
            )
        return norms
