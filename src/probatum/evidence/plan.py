"""What a run would do: trials, time, memory and disk, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probatum.evidence.decide import claim_alpha, floor, tries_needed
from probatum.evidence.model import Claim, Paper, Profile
from probatum.evidence.run import Run, open_runs
from probatum.evidence.store import Store, plain_size

__all__ = ["ExperimentPlan", "plan"]

BYTES_PER_TRIAL = 1200
"""Room a stored trial takes, index included; seen on trials with one to five rows."""


@dataclass(frozen=True)
class ExperimentPlan:
    """What one experiment may need at most; it stops earlier where its claims are decided.

    ``seconds`` is None where nothing like it was ever timed; ``notes`` name claims that the
    budget can't decide. ``memory_gb`` is the limit on all workers together.
    """

    paper: str
    experiment: str
    claims: tuple[str, ...]
    replicates: int
    trials: int
    stored: int
    seconds: float | None
    memory_gb: float
    disk_mb: float
    notes: tuple[str, ...]


def _seconds_per_trial(run: Run, store: Store, sidecar: Mapping[str, Any]) -> float | None:
    size = plain_size(run.budget.size)
    timed = [
        record.seconds
        for record in store.records(run.paper.slug)
        if record.experiment == run.experiment.id and record.size == size
    ]
    if timed:
        return sum(timed) / len(timed)
    entry = sidecar.get(run.experiment.id, {})
    cells = entry.get("cells", {}).values()
    if cells and entry.get("size") == size:
        return float(sum(cell["seconds"] for cell in cells) / len(cells))
    return None


def _notes(run: Run) -> Iterator[str]:
    """What the claims need at the least, where that is more than planned or not known."""
    alpha = claim_alpha(run.paper)
    for claim in run.claims:
        least, tries = floor(claim, alpha), tries_needed(claim, alpha)
        if claim.stochastic and least > run.replicates:
            yield f"{claim.id} needs at least {least} replicates to be decided"
        if tries is not None:
            yield f"{claim.id} needs at least {tries} tries over all replicates"


def plan(
    selection: Sequence[tuple[Paper, Claim]],
    *,
    store: Store,
    profile: Profile = "quick",
    replicates: int | None = None,
    jobs: int = 1,
    sidecars: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[ExperimentPlan]:
    """Plan a run.

    Parameters are those of :func:`probatum.evidence.run.execute`; ``sidecars`` are the sidecars of
    shipped evidence by paper, from which times are taken where the store has none.
    """
    plans = []
    for run in open_runs(selection, profile, replicates):
        # A run that can decide nothing is left out when it comes to it.
        keys = run.keys(range(run.replicates)) if run.promising else []
        stored = sum(
            record.serves(run.budget.seconds, run.budget.memory_gb)
            for record in store.final(keys).values()
        )
        each = _seconds_per_trial(run, store, (sidecars or {}).get(run.paper.slug, {}))
        missing = len(keys) - stored
        workers = 1 if run.experiment.exclusive else max(jobs, 1)
        plans.append(
            ExperimentPlan(
                paper=run.paper.slug,
                experiment=run.experiment.id,
                claims=tuple(claim.id for claim in run.claims),
                replicates=run.replicates,
                trials=len(keys),
                stored=stored,
                seconds=None if each is None else each * missing / workers,
                memory_gb=run.budget.memory_gb * workers,
                disk_mb=round(missing * BYTES_PER_TRIAL / 1e6, 3),
                notes=tuple(_notes(run)),
            )
        )
    return plans
