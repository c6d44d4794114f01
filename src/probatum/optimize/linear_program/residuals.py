"""How far a point is from optimal, and proofs that there is no optimum; in original units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import lsmr

from probatum.optimize.linear_program.model import LinearProgram
from probatum.optimize.linear_program.scaling import Scaled

__all__ = ["Certifier", "Kkt", "Residuals", "farkas_margin", "kkt_residuals"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# A proof may break its homogeneous conditions by so much of the terms they sum, and must gain more
# than so much of the terms of its objective: no cancellation passes for a proof.
EXACT = 1e-9
GAIN = 1e-7


@dataclass(frozen=True)
class Residuals:
    """Relative distances from optimality of a pair ``(x, y)``.

    Attributes
    ----------
    primal : float
        Norm of the violation of rows and bounds, over 1 + norm of the finite sides.
    dual : float
        Norm of the reduced costs that no bound can carry, over 1 + norm of the costs.
    gap : float
        Difference of the objectives over 1 + the sum of their magnitudes.
    objective, dual_objective : float
        Without the constant part.
    """

    primal: float
    dual: float
    gap: float
    objective: float
    dual_objective: float

    @property
    def worst(self) -> float:
        """The largest of the three."""
        return max(self.primal, self.dual, self.gap)


class Kkt:
    """Residuals of one program, to be minimised, at many points."""

    def __init__(self, lp: LinearProgram) -> None:
        self.lp = lp
        self.transposed = lp.A.T.tocsr()
        sides = np.maximum(_finite_size(lp.row_lower), _finite_size(lp.row_upper))
        self.side_sizes = sides
        self.side_norm = float(np.linalg.norm(sides))
        self.cost_norm = float(np.linalg.norm(lp.c))
        self.low_free, self.high_free = np.isneginf(lp.lower), np.isposinf(lp.upper)
        # Infinite bounds carry no reduced cost, and must not make 0 * inf.
        self.low = np.where(self.low_free, 0.0, lp.lower)
        self.high = np.where(self.high_free, 0.0, lp.upper)
        self.row_low_free, self.row_high_free = (
            np.isneginf(lp.row_lower), np.isposinf(lp.row_upper),
        )  # fmt: skip
        self.row_low = np.where(self.row_low_free, 0.0, lp.row_lower)
        self.row_high = np.where(self.row_high_free, 0.0, lp.row_upper)

    def row_violation(self, x: Array) -> Array:
        """What each row lacks; shape (m,)."""
        activity = self.lp.A @ x
        violation: Array = np.maximum(self.lp.row_lower - activity, activity - self.lp.row_upper)
        return np.maximum(violation, 0.0, out=violation)

    def carried(self, reduced: Array) -> Array:
        """The part of reduced costs that a finite bound can carry; shape (n,)."""
        part = np.where((reduced > 0) & self.low_free, 0.0, reduced)
        return np.where((reduced < 0) & self.high_free, 0.0, part)

    def dual_value(self, y: Array, carried: Array) -> float:
        """Value of the dual objective for admissible signs of both arguments."""
        return float(
            self.row_low @ np.maximum(y, 0)
            + self.row_high @ np.minimum(y, 0)
            + self.low @ np.maximum(carried, 0)
            + self.high @ np.minimum(carried, 0)
        )

    def admissible(self, y: Array) -> Array:
        """Multipliers without the signs that an absent side forbids; shape (m,)."""
        y = np.where((y > 0) & self.row_low_free, 0.0, y)
        return np.where((y < 0) & self.row_high_free, 0.0, y)

    def __call__(self, x: Array, y: Array) -> Residuals:
        """Residuals at ``x`` (n,) and ``y`` (m,)."""
        lp = self.lp
        y = self.admissible(y)
        reduced = lp.c - self.transposed @ y
        carried = self.carried(reduced)
        outside = np.maximum(np.maximum(lp.lower - x, x - lp.upper), 0.0)
        primal = np.hypot(np.linalg.norm(self.row_violation(x)), np.linalg.norm(outside))
        value, bound = float(lp.c @ x), self.dual_value(y, carried)
        return Residuals(
            float(primal) / (1 + self.side_norm),
            float(np.linalg.norm(reduced - carried)) / (1 + self.cost_norm),
            abs(value - bound) / (1 + abs(value) + abs(bound)),
            value,
            bound,
        )

    def componentwise(self, x: Array, y: Array) -> float:
        """Largest violation of a single row or column, relative to the terms it sums.

        A norm over all rows hides one that is violated if another has a large side; this does
        not, down to a thousandth of the norm, below which terms are noise.
        """
        y = self.admissible(y)
        reduced = self.lp.c - self.transposed @ y
        row_terms = self.side_sizes + abs(self.lp.A) @ np.abs(x)
        column_terms = np.abs(self.lp.c) + abs(self.transposed) @ np.abs(y)
        rows = self.row_violation(x) / (1e-3 * (1 + self.side_norm) + row_terms)
        lost = np.abs(reduced - self.carried(reduced))
        columns = lost / (1e-3 * (1 + self.cost_norm) + column_terms)
        return max(float(rows.max(initial=0.0)), float(columns.max(initial=0.0)))


def kkt_residuals(lp: LinearProgram, x: Array, y: Array) -> Residuals:
    """Relative primal and dual residual and gap of any point of a program.

    Parameters
    ----------
    lp : LinearProgram
    x : ndarray of shape (n,)
    y : ndarray of shape (m,)
        Row multipliers: the change of the objective per unit of the rows' sides.

    Examples
    --------
    >>> lp = LinearProgram.from_scipy([1.0], A_ub=[[-1.0]], b_ub=[-2.0])
    >>> kkt_residuals(lp, np.array([2.0]), np.array([-1.0])).worst
    0.0
    """
    sign = 1.0 if lp.sense == "min" else -1.0
    found = Kkt(lp.minimisation())(np.asarray(x, float), sign * np.asarray(y, float))
    return Residuals(
        found.primal, found.dual, found.gap, sign * found.objective, sign * found.dual_objective
    )


def farkas_margin(lp: LinearProgram, y: Array) -> tuple[float, float]:
    """What a combination of the rows demands, and the most that the bounds let it be.

    Parameters
    ----------
    lp : LinearProgram
    y : ndarray of shape (m,)
        Multipliers that prove infeasibility, as `solve_lp` returns them in ``farkas``.

    Returns
    -------
    demanded, possible : float
        Of ``y @ A @ x`` over all x that satisfy the rows, and over all x within the bounds. The
        program is infeasible if the first is larger.

    Examples
    --------
    The row x1 + x2 >= 3 with both variables at most 1:

    >>> one = np.ones(2)
    >>> lp = LinearProgram(one, [[1.0, 1.0]], [3.0], [np.inf], 0 * one, one)
    >>> farkas_margin(lp, np.array([1.0]))
    (3.0, 2.0)
    """
    kkt = Kkt(lp.minimisation())
    y = kkt.admissible(np.asarray(y, float))
    coefficients = kkt.transposed @ y
    terms = abs(kkt.transposed) @ np.abs(y)
    coefficients[np.abs(coefficients) <= EXACT * terms] = 0.0
    demanded = float(kkt.row_low @ np.maximum(y, 0) + kkt.row_high @ np.minimum(y, 0))
    used = coefficients != 0
    side = np.where(coefficients > 0, lp.upper, lp.lower)
    return demanded, float(coefficients[used] @ side[used])


class Certifier:
    """Looks for a proof that a program has no feasible point, or that its dual has none.

    Differences of iterates of a nonexpansive map tend to its infimal displacement. For
    primal-dual hybrid gradient the dual part of that vector proves primal infeasibility by
    Farkas' lemma, and the primal part is a ray along which the objective falls without end
    (Applegate, Díaz, Lu and Lubin, 2024). Candidates are cleaned by least squares before they
    are judged, so that a proof is exact to round-off and not merely to the tolerance.
    """

    def __init__(self, kkt: Kkt, scaled: Scaled) -> None:
        self.kkt = kkt
        self.scaled = scaled
        self.scaled_transposed = scaled.A.T.tocsr()
        self.size, self.size_transposed = abs(kkt.lp.A), abs(kkt.transposed)
        # Cleaning costs as much as many steps: only a candidate half as wrong as the last is.
        self.least = {"farkas": 0.04, "ray": 0.04}

    def farkas(self, y: Array) -> Array | None:
        """Multipliers (m,) by which the rows contradict each other, or None.

        Parameters
        ----------
        y : ndarray of shape (m,)
            A candidate, in scaled units.
        """
        kkt = self.kkt
        raw = kkt.admissible(self.scaled.rows * y)
        if kkt.dual_value(raw, kkt.carried(-(kkt.transposed @ raw))) <= 0:
            return None
        own = (~kkt.row_low_free, ~kkt.row_high_free)
        image = (~kkt.low_free, ~kkt.high_free)
        y = self.scaled.rows * self._clean("farkas", -self.scaled_transposed, y, own, image)
        return y if self.proves_infeasible(y) else None

    def ray(self, d: Array) -> Array | None:
        """A direction (n,) that keeps every side and lowers the objective, or None.

        Parameters
        ----------
        d : ndarray of shape (n,)
            A candidate, in scaled units.
        """
        kkt = self.kkt
        if kkt.lp.c @ (self.scaled.columns * d) >= 0:
            return None
        own = (kkt.high_free, kkt.low_free)
        image = (kkt.row_high_free, kkt.row_low_free)
        d = self.scaled.columns * self._clean("ray", self.scaled.A, d, own, image)
        return d if self.proves_dual_infeasible(d) else None

    def proves_infeasible(self, y: Array) -> bool:
        """Whether any x that satisfied rows and bounds would give 0 > 0 by these multipliers.

        The combination ``y @ A`` of the rows is what the bounds allow, yet the sides of the rows
        and bounds add up to more than it can be.
        """
        kkt = self.kkt
        if not np.array_equal(kkt.admissible(y), y):
            return False
        reduced = -(kkt.transposed @ y)
        # What round-off leaves where it should be 0 must not be multiplied by a huge bound.
        noise = EXACT * (self.size_transposed @ np.abs(y))
        reduced[np.abs(reduced) <= noise * 1e-3] = 0.0
        carried = kkt.carried(reduced)
        if np.any(np.abs(reduced - carried) > noise):
            return False
        rows = np.where(y > 0, kkt.row_low, kkt.row_high) * y
        columns = np.where(carried > 0, kkt.low, kkt.high) * carried
        terms = float(np.abs(rows).sum() + np.abs(columns).sum())
        return kkt.dual_value(y, carried) > GAIN * terms > 0

    def proves_dual_infeasible(self, d: Array) -> bool:
        """Whether the objective falls without end from any feasible point along d."""
        kkt = self.kkt
        if np.any(((d > 0) & ~kkt.high_free) | ((d < 0) & ~kkt.low_free)):
            return False
        image = kkt.lp.A @ d
        wrong = ((image > 0) & ~kkt.row_high_free) | ((image < 0) & ~kkt.row_low_free)
        if np.any(wrong & (np.abs(image) > EXACT * (self.size @ np.abs(d)))):
            return False
        return -float(kkt.lp.c @ d) > GAIN * float(np.abs(kkt.lp.c) @ np.abs(d)) > 0

    def _clean(
        self, kind: str, M: Any, v: Array, own: tuple[Mask, Mask], image: tuple[Mask, Mask]
    ) -> Array:
        """A vector near v whose entries, and those of M v, are positive or negative where they may.

        Entries of the image that go where they may not are put to zero by a least change of the
        nonzero entries of v; a few rounds, as the change may move others.
        """
        v = _allowed(v / max(float(np.abs(v).max(initial=0.0)), 1e-300), *own)
        v[np.abs(v) < 1e-9] = 0.0
        bound = np.zeros(M.shape[0], dtype=bool)
        for attempt in range(4):
            now = M @ v
            wrong = _allowed(now, *image) != now
            size = float(np.abs(now[wrong]).max(initial=0.0))
            if size == 0.0 or (attempt == 0 and size > 0.5 * self.least[kind]):
                break
            if attempt == 0:
                self.least[kind] = size
            bound |= wrong
            support = np.flatnonzero(v)
            part = M[bound][:, support]
            v[support] += lsmr(part, -now[bound], atol=1e-15, btol=1e-15, conlim=0, maxiter=100)[0]
            v = _allowed(v, *own)
        return v


def _allowed(v: Array, rise: Mask, fall: Mask) -> Array:
    """The vector without the positive and negative entries that are not allowed."""
    return np.where(((v > 0) & ~rise) | ((v < 0) & ~fall), 0.0, v)


def _finite_size(side: Array) -> Array:
    return np.where(np.isfinite(side), np.abs(side), 0.0)
