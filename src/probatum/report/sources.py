"""Where a page's evidence comes from: what is shipped, and what a store on this machine holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from probatum.evidence.decide import control_decisions
from probatum.evidence.detail import Detail, claim_detail
from probatum.evidence.model import Claim, Decision, Paper, Profile
from probatum.evidence.run import Run, Silent, open_runs
from probatum.evidence.shipped import decision_from_json, freshness, read_records, shipped_runs
from probatum.evidence.shipped_index import file_hash, read_sidecar
from probatum.evidence.store import Store

__all__ = ["Source", "from_shipped", "from_store"]


@dataclass(frozen=True)
class Source:
    """Evidence on a paper's claims.

    ``fresh`` says per claim whether the code that it was measured with is still the code that is
    there; ``measured`` holds, per experiment, machines, versions and days.
    """

    kind: Literal["shipped", "store"]
    runs: Mapping[str, Run]
    fresh: Mapping[str, bool]
    measured: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    def decision(self, claim: Claim) -> Decision | None:
        """The decision on a claim, if there are trials to decide it from."""
        run = self._run(claim)
        return None if run is None else run.decisions.get(claim.id)

    def detail(self, paper: Paper, claim: Claim) -> Detail:
        """What the decision rests on."""
        run, decision = self._run(claim), self.decision(claim)
        if run is None or decision is None:
            return Detail((), ())
        return claim_detail(paper, claim, run.evidence, decision, run.replicates)

    def controls(self, paper: Paper, claim: Claim) -> dict[str, Decision]:
        """The same question asked of each negative control."""
        run = self._run(claim)
        if run is None:
            return {}
        return control_decisions(paper, claim, run.evidence, run.target)

    def profile(self, claim: Claim) -> str:
        """The profile that the claim's experiment was run at."""
        return self.profiles.get(claim.experiment.id, "standard") if claim.experiment else ""

    def _run(self, claim: Claim) -> Run | None:
        return None if claim.experiment is None else self.runs.get(claim.experiment.id)


def from_shipped(
    paper: Paper, folder: Path, index: Mapping[str, Any] | None = None
) -> Source | None:
    """A paper's shipped evidence; None where there is none.

    ``index`` is the paper's entry in the shipped index; decisions it lacks are made again.

    Raises
    ------
    ShippedError
        If a file can't be understood.
    """
    records = read_records(paper.slug, folder)
    if not records:
        return None
    sidecar = read_sidecar(paper.slug, folder)
    decided = {claim: decision_from_json(entry) for claim, entry in (index or {}).items()}
    runs = {run.experiment.id: run for run in shipped_runs(paper, sidecar, records, decided)}
    digest = file_hash(folder / f"{paper.slug}.csv")
    return Source("shipped", runs, freshness(paper, folder), sidecar, digest=digest)


# Where two profiles find the same trials, it was more likely run at the first of these.
ASKED_MOST: tuple[Profile, ...] = ("quick", "standard", "full", "smoke")


def from_store(paper: Paper, store: Store) -> Source | None:
    """What a store holds on the paper's own arms and data, for the code as it is now.

    Of each experiment the profile is taken of which most trials are there.
    """
    best: dict[str, tuple[Run, str]] = {}
    selection = [(paper, claim) for claim in paper.claims if claim.experiment is not None]
    for profile in ASKED_MOST:
        for run in open_runs(selection, profile):
            run.load(store)
            known = best.get(run.experiment.id)
            if run.reused and (known is None or run.reused > known[0].reused):
                best[run.experiment.id] = (run, profile)
    if not best:
        return None
    for run, _ in best.values():
        run.settle(Silent())
        run.target = run.looked
    decided = {name: run for name, (run, _) in best.items()}
    return Source(
        "store",
        decided,
        {claim.id: True for run in decided.values() for claim in run.claims},
        profiles={name: profile for name, (_, profile) in best.items()},
    )
