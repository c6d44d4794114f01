"""Evidence filled in by a function of arm, data set and replicate, and claims to decide from it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trials_for_engine import arm, experiment, paper

from probatum.evidence import Claim, Criterion, Decision, Metric, Row, Stat
from probatum.evidence import Within as WithinOf
from probatum.evidence.decide import decide
from probatum.evidence.measure import Evidence
from probatum.evidence.model import Experiment
from probatum.evidence.store import Record

METRICS = {
    "m": Metric("higher"),
    "bad": Metric("lower"),
    "unit": Metric("higher", (0.0, 1.0)),
    "hit": Metric("higher", (0.0, 1.0)),
}
ARMS = (arm("a", "method"), arm("b"), arm("c"))
OF = experiment(ARMS, metrics=METRICS)
SURE = replace(OF, id="sure", source="deterministic")
Value = Callable[[str, str, int], "float | tuple[Row, ...] | None"]


def filled(of: Experiment, value: Value, n: int = 1, metric: str = "m") -> Evidence:
    """Trials of all arms; None is one that failed."""
    found = Evidence(of)
    for a, d, r in itertools.product(of.arms, of.datasets, range(n)):
        got = value(a.id, d.id, r)
        rows = (Row(a.id, values={metric: got}),) if isinstance(got, int | float) else got
        status = "raised" if rows is None else "ok"
        found.add(Record("k", "toy", of.id, a.id, d.id, r, status, rows or ()))
    return found


def noise(a: str, d: str, r: int) -> float:
    """Between -1 and 1, never twice the same, and around zero in every stretch."""
    return math.sin(r * 7.0 + 3 * len(d) + ord(a[0]) + ord(d[-1]))


def within(rival: str = "b", **changes: Any) -> WithinOf:
    settings = {"stat": Stat("m"), "arm": "a", "to": (rival,), "low": 0.1, **changes}
    return WithinOf(**settings)


def of_arm(name: str, low: float = -math.inf, high: float = math.inf) -> WithinOf:
    return WithinOf(Stat("m"), name, scale="absolute", low=low, high=high)


def claim(criterion: Criterion, of: Experiment = OF, **changes: Any) -> Claim:
    return Claim("c", "It is.", "paper", of, criterion, **changes)


def decided(
    criterion: Criterion, value: Value, n: int = 20, of: Experiment = OF, **changes: Any
) -> Decision:
    asked = claim(criterion, of, **changes)
    return decide(paper(asked), asked, filled(of, value, n), 20)
