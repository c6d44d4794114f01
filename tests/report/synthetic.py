"""Synthetic papers with shipped evidence that no trial was run for.

:func:`make` writes what ``probatum check --ship`` would write (tables, sidecars, index, checksums)
for as many papers as wanted. Numbers are drawn at once; decisions follow from them by the engine's
own rules. Papers that share a mix of claims and a variant of the numbers share their tables.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from synthetic_data import EXPERIMENTS, Measured, Recipe  # noqa: E402

from probatum.evidence import (  # noqa: E402
    AllOf,
    Claim,
    Decision,
    Every,
    Paper,
    Rate,
    Stat,
    Tool,
    Within,
)
from probatum.evidence.answers import Remembered  # noqa: E402
from probatum.evidence.criteria import Criterion  # noqa: E402
from probatum.evidence.keys import arm_groups, trial_fingerprint  # noqa: E402
from probatum.evidence.shipped import (  # noqa: E402
    _checksums,
    _lines,
    _write,
    _write_whole,
    decision_to_json,
    shipped_decisions,
)
from probatum.evidence.shipped_index import (  # noqa: E402
    CHECKSUMS,
    cell_key,
    group_name,
    read_index,
)
from probatum.evidence.store import Store  # noqa: E402
from probatum.evidence.words import criterion_words  # noqa: E402

__all__ = ["DOMAINS", "KINDS", "crowd", "make", "remember"]

DOMAINS = (
    "bandits", "online", "markets", "optimize", "supervised", "fairness", "federated", "graphs",
    "timeseries", "quantum", "language", "diffusion", "vision", "charts", "worldmodels", "rl",
    "neuro", "uncertainty", "evaluation", "science", "symbolic",
)  # fmt: skip
METHODS = (
    "probatum.supervised:LinearFractionalClassifier",
    "probatum.bandits:PosteriorTracking",
    "probatum.optimize:fixed_point_anchored",
)
Fidelity = Literal["official code", "paper text", "abstract"]
Wanted = Literal["holds", "fails", "undecided"]
FIDELITIES: tuple[Fidelity, ...] = get_args(Fidelity)
WANTED: tuple[Wanted, ...] = get_args(Wanted)
VARIANTS = 5
Edges = tuple[float, float, float]
"""Where a region begins that holds, that fails, and that stays undecided."""


@dataclass(frozen=True)
class Kind:
    """One kind of claim: what it says, the experiment it reads and where its region may begin."""

    id: str
    statement: str
    experiment: str = ""
    scope: Literal["paper", "proxy", "target"] = "paper"
    edges: Edges = (0.0, 0.0, 0.0)
    procedure: Literal["t", "exact"] = "t"


KINDS = (
    Kind("better", "The method scores higher than each of its rivals, on average over data sets.",
         "scores", "paper", (0.004, 0.2, 0.03)),
    Kind("each", "The method scores higher than cross-validation on every data set.",
         "scores", "proxy", (-0.25, 0.02, -0.083)),
    Kind("ratio", "The loss of the method is a fraction of that of the control.",
         "scores", "paper", (0.02, 0.5, 0.1)),
    Kind("order", "What costs more errs less: cost and error are ranked in opposite ways.",
         "curves", "paper", (-0.75, -0.9999, -0.93)),
    Kind("slope", "The error falls as the square root of the number of rows.",
         "curves", "paper", (-0.42, -0.8, -0.5)),
    Kind("covers", "Intervals cover the truth in nine of ten tries.",
         "counts", "paper", (0.9, 0.99, 0.96)),
    Kind("never", "The bound is never exceeded, whatever the instance.", "cases", "paper"),
    Kind("at-scale", "With a hundred billion parameters the saving is the same.", "", "target"),
    Kind("both", "The method scores at least 0.6 and is better than half of its rivals.",
         "scores", "paper", (0.005, 0.3, 0.05)),
    Kind("level", "The method scores at least what the abstract prints.",
         "scores", "proxy", (0.5, 0.95, 0.75)),
    Kind("printed", "In the tables of the paper the method is ahead.",
         "published", "paper", (0.5, 30.0, 4.0)),
    Kind("bits", "The code of the method is shorter.", "numbers", "paper", (0.1, 2.0, 0.6)),
    Kind("faster", "The method takes less than four fifths of the time.",
         "timings", "paper", (0.22, 1.2, 0.64)),
    Kind("exact", "The method keeps a tenth more than its rival, without any assumption.",
         "prepared", "proxy", (0.05, 0.9, 0.3), "exact"),
    Kind("regret", "The regret of the method is smaller, although it may fail to end.",
         "fragile", "paper", (1.0, 90.0, 16.0)),
    Kind("in-the-wild", "Clinics that use the method save a tenth of their tests.", "", "target"),
)  # fmt: skip


def _criterion(kind: Kind, of: Measured, wanted: Wanted) -> Criterion:
    """The rule of a claim of that kind, with its region where the verdict wanted should follow."""
    edge = kind.edges[WANTED.index(wanted)]
    metric, *other = of.experiment.metrics
    arms = [arm.id for arm in of.experiment.arms]
    own, baselines = arms[0], tuple(a.id for a in of.experiment.arms if a.role == "baseline")
    rivals = baselines or tuple(arms[1:])
    level, better = Stat(metric), Within(Stat(metric), own, rivals, low=edge)
    rules: dict[str, Criterion] = {"better": better, "printed": better, "bits": better}
    rules |= {"exact": better, "regret": better}
    if kind.experiment == "scores":
        bar = Within(level, own, scale="absolute", low=0.6)
        rules["each"] = Within(level, own, rivals[:1], low=edge, over="each")
        rules["ratio"] = Within(Stat(other[0]), own, (arms[-1],), "log-ratio", low=edge)
        rules["both"] = AllOf((Within(level, own, rivals[:2], low=edge), bar))
        rules["level"] = replace(bar, low=edge)
    elif kind.experiment == "curves":
        order, slope = Stat(metric, "spearman", other[0]), Stat(metric, "loglog", tail=0.9)
        rules["order"] = Within(order, own, scale="absolute", high=edge)
        rules["slope"] = Within(slope, own, scale="absolute", high=edge)
    elif kind.experiment == "counts":
        rules["covers"] = Rate(metric, own, low=edge, independent=wanted != "fails")
    elif kind.experiment == "cases":
        rules["never"] = Every(metric, own, 0.0, at_least=10)
    elif kind.experiment == "timings":
        rules["faster"] = Within(level, own, rivals, "log-ratio", low=edge)
    return rules[kind.id]


@dataclass(frozen=True)
class _Mix:
    """Kinds of claims and the numbers behind them, shared by papers that differ in words only."""

    first: int
    claims: int
    recipe: Recipe

    def kinds(self) -> list[Kind]:
        return [KINDS[(self.first + at) % len(KINDS)] for at in range(self.claims)]


@dataclass(frozen=True)
class _Evidence:
    measured: dict[str, Measured]
    lines: list[tuple[Any, ...]]
    claims: tuple[Claim, ...]


def _evidence(mix: _Mix) -> _Evidence:
    kinds, recipe = mix.kinds(), mix.recipe
    names = sorted({kind.experiment for kind in kinds if kind.experiment})
    measured = {name: EXPERIMENTS[name](recipe) for name in names}
    ordered = sorted(measured.values(), key=lambda m: m.experiment.id)
    lines = [line for one in ordered for line in _lines(one.records)]
    claims = tuple(_claim(kind, at, measured, mix) for at, kind in enumerate(kinds))
    return _Evidence(measured, lines, claims)


def _claim(kind: Kind, at: int, measured: dict[str, Measured], mix: _Mix) -> Claim:
    recipe, again = mix.recipe, at // len(KINDS)
    of = measured.get(kind.experiment)
    wanted = WANTED[(0, 0, 1, 2, 0)[(recipe.variant + mix.first + at) % 5]]
    return Claim(
        recipe.name(f"{kind.id}-{again + 1}" if again else kind.id),
        recipe.text("statement", kind.statement),
        kind.scope,
        of.experiment if of else None,
        _criterion(kind, of, wanted) if of else None,
        "" if of else recipe.text("missing", "eight GPUs with 80 GB each, and the model's weights"),
        kind.procedure,
        recipe.text("analysis", "Our reading of the step size may differ.") if of else "",
    )


def _tool(recipe: Recipe, slug: str) -> Tool:
    return Tool(
        slug,
        "synthetic_trials:tool",
        recipe.text("tool summary", "Counts the bytes of a file."),
        recipe.text("tool example", "figure.txt --level 0.1"),
        "synthetic_trials:make_example",
    )


def _paper(at: int, evidence: _Evidence, recipe: Recipe) -> Paper:
    slug = recipe.name(f"paper-{at + 1:04d}")
    domain = DOMAINS[at % len(DOMAINS)]
    methods = ("synthetic_trials:Hostile",) if recipe.markup else (METHODS[at % len(METHODS)],)
    return Paper(
        slug,
        recipe.text("title", f"A synthetic paper on {domain}, number {at + 1}"),
        recipe.text("domain", domain) if recipe.markup else domain,
        FIDELITIES[at % len(FIDELITIES)],
        methods,
        evidence.claims,
        extras=(recipe.text("extra", "supervised"),) if at % 2 else (),
        tools=(_tool(recipe, slug),) if at % 3 == 0 else (),
        summary=recipe.text("summary", f"Decides with fewer rows than others ({domain})."),
        audience=recipe.text("audience", "People who label by hand and would rather label less."),
    )


def _environment(recipe: Recipe, machine: int) -> dict[str, Any]:
    version = recipe.text("version", f"2.3.{machine}")
    return {
        "host": recipe.text("host", f"bench-{machine}"),
        "system": recipe.text("system", "Linux x86_64"),
        "cores": 2 + machine,
        "memory_gb": 7.8,
        "versions": {"python": "3.11.9", recipe.text("distribution", "numpy"): version},
    }


def _sidecar(paper: Paper, evidence: _Evidence, recipe: Recipe, stale: bool) -> dict[str, Any]:
    """What the measurements were taken with, and the keys that freshness compares."""
    found = {}
    for measured in evidence.measured.values():
        experiment = measured.experiment
        budget = experiment.budget("standard")
        cells = {}
        for number, arms in enumerate(arm_groups(experiment)):
            for dataset in experiment.datasets:
                key = cell_key(paper.slug, experiment, arms, dataset, budget)
                cells[f"{group_name(arms)} on {dataset.id}"] = {
                    "key": "0" * len(key) if stale else key,
                    "fingerprint": trial_fingerprint(experiment, arms, dataset),
                    "seconds": round(0.05 * (number + 1), 4),
                    "peak_mb": 90.0 + number,
                }
        found[experiment.id] = {
            "replicates": measured.replicates,
            "size": dict(budget.size),
            "threads": budget.threads,
            "measured": ["2026-03-01", "2026-03-02"],
            "environments": [_environment(recipe, machine) for machine in range(2)],
            "cells": cells,
        }
    return found


def _write_index(decisions: dict[str, dict[str, Decision]], folder: Path) -> None:
    index = {
        slug: {claim: decision_to_json(decision) for claim, decision in of.items()}
        for slug, of in decisions.items()
    }
    text = json.dumps(index, indent=1, sort_keys=True) + "\n"
    _write_whole(folder / "index.json", text)
    _write_whole(folder / CHECKSUMS, _checksums(folder))


def make(
    folder: Path,
    papers: int,
    claims: int,
    *,
    seed: int = 0,
    markup: bool = False,
    small: bool = False,
    stale: Collection[int] = (),
) -> tuple[Paper, ...]:
    """Write shipped evidence for synthetic papers into a folder, and return the papers.

    Parameters
    ----------
    folder : Path
        Takes the place of ``probatum/shipped``; made if it is not there.
    papers, claims : int
        How many papers, and how many claims each; claims go through ``KINDS`` in turn.
    seed : int
        Of the numbers.
    markup : bool
        Put what would be markup, script or a template into every free text.
    small : bool
        Two data sets and twelve replicates instead of up to nine and sixty.
    stale : collection of int
        Papers, counted from 0, whose evidence was made with other code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known: dict[_Mix, tuple[_Evidence, dict[str, Decision]]] = {}
    made, decisions = [], {}
    for at in range(papers):
        turn, first = divmod(at * claims, len(KINDS))
        mix = _Mix(first, claims, Recipe(turn % VARIANTS, small, markup, seed))
        if mix not in known:
            known[mix] = (_evidence(mix), {})
        evidence, decided = known[mix]
        paper = _paper(at, evidence, mix.recipe)
        made.append(paper)
        sidecar = _sidecar(paper, evidence, mix.recipe, at in stale)
        _write(paper.slug, evidence.lines, sidecar, folder)
        if not decided:
            decided.update(shipped_decisions(paper, folder))
        if decided:
            decisions[paper.slug] = {
                claim: replace(decision, paper=paper.slug, fidelity=paper.fidelity)
                for claim, decision in decided.items()
            }
    _write_index(decisions, folder)
    return tuple(made)


def crowd(folder: Path, papers: int) -> tuple[Paper, ...]:
    """So many papers, of which the first eight have evidence: for lists that must stay usable."""
    first = make(folder, min(papers, 8), 2, small=True)
    claims = tuple(
        Claim(kind.id, kind.statement, kind.scope, missing="a telescope")
        for kind in KINDS
        if kind.scope == "target"
    )
    others = (
        replace(
            first[at % len(first)],
            slug=f"other-{at:04d}",
            title=f"Another paper that nobody could try, number {at}",
            domain=DOMAINS[at % len(DOMAINS)],
            claims=claims,
            tools=(),
        )
        for at in range(papers - len(first))
    )
    return (*first, *others)


def remember(
    store: Store, papers: Iterable[Paper], folder: Path, *, markup: bool = False
) -> list[Remembered]:
    """Let a store remember that a reader asked claims of data and methods of their own.

    The answers are those that :func:`make` wrote for the papers, some under other names.
    """
    recipe, index = Recipe(0, True, markup, 0), read_index(folder)
    answers = []
    for at, paper in enumerate(papers):
        tried = [c for c in paper.claims if c.experiment is not None and c.experiment.data_slot]
        for claim in tried[:2]:
            file = recipe.text("file", "my data/towns.csv")
            data = {"file": file, "dataset": "towns", "content": ""}
            own = {"data": [data], "options": {recipe.text("option", "target"): "y"}}
            arms = {"mine": recipe.text("own method", "my_package:Mine")}
            answers.append(
                Remembered(
                    paper.slug,
                    claim.id if at % 2 else f"{claim.id}+of-mine",
                    "quick",
                    index[paper.slug][claim.id],
                    1.77e9 + at,
                    own if at % 2 else {**own, "arms": arms},
                    # The third paper is no longer in the catalog as it was asked.
                    "gone" if at == 2 else claim.id,
                    paper.title,
                    claim.statement,
                    criterion_words(claim),
                )
            )
    store.remember(answers)
    return answers
