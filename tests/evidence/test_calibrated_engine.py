"""Verdicts on a hundred synthetic papers, each through the whole engine."""

from __future__ import annotations

from collections import Counter

from trials_for_engine import arm, dataset, experiment, paper, selection

from probatum.evidence import Budget, Claim, Decision, Metric, Rate, Stat, Within
from probatum.evidence.model import Criterion, Experiment
from probatum.evidence.run import execute
from probatum.evidence.store import Store

PAPERS = 100


def verdicts(of: Experiment, **criteria: Criterion) -> dict[str, Counter[str]]:
    """How often each claim came out how; papers differ in their draws."""
    claims = [Claim(name, "It is.", "paper", of, c) for name, c in criteria.items()]
    papers = [paper(*claims, slug=f"toy-{i}") for i in range(PAPERS)]
    with Store("sqlite://") as store:
        report = execute(selection(*papers), store=store, jobs=0)
    found: dict[str, Counter[str]] = {name: Counter() for name in criteria}
    decided: list[Decision] = report.decisions
    for decision in decided:
        found[decision.claim][decision.verdict] += 1
    return found


def test_differences() -> None:
    of = experiment(
        (
            arm("method", "method", mean=1.0, sd=0.5),
            arm("twin", mean=1.0, sd=0.5),
            arm("poor", mean=0.0, sd=0.5),
        ),
        datasets=(dataset("d1"),),
        metrics={"m": Metric("higher")},
        budgets={"quick": Budget(20)},
    )
    found = verdicts(
        of,
        twin=Within(Stat("m"), "method", to=("twin",), low=0.001),
        edge=Within(Stat("m"), "method", to=("poor",), low=1.0),
        true=Within(Stat("m"), "method", to=("poor",), low=0.1),
        false=Within(Stat("m"), "method", to=("poor",), low=1.9),
    )
    # The level of a paper is 0.05 over all its claims.
    assert found["twin"]["holds"] <= 3
    assert found["edge"]["holds"] + found["edge"]["fails"] <= 5
    assert found["true"]["fails"] == 0
    assert found["true"]["holds"] >= 80
    assert found["false"]["holds"] == 0
    assert found["false"]["fails"] >= 80


def test_rates() -> None:
    of = experiment(
        (arm("method", "method", rate=0.8, tries=20),),
        "counts",
        datasets=(dataset("d1"),),
        metrics={"m": Metric("higher"), "hit": Metric("higher", (0, 1))},
        budgets={"quick": Budget(20)},
    )
    found = verdicts(
        of,
        edge=Rate("hit", "method", low=0.8, independent=True),
        true=Rate("hit", "method", low=0.65, independent=True),
        false=Rate("hit", "method", low=0.92, independent=True),
        shares=Rate("hit", "method", low=0.95),
    )
    assert found["edge"]["holds"] + found["edge"]["fails"] <= 5
    assert found["true"]["holds"] >= 90
    assert found["false"]["fails"] >= 90
    assert found["shares"]["holds"] == 0
