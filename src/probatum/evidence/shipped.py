"""Shipped evidence: the trials behind the verdicts, as plain files beside the code.

Per paper a CSV of measurements, readable with any table reader, and a JSON sidecar with what the
measurements were taken with. ``index.json`` holds the decisions and is derived from both.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from probatum.evidence.decide import replicates_budget
from probatum.evidence.keys import arm_groups, trial_fingerprint
from probatum.evidence.model import Claim, Decision, Experiment, Paper, Part, Profile, Row
from probatum.evidence.pieces import pieces
from probatum.evidence.run import Run, Silent, open_runs
from probatum.evidence.shipped_index import (
    CHECKSUMS,
    SHIPPED,
    ShippedError,
    cell_key,
    file_hash,
    freshness,
    group_name,
    read_index,
    read_sidecar,
)
from probatum.evidence.store import Record, Store
from probatum.evidence.trial import STATUSES, BadResult, checked_row
from probatum.files import whole_file

__all__ = [
    "SHIPPED",
    "ShippedError",
    "decision_from_json",
    "decision_to_json",
    "freshness",
    "index",
    "read_index",
    "read_records",
    "ship",
    "shipped_decisions",
    "write_index",
]

PROFILE: Profile = "standard"
Cell = tuple[str, str, int, str]
"""Experiment, dataset, replicate and arm."""

COLUMNS = (
    "experiment",
    "dataset",
    "replicate",
    "arm",
    "status",
    "case",
    "x",
    "metric",
    "value",
    "successes",
    "tries",
)


def _write_whole(path: Path, text: str) -> None:
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def _lines(records: Iterable[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        if record.status != "ok":
            where = (record.experiment, record.dataset, record.replicate, record.arm)
            yield (*where, record.status, "", "", "", "", "", "")
        # Rows of arms that ran together come in the order of arms, which must not show.
        for row in sorted(record.rows, key=lambda row: row.arm):
            if row.failed:
                where = (record.experiment, record.dataset, record.replicate, row.arm)
                yield (*where, "raised", "", "", "", "", "", "")
            x = "" if row.x is None else repr(row.x)
            where = (record.experiment, record.dataset, record.replicate, row.arm)
            for metric, value in row.values.items():
                yield (*where, "ok", row.case, x, metric, repr(value), "", "")
            for metric, (k, n) in row.counts.items():
                yield (*where, "ok", row.case, x, metric, "", k, n)


def _run_records(run: Run, store: Store) -> list[Record]:
    keys = run.keys(range(run.target))
    found = store.final(keys)
    if not keys or len(found) < len(keys):
        missing = f"{len(keys) - len(found)} trials of {run.name} are not in the store"
        raise ShippedError(f"{run.paper.slug} is shipped whole, or not at all: {missing}")
    return sorted(found.values(), key=lambda r: (r.dataset, r.replicate, r.arm))


def _sidecar(run: Run, records: list[Record], store: Store) -> dict[str, Any]:
    environments = store.environments()
    cells = {}
    for arms in arm_groups(run.experiment):
        for dataset in run.experiment.datasets:
            name = f"{group_name(arms)} on {dataset.id}"
            of = [r for r in records if (r.arm, r.dataset) == (group_name(arms), dataset.id)]
            cells[name] = {
                "key": cell_key(run.paper.slug, run.experiment, arms, dataset, run.budget),
                "fingerprint": trial_fingerprint(run.experiment, arms, dataset),
                "seconds": round(sum(r.seconds for r in of) / max(len(of), 1), 4),
                "peak_mb": max((r.peak_mb or 0.0 for r in of), default=0.0),
            }
    used = sorted({r.environment for r in records})
    return {
        "replicates": run.target,
        "size": dict(run.budget.size),
        "threads": run.budget.threads,
        "measured": [_day(min(r.started for r in records)), _day(max(r.started for r in records))],
        "environments": [environments[e] for e in used if e in environments],
        "cells": cells,
    }


def _day(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()


def ship(runs: Iterable[Run], store: Store, folder: Path = SHIPPED) -> list[Path]:
    """Write the evidence of finished runs, one CSV and sidecar per paper.

    A paper is shipped whole: every experiment that its claims read must be among the runs, at the
    standard profile. Neither the order of runs nor that of arms shows in the files.

    Raises
    ------
    ShippedError
        If a paper is incomplete, has unsettled trials, or the folder can't be written.
    """
    by_paper: dict[str, list[Run]] = {}
    for run in runs:
        by_paper.setdefault(run.paper.slug, []).append(run)
    written = []
    for slug, own in by_paper.items():
        paper = own[0].paper
        lacking = [e.id for e in paper.experiments if e.id not in {r.experiment.id for r in own}]
        if lacking or any(r.problem for r in own):
            why = f"no run of {', '.join(lacking)}" if lacking else own[0].problem
            raise ShippedError(f"{slug} is shipped whole, or not at all: {why}")
        if any(not _is_standard(run) for run in own):
            raise ShippedError(f"{slug}: what is shipped was run at the {PROFILE} profile")
        lines: list[tuple[Any, ...]] = []
        sidecar = {}
        for run in sorted(own, key=lambda run: run.experiment.id):
            records = _run_records(run, store)
            lines.extend(_lines(records))
            sidecar[run.experiment.id] = _sidecar(run, records, store)
        written += _write(slug, lines, sidecar, folder)
    return written


def _is_standard(run: Run) -> bool:
    budget = run.experiment.budget(PROFILE)
    planned = replicates_budget(run.experiment, budget.replicates)
    return (run.budget, run.replicates) == (budget, planned)


def _write(
    slug: str, lines: list[tuple[Any, ...]], sidecar: Mapping[str, Any], folder: Path
) -> list[Path]:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(lines)
    paths = [folder / f"{slug}.csv", folder / f"{slug}.json"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(paths[0], text.getvalue())
        _write_whole(paths[1], json.dumps(sidecar, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise ShippedError(f"can't write shipped evidence to {folder}: {error}") from error
    return paths


def _checksums(folder: Path) -> str:
    """What ``sha256sum`` would print for the files of the folder, by name."""
    names = sorted(path.name for path in folder.iterdir() if path.suffix in (".csv", ".json"))
    return "".join(f"{file_hash(folder / name)}  {name}\n" for name in names)


def read_records(slug: str, folder: Path = SHIPPED) -> list[Record]:
    """A paper's shipped trials; empty where there are none.

    Raises
    ------
    ShippedError
        Naming the file and line that can't be understood.
    """
    path = folder / f"{slug}.csv"
    if not path.exists():
        return []
    found: dict[Cell, tuple[str, list[_Measured]]] = {}
    line = 1
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            if tuple(next(reader, ())) != COLUMNS:
                raise ValueError(f"the header must read {','.join(COLUMNS)}")
            line = 2
            for fields in reader:
                _take(fields, found)
                line = reader.line_num + 1
    except (ValueError, csv.Error) as error:
        raise ShippedError(f"{path.name}, line {line}: {error}") from None
    except OSError as error:
        raise ShippedError(f"{path.name} can't be read: {error}") from None
    return [
        Record(
            key="",
            paper=slug,
            experiment=experiment,
            arm=arm,
            dataset=dataset,
            replicate=replicate,
            status=status,
            rows=tuple(Row(arm, *measured) for measured in rows),
        )
        for (experiment, dataset, replicate, arm), (status, rows) in found.items()
    ]


_Measured = tuple[str, float | None, dict[str, float], dict[str, tuple[int, int]]]
"""Case, x, values and counts of a row: metrics of one case and x stand in lines of their own."""


def _take(fields: list[str], found: dict[Cell, tuple[str, list[_Measured]]]) -> None:
    """Put one line of the table where it belongs."""
    if len(fields) != len(COLUMNS):
        raise ValueError(f"{len(COLUMNS)} fields were expected, got {len(fields)}")
    experiment, dataset, replicate, arm, status, case, x, metric, value, k, n = fields
    if status not in STATUSES:
        raise ValueError(f"status must be one of {', '.join(STATUSES)}, got {status!r}")
    cell = (experiment, dataset, int(replicate), arm)
    if cell[2] < 0:
        raise ValueError(f"replicates count from 0, got {replicate}")
    new = cell not in found
    known, rows = found.setdefault(cell, (status, []))
    if status != known or (status != "ok" and not new):
        raise ValueError(f"the trial was {known} before")
    if status != "ok":
        if any((case, x, metric, value, k, n)):
            raise ValueError(f"a trial that ended with {status!r} has no measurement")
        return
    if not metric or bool(value) == bool(k) or bool(k) != bool(n):
        raise ValueError("a measurement is a metric with a value, or with successes and tries")
    at = _finite(x) if x else None
    last = rows[-1] if rows else None
    if last is None or last[:2] != (case, at) or metric in last[2] or metric in last[3]:
        last = (case, at, {}, {})
        rows.append(last)
    if value:
        last[2][metric] = _finite(value)
    else:
        last[3][metric] = (int(k), int(n))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"a finite number was expected, got {text!r}")
    return number


def shipped_decisions(paper: Paper, folder: Path = SHIPPED) -> dict[str, Decision]:
    """Decisions recomputed from a paper's shipped trials; empty where there are none."""
    records = read_records(paper.slug, folder)
    if not records:
        return {}
    sidecar = read_sidecar(paper.slug, folder)
    if not sidecar:
        raise ShippedError(f"{paper.slug}.csv is there, but not {paper.slug}.json")
    decisions = {}
    for run in shipped_runs(paper, sidecar, records):
        decisions.update(run.decisions)
    return decisions


def shipped_runs(
    paper: Paper,
    sidecar: Mapping[str, Any],
    records: list[Record],
    decided: Mapping[str, Decision] | None = None,
) -> list[Run]:
    """The runs behind shipped evidence, decided, or with the decisions that are given."""
    selection: list[tuple[Paper, Claim]] = [
        (paper, c) for c in paper.claims if c.experiment is not None and c.experiment.id in sidecar
    ]
    runs = open_runs(selection, PROFILE)
    for run in runs:
        of = [record for record in records if record.experiment == run.experiment.id]
        for record in of:
            _check_rows(record, run.experiment)
        replicates = _replicates(paper.slug, sidecar, run.experiment.id)
        known = {
            c.id: decided[c.id]
            for c in run.claims
            if decided and c.id in decided and _fits(decided[c.id], paper, c, replicates)
        }
        _gather(run, of, replicates, known if len(known) == len(run.claims) else None)
    return runs


def _fits(decision: Decision, paper: Paper, claim: Claim, replicates: int) -> bool:
    """Whether a decision from the index can be one on these trials; else it is made again."""
    parts = decision.parts
    return (
        (decision.paper, decision.claim) == (paper.slug, claim.id)
        and len(parts) == len(pieces(claim))
        and all(part.replicates <= replicates for part in parts)
    )


def _gather(
    run: Run,
    records: Sequence[Record],
    replicates: int,
    decided: Mapping[str, Decision] | None = None,
) -> None:
    """Give a run evidence from elsewhere, such as shipped files, and decide its claims.

    ``replicates`` were run; the budget of the run stays what sets the looks. Decisions that are
    known need not be made again.
    """
    for record in records:
        run.evidence.add(record)
    run.target = replicates
    if decided is not None:
        run.decisions.update(decided)
    else:
        run.settle(Silent())


def _check_rows(record: Record, experiment: Experiment) -> None:
    try:
        for row in record.rows:
            checked_row(row, experiment.metrics)
    except BadResult as error:
        cell = f"{experiment.id}, {record.arm} on {record.dataset}, replicate {record.replicate}"
        raise ShippedError(f"{record.paper}.csv, {cell}: {error}") from None


def _replicates(slug: str, sidecar: Mapping[str, Any], experiment: str) -> int:
    entry = sidecar[experiment]
    found = entry.get("replicates") if isinstance(entry, dict) else None
    if not isinstance(found, int) or found < 1:
        raise ShippedError(f"{slug}.json does not say the replicates of {experiment}")
    return found


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """A decision as plain JSON values."""
    found = asdict(decision)
    found["exceptions"] = list(decision.exceptions)
    found["parts"] = [_part_to_json(part) for part in decision.parts]
    return found


def _part_to_json(part: Part) -> dict[str, Any]:
    found = asdict(part)
    found["exact"] = list(part.exact) if part.exact is not None else None
    for name in ("effect", "low", "high"):
        number = found[name]
        finite = number == number and abs(number) != float("inf")
        found[name] = number if finite else None
    return found


def decision_from_json(found: Mapping[str, Any]) -> Decision:
    """The decision that :func:`decision_to_json` gave.

    Raises
    ------
    ShippedError
        If it is not one.
    """
    try:
        parts = tuple(
            Part(
                **{**part, "exact": tuple(part["exact"]) if part["exact"] else None, **_ends(part)}
            )
            for part in found["parts"]
        )
        return Decision(**{**found, "exceptions": tuple(found["exceptions"]), "parts": parts})
    except (KeyError, TypeError) as error:
        raise ShippedError(f"a decision in index.json can't be read: {error}") from None


def _ends(part: Mapping[str, Any]) -> dict[str, float]:
    """What JSON has no word for: an effect that is not known, ends that are open."""
    blank = {"effect": math.nan, "low": -math.inf, "high": math.inf}
    return {name: blank[name] if part[name] is None else part[name] for name in blank}


def index(papers: Iterable[Paper], folder: Path = SHIPPED) -> dict[str, Any]:
    """Decisions of all shipped evidence, by paper and claim."""
    found: dict[str, Any] = {}
    for paper in papers:
        decisions = shipped_decisions(paper, folder)
        if decisions:
            found[paper.slug] = {
                claim: decision_to_json(decision) for claim, decision in decisions.items()
            }
    return found


def write_index(papers: Iterable[Paper], folder: Path = SHIPPED) -> Path:
    """Write ``index.json`` anew, and the checksums of all that is shipped."""
    path = folder / "index.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(path, json.dumps(index(papers, folder), indent=1, sort_keys=True) + "\n")
        _write_whole(folder / CHECKSUMS, _checksums(folder))
    except OSError as error:
        raise ShippedError(f"can't write {path}: {error}") from error
    return path
