"""Anchoring as one construction: regularise the operator, run the base method unchanged.

A base method asks for values of an operator and never learns which operator answers. Answered with
``eta F`` it is the plain method; answered with ``eta F + delta_k (. - anchor)``, a vanishing
Tikhonov term, it is the anchored one. There is no third loop: `tikhonov` makes the second out of
the first.

Methods are generators: they yield the points at which they ask and are sent the values. A value
that is sent is valid until the next one is sent, and the point ``x`` that a method starts from is
its own to overwrite. Vectors are one-dimensional, contiguous and of type float64, so that BLAS can
work in place; a call of BLAS costs less than a third of what a NumPy ufunc costs on short vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import daxpy, dcopy, dscal

__all__ = [
    "BASES",
    "Base",
    "Method",
    "extragradient",
    "forward_step",
    "picard",
    "popov",
    "regularize",
    "regularize_map",
    "tikhonov",
]

Vector: TypeAlias = NDArray[np.float64]
Asking: TypeAlias = Generator[Vector, Vector, None]
"""Yields points, is sent the operator's values at them."""
Weights: TypeAlias = Callable[[int], tuple[float, float]]
"""Weights (eta, delta) of operator and anchor in iteration k = 0, 1, ..."""


class Method(Protocol):
    """A method that asks for raw values of the operator: plain, anchored or neither."""

    def __call__(self, x: Vector, anchor: Vector, weights: Weights) -> Asking: ...


@dataclass(frozen=True)
class Base:
    """A base method, which takes the operator as it comes.

    Attributes
    ----------
    start : callable
        Makes the generator that asks, from a starting point.
    queries : int
        Operator values that one iteration needs.
    kind : {"map", "equation"}
        Whether it looks for x = T(x) or for F(x) = 0.
    """

    start: Callable[[Vector], Asking]
    queries: int
    kind: Literal["map", "equation"]


# --- base methods: each is written once, here -----------------------------------------------------


def picard(x: Vector) -> Asking:
    """Fixed-point iteration, ``x <- T(x)``."""
    while True:
        dcopy((yield x), x)


def forward_step(x: Vector) -> Asking:
    """Forward step, ``x <- x - G(x)``."""
    while True:
        daxpy((yield x), x, a=-1.0)


def extragradient(x: Vector) -> Asking:
    """Extragradient (Korpelevich, 1976): ``y = x - G(x)``, ``x <- x - G(y)``."""
    y = np.empty_like(x)
    while True:
        value = yield x
        dcopy(x, y)
        daxpy(value, y, a=-1.0)
        daxpy((yield y), x, a=-1.0)


def popov(x: Vector) -> Asking:
    """Popov's method (1980): ``y = x - (last value)``, ``x <- x - G(y)``; one value a step."""
    y, value = np.empty_like(x), np.zeros_like(x)
    while True:
        dcopy(x, y)
        daxpy(value, y, a=-1.0)
        value = yield y
        daxpy(value, x, a=-1.0)


BASES: dict[str, Base] = {
    "picard": Base(picard, 1, "map"),
    "forward": Base(forward_step, 1, "equation"),
    "extragradient": Base(extragradient, 2, "equation"),
    "popov": Base(popov, 1, "equation"),
}


# --- the construction -----------------------------------------------------------------------------


def _equation(
    value: Vector, at: Vector, anchor: Vector, eta: float, delta: float, out: Vector
) -> Vector:
    """``eta F(x) + delta (x - anchor)``, from the value F(x) at x."""
    dcopy(value, out)
    dscal(eta, out)
    if delta:
        daxpy(at, out, a=delta)
        daxpy(anchor, out, a=-delta)
    return out


def _map(
    value: Vector, at: Vector, anchor: Vector, eta: float, delta: float, out: Vector
) -> Vector:
    """``eta T(x) + delta anchor``, from the value T(x); eta = 1 - delta."""
    dcopy(value, out)
    if delta:
        dscal(eta, out)
        daxpy(anchor, out, a=delta)
    return out


def tikhonov(base: Base) -> Method:
    """The anchored form of a base method: its queries answered by the regularised operator.

    Parameters
    ----------
    base : Base
        Its iterations are left as they are.

    Returns
    -------
    Method
        Called with a starting point (overwritten), the anchor and the weights, it is a generator
        that asks for raw values F(x) or T(x). With delta = 0 it is the plain method.

    Examples
    --------
    One step of the anchored fixed-point iteration for T(x) = -x, from 1 with anchor 1:

    >>> import numpy as np
    >>> from probatum.optimize import BASES
    >>> x = np.array([1.0])
    >>> halpern = tikhonov(BASES["picard"])(x, x.copy(), lambda k: (1 - 1 / (k + 2), 1 / (k + 2)))
    >>> point = next(halpern)
    >>> float(halpern.send(-point)[0])
    0.0
    """
    regularised = _map if base.kind == "map" else _equation
    queries = range(base.queries)

    def anchored(x: Vector, anchor: Vector, weights: Weights) -> Asking:
        run = base.start(x)
        at = next(run)
        answer = run.send
        out = np.empty_like(x)
        for k in count():
            eta, delta = weights(k)
            for _ in queries:
                at = answer(regularised((yield at), at, anchor, eta, delta, out))

    return anchored


def regularize(
    op: Callable[[Any], ArrayLike], anchor: ArrayLike, eta: float, delta: float
) -> Callable[[ArrayLike], NDArray[np.float64]]:
    """The regularised operator ``x -> eta F(x) + delta (x - anchor)``.

    Parameters
    ----------
    op : callable
        F; takes and returns an array of the anchor's shape.
    anchor : array-like
        The point towards which the Tikhonov term pulls.
    eta : float
        Step size, positive.
    delta : float
        Weight of the anchor, not negative.

    Returns
    -------
    callable

    Examples
    --------
    >>> import numpy as np
    >>> regularize(np.negative, [0.0, 2.0], 0.5, 0.25)([4.0, 4.0])
    array([-1. , -1.5])
    """
    _check_weights(eta, delta)
    home = np.asarray(anchor, dtype=float)

    def regularised(x: ArrayLike) -> NDArray[np.float64]:
        at = np.asarray(x, dtype=float)
        value = np.asarray(op(at), dtype=float)
        _check_shape(value, home)
        return np.asarray(eta * value + delta * (at - home))

    return regularised


def regularize_map(
    op: Callable[[Any], ArrayLike], anchor: ArrayLike, delta: float
) -> Callable[[ArrayLike], NDArray[np.float64]]:
    """The regularised map ``x -> (1 - delta) T(x) + delta anchor``.

    It is the same construction as `regularize`: the residual x - T_k(x) of this map is
    ``(1 - delta) (x - T(x)) + delta (x - anchor)``.

    Parameters
    ----------
    op : callable
        T; takes and returns an array of the anchor's shape.
    anchor : array-like
    delta : float
        Weight of the anchor, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> regularize_map(np.negative, [2.0], 0.25)([4.0])
    array([-2.5])
    """
    if not 0 <= delta <= 1:
        raise ValueError(f"delta must lie in [0, 1], got {delta!r}")
    home = np.asarray(anchor, dtype=float)

    def regularised(x: ArrayLike) -> NDArray[np.float64]:
        value = np.asarray(op(np.asarray(x, dtype=float)), dtype=float)
        _check_shape(value, home)
        return np.asarray((1 - delta) * value + delta * home)

    return regularised


def _check_weights(eta: float, delta: float) -> None:
    if not (eta > 0 and math.isfinite(eta)):
        raise ValueError(f"eta must be positive and finite, got {eta!r}")
    if not (delta >= 0 and math.isfinite(delta)):
        raise ValueError(f"delta must be finite and not negative, got {delta!r}")


def _check_shape(value: NDArray[np.float64], anchor: NDArray[np.float64]) -> None:
    if value.shape != anchor.shape:
        raise ValueError(
            f"the operator returned shape {value.shape}, the anchor has {anchor.shape}"
        )
