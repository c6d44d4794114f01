"""``probatum use anchored-fixed-point``: a linear program from a file to a solution in a file."""

from __future__ import annotations

import csv
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.optimize import OptimizeResult

from probatum.evidence import Answer, Progress
from probatum.evidence.tool import silent
from probatum.files import whole_file
from probatum.optimize.linear_program import LinearProgram, farkas_margin, read_mps, solve_lp
from probatum.optimize.linear_program.highs import solve_with_highs

__all__ = ["example", "solve_file"]

STATUS = ("optimal", "stopped", "infeasible", "unbounded", "numerical trouble")
EXAMPLE = """\
NAME DIET
ROWS
 N cost
 G energy
 G protein
 L weight
COLUMNS
 bread cost 2 energy 250
 bread protein 8 weight 1
 milk cost 1.5 energy 60
 milk protein 3 weight 1
 beans cost 3 energy 120
 beans protein 9 weight 1
RHS
 need energy 2000 protein 70
 need weight 15
BOUNDS
 UP most bread 6
ENDATA
"""


def solve_file(
    problem: Annotated[Path, "linear program: .mps or .lp, also packed as .gz"],
    *,
    tol: Annotated[float, "relative accuracy of residuals and gap"] = 1e-6,
    max_iterations: Annotated[int, "largest number of iterations"] = 100_000,
    time_limit: Annotated[float | None, "seconds to stop after"] = None,
    method: Annotated[
        Literal["reflected", "halpern", "average", "plain", "km", "halpern-no-restart"],
        "iteration of the primal-dual map",
    ] = "reflected",
    presolve: Annotated[bool, "make the program smaller first, by HiGHS"] = True,
    peer: Annotated[bool, "solve it by HiGHS too, and compare"] = False,
    output: Annotated[Path | None, "solution to write: .csv or .json"] = None,
    progress: Progress = silent,
) -> Answer:
    """Solve a linear program by anchored primal-dual iterations.

    The solution holds a line for each variable (value and reduced cost) and each row (activity and
    dual: the change of the objective per unit of the row's side). Integer variables are taken as
    continuous. An infeasible or unbounded program is no error: the answer says so, with a proof
    where there is one.

    Parameters
    ----------
    problem : Path
    output : Path, optional

    Returns
    -------
    Answer

    Raises
    ------
    ValueError
        If the file is no linear program, or an option is out of range.
    OSError
        If a file can't be read or written.
    """
    if output is not None and output.suffix.lower() not in (".csv", ".json"):
        raise ValueError(f"output must end in .csv or .json, got {output}")
    if output is not None and not output.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(output.parent))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lp = read_mps(problem)
    said = [str(warning.message) for warning in caught]
    begun = time.perf_counter()
    result = solve_lp(
        lp,
        method=method,
        tol=tol,
        maxiter=max_iterations,
        time_limit=time_limit,
        presolve=presolve,
        callback=_reporter(tol, progress),
    )
    seconds = time.perf_counter() - begun
    values = _values(lp, result, seconds)
    lines = [*_lines(values), *_proof(lp, result, values, presolve, max_iterations)]
    if peer:
        lines += _compared(lp, result, values, seconds, time_limit)
    if result.status == 1:
        said.append(f"not solved: {result.message}; raise --max-iterations or --time-limit")
    files: tuple[Path, ...] = ()
    if output is not None and result.x is None:
        said.append(f"there is no solution to write: {output} was not written")
    elif output is not None:
        _write(output, lp, result, values)
        files = (output,)
        if result.status == 3:
            said.append(f"{output} holds a feasible point; an unbounded program has no optimum")
    return Answer(tuple(lines), values, files, tuple(said))


def example(folder: Path) -> None:
    """Write the example's program."""
    (folder / "diet.mps").write_text(EXAMPLE, encoding="utf-8")


def _reporter(tol: float, progress: Progress) -> Callable[[OptimizeResult], None]:
    """Progress in decades: from the first residual down to the tolerance."""
    first, best = math.nan, math.inf

    def report(state: OptimizeResult) -> None:
        nonlocal first, best
        worst = max(state.primal_residual, state.dual_residual, state.gap, 1e-300)
        if math.isnan(first):
            first = max(worst, 10 * tol)
        best = min(best, worst)
        total = math.log10(first / tol)
        done = min(max(math.log10(first / best), 0.0), total)
        progress(done, total, f"iteration {state.nit}, residual {worst:.1e}")

    return report


def _values(lp: LinearProgram, result: OptimizeResult, seconds: float) -> dict[str, Any]:
    m, n = lp.shape
    return {
        "status": STATUS[result.status],
        "message": result.message,
        "sense": lp.sense,
        "rows": m,
        "variables": n,
        "coefficients": int(lp.A.nnz),
        "objective": _plain(result.fun),
        "primal_residual": _plain(result.primal_residual),
        "dual_residual": _plain(result.dual_residual),
        "gap": _plain(result.gap),
        "iterations": int(result.nit),
        "seconds": seconds,
    }


def _plain(value: float) -> float | None:
    """A number that JSON has, or None."""
    return float(value) if math.isfinite(value) else None


def _lines(values: dict[str, Any]) -> Iterator[str]:
    yield f"{values['rows']} rows, {values['variables']} variables, to be {values['sense']}imised"
    status, message = values["status"], values["message"]
    yield message if message.startswith(status) else f"{status}: {message}"
    if values["objective"] is not None:
        yield f"objective        {values['objective']:.10g}"
    for name in ("primal_residual", "dual_residual", "gap"):
        if values[name] is not None:
            yield f"{name.replace('_', ' '):<16} {values[name]:.2e} (relative)"
    yield f"iterations       {values['iterations']}, {values['seconds']:.2f} s"


def _proof(
    lp: LinearProgram,
    result: OptimizeResult,
    values: dict[str, Any],
    presolve: bool,
    max_iterations: int,
) -> Iterator[str]:
    """What proves that there is no optimum, checked anew on the program as it was read."""
    if result.status not in (2, 3):
        return
    farkas, ray = result.farkas, result.ray
    if farkas is None and ray is None and presolve:
        # Presolve gives its verdict without a proof; a short run without it may find one.
        again = solve_lp(lp, presolve=False, maxiter=min(max_iterations, 10_000), time_limit=10.0)
        if again.status == result.status:
            farkas, ray = again.farkas, again.ray
    values["certificate"] = None
    if farkas is not None:
        demanded, possible = farkas_margin(lp, farkas)
        values["certificate"] = {"kind": "farkas", "demanded": demanded, "possible": possible}
        yield (
            f"proof            a combination of rows must be at least {demanded:.6g}, "
            f"but is at most {possible:.6g} within the bounds"
        )
    elif ray is not None:
        step = ray / np.abs(ray).max()
        slope = float(lp.c @ step)
        values["certificate"] = {"kind": "ray", "slope": slope}
        yield f"proof            on a ray that keeps all sides the objective changes by {slope:.6g}"
    else:
        yield "proof            none at hand"


def _compared(
    lp: LinearProgram,
    result: OptimizeResult,
    values: dict[str, Any],
    seconds: float,
    time_limit: float | None,
) -> Iterator[str]:
    begun = time.perf_counter()
    other = solve_with_highs(lp, time_limit=time_limit)
    theirs = time.perf_counter() - begun
    objective = _plain(other["objective"]) if other["status"] == "optimal" else None
    values["peer"] = {
        "name": "HiGHS simplex",
        "status": other["status"],
        "objective": objective,
        "iterations": other["iterations"],
        "seconds": theirs,
    }
    line = f"HiGHS simplex    {other['status']}"
    if objective is not None:
        line += f", objective {objective:.10g}"
        if values["objective"] is not None:
            apart = abs(values["objective"] - objective) / (1 + abs(objective))
            values["peer"]["relative_difference"] = apart
            line += f" (apart by {apart:.1e}, relative)"
    yield f"{line}, {theirs:.2f} s (ours {seconds:.2f} s)"


def _write(output: Path, lp: LinearProgram, result: OptimizeResult, values: dict[str, Any]) -> None:
    nothing = np.full(max(lp.shape), np.nan)
    reduced = nothing if result.reduced_costs is None else result.reduced_costs
    dual = nothing if result.dual is None else result.dual
    variables = zip(lp.column_names, result.x, reduced, strict=False)
    rows = zip(lp.row_names, result.activity, dual, strict=False)
    with whole_file(output) as draft:
        if output.suffix.lower() == ".json":
            solution = {
                **values,
                "solution": {
                    "variables": [
                        {"name": name, "value": _plain(x), "reduced_cost": _plain(r)}
                        for name, x, r in variables
                    ],
                    "rows": [
                        {"name": name, "activity": _plain(a), "dual": _plain(y)}
                        for name, a, y in rows
                    ],
                },
            }
            draft.write_text(json.dumps(solution, indent=1) + "\n", encoding="utf-8")
            return
        with draft.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["kind", "name", "value", "marginal"])
            for kind, lines in (("variable", variables), ("row", rows)):
                for name, value, marginal in lines:
                    table.writerow([kind, _cell(name), _number(value), _number(marginal)])


def _cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ""
