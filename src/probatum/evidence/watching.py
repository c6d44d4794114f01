"""Who is told while trials run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from probatum.evidence.model import Decision
    from probatum.evidence.run import Run
    from probatum.evidence.trial import Outcome

__all__ = ["Silent", "Watcher"]


class Watcher(Protocol):
    """What a front door is told while trials run; every method may do nothing."""

    def expect(self, run: Run, trials: int) -> None:
        """That many more trials of an experiment are about to run."""

    def finished(self, run: Run, outcome: Outcome) -> None:
        """A trial has ended."""

    def decided(self, run: Run, decision: Decision) -> None:
        """A claim has its verdict, or its budget is spent."""


class Silent:
    """A watcher that says nothing."""

    def expect(self, run: Run, trials: int) -> None: ...
    def finished(self, run: Run, outcome: Outcome) -> None: ...
    def decided(self, run: Run, decision: Decision) -> None: ...
