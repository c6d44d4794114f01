"""Keys: what makes two trials the same, and so lets one run use another's result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from probatum.evidence.fingerprint import fingerprint
from probatum.evidence.model import Arm, Budget, Dataset, Experiment, resolve

__all__ = ["PROTOCOL", "arm_groups", "prepare_key", "trial_fingerprint", "trial_key"]

PROTOCOL = 1
"""Raised when the engine changes what a trial sees: seeds, block, checks of rows."""


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, tuple | set | frozenset):
        return sorted(value) if isinstance(value, set | frozenset) else list(value)
    raise TypeError(f"parameters must be plain JSON values, got {value!r}")


def arm_groups(experiment: Experiment) -> list[tuple[Arm, ...]]:
    """Arms that share a trial: each alone, or all together."""
    if experiment.joint:
        return [experiment.arms]
    return [(arm,) for arm in experiment.arms]


def _targets(experiment: Experiment, arms: Iterable[Arm], dataset: Dataset) -> list[str]:
    prepare = [experiment.prepare] if experiment.prepare else []
    made = [target for arm in arms for target in (arm.make, arm.own) if target]
    return [experiment.trial, dataset.load, *prepare, *made]


def _described_arm(arm: Arm) -> dict[str, Any]:
    described = {"id": arm.id, "make": arm.make, "params": dict(arm.params)}
    return {**described, "own": arm.own} if arm.own else described


def trial_fingerprint(experiment: Experiment, arms: Iterable[Arm], dataset: Dataset) -> str:
    """Fingerprint of the code that a trial of these arms reaches."""
    return fingerprint(_targets(experiment, arms, dataset))


def _described_dataset(dataset: Dataset) -> dict[str, Any]:
    described = {"id": dataset.id, "load": dataset.load, "params": dict(dataset.params)}
    if dataset.own and dataset.identity is not None:
        del described["params"]
    if dataset.identity is not None:
        described["content"] = resolve(dataset.identity)(**dataset.params)
    return described


def trial_key(
    paper: str,
    experiment: Experiment,
    arms: Iterable[Arm],
    dataset: Dataset,
    replicate: int,
    budget: Budget,
) -> str:
    """Key of a trial: no profile, no statement, no order of arms is in it."""
    arms = tuple(arms)
    described = [_described_arm(arm) for arm in arms]
    return _digest(
        {
            "protocol": PROTOCOL,
            "experiment": [paper, experiment.id, experiment.trial, experiment.source],
            "arms": sorted(described, key=lambda arm: arm["id"]),
            "dataset": _described_dataset(dataset),
            "metrics": {name: m.bounds for name, m in experiment.metrics.items()},
            "prepare": [experiment.prepare, experiment.prepare_per],
            "replicate": replicate,
            "size": dict(budget.size),
            "fingerprint": trial_fingerprint(experiment, arms, dataset),
        }
    )


def prepare_key(
    paper: str, experiment: Experiment, dataset: Dataset, replicate: int | None, budget: Budget
) -> str:
    """Key of what ``prepare`` makes: per dataset, or per replicate of it."""
    assert experiment.prepare is not None
    return _digest(
        {
            "protocol": PROTOCOL,
            "experiment": [paper, experiment.id, experiment.prepare],
            "dataset": _described_dataset(dataset),
            "replicate": replicate,
            "size": dict(budget.size),
            "fingerprint": fingerprint([experiment.prepare, dataset.load]),
        }
    )
