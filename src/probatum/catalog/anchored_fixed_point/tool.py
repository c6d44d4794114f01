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
from probatum.files import check_output, whole_file
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
    output: Annotated[
        Path | None, "what to write, with the status first: .csv or .json (see above)"
    ] = None,
    progress: Progress = silent,
) -> Answer:
    """Solve a linear program by anchored primal-dual iterations.

    Integer variables are taken as continuous. An infeasible or unbounded program is no error: the
    answer says so, with a proof where there is one. A run that a limit stopped has no answer.

    The output is written in every case. Its columns are kind, name, value and marginal, and its
    first line has the kind "status", the status as name (optimal, stopped, infeasible, unbounded
    or numerical trouble) and the objective as value. Then come lines of the kinds "variable"
    (value and reduced cost), "row" (activity and dual: the change of the objective per unit of the
    row's side), "farkas" (the rows' multipliers that prove infeasibility), "ray" (the variables'
    direction of endless gain) and "proof" (in words: bounds that cross), as far as there are any.
    JSON holds the same, with the status first and the figures that the answer gives.

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
        If the file is no linear program, an option is out of range, or the output is the file
        that is read.
    OSError
        If a file can't be read or written.
    """
    _check(problem, tol, max_iterations, time_limit, output)
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
    if output is not None:
        _write(output, lp, result, values)
        if result.status == 3:
            said.append(f"{output} holds a feasible point; an unbounded program has no optimum")
    files = () if output is None else (output,)
    return Answer(tuple(lines), values, files, tuple(said), _unfinished(result))


def _check(
    problem: Path, tol: float, max_iterations: int, time_limit: float | None, output: Path | None
) -> None:
    if not 0 < tol < 1:
        raise ValueError(f"--tol must be above 0 and below 1, got {tol}")
    if not max_iterations > 0:
        raise ValueError(f"--max-iterations must be 1 or more, got {max_iterations}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"--time-limit must be above 0 seconds, got {time_limit}")
    if output is not None:
        check_output("-o", output, (".csv", ".json"), (problem,), "the file")


def _unfinished(result: OptimizeResult) -> str:
    """Why there is no answer, and the option that would help; empty if there is one."""
    if result.status not in (1, 4):
        return ""
    if result.status == 4:
        return f"not solved: {result.message}; another --method may get further"
    option = "--time-limit" if "time limit" in result.message else "--max-iterations"
    return f"not solved: {result.message}; raise {option}"


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
    values["certificate"] = None
    if np.any(lp.lower > lp.upper) or np.any(lp.row_lower > lp.row_upper):
        said = result.message.removeprefix("infeasible: ")
        values["certificate"] = {"kind": "sides", "text": said}
        yield f"proof            {said}"
        return
    if result.farkas is None and result.ray is None and presolve:
        # Presolve gives its verdict without a proof; a short run without it may find one.
        again = solve_lp(lp, presolve=False, maxiter=min(max_iterations, 10_000), time_limit=10.0)
        if again.status == result.status:
            result.farkas, result.ray = again.farkas, again.ray
    if result.farkas is not None:
        demanded, possible = farkas_margin(lp, result.farkas)
        values["certificate"] = {"kind": "farkas", "demanded": demanded, "possible": possible}
        yield (
            f"proof            a combination of rows must be at least {demanded:.6g}, "
            f"but is at most {possible:.6g} within the bounds"
        )
    elif result.ray is not None:
        step = result.ray / np.abs(result.ray).max()
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
    parts = _parts(lp, result)
    proof = values.get("certificate") or {}
    with whole_file(output) as draft:
        if output.suffix.lower() == ".json":
            draft.write_text(_json(parts, values), encoding="utf-8")
            return
        with draft.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["kind", "name", "value", "marginal"])
            objective = values["objective"]
            table.writerow(
                ["status", values["status"], "" if objective is None else repr(objective), ""]
            )
            if "text" in proof:
                table.writerow(["proof", _cell(proof["text"]), "", ""])
            for kind, entries in parts.items():
                for name, value, marginal in entries:
                    table.writerow([kind, _cell(name), _number(value), _number(marginal)])


def _parts(lp: LinearProgram, result: OptimizeResult) -> dict[str, list[tuple[str, float, float]]]:
    """Name, value and marginal of all there is, by kind."""
    variables, rows = lp.column_names, lp.row_names
    parts: dict[str, list[tuple[str, float, float]]] = {}
    for kind, names, value, marginal in (
        ("variable", variables, result.x, result.reduced_costs),
        ("row", rows, result.activity, result.dual),
        ("farkas", rows, result.farkas, None),
        ("ray", variables, result.ray, None),
    ):
        if value is not None:
            beside = np.full(len(names), np.nan) if marginal is None else marginal
            parts[kind] = list(zip(names, value, beside, strict=True))
    return parts


def _json(parts: dict[str, list[tuple[str, float, float]]], values: dict[str, Any]) -> str:
    written = dict(values)
    if "variable" in parts:
        written["solution"] = {
            "variables": [
                {"name": name, "value": _plain(x), "reduced_cost": _plain(r)}
                for name, x, r in parts["variable"]
            ],
            "rows": [
                {"name": name, "activity": _plain(a), "dual": _plain(y)}
                for name, a, y in parts["row"]
            ],
        }
    for kind in ("farkas", "ray"):
        if kind in parts:
            entries = [{"name": name, "value": _plain(value)} for name, value, _ in parts[kind]]
            written["certificate"] = {**values["certificate"], "entries": entries}
    return json.dumps(written, indent=1) + "\n"


def _cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ""
