"""Criteria in words: what a claim's rule asks for, said so that nobody needs to read code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from probatum.evidence.model import Claim, Every, Experiment, Rate, Stat, Within

__all__ = ["criterion_parameters", "criterion_words", "duration", "part_words"]


def criterion_words(claim: Claim) -> str:
    """The rule that decides a claim, in English; empty for a claim that nothing here can try.

    Examples
    --------
    >>> from probatum.evidence import Arm, Budget, Dataset, Experiment, Metric
    >>> experiment = Experiment(
    ...     "e", "m:trial", (Arm("plug-in", "m:A"), Arm("grid", "m:B")),
    ...     (Dataset("d1", "m:load", "CC0"), Dataset("d2", "m:load", "CC0")),
    ...     {"f1": Metric("higher", (0, 1))}, {"quick": Budget(20)})
    >>> criterion_words(Claim("c", "...", "paper", experiment,
    ...                       Within(Stat("f1"), "plug-in", to=("grid",), low=-0.02)))
    'the mean f1 of plug-in is at most 0.02 lower than that of grid, on average over 2 datasets'
    """
    if claim.experiment is None:
        return ""
    said = [part_words(claim.experiment, part) for part in claim.parts]
    if len(said) == 1:
        return said[0]
    return "; and ".join(f"({at}) {words}" for at, words in enumerate(said, 1))


def criterion_parameters(claim: Claim) -> dict[str, Any]:
    """The rule as plain JSON values; an edge at infinity is None.

    Examples
    --------
    >>> criterion_parameters(Claim("c", "...", "target", missing="a telescope"))
    {}
    """
    if claim.experiment is None:
        return {}
    parts = [{"kind": type(part).__name__.lower(), **_plain(asdict(part))} for part in claim.parts]
    return {"parts": parts, "procedure": claim.procedure}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def part_words(experiment: Experiment, part: Within | Rate | Every) -> str:
    """One part of a rule, in English."""
    if isinstance(part, Rate):
        region = _region(part.low, part.high, lowest=0.0, highest=1.0)
        counted = "each try" if part.independent else "each replicate's share of tries"
        rate = f"the rate of {part.of} for {part.arm}{_in_case(part.case)} {region}"
        return f"{rate}, counting {counted} as one observation"
    if isinstance(part, Every):
        cases = "case" if part.at_least == 1 else "cases"
        return (
            f"{part.of} of {part.arm}{_in_case(part.case)} never exceeds {part.high:g} "
            f"(by more than {part.slack:g}), seen in at least {part.at_least} {cases}"
        )
    whose = f" of {part.arm}{_in_case(part.stat.case)}"
    subject = _subject(part.stat, whose, experiment.abscissa or "x")
    if part.scale == "absolute":
        said = _region(part.low, part.high)
    elif part.scale == "difference":
        said = _difference(experiment, part)
    else:
        said = _ratio(experiment, part)
    return f"{subject} {said}{_over(experiment, part)}"


def _in_case(case: str | None) -> str:
    return "" if case is None else f" in case {case}"


def _subject(stat: Stat, whose: str, abscissa: str) -> str:
    if stat.per_case:
        one = _subject(replace(stat, per_case=False), whose, abscissa)
        return f"{one} (in each case, on average over them)"
    along_x = stat.against == "x"
    against = abscissa if along_x else stat.against
    tail = "" if stat.tail >= 1 else f" (over the largest {stat.tail:.0%} of {against})"
    # The abscissa is nobody's; another metric is the arm's, too.
    of, end = (f"{stat.of}{whose}", "") if stat.is_level or along_x else (stat.of, whose)
    return {
        "mean": f"the mean {of}",
        "max": f"the largest {of}",
        "slope": f"the slope of {of} against {against}{tail}{end}",
        "loglog": f"the log-log slope of {of} against {against}{tail}{end}",
        "spearman": f"the rank correlation of {of} with {against}{tail}{end}",
        "kendall": f"Kendall's tau of {of} and {against}{tail}{end}",
    }[stat.how]


def _region(low: float, high: float, lowest: float = -math.inf, highest: float = math.inf) -> str:
    if low == high:
        return f"equals {low:g}"
    if high >= highest:
        return f"is at least {low:g}"
    if low <= lowest:
        return f"is at most {high:g}"
    return f"lies between {low:g} and {high:g}"


def _difference(experiment: Experiment, within: Within) -> str:
    low, high, rivals = within.low, within.high, _rivals(within.to)
    up, down = ("higher", "lower") if _sign(experiment, within) > 0 else ("lower", "higher")
    if low == -high:
        return f"differs from {rivals} by at most {high:g}" if high else f"equals {rivals}"
    if math.isinf(high):
        return f"is {_one_edge(low, up, down)} than {rivals}"
    if math.isinf(low):
        return f"is {_one_edge(-high, down, up)} than {rivals}"
    if low >= 0:
        return f"is between {low:g} and {high:g} {up} than {rivals}"
    if high <= 0:
        return f"is between {-high:g} and {-low:g} {down} than {rivals}"
    return f"is at most {-low:g} {down} and at most {high:g} {up} than {rivals}"


def _one_edge(least: float, up: str, down: str) -> str:
    if least == 0:
        return f"no {down}"
    return f"at least {least:g} {up}" if least > 0 else f"at most {-least:g} {down}"


def _ratio(experiment: Experiment, within: Within) -> str:
    low, high = within.low, within.high
    if _sign(experiment, within) < 0:
        low, high = -high, -low
    rivals = _rivals(within.to)
    if low == high:
        return f"is {_factor(low)} times {rivals}"
    if math.isinf(high):
        return f"is at least {_factor(low)} times {rivals}"
    if math.isinf(low):
        return f"is at most {_factor(high)} times {rivals}"
    return f"is between {_factor(low)} and {_factor(high)} times {rivals}"


def _factor(logarithm: float) -> str:
    return f"{math.exp(logarithm):.4g}"


def _sign(experiment: Experiment, within: Within) -> int:
    """Which way of the number an effect in favour of the arm points."""
    lower = experiment.metrics[within.stat.of].better == "lower"
    return -1 if within.stat.is_level and lower else 1


def _rivals(to: Sequence[str]) -> str:
    if len(to) == 1:
        return f"that of {to[0]}"
    return f"that of each of {', '.join(to[:-1])} and {to[-1]}"


def _over(experiment: Experiment, within: Within) -> str:
    sets = experiment.datasets
    if len(sets) == 1:
        return f", on {sets[0].id}"
    if within.over == "each":
        return f", on each of {len(sets)} datasets"
    return f", on average over {len(sets)} datasets"


def duration(seconds: float) -> str:
    """A time in its natural unit.

    Examples
    --------
    >>> duration(0.4), duration(75), duration(7300)
    ('0.4 s', '1.2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
