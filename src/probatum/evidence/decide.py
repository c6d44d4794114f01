"""From evidence to a decision: the rules of a claim, part by part.

The decision is a function of the claim, the finished trials and the number of replicates planned;
neither the order in which trials ended nor what else the store holds has a part in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from probatum.evidence.measure import (
    Evidence,
    case_contrasts,
    case_values,
    contrast,
    replicate_counts,
)
from probatum.evidence.model import (
    AllOf,
    Claim,
    Decision,
    Every,
    Experiment,
    Guarantee,
    Paper,
    Part,
    Rate,
    Stat,
    Verdict,
    Within,
)
from probatum.evidence.procedures import (
    ALPHA,
    Region,
    Sequential,
    decide_mean,
    decide_rate,
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
Piece = tuple[str, Within | Rate | Every, str | None, tuple[str, ...]]
"""Label, part, rival and datasets of one comparison."""


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


def _pieces(claim: Claim) -> list[Piece]:
    assert claim.experiment is not None
    every_set = tuple(dataset.id for dataset in claim.experiment.datasets)
    pieces: list[Piece] = []
    for part in claim.parts:
        if not isinstance(part, Within):
            pieces.append((f"{part.arm}: {part.of}", part, None, every_set))
            continue
        groups = [(d,) for d in every_set] if part.over == "each" else [every_set]
        for rival in part.to or (None,):
            for group in groups:
                against = f" against {rival}" if rival else ""
                on = f" on {group[0]}" if part.over == "each" else ""
                label = f"{part.arm}{against}{on}: {_measured(part.stat)}"
                pieces.append((label, part, rival, group))
    return pieces


def _measured(stat: Stat) -> str:
    how = "" if stat.how == "mean" else f"{stat.how} of "
    return f"{how}{stat.of}" + ("" if stat.case is None else f", {stat.case}")


def floor(claim: Claim, alpha: float) -> int:
    """Fewest replicates at which a claim could hold.

    One for a rate of independent tries: how many a replicate brings is not known beforehand.
    """
    if not claim.stochastic:
        return 1
    assert claim.experiment is not None
    share = alpha / len(_pieces(claim))
    needed = 1
    for part in claim.parts:
        if isinstance(part, Within):
            bounds = part.bounds(claim.experiment.metrics[part.stat.of].bounds)
            region = _region(part)
            needed = max(needed, floor_of_mean(region, claim.procedure, share, bounds))
        elif isinstance(part, Rate) and not part.independent:
            needed = max(needed, floor_of_mean(_region(part), "exact", share, (0.0, 1.0)))
    return needed


def tries_needed(claim: Claim, alpha: float) -> int | None:
    """Fewest independent tries, over all replicates, at which the rates claimed could hold."""
    rates = [part for part in claim.parts if isinstance(part, Rate) and part.independent]
    share = alpha / max(len(_pieces(claim)), 1) if rates else alpha
    return max((floor_of_rate(_region(part), share) for part in rates), default=None)


def _decide_within(
    claim: Claim, piece: Piece, evidence: Evidence, seen: int, budget: int, alpha: float
) -> Part:
    label, within, rival, datasets = piece
    assert isinstance(within, Within)
    assert claim.experiment is not None
    z = np.full(seen, math.nan)
    for replicate in range(seen):
        effects = [contrast(evidence, within, rival, d, replicate) for d in datasets]
        if None not in effects:
            z[replicate] = math.fsum(effects) / len(effects)  # type: ignore[arg-type]
    region = _region(within)
    bounds = within.bounds(claim.experiment.metrics[within.stat.of].bounds)
    found = decide_mean(
        z, region, procedure=claim.procedure, alpha=alpha, bounds=bounds, budget=budget
    )
    lost = int(np.isnan(z[: found.n]).sum())
    verdict, reason = found.verdict, found.refused
    if lost and verdict == "holds":
        verdict, found = "undecided", replace(found, n=seen)
        reason = f"{lost} replicates failed and the metric has no bounds to count them at"
    guarantee: Guarantee = "exact" if claim.procedure == "exact" else "asymptotic"
    return _part(label, found, verdict, guarantee, reason)


def _part(
    label: str, found: Sequential, verdict: Verdict, guarantee: Guarantee, reason: str = ""
) -> Part:
    return Part(
        label,
        verdict,
        guarantee,
        found.effect,
        found.low,
        found.high,
        found.n,
        found.n,
        found.exact,
        found.more_needed,
        reason,
    )


def _decide_every(label: str, part: Every, evidence: Evidence, seen: int, budget: int) -> Part:
    limit = part.high + part.slack
    values, lost = case_values(evidence, part, seen)
    worst, n, failed = -math.inf, 0, 0
    for look in look_schedule(budget):
        if look > seen:
            break
        here = [value for value in values if value[1] < look]
        n, failed = len(here), sum(replicate < look for replicate in lost)
        if here:
            dataset, replicate, case, worst = max(here, key=lambda value: value[3])
        if worst > limit:
            where = f"{dataset}, replicate {replicate}" + (f", case {case}" if case else "")
            reason = f"counterexample: {part.of} = {worst:.6g} > {part.high:g} at {where}"
            return Part(label, "fails", "enumeration", worst, worst, worst, n, look, reason=reason)
        if n >= part.at_least and not failed:
            return Part(label, "holds", "enumeration", worst, worst, worst, n, look)
    reason = f"{n} of {part.at_least} cases seen"
    reason += f", {failed} trials failed or lack {part.of}" if failed else ""
    return Part(label, "undecided", "enumeration", worst, worst, worst, n, seen, reason=reason)


def _effects_once(piece: Piece, evidence: Evidence) -> list[float]:
    """Numbers that have no spread: of a deterministic run, or of recorded cases."""
    _, part, rival, datasets = piece
    if isinstance(part, Rate):
        counts = replicate_counts(evidence, part, 1)[0]
        tries = sum(n for _, n in counts)
        return [sum(k for k, _ in counts) / tries] if tries else []
    assert isinstance(part, Within)
    if evidence.experiment.source == "recorded":
        arms = (part.arm, *([rival] if rival else []))
        if any((arm, dataset, 0) in evidence.failed for arm in arms for dataset in datasets):
            return []
        return [effect for _, effect in case_contrasts(evidence, part, rival, datasets)]
    found = [contrast(evidence, part, rival, dataset, 0) for dataset in datasets]
    effects = [effect for effect in found if effect is not None]
    return effects if len(effects) == len(found) else []


def _decide_once(piece: Piece, evidence: Evidence, seen: int) -> Part:
    label, part, _, _ = piece
    recorded = evidence.experiment.source == "recorded"
    guarantee: Guarantee = "descriptive" if recorded else "deterministic"
    effects = _effects_once(piece, evidence) if seen else []
    if not effects:
        nan, reason = math.nan, "nothing was measured"
        return Part(label, "undecided", guarantee, nan, nan, nan, 0, seen, reason=reason)
    effect = math.fsum(effects) / len(effects)
    verdict = _region(part).verdict(effect, effect)
    return Part(label, verdict, guarantee, effect, effect, effect, len(effects), seen)


def _decide_piece(
    claim: Claim, piece: Piece, evidence: Evidence, seen: int, budget: int, alpha: float
) -> Part:
    label, part, _, _ = piece
    if isinstance(part, Every):
        return _decide_every(label, part, evidence, seen, budget)
    if evidence.experiment.source != "stochastic":
        return _decide_once(piece, evidence, seen)
    if isinstance(part, Within):
        return _decide_within(claim, piece, evidence, seen, budget, alpha)
    counts = replicate_counts(evidence, part, seen)
    region = _region(part)
    if part.independent:
        ks = [sum(k for k, _ in of) for of in counts]
        ns = [sum(n for _, n in of) for of in counts]
        found = decide_rate(ks, ns, region, alpha=alpha, budget=budget)
    else:
        found = decide_mean(
            [_share(of) for of in counts],
            region,
            procedure="exact",
            alpha=alpha,
            bounds=(0.0, 1.0),
            budget=budget,
        )
    return _part(label, found, found.verdict, "exact")


def _share(counts: Sequence[tuple[int, int]]) -> float:
    """A replicate's share of successes, each dataset weighing the same."""
    shares = [k / n for k, n in counts if n]
    return math.fsum(shares) / len(shares) if shares else math.nan


def _with_rival(part: Part, piece: Piece, evidence: Evidence) -> Part:
    """The part, left open where the rival never once ran: nothing was compared."""
    _, _, rival, datasets = piece
    ran = any((rival, d, r) in evidence.rows for d in datasets for r in range(part.replicates))
    if rival is None or ran or not part.replicates:
        return part
    return replace(part, verdict="undecided", more_needed=None, reason=f"{rival} never ran")


def _exceptions(
    claim: Claim, piece: Piece, evidence: Evidence, part: Part, alpha: float
) -> tuple[str, ...]:
    """Datasets (or cases) that lie wholly outside the region though the average holds."""
    _, within, rival, datasets = piece
    if not isinstance(within, Within) or part.verdict != "holds":
        return ()
    region = _region(within)
    if part.guarantee == "descriptive":
        effects = case_contrasts(evidence, within, rival, datasets)
        return tuple(case for case, z in effects if region.verdict(z, z) == "fails")
    if len(datasets) < 2:
        return ()
    outside = []
    for dataset in datasets:
        single = (part.label, within, rival, (dataset,))
        if part.guarantee == "deterministic":
            alone = _decide_once(single, evidence, part.replicates)
        else:
            share = alpha / len(datasets)
            alone = _decide_within(claim, single, evidence, part.replicates, part.replicates, share)
        if alone.verdict == "fails":
            outside.append(f"{dataset} against {rival}" if rival else dataset)
    return tuple(outside)


def _region(part: Within | Rate | Every) -> Region:
    if isinstance(part, Every):
        return Region(high=part.high + part.slack)
    return Region(part.low, part.high)


def _deciding(pieces: Sequence[Piece], parts: Sequence[Part]) -> int:
    """Which part that carries the verdict: a failing one, else an open one, else the narrowest."""
    rank = {"fails": 0, "undecided": 1, "untested": 1, "holds": 2}

    def order(at: int) -> tuple[int, float]:
        part, region = parts[at], _region(pieces[at][1])
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
    pieces = _pieces(claim)
    share = alpha / len(pieces)
    refused = experiment.source == "stochastic" and evidence.replicates_agree()
    if refused:
        seen = min(seen, next(look_schedule(budget)))
    parts = [_decide_piece(claim, piece, evidence, seen, budget, share) for piece in pieces]
    parts = [_with_rival(p, piece, evidence) for p, piece in zip(parts, pieces, strict=True)]
    if refused:
        why = UNVARIED if any(d.own for d in experiment.datasets) else AGREEMENT
        parts = [replace(p, verdict="undecided", reason=why, more_needed=None) for p in parts]
    first = _decisive_look(parts)
    if first < seen:
        # The parts as they stood when the claim was decided.
        parts = [_decide_piece(claim, piece, evidence, first, budget, share) for piece in pieces]
        parts = [_with_rival(p, piece, evidence) for p, piece in zip(parts, pieces, strict=True)]
    verdict, at = _verdict(parts), _deciding(pieces, parts)
    lead, region = parts[at], _region(pieces[at][1])
    exceptions = tuple(
        dict.fromkeys(
            name
            for piece, part in zip(pieces, parts, strict=True)
            for name in _exceptions(claim, piece, evidence, part, share)
        )
    )
    n = max(part.n for part in parts)
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
        n=n,
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
