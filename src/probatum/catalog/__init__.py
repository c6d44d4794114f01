"""The catalog: one module per paper, each with a ``PAPER``."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from dataclasses import dataclass
from types import ModuleType

from probatum.evidence import Claim, Paper

__all__ = ["Catalog", "UnknownName", "load", "nearest", "select"]


class UnknownName(LookupError):
    """No paper or claim of that name; the message gives the nearest."""


@dataclass(frozen=True)
class Catalog:
    """The papers that could be read, and the modules that could not, with why."""

    papers: tuple[Paper, ...]
    broken: dict[str, str]

    def paper(self, slug: str) -> Paper:
        """The paper of that slug.

        Raises
        ------
        UnknownName
            With the nearest slugs.
        """
        for paper in self.papers:
            if paper.slug == slug:
                return paper
        raise UnknownName(nearest("paper", slug, [paper.slug for paper in self.papers]))


def nearest(what: str, name: str, known: list[str], listed: str = "probatum list") -> str:
    """One line for a name that is not known, with those that are near it."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    near = near or [other for other in known if name.lower() in other.lower()][:3]
    hint = f"nearest: {', '.join(near)}" if near else f"see `{listed}` for the {len(known)}"
    return f"unknown {what} {name!r}; {hint}"


def load(package: str | ModuleType = "probatum.catalog") -> Catalog:
    """Read all catalog modules of a package; one that fails is named and the rest still read."""
    module = importlib.import_module(package) if isinstance(package, str) else package
    papers: dict[str, Paper] = {}
    broken = {}
    for found in pkgutil.iter_modules(module.__path__):
        name = f"{module.__name__}.{found.name}"
        if found.name.startswith("_"):
            continue
        try:
            paper = importlib.import_module(name).PAPER
            if not isinstance(paper, Paper):
                raise TypeError(f"PAPER is a {type(paper).__name__}")
            if paper.slug in papers:
                raise ValueError(f"another module has the paper {paper.slug}")
            papers[paper.slug] = paper
        except Exception as error:
            broken[name] = f"{type(error).__name__}: {error}"
    return Catalog(tuple(papers[slug] for slug in sorted(papers)), broken)


def select(catalog: Catalog, names: list[str]) -> list[tuple[Paper, Claim]]:
    """Papers and claims by ``SLUG`` or ``SLUG/CLAIM``, each once, in the order named.

    Raises
    ------
    UnknownName
        For a name that is not there.
    """
    chosen: dict[tuple[str, str], tuple[Paper, Claim]] = {}
    for name in names:
        slug, _, claim_id = name.partition("/")
        paper = catalog.paper(slug)
        claims = [claim for claim in paper.claims if claim_id in ("", claim.id)]
        if not claims:
            known = [claim.id for claim in paper.claims]
            raise UnknownName(nearest(f"claim of {slug}", claim_id, known))
        for claim in claims:
            chosen[slug, claim.id] = (paper, claim)
    return list(chosen.values())
