"""What a page is made from, as one digest: a page is made anew when it changes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import probatum
from probatum.evidence.described import paper_facts
from probatum.evidence.model import Paper

__all__ = ["digest_of", "paper_digest"]

PACKAGE = Path(probatum.__file__).resolve().parent
ENGINE = ("report", "evidence", "stats")
"""Rooms whose code decides what stands on every page."""


def digest_of(*parts: Any) -> str:
    """One digest of plain values."""
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def paper_digest(
    paper: Paper, shipped: Path, fresh: Mapping[str, bool], stored: tuple[int, int], altered: bool
) -> str:
    """Digest of what a paper's page says: facts, evidence, whether it is fresh, and our code.

    ``stored`` are the number and the last of the paper's trials in a store, ``altered`` says
    whether shipped files are other than they were.
    """
    evidence = [_file(shipped / f"{paper.slug}{suffix}") for suffix in (".csv", ".json")]
    described = [paper_facts(paper), repr(paper)]
    sources = sorted({_package(method.partition(":")[0]) for method in paper.methods})
    return digest_of(_engine(), described, evidence, dict(fresh), stored, altered, sources)


def _file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@cache
def _engine() -> str:
    return "".join(_tree(PACKAGE / room) for room in ENGINE)


@cache
def _tree(folder: Path) -> str:
    """Digest of the files below a folder."""
    files = sorted(_files(folder))
    return digest_of([(str(path.relative_to(folder)), _file(path)) for path in files])


def _files(folder: Path) -> Iterable[Path]:
    return (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


@cache
def _package(module: str) -> str:
    """Digest of the package, or file, that a method is imported from."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return ""
    if found is None or found.origin is None:
        return ""
    origin = Path(found.origin)
    return _tree(origin.parent) if found.submodule_search_locations else _file(origin)
