"""Real data: logistic regression shared by sites on a ring, as a saddle point.

Each site holds some rows of a table and its own weights; neighbours must agree. With a multiplier
on each edge of the ring that is an unconstrained saddle point: monotone, Lipschitz, and not
strongly monotone, since the multipliers enter linearly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from probatum.catalog.anchored_fixed_point.problems import Equation
from probatum.catalog.anchored_fixed_point.rivals import FORMS
from probatum.data import identity, load, preprocessor
from probatum.evidence import Block, Row
from probatum.optimize import METHODS, monotone_root

Vector = NDArray[np.float64]


def sites(name: str, rows: int, count: int) -> Callable[[np.random.Generator], Equation]:
    """Draws of a table's rows, dealt out to sites; the saddle point is made by calling it."""
    table = load(name)

    def draw(rng: np.random.Generator) -> Equation:
        chosen = rng.permutation(table.y.size)[: count * rows]
        with warnings.catch_warnings():
            # Levels that a small sample lacks.
            warnings.simplefilter("ignore")
            encoded = preprocessor(table.X).fit_transform(table.X.iloc[chosen])
        X = np.asarray(encoded, dtype=float)
        X = np.column_stack([X / max(np.linalg.norm(X, axis=1).max(), 1.0), np.ones(len(X))])
        signs = 2.0 * table.y[chosen] - 1.0
        shape = (count, -1, X.shape[1])
        return consensus(np.reshape(X, shape), np.reshape(signs, (count, -1)))

    return draw


def identity_of_sites(name: str, rows: int, count: int) -> str:
    """Hash of the table that the rows are drawn from."""
    return identity(name)


def consensus(X: Vector, signs: Vector, ridge: float = 1.0) -> Equation:
    """The saddle point of sites with features (sites, rows, columns) and labels -1 or 1.

    A site's loss is the mean of log(1 + exp(-y x'w)) and ``ridge / (2 rows)`` of |w|^2, which is
    scikit-learn's default strength for `LogisticRegression` on that many rows.
    """
    count, rows, columns = X.shape
    signed = X * signs[..., None]
    strength = ridge / rows
    size = count * columns
    # |difference of neighbours on a ring| is at most 2.
    bend = max(float(np.linalg.norm(site, 2)) ** 2 for site in X) / (4 * rows) + strength
    flipped = np.ascontiguousarray(np.swapaxes(signed, 1, 2))

    def F(point: Vector) -> Vector:
        w = point[:size].reshape(count, columns)
        u = point[size:].reshape(count, columns)
        margin = np.matmul(signed, w[..., None])
        slope = -0.5 * (1 - np.tanh(0.5 * margin)) / rows
        gradient = np.matmul(flipped, slope)[..., 0] + strength * w
        value = np.empty_like(point)
        value[:size] = (gradient + u - np.roll(u, 1, axis=0)).ravel()
        value[size:] = (np.roll(w, -1, axis=0) - w).ravel()
        return value

    # The operator norm of the two-by-two block matrix [[bend, 2], [2, 0]].
    L = bend / 2 + float(np.hypot(bend / 2, 2.0))
    start = np.zeros(2 * size)
    return Equation(F, start, np.full(2 * size, np.nan), L)


@dataclass(frozen=True)
class Counted:
    """A method of `monotone_root`, counted in values of F."""

    method: str
    restart: float | None = None

    def evaluations(self, problem: Equation, share: float, limit: int) -> int:
        """Values of F until its norm is `share` of that at the start; `limit` if that is less."""
        found = monotone_root(
            problem.F,
            problem.x0,
            method=cast(Any, self.method),
            L=problem.L,
            tol=share * float(np.linalg.norm(problem.F(problem.x0))),
            maxiter=limit // METHODS[self.method].queries,
            restart=self.restart,
        )
        return min(found.nfev, limit) if found.success else limit


@dataclass(frozen=True)
class CountedForm:
    """A textbook form that needs `per` values of F an iteration."""

    form: str
    per: int

    def evaluations(self, problem: Equation, share: float, limit: int) -> int:
        """As `Counted`; values that only the measurement needs are not counted."""
        tol = share * float(np.linalg.norm(problem.F(problem.x0)))
        points = FORMS[self.form](problem.F, problem.x0, problem.L)
        for k, x in enumerate(points):
            value = problem.F(x)
            if float(np.linalg.norm(value)) <= tol:
                return min(self.per * k + 1, limit)
            if self.per * k >= limit:
                return limit
        raise AssertionError("the forms go on forever")


def evaluations(block: Block) -> list[Row]:
    """Values of F that an arm needs on one draw of the rows."""
    problem = block.dataset.open()(block.rng("rows"))
    arm: Counted | CountedForm = block.arms[0].build()
    share, limit = float(block.size["share"]), int(block.size["limit"])
    return [
        Row(
            block.arms[0].id,
            values={"evaluations": float(arm.evaluations(problem, share, limit))},
        )
    ]
