"""``probatum export``: trials, decisions or citations of them as a file for other tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from probatum import __version__, catalog
from probatum.cli.exits import DONE, MISUSED, UNAVAILABLE, Ended, store_errors_named
from probatum.cli.options import AsJson, Profile_, Store_, readable_store, store_exists, store_url
from probatum.cli.output import counted, print_json, warn, warn_broken
from probatum.evidence import Claim, Paper, shipped_index

if TYPE_CHECKING:
    from probatum.evidence.citations import Cited
    from probatum.evidence.store import Store

__all__ = ["export"]

Selection = list[tuple[Paper, Claim]]


class What(StrEnum):
    """What can be exported."""

    trials = "trials"
    decisions = "decisions"
    citations = "citations"


def export(
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="A .csv, .json or .parquet file; for citations .bib or .jsonld.",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SLUG[/CLAIM]]...", help="Papers or claims; all by default."),
    ] = None,
    what: Annotated[
        What,
        typer.Option(
            "--what",
            help="Measurements, verdicts, or a citation of each verdict.",
        ),
    ] = What.trials,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Shipped evidence instead of a store's.")
    ] = False,
    own: Annotated[
        bool, typer.Option("--own", help="Trials on data or methods of your own, and no others.")
    ] = False,
    store: Store_ = None,
    profile: Profile_ = None,
    as_json: AsJson = False,
) -> int:
    """Write tidy trials (one line per measurement), decisions or citations to a file."""
    _check_format(output, what)
    if not output.absolute().parent.is_dir() or output.is_dir():
        raise Ended(MISUSED, f"{output} can't be a file: name one in a folder that exists")
    if shipped and (store is not None or profile is not None):
        raise Ended(MISUSED, "--shipped takes neither --store nor --profile")
    if own and (shipped or what != What.trials):
        raise Ended(MISUSED, "--own is for trials of a store")
    loaded = catalog.load()
    selection = catalog.select(loaded, names or [paper.slug for paper in loaded.papers])
    if shipped:
        rows = _write_shipped(output, selection, what)
    else:
        url = store_url(store)
        if not store_exists(url):
            hint = "name one with --store, run probatum check, or export --shipped evidence"
            raise Ended(UNAVAILABLE, f"there is no store {url}: {hint}")
        with store_errors_named():
            rows = _write_stored(output, selection, what, url, profile or "quick", own)
    broken = bool(loaded.broken) and not names
    if broken:
        warn_broken(loaded)
    if as_json:
        print_json({"file": str(output), "what": what, "rows": rows})
    else:
        lines = f"{counted(rows, 'line')} of {what}"
        print(f"{output}: {counted(rows, 'citation') if what == What.citations else lines}")
    return UNAVAILABLE if broken else DONE


def _check_format(output: Path, what: What) -> None:
    from probatum.evidence import citations, tables

    formats = {
        kind: tuple(citations.FORMATS if kind == What.citations else tables.FORMATS)
        for kind in What
    }
    suffix = output.suffix.lower()
    if suffix in formats[what]:
        return
    others = [kind.value for kind in What if suffix in formats[kind]]
    hint = f"; {suffix} is for --what {' or '.join(others)}" if others else ""
    accepted = ", ".join(formats[what])
    raise Ended(MISUSED, f"{output} must end with one of {accepted} to hold {what}{hint}")


def _write_stored(
    output: Path, selection: Selection, what: str, url: str, profile: Any, own: bool
) -> int:
    from probatum.evidence.citations import stored_citations
    from probatum.evidence.store import Store
    from probatum.evidence.tables import decision_lines, stored_decisions

    with readable_store(url) as readable, Store(readable) as opened:
        if what == "citations":
            return _write_citations(
                output, stored_citations(selection, opened, profile, __version__)
            )
        if what == "decisions":
            lines = decision_lines(stored_decisions(selection, opened, profile))
        else:
            lines = _stored_trials(selection, opened, own)
        return _write(output, lines, what)


def _stored_trials(selection: Selection, store: Store, own: bool) -> Iterator[dict[str, Any]]:
    """The paper's own trials, or those on a reader's data and methods: never both in one file."""
    from probatum.evidence.opened import declared
    from probatum.evidence.tables import trial_lines

    papers = {paper.slug: paper for paper, _ in selection}
    for slug, experiments in _experiments(selection).items():
        of = (r for r in store.records(slug) if r.experiment in experiments)
        yield from trial_lines(r for r in of if declared(papers[slug], r) != own)


def _write_shipped(output: Path, selection: Selection, what: str) -> int:
    from probatum.evidence.citations import shipped_citations

    if what == "citations":
        cited = shipped_citations(selection, shipped_index.SHIPPED, __version__)
        return _write_citations(output, cited)
    return _write(output, _shipped_lines(selection, what), what)


def _shipped_lines(selection: Selection, what: str) -> Iterator[dict[str, Any]]:
    from probatum.evidence.shipped import read_records, shipped_decisions
    from probatum.evidence.tables import decision_lines, not_shipped, trial_lines

    folder = shipped_index.SHIPPED
    if what == "trials":
        for slug, experiments in _experiments(selection).items():
            yield from trial_lines(
                r for r in read_records(slug, folder) if r.experiment in experiments
            )
        return
    for paper in {paper.slug: paper for paper, _ in selection}.values():
        wanted = [claim for own, claim in selection if own.slug == paper.slug]
        decisions = shipped_decisions(paper, folder)
        yield from decision_lines(
            decisions.get(claim.id) or not_shipped(paper, claim) for claim in wanted
        )


def _experiments(selection: Selection) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for paper, claim in selection:
        if claim.experiment is not None:
            found.setdefault(paper.slug, set()).add(claim.experiment.id)
    return found


def _write_citations(output: Path, cited: Iterable[Cited]) -> int:
    from probatum.evidence.citations import write_citations

    try:
        return write_citations(output, cited)
    except OSError as error:
        raise Ended(UNAVAILABLE, f"{output} can't be written: {error.strerror}") from error


def _write(output: Path, lines: Iterable[dict[str, Any]], what: str) -> int:
    from probatum.evidence.tables import MissingWriter, write_table

    try:
        rows = write_table(output, lines, what)
    except MissingWriter as error:
        raise Ended(UNAVAILABLE, str(error)) from error
    except OSError as error:
        raise Ended(UNAVAILABLE, f"{output} can't be written: {error.strerror}") from error
    if not rows:
        warn(f"no {what} found; {output} has none")
    return rows
