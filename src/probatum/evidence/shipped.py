"""Shipped evidence: the trials behind the verdicts, as plain files beside the code.

Per paper a CSV of measurements, readable with any table reader, and a JSON sidecar with what the
measurements were taken with. ``index.json`` holds the decisions and is derived from both.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from probatum.evidence.keys import arm_groups, trial_fingerprint
from probatum.evidence.model import Claim, Decision, Paper, Part, Row
from probatum.evidence.run import Run, gather, open_runs
from probatum.evidence.shipped_index import (
    SHIPPED,
    ShippedError,
    cell_key,
    freshness,
    group_name,
    read_index,
    read_sidecar,
)
from probatum.evidence.store import Record, Store

__all__ = [
    "SHIPPED",
    "ShippedError",
    "decision_to_json",
    "freshness",
    "index",
    "read_index",
    "read_records",
    "ship",
    "shipped_decisions",
    "write_index",
]

PROFILE = "standard"
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


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _lines(records: Iterable[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        if record.status != "ok":
            where = (record.experiment, record.dataset, record.replicate, record.arm)
            yield (*where, record.status, "", "", "", "", "", "")
        for row in record.rows:
            x = "" if row.x is None else repr(row.x)
            where = (record.experiment, record.dataset, record.replicate, row.arm)
            for metric, value in row.values.items():
                yield (*where, "ok", row.case, x, metric, repr(value), "", "")
            for metric, (k, n) in row.counts.items():
                yield (*where, "ok", row.case, x, metric, "", k, n)


def _run_records(run: Run, store: Store) -> list[Record]:
    found = store.final(run.keys(range(run.target)))
    order = {a.id: i for i, a in enumerate(run.experiment.arms)}
    sets = {d.id: i for i, d in enumerate(run.experiment.datasets)}
    return sorted(
        found.values(), key=lambda r: (sets[r.dataset], r.replicate, order.get(r.arm, -1))
    )


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

    A paper is shipped whole: every experiment that its claims read must be among the runs.

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
        lines: list[tuple[Any, ...]] = []
        sidecar = {}
        for run in own:
            records = _run_records(run, store)
            lines.extend(_lines(records))
            sidecar[run.experiment.id] = _sidecar(run, records, store)
        written += _write(slug, lines, sidecar, folder)
    return written


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
        write_atomically(paths[0], text.getvalue())
        write_atomically(paths[1], json.dumps(sidecar, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise ShippedError(f"can't write shipped evidence to {folder}: {error}") from error
    return paths


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
    rows: dict[tuple[str, str, int, str], list[Row]] = {}
    statuses: dict[tuple[str, str, int, str], str] = {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if tuple(next(reader, ())) != COLUMNS:
            raise ShippedError(f"{path.name}: the first line must read {','.join(COLUMNS)}")
        for line in reader:
            try:
                experiment, dataset, replicate, arm, status, case, x, metric, *numbers = line
                value, k, n = numbers
                cell = (experiment, dataset, int(replicate), arm)
                statuses[cell] = status
                if status == "ok":
                    at = float(x) if x else None
                    values = {metric: float(value)} if value else {}
                    counts = {metric: (int(k), int(n))} if k else {}
                    rows.setdefault(cell, []).append(Row(arm, case, at, values, counts))
            except ValueError as error:
                raise ShippedError(f"{path.name}, line {reader.line_num}: {error}") from None
    return [
        Record("", slug, experiment, arm, dataset, replicate, status, _merged(rows.get(cell, [])))
        for cell, status in statuses.items()
        for experiment, dataset, replicate, arm in [cell]
    ]


def _merged(rows: list[Row]) -> tuple[Row, ...]:
    """Rows as the trial returned them: the metrics of one case and x together again."""
    merged: list[Row] = []
    for row in rows:
        last = merged[-1] if merged else None
        names = {*row.values, *row.counts}
        if (
            last is not None
            and (last.case, last.x) == (row.case, row.x)
            and not names & {*last.values, *last.counts}
        ):
            merged[-1] = Row(
                row.arm,
                row.case,
                row.x,
                {**last.values, **row.values},
                {**last.counts, **row.counts},
            )
        else:
            merged.append(row)
    return tuple(merged)


def shipped_decisions(paper: Paper, folder: Path = SHIPPED) -> dict[str, Decision]:
    """Decisions recomputed from a paper's shipped trials; empty where there are none."""
    records = read_records(paper.slug, folder)
    if not records:
        return {}
    sidecar = read_sidecar(paper.slug, folder)
    decisions = {}
    for run in shipped_runs(paper, sidecar, records):
        decisions.update(run.decisions)
    return decisions


def shipped_runs(paper: Paper, sidecar: Mapping[str, Any], records: list[Record]) -> list[Run]:
    """The runs behind shipped evidence, decided."""
    selection: list[tuple[Paper, Claim]] = [
        (paper, c) for c in paper.claims if c.experiment is not None and c.experiment.id in sidecar
    ]
    runs = open_runs(selection, "standard")
    for run in runs:
        of = [record for record in records if record.experiment == run.experiment.id]
        gather(run, of, int(sidecar[run.experiment.id]["replicates"]))
    return runs


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
    """Write ``index.json`` anew."""
    path = folder / "index.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(index(papers, folder), indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise ShippedError(f"can't write {path}: {error}") from error
    return path
