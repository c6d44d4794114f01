"""Plans and decisions as tables that fit a narrow terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from probatum.cli.output import console, counted, effect_text, verdict_text
from probatum.evidence import Decision
from probatum.evidence.words import duration

if TYPE_CHECKING:
    from probatum.api import Failure, Ran
    from probatum.evidence.plan import ExperimentPlan
    from probatum.evidence.run import RunReport

__all__ = ["print_decisions", "print_next", "print_plan"]

INDENT = 11


def print_decisions(ran: Ran, controls: Mapping[str, Mapping[str, str]]) -> None:
    """Per paper, each claim: verdict, effect with interval and n; statement and reason below."""
    out = console()
    report = ran.report
    paper = ""
    for decision in report.decisions:
        if decision.paper != paper:
            paper = decision.paper
            out.print(Text(f"\n{paper}", style="bold underline"))
        out.print()
        out.print(_first_line(decision))
        of = controls.get(f"{decision.paper}/{decision.claim}", {})
        asked = [(_control_line(decision, *control), "dim") for control in of.items()]
        for text, style in [*_below(report, decision), *asked]:
            out.print(Padding(Text(text, style=style), (0, 0, 0, INDENT), expand=False))
    if ran.closed:
        out.print(Text("\nnot asked", style="bold"))
    for why in ran.closed:
        out.print(Text(why, style="dim"))
    if ran.failures:
        out.print(Text("\nfailed trials", style="bold"))
    for failure in ran.failures:
        out.print(Text(_failure_line(failure)))
    statuses = ", ".join(f"{count} {status}" for status, count in report.statuses.items())
    out.print(
        f"\n{report.profile} profile; trials: {statuses or 'none run'}, {report.reused} reused; "
        f"{report.seconds:.1f} s"
    )


def _control_line(decision: Decision, arm: str, verdict: str) -> str:
    line = f"control {arm}: {verdict}"
    if verdict == decision.verdict == "holds":
        line += " too, so this does not rest on what the control lacks"
    return line


def _failure_line(failure: Failure) -> str:
    arm = "all arms together" if failure.arm == "*" else failure.arm
    message = f" {failure.message}" if failure.message else ""
    return (
        f"{failure.paper}/{failure.experiment}, {arm} on {failure.dataset}: {failure.status}"
        f"{message} ({counted(failure.count, 'trial')})"
    )


def _first_line(decision: Decision) -> Text:
    line = verdict_text(decision.verdict)
    line.pad_right(INDENT - len(line))
    line.append(decision.claim, style="bold")
    effect, interval = effect_text(decision)
    if effect:
        line.append(f"  {effect} {interval}".rstrip())
    if decision.n:
        line.append(f"  n = {counted(decision.n, decision.unit.removesuffix('s'))}")
    return line


def _below(report: RunReport, decision: Decision) -> list[tuple[str, str]]:
    lines = [(_statement(report, decision), "")]
    guarantee = "" if decision.guarantee == "none" else decision.guarantee
    said = "; ".join(part for part in (guarantee, decision.reason) if part)
    if decision.more_needed is not None:
        said += f"; about {counted(decision.more_needed, 'more replicate')} would decide it"
    lines.append((said, "dim"))
    if decision.exceptions:
        lines.append((f"not on {', '.join(decision.exceptions)}", "yellow"))
    return [(text, style) for text, style in lines if text]


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
    open_ = _undecided(report)
    if open_ and report.profile in ("smoke", "quick"):
        again = f"probatum check {' '.join(open_)} --profile standard"
        out.print(f"To spend more on it:  {again}", soft_wrap=True)


def _undecided(report: RunReport) -> list[str]:
    """All undecided claims; a paper's name stands for them where they are most of its claims."""
    found = []
    for slug in dict.fromkeys(decision.paper for decision in report.decisions):
        runs = [run for run in report.runs if run.paper.slug == slug]
        tried = sum(c.experiment is not None for c in runs[0].paper.claims) if runs else 0
        own = [d for d in report.decisions if d.paper == slug and d.verdict == "undecided"]
        most = len(own) > 1 and 2 * len(own) > tried
        found += [slug] if most else [f"{slug}/{decision.claim}" for decision in own]
    return found


def print_plan(plans: Sequence[ExperimentPlan], profile: str, jobs: int) -> None:
    """What each experiment may need at most."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("experiment", overflow="fold", ratio=1)
    for name in ("trials", "stored", "time", "memory limit", "disk"):
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
    most = counted(trials, "trial")
    out.print(f"\n{profile} profile, {counted(jobs, 'job')}: at most {most}; nothing was run")
