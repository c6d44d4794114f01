"""A linear program with two-sided rows and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

__all__ = ["LinearProgram"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Minimise or maximise ``c @ x + offset`` with rows and variables between two sides each.

    ``row_lower <= A @ x <= row_upper`` and ``lower <= x <= upper``; infinite sides are none, equal
    ones an equation or a fixed variable. A lower side above its upper side is allowed: it makes
    the program infeasible.

    Parameters
    ----------
    c : array_like of shape (n,)
    A : array or sparse matrix of shape (m, n)
        Kept as a CSR array.
    row_lower, row_upper : array_like of shape (m,)
    lower, upper : array_like of shape (n,)
    sense : {"min", "max"}
    offset : float
        Constant part of the objective.
    row_names, column_names : sequence of str, optional
        By default ``R1, R2, ...`` and ``C1, C2, ...``.

    Raises
    ------
    ValueError
        For shapes that do not fit, NaN anywhere, infinite costs or coefficients, and sides such
        as a lower bound of ``+inf`` that no number can satisfy.

    Examples
    --------
    >>> lp = LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0], [np.inf], [0.0, 0.0], [np.inf, np.inf])
    >>> lp.shape, lp.column_names
    ((1, 2), ('C1', 'C2'))
    """

    c: Array
    A: Any
    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array
    sense: Literal["min", "max"] = "min"
    offset: float = 0.0
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sense not in ("min", "max"):
            raise ValueError(f"sense must be 'min' or 'max', got {self.sense!r}")
        if not np.isfinite(self.offset):
            raise ValueError(f"offset must be finite, got {self.offset}")
        c = _vector("c", self.c)
        A = _matrix("A", self.A, c.size)
        m, n = A.shape
        if n != c.size:
            raise ValueError(f"A has {n} columns, but c has {c.size} entries")
        _all_finite("c", c)
        _all_finite("A", A.data)
        fields: dict[str, Any] = {"c": c, "A": A, "offset": float(self.offset)}
        for name, size in (("row_lower", m), ("row_upper", m), ("lower", n), ("upper", n)):
            side = _vector(name, getattr(self, name), size)
            never = np.inf if name.endswith("lower") else -np.inf
            for at in np.flatnonzero(np.isnan(side) | (side == never))[:1]:
                raise ValueError(f"{name}[{at}] must be a number below +inf or above -inf, "
                                 f"got {side[at]}")  # fmt: skip
            fields[name] = side
        for name, size, letter in (("row_names", m, "R"), ("column_names", n, "C")):
            names = tuple(getattr(self, name)) or tuple(f"{letter}{i + 1}" for i in range(size))
            if len(names) != size:
                raise ValueError(f"{name} must be {size} names, got {len(names)}")
            fields[name] = names
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of variables."""
        m, n = self.A.shape
        return int(m), int(n)

    @classmethod
    def from_scipy(
        cls,
        c: ArrayLike,
        A_ub: Any = None,
        b_ub: ArrayLike | None = None,
        A_eq: Any = None,
        b_eq: ArrayLike | None = None,
        bounds: Any = (0, None),
    ) -> LinearProgram:
        """The program that `scipy.optimize.linprog` takes: inequalities first, then equations.

        Parameters
        ----------
        c : array_like of shape (n,)
        A_ub, A_eq : array or sparse matrix, optional
        b_ub, b_eq : array_like, optional
        bounds : pair or sequence of n pairs
            None stands for no bound; ``(0, None)`` by default, as in SciPy.

        Examples
        --------
        >>> lp = LinearProgram.from_scipy([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=(0, 3))
        >>> lp.row_upper, lp.upper
        (array([4.]), array([3., 3.]))
        """
        cost = _vector("c", c)
        n = cost.size
        blocks, lows, highs = [], [], []
        for name, matrix, side in (("ub", A_ub, b_ub), ("eq", A_eq, b_eq)):
            if (matrix is None) != (side is None):
                raise ValueError(f"A_{name} and b_{name} come together")
            if matrix is None or side is None:
                continue
            block = _matrix(f"A_{name}", matrix, n)
            b = _vector(f"b_{name}", side, block.shape[0])
            blocks.append(block)
            lows.append(b if name == "eq" else np.full(b.size, -np.inf))
            highs.append(b)
        A = sparse.vstack(blocks, format="csr") if blocks else sparse.csr_array((0, n))
        lower, upper = _bounds(bounds, n)
        empty = np.empty(0)
        return cls(
            cost, A, np.concatenate([empty, *lows]), np.concatenate([empty, *highs]), lower, upper
        )

    def minimisation(self) -> LinearProgram:
        """The same program with the sign of the objective turned so that it is minimised."""
        if self.sense == "min":
            return self
        return replace(self, c=-self.c, offset=-self.offset, sense="min")

    def objective(self, x: ArrayLike) -> float:
        """Value of the objective, with its constant part, in the program's own sense."""
        return float(self.c @ np.asarray(x, dtype=float)) + self.offset

    def __repr__(self) -> str:
        m, n = self.shape
        return f"LinearProgram({self.sense}, {m} rows, {n} variables, {self.A.nnz} coefficients)"


def _vector(name: str, value: ArrayLike, size: int | None = None) -> Array:
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a vector of numbers, got {value!r:.80}") from None
    if vector.ndim != 1 or (size is not None and vector.size != size):
        wanted = "a vector" if size is None else f"a vector of {size} numbers"
        raise ValueError(f"{name} must be {wanted}, got shape {vector.shape}")
    return vector


def _matrix(name: str, value: Any, columns: int) -> Any:
    if not sparse.issparse(value):
        try:
            value = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be a matrix of numbers, got {value!r:.80}") from None
        if value.size == 0 and value.ndim < 2:
            value = value.reshape(0, columns)
        if value.ndim != 2:
            raise ValueError(f"{name} must be a matrix, got {value.ndim} dimensions")
    matrix = sparse.csr_array(value, dtype=float, copy=True)
    if matrix.shape[1] != columns:
        raise ValueError(f"{name} has {matrix.shape[1]} columns, but c has {columns} entries")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _all_finite(name: str, values: Array) -> None:
    for at in np.flatnonzero(~np.isfinite(values))[:1]:
        raise ValueError(f"{name} must hold finite numbers, got {values[at]}")


def _bounds(bounds: Any, n: int) -> tuple[Array, Array]:
    if bounds is None:
        bounds = (0, None)
    pairs: Sequence[Any] = list(bounds)
    if len(pairs) == 2 and all(side is None or np.isscalar(side) for side in pairs):
        pairs = [tuple(pairs)] * n
    if len(pairs) != n or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"bounds must be one pair or {n} pairs (lower, upper)")
    lower = [-np.inf if low is None else low for low, _ in pairs]
    upper = [np.inf if high is None else high for _, high in pairs]
    return _vector("bounds", lower), _vector("bounds", upper)
