"""Anchored fixed-point iteration: Halpern's method as Picard on a regularised map."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from scipy.optimize import OptimizeResult

from probatum.optimize.anchoring import BASES, Weights, tikhonov
from probatum.optimize.iteration import Loop, Rules, iterate, positive
from probatum.optimize.points import Asked, Layout

__all__ = ["fixed_point_anchored"]

PICARD = BASES["picard"]
HALPERN = tikhonov(PICARD)

# Share of its last value at which the residual starts a new run, for restart="adaptive": 1/e.
ADAPTIVE = math.exp(-1)


def fixed_point_anchored(
    T: Callable[[Any], Any],
    x0: Any,
    *,
    anchor: Any = None,
    schedule: Literal["halpern", "none"] | float | Callable[[int], float] = "halpern",
    tol: float = 1e-6,
    maxiter: int = 10_000,
    restart: float | Literal["adaptive"] | None = None,
    radius: float | None = None,
    callback: Callable[..., Any] | None = None,
) -> OptimizeResult:
    """Find a fixed point of a nonexpansive map, with a guarantee on the last iterate.

    Iterates ``x <- (1 - d_k) T(x) + d_k anchor``, which is the plain fixed-point iteration run on
    a regularised map. With d_k = 1/(k + 2) this is Halpern's iteration, whose residual satisfies
    ``|x_k - T(x_k)| <= 2 |x0 - x*| / (k + 1)`` for every map with ``|T(x) - T(y)| <= |x - y|``
    (Lieder, 2021), also where the plain iteration circles forever.

    Parameters
    ----------
    T : callable
        Takes a read-only point like `x0` and returns one. Copy the argument to keep it.
    x0 : array-like, or list, tuple or dict of arrays
        Starting point, real, of any shape.
    anchor : like x0, optional
        The point to which the iteration is tied; by default x0.
    schedule : {"halpern", "none"}, float or callable, default="halpern"
        Weights d_k: 1/(k + 2); 0, the plain iteration; a constant; or a function of k. Each must
        lie in [0, 1].
    tol : float, default=1e-6
        Stop when the Euclidean norm of x - T(x) is at most this.
    maxiter : int, default=10000
        Limit on iterations; T is called once more than that.
    restart : float or "adaptive", optional
        Begin anew (anchor at the point reached, k = 0) whenever the residual has fallen to this
        share of what it was at the last start; "adaptive" is 1/e. Gives linear convergence where
        the map has an error bound, as in linear programming. The guarantee is for no restart.
    radius : float, optional
        Distance of x0 from a fixed point, if known: then `bound` is the guarantee above.
    callback : callable, optional
        Called after each iteration with the point, or with a keyword `intermediate_result` (an
        `OptimizeResult` with x, fun, residual, nit) if that is its parameter. `StopIteration`
        ends the run.

    Returns
    -------
    OptimizeResult
        With x; fun, the value T(x); residual and residuals, the norm of x - T(x) at the end and in
        each iteration; nit; nfev; restarts; bound (nan where no guarantee is known); displacement,
        the distance from x0; status (0 converged, 1 maxiter, 2 stopped by the callback,
        3 diverged), success and message.

    Raises
    ------
    ValueError
        For a value out of its range, a map that changes the shape, or one not finite at x0.
    TypeError
        For a map that can't be called, or points that hold no real numbers.

    Notes
    -----
    That the anchored iteration is Picard on a regularised map is the construction of the 2026
    paper on anchoring by operator-side Tikhonov regularisation (arXiv:2605.30905).

    Examples
    --------
    A quarter turn has the origin as its only fixed point, and the plain iteration never gets there.

    >>> import numpy as np
    >>> def turn(x):
    ...     return np.array([-x[1], x[0]])
    >>> found = fixed_point_anchored(turn, [3.0, 4.0], tol=0.01, radius=5.0)
    >>> found.success, found.residual <= found.bound
    (True, True)
    >>> fixed_point_anchored(turn, [3.0, 4.0], schedule="none", maxiter=100).residual > 7
    True
    """
    layout = Layout(x0)
    start = layout.flat(x0, "x0")
    home = start.copy() if anchor is None else layout.flat(anchor, "anchor")
    limits = Rules(tol, maxiter, restart_share(restart), callback)
    weights = _weights(schedule)
    if radius is not None:
        positive("radius", radius)
    loop = Loop(Asked(T, layout), HALPERN, PICARD.queries, weights, home, start)
    found = iterate(loop, limits, layout, is_map=True)
    guaranteed = schedule == "halpern" and anchor is None and found.restarts == 0
    known = radius is not None and guaranteed
    found.bound = 2 * float(radius or 0) / (found.nit + 1) if known else math.nan
    return found


def restart_share(restart: float | str | None) -> float | None:
    """The share that a restart rule stands for."""
    if isinstance(restart, str):
        if restart != "adaptive":
            raise ValueError(f"restart must be None, 'adaptive' or a share, got {restart!r}")
        return ADAPTIVE
    return restart


def _weights(schedule: Any) -> Weights:
    if isinstance(schedule, str):
        if schedule == "halpern":
            return lambda k: (1 - 1 / (k + 2), 1 / (k + 2))
        if schedule == "none":
            return lambda k: (1.0, 0.0)
        raise ValueError(
            f"schedule must be 'halpern', 'none', a number or a function, got {schedule!r}"
        )

    def weights(k: int) -> tuple[float, float]:
        delta = float(schedule(k) if callable(schedule) else schedule)
        if not 0 <= delta <= 1:
            raise ValueError(f"the anchor's weight must lie in [0, 1], got {delta!r} at k = {k}")
        return 1 - delta, delta

    weights(0)
    return weights
