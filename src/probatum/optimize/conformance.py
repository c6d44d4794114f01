"""What every solver here must do, as a check that a reader's own solver can be given too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.optimize import OptimizeResult

__all__ = ["check_solver"]

_FIELDS = {
    "x": object,
    "fun": object,
    "residual": float,
    "residuals": np.ndarray,
    "nit": int,
    "nfev": int,
    "status": int,
    "success": bool,
    "message": str,
}


def check_solver(
    solver: Callable[..., OptimizeResult],
    *,
    kind: Literal["equation", "map"] = "equation",
    tol: float = 1e-2,
) -> None:
    """Check that a solver keeps the contract of `scipy.optimize` and of its own result.

    Parameters
    ----------
    solver : callable
        ``solver(operator, x0, *, tol, maxiter, callback) -> OptimizeResult``, for F(x) = 0 or
        x = T(x). It is tried on small, strongly monotone problems, of one and two dimensions.
    kind : {"equation", "map"}, default="equation"
    tol : float, default=0.01
        Residual that it should reach within 20000 iterations.

    Raises
    ------
    AssertionError
        Saying which part of the contract is broken.

    Examples
    --------
    >>> from probatum.optimize import monotone_root
    >>> check_solver(monotone_root)
    """
    if kind not in ("equation", "map"):
        raise ValueError(f"kind must be 'equation' or 'map', got {kind!r}")
    op = _equation if kind == "equation" else _map
    for start in (np.array([2.0, -1.0, 0.5]), np.array([[1.0, 2.0], [3.0, 4.0]])):
        _check_result(solver, op, start, kind, tol)
    _check_limits(solver, op)
    _check_callback(solver, op)
    _check_bad_operators(solver)


def _equation(x: Any) -> Any:
    """A rotation with friction: strongly monotone, with the zero at 1."""
    away = np.asarray(x) - 1.0
    return 0.5 * away + np.roll(away, 1) - np.roll(away, -1)


def _map(x: Any) -> Any:
    """A contraction with the fixed point 1."""
    return 1.0 + 0.5 * np.roll(np.asarray(x) - 1.0, 1)


def _say(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _check_result(solver: Any, op: Any, start: Any, kind: str, tol: float) -> None:
    calls, before = 0, start.copy()

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return op(x)

    found = solver(counted, start, tol=tol, maxiter=20_000)
    _say(isinstance(found, OptimizeResult), "the result must be an OptimizeResult")
    for name, of in _FIELDS.items():
        _say(name in found, f"the result lacks {name!r}")
        _say(isinstance(found[name], of), f"{name} is a {type(found[name]).__name__}")
    _say(np.array_equal(start, before), "x0 was changed")
    _say(found.x.shape == start.shape, f"x has shape {found.x.shape}, x0 {start.shape}")
    _say(not np.shares_memory(found.x, start), "x shares memory with x0")
    _say(found.success, f"a strongly monotone problem was not solved: {found.message}")
    gap = op(found.x) if kind == "equation" else found.x - op(found.x)
    own = float(np.linalg.norm(gap))
    _say(math.isclose(own, found.residual, rel_tol=1e-9), "residual is not that of x")
    _say(np.allclose(found.fun, op(found.x), rtol=1e-12), "fun is not the value at x")
    _say(found.residual <= tol, "success, but the residual exceeds tol")
    _say(len(found.residuals) == found.nit + 1, "residuals must have nit + 1 entries")
    _say(found.residuals[-1] == found.residual, "the last of residuals must be residual")
    _say(calls == found.nfev, f"nfev is {found.nfev}, the operator was called {calls} times")
    again = solver(op, start, tol=tol, maxiter=20_000)
    _say(np.array_equal(found.x, again.x), "two equal calls gave different points")
    there = solver(op, np.ones_like(start), tol=1e-3, maxiter=10)
    _say(there.success and there.nit == 0, "a start at the solution must end at once")


def _check_limits(solver: Any, op: Any) -> None:
    start = np.array([2.0, -1.0, 0.5])
    for limit in (0, 3):
        found = solver(op, start, tol=0.0, maxiter=limit)
        _say(found.nit == limit, f"maxiter={limit} gave nit={found.nit}")
        _say(not found.success and found.status == 1, "reaching maxiter must have status 1")
    _raises("a negative tol", solver, op, start, tol=-1.0, maxiter=5)
    _raises("a tol of nan", solver, op, start, tol=math.nan, maxiter=5)
    _raises("a negative maxiter", solver, op, start, tol=1e-3, maxiter=-1)
    _raises("nan in x0", solver, op, np.array([np.nan, 1.0, 1.0]), tol=1e-3, maxiter=5)


def _check_callback(solver: Any, op: Any) -> None:
    seen: list[Any] = []

    def callback(x: Any) -> None:
        seen.append(x)
        if len(seen) == 3:
            raise StopIteration

    found = solver(op, np.array([2.0, -1.0, 0.5]), tol=0.0, maxiter=50, callback=callback)
    _say(len(seen) == 3, "StopIteration from the callback must end the run")
    _say(not found.success and found.status == 2, "a run the callback stopped has status 2")
    _say(not np.array_equal(seen[0], seen[-1]), "the callback must be given copies")


def _check_bad_operators(solver: Any) -> None:
    start = np.array([2.0, -1.0, 0.5])
    bad = {
        "a value of another shape": lambda x: np.zeros(2),
        "a value that is not finite": lambda x: np.full(3, np.inf),
        "text for a value": lambda x: "text",
    }
    for what, op in bad.items():
        _raises(what, solver, op, start, tol=1e-3, maxiter=5)


def _raises(what: str, solver: Any, op: Any, start: Any, **options: Any) -> None:
    try:
        solver(op, start, **options)
    except (TypeError, ValueError) as error:
        _say("\n" not in str(error), f"the message on {what} has more than one line")
        return
    raise AssertionError(f"{what} must raise ValueError or TypeError")
