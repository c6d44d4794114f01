"""What shipped evidence says, read without any numeric library.

The decisions stand in ``index.json``, what they were measured with in a sidecar per paper; see
:mod:`probatum.evidence.shipped` for the trials behind both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probatum.evidence.forms import INDEX, SIDECAR, Form, misfit
from probatum.evidence.model import Arm, Budget, Dataset, Experiment, Paper

__all__ = [
    "CHECKSUMS",
    "SHIPPED",
    "ShippedError",
    "cell_key",
    "damage",
    "damaged",
    "file_hash",
    "freshness",
    "group_name",
    "read_index",
    "read_sidecar",
]

SHIPPED = Path(__file__).resolve().parent.parent / "shipped"
CHECKSUMS = "SHA256SUMS"


class ShippedError(Exception):
    """Shipped evidence can't be read or written; the message says which file and why."""


def _read_object(path: Path, form: Form) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ShippedError(f"{path.name} can't be read: {error}") from error
    if not isinstance(found, dict):
        raise ShippedError(f"{path.name} holds no object")
    if wrong := misfit(found, form):
        raise ShippedError(f"{path.name} can't be read: {wrong} is not as it was written")
    return found


def read_sidecar(slug: str, folder: Path = SHIPPED) -> dict[str, Any]:
    """What a paper's shipped evidence was measured with; empty where there is none."""
    return _read_object(folder / f"{slug}.json", SIDECAR)


def read_index(folder: Path = SHIPPED) -> dict[str, Any]:
    """The stored index; empty where nothing was shipped."""
    return _read_object(folder / "index.json", INDEX)


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def damaged(folder: Path = SHIPPED) -> list[str]:
    """Shipped files that are not as they were written: changed, missing or unaccounted for.

    ``sha256sum --check SHA256SUMS`` in the folder says the same.
    """
    sums = folder / CHECKSUMS
    present = {path.name for path in folder.glob("*") if path.suffix in (".csv", ".json")}
    if not sums.exists():
        return sorted(present)
    stated: dict[str, str] = {}
    try:
        lines = sums.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return sorted(present)
    for line in lines:
        digest, _, name = line.partition("  ")
        stated[name] = digest
    wrong = present ^ set(stated)
    wrong |= {
        name for name in present & set(stated) if _hash_or_none(folder / name) != stated[name]
    }
    return sorted(wrong)


def _hash_or_none(path: Path) -> str | None:
    try:
        return file_hash(path)
    except OSError:
        return None


def damage(folder: Path = SHIPPED) -> list[str]:
    """One line per file that :func:`damaged` names, with what mends it."""
    return [
        f"{name} is not as it was shipped; restore it, or write it anew with probatum check --ship"
        for name in damaged(folder)
    ]


def group_name(arms: tuple[Arm, ...]) -> str:
    """The arm that a trial runs, or ``*`` where all run together."""
    return arms[0].id if len(arms) == 1 else "*"


def cell_key(
    paper: str, experiment: Experiment, arms: tuple[Arm, ...], dataset: Dataset, budget: Budget
) -> str:
    """Identity of a cell's trials: the key of its replicate 0."""
    # Fingerprints parse sources: reading the index has no use for them.
    from probatum.evidence.keys import trial_key

    return trial_key(paper, experiment, arms, dataset, 0, budget)


def _fresh_experiments(paper: Paper, sidecar: Mapping[str, Any]) -> dict[str, bool]:
    from probatum.evidence.keys import arm_groups

    fresh = {}
    for experiment in paper.experiments:
        budget = experiment.budget("standard")
        cells = sidecar.get(experiment.id, {}).get("cells", {})
        expected = {
            f"{group_name(arms)} on {dataset.id}": cell_key(
                paper.slug, experiment, arms, dataset, budget
            )
            for arms in arm_groups(experiment)
            for dataset in experiment.datasets
        }
        stored = {name: cell.get("key") for name, cell in cells.items()}
        fresh[experiment.id] = bool(expected) and expected == stored
    return fresh


def freshness(paper: Paper, folder: Path = SHIPPED) -> dict[str, bool]:
    """Per tried claim with shipped evidence: whether it stands beside the code it was made with."""
    sidecar = read_sidecar(paper.slug, folder)
    try:
        fresh = _fresh_experiments(paper, sidecar)
    except (AttributeError, TypeError):
        raise ShippedError(f"{paper.slug}.json does not describe experiments") from None
    return {
        claim.id: fresh[claim.experiment.id]
        for claim in paper.claims
        if claim.experiment is not None and claim.experiment.id in sidecar
    }
