"""Which trials go to an executor and when, and what becomes of those that come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from probatum.evidence.prepared import is_ready
from probatum.evidence.store import Record, Store
from probatum.evidence.trial import ATTEMPTS, Outcome, Status, Task

if TYPE_CHECKING:
    from probatum.evidence.executors import Executor
    from probatum.evidence.model import Arm, Dataset
    from probatum.evidence.run import Run
    from probatum.evidence.watching import Watcher

__all__ = ["TOGETHER", "Scheduler"]

# Trials that share a transaction at most, where they end faster than one is committed.
TOGETHER = 64


class Scheduler:
    """Feeds an executor with the trials that open runs miss, and stores what comes back."""

    def __init__(self, store: Store, watcher: Watcher) -> None:
        self.store = store
        self.watcher = watcher
        self.root = store.folder
        self.statuses: Counter[str] = Counter()
        self._owner: dict[str, Run] = {}
        self._outstanding: Counter[str] = Counter()
        # Trials by the folder that must be prepared before they run.
        self._waiting: dict[str, list[Task]] = {}
        self._unprepared: dict[str, Outcome] = {}
        self._ended: list[tuple[Run, Task, Outcome]] = []

    def drive(self, runs: Sequence[Run], executor: Executor) -> None:
        """Run until every claim is decided or its budget is spent."""
        for run in runs:
            self._advance(run, executor)
        for task, outcome in executor.finished():
            run = self._owner[task.key]
            if task.kind == "prepare":
                self._prepared(run, task, outcome, executor)
            elif task.attempt == 1 and outcome.status == "ok":
                self._ended.append((run, task, outcome))
            else:
                self._finished(run, task, outcome, executor)
            touched = [run]
            # Nobody is waited for before what has ended is stored.
            if len(self._ended) >= TOGETHER or not executor.ready:
                touched += self._store_ended(executor)
            for one in {id(run): run for run in touched}.values():
                if not self._outstanding[one.name]:
                    self._advance(one, executor)

    def _store_ended(self, executor: Executor) -> list[Run]:
        """Store what went well at the first attempt, in one transaction; whose it is."""
        ended, self._ended = self._ended, []
        whole = len(ended) > 1 and self.store.add_all(
            [(task, outcome, run.paper.slug, run.fingerprint(task)) for run, task, outcome in ended]
        )
        for run, task, outcome in ended:
            if whole:
                self._count(run, task, outcome)
            else:  # another run has stored one of them
                self._finished(run, task, outcome, executor)
        return [run for run, _, _ in ended]

    def _advance(self, run: Run, executor: Executor) -> None:
        """Ask for the replicates up to the next look that needs trials, and decide on the way.

        Looks at stored trials are taken at once: a decision is that of the first decisive look.
        """
        if not run.promising:
            run.settle_unrun(self.watcher)
            return
        if run.target:
            run.settle(self.watcher, run.target)
        while run.open:
            start = run.target
            run.target = run.next_look()
            missing = [c for c in run.cells(range(start, run.target)) if not run.done(*c)]
            if missing:
                self._submit(run, missing, executor)
            if self._outstanding[run.name]:
                return
            run.settle(self.watcher, run.target)
        if not run.problem:
            run.target = run.looked

    def _submit(
        self, run: Run, cells: list[tuple[tuple[Arm, ...], Dataset, int]], executor: Executor
    ) -> None:
        tasks = [run.task(*cell, self.root) for cell in cells]
        attempts = self.store.last_attempts([task.key for task in tasks])
        # Another run on the same store may have been here since this one began.
        found = run.take(self.store, [task.key for task in tasks])
        tasks = [task for task in tasks if task.key not in found]
        self._outstanding[run.name] += len(tasks)
        self.watcher.expect(run, len(tasks))
        for task in tasks:
            task = replace(task, attempt=attempts.get(task.key, 0) + 1)
            self._owner[task.key] = run
            if task.prepared is None or is_ready(task.prepared):
                executor.submit(task)
            elif task.prepared.name in self._unprepared:
                self._finished(run, task, self._unprepared[task.prepared.name], executor)
            else:
                self._wait(run, task, task.prepared.name, executor)

    def _wait(self, run: Run, task: Task, folder: str, executor: Executor) -> None:
        """Have a folder prepared, once, before the trials that read it run."""
        waiting = self._waiting.setdefault(folder, [])
        waiting.append(task)
        if len(waiting) == 1:
            self._owner[folder] = run
            executor.submit(task.preparing())

    def _prepared(self, run: Run, task: Task, outcome: Outcome, executor: Executor) -> None:
        failed = outcome.status != "ok"
        if failed and outcome.transient and task.attempt < ATTEMPTS:
            executor.submit(replace(task, attempt=task.attempt + 1))
            return
        del self._owner[task.key]
        if failed:
            message = f"prepare failed: {outcome.message or outcome.status}"
            outcome = replace(outcome, rows=(), message=message, transient=False)
            self._unprepared[task.key] = outcome
        for waiting in self._waiting.pop(task.key, []):
            if failed:
                self._finished(run, waiting, outcome, executor)
            else:
                executor.submit(waiting)

    def _finished(self, run: Run, task: Task, outcome: Outcome, executor: Executor) -> None:
        if outcome.unavailable:
            run.problem = run.problem or f"{run.name}: {outcome.unavailable}"
            self._close(run, task, outcome)
            return
        final = outcome.status == "ok" or not outcome.transient or task.attempt % ATTEMPTS == 0
        fingerprint = run.fingerprint(task)
        paper = run.paper.slug
        while not self.store.add(task, outcome, paper=paper, fingerprint=fingerprint, final=final):
            # Another run stored this attempt before: if it was the last, it is what counts.
            first = self.store.final([task.key]).get(task.key)
            if first is not None:
                status = cast("Status", first.status)
                outcome, final = replace(outcome, status=status, rows=first.rows), True
                break
            task = replace(task, attempt=task.attempt + 1)
        if not final:
            executor.submit(replace(task, attempt=task.attempt + 1))
            return
        self._count(run, task, outcome)

    def _count(self, run: Run, task: Task, outcome: Outcome) -> None:
        """Take in a trial that is stored."""
        self.statuses[outcome.status] += 1
        run.evidence.add(
            Record(
                task.key,
                run.paper.slug,
                run.experiment.id,
                task.arm,
                task.dataset.id,
                task.replicate,
                outcome.status,
                outcome.rows,
            )
        )
        self._close(run, task, outcome)

    def _close(self, run: Run, task: Task, outcome: Outcome) -> None:
        self._owner.pop(task.key, None)
        self._outstanding[run.name] -= 1
        self.watcher.finished(run, outcome)
