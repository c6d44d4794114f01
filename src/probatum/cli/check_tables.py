"""Plans and decisions as tables that fit a narrow terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from probatum.cli.output import console, effect_text, verdict_text
from probatum.evidence import Decision

if TYPE_CHECKING:
    from probatum.evidence.plan import ExperimentPlan
    from probatum.evidence.run import RunReport

__all__ = ["print_decisions", "print_next", "print_plan"]


def print_decisions(report: RunReport) -> None:
    """Claim with reason, verdict with guarantee, effect with interval, and n."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", overflow="fold", ratio=1)
    table.add_column("verdict")
    table.add_column("effect", no_wrap=True)
    table.add_column("n")
    for at, decision in enumerate(report.decisions):
        table.add_row(*_cells(report, decision), end_section=at + 1 < len(report.decisions))
        if at + 1 < len(report.decisions):
            table.add_row()
    out = console()
    out.print(table)
    statuses = ", ".join(f"{count} {status}" for status, count in report.statuses.items())
    out.print(
        f"\n{report.profile} profile; trials: {statuses or 'none run'}, {report.reused} reused; "
        f"{report.seconds:.1f} s"
    )


def _cells(report: RunReport, decision: Decision) -> tuple[Text, Text, Text, Text]:
    claim = Text(f"{decision.paper}/{decision.claim}", style="bold")
    claim.append(f"\n{_statement(report, decision)}", style="not bold")
    if decision.reason:
        claim.append(f"\n{decision.reason}", style="not bold dim")
    if decision.exceptions:
        claim.append(f"\nnot on {', '.join(decision.exceptions)}", style="not bold yellow")
    verdict = verdict_text(decision.verdict)
    if decision.guarantee != "none":
        verdict.append(f"\n{decision.guarantee}", style="dim")
    effect, interval = effect_text(decision)
    n = Text(f"{decision.n}\n{decision.unit}" if decision.n else "")
    return claim, verdict, Text(f"{effect}\n{interval}"), n


def _statement(report: RunReport, decision: Decision) -> str:
    for run in report.runs:
        if run.paper.slug == decision.paper:
            return run.paper.claim(decision.claim).statement
    return ""


def print_next(report: RunReport) -> None:
    """Where to look next."""
    out = console()
    slugs = dict.fromkeys(decision.paper for decision in report.decisions)
    for slug in list(slugs)[:3]:
        out.print(f"How it is decided:    probatum show {slug}", soft_wrap=True)
    out.print("Shipped verdicts:     probatum status")
    open_ = [f"{d.paper}/{d.claim}" for d in report.decisions if d.verdict == "undecided"]
    if open_ and report.profile in ("smoke", "quick"):
        again = f"probatum check {' '.join(open_[:3])} --profile standard"
        out.print(f"To spend more on it:  {again}", soft_wrap=True)


def print_plan(plans: Sequence[ExperimentPlan], profile: str, jobs: int) -> None:
    """What each experiment may need at most."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("experiment", overflow="fold", ratio=1)
    for name in ("trials", "stored", "time", "memory", "disk"):
        table.add_column(name, justify="right")
    for plan in plans:
        table.add_row(
            f"{plan.paper}/{plan.experiment}",
            str(plan.trials),
            str(plan.stored),
            "unknown" if plan.seconds is None else duration(plan.seconds),
            f"{plan.memory_gb:g} GB",
            f"{plan.disk_mb:g} MB",
        )
    out = console()
    out.print(table)
    for plan in plans:
        for note in plan.notes:
            out.print(f"{plan.paper}/{note}")
    trials = sum(plan.trials - plan.stored for plan in plans)
    out.print(f"\n{profile} profile, {jobs} jobs: at most {trials} trials; nothing was run")


def duration(seconds: float) -> str:
    """A time in its natural unit.

    Examples
    --------
    >>> duration(0.4), duration(75), duration(7300)
    ('0.4 s', '1.2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
