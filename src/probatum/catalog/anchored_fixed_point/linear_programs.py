"""Trials on linear programs: how many steps each iteration of one map needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from probatum.evidence import Block, Dataset, Row
from probatum.optimize.linear_program import LinearProgram, Restart, read_mps, solve_lp
from probatum.optimize.linear_program.highs import solve_with_highs
from probatum.optimize.linear_program.solve import Method

Array = NDArray[np.float64]
Params: TypeAlias = Mapping[str, Any]
HERE = "probatum.catalog.anchored_fixed_point.linear_programs"


class Counts(NamedTuple):
    """Steps until each tolerance was reached, None where it was not, and the last objective."""

    steps: tuple[int | None, ...]
    objective: float


class Contender(Protocol):
    """What an arm must be: it counts its steps to tolerances on one linear program."""

    def count(
        self, lp: LinearProgram, tolerances: Sequence[float], limit: int, start: Array
    ) -> Counts:
        """Solve from `start` (n,) to each relative tolerance, in at most `limit` steps."""


# --- arms ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """An iteration of the primal-dual map of `solve_lp`; `weights` are updated at restarts."""

    method: Method

    def count(
        self, lp: LinearProgram, tolerances: Sequence[float], limit: int, start: Array
    ) -> Counts:
        steps: list[int | None] = [None] * len(tolerances)

        def note(state: Any) -> None:
            worst = max(state.primal_residual, state.dual_residual, state.gap)
            for at, tolerance in enumerate(tolerances):
                if worst <= tolerance and steps[at] is None:
                    steps[at] = state.nit
            if None not in steps:
                raise StopIteration

        found = solve_lp(
            lp,
            method=self.method,
            tol=min(tolerances),
            maxiter=limit,
            presolve=False,
            restart=Restart(),
            callback=note,
            x0=start,
        )
        return Counts(tuple(steps), float(found.fun))


@dataclass(frozen=True)
class HighsPdlp:
    """A solver of HiGHS of the same family, by its own stopping rule and from its own start."""

    solver: str = "pdlp"

    def count(
        self, lp: LinearProgram, tolerances: Sequence[float], limit: int, start: Array
    ) -> Counts:
        steps, objective = [], float("nan")
        for tolerance in tolerances:
            found = solve_with_highs(
                lp,
                solver=self.solver,  # type: ignore[arg-type]
                tol=tolerance,
                presolve=False,
                maxiter=limit,
            )
            steps.append(found["iterations"] if found["status"] == "optimal" else None)
            objective = found["objective"]
        return Counts(tuple(steps), objective)


# --- programs: objects that draw one ------------------------------------------------------------


class Family(Protocol):
    """Draws linear programs of a kind."""

    def draw(self, rng: np.random.Generator, size: Params) -> tuple[LinearProgram, Array]:
        """A program to be minimised, and where to start (n,)."""


@dataclass(frozen=True)
class QuantileRegression:
    """Linear quantile regression on rows drawn from scikit-learn's diabetes data.

    With residuals split into ``u - v``: minimise ``q sum(u) + (1 - q) sum(v)`` subject to
    ``X w + u - v = y``; the weights w and the intercept are free.
    """

    quantile: float

    def draw(self, rng: np.random.Generator, size: Params) -> tuple[LinearProgram, Array]:
        features, response = _diabetes()
        rows = rng.permutation(response.size)[: size["rows"]]
        X = np.column_stack([np.ones(rows.size), features[rows]])
        eye = sparse.eye_array(rows.size)
        A = sparse.hstack([sparse.csr_array(X), eye, -eye], format="csr")
        free, split = X.shape[1], rows.size
        cost = np.repeat([0.0, self.quantile, 1 - self.quantile], [free, split, split])
        lower = np.where(cost > 0, 0.0, -np.inf)
        upper = np.full(cost.size, np.inf)
        lp = LinearProgram(cost, A, response[rows], response[rows], lower, upper)
        return lp, np.zeros(cost.size)


@dataclass(frozen=True)
class DigitTransport:
    """Optimal transport of the ink of one of scikit-learn's digits to another's.

    Masses are per cent of the ink, costs squared distances of pixels; pixels without ink are left
    out.
    """

    def draw(self, rng: np.random.Generator, size: Params) -> tuple[LinearProgram, Array]:
        images = _digits()
        places, masses = [], []
        for image in images[rng.choice(len(images), 2, replace=False)]:
            places.append(np.argwhere(image > 0).astype(float))
            masses.append(100 * image[image > 0] / image.sum())
        cost = ((places[0][:, None, :] - places[1][None, :, :]) ** 2).sum(axis=2)
        a, b = cost.shape
        leaving = sparse.kron(sparse.eye_array(a), np.ones((1, b)))
        arriving = sparse.kron(np.ones((1, a)), sparse.eye_array(b))
        A, mass = sparse.vstack([leaving, arriving], format="csr"), np.concatenate(masses)
        n = a * b
        lp = LinearProgram(cost.ravel(), A, mass, mass, np.zeros(n), np.full(n, np.inf))
        return lp, np.zeros(n)


@dataclass(frozen=True)
class RandomSparse:
    """Random equations in nonnegative variables, with an optimum of known support."""

    density: float = 0.05

    def draw(self, rng: np.random.Generator, size: Params) -> tuple[LinearProgram, Array]:
        m = size["rows"]
        n = 5 * m // 2
        A = sparse.random_array(
            (m, n), density=self.density, rng=rng, data_sampler=rng.standard_normal, format="csr"
        )
        optimum, slack = rng.standard_normal((2, n))
        x = np.maximum(optimum, 0)
        # Reduced costs are nonnegative and vanish where x does not: x is optimal.
        cost = A.T @ rng.standard_normal(m) + np.where(x > 0, 0.0, np.abs(slack))
        b = A @ x
        return LinearProgram(cost, A, b, b, np.zeros(n), np.full(n, np.inf)), np.zeros(n)


@dataclass(frozen=True)
class FromFile:
    """A reader's own program; what is drawn is the starting point.

    Uniform between -1 and 1 times the root mean square of the finite sides of the rows, in the
    bounds.
    """

    path: str

    def draw(self, rng: np.random.Generator, size: Params) -> tuple[LinearProgram, Array]:
        lp = _file(self.path).minimisation()
        sides = np.concatenate([lp.row_lower, lp.row_upper])
        sides = sides[np.isfinite(sides)]
        reach = float(np.sqrt(np.mean(sides**2))) if sides.any() else 1.0
        start = rng.uniform(-reach, reach, lp.shape[1])
        return lp, np.clip(start, lp.lower, lp.upper)


@lru_cache(maxsize=2)
def _file(path: str) -> LinearProgram:
    return read_mps(path)


@lru_cache(maxsize=1)
def _diabetes() -> tuple[Array, Array]:
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    return data.data, data.target


@lru_cache(maxsize=1)
def _digits() -> Array:
    from sklearn.datasets import load_digits

    images: Array = load_digits().images
    return images


def quantile_regression(quantile: float) -> Family:
    """Loader of a data set."""
    return QuantileRegression(quantile)


def digit_transport() -> Family:
    """Loader of a data set."""
    return DigitTransport()


def random_sparse() -> Family:
    """Loader of a data set."""
    return RandomSparse()


def from_file(path: str) -> Family:
    """Loader of a reader's data set."""
    return FromFile(path)


def file_identity(path: str) -> str:
    """Hash of the content of a reader's file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def own_program(file: Path) -> Dataset:
    """A reader's MPS or LP file as a data set, whose replicates are starting points.

    Raises
    ------
    OSError, ValueError
        If it can't be read, has no optimum, or holds integer variables.
    """
    lp = read_mps(file)
    found = solve_with_highs(lp)
    if found["status"] != "optimal":
        raise ValueError(f"{file} has no optimum to converge to: it is {found['status']}")
    stem = "".join(c if c.isascii() and c.isalnum() else "-" for c in file.name.split(".")[0])
    name = "-".join(part for part in stem.split("-") if part) or "program"
    path = str(file.resolve())
    return Dataset(
        name, f"{HERE}:from_file", "the reader's own", {"path": path}, f"{HERE}:file_identity"
    )


# --- the trial -----------------------------------------------------------------------------------


def iterations(block: Block) -> list[Row]:
    """Steps of one arm to each tolerance on one program, and whether its optimum is one.

    It is not where the objective differs from that of the simplex method by more than ten times
    the tightest tolerance. Where a tolerance is not reached within the limit, the limit is what is
    recorded.
    """
    tolerances, limit = block.size["tolerances"], block.size["limit"]
    lp, start = block.dataset.open().draw(block.rng("program"), block.size)
    best = solve_with_highs(lp)["objective"]
    counts = block.arms[0].build().count(lp, tolerances, limit, start)
    rows = []
    for tolerance, steps in zip(tolerances, counts.steps, strict=True):
        # Only the last point is kept: it belongs to the tightest tolerance.
        wrong = abs(counts.objective - best) > 10 * tolerance * (1 + abs(best))
        values = {
            "iterations": float(limit if steps is None else steps),
            "unsolved": float(steps is None),
            "false_optimum": float(steps is not None and tolerance == min(tolerances) and wrong),
        }
        rows.append(Row(block.arms[0].id, case=f"{tolerance:g}", values=values))
    return rows
