"""What HiGHS does for us: reading files, presolve and, for comparison, solving."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from probatum.optimize.linear_program.model import LinearProgram
from probatum.optimize.linear_program.mps import MpsText, check_mps

__all__ = ["Presolved", "has_highs", "read_mps", "solve_with_highs"]

Array = NDArray[np.float64]
ENDINGS = (".mps", ".mps.gz", ".lp", ".lp.gz")
# What HiGHS says where it goes on with another program than the one in the file.
ALTERED = re.compile(r"ignored|same name|duplicate|not defined", re.IGNORECASE)


def _highspy(what: str) -> Any:
    try:
        import highspy
    except ImportError as error:
        line = f"{what} needs highspy: pip install 'probatum[optimize]'"
        missing = ImportError(line)
        missing.remedy = "pip install 'probatum[optimize]'"  # type: ignore[attr-defined]
        raise missing from error
    return highspy


def has_highs() -> bool:
    """Whether highspy can be imported."""
    try:
        _highspy("")
    except ImportError:
        return False
    return True


def _quiet(highspy: Any) -> Any:
    # The Python subclass of the solver prints a banner on stdout as it is made, before anybody
    # can tell it not to.
    highs = highspy.Highs.__bases__[0]()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    return highs


def read_mps(path: str | os.PathLike[str]) -> LinearProgram:
    """Read a linear program from an MPS or LP file, packed with gzip or not.

    Parameters
    ----------
    path : path
        Ends in ``.mps``, ``.lp``, or either with ``.gz``. Fixed and free MPS are told apart by
        HiGHS, which also reads RANGES, BOUNDS, OBJSENSE, OBJSENSE MAX and a constant objective.

    Returns
    -------
    LinearProgram

    Warns
    -----
    UserWarning
        If there are integer variables: they are taken as continuous; of those without bounds in an
        MPS file, that they get 0 to 1. Also where HiGHS has something to say about the file.

    Raises
    ------
    OSError
        If the file is not there or can't be read.
    ValueError
        If it is no such file; if something in it is no number, is not declared or comes twice, so
        that another program would be solved; or if it holds what is not linear: a quadratic
        objective, semi-continuous variables.
    ImportError
        Without highspy.
    """
    path = Path(path)
    highspy = _highspy("reading MPS and LP files")
    with path.open("rb") as file:  # the system's own error for what is missing or a folder
        if not file.read(1):
            raise ValueError(f"{path} is empty: an MPS or LP file is needed")
    if not _ending(path):
        raise ValueError(f"{path} must end in {', '.join(ENDINGS)} to say what it holds")
    text = check_mps(path) if _format(path) == "MPS format" else None
    highs = _quiet(highspy)
    status, said = _read(highspy, highs, path)
    if status == highspy.HighsStatus.kError:
        line = f"{path} is not a linear program in {_format(path)} that HiGHS can read"
        raise ValueError(": ".join([line, *said[:1]]))
    for line in said:
        # Values too small for HiGHS change nothing that its users would expect.
        if ALTERED.search(line) and "|values|" not in line:
            raise ValueError(f"{path} is not read as it stands: {line}")
    for line in said[:5]:
        warnings.warn(f"{path.name}: {line}", stacklevel=2)
    model = highs.getModel()
    if model.hessian_.dim_ > 0:
        raise ValueError(f"{path} has a quadratic objective; only linear ones are solved")
    lp = _from_highs(highspy, model.lp_, path)
    _check_names(lp, path, text)
    if text is not None and text.assumed:
        names = ", ".join(text.assumed[:5]) + (", ..." if len(text.assumed) > 5 else "")
        line = "integer variables without bounds in the file get 0 to 1, as MPS has it"
        warnings.warn(f"{line}: {names} ({len(text.assumed)} in all)", stacklevel=2)
    return lp


def _check_names(lp: LinearProgram, path: Path, text: MpsText | None) -> None:
    """Refuse names that stand for two things, and what HiGHS reads unlike the checked text."""
    kinds = ("row", lp.row_names), ("variable", lp.column_names)
    for kind, names in kinds:
        if len(set(names)) < len(names):
            again = Counter(names).most_common(1)[0][0]
            raise ValueError(f"{path} has the {kind} {again} twice")
    if text is None:
        return
    for (kind, read), written in zip(kinds, text.names(), strict=True):
        if sorted(name.strip() for name in read) != sorted(written):
            raise ValueError(
                f"{path} can't be read for sure: HiGHS finds {len(read)} {kind}s in it, "
                f"{len(written)} are declared, or their names differ"
            )


def _read(highspy: Any, highs: Any, path: Path) -> tuple[Any, list[str]]:
    """HiGHS's status, and what it says about the file beyond that it can't parse it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        for name, value in (("log_to_console", False), ("output_flag", True)):
            highs.setOptionValue(name, value)
        highs.setOptionValue("log_file", str(log))
        # HiGHS goes by the ending, in small letters.
        link = Path(folder, "program" + _ending(path))
        link.symlink_to(path.resolve())
        status = highs.readModel(str(link))
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("log_file", "")
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    said = []
    for line in text.splitlines():
        kind, _, rest = line.partition(":")
        if kind in ("WARNING", "ERROR") and "Parser error reading" not in rest:
            said.append(" ".join("".join(c for c in rest if c.isprintable()).split()))
    return status, said


def _ending(path: Path) -> str:
    """The one of ENDINGS that the name has, or an empty text."""
    return next((ending for ending in ENDINGS if path.name.lower().endswith(ending)), "")


def _format(path: Path) -> str:
    return "LP format" if _ending(path).startswith(".lp") else "MPS format"


def _from_highs(highspy: Any, lp: Any, path: Path) -> LinearProgram:
    if lp.num_col_ == 0 and lp.num_row_ == 0:
        raise ValueError(f"{path} holds no rows and no variables in {_format(path)}")
    kinds = list(lp.integrality_)
    relaxed = sum(kind == highspy.HighsVarType.kInteger for kind in kinds)
    if any(kind not in (highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous)
           for kind in kinds):  # fmt: skip
        raise ValueError(f"{path} has semi-continuous variables; only linear programs are solved")
    if relaxed:
        line = f"{relaxed} integer variables are taken as continuous: this solves the relaxation"
        warnings.warn(line, stacklevel=3)
    sense: Literal["min", "max"] = "max" if lp.sense_ == highspy.ObjSense.kMaximize else "min"
    try:
        return LinearProgram(
            np.array(lp.col_cost_),
            _matrix(highspy, lp),
            np.array(lp.row_lower_),
            np.array(lp.row_upper_),
            np.array(lp.col_lower_),
            np.array(lp.col_upper_),
            sense,
            lp.offset_,
            tuple(lp.row_names_) if len(lp.row_names_) == lp.num_row_ else (),
            tuple(lp.col_names_) if len(lp.col_names_) == lp.num_col_ else (),
        )
    except UnicodeDecodeError:
        raise ValueError(f"{path} has names that are not in UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _matrix(highspy: Any, lp: Any) -> Any:
    parts = (np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_, dtype=int),
             np.array(lp.a_matrix_.start_, dtype=int))  # fmt: skip
    shape = (lp.num_row_, lp.num_col_)
    if lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise:
        if parts[2].size == 0:
            return sparse.csr_array(shape)
        return sparse.csc_array(parts, shape=shape).tocsr()
    return sparse.csr_array(parts, shape=shape)


def _to_highs(highspy: Any, lp: LinearProgram) -> Any:
    """The program as HiGHS has it."""
    m, n = lp.shape
    A = lp.A.tocsc()
    other = highspy.HighsLp()
    other.num_col_, other.num_row_ = n, m
    other.col_cost_, other.col_lower_, other.col_upper_ = lp.c, lp.lower, lp.upper
    other.row_lower_, other.row_upper_ = lp.row_lower, lp.row_upper
    other.offset_ = lp.offset
    if lp.sense == "max":
        other.sense_ = highspy.ObjSense.kMaximize
    other.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    other.a_matrix_.num_col_, other.a_matrix_.num_row_ = n, m
    other.a_matrix_.start_ = A.indptr.astype(np.int32)
    other.a_matrix_.index_ = A.indices.astype(np.int32)
    other.a_matrix_.value_ = A.data
    return other


class Presolved:
    """A smaller program with the same solutions, by HiGHS, and the way back.

    Attributes
    ----------
    verdict : {"reduced", "solved", "infeasible", "unbounded or infeasible", "same"}
        "same" also where HiGHS gave up: the program is then to be solved as it is.
    lp : LinearProgram
        What is left to solve.

    Parameters
    ----------
    lp : LinearProgram
        To be minimised.
    seconds : float
        Time limit.
    """

    def __init__(self, lp: LinearProgram, seconds: float = np.inf) -> None:
        highspy = _highspy("presolve (or pass presolve=False)")
        self.original = lp
        self.lp = lp
        self.highspy = highspy
        self.highs = _quiet(highspy)
        self.highs.setOptionValue("time_limit", float(seconds))
        self.verdict = "same"
        if self.highs.passModel(_to_highs(highspy, lp)) == highspy.HighsStatus.kError:
            return
        self.highs.presolve()
        status, known = self.highs.getModelPresolveStatus(), highspy.HighsPresolveStatus
        self.verdict = {
            known.kReduced: "reduced",
            known.kReducedToEmpty: "solved",
            known.kInfeasible: "infeasible",
            known.kUnboundedOrInfeasible: "unbounded or infeasible",
        }.get(status, "same")
        if self.verdict == "reduced":
            left = self.highs.getPresolvedLp()
            self.lp = LinearProgram(
                np.array(left.col_cost_),
                _matrix(highspy, left),
                np.array(left.row_lower_),
                np.array(left.row_upper_),
                np.array(left.col_lower_),
                np.array(left.col_upper_),
                "min",
                left.offset_,
            )

    def restore(self, x: Array, y: Array) -> tuple[Array, Array] | None:
        """A point of the original program for one of the smaller; None if HiGHS finds none.

        Parameters
        ----------
        x, y : ndarray
            Variables and multipliers of `lp`; both empty if the verdict is "solved".
        """
        solution = self.highspy.HighsSolution()
        solution.col_value, solution.row_dual = list(x), list(y)
        if self.verdict == "solved":
            solution.row_value, solution.col_dual = [], []
        else:
            solution.row_value = list(self.lp.A @ x)
            solution.col_dual = list(self.lp.c - self.lp.A.T @ y)
        solution.value_valid = solution.dual_valid = True
        self.highs.postsolve(solution)
        found = self.highs.getSolution()
        m, n = self.original.shape
        if len(found.col_value) != n or len(found.row_dual) != m:
            return None
        x, y = np.array(found.col_value), np.array(found.row_dual)
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return None
        return np.clip(x, self.original.lower, self.original.upper), y


def solve_with_highs(
    lp: LinearProgram,
    *,
    solver: Literal["simplex", "ipm", "pdlp", "hipdlp"] = "simplex",
    tol: float = 1e-7,
    presolve: bool = True,
    maxiter: int | None = None,
    time_limit: float | None = None,
) -> dict[str, Any]:
    """Status, objective, iterations and solution of one of HiGHS's own solvers, for comparison.

    Returns
    -------
    dict
        ``status`` in HiGHS's words, ``objective`` (nan without a solution), ``iterations``,
        ``x`` and ``y`` (or None).
    """
    highspy = _highspy("comparing with HiGHS")
    highs = _quiet(highspy)
    for name, value in (
        ("solver", solver),
        ("presolve", "on" if presolve else "off"),
        ("run_crossover", "on"),
        ("pdlp_optimality_tolerance", tol),
        ("time_limit", np.inf if time_limit is None else float(time_limit)),
    ):
        highs.setOptionValue(name, value)
    if solver.endswith("pdlp"):
        highs.setOptionValue("kkt_tolerance", tol)
        if maxiter is not None:
            highs.setOptionValue("pdlp_iteration_limit", maxiter)
    if highs.passModel(_to_highs(highspy, lp)) == highspy.HighsStatus.kError:
        raise ValueError("HiGHS does not take this program")
    highs.run()
    info, found = highs.getInfo(), highs.getSolution()
    count = {"simplex": info.simplex_iteration_count, "ipm": info.ipm_iteration_count}
    solved = bool(found.value_valid and len(found.col_value) == lp.shape[1])
    return {
        "status": highs.modelStatusToString(highs.getModelStatus()).lower(),
        "objective": float(info.objective_function_value) if solved else float("nan"),
        "iterations": int(count.get(solver, info.pdlp_iteration_count)),
        "x": np.array(found.col_value) if solved else None,
        "y": np.array(found.row_dual) if solved and found.dual_valid else None,
    }
