"""The comparisons that a claim consists of, and how each is decided by itself.

A claim with two rivals, or one asked of every dataset, is several comparisons. Each is decided from
one number per replicate; :mod:`probatum.evidence.decide` puts them together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probatum.evidence.measure import (
    Evidence,
    case_contrasts,
    case_values,
    contrast,
    replicate_counts,
)
from probatum.evidence.model import Claim, Every, Guarantee, Part, Rate, Stat, Verdict, Within
from probatum.evidence.procedures import (
    Look,
    Region,
    Sequential,
    decide_mean,
    decide_rate,
    look_schedule,
    mean_looks,
    rate_looks,
)

__all__ = [
    "Piece",
    "decide_piece",
    "interval_path",
    "measured",
    "pieces",
    "region_of",
    "replicate_effects",
    "with_rival",
]


class Piece(NamedTuple):
    """One comparison: what is asked of which rival on which datasets."""

    label: str
    part: Within | Rate | Every
    rival: str | None
    datasets: tuple[str, ...]


def pieces(claim: Claim) -> list[Piece]:
    """The comparisons of a claim, in the order of its criterion; none of an untested one."""
    if claim.experiment is None:
        return []
    every_set = tuple(dataset.id for dataset in claim.experiment.datasets)
    found: list[Piece] = []
    for part in claim.parts:
        if not isinstance(part, Within):
            case = "" if part.case is None else f", {part.case}"
            found.append(Piece(f"{part.arm}: {part.of}{case}", part, None, every_set))
            continue
        groups = [(d,) for d in every_set] if part.over == "each" else [every_set]
        for rival in part.to or (None,):
            for group in groups:
                against = f" against {rival}" if rival else ""
                on = f" on {group[0]}" if part.over == "each" else ""
                label = f"{part.arm}{against}{on}: {measured(part.stat)}"
                found.append(Piece(label, part, rival, group))
    return found


_HOW = {
    "mean": "",
    "max": "largest ",
    "slope": "slope of ",
    "loglog": "log-log slope of ",
    "spearman": "rank correlation of ",
    "kendall": "Kendall's tau of ",
}


def measured(stat: Stat) -> str:
    """What is measured, in a few words."""
    return f"{_HOW[stat.how]}{stat.of}" + ("" if stat.case is None else f", {stat.case}")


def region_of(part: Within | Rate | Every) -> Region:
    """The effects that a part of a criterion allows."""
    if isinstance(part, Every):
        return Region(high=part.high + part.slack)
    return Region(part.low, part.high)


def _decide_within(
    claim: Claim, piece: Piece, evidence: Evidence, seen: int, budget: int, alpha: float
) -> Part:
    z = replicate_effects(piece, evidence, seen)
    bounds = _bounds(piece, evidence)
    region = region_of(piece.part)
    found = decide_mean(
        z, region, procedure=claim.procedure, alpha=alpha, bounds=bounds, budget=budget
    )
    lost = int(np.isnan(z[: found.n]).sum())
    verdict, reason = found.verdict, found.refused
    if lost and verdict == "holds":
        verdict, found = "undecided", replace(found, n=seen)
        reason = f"{lost} replicates failed and the metric has no bounds to count them at"
    guarantee: Guarantee = "exact" if claim.procedure == "exact" else "asymptotic"
    return _part(piece.label, found, verdict, guarantee, reason)


def replicate_effects(piece: Piece, evidence: Evidence, seen: int) -> NDArray[np.float64]:
    """One effect per replicate, of shape (seen,): over datasets that weigh the same.

    NaN where a failure leaves it open. A rate's is its share of successes.
    """
    _, part, rival, datasets = piece
    if isinstance(part, Rate):
        return np.array([_share(of) for of in replicate_counts(evidence, part, seen)])
    assert isinstance(part, Within)
    z = np.full(seen, math.nan)
    for replicate in range(seen):
        effects = [contrast(evidence, part, rival, d, replicate) for d in datasets]
        if None not in effects:
            z[replicate] = math.fsum(effects) / len(effects)  # type: ignore[arg-type]
    return z


def _bounds(piece: Piece, evidence: Evidence) -> tuple[float, float] | None:
    part = piece.part
    if not isinstance(part, Within):
        return (0.0, 1.0)
    return part.bounds(evidence.experiment.metrics[part.stat.of].bounds)


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
    verdict = region_of(part).verdict(effect, effect)
    return Part(label, verdict, guarantee, effect, effect, effect, len(effects), seen)


def decide_piece(
    claim: Claim, piece: Piece, evidence: Evidence, seen: int, budget: int, alpha: float
) -> Part:
    """Decide one comparison from the first ``seen`` of ``budget`` planned replicates."""
    label, part, _, _ = piece
    if isinstance(part, Every):
        return _decide_every(label, part, evidence, seen, budget)
    if evidence.experiment.source != "stochastic":
        return _decide_once(piece, evidence, seen)
    if isinstance(part, Within):
        return _decide_within(claim, piece, evidence, seen, budget, alpha)
    region = region_of(part)
    if part.independent:
        ks, ns = _tallies(part, evidence, seen)
        found = decide_rate(ks, ns, region, alpha=alpha, budget=budget)
    else:
        found = decide_mean(
            replicate_effects(piece, evidence, seen),
            region,
            procedure="exact",
            alpha=alpha,
            bounds=_bounds(piece, evidence),
            budget=budget,
        )
    return _part(label, found, found.verdict, "exact")


def _tallies(part: Rate, evidence: Evidence, seen: int) -> tuple[list[int], list[int]]:
    """Successes and tries per replicate."""
    counts = replicate_counts(evidence, part, seen)
    return [sum(k for k, _ in of) for of in counts], [sum(n for _, n in of) for of in counts]


def interval_path(
    claim: Claim, piece: Piece, evidence: Evidence, seen: int, budget: int, alpha: float
) -> list[Look]:
    """The interval at every look up to ``seen`` replicates; none where nothing is random."""
    looks = [n for n in look_schedule(budget) if n <= seen]
    if evidence.experiment.source != "stochastic" or isinstance(piece.part, Every):
        return []
    if isinstance(piece.part, Rate) and piece.part.independent:
        return rate_looks(*_tallies(piece.part, evidence, seen), looks, alpha)
    exact = isinstance(piece.part, Rate) or claim.procedure == "exact"
    return mean_looks(
        replicate_effects(piece, evidence, seen),
        looks,
        procedure="exact" if exact else "t",
        alpha=alpha,
        bounds=_bounds(piece, evidence),
    )


def _share(counts: Sequence[tuple[int, int]]) -> float:
    """A replicate's share of successes, each dataset weighing the same."""
    shares = [k / n for k, n in counts if n]
    return math.fsum(shares) / len(shares) if shares else math.nan


def with_rival(part: Part, piece: Piece, evidence: Evidence) -> Part:
    """The part, left open where the rival never once ran: nothing was compared."""
    _, _, rival, datasets = piece
    ran = any((rival, d, r) in evidence.rows for d in datasets for r in range(part.replicates))
    if rival is None or ran or not part.replicates:
        return part
    return replace(part, verdict="undecided", more_needed=None, reason=f"{rival} never ran")
