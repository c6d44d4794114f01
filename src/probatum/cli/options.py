"""Arguments and options that several verbs share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from probatum.api import store_url

__all__ = [
    "AsJson",
    "Cluster_",
    "Command",
    "ProfileName",
    "Profile_",
    "Store_",
    "example",
    "examples",
    "readable_store",
    "store_exists",
    "store_url",
]


class ProfileName(StrEnum):
    """Profiles as the parser knows them; every typer takes an enum for a choice."""

    smoke = "smoke"
    quick = "quick"
    standard = "standard"
    full = "full"


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]

Profile_ = Annotated[
    ProfileName | None,
    typer.Option(
        "--profile",
        help="How much may be spent: seconds, a minute, minutes, or the paper's scale.",
    ),
]

Cluster_ = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="auto|HOST:PORT",
        help="Run trials on a Ray cluster: the one at an address, or this machine's, which is "
        "started if there is none.",
    ),
]

Store_ = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL|FILE",
        help="Where trials are kept: a file, or the URL of a database that a team shares, such as "
        "postgresql://USER@HOST/NAME. [.probatum/evidence.db]",
    ),
]


class Command(TyperCommand):
    """A command whose help is plain text: some versions of typer escape it for rich."""

    def get_help(self, ctx: Any) -> str:
        """The help as it is printed."""
        return str(super().get_help(ctx)).replace("\\[", "[")


def examples(*lines: str) -> str:
    """The end of a help text."""
    # The escape keeps click from joining the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def example(*lines: str) -> dict[str, Any]:
    """Settings of a command whose help ends with examples."""
    return {"epilog": examples(*lines), "cls": Command}


def store_exists(url: str) -> bool:
    """False for a SQLite file that is not there; True where one has to connect to know."""
    file = _sqlite_file(url)
    return file is None or file.exists()


def _sqlite_file(url: str) -> Path | None:
    scheme, _, file = url.partition(":///")
    return Path(file.partition("?")[0]) if scheme.partition("+")[0] == "sqlite" else None


@contextmanager
def readable_store(url: str) -> Iterator[str]:
    """The URL under which a store can be read: that of a copy, where SQLite may not write to it."""
    file = _sqlite_file(url)
    if file is None or not file.is_file() or _writable(file):
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="probatum-") as folder:
        for part in (file, file.with_name(f"{file.name}-wal")):
            if part.exists():
                # Contents only: a copied mode would be read-only again.
                shutil.copyfile(part, Path(folder, part.name))
        yield f"sqlite:///{folder}/{file.name}"


def _writable(file: Path) -> bool:
    return os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)
