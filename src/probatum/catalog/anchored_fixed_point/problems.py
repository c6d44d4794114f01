"""Monotone equations and nonexpansive maps with known solutions, drawn afresh each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]


@dataclass(frozen=True)
class Equation:
    """F(x) = 0 with F monotone and L-Lipschitz, a start, a solution, and F's matrix if linear."""

    F: Operator
    x0: Vector
    solution: Vector
    L: float = 1.0
    matrix: Vector | None = None

    @property
    def distance(self) -> float:
        """From the start to the solution."""
        return float(np.linalg.norm(self.x0 - self.solution))


@dataclass(frozen=True)
class FixedPoint:
    """x = T(x) with T nonexpansive, a start, and a fixed point."""

    T: Operator
    x0: Vector
    solution: Vector

    @property
    def distance(self) -> float:
        """From the start to the fixed point."""
        return float(np.linalg.norm(self.x0 - self.solution))


def equations(name: str) -> Callable[[np.random.Generator], Equation]:
    """A family of monotone equations in 40 unknowns; a member is drawn by calling it."""
    return {"log-spectrum": bilinear, "rotation-convex": rotation_convex, "skew": skew_matrix}[name]


def maps(name: str) -> Callable[[np.random.Generator], FixedPoint]:
    """A family of nonexpansive maps of 40 unknowns; a member is drawn by calling it."""
    return {
        "rotation": rotation,
        "projections": projections,
        "reflections": reflections,
        "douglas-rachford": douglas_rachford,
        "long-gradient-step": long_gradient_step,
    }[name]


# --- monotone equations ---------------------------------------------------------------------------


def bilinear(rng: np.random.Generator) -> Equation:
    """The saddle point of ``u' B v`` with singular values spread evenly over three decades.

    The spread matters: with well-conditioned B every method converges linearly and no rate shows.
    """
    n = 20
    B = _orthogonal(rng, n) * np.logspace(-3, 0, n) @ _orthogonal(rng, n)
    zero = np.zeros((n, n))
    return _linear(np.block([[zero, B], [-B.T, zero]]), rng)


def skew_matrix(rng: np.random.Generator) -> Equation:
    """A skew matrix with frequencies over three decades, plus a convex part of low rank."""
    n = 40
    A = rng.normal(size=(n // 8, n))
    convex = A.T @ A
    M = _skew(rng, 10 ** rng.uniform(-3, 0, n // 2)) + 0.5 * convex / np.linalg.norm(convex, 2)
    return _linear(M / np.linalg.norm(M, 2), rng)


def rotation_convex(rng: np.random.Generator) -> Equation:
    """A rotation over three decades plus the gradient of log cosh in a quarter of directions."""
    n = 40
    S = 0.5 * _skew(rng, np.logspace(-3, 0, n // 2))
    A = rng.normal(size=(n // 4, n))
    A /= np.linalg.norm(A, 2)
    x0, solution = rng.normal(size=(2, n))

    def F(x: Vector) -> Vector:
        away = x - solution
        return np.asarray(S @ away + 0.5 * (A.T @ np.tanh(A @ away)))

    return Equation(F, x0, solution)


def _linear(M: Vector, rng: np.random.Generator) -> Equation:
    x0, solution = rng.normal(size=(2, M.shape[0]))
    shift = M @ solution
    return Equation(lambda x: M @ x - shift, x0, solution, matrix=M)


def _orthogonal(rng: np.random.Generator, n: int) -> Vector:
    return np.linalg.qr(rng.normal(size=(n, n)))[0]


def _skew(rng: np.random.Generator, frequencies: Vector) -> Vector:
    n = 2 * frequencies.size
    blocks = np.zeros((n, n))
    even = np.arange(0, n, 2)
    blocks[even, even + 1], blocks[even + 1, even] = frequencies, -frequencies
    Q = _orthogonal(rng, n)
    return np.asarray(Q @ blocks @ Q.T)


def reflected_resolvent(equation: Equation) -> Operator:
    """The nonexpansive map ``(I - M)(I + M)^-1`` around the solution of a linear equation."""
    if equation.matrix is None:
        raise ValueError("the reflected resolvent is written for linear equations")
    M, eye = equation.matrix, np.eye(equation.x0.size)
    R, solution = np.linalg.solve((eye + M).T, (eye - M).T).T, equation.solution
    return lambda x: solution + R @ (x - solution)


# --- nonexpansive maps ----------------------------------------------------------------------------


def rotation(rng: np.random.Generator) -> FixedPoint:
    """Plane rotations by angles from 1/1000 of a half turn to a half turn: nothing contracts."""
    n = 40
    angles = np.pi * np.logspace(-3, 0, n // 2)
    Q, blocks = _orthogonal(rng, n), np.zeros((n, n))
    even = np.arange(0, n, 2)
    blocks[even, even] = blocks[even + 1, even + 1] = np.cos(angles)
    blocks[even, even + 1], blocks[even + 1, even] = -np.sin(angles), np.sin(angles)
    R = Q @ blocks @ Q.T
    x0, solution = rng.normal(size=(2, n))
    return FixedPoint(lambda x: solution + R @ (x - solution), x0, solution)


def projections(rng: np.random.Generator) -> FixedPoint:
    """Projections onto a subspace, a halfspace and a ball, one after another."""
    onto_space, onto_half, onto_ball, x0, solution = _sets(rng)
    return FixedPoint(lambda x: onto_ball(onto_half(onto_space(x))), x0, solution)


def reflections(rng: np.random.Generator) -> FixedPoint:
    """Reflections at two sets that meet, one after another; no averaging."""
    onto_space, _, onto_ball, x0, solution = _sets(rng)

    def T(x: Vector) -> Vector:
        once = 2 * onto_space(x) - x
        return 2 * onto_ball(once) - once

    return FixedPoint(T, x0, solution)


def douglas_rachford(rng: np.random.Generator) -> FixedPoint:
    """Douglas-Rachford for a point that lies in a subspace and in a ball."""
    onto_space, _, onto_ball, x0, solution = _sets(rng)

    def T(x: Vector) -> Vector:
        inside = onto_space(x)
        return x + onto_ball(2 * inside - x) - inside

    return FixedPoint(T, x0, solution)


def long_gradient_step(rng: np.random.Generator) -> FixedPoint:
    """A gradient step of length 2/L on a convex quadratic with eigenvalues over three decades."""
    n = 40
    Q = _orthogonal(rng, n)
    H = Q * np.logspace(-3, 0, n) @ Q.T
    x0, solution = rng.normal(size=(2, n))
    return FixedPoint(lambda x: x - 2 * (H @ (x - solution)), x0, solution)


def _sets(rng: np.random.Generator) -> tuple[Operator, Operator, Operator, Vector, Vector]:
    """Projections onto a subspace, a halfspace and a ball that have a boundary point in common."""
    n = 40
    x0, solution, normal, centre = rng.normal(size=(4, n))
    basis = _orthogonal(rng, n)[:, : n // 2]
    normal /= np.linalg.norm(normal)
    centre = solution + centre
    radius = float(np.linalg.norm(centre - solution))

    def onto_space(x: Vector) -> Vector:
        return np.asarray(solution + basis @ (basis.T @ (x - solution)))

    def onto_half(x: Vector) -> Vector:
        return np.asarray(x - max(float(normal @ (x - solution)), 0.0) * normal)

    def onto_ball(x: Vector) -> Vector:
        away = x - centre
        length = float(np.linalg.norm(away))
        return x if length <= radius else np.asarray(centre + (radius / length) * away)

    return onto_space, onto_half, onto_ball, x0, solution
