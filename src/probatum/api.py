"""probatum from Python: :func:`papers` is the catalog, :func:`check` decides claims."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probatum import catalog
from probatum.evidence import Claim, Decision, Paper
from probatum.evidence.extras import install_line, missing_distributions
from probatum.evidence.model import PROFILES

if TYPE_CHECKING:
    import pandas as pd

    from probatum.evidence.executors import Executor
    from probatum.evidence.model import Profile
    from probatum.evidence.opened import Own
    from probatum.evidence.run import RunReport, Watcher
    from probatum.evidence.store import Store

__all__ = ["Checked", "check", "default_jobs", "papers", "runnable", "store_url"]

MOST_REPLICATES = 100_000
"""What schedules of looks are still quick to compute for."""
MOST_JOBS = 1024


@dataclass(frozen=True)
class Checked:
    """What a check brought: unpacks into decisions and trials.

    ``trials`` is tidy: one line per measurement with ``paper, experiment, dataset, replicate,
    arm, status, case, x, metric, value, successes, tries``. ``problems`` name what could not be
    run and what would mend it. ``controls`` are the decisions on the same questions asked of each
    negative control, by ``paper/claim`` and arm.
    """

    decisions: list[Decision]
    trials: pd.DataFrame
    run: dict[str, Any]
    problems: list[str]
    controls: dict[str, dict[str, Decision]]

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
    cluster: str | None = None,
    store: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    watcher: Watcher | None = None,
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    data_options: Mapping[str, str] | None = None,
    arms: Mapping[str, str] | None = None,
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
    cluster : str, optional
        Run trials on a Ray cluster instead: ``HOST:PORT``, or ``auto`` for the one of this machine,
        which is started if there is none.
    store : str or Path, optional
        File or SQLAlchemy URL of the store; ``.probatum/evidence.db`` by default.
    fresh : bool
        Forget stored trials of these claims first.
    watcher : Watcher, optional
        Is told how the run gets on.
    data : path or sequence of paths
        Files of your own to ask the claims of, in the place of the paper's data sets.
    data_options : mapping of str to str, optional
        How to read them, such as ``{"target": "y"}``.
    arms : mapping of str to str, optional
        Methods of your own to put beside the paper's: names and ``module:attribute``.

    Returns
    -------
    Checked
        Decisions in the order named, and a tidy table of trials.

    Raises
    ------
    probatum.catalog.UnknownName
        For a paper or claim that is not in the catalog.
    ValueError
        If nothing was named, a profile or number can't be, the replicates can't decide anything, or
        data or a method is not what the claims' experiments take.
    TypeError
        For arguments of another type, such as names in one list.
    probatum.evidence.cluster.ClusterError
        If the cluster can't be reached, or a node of it can't run the trials as this machine would.

    Examples
    --------
    >>> decisions, trials = check("linear-fractional/threshold-form", profile="smoke", jobs=0,
    ...                           store="sqlite:///:memory:")
    >>> decisions[0].claim
    'threshold-form'
    """
    _refuse_misuse(names, profile, replicates, jobs, cluster, store)
    own = _own(data, data_options, arms)
    ran = run_check(
        *selected(catalog.load(), list(names), own),
        profile=profile,
        replicates=replicates,
        jobs=jobs,
        cluster=cluster,
        store=store_url(store),
        fresh=fresh,
        watcher=watcher,
        own=own,
    )
    failures = [asdict(failure) for failure in ran.failures]
    run = {**ran.report.described(), "failures": failures, "not_asked": ran.closed}
    table, controls = trials_frame(ran.report), ran.report.controls()
    return Checked(ran.report.decisions, table, run, ran.problems, controls)


def _own(data: Any, options: Any, arms: Any) -> Own:
    from probatum.evidence.opened import Own, parse_arm

    files = (data,) if isinstance(data, str | os.PathLike) else data
    if not isinstance(files, list | tuple) or not all(
        isinstance(file, str | os.PathLike) for file in files
    ):
        raise TypeError(f"data must be a path or a list of paths, got {type(data).__name__}")
    for name, given in (("data_options", options), ("arms", arms)):
        plain = given is None or isinstance(given, Mapping)
        if not plain or not all(
            isinstance(word, str) for pair in (given or {}).items() for word in pair
        ):
            raise TypeError(f"{name} must map str to str, got {given!r}")
    named = [parse_arm(f"{name}={target}") for name, target in (arms or {}).items()]
    return Own(tuple(Path(file) for file in files), dict(options or {}), dict(named))


def _refuse_misuse(
    names: tuple[Any, ...], profile: Any, replicates: Any, jobs: Any, cluster: Any, store: Any
) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"names are given one by one, each a str, not {type(name).__name__}")
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {profile!r}")
    _refuse_number("replicates", replicates, 1, MOST_REPLICATES)
    _refuse_number("jobs", jobs, 0, MOST_JOBS)
    if cluster is not None and not isinstance(cluster, str):
        raise TypeError(f"cluster must be a str, got {cluster!r}")
    if cluster is not None and jobs is not None:
        raise ValueError("jobs is for this machine: leave out cluster, or it")
    if store is not None and not isinstance(store, str | os.PathLike):
        raise TypeError(f"store must be a file or a URL, not {type(store).__name__}")


def _refuse_number(name: str, number: Any, least: int, most: int) -> None:
    if number is None:
        return
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise TypeError(f"{name} must be an int, got {number!r}")
    if not least <= int(number) <= most:
        raise ValueError(f"{name} must lie between {least} and {most}, got {number}")


def store_url(store: str | os.PathLike[str] | None) -> str:
    """The SQLAlchemy URL of a store that was named by URL or by file.

    Examples
    --------
    >>> store_url("evidence.db"), store_url("sqlite://"), store_url("postgres:me@host")
    ('sqlite:///evidence.db', 'sqlite://', 'postgres:me@host')
    """
    if store is None:
        return "sqlite:///.probatum/evidence.db"
    named = os.fspath(store)
    # Without its slashes an address would be taken for a file, with the password in its name.
    is_url = "://" in named or re.match(r"postgres(ql)?(\+\w+)?:", named)
    return named if is_url else f"sqlite:///{named}"


@dataclass(frozen=True)
class Failure:
    """Trials of an arm on a dataset that failed alike; the arm is ``*`` where all run together.

    ``message`` is that of the first.
    """

    paper: str
    experiment: str
    arm: str
    dataset: str
    status: str
    message: str
    count: int


@dataclass(frozen=True)
class Ran:
    """What came out, what could not be run, and why trials failed.

    ``closed`` says of claims why they can't be asked of a reader's data or method.
    """

    report: RunReport
    problems: list[str]
    failures: list[Failure]
    closed: list[str]


def _failures(report: RunReport, store: Store) -> list[Failure]:
    found: dict[tuple[str, str, str, str, str], list[str]] = {}
    for run in report.runs:
        if not run.evidence.failed:
            continue
        for record in store.final(run.keys(range(run.target))).values():
            where = (record.paper, record.experiment)
            lost = [(row.arm, "raised", row.failed) for row in record.rows if row.failed]
            if record.status != "ok":
                lost.append((record.arm, record.status, " ".join(record.message.split())))
            for arm, status, message in lost:
                found.setdefault((*where, arm, record.dataset, status), []).append(message)
    return [Failure(*at, messages[0], len(messages)) for at, messages in found.items()]


def run_check(
    wanted: list[tuple[Paper, Claim]],
    closed: list[str],
    *,
    profile: Profile,
    replicates: int | None,
    jobs: int | None,
    cluster: str | None,
    store: str,
    fresh: bool,
    watcher: Watcher | None,
    own: Own | None = None,
) -> Ran:
    """:func:`check` of what :func:`selected` gave; a front door needs the runs themselves.

    The store remembers what was asked and answered, also where the run is stopped.
    """
    from probatum.evidence.decide import not_run
    from probatum.evidence.noting import Noting
    from probatum.evidence.run import execute, open_runs
    from probatum.evidence.store import Store, StoreError

    kept, lost = runnable(wanted)
    noting = Noting(kept, own, profile, replicates, watcher)
    with Store(store) as opened, _executors(cluster, kept) as executors:
        if fresh:
            # Not before it is known that the run can begin.
            open_runs(kept, profile, replicates)
            opened.forget_answers(noting.ids())
        try:
            report = execute(
                kept,
                store=opened,
                profile=profile,
                replicates=replicates,
                jobs=default_jobs() if jobs is None else jobs,
                fresh=fresh,
                watcher=noting,
                executors=executors,
            )
        except BaseException:
            # What ended the run is what is told, and at once.
            opened.stop_waiting()
            with contextlib.suppress(StoreError):
                opened.remember(noting.answers())
            raise
        try:
            opened.remember(noting.answers())
        except StoreError as error:
            # The answers are here all the same.
            report.problems.append(str(error))
        failures = _failures(report, opened)
    decided = iter(report.decisions)
    report.decisions = [
        not_run(paper, claim, lost[paper.slug]) if paper.slug in lost else next(decided)
        for paper, claim in wanted
    ]
    return Ran(report, [*lost.values(), *report.problems], failures, closed)


@contextlib.contextmanager
def _executors(
    cluster: str | None, selection: list[tuple[Paper, Claim]]
) -> Iterator[Callable[[bool], Executor] | None]:
    """What gives executors on a cluster, if one is named; it is left after the block."""
    if cluster is None:
        yield None
        return
    from probatum.evidence.cluster import Cluster

    extras = sorted({extra for paper, _ in selection for extra in paper.extras})
    with Cluster(cluster, tuple(extras)) as connected:
        yield connected.executor


def selected(
    loaded: catalog.Catalog, names: list[str], own: Own | None
) -> tuple[list[tuple[Paper, Claim]], list[str]]:
    """The claims named, asked of what a reader brings; and why others of them can't be."""
    from probatum.evidence.opened import open_selection

    if not names:
        raise ValueError("name a paper, or a claim as SLUG/CLAIM")
    wanted = catalog.select(loaded, names)
    return open_selection(wanted, own) if own else (wanted, [])


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
