"""Files that are no tables, told apart from broken ones."""

from __future__ import annotations

import json
from pathlib import Path

# fmt: off
_SUFFIXES = frozenset((
    ".json", ".jsonl", ".ndjson", ".geojson", ".xml", ".html", ".htm", ".yaml", ".yml", ".toml",
    ".feather", ".arrow", ".orc", ".h5", ".hdf5", ".sav", ".dta", ".sas7bdat", ".rds", ".rdata",
    ".npy", ".npz", ".pkl", ".pickle", ".pdf", ".docx", ".zip", ".tar", ".tgz", ".bz2", ".xz",
    ".7z", ".zst", ".db", ".sqlite", ".png", ".jpg", ".jpeg",
))
# fmt: on
_MARKUP = ("<!doctype", "<html", "<?xml")


def refuse_by_name(path: Path) -> None:
    """Refuse a file whose name says that it is no table.

    Raises
    ------
    ValueError
        That names what is read.
    """
    name = path.name.lower().removesuffix(".gz")
    if Path(name).suffix in _SUFFIXES:
        raise ValueError(_message(path))


def refuse_by_text(path: Path, text: str) -> None:
    """Refuse JSON and markup by their text, whatever the name.

    Raises
    ------
    ValueError
        That names what is read.
    """
    if text.lstrip()[:9].lower().startswith(_MARKUP) or json_of(text) is not None:
        raise ValueError(_message(path))


def json_of(text: str) -> dict[str, object] | list[object] | None:
    """The object or list that the text is as JSON, None if it is something else.

    Examples
    --------
    >>> json_of('{"a": 1}'), json_of("a,b"), json_of("1")
    ({'a': 1}, None, None)
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _message(path: Path) -> str:
    return f"{path} is not a table format that is read (CSV, TSV, Parquet, Excel)"
