"""What stands on the pages about all papers: the standing of evidence, and a reader's own."""

from __future__ import annotations

import datetime
import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from probatum.evidence.answers import Remembered
from probatum.evidence.detail import Estimate
from probatum.evidence.model import Claim, Paper, Within
from probatum.evidence.pieces import region_of
from probatum.evidence.store import Store, StoreError
from probatum.report import calibration
from probatum.report.charts import effects_plot
from probatum.report.content import Figure, Table
from probatum.report.prose import to_html
from probatum.report.wording import number

__all__ = ["evidence_content", "own_content", "verdicts_content"]


def verdicts_content() -> dict[str, Any]:
    """How a verdict is decided, with the calibration of the procedures."""
    found = calibration.read()
    return {
        "prose": to_html(calibration.explained()),
        "said": calibration.said(found),
        "figures": calibration.figures(found),
        "tables": calibration.tables(found),
    }


def evidence_content(
    standing: Mapping[str, Any],
    problems: Sequence[str],
    broken: Mapping[str, str],
    papers: Sequence[Paper],
    store: Store | None,
) -> dict[str, Any]:
    """How shipped evidence stands beside the code, and what a store holds."""
    rest = standing["claims"] - len(standing["rows"]) - len(standing["missing"])
    return {
        **{name: standing[name] for name in ("claims", "fresh", "stale", "missing")},
        "untested": rest,
        "problems": problems,
        "broken": broken,
        "store": None if store is None else _store_content(papers, store),
    }


def _store_content(papers: Sequence[Paper], store: Store) -> dict[str, Any]:
    known = {paper.slug for paper in papers}
    tally = store.tally()
    lines = [
        (slug if slug in known else f"{slug} (not in this catalog)", str(trials))
        for slug, (trials, _) in sorted(tally.items())
    ]
    return {
        "where": store.url.render_as_string(hide_password=True),
        "trials": sum(trials for trials, _ in tally.values()),
        "table": Table("Trials in the store", ("paper", "trials"), tuple(lines)),
    }


def own_content(
    papers: Sequence[Paper], store: Store | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """What was asked of a reader's data and methods; and why some of it can't be shown."""
    if store is None:
        return [], []
    try:
        answers = [answer for answer in store.answers() if answer.own]
    except StoreError as error:
        return [], [str(error)]
    known = {(paper.slug, claim.id): claim for paper in papers for claim in paper.claims}
    answers.sort(key=lambda answer: (answer.paper, answer.question, -answer.decided))
    return [
        _asked(at, answer, known.get((answer.paper, answer.claim)))
        for at, answer in enumerate(answers, 1)
    ], []


def _asked(at: int, answer: Remembered, claim: Claim | None) -> dict[str, Any]:
    decision = answer.decision
    parts = _estimates(decision.get("parts"))
    when = datetime.datetime.fromtimestamp(answer.decided, datetime.UTC)
    return {
        "anchor": f"asked-{at}",
        "slug": answer.paper,
        "question": answer.question,
        "origin": answer.claim,
        "linked": claim is not None,
        "statement": answer.statement,
        "brought": _brought(answer.own),
        "rule": answer.criterion,
        "verdict": _word(decision.get("verdict")),
        "effect": number(_real(decision.get("effect"))),
        "interval": _interval(_real(decision.get("low")), _real(decision.get("high"))),
        "n": decision.get("n", 0),
        "unit": decision.get("unit", "replicates"),
        "guarantee": decision.get("guarantee", ""),
        "reason": decision.get("reason", ""),
        "profile": answer.profile,
        "when": f"{when:%Y-%m-%d}",
        "controls": sorted(answer.controls.items()),
        "command": _command(answer),
        "figures": _figures(parts, claim),
        "parts": Table(
            "Each comparison",
            ("", "verdict", "effect", "interval"),
            tuple(
                (label, e.verdict, number(e.effect), _interval(e.low, e.high))
                for label, _, e in parts
            ),
        ),
    }


def _word(verdict: Any) -> str:
    return verdict if verdict in ("holds", "fails", "undecided") else "untested"


def _real(value: Any) -> float | None:
    real = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if real else None


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None or low == high:
        return ""
    return f"[{number(low)}, {number(high)}]"


def _brought(own: Mapping[str, Any]) -> str:
    """Files, how they were read, and methods, in one line."""
    said = [entry["file"] for entry in own.get("data", ())]
    said += [f"{name} {value}" for name, value in own.get("options", {}).items()]
    said += [f"{name} = {target}" for name, target in own.get("arms", {}).items()]
    return ", ".join(said)


def _command(answer: Remembered) -> str:
    """What asks it again; file names are quoted for a shell."""
    own = answer.own
    words = [f"probatum check {answer.paper}/{answer.claim}"]
    if answer.profile != "quick":
        words.append(f"--profile {answer.profile}")
    words += [f"--data {shlex.quote(entry['file'])}" for entry in own.get("data", ())]
    for name, value in own.get("options", {}).items():
        flag = "--target " if name == "target" else f"--with {name}="
        words.append(flag + shlex.quote(value))
    words += [f"--arm {name}={target}" for name, target in own.get("arms", {}).items()]
    return " ".join(words)


def _estimates(parts: Any) -> list[tuple[str, str, Estimate]]:
    found = []
    for part in parts if isinstance(parts, list) else ():
        effect = _real(part.get("effect"))
        if effect is not None:
            low, high = _real(part.get("low")), _real(part.get("high"))
            bounded = low is not None and high is not None and low < high
            verdict = _word(part.get("verdict"))
            estimate = Estimate(
                "", "", effect, low if bounded else None, high if bounded else None, 0, verdict
            )
            found.append((str(part.get("label", "")), "average", estimate))
    return found


def _figures(rows: list[tuple[str, str, Estimate]], claim: Claim | None) -> list[Figure]:
    """A plot where all comparisons were asked for one region."""
    if claim is None or not rows:
        return []
    regions = {region_of(part) for part in claim.parts}
    scales = {part.scale for part in claim.parts if isinstance(part, Within)}
    if len(regions) != 1 or len(scales) > 1:
        return []
    region = next(iter(regions))
    spec = effects_plot(rows, region.low, region.high, factors="log-ratio" in scales)
    caption = "The band is what the claim allows; bars are intervals."
    return [Figure("Effect", caption, (spec,))] if spec else []
