"""Fair timings: arms warmed up, then measured in turns, so that the host drifts for all alike."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping
from time import perf_counter_ns

__all__ = ["interleaved"]


def interleaved(
    calls: Mapping[str, Callable[[], object]],
    *,
    repeats: int = 5,
    warmup: int = 1,
    min_seconds: float = 0.01,
) -> dict[str, list[float]]:
    """Time several calls side by side; meant for trials of ``exclusive`` experiments.

    Every repeat measures each arm once, and starts with the next arm than the repeat before, so
    that neither a slowly changing host nor the place in the order favours an arm. The garbage
    collector rests while a call is measured.

    Parameters
    ----------
    calls : mapping of str to callable
        What to time, by arm; each must do the same work every time it is called.
    repeats : int
        Measurements per arm.
    warmup : int
        Calls of each arm beforehand, which are not counted.
    min_seconds : float
        A measurement that would be shorter repeats its call until it lasts so long; 0 never
        repeats.

    Returns
    -------
    dict of str to list of float
        Seconds per call, ``repeats`` of them for each arm.

    Raises
    ------
    ValueError
        If there is nothing to time or a number is out of range.

    Examples
    --------
    >>> seconds = interleaved({"sum": lambda: sum(range(100)), "max": lambda: max(range(100))})
    >>> {arm: len(times) for arm, times in seconds.items()}
    {'sum': 5, 'max': 5}
    >>> all(time > 0 for times in seconds.values() for time in times)
    True
    """
    if not calls:
        raise ValueError("there are no calls to time")
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    if warmup < 0:
        raise ValueError(f"warmup must be at least 0, got {warmup}")
    if not (min_seconds >= 0 and math.isfinite(min_seconds)):
        raise ValueError(f"min_seconds must be finite and at least 0, got {min_seconds}")
    arms = list(calls)
    for arm in arms:
        for _ in range(warmup):
            calls[arm]()
    loops = {arm: _loops(calls[arm], min_seconds) for arm in arms}
    seconds: dict[str, list[float]] = {arm: [] for arm in arms}
    for repeat in range(repeats):
        first = repeat % len(arms)
        for arm in arms[first:] + arms[:first]:
            seconds[arm].append(_measure(calls[arm], loops[arm]) / loops[arm])
    return seconds


def _loops(call: Callable[[], object], min_seconds: float) -> int:
    """How many calls last ``min_seconds``."""
    loops = 1
    if min_seconds == 0:
        return loops
    while (elapsed := _measure(call, loops)) < min_seconds:
        # Short runs predict badly, hence at most ten times as many at once.
        wanted = math.ceil(1.1 * loops * min_seconds / max(elapsed, 1e-9))
        loops = min(max(wanted, loops + 1), 10 * loops)
    return loops


def _measure(call: Callable[[], object], loops: int) -> float:
    """Seconds that so many calls take."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter_ns()
        for _ in range(loops):
            call()
        return (perf_counter_ns() - start) * 1e-9
    finally:
        if collecting:
            gc.enable()
