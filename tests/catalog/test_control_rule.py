"""No negative control earns what the method earns, in shipped evidence and at equal n.

A control either fails the claim, or the method holds and the control does not. Timed claims are
exempt: a method with its key step removed may well be faster.
"""

from __future__ import annotations

import pytest

from probatum import catalog
from probatum.evidence import Claim, Paper
from probatum.evidence.decide import control_decisions
from probatum.evidence.shipped import SHIPPED, read_records, read_sidecar, shipped_runs

CLAIMS = [
    pytest.param(paper, claim, id=f"{paper.slug}/{claim.id}")
    for paper in catalog.load().papers
    for claim in paper.claims
    if claim.stochastic and claim.experiment is not None and not claim.experiment.exclusive
]


def rule(paper: Paper, claim: Claim) -> dict[str, tuple[str, str]]:
    """The controls that break the rule, with the method's verdict and their own."""
    records = read_records(paper.slug)
    runs = shipped_runs(paper, read_sidecar(paper.slug), records)
    run = next(run for run in runs if run.experiment is claim.experiment)
    method = run.decisions[claim.id].verdict
    found = control_decisions(paper, claim, run.evidence, run.target)
    assert found, f"{paper.slug}/{claim.id} has no negative control"
    return {
        control: (method, decision.verdict)
        for control, decision in found.items()
        if decision.verdict != "fails" and not (method == "holds" != decision.verdict)
    }


@pytest.mark.parametrize(("paper", "claim"), CLAIMS)
def test_controls_do_not_earn_what_the_method_earns(paper: Paper, claim: Claim) -> None:
    if not (SHIPPED / f"{paper.slug}.csv").exists():
        pytest.skip(f"nothing is shipped for {paper.slug} yet")
    assert rule(paper, claim) == {}
