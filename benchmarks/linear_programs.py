"""Speed of `probatum.optimize.linear_program` beside the solvers of HiGHS.

    python benchmarks/linear_programs.py [--json] [--repeats 3] [--large]

Ours and theirs run in turn in one process on one thread, each with presolve; medians are shown, and
a ratio below one means that ours is faster. Ours and the first-order peers go to a relative
accuracy of 1e-6; the simplex and interior-point methods are exact, so their rows say what a
first-order method has to offer at this size and what not. A peer that does not get there in LIMIT
seconds is shown with what it took until it was stopped. The last lines are exponents of growth: of
the time to the solution and of that of one step, with the number of coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from _side_by_side import arguments, record, seconds, show

from probatum.catalog.anchored_fixed_point.linear_programs import (
    DigitTransport,
    QuantileRegression,
    RandomSparse,
)
from probatum.optimize.linear_program import LinearProgram, solve_lp
from probatum.optimize.linear_program.highs import solve_with_highs

PAPER = "anchored-fixed-point"
HIGHS = f"highspy {version('highspy')}"
TOL = 1e-6
LIMIT = 20.0
PEERS = ("simplex", "ipm", "pdlp", "hipdlp")


def programs(large: bool) -> Iterator[tuple[str, LinearProgram]]:
    """Named programs, of growing size within a kind."""
    rng = np.random.default_rng(0)
    yield "median regression, diabetes", QuantileRegression(0.5).draw(rng, {"rows": 442})[0]
    yield "transport between two digits", DigitTransport().draw(rng, {})[0]
    for rows in (200, 400, 800, 1600, *((3200,) if large else ())):
        # As many coefficients a row at every size.
        yield "random sparse", RandomSparse(10 / (2.5 * rows)).draw(rng, {"rows": rows})[0]


def lines(repeats: int, large: bool) -> Iterator[dict[str, Any]]:
    """Times to the solution, and their growth on the random programs."""
    sizes, ours = [], []
    for name, lp in programs(large):
        size = {"rows": lp.shape[0], "variables": lp.shape[1], "coefficients": int(lp.A.nnz)}
        best = solve_with_highs(lp)["objective"]
        own = solve_lp(lp, tol=TOL)
        if not own.success or abs(own.fun - best) > 1e-4 * (1 + abs(best)):
            raise RuntimeError(f"{name}: {own.message}, {own.fun} instead of {best}")
        peers = {
            peer: lambda lp=lp, peer=peer: solve_with_highs(
                lp, solver=peer, tol=TOL, time_limit=LIMIT
            )
            for peer in PEERS
        }
        named = {
            f"HiGHS {peer}" + ("" if call()["status"] == "optimal" else ", stopped"): call
            for peer, call in peers.items()
        }
        times = seconds([lambda lp=lp: solve_lp(lp, tol=TOL), *named.values()], repeats)
        for peer, theirs in zip(named, times[1:], strict=True):
            yield record(PAPER, f"solve, {name}", peer, HIGHS, size, (times[0], theirs))
        if name == "random sparse":
            sizes.append(lp.A.nnz)
            ours.append(times[0])
    slope = float(np.polyfit(np.log(sizes), np.log(ours), 1)[0])
    size = {"coefficients": sizes[-1]}
    line = record(PAPER, "solve, random sparse: growth", "linear", "", size, (slope, 1))
    yield line | {"unit": "exponent of coefficients"}


def step_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Cost of one step beside its two products with the matrix, and how it grows."""
    rng = np.random.default_rng(0)
    sizes, ours = [], []
    for rows in (200, 2000, 20_000, 60_000):
        lp = RandomSparse(10 / (2.5 * rows)).draw(rng, {"rows": rows})[0]
        steps = 2000 if rows <= 2000 else 200
        x, y = np.ones(lp.shape[1]), np.ones(rows)
        At = lp.A.T.tocsr()

        def products(A: Any = lp.A, At: Any = At, x: Any = x, y: Any = y, n: int = steps) -> None:
            for _ in range(n):
                A @ x
                At @ y

        def ours_at(n: int, lp: LinearProgram = lp) -> None:
            solve_lp(lp, tol=1e-15, maxiter=n, presolve=False)

        # The difference of a long and a short run leaves out scaling and set-up.
        calls = [lambda n=2 * steps: ours_at(n), lambda n=steps: ours_at(n), products]
        long, short, theirs = seconds(calls, repeats)
        pair = max(long - short, 1e-9) / steps, theirs / steps
        sizes.append(lp.A.nnz)
        ours.append(pair[0])
        size = {"rows": rows, "coefficients": int(lp.A.nnz)}
        peer = "two products A @ x, A.T @ y"
        yield record(PAPER, "one step, with its share of looks", peer, "", size, pair)
    slope = float(np.polyfit(np.log(sizes[1:]), np.log(ours[1:]), 1)[0])
    size = {"coefficients": int(sizes[-1])}
    line = record(PAPER, "one step: growth", "linear", "", size, (slope, 1.0))
    yield line | {"unit": "exponent of coefficients"}


def main() -> None:
    """Run everything and print it."""
    parser = arguments(__doc__, 3)
    parser.add_argument("--large", action="store_true", help="add a program of 3200 rows")
    args = parser.parse_args()
    show((lines(args.repeats, args.large), step_lines(args.repeats)), args.json)


if __name__ == "__main__":
    main()
