"""From evidence to a decision: the rules of a claim, part by part.

The decision is a function of the claim, the finished trials and the number of replicates planned;
neither the order in which trials ended nor what else the store holds has a part in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from probatum.evidence.measure import Evidence, case_contrasts
from probatum.evidence.model import (
    AllOf,
    Claim,
    Decision,
    Experiment,
    Paper,
    Part,
    Rate,
    Verdict,
    Within,
)
from probatum.evidence.pieces import Piece, decide_piece, pieces, region_of, with_rival
from probatum.evidence.procedures import (
    ALPHA,
    Region,
    floor_of_mean,
    floor_of_rate,
    look_schedule,
)

__all__ = [
    "claim_alpha",
    "claim_arms",
    "control_decisions",
    "controls",
    "decide",
    "floor",
    "not_run",
    "replicates_budget",
    "tries_needed",
    "untested",
]

UNVARIED = (
    "on these data the replicates don't differ in any arm, so that chance has nothing to decide; "
    "the effect is what it is"
)
AGREEMENT = (
    "refused: replicates 0 and 1 agree in every arm; declare the experiment deterministic or draw "
    "from block.rng"
)


def claim_alpha(paper: Paper) -> float:
    """Error level of each stochastic claim: 0.05 over those that the paper declares."""
    return ALPHA / max(paper.level_shares or sum(claim.stochastic for claim in paper.claims), 1)


def replicates_budget(experiment: Experiment, replicates: int) -> int:
    """Replicates that make sense: one where nothing is random."""
    return replicates if experiment.source == "stochastic" else 1


def claim_arms(claim: Claim) -> tuple[str, ...]:
    """Arms whose trials the criterion reads."""
    arms: dict[str, None] = {}
    for part in claim.parts:
        arms[part.arm] = None
        if isinstance(part, Within):
            arms.update(dict.fromkeys(part.to))
    return tuple(arms)


def controls(claim: Claim) -> tuple[str, ...]:
    """The experiment's negative controls that can stand in for the claim's method."""
    if claim.experiment is None:
        return ()
    named = claim_arms(claim)
    return tuple(a.id for a in claim.experiment.arms if a.role == "control" and a.id not in named)


def floor(claim: Claim, alpha: float) -> int:
    """Fewest replicates at which a claim could hold.

    One for a rate of independent tries: how many a replicate brings is not known beforehand.
    """
    if not claim.stochastic:
        return 1
    assert claim.experiment is not None
    share = alpha / len(pieces(claim))
    needed = 1
    for part in claim.parts:
        if isinstance(part, Within):
            bounds = part.bounds(claim.experiment.metrics[part.stat.of].bounds)
            region = region_of(part)
            needed = max(needed, floor_of_mean(region, claim.procedure, share, bounds))
        elif isinstance(part, Rate) and not part.independent:
            needed = max(needed, floor_of_mean(region_of(part), "exact", share, (0.0, 1.0)))
    return needed


def tries_needed(claim: Claim, alpha: float) -> int | None:
    """Fewest independent tries, over all replicates, at which the rates claimed could hold."""
    rates = [part for part in claim.parts if isinstance(part, Rate) and part.independent]
    share = alpha / max(len(pieces(claim)), 1) if rates else alpha
    return max((floor_of_rate(region_of(part), share) for part in rates), default=None)


def _exceptions(
    claim: Claim, piece: Piece, evidence: Evidence, part: Part, alpha: float
) -> tuple[str, ...]:
    """Datasets (or cases) that lie wholly outside the region though the average holds."""
    _, within, rival, datasets = piece
    if not isinstance(within, Within) or part.verdict != "holds":
        return ()
    region = region_of(within)
    if part.guarantee == "descriptive":
        effects = case_contrasts(evidence, within, rival, datasets)
        return tuple(case for case, z in effects if region.verdict(z, z) == "fails")
    if len(datasets) < 2:
        return ()
    outside = []
    for dataset in datasets:
        single, n = piece._replace(datasets=(dataset,)), part.replicates
        alone = decide_piece(claim, single, evidence, n, n, alpha / len(datasets))
        if alone.verdict == "fails":
            outside.append(f"{dataset} against {rival}" if rival else dataset)
    return tuple(outside)


def _deciding(asked: Sequence[Piece], parts: Sequence[Part]) -> int:
    """Which part that carries the verdict: a failing one, else an open one, else the narrowest."""
    rank = {"fails": 0, "undecided": 1, "untested": 1, "holds": 2}

    def order(at: int) -> tuple[int, float]:
        part, region = parts[at], region_of(asked[at].part)
        margin = min(part.effect - region.low, region.high - part.effect)
        return rank[part.verdict], -math.inf if math.isnan(margin) else margin

    return min(range(len(parts)), key=order)


def _verdict(parts: Sequence[Part]) -> Verdict:
    if any(part.verdict == "fails" for part in parts):
        return "fails"
    return "holds" if all(part.verdict == "holds" for part in parts) else "undecided"


def _decisive_look(parts: Sequence[Part]) -> int:
    """Replicates at which the parts first made a verdict, or those seen where they make none."""
    if any(part.verdict == "fails" for part in parts):
        return min(part.replicates for part in parts if part.verdict == "fails")
    return max(part.replicates for part in parts)


def decide(
    paper: Paper,
    claim: Claim,
    evidence: Evidence | None,
    replicates: int,
    upto: int | None = None,
) -> Decision:
    """Decide a claim from the trials that are there.

    Parameters
    ----------
    paper, claim : Paper, Claim
        The claim, and the paper whose error level it shares.
    evidence : Evidence or None
        Finished trials of the claim's experiment; None for an untested claim.
    replicates : int
        Replicates planned. Looks are taken at complete prefixes up to it, and the first that
        decides counts, whatever came later.
    upto : int, optional
        Take no more replicates than that into account.
    """
    if claim.experiment is None or evidence is None:
        return untested(paper, claim)
    experiment, alpha = claim.experiment, claim_alpha(paper)
    budget = replicates_budget(experiment, replicates)
    arms = claim_arms(claim)
    seen = evidence.complete(arms, budget if upto is None else min(upto, budget))
    asked = pieces(claim)
    share = alpha / len(asked)
    refused = experiment.source == "stochastic" and evidence.replicates_agree()
    if refused:
        seen = min(seen, next(look_schedule(budget)))
    parts = [decide_piece(claim, piece, evidence, seen, budget, share) for piece in asked]
    parts = [with_rival(p, piece, evidence) for p, piece in zip(parts, asked, strict=True)]
    if refused:
        why = UNVARIED if any(d.own for d in experiment.datasets) else AGREEMENT
        parts = [replace(p, verdict="undecided", reason=why, more_needed=None) for p in parts]
    first = _decisive_look(parts)
    if first < seen:
        # The parts as they stood when the claim was decided.
        parts = [decide_piece(claim, piece, evidence, first, budget, share) for piece in asked]
        parts = [with_rival(p, piece, evidence) for p, piece in zip(parts, asked, strict=True)]
    verdict, at = _verdict(parts), _deciding(asked, parts)
    lead, region = parts[at], region_of(asked[at].part)
    exceptions = tuple(
        dict.fromkeys(
            name
            for piece, part in zip(asked, parts, strict=True)
            for name in _exceptions(claim, piece, evidence, part, share)
        )
    )
    more = [part.more_needed for part in parts if part.verdict == "undecided"]
    decision = Decision(
        paper=paper.slug,
        claim=claim.id,
        scope=claim.scope,
        fidelity=paper.fidelity,
        verdict=verdict,
        guarantee=lead.guarantee,
        effect=_finite(lead.effect),
        low=_finite(lead.low),
        high=_finite(lead.high),
        level=alpha if claim.stochastic else 0.0,
        n=lead.n,
        unit="cases" if lead.guarantee in ("enumeration", "descriptive") else "replicates",
        exceptions=exceptions,
        failures=evidence.failures(arms, max(part.replicates for part in parts)),
        more_needed=None if not more or None in more else max(m for m in more if m is not None),
        reason="",
        parts=tuple(parts),
    )
    return replace(decision, reason=_reason(claim, decision, lead, region, seen, budget))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _reason(
    claim: Claim, decision: Decision, lead: Part, region: Region, seen: int, budget: int
) -> str:
    said = []
    if len(decision.parts) > 1:
        said.append(lead.label)
    if lead.reason:
        said.append(lead.reason)
    if decision.verdict == "undecided" and not lead.reason:
        said.append(f"{seen} of {budget} replicates done" if seen < budget else "budget spent")
    if lead.exact is not None:
        confirmed = region.verdict(*lead.exact) == lead.verdict
        doubt = "" if confirmed else ", which does not confirm it"
        said.append(f"exact interval [{lead.exact[0]:.4g}, {lead.exact[1]:.4g}]{doubt}")
    if decision.failures:
        said.append(f"{decision.failures} failed trials, counted at the metric's bounds")
    if decision.verdict == "fails" and claim.analysis:
        said.append(claim.analysis)
    assert claim.experiment is not None
    if claim.experiment.prepare:
        said.append(f"given what {claim.experiment.prepare.partition(':')[2]} prepared")
    return "; ".join(said)


def untested(paper: Paper, claim: Claim) -> Decision:
    """The decision on a claim that nothing here can try, or on one not tried yet."""
    return Decision(
        paper=paper.slug,
        claim=claim.id,
        scope=claim.scope,
        fidelity=paper.fidelity,
        verdict="untested",
        guarantee="none",
        effect=None,
        low=None,
        high=None,
        level=0.0,
        n=0,
        unit="replicates",
        exceptions=(),
        failures=0,
        more_needed=None,
        reason=f"needs {claim.missing}" if claim.missing else "not run",
    )


def not_run(paper: Paper, claim: Claim, why: str) -> Decision:
    """The decision on a claim that something missing here kept from being tried."""
    return replace(untested(paper, claim), reason=f"could not be run: {why}")


def control_decisions(
    paper: Paper, claim: Claim, evidence: Evidence, replicates: int
) -> dict[str, Decision]:
    """The same claim asked of each negative control, at the same number of replicates."""
    found = {}
    for control in controls(claim):
        parts = tuple(replace(part, arm=control) for part in claim.parts)
        stand_in = replace(claim, criterion=AllOf(parts) if len(parts) > 1 else parts[0])
        found[control] = decide(paper, stand_in, evidence, replicates)
    return found
