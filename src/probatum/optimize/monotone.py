"""Zeros of monotone operators: base methods, their anchored forms, and two known relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dcopy, dscal
from scipy.optimize import OptimizeResult

from probatum.optimize.anchoring import BASES, Asking, Method, Weights, tikhonov
from probatum.optimize.fixed_point import restart_share
from probatum.optimize.iteration import Loop, Rules, StepSearch, iterate, positive
from probatum.optimize.points import Asked, Layout

__all__ = ["METHODS", "MonotoneMethod", "monotone_root", "schedule_of"]

Vector = NDArray[np.float64]
Name = Literal["reg", "rpeg", "rfs", "eg", "popov", "forward", "eag", "feg"]

# Of the regularised forward step: eta_k = sqrt(THETA delta_k) / L.
THETA = 0.5


def extra_anchored(x: Vector, anchor: Vector, weights: Weights) -> Asking:
    """EAG (Yoon and Ryu, 2021): both lines are pulled from x_k, not from where they ask.

    ``y = x + d (anchor - x) - eta F(x)``, ``x <- x + d (anchor - x) - eta F(y)``.
    """
    return _pulled(x, anchor, weights, fast=False)


def fast_extra_anchored(x: Vector, anchor: Vector, weights: Weights) -> Asking:
    """FEG (Lee and Kim, 2021), for monotone operators: EAG with (1 - d) eta in its first line."""
    return _pulled(x, anchor, weights, fast=True)


def _pulled(x: Vector, anchor: Vector, weights: Weights, *, fast: bool) -> Asking:
    y = np.empty_like(x)
    for k in count():
        eta, delta = weights(k)
        value = yield x
        dscal(1 - delta, x)
        daxpy(anchor, x, a=delta)
        dcopy(x, y)
        daxpy(value, y, a=-eta * (1 - delta) if fast else -eta)
        daxpy((yield y), x, a=-eta)


@dataclass(frozen=True)
class MonotoneMethod:
    """A method and its default schedule.

    Attributes
    ----------
    run : Method
    queries : int
        Operator values in one iteration.
    share : float
        Default step size, as a share of 1/L.
    trust : float
        Bound on ``eta |F(p) - F(q)| / |p - q|`` in the search for a step size where L is unknown.
    c, k0 : float
        Weight of the anchor, ``c / (k + k0)``; c = 0 for a plain method.
    vanishing : bool
        Whether the step size falls with the anchor's weight, as the forward step needs.
    """

    run: Method
    queries: int
    share: float
    trust: float
    c: float = 0.0
    k0: float = 2.0
    vanishing: bool = False


_FORWARD = tikhonov(BASES["forward"])
_EXTRAGRADIENT = tikhonov(BASES["extragradient"])
_POPOV = tikhonov(BASES["popov"])

METHODS: dict[str, MonotoneMethod] = {
    # A plain method and its anchored form differ in the weight c and in nothing else.
    "forward": MonotoneMethod(_FORWARD, 1, 0.5, 0.9),
    "rfs": MonotoneMethod(_FORWARD, 1, 1.0, 0.9, c=3.0, k0=6.0, vanishing=True),
    "eg": MonotoneMethod(_EXTRAGRADIENT, 2, 0.5, 0.9),
    "reg": MonotoneMethod(_EXTRAGRADIENT, 2, 0.5, 0.9, c=1.0),
    "popov": MonotoneMethod(_POPOV, 1, 0.3, 0.3),
    "rpeg": MonotoneMethod(_POPOV, 1, 0.3, 0.3, c=1.0),
    "eag": MonotoneMethod(extra_anchored, 2, 0.125, 0.5, c=1.0),
    "feg": MonotoneMethod(fast_extra_anchored, 2, 1.0, 0.9, c=1.0, k0=1.0),
}


def monotone_root(
    F: Callable[[Any], Any],
    x0: Any,
    *,
    method: Name = "reg",
    L: float | None = None,
    eta: float | None = None,
    c: float | None = None,
    k0: float | None = None,
    anchor: Any = None,
    tol: float = 1e-6,
    maxiter: int = 10_000,
    restart: float | Literal["adaptive"] | None = None,
    radius: float | None = None,
    callback: Callable[..., Any] | None = None,
) -> OptimizeResult:
    """Solve F(x) = 0 for a monotone, Lipschitz operator, with a rate for the last iterate.

    Saddle points ``min_u max_v f(u, v)`` are zeros of ``F(u, v) = (df/du, -df/dv)``, which is
    monotone where f is convex in u and concave in v. Plain steps circle around them; the anchored
    forms run the same steps on ``eta F(x) + d_k (x - anchor)``, with d_k = c / (k + k0).

    Parameters
    ----------
    F : callable
        Takes a read-only point like `x0` and returns one. Copy the argument to keep it.
    x0 : array-like, or list, tuple or dict of arrays
        Starting point, real, of any shape.
    method : str, default="reg"
        "reg", regularised extragradient: residual O(1/k), two values of F an iteration;
        "rpeg", regularised Popov: O(1/k), one value; "rfs", regularised forward step: O(1/sqrt k),
        one value. Their bases are "eg", "popov" and "forward" (which diverges on saddle points).
        "eag" and "feg" are two known anchored methods that are not of this form.
    L : float, optional
        Lipschitz constant of F. Without L and eta the step size is searched: it starts at what a
        probe of F beside x0 suggests, shrinks by 0.7 where F varies faster, and never grows.
    eta : float, optional
        Step size, instead of the method's share of 1/L (for "rfs" the factor before sqrt(d_k / 2)).
        Above 1/L methods diverge, Popov's above 1/(2L).
    c, k0 : float, optional
        Weight of the anchor, c / (k + k0); at most 1. Defaults 1 and 2 ("rfs" 3 and 6, "feg" 1
        and 1).
    anchor : like x0, optional
        By default x0.
    tol : float, default=1e-6
        Stop when the Euclidean norm of F is at most this.
    maxiter : int, default=10000
    restart : float or "adaptive", optional
        Begin anew (anchor at the point reached, k = 0) whenever the residual has fallen to this
        share of what it was at the last start; "adaptive" is 1/e. The rates are for no restart.
    radius : float, optional
        Distance of x0 from a zero, if known: then `bound` holds the guarantee for "feg" with L,
        2 L radius / k. For the other methods no sharp constant is known, and `bound` is nan.
    callback : callable, optional
        As in `fixed_point_anchored`.

    Returns
    -------
    OptimizeResult
        As in `fixed_point_anchored`, with residual the norm of fun = F(x), and eta, the step size
        at the end. For "popov" and "rpeg" x is the point at which F was asked, so that its
        residual is known without another value.

    Raises
    ------
    ValueError
        For a value out of its range, an operator that changes the shape or is not finite at x0.
    TypeError
        For an operator that can't be called, or points that hold no real numbers.

    Notes
    -----
    The construction is that of the 2026 paper on anchoring by operator-side Tikhonov
    regularisation (arXiv:2605.30905); schedules and step sizes are ours. For "rfs" the step is
    sqrt(d_k / 2) / L with d_k = 3 / (k + 6): the regularised forward step contracts by
    sqrt((1 - d_k)^2 + eta_k^2 L^2), about 1 - 3 d_k / 4, and its weights change by O(1/k) of
    themselves, which together give |eta_k F + d_k (x - anchor)| = O(1/k) and |F| = O(1/sqrt k).

    Examples
    --------
    >>> import numpy as np
    >>> game = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> found = monotone_root(lambda x: game @ x, [3.0, 4.0], L=1.0, tol=0.01)
    >>> found.success, found.message
    (True, 'the residual is within the tolerance')
    >>> monotone_root(lambda x: game @ x, [3.0, 4.0], L=1.0, method="forward").status
    3
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    chosen = METHODS[method]
    layout = Layout(x0)
    start = layout.flat(x0, "x0")
    home = start.copy() if anchor is None else layout.flat(anchor, "anchor")
    rules = Rules(tol, maxiter, restart_share(restart), callback)
    c, k0 = _schedule(method, c, k0)
    if radius is not None:
        positive("radius", radius)
    ask = Asked(F, layout)
    search = None
    if eta is not None:
        fixed = positive("eta", eta)
    elif L is not None:
        fixed = chosen.share / positive("L", L)
    else:
        search = StepSearch(_probe(ask, start, chosen.trust), chosen.trust)
        fixed = search.size
    weights = schedule_of(chosen, c, k0, search or fixed)
    loop = Loop(ask, chosen.run, chosen.queries, weights, home, start, search)
    found = iterate(loop, rules, layout)
    found.eta = fixed if search is None else search.size
    found.bound = math.nan
    own_schedule = (c, k0, eta) == (1.0, 1.0, None) and anchor is None and found.restarts == 0
    if method == "feg" and own_schedule and radius is not None and L is not None and found.nit:
        found.bound = 2 * float(L) * float(radius) / found.nit
    return found


def _schedule(method: str, c: Any, k0: Any) -> tuple[float, float]:
    """Checked c and k0, the method's own where they are not given."""
    own = METHODS[method]
    if own.c == 0 and not (c is None and k0 is None):
        raise ValueError(f"method {method!r} has no anchor: leave out c and k0")
    k0 = own.k0 if k0 is None else positive("k0", k0)
    c = own.c if c is None else positive("c", c)
    if c > k0:
        raise ValueError(f"the anchor's weight c / (k + k0) must not exceed 1, got c={c}, k0={k0}")
    return c, k0


def schedule_of(chosen: MonotoneMethod, c: float, k0: float, step: float | StepSearch) -> Weights:
    """Weights (eta_k, delta_k) of each iteration, for a step size or a search for one."""

    def weights(k: int) -> tuple[float, float]:
        size = step if isinstance(step, float) else step.size
        delta = c / (k + k0)
        return (math.sqrt(THETA * delta) * size if chosen.vanishing else size), delta

    if isinstance(step, float) and not chosen.vanishing:
        return lambda k: (step, c / (k + k0))
    return weights


def _probe(ask: Asked, start: Vector, trust: float) -> float:
    """First guess of the step size: what F's change along its own value at the start allows."""
    value = ask(start).copy()
    norm = float(np.linalg.norm(value))
    if not (0 < norm < math.inf):
        return 1.0
    length = 1e-4 * max(1.0, float(np.linalg.norm(start)))
    beside = ask(start - (length / norm) * value)
    with np.errstate(over="ignore", invalid="ignore"):
        changed = float(np.linalg.norm(beside - value))
    # Where F does not change here, a step may cross the whole distance from the origin.
    slope = changed / length if 0 < changed < math.inf else norm / max(length * 1e4, norm)
    return trust / slope
