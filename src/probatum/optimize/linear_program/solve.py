"""The front door: checks, presolve, the iterations, and the result in SciPy's form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import OptimizeResult

from probatum.optimize.linear_program.highs import Presolved
from probatum.optimize.linear_program.iterate import (
    INFEASIBLE,
    NUMERICAL,
    OPTIMAL,
    STOPPED,
    UNBOUNDED,
    Outcome,
    Settings,
    good_enough,
    iterate,
)
from probatum.optimize.linear_program.model import LinearProgram
from probatum.optimize.linear_program.residuals import Kkt
from probatum.optimize.linear_program.schemes import SCHEMES, Restart

__all__ = ["Method", "solve_lp"]

Array = NDArray[np.float64]
Method = Literal["halpern", "reflected", "average", "plain", "km", "halpern-no-restart"]


def solve_lp(
    lp: LinearProgram,
    *,
    method: Method = "reflected",
    tol: float = 1e-6,
    maxiter: int = 100_000,
    time_limit: float | None = None,
    presolve: bool = True,
    scaling: bool = True,
    restart: Restart | None = Restart(),  # noqa: B008 - frozen
    callback: Callable[[OptimizeResult], Any] | None = None,
    x0: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
) -> OptimizeResult:
    """Solve a linear program by primal-dual hybrid gradient, anchored and restarted.

    Parameters
    ----------
    lp : LinearProgram
    method : {"halpern", "reflected", "average", "plain", "km", "halpern-no-restart"}
        What is done with the map T of primal-dual hybrid gradient: anchored (Halpern); the same
        with ``2 T - 1``, which is faster in practice and the default; restarted averages (PDLP);
        Picard; Krasnoselskii-Mann with 1/2; anchored without restarts, for comparison.
    tol : float
        Relative accuracy of the primal and dual residual and of the gap, in original units.
    maxiter : int
        Largest number of applications of T.
    time_limit : float, optional
        Seconds.
    presolve : bool
        Let HiGHS make the program smaller first. Skipped where `x0` is given.
    scaling : bool
        Equilibrate rows and columns.
    restart : Restart or None
        When to start anew; None for never. No part in "plain" and "km".
    callback : callable, optional
        Called at looks with a result of ``nit, x, dual, fun, primal_residual, dual_residual,
        gap`` of the program being iterated on, which presolve may have changed; ends the run by
        raising StopIteration.
    x0 : array_like of shape (n,), or a pair with the multipliers of shape (m,), optional
        Where to start.

    Returns
    -------
    OptimizeResult
        ``x`` (n,), ``fun``, ``dual`` (m,): change of the objective per unit of a row's side,
        ``reduced_costs`` (n,) = ``c - A.T @ dual``, ``activity`` (m,), relative
        ``primal_residual``, ``dual_residual`` and ``gap``, ``nit``, ``success``, ``message`` and
        ``status``: 0 optimal, 1 stopped by a limit or the callback, 2 infeasible, 3 unbounded,
        4 numerical trouble. If infeasible, ``farkas`` (m,) proves it, and if unbounded, ``ray``
        (n,) does, from the feasible point ``x``. They are None where presolve found out, and
        ``farkas`` also where the message says that the bounds of a variable or the sides of a row
        cross: these are the proof themselves, and no multipliers of rows could state it.

    Raises
    ------
    ValueError, TypeError
        For arguments out of range.
    ImportError
        If presolve is asked for without highspy.

    Notes
    -----
    Our choice of parts: scaling, weights and restarts of PDLP (Applegate et al., 2021), the
    restart test on the fixed-point residual of Lu and Yang (2024), certificates from the
    infimal displacement (Applegate et al., 2024).

    Examples
    --------
    >>> lp = LinearProgram.from_scipy([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=(0, 3))
    >>> result = solve_lp(lp, presolve=False)
    >>> result.status, result.x.round(3), round(result.fun, 3)
    (0, array([1., 3.]), -7.0)
    """
    if not isinstance(lp, LinearProgram):
        raise TypeError(f"lp must be a LinearProgram, got {type(lp).__name__}")
    if method not in SCHEMES:
        raise ValueError(f"method must be one of {', '.join(SCHEMES)}, got {method!r}")
    for name, value in (("tol", tol), ("maxiter", maxiter), ("time_limit", time_limit)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    problem = lp.minimisation()
    start = _start(problem, x0, -1.0 if lp.sense == "max" else 1.0)
    settings = Settings(
        method,
        float(tol),
        int(maxiter),
        np.inf if time_limit is None else time.perf_counter() + time_limit,
        presolve and start is None,
        scaling,
        restart,
        callback,
    )
    return _result(lp, problem, _solve(problem, settings, start))


def _start(lp: LinearProgram, x0: Any, sign: float) -> tuple[Array, Array] | None:
    if x0 is None:
        return None
    m, n = lp.shape
    x, y = (
        x0 if isinstance(x0, tuple) and len(x0) == 2 and np.ndim(x0[0]) == 1 else (x0, np.zeros(m))
    )
    x, y = np.array(x, dtype=float), sign * np.array(y, dtype=float)
    if x.shape != (n,) or y.shape != (m,) or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError(f"x0 must be {n} finite numbers, or a pair with {m} multipliers")
    return x, y


def _solve(lp: LinearProgram, settings: Settings, start: tuple[Array, Array] | None) -> Outcome:
    nowhere = _zero(lp)
    line, farkas = _contradiction(lp)
    if line:
        return Outcome(INFEASIBLE, line, *nowhere, farkas=farkas)
    if settings.presolve:
        smaller = Presolved(lp, max(settings.deadline - time.perf_counter(), 0.0))
        if smaller.verdict == "infeasible":
            return Outcome(INFEASIBLE, "infeasible, as presolve proves", *nowhere)
        if smaller.verdict == "unbounded or infeasible":
            return _unless_infeasible(lp, settings, Outcome(UNBOUNDED, "", *nowhere))
        if smaller.verdict in ("reduced", "solved"):
            return _solve_smaller(lp, smaller, settings)
    return _solve_as_it_is(lp, settings, start)


def _solve_smaller(lp: LinearProgram, smaller: Presolved, settings: Settings) -> Outcome:
    """Solve what presolve left, to such accuracy that the restored point has the one asked for."""
    kkt, spent, start = Kkt(lp), 0, None
    outcome = Outcome(OPTIMAL, "optimal, by presolve alone", np.empty(0), np.empty(0))
    for share in (1.0, 0.1, 0.01):
        if smaller.verdict == "reduced":
            left = replace(settings, tol=share * settings.tol, maxiter=settings.maxiter - spent)
            outcome = _solve_as_it_is(smaller.lp, left, start)
            spent += outcome.nit
        if outcome.status == INFEASIBLE:
            return Outcome(INFEASIBLE, outcome.message + " (after presolve)", *_zero(lp), nit=spent)
        restored = smaller.restore(outcome.x, outcome.y)
        if outcome.status == UNBOUNDED:
            return _unless_infeasible(lp, settings, Outcome(UNBOUNDED, "", *_zero(lp), nit=spent))
        if restored is None:
            break
        x, y = restored
        if outcome.status != OPTIMAL:
            return Outcome(outcome.status, outcome.message, x, y, spent)
        if good_enough(kkt, x, y, kkt(x, y), settings.tol):
            return Outcome(OPTIMAL, outcome.message, x, y, spent)
        start = outcome.x, outcome.y
        if smaller.verdict == "solved" or spent >= settings.maxiter:
            break
    # What presolve took away can't be restored well enough: go on without it.
    if spent >= settings.maxiter:
        return Outcome(
            STOPPED, "the iterations ended after presolve", *(restored or _zero(lp)), spent
        )
    left = replace(settings, maxiter=settings.maxiter - spent)
    outcome = _solve_as_it_is(lp, left, restored)
    outcome.nit += spent
    return outcome


def _solve_as_it_is(
    lp: LinearProgram, settings: Settings, start: tuple[Array, Array] | None
) -> Outcome:
    settled, endless = _settle_empty_columns(lp)
    if endless is not None:
        return _unless_infeasible(lp, settings, Outcome(UNBOUNDED, "", *_zero(lp), ray=endless))
    outcome = iterate(settled, settings, start)
    if outcome.status == UNBOUNDED:
        return _unless_infeasible(lp, settings, outcome)
    return outcome


def _settle_empty_columns(lp: LinearProgram) -> tuple[LinearProgram, Array | None]:
    """Fix variables that occur in no row where they are best; a ray if one has no best value."""
    n = lp.shape[1]
    empty = np.bincount(lp.A.indices, minlength=n) == 0
    if not empty.any():
        return lp, None
    best = np.clip(0.0, lp.lower, lp.upper)
    best = np.where(lp.c > 0, lp.lower, np.where(lp.c < 0, lp.upper, best))
    endless = empty & np.isinf(best)
    if endless.any():
        return lp, np.where(endless, np.sign(best), 0.0)
    lower, upper = np.where(empty, best, lp.lower), np.where(empty, best, lp.upper)
    return replace(lp, lower=lower, upper=upper), None


def _unless_infeasible(lp: LinearProgram, settings: Settings, outcome: Outcome) -> Outcome:
    """Unbounded means that a feasible point exists too: look for one, without the objective."""
    left = max(settings.maxiter - outcome.nit, 1)
    aimless = replace(lp, c=np.zeros_like(lp.c), offset=0.0)
    point = _solve(aimless, replace(settings, maxiter=left, callback=None), None)
    point.nit += outcome.nit
    if point.status == OPTIMAL:
        how = "along a ray" if outcome.ray is not None else "as presolve proves"
        line = f"unbounded: from a feasible point the objective improves without end, {how}"
        return Outcome(UNBOUNDED, line, point.x, np.zeros(lp.shape[0]), point.nit, outcome.ray)
    if point.status != INFEASIBLE:
        point.message = f"infeasible or unbounded: the dual is infeasible, but {point.message}"
    return point


def _contradiction(lp: LinearProgram) -> tuple[str, Array | None]:
    """A row or variable that nothing can satisfy, seen without any computation, and its proof.

    Sides that cross have no proof beyond themselves: one multiplier of a row stands for one side.
    """
    for at in np.flatnonzero(lp.lower > lp.upper)[:1]:
        low, high = lp.lower[at], lp.upper[at]
        return f"infeasible: the bounds of {lp.column_names[at]} cross, {low:g} > {high:g}", None
    for at in np.flatnonzero(lp.row_lower > lp.row_upper)[:1]:
        low, high = lp.row_lower[at], lp.row_upper[at]
        return f"infeasible: the sides of row {lp.row_names[at]} cross, {low:g} > {high:g}", None
    empty = np.diff(lp.A.indptr) == 0
    for at in np.flatnonzero(empty & ((lp.row_lower > 0) | (lp.row_upper < 0)))[:1]:
        farkas = np.zeros(lp.shape[0])
        farkas[at] = 1.0 if lp.row_lower[at] > 0 else -1.0
        line = f"infeasible: row {lp.row_names[at]} has no variables, but 0 does not satisfy it"
        return line, farkas
    return "", None


def _zero(lp: LinearProgram) -> tuple[Array, Array]:
    return np.zeros(lp.shape[1]), np.zeros(lp.shape[0])


def _result(lp: LinearProgram, problem: LinearProgram, outcome: Outcome) -> OptimizeResult:
    sign = -1.0 if lp.sense == "max" else 1.0
    result = OptimizeResult(
        status=outcome.status,
        success=outcome.status == OPTIMAL,
        message=outcome.message,
        nit=outcome.nit,
        farkas=outcome.farkas,
        ray=outcome.ray,
        x=None,
        fun=np.nan,
        dual=None,
        reduced_costs=None,
        activity=None,
        primal_residual=np.nan,
        dual_residual=np.nan,
        gap=np.nan,
    )
    if outcome.status in (OPTIMAL, STOPPED, NUMERICAL):
        found = Kkt(problem)(outcome.x, outcome.y)
        dual = sign * outcome.y
        result.update(
            x=outcome.x,
            fun=lp.objective(outcome.x),
            dual=dual,
            reduced_costs=lp.c - lp.A.T @ dual,
            activity=lp.A @ outcome.x,
            primal_residual=found.primal,
            dual_residual=found.dual,
            gap=found.gap,
        )
    elif outcome.status == UNBOUNDED:
        found = Kkt(problem)(outcome.x, outcome.y)
        result.update(
            x=outcome.x,
            fun=-sign * np.inf,
            activity=lp.A @ outcome.x,
            primal_residual=found.primal,
        )
    return result
