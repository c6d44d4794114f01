"""``probatum check``: run what claims still need, and decide them."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import redirect_stdout
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from probatum import api, catalog
from probatum.catalog import Catalog
from probatum.cli.exits import (
    DONE,
    MISUSED,
    NOT_SO,
    STOPPED,
    UNAVAILABLE,
    Ended,
    os_error_line,
    store_errors_named,
)
from probatum.cli.options import (
    AsJson,
    Cluster_,
    Profile_,
    ProfileName,
    Store_,
    readable_store,
    store_exists,
    store_url,
)
from probatum.cli.output import counted, print_json, warn, warn_broken
from probatum.cli.progress import CheckProgress
from probatum.evidence import Claim, Paper, shipped_index
from probatum.evidence.described import changed_verdicts, not_shipped

if TYPE_CHECKING:
    from probatum.evidence.opened import Own
    from probatum.evidence.run import RunReport

__all__ = ["check"]

Selection = list[tuple[Paper, Claim]]


class Against(StrEnum):
    """What verdicts can be compared with."""

    shipped = "shipped"


def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SLUG[/CLAIM]]...", help="Papers, or single claims."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print what would run, and run nothing.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if a claim fails.")] = False,
    against: Annotated[
        Against | None,
        typer.Option(
            "--against",
            help="Exit 1 if a verdict differs from the shipped one.",
        ),
    ] = None,
    profile: Profile_ = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=0, max=api.MOST_JOBS, help="Worker processes; 0 runs trials in this one."
        ),
    ] = None,
    cluster: Cluster_ = None,
    replicates: Annotated[
        int | None,
        typer.Option(
            "--replicates",
            min=1,
            max=api.MOST_REPLICATES,
            help="Most replicates, instead of the profile's.",
        ),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data", metavar="FILE", help="Ask the claims of a file of your own; repeatable."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="Column to predict in --data.")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="NAME=VALUE", help="Another option for reading --data; repeatable."
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="NAME=MODULE:ATTR",
            help="Put a method of your own beside the paper's; repeatable.",
        ),
    ] = None,
    store: Store_ = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget stored trials of these claims first.")
    ] = False,
    ship: Annotated[
        bool, typer.Option("--ship", help="Write shipped evidence; takes whole papers.")
    ] = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> int:
    """Try claims: run the trials they still need, and decide them by valid statistics."""
    _refuse_misuse(names or [], everything, plan, fresh, ship, profile, replicates)
    if cluster is not None and (plan or jobs is not None):
        what = "--plan runs nothing" if plan else "--jobs is for this machine"
        raise Ended(MISUSED, f"{what}: leave out --cluster, or it")
    own = _own(data or [], target, with_ or [], arm or [])
    if own and (ship or against):
        raise Ended(MISUSED, "evidence on data or methods of your own can't be shipped or compared")
    profile = profile or (ProfileName.standard if ship else ProfileName.quick)
    loaded = catalog.load()
    names = [paper.slug for paper in loaded.papers] if everything else names or []
    selection, closed = _selected(loaded, names, own, profile, replicates)
    index = shipped_index.read_index(shipped_index.SHIPPED) if against else {}
    url = store_url(store)
    problems = []
    if everything:
        warn_broken(loaded)
        problems = [f"{module} can't be read" for module in loaded.broken]
    with store_errors_named():
        if plan:
            for why in closed:
                warn(f"not asked: {why}")
            return _plan(selection, url, profile, replicates, jobs, as_json)
        lost = _nothing_to_compare(selection, index, ship) if against else []
        lost += shipped_index.damage(shipped_index.SHIPPED) if against else []
        ran = _run(selection, closed, quiet, profile, replicates, jobs, cluster, url, fresh, own)
        report = ran.report
        lost = [*lost, *ran.problems, *(_ship(report, url) if ship else [])]
    _print_report(ran, as_json, quiet, own)
    for problem in lost:
        warn(problem)
    wrong = strict and any(decision.verdict == "fails" for decision in report.decisions)
    for name, (before, now) in changed_verdicts(report.decisions, index).items():
        warn(f"{name}: shipped evidence says {before}, this run {now}")
        wrong = True
    return NOT_SO if wrong else UNAVAILABLE if problems or lost else DONE


def _refuse_misuse(
    names: list[str],
    everything: bool,
    plan: bool,
    fresh: bool,
    ship: bool,
    profile: str | None,
    replicates: int | None,
) -> None:
    if not names and not everything:
        raise Ended(MISUSED, "name a paper, or a claim as SLUG/CLAIM, or give --all")
    if names and everything:
        raise Ended(MISUSED, "--all is for all papers: name none beside it")
    if plan and (fresh or ship):
        raise Ended(MISUSED, "--plan runs nothing: it goes with neither --fresh nor --ship")
    if ship and profile not in (None, "standard"):
        raise Ended(MISUSED, f"--ship is for the standard profile, not {profile}")
    if ship and replicates is not None:
        raise Ended(MISUSED, "--ship takes the profile's replicates: leave out --replicates")
    if ship and any("/" in name for name in names):
        raise Ended(MISUSED, "--ship takes whole papers: name no single claims")


def _nothing_to_compare(selection: Selection, index: dict[str, Any], ship: bool) -> list[str]:
    """What nothing is shipped for; ends the command where that is all."""
    names = [f"{paper.slug}/{claim.id}" for paper, claim in selection if claim.experiment]
    lacking = not_shipped(selection, index)
    short = [name for name in lacking if name.partition("/")[0] in index]
    papers = {name.partition("/")[0] for name in lacking if name not in short}
    said = ", ".join([*sorted(papers), *short])
    problems = [f"nothing is shipped for {said} to compare with"] if said else []
    if problems and len(lacking) == len(names) and not ship:
        raise Ended(UNAVAILABLE, problems[0])
    return problems


def _own(data: list[Path], target: str | None, with_: list[str], arms: list[str]) -> Own:
    """What a reader brings, as given on the command line."""
    from probatum.evidence.opened import Own, parse_arm

    options = {} if target is None else {"target": target}
    for text in with_:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Ended(MISUSED, f"--with takes NAME=VALUE, got {text!r}")
        options[name.replace("-", "_")] = value
    try:
        named = [parse_arm(text) for text in arms]
    except ValueError as error:
        raise Ended(MISUSED, f"--arm: {error}") from error
    twice = {name for name, _ in named if [other for other, _ in named].count(name) > 1}
    if twice:
        raise Ended(MISUSED, f"--arm: {', '.join(sorted(twice))} is given twice")
    if named and os.getcwd() not in sys.path:
        # A method of one's own lies, as often as not, in the folder one works in.
        sys.path.insert(0, os.getcwd())
    return Own(tuple(data), options, dict(named))


def _selected(
    loaded: Catalog, names: list[str], own: Own, profile: Any, replicates: int | None
) -> tuple[Selection, list[str]]:
    """The claims named that can be asked; wrong names, numbers and files end the command."""
    from probatum.evidence.run import open_runs

    try:
        # A reader's module may print when it is imported; standard output is for what is asked.
        with warnings.catch_warnings(record=True) as said, redirect_stdout(sys.stderr):
            warnings.simplefilter("always", UserWarning)
            selection, closed = api.selected(loaded, names, own)
        for note in dict.fromkeys(str(warning.message) for warning in said):
            warn(note)
        kept, _ = api.runnable(selection)
        open_runs(kept, profile, replicates)
    except catalog.UnknownName:
        warn_broken(loaded)
        raise
    except (ValueError, TypeError) as error:
        raise Ended(MISUSED, str(error)) from error
    except OSError as error:
        raise Ended(UNAVAILABLE, os_error_line(error)) from error
    return selection, closed


def _run(
    selection: Selection,
    closed: list[str],
    quiet: bool,
    profile: Any,
    replicates: int | None,
    jobs: int | None,
    cluster: str | None,
    url: str,
    fresh: bool,
    own: Own,
) -> api.Ran:
    from probatum.evidence.cluster import ClusterError

    claims = sum(claim.experiment is not None for _, claim in selection)
    with CheckProgress(claims, quiet=quiet) as progress:
        try:
            return api.run_check(
                selection,
                closed,
                profile=profile,
                replicates=replicates,
                jobs=jobs,
                cluster=cluster,
                store=url,
                fresh=fresh,
                watcher=progress,
                own=own,
            )
        except KeyboardInterrupt:
            kept = counted(progress.kept, "finished trial")
            raise Ended(
                STOPPED,
                f"stopped; {kept} {'is' if progress.kept == 1 else 'are'} kept; "
                "run the same command again to go on",
            ) from None
        except ClusterError as error:
            raise Ended(UNAVAILABLE, str(error)) from error


def _plan(
    selection: Selection,
    url: str,
    profile: Any,
    replicates: int | None,
    jobs: int | None,
    as_json: bool,
) -> int:
    from probatum.cli.check_tables import print_plan
    from probatum.evidence.plan import plan
    from probatum.evidence.store import Store

    selection, lost = api.runnable(selection)
    jobs = api.default_jobs() if jobs is None else jobs
    sidecars = {
        paper.slug: shipped_index.read_sidecar(paper.slug, shipped_index.SHIPPED)
        for paper, _ in selection
    }
    # A plan leaves nothing behind, no empty store either.
    with (
        readable_store(url if store_exists(url) else "sqlite:///:memory:") as readable,
        Store(readable) as opened,
    ):
        plans = plan(
            selection,
            store=opened,
            profile=profile,
            replicates=replicates,
            jobs=jobs,
            sidecars=sidecars,
        )
    if as_json:
        experiments = [asdict(entry) for entry in plans]
        print_json({"profile": profile, "jobs": jobs, "experiments": experiments})
    else:
        print_plan(plans, profile, jobs)
    for problem in lost.values():
        warn(problem)
    return UNAVAILABLE if lost else DONE


def _ship(report: RunReport, url: str) -> list[str]:
    """Write the evidence of each paper, and say which could not be."""
    from probatum.evidence.shipped import ship, write_index
    from probatum.evidence.store import Store

    folder, lost = shipped_index.SHIPPED, []
    with Store(url) as opened:
        for slug in dict.fromkeys(run.paper.slug for run in report.runs):
            try:
                ship([run for run in report.runs if run.paper.slug == slug], opened, folder)
            except shipped_index.ShippedError as error:
                lost.append(str(error))
    write_index(catalog.load().papers, folder)
    return lost


def _print_report(ran: api.Ran, as_json: bool, quiet: bool, own: Own) -> None:
    report = ran.report
    controls = _control_verdicts(report)
    from probatum.cli.check_tables import print_decisions, print_next
    from probatum.evidence.shipped import decision_to_json

    if as_json:
        decisions = [
            {
                **decision_to_json(decision),
                "controls": controls.get(f"{decision.paper}/{decision.claim}", {}),
            }
            for decision in report.decisions
        ]
        failures = [asdict(failure) for failure in ran.failures]
        run = {**report.described(), "failures": failures, "not_asked": ran.closed}
        print_json({"run": run, "decisions": decisions})
        return
    print_decisions(ran, controls)
    if not quiet and not own:
        print_next(report)


def _control_verdicts(report: RunReport) -> dict[str, dict[str, str]]:
    """Per claim that was run, the verdict of the same question on each control."""
    problems = {run.name for run in report.runs if run.problem}
    unrun = {
        f"{run.paper.slug}/{claim.id}"
        for run in report.runs
        if run.name in problems
        for claim in run.claims
    }
    return {
        name: {arm: decision.verdict for arm, decision in found.items()}
        for name, found in report.controls().items()
        if name not in unrun
    }
