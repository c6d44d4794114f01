"""Interleaved timings: order, warm-up, loops and the garbage collector."""

from __future__ import annotations

import gc
import time

import pytest

from probatum.evidence.timing import interleaved


def test_arms_take_turns_from_a_rotating_start() -> None:
    order: list[str] = []
    calls = {arm: (lambda arm=arm: order.append(arm)) for arm in "abc"}
    interleaved(calls, repeats=4, warmup=2, min_seconds=0)
    assert "".join(order) == "aabbcc" + "abc" + "bca" + "cab" + "abc"


def test_seconds_per_call_are_right() -> None:
    seconds = interleaved(
        {"slow": lambda: time.sleep(0.02), "fast": lambda: time.sleep(0.002)},
        repeats=3,
        min_seconds=0.01,
    )
    assert {arm: len(times) for arm, times in seconds.items()} == {"slow": 3, "fast": 3}
    # Sleeping lasts at least as long as asked; how much longer is the host's affair.
    assert min(seconds["slow"]) >= 0.02
    assert 0.002 <= min(seconds["fast"]) < 0.02


def test_short_calls_are_repeated_until_the_clock_can_tell() -> None:
    count = 0

    def short() -> None:
        nonlocal count
        count += 1

    seconds = interleaved({"short": short}, repeats=2, min_seconds=0.005)
    assert count > 100
    assert all(0 < time < 1e-3 for time in seconds["short"])


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_rests_and_is_put_back(on: bool) -> None:
    before = gc.isenabled()
    seen: list[bool] = []
    try:
        (gc.enable if on else gc.disable)()
        interleaved({"a": lambda: seen.append(gc.isenabled())}, warmup=0, min_seconds=0)
        assert seen == [False] * 5
        assert gc.isenabled() is on

        def fail() -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            interleaved({"a": fail}, warmup=0)
        assert gc.isenabled() is on
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"calls": {}}, "no calls"),
        ({"repeats": 0}, "repeats must be at least 1, got 0"),
        ({"warmup": -1}, "warmup must be at least 0, got -1"),
        ({"min_seconds": -0.1}, "min_seconds must be finite"),
        ({"min_seconds": float("nan")}, "min_seconds must be finite"),
    ],
)
def test_bad_arguments(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        interleaved(**{"calls": {"a": int}, **changes})
