"""Papers, claims and shipped verdicts as plain values, for whoever prints or draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from probatum.evidence.model import Arm, Budget, Claim, Decision, Paper
from probatum.evidence.shipped_index import SHIPPED, ShippedError, damage, freshness, read_index

__all__ = [
    "changed_verdicts",
    "claim_facts",
    "not_shipped",
    "paper_facts",
    "paper_summary",
    "shipped_standing",
]

VERDICTS = ("holds", "fails", "undecided", "untested")


def _shipped_verdict(index: Mapping[str, Any], slug: str, claim: str) -> str:
    entry = index.get(slug)
    decision = entry.get(claim) if isinstance(entry, dict) else None
    verdict = decision.get("verdict") if isinstance(decision, dict) else None
    return verdict if verdict in VERDICTS else ""


def not_shipped(selection: Iterable[tuple[Paper, Claim]], index: Mapping[str, Any]) -> list[str]:
    """Claims, as ``slug/claim``, that can be tried but have no shipped verdict."""
    return [
        f"{paper.slug}/{claim.id}"
        for paper, claim in selection
        if claim.experiment is not None and not _shipped_verdict(index, paper.slug, claim.id)
    ]


def paper_summary(paper: Paper, index: Mapping[str, Any]) -> dict[str, Any]:
    """A paper in one line: shipped verdicts, and how many claims that can be tried have none."""
    verdicts = dict.fromkeys(VERDICTS, 0)
    lacking = not_shipped([(paper, claim) for claim in paper.claims], index)
    for claim in paper.claims:
        if f"{paper.slug}/{claim.id}" not in lacking:
            verdicts[_shipped_verdict(index, paper.slug, claim.id) or "untested"] += 1
    return {
        "slug": paper.slug,
        "title": paper.title,
        "domain": paper.domain,
        "methods": list(paper.methods),
        "extras": list(paper.extras),
        "claims": len(paper.claims),
        "uses": [tool.name for tool in paper.tools],
        "verdicts": verdicts,
        "not_shipped": len(lacking),
    }


def paper_facts(paper: Paper, claims: Iterable[Claim] | None = None) -> dict[str, Any]:
    """A paper with its claims, or some of them."""
    return {
        "slug": paper.slug,
        "title": paper.title,
        "domain": paper.domain,
        "fidelity": paper.fidelity,
        "summary": paper.summary,
        "audience": paper.audience,
        "methods": list(paper.methods),
        "extras": list(paper.extras),
        "uses": [tool.name for tool in paper.tools],
        "tools": [
            {"name": tool.name, "summary": tool.summary, "example": tool.example}
            for tool in paper.tools
        ],
        "claims": [claim_facts(claim) for claim in (paper.claims if claims is None else claims)],
    }


def claim_facts(claim: Claim) -> dict[str, Any]:
    """A claim and how it is tried; for an untested one what belongs to an experiment is empty."""
    from probatum.evidence.words import criterion_parameters, criterion_words

    experiment = claim.experiment
    facts: dict[str, Any] = {
        "id": claim.id,
        "statement": claim.statement,
        "scope": claim.scope,
        "criterion": None,
        "arms": [],
        "datasets": [],
        "metrics": [],
        "abscissa": "",
        "control": [],
        "needs": claim.missing,
        "profiles": {},
        "open": {"data": False, "arm": False},
    }
    if experiment is not None:
        facts["criterion"] = {
            "words": criterion_words(claim),
            "parameters": criterion_parameters(claim),
        }
        facts["arms"] = [_arm_facts(arm) for arm in experiment.arms]
        facts["datasets"] = [
            {"name": d.id, "title": d.title, "licence": d.licence} for d in experiment.datasets
        ]
        facts["metrics"] = [
            {"name": name, "title": metric.title, "better": metric.better}
            for name, metric in experiment.metrics.items()
        ]
        facts["abscissa"] = experiment.abscissa
        facts["control"] = [arm.id for arm in experiment.arms if arm.role == "control"]
        facts["open"] = {
            "data": experiment.data_slot is not None,
            "arm": experiment.arm_interface is not None,
        }
        facts["profiles"] = {name: _budget(b) for name, b in experiment.budgets.items()}
    return facts


def _arm_facts(arm: Arm) -> dict[str, str]:
    name, _, version = arm.library.rpartition(" ")
    if not name or not version[:1].isdigit():
        name, version = arm.library, _installed(arm.library)
    return {
        "name": arm.id,
        "title": arm.title,
        "role": arm.role,
        "library": name,
        "version": version,
    }


def _installed(library: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(library) if library else ""
    except (metadata.PackageNotFoundError, ValueError):
        return ""


def _budget(budget: Budget) -> dict[str, Any]:
    return {
        "replicates": budget.replicates,
        "size": dict(budget.size),
        "seconds": budget.seconds,
        "memory_gb": budget.memory_gb,
        "threads": budget.threads,
        "gpu": budget.gpu,
    }


def shipped_standing(
    papers: Iterable[Paper], folder: Path = SHIPPED
) -> tuple[dict[str, Any], list[str]]:
    """How shipped evidence stands beside the code, and what of it can't be read.

    Where the index can't be read nothing counts as shipped.
    """
    rows, missing, problems = [], [], []
    try:
        index = read_index(folder)
    except ShippedError as error:
        index = {}
        problems.append(str(error))
    papers = list(papers)
    for paper in papers:
        try:
            fresh = freshness(paper, folder)
        except ShippedError as error:
            fresh = {}
            problems.append(str(error))
        for claim in paper.claims:
            verdict = _shipped_verdict(index, paper.slug, claim.id)
            if verdict and claim.experiment is not None:
                rows.append(
                    {
                        "paper": paper.slug,
                        "claim": claim.id,
                        "scope": claim.scope,
                        "profile": "standard",
                        "verdict": verdict,
                        "n": index[paper.slug][claim.id].get("n", 0),
                        "fresh": fresh.get(claim.id, False),
                    }
                )
            elif claim.experiment is not None:
                missing.append(f"{paper.slug}/{claim.id}")
    standing = {
        "papers": len(papers),
        "claims": sum(len(paper.claims) for paper in papers),
        "fresh": sum(row["fresh"] for row in rows),
        "stale": [f"{row['paper']}/{row['claim']}" for row in rows if not row["fresh"]],
        "missing": missing,
        "rows": rows,
    }
    return standing, [*problems, *damage(folder)]


def changed_verdicts(
    decisions: Iterable[Decision], index: Mapping[str, Any]
) -> dict[str, tuple[str, str]]:
    """Verdicts that differ from the shipped ones, by ``slug/claim``: shipped, and now.

    Claims that nothing was shipped for, or that were not run now, can't differ.
    """
    changed: dict[str, tuple[str, str]] = {}
    for decision in decisions:
        shipped = _shipped_verdict(index, decision.paper, decision.claim)
        if shipped and decision.verdict != "untested" and decision.verdict != shipped:
            changed[f"{decision.paper}/{decision.claim}"] = (shipped, decision.verdict)
    return changed
