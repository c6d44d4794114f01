"""A run: which trials are missing, run them, decide, go on until decided or the budget is spent."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from probatum.evidence.decide import (
    claim_alpha,
    control_decisions,
    decide,
    floor,
    not_run,
    replicates_budget,
    untested,
)
from probatum.evidence.executors import Executor, InlineExecutor, LocalExecutor
from probatum.evidence.keys import arm_groups, prepare_key, trial_fingerprint, trial_key
from probatum.evidence.measure import Evidence
from probatum.evidence.model import (
    Arm,
    Budget,
    Claim,
    Dataset,
    Decision,
    Experiment,
    Paper,
    Profile,
)
from probatum.evidence.prepared import folder_for
from probatum.evidence.procedures import look_schedule
from probatum.evidence.scheduler import Scheduler
from probatum.evidence.store import Store, environment
from probatum.evidence.trial import Task
from probatum.evidence.watching import Silent, Watcher

__all__ = ["Run", "RunReport", "Silent", "Watcher", "execute", "open_runs"]


@dataclass
class Run:
    """One experiment on its way: its trials, its claims, what is decided.

    ``replicates`` is how many are planned at most, ``target`` how many were asked for so far. It
    is ``promising`` if that many could decide one of its claims.
    """

    paper: Paper
    experiment: Experiment
    claims: tuple[Claim, ...]
    budget: Budget
    replicates: int
    evidence: Evidence
    target: int = 0
    reused: int = 0
    problem: str = ""
    promising: bool = False
    decisions: dict[str, Decision] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Paper and experiment, as streams and stores know it."""
        return f"{self.paper.slug}/{self.experiment.id}"

    def cells(self, replicates: range) -> Iterator[tuple[tuple[Arm, ...], Dataset, int]]:
        """What a trial is run for, in the order of running."""
        for replicate in replicates:
            for dataset in self.experiment.datasets:
                for arms in arm_groups(self.experiment):
                    yield arms, dataset, replicate

    def key(self, arms: tuple[Arm, ...], dataset: Dataset, replicate: int) -> str:
        """The key of a cell's trial."""
        return trial_key(self.paper.slug, self.experiment, arms, dataset, replicate, self.budget)

    def keys(self, replicates: range) -> list[str]:
        """Keys of all cells of these replicates."""
        return [self.key(*cell) for cell in self.cells(replicates)]

    def done(self, arms: tuple[Arm, ...], dataset: Dataset, replicate: int) -> bool:
        """Whether the cell's trial has ended."""
        return all(self.evidence.done(arm.id, dataset.id, replicate) for arm in arms)

    def load(self, store: Store) -> None:
        """Take in what the store already holds for these keys and limits, and count it."""
        self.take(store, self.keys(range(self.replicates)))

    def take(self, store: Store, keys: list[str]) -> set[str]:
        """Take in those of these trials that the store holds; their keys."""
        served = set()
        for key, record in store.final(keys).items():
            if record.serves(self.budget.seconds, self.budget.memory_gb):
                self.evidence.add(record)
                served.add(key)
        self.reused += len(served)
        return served

    def settle(self, watcher: Watcher, upto: int | None = None) -> None:
        """Decide the claims that the trials so far, or of so many replicates, allow."""
        arms = [arm.id for arm in self.experiment.arms]
        last = upto is None or upto >= self.replicates
        spent = last and self.evidence.complete(arms, self.replicates) >= self.replicates
        spent = spent or self.refused
        for claim in self.claims:
            known = self.decisions.get(claim.id)
            if known is not None and known.verdict in ("holds", "fails"):
                continue
            decision = decide(self.paper, claim, self.evidence, self.replicates, upto)
            self.decisions[claim.id] = decision
            if spent or decision.verdict in ("holds", "fails"):
                watcher.decided(self, decision)

    def settle_unrun(self, watcher: Watcher) -> None:
        """Leave the claims open without a trial: the replicates planned can't decide any."""
        for claim in self.claims:
            least = floor(claim, claim_alpha(self.paper))
            why = f"not run: {least} replicates are the least that could decide it, here "
            why += f"{self.replicates} would be run; use a larger profile"
            blank = decide(self.paper, claim, Evidence(self.experiment), self.replicates, 0)
            self.decisions[claim.id] = replace(blank, reason=why)
            watcher.decided(self, self.decisions[claim.id])

    @property
    def refused(self) -> bool:
        """Whether nothing is random where chance is declared, so that more trials are a waste."""
        return self.experiment.source == "stochastic" and self.evidence.replicates_agree()

    @property
    def open(self) -> bool:
        """Whether more replicates could decide something."""
        if self.problem or self.target >= self.replicates or (self.target and self.refused):
            return False
        return any(
            claim.id not in self.decisions or self.decisions[claim.id].verdict == "undecided"
            for claim in self.claims
        )

    def next_look(self) -> int:
        """Replicates to look at next: all that are there, or those up to a look that lacks some."""
        done = self.evidence.complete([arm.id for arm in self.experiment.arms], self.replicates)
        looks = [n for n in look_schedule(self.replicates) if n > self.target]
        return max((n for n in looks if n <= done), default=looks[0])

    @property
    def looked(self) -> int:
        """Replicates that the decisions rest on."""
        parts = [part for decision in self.decisions.values() for part in decision.parts]
        return max((part.replicates for part in parts), default=0)

    def task(self, arms: tuple[Arm, ...], dataset: Dataset, replicate: int, root: Path) -> Task:
        """What a worker is sent for a cell."""
        prepared = None
        if self.experiment.prepare is not None:
            prepared = folder_for(root, self._prepare_key(dataset, replicate))
        return Task(
            key=self.key(arms, dataset, replicate),
            target=self.experiment.trial,
            experiment=self.name,
            arms=arms,
            dataset=dataset,
            replicate=replicate,
            size=self.budget.size,
            metrics=self.experiment.metrics,
            seconds=self.budget.seconds,
            memory_gb=self.budget.memory_gb,
            threads=self.budget.threads,
            gpu=self.budget.gpu,
            prepared=prepared,
            prepare=self.experiment.prepare or "",
        )

    def _prepare_key(self, dataset: Dataset, replicate: int) -> str:
        per = replicate if self.experiment.prepare_per == "replicate" else None
        return prepare_key(self.paper.slug, self.experiment, dataset, per, self.budget)

    def fingerprint(self, task: Task) -> str:
        """Fingerprint of the code that a task reaches."""
        return trial_fingerprint(self.experiment, task.arms, task.dataset)


def open_runs(
    selection: Sequence[tuple[Paper, Claim]], profile: Profile, replicates: int | None = None
) -> list[Run]:
    """Group claims by the experiment they read.

    Raises
    ------
    ValueError
        If a given number of replicates is below what a claim needs to be decided at all.
    """
    runs: dict[tuple[str, str], Run] = {}
    for paper, claim in selection:
        experiment = claim.experiment
        if experiment is None:
            continue
        budget = experiment.budget(profile)
        planned = replicates_budget(experiment, replicates or budget.replicates)
        at = (paper.slug, experiment.id)
        if at not in runs:
            runs[at] = Run(paper, experiment, (), budget, planned, Evidence(experiment))
        runs[at].claims = (*runs[at].claims, claim)
        least = floor(claim, claim_alpha(paper))
        if replicates is not None and replicates < least and claim.stochastic:
            raise ValueError(
                f"{replicates} replicates can't decide {paper.slug}/{claim.id}: it needs at least "
                f"{least}"
            )
        # A profile that an experiment does not declare falls back to a smaller one's budget.
        if profile in experiment.budgets or planned >= least or not claim.stochastic:
            runs[at].promising = True
    return list(runs.values())


@dataclass
class RunReport:
    """What one run did and what came out."""

    id: str
    profile: str
    seconds: float
    statuses: Counter[str]
    reused: int
    decisions: list[Decision]
    problems: list[str]
    runs: list[Run]

    def described(self) -> dict[str, Any]:
        """The ``run`` object of the JSON contract."""
        machine = {k: v for k, v in environment().items() if k != "versions"}
        return {
            "id": self.id,
            "profile": self.profile,
            "machine": machine,
            "versions": environment()["versions"],
            "seconds": round(self.seconds, 3),
            "trials": {**self.statuses, "reused": self.reused},
        }

    def controls(self) -> dict[str, dict[str, Decision]]:
        """Per claim (``paper/claim``), the same question asked of each negative control."""
        return {
            f"{run.paper.slug}/{claim.id}": control_decisions(
                run.paper, claim, run.evidence, run.target
            )
            for run in self.runs
            for claim in run.claims
        }


def execute(
    selection: Sequence[tuple[Paper, Claim]],
    *,
    store: Store,
    profile: Profile = "quick",
    replicates: int | None = None,
    jobs: int = 1,
    fresh: bool = False,
    watcher: Watcher | None = None,
    executors: Callable[[bool], Executor] | None = None,
) -> RunReport:
    """Run what the claims of a selection still need, and decide them.

    Parameters
    ----------
    selection : sequence of (Paper, Claim)
    store : Store
        Where finished trials are, and go.
    profile : {"smoke", "quick", "standard", "full"}
    replicates : int, optional
        Instead of the profile's number.
    jobs : int
        Worker processes; 0 runs trials in this process.
    fresh : bool
        Forget stored trials of these claims first.
    watcher : Watcher, optional
    executors : callable, optional
        Gives an executor to run trials on, in the place of workers on this machine: one for trials
        that may run side by side, or (called with ``True``) for those that may not.

    Returns
    -------
    RunReport
    """
    started = time.perf_counter()
    watcher = watcher or Silent()
    executors = executors or partial(_local_executor, jobs)
    runs = open_runs(selection, profile, replicates)
    for run in runs:
        try:
            if fresh:
                store.forget(run.keys(range(run.replicates)))
            run.load(store)
        except Exception as error:
            # The identity of a dataset may need data that is not there.
            if not getattr(error, "remedy", ""):
                raise
            run.problem = f"{run.name}: {error}"
    scheduler = Scheduler(store, watcher)
    shared = [run for run in runs if not run.experiment.exclusive]
    alone = [run for run in runs if run.experiment.exclusive]
    # Timings come last and one at a time, so that nothing else of ours runs beside them.
    for group, by_itself in ((shared, False), *(([run], True) for run in alone)):
        if group:
            with executors(by_itself) as executor:
                scheduler.drive(group, executor)
    return _report(selection, runs, profile, scheduler, time.perf_counter() - started)


def _local_executor(jobs: int, alone: bool) -> Executor:
    workers = min(jobs, 1) if alone else jobs
    return LocalExecutor(workers) if workers else InlineExecutor()


def _report(
    selection: Sequence[tuple[Paper, Claim]],
    runs: list[Run],
    profile: str,
    scheduler: Scheduler,
    seconds: float,
) -> RunReport:
    decisions = []
    for paper, claim in selection:
        owner = next((r for r in runs if r.paper is paper and claim in r.claims), None)
        if owner is None or claim.experiment is None:
            decisions.append(untested(paper, claim))
        elif owner.problem:
            decisions.append(not_run(paper, claim, owner.problem))
        else:
            decisions.append(owner.decisions[claim.id])
    return RunReport(
        id=uuid.uuid4().hex[:12],
        profile=profile,
        seconds=seconds,
        statuses=scheduler.statuses,
        reused=sum(run.reused for run in runs),
        decisions=decisions,
        problems=[run.problem for run in runs if run.problem],
        runs=runs,
    )
