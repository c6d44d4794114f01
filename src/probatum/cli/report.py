"""``probatum report``: the site where people look at verdicts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probatum import catalog
from probatum.api import default_jobs
from probatum.cli.exits import (
    DONE,
    MISUSED,
    UNAVAILABLE,
    Ended,
    os_error_line,
    store_errors_named,
)
from probatum.cli.options import AsJson, Store_, readable_store, store_exists, store_url
from probatum.cli.output import console, counted, print_json, warn, warn_broken
from probatum.cli.progress import Bar
from probatum.evidence import shipped_index

if TYPE_CHECKING:
    from probatum.evidence.store import Store
    from probatum.report import Built

__all__ = ["report"]

DEFAULT_OUT = Path("probatum-report")


def report(
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            "--out",
            metavar="DIR",
            help="Folder of the site: a new one, an empty one, or one that holds a report.",
        ),
    ] = DEFAULT_OUT,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    store: Store_ = None,
    as_json: AsJson = False,
) -> int:
    """Write a site of all papers, claims and verdicts that needs no server and no network.

    It shows the shipped evidence, and beside it what a store on this machine holds. Pages whose
    content is the same are left as they are.
    """
    loaded = catalog.load()
    started = time.perf_counter()
    with _opened(store) as opened:
        built = _build(out, loaded, opened, as_json)
    seconds = time.perf_counter() - started
    index = (built.folder / "index.html").resolve()
    if as_json:
        print_json(
            {
                "folder": str(built.folder),
                "index": index.as_uri(),
                "pages": built.pages,
                "written": len(built.written),
                "removed": built.removed,
                "seconds": round(seconds, 3),
                "problems": built.problems,
            }
        )
    else:
        changed = counted(len(built.written), "file") if built.written else "nothing"
        said = f"{counted(built.pages, 'page')} in {built.folder}, {changed} written"
        console().print(f"{said}; open {index.as_uri()}", soft_wrap=True)
    warn_broken(loaded)
    for problem in built.problems:
        warn(problem)
    if open_ and not typer.launch(index.as_uri()) == 0:
        raise Ended(UNAVAILABLE, f"no browser could be started: open {index.as_uri()} yourself")
    return UNAVAILABLE if built.problems or loaded.broken else DONE


@contextlib.contextmanager
def _opened(named: str | None) -> Iterator[Store | None]:
    """The store, or None where none was named and there is none."""
    url = store_url(named)
    if not store_exists(url):
        if named is not None:
            raise Ended(UNAVAILABLE, f"there is no store {url}")
        yield None
        return
    from probatum.evidence.store import Store

    with store_errors_named(), readable_store(url) as readable, Store(readable) as store:
        yield store


def _build(out: Path, loaded: catalog.Catalog, store: Store | None, quiet: bool) -> Built:
    from probatum.report import NotASite, build

    try:
        with Bar("report", quiet) as progress:
            return build(
                out,
                loaded.papers,
                shipped=shipped_index.SHIPPED,
                store=store,
                broken=loaded.broken,
                jobs=default_jobs(),
                progress=progress,
            )
    except NotASite as error:
        raise Ended(MISUSED, str(error)) from error
    except OSError as error:
        raise Ended(UNAVAILABLE, f"can't write the report: {os_error_line(error)}") from error
