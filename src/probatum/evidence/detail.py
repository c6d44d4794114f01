"""What stands behind a decision, as numbers to print and to draw.

Everything here is computed from the same replicates that the decision rests on; nothing decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probatum.evidence.decide import claim_alpha, replicates_budget
from probatum.evidence.measure import (
    Evidence,
    case_contrasts,
    case_values,
    replicate_counts,
)
from probatum.evidence.model import Claim, Decision, Every, Paper, Part, Rate, Within
from probatum.evidence.pieces import (
    Piece,
    decide_piece,
    interval_path,
    measured,
    pieces,
    region_of,
    replicate_effects,
)
from probatum.evidence.procedures import Look, mean_looks, rate_looks

__all__ = ["Cell", "Curve", "Detail", "Estimate", "Failed", "PartDetail", "claim_detail"]

MOST_CASES = 200
MOST_POINTS = 60
"""Of one curve; more are thinned evenly."""


@dataclass(frozen=True)
class Estimate:
    """An effect, and its interval where there is one: over all datasets, or on one of them.

    ``dataset`` is empty for the average, ``rival`` where nothing is compared. ``verdict`` says how
    the interval lies to the region, were it alone.
    """

    rival: str
    dataset: str
    effect: float
    low: float | None
    high: float | None
    n: int
    verdict: str


@dataclass(frozen=True)
class Cell:
    """What an arm scored on a dataset (or in a case), over the replicates that decided.

    ``value`` is None where nothing could be measured; ``best`` marks the best of its line.
    """

    group: str
    arm: str
    value: float | None
    n: int
    failed: int
    best: bool = False


@dataclass(frozen=True)
class Curve:
    """Mean of a metric along x (or against another metric), of one arm on one dataset."""

    dataset: str
    arm: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class PartDetail:
    """One part of a criterion: its region, effects, how they came about and what they compare.

    ``of`` says what is measured, ``named`` in which case, too. ``low`` and ``high`` bound the
    region (infinite where open). ``path`` holds, per rival (and
    dataset, where each is asked), the interval at every look.
    """

    part: Within | Rate | Every
    metric: str
    case: str
    of: str
    scale: Literal["absolute", "difference", "log-ratio", "rate", "worst"]
    better: str
    low: float
    high: float
    overall: tuple[Estimate, ...]
    by_dataset: tuple[Estimate, ...]
    cases: tuple[Estimate, ...]
    path: tuple[tuple[str, tuple[Look, ...]], ...]
    cells: tuple[Cell, ...]
    curves: tuple[Curve, ...]

    @property
    def named(self) -> str:
        """What is measured, and in which case."""
        return f"{self.of}, {self.case}" if self.case else self.of

    def as_ruled(self) -> PartDetail:
        """Ratios in the direction of the rule's words: the arm's own over the rival's.

        Effects are oriented so that more is better, so that of a lower-is-better metric it is the
        rival's over the arm's own.
        """
        if self.scale != "log-ratio" or self.better != "lower":
            return self
        path = tuple(
            (name, tuple(Look(n, -effect, -high, -low) for n, effect, low, high in looks))
            for name, looks in self.path
        )
        return replace(
            self,
            low=-self.high,
            high=-self.low,
            overall=tuple(map(_turned, self.overall)),
            by_dataset=tuple(map(_turned, self.by_dataset)),
            cases=tuple(map(_turned, self.cases)),
            path=path,
        )


def _turned(estimate: Estimate) -> Estimate:
    low = None if estimate.high is None else -estimate.high
    high = None if estimate.low is None else -estimate.low
    return replace(estimate, effect=-estimate.effect, low=low, high=high)


@dataclass(frozen=True)
class Failed:
    """Trials of an arm on a dataset that ended alike."""

    arm: str
    dataset: str
    status: str
    count: int


@dataclass(frozen=True)
class Detail:
    """A claim's parts, and the failures of its experiment's arms."""

    parts: tuple[PartDetail, ...]
    failed: tuple[Failed, ...]


def claim_detail(
    paper: Paper, claim: Claim, evidence: Evidence, decision: Decision, replicates: int
) -> Detail:
    """Lay out what a decision rests on.

    Parameters
    ----------
    paper, claim : Paper, Claim
    evidence : Evidence
        The trials that the claim was decided from.
    decision : Decision
        Its decision; the replicates that it looked at are those shown.
    replicates : int
        Replicates planned, which set the looks.

    Returns
    -------
    Detail
        Without parts where nothing was tried.
    """
    asked = pieces(claim)
    if not asked or not decision.parts:
        return Detail((), ())
    share = claim_alpha(paper) / len(asked)
    budget = replicates_budget(evidence.experiment, replicates)
    seen = max(part.replicates for part in decision.parts)
    found = []
    for part in claim.parts:
        own = [(p, d) for p, d in zip(asked, decision.parts, strict=True) if p.part is part]
        found.append(_part(claim, part, own, evidence, seen, budget, share))
    return Detail(tuple(found), tuple(_failed(evidence, seen)))


def _part(
    claim: Claim,
    part: Within | Rate | Every,
    own: Sequence[tuple[Piece, Part]],
    evidence: Evidence,
    seen: int,
    budget: int,
    alpha: float,
) -> PartDetail:
    region = region_of(part)
    within = part if isinstance(part, Within) else None
    metric = evidence.experiment.metrics[within.stat.of if within else part.of]  # type: ignore[union-attr]
    each = within is not None and within.over == "each"
    recorded = evidence.experiment.source == "recorded"
    path = [
        (
            _line(piece, each),
            tuple(interval_path(claim, piece, evidence, d.replicates, budget, alpha)),
        )
        for piece, d in own
    ]
    by_dataset = [] if each else _by_dataset(claim, own, evidence, alpha)
    return PartDetail(
        part=part,
        metric=within.stat.of if within else part.of,  # type: ignore[union-attr]
        case=(within.stat.case if within else part.case) or "",  # type: ignore[union-attr]
        of=_of(part),
        scale=within.scale if within else "rate" if isinstance(part, Rate) else "worst",
        better=metric.better if within is None or within.stat.is_level else "",
        low=region.low,
        high=region.high,
        overall=tuple(_overall(piece, d, each) for piece, d in own),
        by_dataset=tuple(by_dataset),
        cases=tuple(_cases(own, evidence)) if recorded and within else (),
        path=tuple((name, looks) for name, looks in path if looks),
        cells=tuple(_best_marked(_cells(part, evidence, seen), metric.better, part)),
        curves=tuple(_curves(within, evidence, seen)) if within else (),
    )


def _of(part: Within | Rate | Every) -> str:
    if isinstance(part, Within):
        return measured(replace(part.stat, case=None))
    return part.of


def _line(piece: Piece, each: bool) -> str:
    names = [piece.rival or "", piece.datasets[0] if each else ""]
    return ", ".join(name for name in names if name)


def _overall(piece: Piece, part: Part, each: bool) -> Estimate:
    bounded = math.isfinite(part.low) and math.isfinite(part.high) and part.low < part.high
    return Estimate(
        piece.rival or "",
        piece.datasets[0] if each else "",
        part.effect,
        part.low if bounded else None,
        part.high if bounded else None,
        part.n,
        part.verdict,
    )


def _by_dataset(
    claim: Claim, own: Sequence[tuple[Piece, Part]], evidence: Evidence, alpha: float
) -> Iterator[Estimate]:
    """Each dataset alone, at its share of the level; none where there is but one."""
    for piece, decided in own:
        if len(piece.datasets) < 2:
            continue
        for dataset in piece.datasets:
            single = piece._replace(datasets=(dataset,))
            found = _alone(claim, single, evidence, decided.replicates, alpha / len(piece.datasets))
            if found is not None:
                yield found


def _alone(
    claim: Claim, single: Piece, evidence: Evidence, seen: int, alpha: float
) -> Estimate | None:
    part, dataset, rival = single.part, single.datasets[0], single.rival or ""
    region = region_of(part)
    if isinstance(part, Every):
        values = [v for d, _, _, v in case_values(evidence, part, seen)[0] if d == dataset]
        if not values:
            return None
        worst = max(values)
        return Estimate(
            rival, dataset, worst, None, None, len(values), region.verdict(worst, worst)
        )
    if evidence.experiment.source != "stochastic":
        once = decide_piece(claim, single, evidence, seen, seen, alpha)
        if not math.isfinite(once.effect):
            return None
        return Estimate(rival, dataset, once.effect, None, None, once.n, once.verdict)
    look = _last_look(claim, single, evidence, seen, alpha)
    if look is None:
        return None
    n, effect, low, high = look
    if not math.isfinite(low) or not math.isfinite(high):
        return Estimate(rival, dataset, effect, None, None, n, "undecided")
    return Estimate(rival, dataset, effect, low, high, n, region.verdict(low, high))


def _last_look(
    claim: Claim, single: Piece, evidence: Evidence, seen: int, alpha: float
) -> Look | None:
    part = single.part
    if isinstance(part, Rate):
        at = [d.id for d in evidence.experiment.datasets].index(single.datasets[0])
        counts = [of[at] for of in replicate_counts(evidence, part, seen)]
        if part.independent:
            ks, ns = [k for k, _ in counts], [n for _, n in counts]
            return next(iter(rate_looks(ks, ns, [seen], alpha)), None)
        tries = sum(n for _, n in counts)
        share = sum(k for k, _ in counts) / tries if tries else math.nan
        return Look(seen, share, -math.inf, math.inf) if tries else None
    assert isinstance(part, Within)
    z = replicate_effects(single, evidence, seen)
    known = z[z == z]
    if not known.size:
        return None
    bounds = part.bounds(evidence.experiment.metrics[part.stat.of].bounds)
    found = mean_looks(z, [seen], procedure=claim.procedure, alpha=alpha, bounds=bounds)
    return found[0] if found else Look(seen, float(known.mean()), -math.inf, math.inf)


def _cases(own: Sequence[tuple[Piece, Part]], evidence: Evidence) -> Iterator[Estimate]:
    """Effects per published case."""
    for piece, _ in own:
        assert isinstance(piece.part, Within)
        region = region_of(piece.part)
        found = list(case_contrasts(evidence, piece.part, piece.rival, piece.datasets))
        for case, effect in found[:MOST_CASES]:
            verdict = region.verdict(effect, effect)
            yield Estimate(piece.rival or "", case, effect, None, None, 1, verdict)


# --- what each arm scored ------------------------------------------------------------------------


def _cells(part: Within | Rate | Every, evidence: Evidence, seen: int) -> Iterator[Cell]:
    experiment = evidence.experiment
    for dataset in experiment.datasets:
        for arm in experiment.arms:
            cells = [(arm.id, dataset.id, r) for r in range(seen)]
            rows = [cell for cell in cells if cell in evidence.rows]
            failed = sum(cell in evidence.failed for cell in cells)
            if rows or failed:
                value, n = _score(part, evidence, rows)
                yield Cell(dataset.id, arm.id, value, n, failed)


def _score(
    part: Within | Rate | Every, evidence: Evidence, cells: Sequence[tuple[str, str, int]]
) -> tuple[float | None, int]:
    """Mean over the replicates of what the part measures, or the worst of all, and how many."""
    if isinstance(part, Within):
        found = [evidence.scalar(part.stat, cell) for cell in cells]
        values = [value for value in found if value is not None]
        return (math.fsum(values) / len(values) if values else None), len(values)
    rows = [row for cell in cells for row in evidence.rows[cell] if part.case in (None, row.case)]
    if isinstance(part, Every):
        seen = [row.values[part.of] for row in rows if part.of in row.values]
        return (max(seen) if seen else None), len(seen)
    counts = [row.counts[part.of] for row in rows if part.of in row.counts]
    tries = sum(n for _, n in counts)
    return (sum(k for k, _ in counts) / tries if tries else None), tries


def _best_marked(cells: Iterable[Cell], better: str, part: Within | Rate | Every) -> Iterator[Cell]:
    """Mark the best arm of each dataset, where more is better or less, and there is a choice.

    An arm that failed now and then is not marked for what it scored on the rest.
    """
    cells = list(cells)
    if isinstance(part, Within) and not part.stat.is_level:
        yield from cells
        return
    pick = max if better == "higher" else min
    groups: dict[str, list[float]] = {}
    for cell in cells:
        if cell.value is not None and not cell.failed:
            groups.setdefault(cell.group, []).append(cell.value)
    for cell in cells:
        values = groups.get(cell.group, [])
        alike = len(set(values)) < 2
        best = not alike and not cell.failed and cell.value == pick(values)
        yield replace(cell, best=best)


# --- curves --------------------------------------------------------------------------------------


def _curves(within: Within, evidence: Evidence, seen: int) -> Iterator[Curve]:
    """Means over the replicates along x, of every arm on every dataset that has more than one x."""
    for dataset in evidence.experiment.datasets:
        for arm in evidence.experiment.arms:
            points = _points(within, evidence, arm.id, dataset.id, seen)
            if len({x for x, _ in points}) > 1:
                yield Curve(dataset.id, arm.id, tuple(_thinned(points)))


def _points(
    within: Within, evidence: Evidence, arm: str, dataset: str, seen: int
) -> list[tuple[float, float]]:
    stat = within.stat
    sums: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    for replicate in range(seen):
        at: Counter[tuple[object, ...]] = Counter()
        for row in evidence.rows.get((arm, dataset, replicate), ()):
            x = row.x if stat.against == "x" else row.values.get(stat.against)
            if x is None or stat.of not in row.values or stat.case not in (None, row.case):
                continue
            # Along x a curve has one point per abscissa; a cloud keeps its rows apart.
            key: tuple[object, ...] = (x,) if stat.against == "x" else (row.case, row.x)
            if stat.against != "x":
                at[key] += 1
                key = (*key, at[key])
            sums.setdefault(key, []).append((x, row.values[stat.of]))
    means = [
        (math.fsum(x for x, _ in of) / len(of), math.fsum(y for _, y in of) / len(of))
        for of in sums.values()
    ]
    return sorted(means)


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(points) <= MOST_POINTS:
        return points
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(i * step)] for i in range(MOST_POINTS)]


def _failed(evidence: Evidence, seen: int) -> Iterator[Failed]:
    counted = Counter(
        (arm, dataset, status)
        for (arm, dataset, replicate), status in evidence.failed.items()
        if replicate < seen
    )
    for (arm, dataset, status), count in sorted(counted.items()):
        yield Failed(arm, dataset, status, count)
