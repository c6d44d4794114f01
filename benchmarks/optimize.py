"""Speed of `probatum.optimize` beside SciPy's solvers and a bare Python loop.

    python benchmarks/optimize.py [--json] [--repeats 5]

Ours and theirs run in turn in one process on one thread. The best processor time of each is shown,
so that what else the machine does hardly counts; a ratio below one means that ours is faster.
Three questions are asked:

- what does a step cost beyond the user's operator, in a bare NumPy loop and here;
- how does that grow with the size of the problem;
- how long does a solution take beside `scipy.optimize.fixed_point` and `scipy.optimize.root`, on a
  problem that both solve.

Linear programs have a script of their own, `benchmarks/linear_programs.py`.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy
from _side_by_side import arguments, record, seconds, show
from scipy import optimize

from probatum.optimize import fixed_point_anchored, monotone_root

PAPER = "anchored-fixed-point"
SCIPY = f"scipy {scipy.__version__}"
NUMPY = f"numpy {np.__version__}"
STEPS = 2000
# Of such short times the best is steadier than the median, on the clock of the process.
BEST = (time.process_time, min)


# --- a step, beside a bare loop -------------------------------------------------------------------


def bare_halpern(T: Any, x: np.ndarray) -> None:
    """What one would write oneself, with the residual that one wants to see."""
    home, residuals = x, []
    for k in range(STEPS):
        value = T(x)
        residuals.append(np.linalg.norm(x - value))
        x = home / (k + 2) + (k + 1) / (k + 2) * value


def bare_extragradient(F: Any, x: np.ndarray) -> None:
    """The regularised extragradient, bare."""
    home, residuals = x, []
    for k in range(STEPS):
        delta = 1 / (k + 2)
        value = F(x)
        residuals.append(np.linalg.norm(value))
        y = x - 0.5 * value - delta * (x - home)
        x = x - 0.5 * F(y) - delta * (y - home)


def bare_popov(F: Any, x: np.ndarray) -> None:
    """The regularised Popov method, bare."""
    home, g, residuals = x, np.zeros_like(x), []
    for k in range(STEPS):
        delta = 1 / (k + 2)
        y = x - g
        value = F(y)
        residuals.append(np.linalg.norm(value))
        g = 0.3 * value + delta * (y - home)
        x = x - g


def step_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Microseconds of a step beyond the operator, ours and bare, and how they grow with size.

    The operator only copies a few numbers around, and its own time is taken off both.
    """
    rng = np.random.default_rng(0)
    sizes = (10, 1000, 100_000)
    for name, bare, queries in (
        ("halpern", bare_halpern, 1),
        ("reg", bare_extragradient, 2),
        ("rpeg", bare_popov, 1),
    ):
        ours_at = []
        for n in sizes:
            x0, store = rng.normal(size=n), np.empty(n)

            def turn(x: np.ndarray, store: np.ndarray = store) -> np.ndarray:
                half = x.size // 2
                store[:half] = x[half:]
                np.negative(x[:half], out=store[half:])
                return store

            def alone(turn: Any = turn, x0: np.ndarray = x0, calls: int = STEPS * queries) -> None:
                for _ in range(calls):
                    turn(x0)

            def own(name: str = name, turn: Any = turn, x0: np.ndarray = x0) -> Any:
                if name == "halpern":
                    return fixed_point_anchored(turn, x0, tol=0.0, maxiter=STEPS)
                return monotone_root(turn, x0, method=name, L=1.0, tol=0.0, maxiter=STEPS)

            def vector(x: np.ndarray = x0, store: np.ndarray = store) -> None:
                for _ in range(STEPS):
                    np.subtract(x, store, out=store)

            times = seconds(
                [own, lambda bare=bare, turn=turn, x0=x0: bare(turn, x0), alone, vector],
                repeats if n < 10**5 else 1,
                *BEST,
            )
            pair = [max(t - times[2], 1e-12) / STEPS * 1e6 for t in times[:2]]
            ours_at.append(pair[0])
            what = f"{name}, a step beyond the operator"
            yield record(PAPER, what, "bare NumPy loop", NUMPY, {"n": n}, pair, "us")
            if n < 10**5:
                allowed = 5.0 + 3 * times[3] / STEPS * 1e6
                peer = "5 us and 3 vector operations"
                yield record(PAPER, what, peer, NUMPY, {"n": n}, (pair[0], allowed), "us")
        slope = math.log(ours_at[2] / ours_at[1]) / math.log(sizes[2] / sizes[1])
        yield record(
            PAPER, f"{name} growth", "linear", "", {"n": sizes[2]}, (slope, 1.0), "exponent of n"
        )


# --- whole solutions, beside SciPy ----------------------------------------------------------------


def solution_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Time to a residual of 1e-8 on problems that SciPy solves too, and one on which it can't."""
    rng = np.random.default_rng(0)
    for n in (100, 1000):
        A = rng.normal(size=(n, n)) / math.sqrt(n)
        b = rng.normal(size=n)
        T = lambda x, A=A, b=b: np.tanh(0.45 * (A @ x)) + b  # noqa: E731
        pair = seconds(
            [
                lambda T=T, n=n: fixed_point_anchored(T, np.zeros(n), schedule="none", tol=1e-8),
                lambda T=T, n=n: optimize.fixed_point(
                    T, np.zeros(n), xtol=1e-8, method="iteration", maxiter=10_000
                ),
            ],
            repeats,
            *BEST,
        )
        yield record(
            PAPER,
            "contraction, plain iteration",
            "scipy.optimize.fixed_point",
            SCIPY,
            {"n": n},
            pair,
            "s",
        )
        S = A - A.T
        M = S / np.linalg.norm(S, 2) + 0.2 * np.eye(n)
        F = lambda x, M=M, b=b: M @ x + np.tanh(x) * 0.1 - b  # noqa: E731
        for peer, options in (("krylov", {"fatol": 1e-8}), ("hybr", {})):
            if peer == "hybr" and n > 100:
                continue
            pair = seconds(
                [
                    lambda F=F, n=n: monotone_root(
                        F, np.zeros(n), L=1.4, tol=1e-8, restart="adaptive", maxiter=10**6
                    ),
                    lambda F=F, n=n, peer=peer, options=options: optimize.root(
                        F, np.zeros(n), method=peer, options=options
                    ),
                ],
                repeats,
                *BEST,
            )
            yield record(
                PAPER,
                "monotone equation, restarted REG",
                f"scipy.optimize.root({peer})",
                SCIPY,
                {"n": n},
                pair,
                "s",
            )


LINES: tuple[Callable[[int], Iterator[dict[str, Any]]], ...] = (step_lines, solution_lines)


def main() -> None:
    """Run everything and print it."""
    args = arguments(__doc__, 5).parse_args()
    warnings.simplefilter("ignore")  # a warning's printing would be timed as well
    fixed_point_anchored(np.cos, np.ones(2), schedule="none")  # the first pays for imports
    show((lines(args.repeats) for lines in LINES), args.json)


if __name__ == "__main__":
    main()
