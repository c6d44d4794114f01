"""Trials and decisions as tidy tables, and tables as files."""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from probatum.evidence.decide import untested
from probatum.evidence.extras import install_line
from probatum.evidence.model import Claim, Decision, Paper, Profile
from probatum.evidence.run import Silent, open_runs
from probatum.evidence.shipped import decision_to_json
from probatum.evidence.store import Record, Store
from probatum.files import whole_file

__all__ = [
    "FORMATS",
    "MissingWriter",
    "decision_lines",
    "not_shipped",
    "stored_decisions",
    "trial_lines",
    "write_table",
]

Line = dict[str, Any]

TRIAL_COLUMNS = {
    "paper": "text",
    "experiment": "text",
    "dataset": "text",
    "replicate": "whole",
    "arm": "text",
    "status": "text",
    "case": "text",
    "x": "number",
    "metric": "text",
    "value": "number",
    "successes": "whole",
    "tries": "whole",
    "size": "text",
    "fingerprint": "text",
    "message": "text",
}
DECISION_COLUMNS = {
    "paper": "text",
    "claim": "text",
    "scope": "text",
    "fidelity": "text",
    "verdict": "text",
    "guarantee": "text",
    "effect": "number",
    "low": "number",
    "high": "number",
    "level": "number",
    "n": "whole",
    "unit": "text",
    "exceptions": "text",
    "failures": "whole",
    "more_needed": "whole",
    "reason": "text",
}


class MissingWriter(Exception):
    """A format needs a library that is not installed; the message says how to get it."""


def trial_lines(records: Iterable[Record]) -> Iterator[Line]:
    """One line per measurement, and one per trial that failed.

    ``size`` and ``fingerprint`` tell trials of different profiles and of different code apart;
    shipped evidence has one of each, and leaves them empty, as it does ``message``, the error of a
    trial that failed.
    """
    for record in records:
        about = {
            "paper": record.paper,
            "experiment": record.experiment,
            "dataset": record.dataset,
            "replicate": record.replicate,
            "arm": record.arm,
            "status": record.status,
            "case": "",
            **dict.fromkeys(("x", "metric", "value", "successes", "tries")),
            "size": json.dumps(dict(record.size), sort_keys=True) if record.size else "",
            "fingerprint": record.fingerprint,
            "message": " ".join(record.message.split()),
        }
        if record.status != "ok":
            yield about
        for row in record.rows:
            of = {**about, "arm": row.arm, "case": row.case, "x": row.x}
            if row.failed:
                yield {**of, "status": "raised", "message": row.failed}
            for metric, value in row.values.items():
                yield {**of, "metric": metric, "value": value}
            for metric, (k, n) in row.counts.items():
                yield {**of, "metric": metric, "successes": k, "tries": n}


def decision_lines(decisions: Iterable[Decision]) -> Iterator[Line]:
    """One line per decision; the exceptions are one text."""
    for decision in decisions:
        found = decision_to_json(decision)
        found["exceptions"] = "; ".join(decision.exceptions)
        yield {name: found[name] for name in DECISION_COLUMNS}


def stored_decisions(
    selection: Sequence[tuple[Paper, Claim]], store: Store, profile: Profile
) -> list[Decision]:
    """Decisions that the trials in a store allow, without running any."""
    found: dict[tuple[str, str], Decision] = {}
    for run in open_runs(selection, profile):
        run.load(store)
        run.settle(Silent())
        for name, decision in run.decisions.items():
            found[run.paper.slug, name] = decision
    return [
        found.get((paper.slug, claim.id)) or untested(paper, claim) for paper, claim in selection
    ]


def not_shipped(paper: Paper, claim: Claim) -> Decision:
    """The decision on a claim of which no trials are shipped."""
    decision = untested(paper, claim)
    return replace(decision, reason="not shipped") if claim.experiment else decision


def _write_csv(path: Path, lines: Iterable[Line], columns: dict[str, str], _: str) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        for line in lines:
            writer.writerow(line)
            count += 1
    return count


def _write_json(path: Path, lines: Iterable[Line], _: dict[str, str], what: str) -> int:
    rows = list(lines)
    text = io.StringIO()
    json.dump({what: rows}, text, indent=1)
    path.write_text(text.getvalue() + "\n", encoding="utf-8")
    return len(rows)


def _write_parquet(path: Path, lines: Iterable[Line], columns: dict[str, str], _: str) -> int:
    try:
        pa: Any = importlib.import_module("pyarrow")
        pq: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingWriter(f"Parquet needs pyarrow: {install_line('parquet')}") from None
    types = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    rows = list(lines)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return len(rows)


FORMATS: dict[str, Callable[[Path, Iterable[Line], dict[str, str], str], int]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}


def write_table(path: Path, lines: Iterable[Line], what: str) -> int:
    """Write lines to a file whose suffix says the format; it is there whole or not at all.

    Parameters
    ----------
    path : Path
    lines : iterable of dict
    what : {"trials", "decisions"}

    Returns
    -------
    int
        Lines written.

    Raises
    ------
    MissingWriter
        If a library for the format is missing.
    OSError
        If the file can't be written.
    """
    columns = TRIAL_COLUMNS if what == "trials" else DECISION_COLUMNS
    with whole_file(path) as draft:
        return FORMATS[path.suffix.lower()](draft, lines, columns, what)
