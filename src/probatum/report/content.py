"""What stands on a paper's page, as plain values for the templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from probatum.evidence.decide import claim_alpha, untested
from probatum.evidence.described import claim_facts
from probatum.evidence.detail import Cell, Detail, Estimate, PartDetail
from probatum.evidence.extras import install_line
from probatum.evidence.model import Claim, Decision, Experiment, Paper
from probatum.evidence.words import part_words
from probatum.report.charts import case_plot, effect_title, forest_plot, path_plot
from probatum.report.curves import curve_plots
from probatum.report.reference import Reference, describe
from probatum.report.sources import Source
from probatum.report.wording import (
    FIDELITY,
    GUARANTEES,
    SCOPES,
    effect_words,
    interval_words,
    number,
)

__all__ = [
    "VERDICTS",
    "ClaimPage",
    "Figure",
    "Table",
    "paper_content",
    "pasteable",
    "verdict_counts",
]

VERDICTS = ("holds", "fails", "undecided", "untested")
_UNITS = {"cores": "cores", "memory_gb": "GB"}
MOST_LINES = 14
"""Of a forest plot that is shown at once; with more, single data sets go below."""


Line = tuple[str, str, Estimate]
"""A line of a forest plot: label, kind and effect."""


@dataclass(frozen=True)
class Figure:
    """A plot: one specification or several below each other, with its text alternative."""

    title: str
    caption: str
    specs: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Table:
    """A table of texts; ``marked`` holds places (line, column) of the best arms."""

    caption: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """What one source says on a claim."""

    source: Source
    decision: Decision
    effect: str
    interval: str
    measured: str
    figures: tuple[Figure, ...]
    more: tuple[Figure, ...]
    tables: tuple[Table, ...]
    failures: Table | None
    controls: tuple[tuple[str, Decision], ...]
    decided_by: str
    remarks: str
    guarantee: str
    fresh: bool
    profile: str


@dataclass(frozen=True)
class ClaimPage:
    """A claim with its evidence; ``beside`` is what the store says where something is shipped."""

    claim: Claim
    facts: dict[str, Any]
    verdict: str
    scope: str
    rules: tuple[str, ...]
    level: float
    evidence: Evidence | None
    beside: Evidence | None
    reason: str
    command: str


def verdict_counts(verdicts: Iterable[str]) -> dict[str, int]:
    """How many claims have which verdict."""
    counts = dict.fromkeys(VERDICTS, 0)
    for verdict in verdicts:
        counts[verdict] += 1
    return counts


def paper_content(paper: Paper, shipped: Source | None, store: Source | None) -> dict[str, Any]:
    """Everything that a paper's page says."""
    claims = [_claim_page(paper, claim, shipped, store) for claim in paper.claims]
    references = [describe(method) for method in paper.methods]
    return {
        "paper": paper,
        "fidelity": FIDELITY[paper.fidelity],
        "install": install_line(*paper.extras) if paper.extras else "pip install probatum",
        "references": references,
        "example": next(filter(None, map(pasteable, references)), ""),
        "claims": claims,
        "counts": verdict_counts(page.verdict for page in claims),
        "stale": [p for p in claims if p.evidence is not None and not p.evidence.fresh],
        "experiments": [
            _experiment_content(paper, experiment, shipped, store)
            for experiment in paper.experiments
        ],
    }


def pasteable(reference: Reference) -> str:
    """A method's example with the import that it needs; empty where there is none."""
    if not reference.example:
        return ""
    return f"{reference.imported}\n\n{reference.example}"


def _claim_page(
    paper: Paper, claim: Claim, shipped: Source | None, store: Source | None
) -> ClaimPage:
    found = [
        evidence
        for source in (shipped, store)
        if source is not None and (evidence := _evidence(paper, claim, source)) is not None
    ]
    main = found[0] if found else None
    rules = tuple(
        part_words(claim.experiment, part) for part in claim.parts if claim.experiment is not None
    )
    return ClaimPage(
        claim=claim,
        facts=claim_facts(claim),
        verdict=main.decision.verdict if main else "untested",
        scope=SCOPES[claim.scope],
        rules=rules,
        level=claim_alpha(paper) if claim.stochastic else 0.0,
        evidence=main,
        beside=found[1] if len(found) > 1 else None,
        reason=main.remarks if main else untested(paper, claim).reason,
        command=f"probatum check {paper.slug}/{claim.id} --profile standard",
    )


def _evidence(paper: Paper, claim: Claim, source: Source) -> Evidence | None:
    decision = source.decision(claim)
    if decision is None:
        return None
    if not any(part.replicates for part in decision.parts):
        # A run that was stopped before its first look says nothing yet.
        return None
    detail = source.detail(paper, claim)
    detail = replace(detail, parts=tuple(part.as_ruled() for part in detail.parts))
    lead, estimate = _lead(detail, decision)
    groups = _grouped(detail)
    roles = {arm.id: arm.role for arm in claim.experiment.arms} if claim.experiment else {}
    seen = max(part.replicates for part in decision.parts)
    figures = [_forest(group) for group in groups]
    more = [_datasets_alone(group) for group in groups if _many(group)]
    more += [_path(group) for group in groups]
    abscissa = claim.experiment.abscissa if claim.experiment else ""
    return Evidence(
        source=source,
        decision=decision,
        effect=effect_words(lead, estimate.effect),
        interval=interval_words(lead, estimate),
        measured=effect_title(lead, lead.named),
        figures=_captioned([*figures, _curves(detail, roles, abscissa, seen)]),
        more=_captioned(more),
        decided_by=decision.parts[decision.deciding].label if len(decision.parts) > 1 else "",
        tables=tuple(_scores(detail, roles, seen)),
        failures=_failures(detail),
        controls=tuple(source.controls(paper, claim).items()),
        remarks=_remarks(decision),
        guarantee=GUARANTEES[decision.guarantee],
        fresh=source.fresh.get(claim.id, False),
        profile=source.profile(claim),
    )


def _remarks(decision: Decision) -> str:
    """The reason, without the name of the part that decides, which is said apart."""
    label = decision.parts[decision.deciding].label if len(decision.parts) > 1 else ""
    return decision.reason.removeprefix(label).removeprefix("; ")


def _captioned(figures: Iterable[Figure | None]) -> tuple[Figure, ...]:
    """Figures with a caption under the last of those that share it."""
    shown = [figure for figure in figures if figure is not None]
    return tuple(
        replace(figure, caption="")
        if at < len(shown) and figure.caption == shown[at].caption
        else figure
        for at, figure in enumerate(shown, 1)
    )


def _lead(detail: Detail, decision: Decision) -> tuple[PartDetail, Estimate]:
    """The part that the decision's numbers are of, and its estimate."""
    overall = [(part, estimate) for part in detail.parts for estimate in part.overall]
    return overall[decision.deciding]


def _grouped(detail: Detail) -> list[list[PartDetail]]:
    """Parts that ask the same of several arms or cases: they share a plot."""
    groups: dict[tuple[Any, ...], list[PartDetail]] = {}
    for part in detail.parts:
        alike = (part.scale, part.low, part.high, part.better, part.of)
        groups.setdefault(alike, []).append(part)
    return list(groups.values())


def _part_names(group: Sequence[PartDetail]) -> list[str]:
    """What tells the parts of a group apart: arm, case, or both; nothing where there is one."""
    if len(group) == 1:
        return [""]
    cases = [part.case for part in group]
    arms = [part.part.arm for part in group]
    named = [
        ", ".join(
            name
            for name, several in ((arm, len(set(arms)) > 1), (case or "", len(set(cases)) > 1))
            if name and several
        )
        for arm, case in zip(arms, cases, strict=True)
    ]
    distinct = len(set(named)) == len(named) and all(named)
    return named if distinct else [f"({at}) {name}".strip() for at, name in enumerate(named, 1)]


def _many(group: Sequence[PartDetail]) -> bool:
    return sum(len(part.overall) + len(part.by_dataset) for part in group) > MOST_LINES


def _forest(group: Sequence[PartDetail]) -> Figure | None:
    """Effects over the claimed region: all of them, or the averages where they are many."""
    rows: list[Line] = []
    many, lead = _many(group), group[0]
    rivals = len({estimate.rival for part in group for estimate in part.overall})
    alone = len({part.part.arm for part in group}) == 1
    for part, name in zip(group, _part_names(group), strict=True):
        shown = [("single" if e.dataset else "average", e) for e in part.overall]
        if not many:
            shown += [("single", e) for e in part.by_dataset]
        if len(part.cases) <= MOST_LINES:
            shown += [("single", e) for e in part.cases]
        kinds = {kind for kind, _ in shown}
        rows += [(_label(name, e, part, kinds, rivals), kind, e) for kind, e in shown]
    of = lead.named if len(group) == 1 else lead.of
    spec = forest_plot(lead, _unlike(rows), of, alone=alone)
    if spec is None:
        return None
    specs = [spec]
    if many:
        specs += [s for s in map(case_plot, group) if s is not None]
    return Figure("Effect", _forest_caption(rows), tuple(specs))


def _datasets_alone(group: Sequence[PartDetail]) -> Figure | None:
    """Effects on each data set, a plot per rival (and part), where they are too many for one."""
    specs, every = [], []
    for part, name in zip(group, _part_names(group), strict=True):
        rivals = dict.fromkeys(estimate.rival for estimate in part.by_dataset)
        for rival in rivals:
            rows = [(e.dataset, "single", e) for e in part.by_dataset if e.rival == rival]
            spec = forest_plot(part, rows, part.named if len(group) == 1 else part.of)
            if spec is not None:
                against = f"against {rival}" if rival and len(rivals) > 1 else ""
                title = ", ".join(filter(None, (name, against)))
                specs.append({**spec, "title": title} if title else spec)
                every += rows
    return Figure("Each data set alone", _forest_caption(every), tuple(specs)) if specs else None


def _forest_caption(rows: Sequence[Line]) -> str:
    said = "The band is what the claim allows"
    if any(estimate.low is not None for _, _, estimate in rows):
        said += "; bars are intervals"
        if {kind for _, kind, _ in rows} == {"average", "single"}:
            said += ", wider for a single data set than for the average"
    return f"{said}."


def _label(name: str, estimate: Estimate, part: PartDetail, kinds: set[str], rivals: int) -> str:
    """What tells a line from the others of its plot: part, data set, rival."""
    overall = {"worst": "all", "rate": "all"}.get(part.scale, "average")
    where = estimate.dataset or (overall if "single" in kinds else "")
    alone = not name and not where
    rival = f"against {estimate.rival}" if estimate.rival and (rivals > 1 or alone) else ""
    return ", ".join(filter(None, (name, where, rival))) or part.part.arm


def _unlike(rows: Sequence[Line]) -> list[Line]:
    """Rows under labels of their own: a plot draws equal labels as one line."""
    seen: dict[str, int] = {}
    found = []
    for label, kind, estimate in rows:
        seen[label] = seen.get(label, 0) + 1
        unlike = label if seen[label] == 1 else f"{label} ({seen[label]})"
        found.append((unlike, kind, estimate))
    return found


def _plots(spec: dict[str, Any] | None) -> tuple[dict[str, Any], ...]:
    if spec is None:
        return ()
    return tuple(spec["plots"]) if "plots" in spec else (spec,)


def _path(group: Sequence[PartDetail]) -> Figure | None:
    specs = []
    for part, name in zip(group, _part_names(group), strict=True):
        for spec in _plots(path_plot(part)):
            if name:
                spec["title"] = ", ".join(filter(None, (name, spec.get("title", ""))))
            specs.append(spec)
    if not specs:
        return None
    caption = "The interval at each look, up to the one that decided."
    return Figure("How the interval shrank", caption, tuple(specs))


def _curves(detail: Detail, roles: Mapping[str, str], abscissa: str, seen: int) -> Figure | None:
    specs = curve_plots(detail.parts, roles, abscissa)
    if not specs:
        return None
    guides = any(layer["mark"].get("style") == "edge" for spec in specs for layer in spec["layer"])
    caption = f"Means over {seen} replicates" if seen > 1 else "Measured once"
    caption += "; dashed lines have the slopes at the edges of the claim." if guides else "."
    return Figure("Curves", caption, tuple(specs))


# --- tables --------------------------------------------------------------------------------------


def _scores(detail: Detail, roles: Mapping[str, str], seen: int) -> Iterator[Table]:
    """What each arm scored: a table per metric, a line per data set and case, a column per arm."""
    tables: dict[tuple[str, str, str], dict[tuple[str, str], dict[str, Cell]]] = {}
    for part in detail.parts:
        mean = f"mean over {seen} replicates" if seen > 1 else "measured once"
        how = {"rate": "rate", "worst": "worst value"}.get(part.scale, mean)
        lines = tables.setdefault((part.of, how, part.better), {})
        for cell in part.cells:
            lines.setdefault((part.case, cell.group), {})[cell.arm] = cell
    for (of, how, better), lines in tables.items():
        if lines:
            yield _score_table(f"{of}: {how}", better, lines, roles)


def _score_table(
    caption: str,
    better: str,
    cells: Mapping[tuple[str, str], Mapping[str, Cell]],
    roles: Mapping[str, str],
) -> Table:
    rank = {"method": 0, "baseline": 1, "control": 2}
    present = {arm for line in cells.values() for arm in line}
    arms = sorted((arm for arm in roles if arm in present), key=lambda arm: rank.get(roles[arm], 1))
    cases, groups = ({key[at] for key in cells} for at in (0, 1))
    lines, marked = [], set()
    for at, ((case, where), line) in enumerate(cells.items()):
        names = (case if len(cases) > 1 else "", where if len(groups) > 1 or len(cases) < 2 else "")
        label = ", ".join(name for name in names if name)
        lines.append((label, *(_cell(line.get(arm)) for arm in arms)))
        marked |= {
            (at, column) for column, arm in enumerate(arms, 1) if arm in line and line[arm].best
        }
    if len(cases) == 1 and "" not in cases:
        caption = caption.replace(":", f", {next(iter(cases))}:", 1)
    caption += f", {better} is better" if better else ""
    head = ("", *(arm if roles[arm] != "control" else f"{arm} (control)" for arm in arms))
    return Table(caption, head, tuple(lines), frozenset(marked))


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    failed = f"{cell.failed} failed" if cell.failed else ""
    return ", ".join(part for part in (number(cell.value, 4), failed) if part)


def _failures(detail: Detail) -> Table | None:
    if not detail.failed:
        return None
    lines = tuple((f.arm, f.dataset, f.status, str(f.count)) for f in detail.failed)
    return Table("Trials that failed", ("arm", "data", "how", "trials"), lines)


# --- how it was measured -------------------------------------------------------------------------


def _experiment_content(
    paper: Paper, experiment: Experiment, shipped: Source | None, store: Source | None
) -> dict[str, Any]:
    """An experiment: its arms, data, sizes, and the machines and versions it was run with."""
    source = shipped or store
    entry = source.measured.get(experiment.id, {}) if source else {}
    run = source.runs.get(experiment.id) if source else None
    facts = claim_facts(next(c for c in paper.claims if c.experiment is experiment))
    return {
        "experiment": experiment,
        "facts": facts,
        "replicates": run.target if run else 0,
        "size": dict(run.budget.size) if run else {},
        "measured": entry.get("measured", []),
        "environments": [_machine(e) for e in entry.get("environments", [])],
        "seconds": _seconds(entry, run.target if run else 0),
        "claims": [claim.id for claim in paper.claims if claim.experiment is experiment],
    }


def _machine(environment: Mapping[str, Any]) -> str:
    """A machine and the versions on it, in one sentence."""
    versions = environment.get("versions", {})
    said = [str(environment[name]) for name in ("system",) if name in environment]
    said += [f"{environment[name]} {unit}" for name, unit in _UNITS.items() if name in environment]
    said += [f"{name} {version}" for name, version in versions.items()]
    return f"{', '.join(said)}."


def _seconds(entry: dict[str, Any], replicates: int) -> float:
    """Processor time that all trials took together."""
    cells = entry.get("cells", {})
    return float(sum(cell.get("seconds", 0.0) for cell in cells.values()) * replicates)
