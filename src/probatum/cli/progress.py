"""How a check gets on, on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from probatum.cli.output import console, counted, decision_line, warn

if TYPE_CHECKING:
    from rich.progress import Progress

    from probatum.evidence import Decision
    from probatum.evidence.run import Run
    from probatum.evidence.trial import Outcome

__all__ = ["Bar", "CheckProgress"]

SECONDS_BETWEEN_LINES = 15.0


class CheckProgress:
    """Watches a run for a person; a context manager.

    Parameters
    ----------
    claims : int
        How many are to be decided.
    quiet : bool
        Say nothing.
    """

    def __init__(self, claims: int, *, quiet: bool = False) -> None:
        self.kept = 0
        self._claims = claims
        self._quiet = quiet
        self._decided: set[str] = set()
        self._most: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._bars: Progress | None = None
        self._spoke = time.monotonic()
        self._tasks: tuple[Any, Any] = (None, None)

    def __enter__(self) -> CheckProgress:
        if not self._quiet and sys.stderr.isatty():
            self._bars = bars(with_counts=True)
            self._tasks = (
                self._bars.add_task("trials", total=None),
                self._bars.add_task("claims", total=self._claims),
            )
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def expect(self, run: Run, trials: int) -> None:
        """That many more trials of an experiment are about to run."""
        if run.name not in self._most:
            cells = sum(1 for _ in run.cells(range(1)))
            self._most[run.name] = cells * run.replicates - run.reused
            self._done[run.name] = 0
            self._say(f"{run.name}: at most {counted(self._most[run.name], 'trial')} to run")
        self._draw()

    def finished(self, run: Run, outcome: Outcome) -> None:
        """A trial has ended."""
        if not outcome.unavailable:
            self.kept += 1
        self._done[run.name] = self._done.get(run.name, 0) + 1
        if time.monotonic() - self._spoke >= SECONDS_BETWEEN_LINES:
            self._say(f"{self.kept} of at most {counted(sum(self._most.values()), 'trial')} done")
        self._draw()

    def decided(self, run: Run, decision: Decision) -> None:
        """A claim has its verdict, or its budget is spent."""
        name = f"{decision.paper}/{decision.claim}"
        if name not in self._decided:
            self._decided.add(name)
            self._say(decision_line(decision))
        if not run.open and run.name in self._most:
            self._most[run.name] = self._done[run.name]
        self._draw()

    def _say(self, line: str) -> None:
        if not self._quiet and self._bars is None:
            self._spoke = time.monotonic()
            warn(line)

    def _draw(self) -> None:
        if self._bars is not None:
            trials, claims = self._tasks
            most = sum(self._most.values())
            self._bars.update(trials, completed=self.kept, total=most or None)
            self._bars.update(claims, completed=len(self._decided))


class Bar:
    """One piece of long work on standard error: a bar on a terminal, lines elsewhere.

    It is a :class:`probatum.evidence.tool.Progress`, and a context manager; ``seconds`` says
    afterwards how long it took.
    """

    def __init__(self, name: str, quiet: bool) -> None:
        self._name = name
        self._quiet = quiet
        self._started = self._spoke = time.monotonic()
        self._bars: Any = None
        self.seconds = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.monotonic() - self._started
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, done: float, total: float | None = None, what: str = "") -> None:
        if self._quiet:
            return
        if sys.stderr.isatty():
            self._draw(done, total, what or self._name)
        elif time.monotonic() - self._spoke >= SECONDS_BETWEEN_LINES:
            self._spoke = time.monotonic()
            of = f" of {total:g}" if total is not None else ""
            warn(f"{what or self._name}: {done:g}{of}")

    def _draw(self, done: float, total: float | None, what: str) -> None:
        if self._bars is None:
            self._bars = bars(with_counts=False)
            self._bars.add_task(what, total=total)
            self._bars.start()
        self._bars.update(0, completed=done, total=total, description=what)


def bars(*, with_counts: bool) -> Progress:
    """Bars on standard error that go when all is done; with counts where they are whole numbers."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    counts = [MofNCompleteColumn()] if with_counts else []
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        *counts,
        TimeLeft(),
        TextColumn("left"),
        console=console(stderr=True),
        transient=True,
    )
