"""Primal-dual hybrid gradient as a map T, and the iterations that are run on it.

The map is the same for all, and an iteration is what it does with T(z). Anchoring regularises the
map and leaves the iteration as it is, so that Picard's iteration becomes Halpern's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dscal

from probatum.optimize.anchoring import BASES, tikhonov
from probatum.optimize.linear_program.scaling import Scaled, spectral_norm

__all__ = ["SCHEMES", "Averaged", "Iterated", "PrimalDualMap", "Relaxed", "Restart", "Scheme"]

Array = NDArray[np.float64]
# Share of the largest stable step, as the spectral norm is known to a thousandth.
STEP = 0.998

try:  # adds the product into a given vector, without building one: half the cost for small ones
    from scipy.sparse._sparsetools import csr_matvec as _csr_matvec
except ImportError:  # pragma: no cover - a SciPy that keeps it elsewhere
    _csr_matvec = None


def adding_product(A: Any) -> Callable[[Array, Array], Any]:
    """A function of x and out that adds ``A @ x`` to ``out``."""
    if _csr_matvec is None:  # pragma: no cover

        def add(x: Array, out: Array) -> None:
            out += A @ x

        return add
    return partial(_csr_matvec, *A.shape, A.indptr, A.indices, A.data)


class PrimalDualMap:
    """One step of primal-dual hybrid gradient on ``z = (x, y)``.

    With multipliers ``y`` such that ``c - A.T @ y`` are reduced costs, a step is

        x+ = clip(x - tau (c - A.T y), lower, upper)
        v  = sigma A (2 x+ - x) - y
        y+ = clip(v, sigma row_lower, sigma row_upper) - v

    with ``tau = step / weight`` and ``sigma = step * weight``. Iterates are kept in units in which
    both are 1 (x times the root of weight/step, y over the root of weight * step), so that the map
    is nonexpansive in the norm ``|x|^2 + |y|^2 + 2 y @ B @ x``, ``B = step * A``, and the step
    needs no multiplications. Chambolle and Pock (2011).
    """

    def __init__(self, scaled: Scaled, weight: float) -> None:
        self.scaled = scaled
        m, n = scaled.A.shape
        self.m, self.n = m, n
        norm = spectral_norm(scaled.A)
        self.step = STEP / norm if norm > 0 else 1.0
        self.B = scaled.A * self.step
        self._add_B = adding_product(self.B)
        self._add_Bt = adding_product(self.B.T.tocsr())
        self._x, self._v = np.empty(n), np.empty(m)
        self.set_weight(weight)

    def set_weight(self, weight: float) -> None:
        """Change the primal weight; iterates must be taken out of their units before."""
        self.weight = weight
        self.x_unit, self.y_unit = math.sqrt(self.step / weight), math.sqrt(self.step * weight)
        s = self.scaled
        self.c = s.c * self.x_unit
        self.lower, self.upper = s.lower / self.x_unit, s.upper / self.x_unit
        self.row_lower, self.row_upper = s.row_lower * self.y_unit, s.row_upper * self.y_unit

    def __call__(self, z: Array, out: Array) -> None:
        """Write T(z) to `out`, which must not be z."""
        n = self.n
        x, y, x_new, y_new = z[:n], z[n:], out[:n], out[n:]
        np.subtract(x, self.c, out=x_new)
        self._add_Bt(y, x_new)
        np.maximum(x_new, self.lower, out=x_new)
        np.minimum(x_new, self.upper, out=x_new)
        ahead, v = self._x, self._v
        np.multiply(x_new, 2.0, out=ahead)
        np.subtract(ahead, x, out=ahead)
        np.negative(y, out=v)
        self._add_B(ahead, v)
        np.maximum(v, self.row_lower, out=y_new)
        np.minimum(y_new, self.row_upper, out=y_new)
        np.subtract(y_new, v, out=y_new)

    def norm(self, z: Array) -> float:
        """Length of a difference of iterates, in the norm in which T is nonexpansive."""
        x, y = z[: self.n], z[self.n :]
        return math.sqrt(max(float(z @ z) + 2.0 * float(y @ (self.B @ x)), 0.0))

    def enter(self, x: Array, y: Array) -> Array:
        """Iterate from scaled x (n,) and y (m,); shape (n + m,)."""
        return np.concatenate([x / self.x_unit, y / self.y_unit])

    def leave(self, z: Array) -> tuple[Array, Array]:
        """Scaled x and y of an iterate."""
        return z[: self.n] * self.x_unit, z[self.n :] * self.y_unit


class Scheme(Protocol):
    """An iteration of the map: what becomes of z when T(z) is known."""

    anchor: Array

    def begin(self, z: Array) -> None:
        """Start, or start anew, from z."""

    def advance(self, z: Array, t: Array) -> None:
        """Put the next iterate into z; `t` is T(z) and may be overwritten."""

    def judged(self, T: PrimalDualMap, z: Array, t: Array) -> tuple[Array, float]:
        """The point to be judged before `advance`, given T(z), and its fixed-point residual."""


class Iterated:
    """Picard's iteration of the regularised map ``T_k(z) = (1 - delta_k) T(z) + delta_k z_0``.

    It is `probatum.optimize.tikhonov` of the base method: the base is handed values of T_k and
    knows of no anchor. Without a weight on the anchor that is the plain iteration, with
    ``delta_k = 1 / (k + 2)`` Halpern's.

    Parameters
    ----------
    anchored : bool
    reflect : bool
        Regularise ``2 T - 1`` instead of T, which is nonexpansive as well and goes twice as far
        (Lu and Yang, 2024).
    """

    def __init__(self, anchored: bool, reflect: bool = False) -> None:
        self.weights = halpern_weights if anchored else plain_weights
        self.reflect = reflect

    def begin(self, z: Array) -> None:
        self.anchor = z.copy()
        # The base method overwrites z with each next iterate.
        method = tikhonov(BASES["picard"])(z, self.anchor, self.weights)
        next(method)
        self._answer = method.send

    def advance(self, z: Array, t: Array) -> None:
        if self.reflect:
            dscal(2.0, t)
            daxpy(z, t, a=-1.0)
        self._answer(t)

    def judged(self, T: PrimalDualMap, z: Array, t: Array) -> tuple[Array, float]:
        return t, T.norm(z - t)


def halpern_weights(k: int) -> tuple[float, float]:
    """Weights of T(z) and of the anchor in step k of Halpern's iteration."""
    delta = 1.0 / (k + 2)
    return 1.0 - delta, delta


def plain_weights(k: int) -> tuple[float, float]:
    """No anchor."""
    return 1.0, 0.0


class Relaxed:
    """``z <- (z + T(z)) / 2``, Krasnoselskii's and Mann's iteration."""

    def begin(self, z: Array) -> None:
        self.anchor = z.copy()

    def advance(self, z: Array, t: Array) -> None:
        dscal(0.5, z)
        daxpy(t, z, a=0.5)

    def judged(self, T: PrimalDualMap, z: Array, t: Array) -> tuple[Array, float]:
        return t, T.norm(z - t)


class Averaged:
    """``z <- T(z)``, judged by its average since the last restart or by its last point.

    Whichever has the smaller fixed-point residual: the scheme of PDLP (Applegate et al., 2021).
    """

    def begin(self, z: Array) -> None:
        self.anchor = z.copy()
        self.sum = np.zeros_like(z)
        self.k = 0

    def advance(self, z: Array, t: Array) -> None:
        daxpy(t, self.sum)
        self.k += 1
        np.copyto(z, t)

    def judged(self, T: PrimalDualMap, z: Array, t: Array) -> tuple[Array, float]:
        average: Array = (self.sum + t) / (self.k + 1)
        image = np.empty_like(average)
        T(average, image)
        of_average, of_last = T.norm(average - image), T.norm(z - t)
        return (average, of_average) if of_average <= of_last else (t, of_last)


SCHEMES: dict[str, Callable[[], Scheme]] = {
    "halpern": lambda: Iterated(anchored=True),
    "reflected": lambda: Iterated(anchored=True, reflect=True),
    "average": Averaged,
    "plain": lambda: Iterated(anchored=False),
    "km": Relaxed,
    "halpern-no-restart": lambda: Iterated(anchored=True),
}


@dataclass(frozen=True)
class Restart:
    """When an anchored or averaged iteration starts anew from the point it has reached.

    It does when the fixed-point residual has fallen to ``sufficient`` of what it was at the last
    restart; or to ``necessary`` of it and has begun to rise; or when the iterations since then are
    ``artificial`` of all. The primal weight then moves by a ``smoothing`` share of the way to the
    ratio of the distances that y and x have gone, but stays within a factor ``reach`` of the first:
    where an iteration is stuck, those distances say nothing and would drive it off for good.
    """

    sufficient: float = 0.2
    necessary: float = 0.8
    artificial: float = 0.36
    smoothing: float = 0.5
    reach: float = 1e4

    def __post_init__(self) -> None:
        if not 0 < self.sufficient <= self.necessary < 1:
            raise ValueError(
                "restarts need 0 < sufficient <= necessary < 1, got "
                f"{self.sufficient} and {self.necessary}"
            )
        if not 0 < self.artificial <= 1 or not 0 <= self.smoothing <= 1:
            raise ValueError(
                "restarts need artificial in (0, 1] and smoothing in [0, 1], got "
                f"{self.artificial} and {self.smoothing}"
            )
        if not self.reach >= 1:
            raise ValueError(f"restarts need a reach of at least 1, got {self.reach}")

    def due(self, now: float, before: float, first: float, since: int, total: int) -> bool:
        """Whether to restart, from residuals now, at the last look and at the last restart."""
        return (
            now <= self.sufficient * first
            or (now <= self.necessary * first and now > before)
            or since >= self.artificial * total
        )

    def weight(self, weight: float, first: float, moved_x: float, moved_y: float) -> float:
        """New primal weight after a stretch in which x and y moved so far, in scaled units."""
        if not (1e-10 < moved_x < 1e10 and 1e-10 < moved_y < 1e10):
            return weight
        ratio = math.log(moved_y / moved_x)
        found = math.exp(self.smoothing * ratio + (1 - self.smoothing) * math.log(weight))
        return min(max(found, first / self.reach), first * self.reach)
