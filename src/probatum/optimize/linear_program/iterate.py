"""The loop: steps of a scheme, looks at the residuals, restarts, and what ends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

from probatum.optimize.linear_program.model import LinearProgram
from probatum.optimize.linear_program.residuals import Certifier, Kkt, Residuals
from probatum.optimize.linear_program.scaling import scale
from probatum.optimize.linear_program.schemes import SCHEMES, PrimalDualMap, Restart

__all__ = ["OPTIMAL", "Outcome", "Settings", "good_enough", "iterate"]

Array = NDArray[np.float64]
OPTIMAL, STOPPED, INFEASIBLE, UNBOUNDED, NUMERICAL = range(5)
# Steps between looks at the residuals, which cost about as much as two steps.
LOOK = 40
WITHOUT_RESTARTS = ("plain", "km", "halpern-no-restart")


@dataclass
class Settings:
    """What the caller asked for; `deadline` is a reading of `time.perf_counter`."""

    method: str = "halpern"
    tol: float = 1e-6
    maxiter: int = 100_000
    deadline: float = np.inf
    presolve: bool = True
    scaling: bool = True
    restart: Restart | None = field(default_factory=Restart)
    callback: Callable[[OptimizeResult], Any] | None = None


@dataclass
class Outcome:
    """How a run ended. ``ray`` and ``farkas`` are proofs; each is None without one."""

    status: int
    message: str
    x: Array
    y: Array
    nit: int = 0
    ray: Array | None = None
    farkas: Array | None = None


def good_enough(kkt: Kkt, x: Array, y: Array, residuals: Residuals, tol: float) -> bool:
    """Whether a point may be called optimal: in the norms, and in every row and column."""
    return residuals.worst <= tol and kkt.componentwise(x, y) <= tol


class _Run:
    """The state of one run of a scheme on one program."""

    def __init__(
        self, lp: LinearProgram, settings: Settings, start: tuple[Array, Array] | None
    ) -> None:
        self.lp, self.settings = lp, settings
        self.kkt = Kkt(lp)
        self.scaled = scale(lp) if settings.scaling else scale(lp, ruiz=0, pock_chambolle=False)
        self.certifier = Certifier(self.kkt, self.scaled)
        costs, sides = float(np.linalg.norm(self.scaled.c)), self._sides()
        weight = costs / sides if costs > 0 and sides > 0 else 1.0
        self.T = PrimalDualMap(self.scaled, weight)
        self.scheme = SCHEMES[settings.method]()
        self.restart = None if settings.method in WITHOUT_RESTARTS else settings.restart
        x, y = start if start is not None else (np.zeros(lp.shape[1]), np.zeros(lp.shape[0]))
        x = np.clip(x, lp.lower, lp.upper) / self.scaled.columns
        self.z = self.T.enter(x, self.kkt.admissible(y) / self.scaled.rows)
        self.scheme.begin(self.z)
        self.since = 0
        self.first = self.before = np.inf
        self.next_proof = 0.0
        self.first_weight = weight

    def _sides(self) -> float:
        s = self.scaled
        finite = [np.where(np.isfinite(b), np.abs(b), 0.0) for b in (s.row_lower, s.row_upper)]
        return float(np.linalg.norm(np.maximum(*finite)))

    def original(self, z: Array) -> tuple[Array, Array]:
        """x and y in original units, within their bounds and signs to the last digit."""
        x, y = self.T.leave(z)
        x = np.clip(self.scaled.columns * x, self.lp.lower, self.lp.upper)
        return x, self.kkt.admissible(self.scaled.rows * y)

    def look(self, t: Array, nit: int) -> tuple[Outcome | None, Array, float]:
        """Judge the point reached: an outcome if it ends the run; the point and its residual."""
        point, residual = self.scheme.judged(self.T, self.z, t)
        x, y = self.original(point)
        if not np.isfinite(residual):
            line = "the iterates left the range of numbers; the program may be badly scaled"
            return Outcome(NUMERICAL, line, x, y, nit), point, residual
        found = self.kkt(x, y)
        outcome = self._told(x, y, found, nit)
        if good_enough(self.kkt, x, y, found, self.settings.tol):
            outcome = Outcome(OPTIMAL, "optimal to the tolerance", x, y, nit)
        outcome = outcome or self._proof(t, point, x, y, nit)
        if outcome is None and time.perf_counter() > self.settings.deadline:
            outcome = Outcome(STOPPED, "the time limit was reached", x, y, nit)
        return outcome, point, residual

    def _told(self, x: Array, y: Array, found: Residuals, nit: int) -> Outcome | None:
        if self.settings.callback is None:
            return None
        state = OptimizeResult(
            x=x,
            dual=y,
            fun=found.objective,
            nit=nit,
            primal_residual=found.primal,
            dual_residual=found.dual,
            gap=found.gap,
        )
        try:
            self.settings.callback(state)
        except StopIteration:
            return Outcome(STOPPED, "the callback stopped it", x, y, nit)
        return None

    def _proof(self, t: Array, point: Array, x: Array, y: Array, nit: int) -> Outcome | None:
        """A certificate from how the iterates drift; looked for ever more rarely."""
        if nit < self.next_proof:
            return None
        self.next_proof = 1.2 * nit
        for drift in (t - self.z, point - self.scheme.anchor):
            dx, dy = self.T.leave(drift)
            farkas = self.certifier.farkas(dy)
            if farkas is not None:
                line = "infeasible: a combination of the rows contradicts the bounds"
                return Outcome(INFEASIBLE, line, x, y, nit, farkas=farkas)
            ray = self.certifier.ray(dx)
            if ray is not None:
                line = "the objective falls without end along a ray"
                return Outcome(UNBOUNDED, line, x, y, nit, ray=ray)
        return None

    def maybe_restart(self, point: Array, residual: float, nit: int) -> bool:
        """Start anew from the point if it is time, with a primal weight that fits the way gone."""
        rule = self.restart
        if rule is None or not rule.due(residual, self.before, self.first, self.since, nit):
            self.before = residual
            return False
        x, y = self.T.leave(point)
        dx, dy = self.T.leave(point - self.scheme.anchor)
        moved = float(np.linalg.norm(dx)), float(np.linalg.norm(dy))
        self.T.set_weight(rule.weight(self.T.weight, self.first_weight, *moved))
        self.z = self.T.enter(x, y)
        self.scheme.begin(self.z)
        self.since, self.before = 0, np.inf
        return True


def iterate(
    lp: LinearProgram, settings: Settings, start: tuple[Array, Array] | None = None
) -> Outcome:
    """Run a scheme on a program to be minimised, from zero or from ``(x, y)``."""
    run = _Run(lp, settings, start)
    T, scheme = run.T, run.scheme
    t = np.empty_like(run.z)
    for nit in range(1, settings.maxiter + 1):
        T(run.z, t)
        run.since += 1
        if run.since == 1:
            run.first = T.norm(run.z - t)
        if nit % LOOK == 0 or nit in (1, settings.maxiter):
            outcome, point, residual = run.look(t, nit)
            if outcome is not None:
                return outcome
            if nit > 1 and run.maybe_restart(point, residual, nit):
                continue
            if nit == settings.maxiter:
                x, y = run.original(point)
                break
        scheme.advance(run.z, t)
    else:
        x, y = run.original(run.z)
    line = f"the limit of {settings.maxiter} iterations was reached"
    return Outcome(STOPPED, line, x, y, settings.maxiter)
