"""Notes the answers of a run while they are given, for the store to remember."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from probatum.evidence.answers import Remembered, answer_id
from probatum.evidence.decide import control_decisions
from probatum.evidence.model import Claim, Decision, Paper, Profile, Within, resolve
from probatum.evidence.opened import Own
from probatum.evidence.run import Run, Silent, Watcher
from probatum.evidence.shipped import decision_to_json
from probatum.evidence.trial import Outcome
from probatum.evidence.words import criterion_words

__all__ = ["Noting", "brought"]


def brought(claim: Claim, own: Own | None) -> dict[str, Any]:
    """What a reader brings that a question reads, as plain JSON values; nothing for a plain claim.

    Files are read here, for the hash of their content, so ask before a run: they may change
    while it lasts.
    """
    if claim.experiment is None or own is None:
        return {}
    read = {part.arm for part in claim.parts}
    read.update(arm for part in claim.parts if isinstance(part, Within) for arm in part.to)
    arms = {arm.id: arm.own for arm in claim.experiment.arms if arm.own and arm.id in read}
    datasets = [dataset for dataset in claim.experiment.datasets if dataset.own]
    data = [
        {
            "file": str(file),
            "dataset": dataset.id,
            "content": str(resolve(dataset.identity)(**dataset.params)) if dataset.identity else "",
        }
        for file, dataset in zip(own.files if datasets else (), datasets, strict=True)
    ]
    if not data and not arms:
        return {}
    return {"data": data, "options": dict(own.options) if data else {}, "arms": arms}


class Noting:
    """A watcher that notes what is decided, and passes on all that it is told.

    Parameters
    ----------
    selection : sequence of (Paper, Claim)
        The questions of the run.
    own : Own or None
        What the reader brings to them.
    profile : {"smoke", "quick", "standard", "full"}
    replicates : int or None
        Instead of the profile's number.
    watcher : Watcher, optional
        Is told what this one is told.
    """

    def __init__(
        self,
        selection: Sequence[tuple[Paper, Claim]],
        own: Own | None,
        profile: Profile,
        replicates: int | None,
        watcher: Watcher | None = None,
    ) -> None:
        self.profile = profile
        self.replicates = replicates
        self.watcher = watcher or Silent()
        self._asked = {(p.slug, c.id): brought(c, own) for p, c in selection if c.experiment}
        self._decided: dict[tuple[str, str], tuple[Run, Decision, float]] = {}
        self._names = list(own.arms) if own else []

    def expect(self, run: Run, trials: int) -> None:
        """That many more trials of an experiment are about to run."""
        self.watcher.expect(run, trials)

    def finished(self, run: Run, outcome: Outcome) -> None:
        """A trial has ended."""
        self.watcher.finished(run, outcome)

    def decided(self, run: Run, decision: Decision) -> None:
        """A claim has its verdict, or its budget is spent."""
        self._decided[run.paper.slug, decision.claim] = run, decision, time.time()
        self.watcher.decided(run, decision)

    def ids(self) -> list[str]:
        """Ids of the answers that the questions have, or will have."""
        return [
            answer_id(slug, question, self.profile, own)
            for (slug, question), own in self._asked.items()
        ]

    def answers(self) -> list[Remembered]:
        """The answers so far; none to what could not be run."""
        return [
            self._answer(run, decision, when)
            for run, decision, when in self._decided.values()
            if run.promising and not run.problem
        ]

    def _answer(self, run: Run, decision: Decision, when: float) -> Remembered:
        claim = next(claim for claim in run.claims if claim.id == decision.claim)
        origin = claim.id
        for name in self._names:
            origin = origin.removesuffix(f"+of-{name}").removesuffix(f"+against-{name}")
        return Remembered(
            paper=run.paper.slug,
            question=claim.id,
            profile=self.profile,
            decision=decision_to_json(decision),
            decided=when,
            own=self._asked[run.paper.slug, claim.id],
            claim=origin,
            title=run.paper.title,
            statement=claim.statement,
            criterion=criterion_words(claim),
            controls={
                name: control.verdict
                for name, control in control_decisions(
                    run.paper, claim, run.evidence, run.target
                ).items()
            },
            replicates=self.replicates,
        )
