"""Trials: how often a policy errs, what it pulls, how evidence grows. A trial is many runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.bandits import Path
from probatum.catalog.posterior_tracking.contenders import Runs
from probatum.evidence import Block, Row
from probatum.sequential import oracle_weights

Array = NDArray[np.float64]
# Below twice and half of ln t an arm counts as lagging and as starved.
LAGGING, STARVED = 2.0, 0.5


def instance(means: tuple[float, ...]) -> Array:
    """Loader of one problem: its success probabilities."""
    return np.asarray(means, dtype=float)


def instances(**named: tuple[float, ...]) -> dict[str, Array]:
    """Loader of several problems."""
    return {name: np.asarray(means, dtype=float) for name, means in named.items()}


def _seed(block: Block, stream: str, again: bool = False) -> int:
    """Seed of a set of runs: the same for all arms, but for one that runs again."""
    rng = block.rng(f"again {stream}" if again else stream)
    return int(rng.integers(2**62))


def _identify(block: Block, arm: Any, means: Array, log_inv_delta: float, stream: str) -> Runs:
    size = block.size
    seed = _seed(block, stream, arm.again)
    found: Runs = arm.identify(means, log_inv_delta, size["runs"], seed, size["max_pulls"])
    return found


def errors(block: Block) -> list[Row]:
    """Wrong answers of independent runs, per problem and delta; not to stop is wrong as well."""
    arm, rows = block.arms[0].build(), []
    for name, means in block.dataset.open().items():
        for delta in block.size["deltas"]:
            runs = _identify(block, arm, means, -math.log(delta), f"{name} {delta}")
            wrong = int((~runs.correct).sum())
            values = {"pulls": float(runs.pulls.mean())}
            counts = {"wrong": (wrong, runs.correct.size)}
            rows.append(Row(block.arms[0].id, f"{name} {delta}", values=values, counts=counts))
    return rows


def small_delta(block: Block) -> list[Row]:
    """Pulls against ln(1/delta) down to tiny delta, in units of the characteristic time.

    With the heuristic threshold per ln(1/delta); with the mixture threshold, at the smallest
    delta, per threshold.
    """
    arm, means = block.arms[0], block.dataset.open()
    time, rows = oracle_weights(means)[1], []
    # Rewards and draws are shared along delta, so that the slope is of paths, not of their luck.
    for decades in block.size["decades"]:
        target = decades * math.log(10)
        runs = _identify(block, arm.build(), means, target, "runs")
        scaled = float(runs.pulls.mean()) / time
        values = {"scaled_pulls": scaled, "ratio": scaled / target}
        rows.append(Row(arm.id, f"1e-{decades}", target, values))
    rows.append(Row(arm.id, "smallest", values={"ratio": values["ratio"]}))
    target = block.size["decades"][-1] * math.log(10)
    runs = _identify(block, arm.build(threshold="mixture"), means, target, "mixture")
    per_threshold = float(np.mean(runs.pulls / runs.threshold)) / time
    rows.append(Row(arm.id, "mixture", values={"per_threshold": per_threshold}))
    return rows


def _follow(block: Block, times: tuple[int, ...]) -> Path:
    found: Path = (
        block.arms[0]
        .build()
        .follow(block.dataset.open(), times, block.size["runs"], _seed(block, "runs"))
    )
    return found


def exploration(block: Block) -> list[Row]:
    """How often the least pulled arm has few pulls for its time: under 2 ln t, under ln(t)/2.

    ``lagging`` is the share of runs, with half a run added so that it has a logarithm; it is taken
    at early times only, at which there is something to count. ``starved`` is a count at the end.
    """
    arm, times = block.arms[0].id, tuple(block.size["times"])
    path, n = _follow(block, times), block.size["runs"]
    least = path.pulls.min(axis=2) / np.log(times)
    rows = []
    for at, t in enumerate(times):
        values = {"least": float(least[:, at].min())}
        if t <= block.size["early"]:
            values["lagging"] = (float((least[:, at] < LAGGING).sum()) + 0.5) / (n + 1)
        rows.append(Row(arm, f"t={t}", float(t), values))
    starved = int((least[:, -1] < STARVED).sum())
    rows.append(Row(arm, "end", counts={"starved": (starved, n)}))
    return rows


def stabilisation(block: Block) -> list[Row]:
    """Share of runs in which the best arm is not yet in the lead for good, along time."""
    arm, n = block.arms[0].id, block.size["runs"]
    last = _follow(block, (block.size["horizon"],)).last_wrong
    rows = [Row(arm, "mean", values={"stable_after": float(last.mean())})]
    for t in block.size["times"]:
        share = (float((last > t).sum()) + 0.5) / (n + 1)
        rows.append(Row(arm, "tail", float(t), {"unstable": share}))
    return rows


def growth(block: Block) -> list[Row]:
    """GLR per pull along time, in units of the fastest possible rate, 1/T*."""
    means, times = block.dataset.open(), tuple(block.size["times"])
    time, path = oracle_weights(means)[1], _follow(block, times)
    rates = (path.glr * time / np.asarray(times)).mean(axis=0)
    rows = [
        Row(block.arms[0].id, f"t={t}", float(t), {"rate": float(rate)})
        for t, rate in zip(times, rates, strict=True)
    ]
    return [*rows, Row(block.arms[0].id, "end", values={"rate": float(rates[-1])})]


def cost(block: Block) -> list[Row]:
    """Mean pulls of runs at an everyday delta, and wrong answers."""
    arm, means = block.arms[0].build(), block.dataset.open()
    runs = _identify(block, arm, means, -math.log(block.size["delta"]), "runs")
    wrong = int((~runs.correct).sum())
    values = {"pulls": float(runs.pulls.mean())}
    return [Row(block.arms[0].id, values=values, counts={"wrong": (wrong, runs.correct.size)})]
