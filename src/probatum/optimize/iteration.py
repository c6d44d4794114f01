"""The loop around a method: tolerance, limits, restarts and the result; it knows no method."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dcopy, ddot
from scipy.optimize import OptimizeResult

from probatum.optimize.anchoring import Asking, Method, Weights
from probatum.optimize.points import Asked, Layout

__all__ = ["Rules", "StepSearch", "iterate", "positive"]

Vector = NDArray[np.float64]

# A residual that has grown by this factor will not come back.
_DIVERGED = 1e8

_MESSAGES = {
    0: "the residual is within the tolerance",
    1: "maxiter was reached before the tolerance; a larger maxiter or tol would help",
    2: "stopped by the callback",
    3: "the residual diverged; give L or a larger one (or a smaller eta), or choose another method",
}


def positive(name: str, value: Any, *, top: float = math.inf) -> float:
    """The value as a float, or ValueError where it isn't finite and in (0, top]."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not (0 < number <= top and math.isfinite(number)):
        until = "positive and finite" if top == math.inf else f"in (0, {top:g}]"
        raise ValueError(f"{name} must be {until}, got {value!r}")
    return number


@dataclass(frozen=True)
class Rules:
    """When to stop and when to begin anew."""

    tol: float = 1e-6
    maxiter: int = 10_000
    restart: float | None = None
    callback: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not self.tol >= 0:
            raise ValueError(f"tol must not be negative, got {self.tol!r}")
        if not (isinstance(self.maxiter, int | np.integer) and self.maxiter >= 0):
            raise ValueError(f"maxiter must be a whole number, 0 or more, got {self.maxiter!r}")
        if self.restart is not None and not 0 < self.restart < 1:
            raise ValueError(
                f"restart must be None or a share between 0 and 1, got {self.restart!r}"
            )


@dataclass
class StepSearch:
    """A step size that shrinks until ``size |F(p) - F(q)| <= trust |p - q|``; it never grows.

    `size` stands in for 1/L where L is unknown; the test is made on points that the method asks at
    anyway, so it costs no operator values beyond those of steps taken again.
    """

    size: float
    trust: float
    shrink: float = 0.7
    _at: Vector | None = None
    _value: Vector = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        self._least = self.size * 1e-14

    def remember(self, at: Vector, value: Vector) -> None:
        """Keep the pair that the next value is compared with."""
        if self._at is None:
            self._at, self._value = at.copy(), value.copy()
        else:
            dcopy(at, self._at)
            dcopy(value, self._value)

    def refuses(self, at: Vector, value: Vector) -> bool:
        """Whether the step was too long; then `size` has shrunk and the step is to be retaken."""
        assert self._at is not None
        with np.errstate(over="ignore", invalid="ignore"):
            moved = float(np.linalg.norm(at - self._at))
            changed = float(np.linalg.norm(value - self._value))
            kept = self.size * changed <= self.trust * moved
        if kept or moved == 0 or self.size < self._least:
            return False
        self.size *= self.shrink
        return True


@dataclass
class Loop:
    """One run: the method's generator, where it asks next, and what it takes to begin again.

    `x` is the vector that the method overwrites; `first` the iteration of the weights in which the
    present generator began.
    """

    ask: Asked
    method: Method
    queries: int
    weights: Weights
    anchor: Vector
    x: Vector
    search: StepSearch | None = None

    def __post_init__(self) -> None:
        self.start, self.saved = self.x.copy(), self.x.copy()
        self.began = 0
        self.begin(self.x, 0)

    def begin(self, x: Vector, first: int) -> None:
        """A fresh generator at a copy of `x`, in the iteration `first` of the weights."""
        weights = self.weights
        self.x = x.copy()
        shifted = weights if first == 0 else lambda k: weights(k + first)
        self.run: Asking = self.method(self.x, self.anchor, shifted)
        self.at = next(self.run)

    def anew(self, k: int) -> None:
        """Restart: the point asked last is the new anchor, and the weights begin at their first."""
        self.anchor, self.began = self.at.copy(), k
        self.begin(self.anchor, 0)

    def refuses(self, value: Vector, k: int) -> bool:
        """Whether the step to the first question of iteration k was too long; then it is undone.

        Methods with more questions are judged within their iteration, where both points belong to
        one step.
        """
        assert self.search is not None
        judged = self.queries == 1 and k > self.began
        if judged and self.search.refuses(self.at, value):
            self.begin(self.saved, k - 1 - self.began)
            return True
        self.search.remember(self.at, value)
        return False

    def advance(self, value: Vector, k: int) -> bool:
        """Iteration k, given the value at its first question; False if it was undone."""
        search = self.search
        if search is not None:
            dcopy(self.x, self.saved)
        at = self.run.send(value)
        for _ in range(self.queries - 1):
            value = self.ask(at)
            if search is not None and search.refuses(at, value):
                self.begin(self.saved, k - self.began)
                return False
            at = self.run.send(value)
        self.at = at
        return True


def iterate(loop: Loop, rules: Rules, layout: Layout, *, is_map: bool = False) -> OptimizeResult:
    """Run a method until its residual is within the tolerance.

    The residual is measured where the method asks first in each iteration, so it costs nothing;
    the point returned is the one measured last.

    Raises
    ------
    ValueError
        If the operator's value at the start isn't finite, or has another layout than x0.
    """
    told = _Callback(rules.callback, layout)
    tol, maxiter, restart = rules.tol, rules.maxiter, rules.restart
    ask, gap, searching = loop.ask, np.empty_like(loop.x), loop.search is not None
    residuals: list[float] = []
    k = restarts = 0
    mark = limit = math.inf
    while True:
        value = ask(loop.at)
        if searching and loop.refuses(value, k):
            k -= 1
            continue
        residual = _norm(loop.at, value, gap) if is_map else math.sqrt(ddot(value, value))
        if len(residuals) > k:
            del residuals[k:]
        residuals.append(residual)
        if k == 0:
            _check_start(residual)
            mark, limit = residual, _DIVERGED * residual
        if not tol < residual <= limit or k >= maxiter:
            status = 0 if residual <= tol else 1 if residual <= limit else 3
            break
        if told.active and told.stop(loop.at, value, residual, k):
            status = 2
            break
        if restart is not None and k > loop.began and residual <= restart * mark:
            mark, restarts = residual, restarts + 1
            loop.anew(k)
        if loop.advance(value, k):
            k += 1
    return OptimizeResult(
        x=layout.shaped(loop.at.copy()),
        fun=layout.shaped(np.array(value)),
        residual=residual,
        residuals=np.array(residuals),
        nit=k,
        nfev=loop.ask.calls,
        restarts=restarts,
        displacement=float(np.linalg.norm(loop.at - loop.start)),
        status=status,
        success=status == 0,
        message=_message(status, residual, loop, rules, is_map),
    )


def _message(status: int, residual: float, loop: Loop, rules: Rules, is_map: bool) -> str:
    """Why the run ended, and what would help."""
    line = _MESSAGES[status]
    if status == 1 and rules.restart is None and loop.weights(0)[1] > 0:
        return f'{line}, and often restart="adaptive"'
    if status == 3 and is_map:
        if not math.isfinite(residual):
            return "the residual diverged: T's value is no longer finite"
        return "the residual diverged: T is not nonexpansive, distances grow"
    return line


def _norm(at: Vector, value: Vector, gap: Vector) -> float:
    """|x - T(x)|, in a vector kept for it."""
    dcopy(at, gap)
    daxpy(value, gap, a=-1.0)
    return math.sqrt(ddot(gap, gap))


def _check_start(residual: float) -> None:
    if not math.isfinite(residual):
        raise ValueError(f"the operator's value at x0 is not finite (its norm is {residual})")


class _Callback:
    """Calls a callback as SciPy does: by `intermediate_result` if it says so, else with x."""

    def __init__(self, callback: Callable[..., Any] | None, layout: Layout) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be callable, got {type(callback).__name__}")
        self._callback = callback
        self._layout = layout
        self.active = callback is not None
        self._named = callback is not None and _takes_result(callback)

    def stop(self, at: Vector, value: Vector, residual: float, nit: int) -> bool:
        """Tell the callback; whether it raised StopIteration."""
        assert self._callback is not None
        x = self._layout.shaped(at.copy())
        try:
            if self._named:
                fun = self._layout.shaped(np.array(value))
                self._callback(
                    intermediate_result=OptimizeResult(x=x, fun=fun, residual=residual, nit=nit)
                )
            else:
                self._callback(x)
        except StopIteration:
            return True
        return False


def _takes_result(callback: Callable[..., Any]) -> bool:
    try:
        return set(inspect.signature(callback).parameters) == {"intermediate_result"}
    except (TypeError, ValueError):
        return False
