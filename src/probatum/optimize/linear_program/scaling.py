"""Scaling of rows and columns, which decides how fast first-order methods go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, svds

from probatum.optimize.linear_program.model import LinearProgram

__all__ = ["Scaled", "scale", "spectral_norm"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scaled:
    """A program in other units: ``x = columns * x_scaled`` and ``y = rows * y_scaled``.

    The matrix is ``rows * A * columns``, costs are ``columns * c``, sides of rows ``rows * side``
    and bounds ``bound / columns``. Both scales are positive.
    """

    A: Any
    c: Array
    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array
    rows: Array
    columns: Array


def scale(lp: LinearProgram, *, ruiz: int = 10, pock_chambolle: bool = True) -> Scaled:
    """Equilibrate by Ruiz's iteration in the max-norm, then by Pock and Chambolle's row sums.

    Parameters
    ----------
    lp : LinearProgram
        To be minimised.
    ruiz : int
        Number of iterations; 0 for none.
    pock_chambolle : bool
        Whether rows and columns are at last divided by the roots of their sums of magnitudes,
        after which the matrix has norm at most 1.

    Notes
    -----
    Ruiz (2001) and Pock and Chambolle (2011), in the order that PDLP (Applegate et al., 2021)
    uses. An empty row or column keeps its scale: dividing by its norm would give NaN.
    """
    A = abs(lp.A).tocsr()
    m, n = A.shape
    row_of = np.repeat(np.arange(m), np.diff(A.indptr))
    size, column_of = A.data, A.indices
    rows, columns = np.ones(m), np.ones(n)
    for step in range(ruiz + pock_chambolle):
        now = rows[row_of] * size * columns[column_of]
        row_norm, column_norm = np.zeros(m), np.zeros(n)
        if step < ruiz:
            np.maximum.at(row_norm, row_of, now)
            np.maximum.at(column_norm, column_of, now)
        else:
            row_norm += np.bincount(row_of, now, m)
            column_norm += np.bincount(column_of, now, n)
        rows /= np.sqrt(np.where(row_norm > 0, row_norm, 1.0))
        columns /= np.sqrt(np.where(column_norm > 0, column_norm, 1.0))
    scaled = lp.A.copy()
    scaled.data = rows[row_of] * lp.A.data * columns[column_of]
    return Scaled(
        scaled,
        columns * lp.c,
        rows * lp.row_lower,
        rows * lp.row_upper,
        lp.lower / columns,
        lp.upper / columns,
        rows,
        columns,
    )


def spectral_norm(A: Any) -> float:
    """Largest singular value of a sparse matrix, never below it by more than a thousandth.

    Examples
    --------
    >>> from scipy import sparse
    >>> round(spectral_norm(sparse.csr_array([[3.0, 0.0], [0.0, 4.0]])), 6)
    4.0
    """
    if A.nnz == 0:
        return 0.0
    if min(A.shape) <= 20 and max(A.shape) <= 2000:
        return float(np.linalg.norm(A.toarray(), 2))
    # No norm exceeds the root of largest row sum times largest column sum.
    size = abs(A)
    most = float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()))
    if min(A.shape) < 3:
        return most
    try:
        start = np.random.default_rng(0).standard_normal(min(A.shape))
        found = svds(A, k=1, tol=1e-4, v0=start, return_singular_vectors=False)
    except ArpackError:
        return most
    return min(most, 1.001 * float(found[0]))
