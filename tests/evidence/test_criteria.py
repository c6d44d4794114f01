"""Criteria: which values they take, to the edge, and what they stand for when little is said."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from probatum.evidence import Every, Rate, Stat, Within

INF = math.inf


@pytest.mark.parametrize(
    "region",
    [
        (math.nan, 1.0),
        (0.0, math.nan),
        (1.0, 0.5),
        (-INF, INF),
        (INF, INF),
        (-INF, -INF),
    ],
)
def test_regions_that_mean_nothing_are_refused(region: tuple[float, float]) -> None:
    low, high = region
    with pytest.raises(ValueError, match="a region needs low <= high, one of them finite"):
        Within(Stat("m"), "a", scale="absolute", low=low, high=high)
    with pytest.raises(ValueError, match="a region needs low <= high, one of them finite"):
        Rate("hit", "a", low=low, high=high)


@pytest.mark.parametrize("region", [(0.5, 0.5), (-INF, 0.5), (0.5, INF), (0.25, 0.5)])
def test_regions_with_one_finite_end_will_do_and_so_will_a_point(
    region: tuple[float, float],
) -> None:
    low, high = region
    within = Within(Stat("m"), "a", scale="absolute", low=low, high=high)
    assert (within.low, within.high) == region


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Stat("m", tail=1.0001), "tail must lie in"),
        (lambda: Stat("m", tail=-0.5), "tail must lie in"),
        (lambda: Within(Stat("m"), "a", ("b",), "ratio", low=1), "scale must be one of absolute"),
        (lambda: Within(Stat("m"), "a", ("b",), low=1, over="all"), "over must be one of average"),
        (lambda: Within(Stat("m"), "a", (), "log-ratio", low=1), "a log-ratio needs at least one"),
        (lambda: Rate("hit", "a", low=-1.0, high=2.0), "anything would hold"),
        (lambda: Every("m", "a", high=INF), "finite high and slack >= 0, got inf"),
        (lambda: Every("m", "a", high=math.nan), "finite high and slack >= 0, got nan"),
        (lambda: Every("m", "a", high=0.0, slack=INF), "finite high and slack >= 0"),
        # Each of the two is finite, the limit that they make isn't.
        (lambda: Every("m", "a", high=1.7e308, slack=1.7e308), "finite high and slack >= 0"),
        (lambda: Every("m", "a", high=0.0, slack=-1e-9), "finite high and slack >= 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_settings_at_the_edge_will_do() -> None:
    assert Stat("m", tail=1.0).tail == 1.0
    assert Stat("m", tail=1e-6).tail == 1e-6
    assert Rate("hit", "a", high=0.9).low == 0
    assert Rate("hit", "a", low=0.1).high == 1
    assert Every("m", "a", high=0.0, slack=0.0).slack == 0
    assert Stat("m", "max", per_case=True).case is None


def test_what_is_not_said() -> None:
    below = Within(Stat("m"), "a", scale="absolute", high=0.5)
    above = Within(Stat("m"), "a", scale="absolute", low=0.5)
    assert (below.low, above.high) == (-INF, INF)
    assert (Stat("m").how, Stat("m").against, Stat("m").tail) == ("mean", "x", 1.0)
    assert not Stat("m").per_case
    every = Every("m", "a", high=1.0)
    assert (every.slack, every.at_least) == (1e-9, 1)
    assert not Rate("hit", "a", low=0.5).independent


def test_levels_are_on_the_scale_of_their_metric() -> None:
    levels = {how: Stat("m", how).is_level for how in ("mean", "max", "slope", "loglog")}  # type: ignore[arg-type]
    assert levels == {"mean": True, "max": True, "slope": False, "loglog": False}
    assert not Stat("m", "spearman").is_level
    assert not Stat("m", "kendall").is_level


def test_bounds_of_effects_come_from_the_metric_and_the_scale() -> None:
    difference = Within(Stat("m"), "a", to=("b",), low=0.1)
    assert difference.bounds((-1.0, 3.0)) == (-4.0, 4.0)
    tau = Within(Stat("m", "kendall"), "a", scale="absolute", low=0.1)
    assert tau.bounds((0.0, 5.0)) == (-1.0, 1.0)
    assert tau.bounds(None) == (-1.0, 1.0)
    largest = Within(Stat("m", "max"), "a", scale="absolute", low=0.1)
    assert largest.bounds((0.0, 5.0)) == (0.0, 5.0)
    slope = Within(Stat("m", "slope"), "a", scale="absolute", low=0.1)
    assert slope.bounds((0.0, 5.0)) is None


def test_the_largest_factor_of_a_log_ratio_is_allowed() -> None:
    far = Within(Stat("m"), "a", to=("b",), scale="log-ratio", low=700.0)
    near = Within(Stat("m"), "a", to=("b",), scale="log-ratio", high=-700.0)
    assert (far.low, near.high) == (700.0, -700.0)
    with pytest.raises(ValueError, match=r"natural logarithms of factors, within ±700"):
        Within(Stat("m"), "a", to=("b",), scale="log-ratio", low=700.5)
