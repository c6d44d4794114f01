"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from click import Choice

from probatum.evidence.model import PROFILES

__all__ = ["AsJson", "Profile_", "Store_", "example", "store_exists", "store_url"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]

Profile_ = Annotated[
    str | None,
    typer.Option(
        "--profile",
        click_type=Choice(PROFILES),
        help="How much may be spent: seconds, a minute, minutes, or the paper's scale.",
    ),
]

Store_ = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL|FILE",
        help="Where trials are kept: a file, or a SQLAlchemy URL. [.probatum/evidence.db]",
    ),
]


def example(*lines: str) -> dict[str, Any]:
    """Settings of a command whose help ends with examples."""
    # The escape keeps click from joining the lines.
    return {"epilog": "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)}


def store_url(store: str | None) -> str:
    """The SQLAlchemy URL of a store that was named by URL or by file."""
    if store is None:
        return "sqlite:///.probatum/evidence.db"
    return store if "://" in store else f"sqlite:///{store}"


def store_exists(url: str) -> bool:
    """False for a SQLite file that is not there; True where one has to connect to know."""
    scheme, _, file = url.partition(":///")
    return scheme.partition("+")[0] != "sqlite" or Path(file.partition("?")[0]).exists()
