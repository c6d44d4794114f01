"""probatum from Python: :func:`papers` is the catalog, :func:`check` decides claims."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from probatum import catalog
from probatum.evidence import Claim, Decision, Paper
from probatum.evidence.extras import install_line, missing_distributions

if TYPE_CHECKING:
    import pandas as pd

    from probatum.evidence.model import Profile
    from probatum.evidence.run import RunReport, Watcher

__all__ = ["Checked", "check", "default_jobs", "papers", "runnable"]


@dataclass(frozen=True)
class Checked:
    """What a check brought: unpacks into decisions and trials.

    ``trials`` is tidy: one line per measurement with ``paper, experiment, dataset, replicate,
    arm, status, case, x, metric, value, successes, tries``. ``problems`` name what could not be
    run and what would mend it.
    """

    decisions: list[Decision]
    trials: pd.DataFrame
    run: dict[str, Any]
    problems: list[str]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.decisions, self.trials))


def papers() -> tuple[Paper, ...]:
    """All papers of the catalog that can be read, by slug.

    Examples
    --------
    >>> "linear-fractional" in [paper.slug for paper in papers()]
    True
    """
    return catalog.load().papers


def default_jobs() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def runnable(
    selection: list[tuple[Paper, Claim]],
) -> tuple[list[tuple[Paper, Claim]], dict[str, str]]:
    """Split off papers whose extras are not installed, each with the line that installs them."""
    problems: dict[str, str] = {}
    for paper, _ in selection:
        lacking = [extra for extra in paper.extras if missing_distributions(extra)]
        if lacking:
            problems[paper.slug] = f"{paper.slug} needs an extra: {install_line(*lacking)}"
    return [pair for pair in selection if pair[0].slug not in problems], problems


def check(
    *names: str,
    profile: Profile = "quick",
    replicates: int | None = None,
    jobs: int | None = None,
    store: str | None = None,
    fresh: bool = False,
    watcher: Watcher | None = None,
) -> Checked:
    """Run what the claims of a selection still need, and decide them.

    Parameters
    ----------
    *names : str
        ``SLUG`` or ``SLUG/CLAIM``.
    profile : {"smoke", "quick", "standard", "full"}
        How much may be spent.
    replicates : int, optional
        Most replicates, instead of the profile's.
    jobs : int, optional
        Worker processes, one per processor by default; 0 runs trials in this process.
    store : str, optional
        SQLAlchemy URL of the store; ``.probatum/evidence.db`` by default.
    fresh : bool
        Forget stored trials of these claims first.
    watcher : Watcher, optional
        Is told how the run gets on.

    Returns
    -------
    Checked
        Decisions in the order named, and a tidy table of trials.

    Raises
    ------
    probatum.catalog.UnknownName
        For a paper or claim that is not in the catalog.
    ValueError
        If nothing was named, or the replicates can't decide anything.

    Examples
    --------
    >>> decisions, trials = check("linear-fractional/threshold-form", profile="smoke", jobs=0,
    ...                           store="sqlite:///:memory:")
    >>> decisions[0].claim
    'threshold-form'
    """
    report, problems = run_check(
        list(names),
        profile=profile,
        replicates=replicates,
        jobs=jobs,
        store=store,
        fresh=fresh,
        watcher=watcher,
    )
    return Checked(report.decisions, trials_frame(report), report.described(), problems)


def run_check(
    names: list[str],
    *,
    profile: Profile,
    replicates: int | None,
    jobs: int | None,
    store: str | None,
    fresh: bool,
    watcher: Watcher | None,
) -> tuple[RunReport, list[str]]:
    """:func:`check` before its table is made; a front door needs the runs themselves."""
    from probatum.evidence.decide import not_run
    from probatum.evidence.run import execute
    from probatum.evidence.store import DEFAULT_URL, Store

    if not names:
        raise ValueError("name a paper, or a claim as SLUG/CLAIM")
    wanted = catalog.select(catalog.load(), names)
    kept, lost = runnable(wanted)
    with Store(store or DEFAULT_URL) as opened:
        report = execute(
            kept,
            store=opened,
            profile=profile,
            replicates=replicates,
            jobs=default_jobs() if jobs is None else jobs,
            fresh=fresh,
            watcher=watcher,
        )
    decided = iter(report.decisions)
    report.decisions = [
        not_run(paper, claim, lost[paper.slug]) if paper.slug in lost else next(decided)
        for paper, claim in wanted
    ]
    return report, [*lost.values(), *report.problems]


def trials_frame(report: RunReport) -> pd.DataFrame:
    """Tidy table of the trials that a run's claims read."""
    import pandas as pd

    lines: list[tuple[Any, ...]] = []
    for run in report.runs:
        evidence = run.evidence
        for (arm, dataset, replicate), rows in evidence.rows.items():
            where = (run.paper.slug, run.experiment.id, dataset, replicate, arm, "ok")
            for row in rows:
                for metric, value in row.values.items():
                    lines.append((*where, row.case, row.x, metric, value, None, None))
                for metric, (k, n) in row.counts.items():
                    lines.append((*where, row.case, row.x, metric, None, k, n))
        for (arm, dataset, replicate), status in evidence.failed.items():
            where = (run.paper.slug, run.experiment.id, dataset, replicate, arm, status)
            lines.append((*where, "", None, None, None, None, None))
    columns = "paper experiment dataset replicate arm status case x metric value successes tries"
    return pd.DataFrame(lines, columns=columns.split())
