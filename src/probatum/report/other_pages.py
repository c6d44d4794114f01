"""What stands on the pages about all papers: the standing of evidence, and a reader's own."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probatum.evidence.answers import Remembered
from probatum.evidence.database import shown
from probatum.evidence.detail import Estimate
from probatum.evidence.forms import number as is_number
from probatum.evidence.model import Claim, Paper, Within
from probatum.evidence.pieces import measured, region_of
from probatum.evidence.procedures import Region
from probatum.evidence.store import Store, StoreError
from probatum.report import calibration
from probatum.report.charts import effects_plot
from probatum.report.content import Figure, Table
from probatum.report.prose import to_html
from probatum.report.wording import effect_said, scaled

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
        "where": shown(store.url),
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
    seen = _Seen.of(claim)
    parts = _estimates(decision.get("parts"), seen)
    low, effect, high = (seen.turned(_real(decision.get(n))) for n in seen.ends)
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
        "measured": seen.measured,
        "effect": scaled(effect, seen.factors),
        "interval": _interval(low, high, seen.factors),
        "n": decision.get("n", 0),
        "unit": decision.get("unit", "replicates"),
        "guarantee": decision.get("guarantee", ""),
        "reason": decision.get("reason", ""),
        "profile": answer.profile,
        "when": f"{when:%Y-%m-%d}",
        "controls": sorted(answer.controls.items()),
        "command": _command(answer),
        "figures": _figures(parts, seen),
        "parts": Table(
            "Each comparison",
            ("", "verdict", "effect", "interval"),
            tuple(
                (
                    label,
                    e.verdict,
                    scaled(e.effect, seen.factors),
                    _interval(e.low, e.high, seen.factors),
                )
                for label, _, e in parts
            ),
        ),
    }


def _word(verdict: Any) -> str:
    return verdict if verdict in ("holds", "fails", "undecided") else "untested"


def _real(value: Any) -> float | None:
    return float(value) if is_number(value) else None


def _interval(low: float | None, high: float | None, factors: bool) -> str:
    if low is None or high is None or low == high:
        return ""
    return f"[{scaled(low, factors)}, {scaled(high, factors)}]"


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


@dataclass(frozen=True)
class _Seen:
    """How the numbers of an answer are read: as factors, in which direction, over which region.

    Where the claim is gone, or its parts ask different things, numbers are shown as they are.
    """

    measured: str = ""
    factors: bool = False
    turn: bool = False
    region: Region | None = None

    @classmethod
    def of(cls, claim: Claim | None) -> _Seen:
        if claim is None or claim.experiment is None:
            return cls()
        parts = [part for part in claim.parts if isinstance(part, Within)]
        asked = {(measured(p.stat), p.scale, region_of(p)) for p in parts}
        if len(asked) != 1 or len(parts) != len(claim.parts):
            return cls()
        ((of, scale, region),) = asked
        metric = claim.experiment.metrics[parts[0].stat.of]
        better = metric.better if parts[0].stat.is_level else ""
        turn = scale == "log-ratio" and better == "lower"
        region = Region(-region.high, -region.low) if turn else region
        return cls(effect_said(of, scale, better), scale == "log-ratio", turn, region)

    @property
    def ends(self) -> tuple[str, str, str]:
        """What stands at the lower end, in the middle and at the upper end."""
        return ("high", "effect", "low") if self.turn else ("low", "effect", "high")

    def turned(self, value: float | None) -> float | None:
        """A number in the direction of the rule's words."""
        return -value if self.turn and value is not None else value


def _estimates(parts: Any, seen: _Seen) -> list[tuple[str, str, Estimate]]:
    found = []
    for part in parts if isinstance(parts, list) else ():
        low, effect, high = (seen.turned(_real(part.get(name))) for name in seen.ends)
        if effect is None:
            continue
        if low is None or high is None or low >= high:
            low = high = None
        estimate = Estimate("", "", effect, low, high, 0, _word(part.get("verdict")))
        found.append((str(part.get("label", "")), "average", estimate))
    return found


def _figures(rows: list[tuple[str, str, Estimate]], seen: _Seen) -> list[Figure]:
    """A plot where all comparisons were asked for one region."""
    region = seen.region
    if region is None or not rows:
        return []
    spec = effects_plot(rows, region.low, region.high, title=seen.measured, factors=seen.factors)
    caption = "The band is what the claim allows; bars are intervals."
    return [Figure("Effect", caption, (spec,))] if spec else []
