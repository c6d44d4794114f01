"""What the benchmarks share: calls timed in turn, one record a line, and how lines are printed."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from threadpoolctl import threadpool_limits

__all__ = ["arguments", "record", "seconds", "show"]

Record = dict[str, Any]


def seconds(
    calls: Sequence[Callable[[], Any]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
    taken: Callable[[list[float]], float] = statistics.median,
) -> list[float]:
    """Median time of each call; they run in turn, so that a busy moment hits them alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, kept in zip(calls, times, strict=True):
            start = clock()
            call()
            kept.append(clock() - start)
    return [float(taken(kept)) for kept in times]


def record(
    paper: str,
    what: str,
    peer: str,
    version: str,
    size: dict[str, int],
    pair: Sequence[float],
    unit: str = "s",
) -> Record:
    """One line of the output; a ratio below one means that ours is faster."""
    return {
        "paper": paper,
        "what": what,
        "peer": peer,
        "version": version,
        "size": size,
        "ours": pair[0],
        "theirs": pair[1],
        "ratio": pair[0] / pair[1],
        "unit": unit,
    }


def arguments(about: str, repeats: int) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--repeats", type=int, default=repeats, help="timed runs of each case")
    return parser


def show(groups: Iterable[Iterable[Record]], as_json: bool) -> None:
    """Print records as they come, measured on one thread."""
    with threadpool_limits(1):
        for line in (line for group in groups for line in group):
            if as_json:
                print(json.dumps(line), flush=True)
                continue
            size = ", ".join(f"{name}={n:,}" for name, n in line["size"].items())
            print(
                f"{line['what']:<50} {line['peer']:<30} {size:<44} ours {line['ours']:10.4g}  "
                f"theirs {line['theirs']:10.4g}  ratio {line['ratio']:9.4g}  {line['unit']}",
                flush=True,
            )
