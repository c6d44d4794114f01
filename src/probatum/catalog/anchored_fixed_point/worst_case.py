"""Performance estimation: the worst that any monotone 1-Lipschitz operator can do to a method.

The worst |F(x_N)| over all operators and all starts at distance 1 from a zero is bounded from above
by a semidefinite program over the Gram matrix of points and values. The program knows a method
only by the coefficients that `queries` recorded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.catalog.anchored_fixed_point.queries import START, VALUES, Asks
from probatum.evidence import Block, Row

Vector = NDArray[np.float64]


def operators() -> str:
    """The "data" of trials that hold for every operator: its name, for there is none to load."""
    return "all monotone 1-Lipschitz operators"


def worst_cases(block: Block) -> list[Row]:
    """Upper bound on |F(x_N)| at x_N, for each N."""
    arm: Asks = block.arms[0].build()
    rows = []
    for N in block.size["N"]:
        norm = worst_norm(arm.questions(int(N)))
        values = {"norm": norm, "scaled": int(N) * norm}
        rows.append(Row(block.arms[0].id, x=float(N), values=values))
    return rows


def worst_norm(questions: Vector) -> float:
    """Upper bound on the norm of F at the last question, for |x0 - x*| <= 1 and L = 1.

    Uses the inequalities of monotone Lipschitz operators between all pairs of points. They are
    necessary but not sufficient for such an operator to exist, so the bound may be loose.

    Parameters
    ----------
    questions : ndarray of shape (questions, columns)
        What an arm's `questions` gives.

    Examples
    --------
    Two steps of the fast extragradient, whose bound is 2 / N:

    >>> from probatum.catalog.anchored_fixed_point.queries import OursAsks
    >>> round(worst_norm(OursAsks("feg").questions(2)), 4)
    1.0
    """
    # Unknown are the inner products of x0 - x* and of the values; x* is the origin.
    count = len(questions)
    points = np.zeros((count + 1, count + 1))
    points[:count, 0] = questions[:, START]
    points[:count, 1:] = questions[:, VALUES:]
    values = np.zeros((count + 1, count + 1))
    values[np.arange(count), 1 + np.arange(count)] = 1.0
    one, two = np.triu_indices(count + 1, 1)
    apart, changed = points[one] - points[two], values[one] - values[two]
    start, last = np.eye(count + 1)[[0, count]]
    rows = np.vstack(
        [
            -_products(apart, changed),
            _products(changed, changed) - _products(apart, apart),
            _products(start[None], start[None]),
        ]
    )
    limits = np.zeros(len(rows))
    limits[-1] = 1.0
    return math.sqrt(max(_maximum(_products(last[None], last[None])[0], rows, limits), 0.0))


def _products(one: Vector, two: Vector) -> Vector:
    """Coefficients of the products <one, two> in the upper triangle of the Gram matrix.

    Entries off the diagonal are stored times sqrt(2), as the solver wants it.
    """
    column, row = np.tril_indices(one.shape[1])
    both = (one[:, row] * two[:, column] + one[:, column] * two[:, row]) / 2
    return np.asarray(both * np.where(row == column, 1.0, math.sqrt(2)))


def _maximum(gain: Vector, rows: Vector, limits: Vector) -> float:
    """Bound from above on ``gain . g`` over Gram matrices g with ``rows @ g <= limits``."""
    clarabel = _clarabel()
    from scipy import sparse

    size = gain.size
    # size = n (n + 1) / 2
    cones = [
        clarabel.NonnegativeConeT(len(limits)),
        clarabel.PSDTriangleConeT((math.isqrt(8 * size + 1) - 1) // 2),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((size, size)),
        -gain,
        sparse.vstack([sparse.csc_matrix(rows), -sparse.eye(size)], format="csc"),
        np.concatenate([limits, np.zeros(size)]),
        cones,
        settings,
    ).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise RuntimeError(f"the semidefinite program was not solved: {solution.status}")
    # The dual's value bounds the maximum from above, whatever the gap that is left.
    return -float(solution.obj_val_dual)


def _clarabel() -> Any:
    try:
        import clarabel  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        missing = ImportError("needs clarabel: pip install 'probatum[optimize]'")
        missing.remedy = "pip install 'probatum[optimize]'"  # type: ignore[attr-defined]
        raise missing from error
    return clarabel
