"""The vocabulary of a catalog: experiments, arms, criteria, claims and papers.

Only the standard library is imported here, so that a catalog can be listed in milliseconds.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from probatum.evidence.criteria import AllOf, Criterion, Every, Rate, Stat, Within
from probatum.evidence.naming import check_slug, check_target, check_unique, one_of
from probatum.evidence.tool import Answer, Progress, Tool

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "PROFILES",
    "AllOf",
    "Answer",
    "Arm",
    "Block",
    "Budget",
    "Claim",
    "Criterion",
    "Dataset",
    "Decision",
    "Every",
    "Experiment",
    "Metric",
    "Paper",
    "Part",
    "Progress",
    "Rate",
    "Row",
    "Stat",
    "Tool",
    "Within",
    "resolve",
]

Params: TypeAlias = Mapping[str, Any]
Profile = Literal["smoke", "quick", "standard", "full"]
PROFILES: tuple[Profile, ...] = ("smoke", "quick", "standard", "full")
Verdict = Literal["holds", "fails", "undecided", "untested"]
Guarantee = Literal["exact", "asymptotic", "enumeration", "deterministic", "descriptive", "none"]


def resolve(target: str) -> Any:
    """Import the object that ``module:attribute`` names.

    Examples
    --------
    >>> resolve("math:tau")
    6.283185307179586
    """
    check_target("target", target)
    module, _, attribute = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


@dataclass(frozen=True)
class Arm:
    """One contender: a factory for an object that the trial drives.

    ``library`` names what a baseline is built from, with its version where it is pinned. ``own``
    is the ``module:attribute`` of a reader's method, which ``make`` is given where it is another.
    ``title`` says in a few words what it does; it is in no key.
    """

    id: str
    make: str
    role: Literal["method", "baseline", "control"] = "baseline"
    library: str = ""
    params: Params = field(default_factory=dict)
    own: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        check_slug("arm id", self.id)
        check_target(f"arm {self.id}: make", self.make)
        if self.own:
            check_target(f"arm {self.id}: own", self.own)
        one_of(f"arm {self.id}: role", self.role, ("method", "baseline", "control"))

    def build(self, **overrides: Any) -> Any:
        """Build a fresh object, with the arm's parameters and any the trial adds."""
        own = {"make": self.own} if self.own not in ("", self.make) else {}
        return resolve(self.make)(**{**self.params, **own, **overrides})


@dataclass(frozen=True)
class Dataset:
    """Named data: a loader and its parameters, with the licence.

    ``identity`` is a ``module:function`` of the same parameters that gives a hash of the content,
    without loading it; it goes into the keys of trials. ``own`` marks a reader's data: their
    identity stands for their parameters, so that a file may be moved. ``title`` says in a few words
    what they are; it is in no key.
    """

    id: str
    load: str
    licence: str
    params: Params = field(default_factory=dict)
    identity: str | None = None
    own: bool = False
    title: str = ""

    def __post_init__(self) -> None:
        check_slug("dataset id", self.id)
        check_target(f"dataset {self.id}: load", self.load)
        if self.identity is not None:
            check_target(f"dataset {self.id}: identity", self.identity)

    def open(self) -> Any:
        """Load the data."""
        return resolve(self.load)(**self.params)


@dataclass(frozen=True)
class Metric:
    """Which way a measured number is better, and between which bounds it lies.

    ``title`` says in a few words what the number is, and in which unit; it is in no key.
    """

    better: Literal["higher", "lower"]
    bounds: tuple[float, float] | None = None
    title: str = ""

    def __post_init__(self) -> None:
        one_of("better", self.better, ("higher", "lower"))
        if self.bounds is not None and not -math.inf < self.bounds[0] < self.bounds[1] < math.inf:
            raise ValueError(f"bounds must be finite and increasing, got {self.bounds}")

    @property
    def worst(self) -> float | None:
        """Worst possible value; None where the metric has no bounds."""
        if self.bounds is None:
            return None
        return self.bounds[0] if self.better == "higher" else self.bounds[1]

    @property
    def best(self) -> float | None:
        """Best possible value; None where the metric has no bounds."""
        if self.bounds is None:
            return None
        return self.bounds[1] if self.better == "higher" else self.bounds[0]


@dataclass(frozen=True)
class Budget:
    """What one profile may spend: sizes, replicates, and resources per trial."""

    replicates: int
    size: Params = field(default_factory=dict)
    seconds: float = 600.0
    memory_gb: float = 4.0
    threads: int = 1
    gpu: bool = False

    def __post_init__(self) -> None:
        for what in ("replicates", "seconds", "memory_gb", "threads"):
            if not getattr(self, what) > 0:
                raise ValueError(f"{what} must be positive, got {getattr(self, what)}")


@dataclass(frozen=True)
class Row:
    """One measurement of a trial; rows of a trial are never counted as replicates.

    In a trial of all arms together, ``failed`` says why one arm has no measurement, so that the
    others keep theirs; where an arm runs alone, the trial raises instead.
    """

    arm: str
    case: str = ""
    x: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    failed: str = ""


class Block(Protocol):
    """One replicate of one dataset, as a trial sees it."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms to run: one, or all where the experiment says ``together``."""

    @property
    def dataset(self) -> Dataset: ...

    @property
    def size(self) -> Params: ...

    @property
    def replicate(self) -> int: ...

    @property
    def prepared(self) -> Path | None:
        """Read-only folder that ``prepare`` filled."""

    def rng(self, stream: str) -> np.random.Generator:
        """Generator seeded by experiment, dataset, replicate and stream: the same for all arms."""


@dataclass(frozen=True)
class Experiment:
    """A set of trials that claims read.

    Parameters
    ----------
    trial : str
        ``module:function``; a pure function of a :class:`Block` that returns rows.
    source : {"stochastic", "deterministic", "recorded"}
        Replicates with fresh randomness; one run with nothing random; published tables.
    prepare, prepare_per : str
        ``module:function(block, folder)`` for set-up that all arms share.
    together : bool
        Run all arms of a block in one trial.
    exclusive : bool
        Timings: run alone on the host, all arms of a block together.
    arm_interface : str
        ``module:Protocol`` that a reader's own method must satisfy.
    arm_make : str
        ``module:factory`` that makes an arm of it, called with ``make="module:attribute"``; by
        default the reader's method is called itself.
    data_slot : str
        ``module:function`` that turns a reader's file, and options it names, into a dataset.
    abscissa : str
        What the ``x`` of its rows counts, and in which unit: a noun without an article, as rules
        say "against ..." and axes are titled. It is in no key.
    """

    id: str
    trial: str
    arms: tuple[Arm, ...]
    datasets: tuple[Dataset, ...]
    metrics: Mapping[str, Metric]
    budgets: Mapping[str, Budget]
    source: Literal["stochastic", "deterministic", "recorded"] = "stochastic"
    prepare: str | None = None
    prepare_per: Literal["dataset", "replicate"] = "dataset"
    together: bool = False
    exclusive: bool = False
    arm_interface: str | None = None
    arm_make: str | None = None
    data_slot: str | None = None
    abscissa: str = ""

    def __post_init__(self) -> None:
        where = f"experiment {self.id}"
        check_slug("experiment id", self.id)
        check_target(f"{where}: trial", self.trial)
        one_of(f"{where}: source", self.source, ("stochastic", "deterministic", "recorded"))
        for name in ("arms", "datasets", "metrics", "budgets"):
            if not getattr(self, name):
                raise ValueError(f"{where}: {name} must not be empty")
        check_unique(f"{where}: arm ids", [arm.id for arm in self.arms])
        check_unique(f"{where}: dataset ids", [dataset.id for dataset in self.datasets])
        for profile in self.budgets:
            one_of(f"{where}: profile", profile, PROFILES)
        for name in ("prepare", "arm_interface", "arm_make", "data_slot"):
            if getattr(self, name) is not None:
                check_target(f"{where}: {name}", getattr(self, name))

    @property
    def joint(self) -> bool:
        """Whether all arms of a block run in one trial."""
        return self.together or self.exclusive

    def arm(self, arm_id: str) -> Arm:
        """The arm of that id; ValueError with the known ones otherwise."""
        for arm in self.arms:
            if arm.id == arm_id:
                return arm
        known = ", ".join(arm.id for arm in self.arms)
        raise ValueError(f"experiment {self.id} has no arm {arm_id!r}: it has {known}")

    def budget(self, profile: Profile) -> Budget:
        """The budget of a profile, or the next smaller one that is declared."""
        at = PROFILES.index(profile)
        order = (*reversed(PROFILES[: at + 1]), *PROFILES[at + 1 :])
        return next(self.budgets[name] for name in order if name in self.budgets)


@dataclass(frozen=True)
class Claim:
    """What a paper asserts, and the rule that decides it.

    An ``untested`` claim has neither experiment nor criterion; ``missing`` says what would settle
    it. ``procedure="exact"`` asks for the betting interval instead of the t.
    """

    id: str
    statement: str
    scope: Literal["paper", "proxy", "target"]
    experiment: Experiment | None = None
    criterion: Criterion | None = None
    missing: str = ""
    procedure: Literal["t", "exact"] = "t"
    analysis: str = ""

    def __post_init__(self) -> None:
        where = f"claim {self.id}"
        check_slug("claim id", self.id)
        one_of(f"{where}: scope", self.scope, ("paper", "proxy", "target"))
        one_of(f"{where}: procedure", self.procedure, ("t", "exact"))
        if (self.experiment is None) != (self.criterion is None):
            raise ValueError(f"{where}: experiment and criterion come together")
        if self.experiment is None and not self.missing:
            raise ValueError(f"{where}: an untested claim says in `missing` what would settle it")
        if self.experiment is not None:
            for part in self.parts:
                self._check_part(self.experiment, part)

    def _check_part(self, experiment: Experiment, part: Within | Rate | Every) -> None:
        for arm in (part.arm, *(part.to if isinstance(part, Within) else ())):
            experiment.arm(arm)
        metrics = [part.stat.of] if isinstance(part, Within) else [part.of]
        if isinstance(part, Within) and not part.stat.is_level and part.stat.against != "x":
            metrics.append(part.stat.against)
        compares = isinstance(part, Within) and part.scale != "absolute" and self.stochastic
        if compares and 0.0 in (part.low, part.high):  # type: ignore[union-attr]
            raise ValueError(
                f"claim {self.id}: state the smallest effect worth having as the region's end, "
                "not 0: a rounding error would do"
            )
        for metric in metrics:
            if metric not in experiment.metrics:
                known = ", ".join(experiment.metrics)
                raise ValueError(f"claim {self.id}: no metric {metric!r}, known are {known}")
        if self.procedure != "exact" or not isinstance(part, Within) or not self.stochastic:
            return
        if part.bounds(experiment.metrics[part.stat.of].bounds) is None:
            raise ValueError(
                f"claim {self.id}: the exact procedure needs effects with bounds, and those "
                f"of {part.stat.of} ({part.stat.how}, {part.scale}) have none"
            )

    @property
    def parts(self) -> tuple[Within | Rate | Every, ...]:
        """The criterion's parts; none for an untested claim."""
        if self.criterion is None:
            return ()
        return self.criterion.parts if isinstance(self.criterion, AllOf) else (self.criterion,)

    @property
    def stochastic(self) -> bool:
        """Whether chance decides it, so that it takes its share of the error level."""
        return (
            self.experiment is not None
            and self.experiment.source == "stochastic"
            and any(isinstance(part, Within | Rate) for part in self.parts)
        )


@dataclass(frozen=True)
class Paper:
    """A catalog entry.

    ``methods`` are import paths (``module:attribute``), ``extras`` the optional installs needed.
    ``summary`` says in a sentence what the method does, ``audience`` in one or two for whom that is
    and what for. ``level_shares`` is how many claims share the error level: those that chance
    decides, if it isn't given.
    """

    slug: str
    title: str
    domain: str
    fidelity: Literal["official code", "paper text", "abstract"]
    methods: tuple[str, ...]
    claims: tuple[Claim, ...]
    extras: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    summary: str = ""
    audience: str = ""
    level_shares: int | None = None

    def __post_init__(self) -> None:
        check_slug("slug", self.slug)
        one_of(f"{self.slug}: fidelity", self.fidelity, ("official code", "paper text", "abstract"))
        for method in self.methods:
            check_target(f"{self.slug}: method", method)
        check_unique(f"{self.slug}: claim ids", [claim.id for claim in self.claims])
        by_id: dict[str, Experiment] = {}
        for experiment in self.experiments:
            if by_id.setdefault(experiment.id, experiment) is not experiment:
                raise ValueError(f"{self.slug}: two experiments are called {experiment.id}")

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments that claims read, each once."""
        found: list[Experiment] = []
        for claim in self.claims:
            if claim.experiment is not None and not any(claim.experiment is e for e in found):
                found.append(claim.experiment)
        return tuple(found)

    def claim(self, claim_id: str) -> Claim:
        """The claim of that id; KeyError otherwise."""
        for claim in self.claims:
            if claim.id == claim_id:
                return claim
        raise KeyError(claim_id)


@dataclass(frozen=True)
class Part:
    """One comparison inside a decision: a rival, a dataset or a part of an ``AllOf``.

    ``n`` counts what the interval rests on (replicates or cases), ``replicates`` those looked at.
    """

    label: str
    verdict: Verdict
    guarantee: Guarantee
    effect: float
    low: float
    high: float
    n: int
    replicates: int
    exact: tuple[float, float] | None = None
    more_needed: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class Decision:
    """The verdict on a claim, with what carries it.

    ``effect``, ``low``, ``high`` and ``n`` are those of the part that decides; ``level`` is the
    error level of the claim, over all its looks and parts; ``n`` counts ``unit`` (replicates or
    cases).
    """

    paper: str
    claim: str
    scope: str
    fidelity: str
    verdict: Verdict
    guarantee: Guarantee
    effect: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    unit: str
    exceptions: tuple[str, ...]
    failures: int
    more_needed: int | None
    reason: str
    parts: tuple[Part, ...] = ()

    @property
    def deciding(self) -> int:
        """Which of the parts its numbers are of; 0 where there is one or none."""
        for at, part in enumerate(self.parts):
            same = (part.effect, part.verdict, part.n) == (self.effect, self.verdict, self.n)
            if same and (len(self.parts) == 1 or self.reason.startswith(part.label)):
                return at
        return 0
