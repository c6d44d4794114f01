"""The vocabulary refuses what could not be decided, by name and with what it accepts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from trials_for_engine import arm, dataset, experiment, paper

from probatum.evidence import (
    AllOf,
    Arm,
    Budget,
    Claim,
    Dataset,
    Every,
    Experiment,
    Metric,
    Paper,
    Rate,
    Stat,
    Tool,
    Within,
)
from probatum.evidence.model import resolve

OF = experiment(
    (arm("a", "method"), arm("b")),
    metrics={"m": Metric("higher", (0, 1)), "free": Metric("lower")},
)
ABOVE = Within(Stat("m"), "a", to=("b",), low=0.1)
CLAIM = Claim("c", "It is.", "paper", OF, ABOVE)


def claim(criterion: object, **changes: object) -> Claim:
    return Claim("c", "It is.", "paper", OF, criterion, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Arm("a b", "m:x"), "arm id must be letters, digits"),
        (lambda: Arm("*", "m:x"), "arm id must be"),
        (lambda: Arm("a", "m.x"), "arm a: make must read 'module:attribute'"),
        (lambda: Arm("a", "m:x", "rival"), "role must be one of method, baseline, control"),
        (lambda: Dataset("d", "m:x", "CC0", identity="x"), "dataset d: identity must read"),
        (lambda: Metric("more"), "better must be one of higher, lower"),
        (lambda: Metric("lower", (1, 1)), "finite and increasing"),
        (lambda: Metric("lower", (0, math.inf)), "finite and increasing"),
        (lambda: Metric("lower", (math.nan, 1)), "finite and increasing"),
        (lambda: Budget(0), "replicates must be positive, got 0"),
        (lambda: Budget(1, seconds=math.nan), "seconds must be positive"),
        (lambda: replace(OF, arms=()), "arms must not be empty"),
        (lambda: replace(OF, arms=(arm("a"), arm("a"))), "arm ids must be unique, a occurs twice"),
        (lambda: replace(OF, datasets=(dataset("d"),) * 2), "dataset ids must be unique"),
        (lambda: replace(OF, budgets={"tiny": Budget(1)}), "profile must be one of smoke, quick"),
        (lambda: replace(OF, source="random"), "source must be one of"),
        (lambda: Stat("m", "median"), "how must be one of mean, slope"),
        (lambda: Stat("m", tail=0.0), r"tail must lie in \(0, 1\], got 0.0"),
        (lambda: Within(Stat("m"), "a", low=0.1), "needs at least one rival"),
        (lambda: Within(Stat("m"), "a", ("b",), "absolute", low=0.1), "takes no rivals"),
        (lambda: Within(Stat("m"), "a", to=("b",)), "a region needs low <= high"),
        (lambda: Within(Stat("m"), "a", to=("b",), low=1, high=0), "a region needs low <= high"),
        (lambda: Within(Stat("m"), "a", to=("b",), low=math.nan), "a region needs low <= high"),
        (lambda: replace(ABOVE, scale="log-ratio", low=701.0), "natural logarithms of factors"),
        (lambda: replace(ABOVE, scale="log-ratio", low=-1e3, high=0.0), r"got \[-1000, 0\]"),
        (lambda: Rate("m", "a"), "anything would hold"),
        (lambda: AllOf(()), "at least one part"),
        (lambda: claim(Every("m", "z", high=0.0)), "has no arm 'z': it has a, b"),
        (lambda: claim(replace(ABOVE, to=("z",))), "has no arm 'z'"),
        (lambda: claim(Rate("k", "a", low=0.5)), "claim c: no metric 'k', known are m, free"),
        (lambda: claim(replace(ABOVE, stat=Stat("m", "slope", "k"))), "no metric 'k'"),
        (lambda: claim(AllOf((ABOVE, Every("k", "a", high=0.0)))), "no metric 'k'"),
        (lambda: claim(replace(ABOVE, low=0.0)), "state the smallest effect worth having"),
        (
            lambda: claim(replace(ABOVE, stat=Stat("free")), procedure="exact"),
            "effects with bounds",
        ),
        (
            lambda: claim(replace(ABOVE, scale="log-ratio"), procedure="exact"),
            "effects with bounds",
        ),
        (
            lambda: claim(replace(ABOVE, stat=Stat("m", "slope")), procedure="exact"),
            "effects with bounds",
        ),
        (lambda: claim(None), "experiment and criterion come together"),
        (lambda: Claim("c", "It is.", "paper"), "says in `missing` what would settle it"),
        (lambda: replace(CLAIM, scope="all"), "claim c: scope must be one of"),
        (lambda: paper(CLAIM, CLAIM), "toy: claim ids must be unique, c occurs twice"),
        (
            lambda: paper(CLAIM, replace(CLAIM, id="d", experiment=replace(OF, trial="m:x"))),
            "toy: two experiments are called e",
        ),
        (lambda: Paper("toy", "T", "d", "guess", (), ()), "toy: fidelity must be one of"),
        (lambda: Paper("toy", "T", "d", "abstract", ("x",), ()), "toy: method must read"),
        (lambda: Tool("t", "x", "s", "e"), "tool t: run must read 'module:attribute'"),
    ],
)
def test_what_is_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_a_zero_is_no_trouble_where_it_compares_nothing() -> None:
    assert claim(Within(Stat("m"), "a", scale="absolute", low=0.0)).stochastic
    sure = replace(OF, source="deterministic")
    assert not Claim("c", "It is.", "paper", sure, replace(ABOVE, low=0.0)).stochastic


def test_bounds_of_effects() -> None:
    metric = (0.0, 2.0)
    assert ABOVE.bounds(metric) == (-2.0, 2.0)
    assert ABOVE.bounds(None) is None
    assert Within(Stat("m"), "a", scale="absolute", low=0.1).bounds(metric) == metric
    assert replace(ABOVE, scale="log-ratio").bounds(metric) is None
    assert replace(ABOVE, stat=Stat("m", "loglog")).bounds(metric) is None
    assert replace(ABOVE, stat=Stat("m", "spearman")).bounds(None) == (-2.0, 2.0)


def test_what_is_chance() -> None:
    every = Every("m", "a", high=1.0)
    assert not claim(every).stochastic
    assert claim(AllOf((every, ABOVE))).stochastic
    assert not Claim("c", "It is.", "target", missing="a rocket").stochastic


def test_profiles_fall_back_to_the_next_that_is_declared() -> None:
    budgets = {"quick": Budget(2), "full": Budget(4)}
    found = {
        p: replace(OF, budgets=budgets).budget(p) for p in ("smoke", "quick", "standard", "full")
    }
    assert {p: b.replicates for p, b in found.items()} == {
        "smoke": 2,
        "quick": 2,
        "standard": 2,
        "full": 4,
    }


def test_lookups() -> None:
    ours = paper(CLAIM, Claim("far", "It is.", "target", missing="a rocket"))
    assert ours.claim("far").missing == "a rocket"
    with pytest.raises(KeyError, match="near"):
        ours.claim("near")
    assert ours.experiments == (OF,)
    assert Arm("a", "builtins:dict", params={"x": 1}).build(y=2) == {"x": 1, "y": 2}
    assert resolve("os.path:join")("a", "b") == "a/b"
    assert Metric("lower", (0, 1)).worst == 1 == Metric("higher", (0, 1)).best
    assert Metric("lower", (0, 1)).best == 0 == Metric("higher", (0, 1)).worst
    assert Metric("lower").worst is None is Metric("lower").best
    assert isinstance(OF, Experiment)
