"""Speed of `probatum.bandits` beside the same computations by SciPy and by plain Python.

    python benchmarks/bandits.py [--json] [--repeats 5]

Ours and theirs run in turn in one process on one thread; medians are shown, and a ratio below one
means that ours is faster. The peer of the oracle weights nests `scipy.optimize.brentq`, the peer of
a simulation is the same policy by ask and tell. No kept library on PyPI offers best-arm
identification with these stopping rules, so that there is no other peer.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy
from _side_by_side import arguments, record, seconds, show
from scipy.optimize import brentq

from probatum.bandits import PosteriorTracking, TrackAndStop, Uniform, follow, simulate_bai
from probatum.sequential.oracle import solve_oracle

PAPER = "posterior-tracking"


def nested_brentq(means: np.ndarray) -> np.ndarray:
    """The peer: oracle weights by two nested root searches, as one would write them first."""
    b = int(np.argmax(means))
    others = [a for a in range(means.size) if a != b]

    def kl(p: float, q: float) -> float:
        return float(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))

    def parts(a: int, x: float) -> tuple[float, float]:
        m = (means[b] + x * means[a]) / (1 + x)
        return kl(means[b], m), kl(means[a], m)

    def ratio(a: int, y: float) -> float:
        def off(u: float) -> float:
            k_b, k_a = parts(a, u / (1 - u))
            return k_b + u / (1 - u) * k_a - y

        u = brentq(off, 0.0, 1 - 1e-9)
        return u / (1 - u)

    def excess(y: float) -> float:
        pairs = [parts(a, ratio(a, y)) for a in others]
        return sum(k_b / k_a for k_b, k_a in pairs) - 1

    nearest = min(kl(means[b], means[a]) for a in others)
    y = brentq(excess, 1e-3 * nearest, nearest * (1 - 1e-3))
    x = np.ones(means.size)
    for a in others:
        x[a] = ratio(a, y)
    return x / x.sum()


def oracle_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Oracle weights of posterior draws, and how the cost grows with the number of arms."""
    from probatum.sequential.compiled import kernel

    @kernel
    def solve_all(problems: Any, weights: Any) -> None:
        for i in range(problems.shape[0]):
            solve_oracle(problems[i], weights)

    rng = np.random.default_rng(0)
    sizes, ours = (2, 5, 20, 100), []
    for k in sizes:
        rates = np.linspace(0.3, 0.5, k)
        draws = rng.beta(1 + 100 * rates, 1 + 100 * (1 - rates), (2000, k))
        weights = np.empty(k)
        solve_all(draws, weights)
        few = draws[:3]
        pair = seconds(
            [
                lambda d=draws, w=weights: solve_all(d, w),
                lambda d=few: [nested_brentq(one) for one in d],
            ],
            repeats,
        )
        solve_oracle(draws[0], weights)
        assert np.allclose(weights, nested_brentq(draws[0]), atol=1e-6)
        each = (pair[0] / len(draws), pair[1] / len(few))
        ours.append(each[0])
        yield record(
            PAPER, "oracle weights", "scipy.optimize.brentq", scipy.__version__, {"arms": k}, each
        )
    slope = float(np.polyfit(np.log(sizes), np.log(ours), 1)[0])
    growth = (slope, 1.0)
    yield record(
        PAPER, "oracle weights, growth", "linear", "", {"arms": sizes[-1]}, growth, "exponent of K"
    )


def pull_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """Pulls of a simulated run, and pulls by ask and tell."""
    means = np.array([0.5, 0.45, 0.43, 0.4, 0.35])
    for name, kind in (
        ("posterior tracking", PosteriorTracking),
        ("track-and-stop", TrackAndStop),
        ("uniform", Uniform),
    ):
        policy = kind(5, delta=1e-9, max_pulls=2000)
        simulate_bai(policy, means, 1, 0)
        pulls = 2000

        def by_asking(policy: Any = policy) -> Any:
            return simulate_bai(policy, means, 1, 0, backend="ask-tell")

        def compiled(policy: Any = policy) -> Any:
            return simulate_bai(policy, means, 1, 0)

        by_asking()
        pair = [t / pulls for t in seconds([compiled, by_asking], repeats)]
        version = f"Python {platform.python_version()}"
        yield record(PAPER, f"a pull, {name}", "its ask and tell", version, {"arms": 5}, pair)


def length_lines(repeats: int) -> Iterator[dict[str, Any]]:
    """How the time of a run grows with its length."""
    lengths, ours = (1000, 10_000, 100_000), []
    for n in lengths:
        policy = PosteriorTracking(3)
        ours += seconds([lambda n=n, p=policy: follow(p, [0.8, 0.6, 0.5], [n], 1, 0)], repeats)
    slope = float(np.polyfit(np.log(lengths), np.log(ours), 1)[0])
    size = {"pulls": lengths[-1]}
    yield record(PAPER, "a run, growth", "linear", "", size, (slope, 1.0), "exponent of pulls")


def main() -> None:
    """Run everything and print it."""
    args = arguments(__doc__, 5).parse_args()
    show((lines(args.repeats) for lines in (oracle_lines, pull_lines, length_lines)), args.json)


if __name__ == "__main__":
    main()
