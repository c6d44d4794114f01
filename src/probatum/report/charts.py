"""Plots as Vega-Lite specifications: plain data, coloured by the page's theme.

A specification names series and roles, never colours; the page gives both in light and in dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from probatum.evidence.detail import Estimate, PartDetail
from probatum.evidence.model import Within
from probatum.evidence.procedures import Look
from probatum.report.wording import effect_said, scaled

__all__ = [
    "MOST_FACETS",
    "SCHEMA",
    "Spec",
    "axis_title",
    "case_plot",
    "effect_title",
    "effects_plot",
    "forest_plot",
    "path_plot",
]

Spec = dict[str, Any]
Point = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ROW = 22
"""Height of one line of a forest plot, in pixels."""
SMALL = 1e-3
LARGEST = 1e150
MOST_FACETS = 9
SMALLEST = "datum.value === 0 ? '0' : format(datum.value, '.2~e')"
TIMES = "format(exp(datum.value), '.3~g') + '×'"


def axis_title(part: PartDetail, of: str, *, alone: bool = True) -> str:
    """What a position on the effect's axis means; ``alone`` if it is of one arm only."""
    within = part.part
    if part.scale not in ("difference", "log-ratio") or not part.better:
        return effect_title(part, of)
    assert isinstance(within, Within)
    side = "left" if part.scale == "log-ratio" and part.better == "lower" else "right"
    return f"{effect_title(part, of)} ({side} is better{f' for {within.arm}' if alone else ''})"


def effect_title(part: PartDetail, of: str) -> str:
    """What an effect is, in a few words."""
    return effect_said(of, part.scale, part.better)


def forest_plot(
    part: PartDetail, rows: Sequence[tuple[str, str, Estimate]], of: str, *, alone: bool = True
) -> Spec | None:
    """Effects on a part's scale, over its region; rows as of :func:`effects_plot`.

    ``of`` says what is measured, ``alone`` that all is of one arm.
    """
    return effects_plot(
        rows,
        part.low,
        part.high,
        title=axis_title(part, of, alone=alone),
        factors=part.scale == "log-ratio",
        unit=part.scale == "rate",
    )


def effects_plot(
    rows: Sequence[tuple[str, str, Estimate]],
    low: float,
    high: float,
    *,
    title: str = "effect",
    factors: bool = False,
    unit: bool = False,
) -> Spec | None:
    """Effects with their intervals, one line each, over the claimed region.

    Parameters
    ----------
    rows : sequence of (label, kind, Estimate)
        Kind is ``average``, or ``single`` for one dataset or case.
    low, high : float
        The region, infinite where it is open.
    title : str
        What the axis shows.
    factors : bool
        Effects are logarithms of factors, and read as these.
    unit : bool
        Effects lie between 0 and 1.
    """
    lines = [
        _line(label, kind, estimate, factors)
        for label, kind, estimate in rows
        if math.isfinite(estimate.effect)
    ]
    if not lines:
        return None
    low, high = (
        min(max(edge, -LARGEST), LARGEST) if math.isfinite(edge) else edge for edge in (low, high)
    )
    domain = _domain(low, high, lines, unit)
    y = {
        "field": "label",
        "type": "nominal",
        "sort": [line["label"] for line in lines],
        "title": None,
        "axis": {"domain": False, "ticks": False},
    }
    x = {
        "field": "effect",
        "type": "quantitative",
        "title": title,
        "scale": {"domain": domain, "zero": False, "nice": False},
        "axis": _axis(factors, domain, {"grid": True, "tickCount": 5}),
    }
    interval = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2.5, "clip": True},
        "encoding": {
            "x": {**x, "field": "low"},
            "x2": {"field": "high"},
            "y": y,
            "color": _verdict_colour(),
        },
    }
    point = {
        "mark": {"type": "point", "filled": True, "opacity": 1, "clip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": _verdict_colour(),
            "shape": _by_kind("circle", "diamond"),
            "size": _by_kind(55, 130),
            "tooltip": {"field": "said", "type": "nominal"},
        },
    }
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": {"step": ROW},
        "data": {"values": lines},
        "layer": [*_region(low, high, domain), interval, point],
    }


def _by_kind(single: Any, average: Any) -> Spec:
    return {"condition": {"test": "datum.kind === 'average'", "value": average}, "value": single}


def _verdict_colour() -> Spec:
    return {
        "field": "verdict",
        "type": "nominal",
        # The page's theme says which colours these are.
        "scale": {"domain": ["holds", "fails", "undecided"], "range": "verdict"},
        "legend": None,
    }


def _line(label: str, kind: str, estimate: Estimate, factors: bool) -> Point:
    said = f"{label}: {scaled(estimate.effect, factors)}"
    if estimate.low is not None and estimate.high is not None:
        said += f" [{scaled(estimate.low, factors)}, {scaled(estimate.high, factors)}]"
    return {
        "label": label,
        "kind": kind,
        "effect": plain(estimate.effect),
        "low": plain(estimate.low),
        "high": plain(estimate.high),
        "verdict": estimate.verdict if estimate.verdict in ("holds", "fails") else "undecided",
        "said": said,
    }


def plain(value: float | None) -> float | None:
    """A number as plots have it: six digits are more than anyone sees, and keep pages small.

    What is too large for arithmetic on an axis lies at the end of what is not.
    """
    if value is None or math.isnan(value) or math.isinf(value):
        return None
    return float(f"{min(max(value, -LARGEST), LARGEST):.6g}")


def _domain(low: float, high: float, lines: Sequence[Point], unit: bool) -> list[float]:
    """Where all effects, the claimed edges and most of the intervals are seen."""
    points = [line["effect"] for line in lines]
    points += [edge for edge in (low, high) if math.isfinite(edge)]
    spread = max(points) - min(points) or abs(points[0]) or 1.0
    # One interval many times as wide as all effects together would hide the rest: it is cut.
    least, most = min(points) - 3 * spread, max(points) + 3 * spread
    for line in lines:
        if line["low"] is not None:
            points += [max(line["low"], least), min(line["high"], most)]
    pad = 0.06 * (max(points) - min(points) or spread)
    start, end = min(points) - pad, max(points) + pad
    if unit and min(points) >= 0 and max(points) <= 1:
        start, end = max(start, -0.02), min(end, 1.02)
    return [float(f"{start:.6g}"), float(f"{end:.6g}")]


def _region(low: float, high: float, domain: Sequence[float]) -> list[Spec]:
    """The claimed region as a band, and its edges as dashed lines."""
    start, end = max(low, domain[0]), min(high, domain[1])
    band = {
        "data": {"values": [{"from": start, "to": end}]},
        "mark": {"type": "rect", "style": "region", "clip": True},
        "encoding": {
            "x": {"field": "from", "type": "quantitative"},
            "x2": {"field": "to"},
        },
    }
    edges = [{"at": edge} for edge in (low, high) if math.isfinite(edge)]
    lines = {
        "data": {"values": edges},
        "mark": {"type": "rule", "style": "edge", "clip": True},
        "encoding": {"x": {"field": "at", "type": "quantitative"}},
    }
    return [band, lines] if start < end else [lines]


def _axis(factors: bool, domain: Sequence[float], axis: Spec) -> Spec:
    """Logarithms of ratios are read as factors, and very small numbers with an exponent."""
    if factors:
        return {**axis, "labelExpr": TIMES, **_round_factors(domain)}
    return {**axis, "labelExpr": SMALLEST} if max(map(abs, domain)) < SMALL else axis


FACTORS = ((1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5), (1, 2, 5), (1,))
MOST_TICKS = 8


def _round_factors(domain: Sequence[float]) -> Spec:
    """Ticks at factors that are easily read; nothing where the domain holds too few of them."""
    low, high = domain
    first, last = math.floor(low / math.log(10)), math.ceil(high / math.log(10))
    if last - first > 40 or max(abs(low), abs(high)) > 300:
        return {}
    for steps in FACTORS:
        logs = (math.log(s * 10.0**k) for k in range(first, last + 1) for s in steps)
        ticks = [float(f"{at:.6g}") for at in logs if low <= at <= high]
        if 2 < len(ticks) <= MOST_TICKS or (steps == FACTORS[-1] and ticks):
            return {"values": ticks[:: math.ceil(len(ticks) / MOST_TICKS)]}
    return {}


def path_plot(part: PartDetail) -> Spec | None:
    """How intervals shrank from look to look, up to the one that decided.

    Nothing where there was one look: there is no way to show then.
    """
    paths = []
    for name, looks in part.path:
        bounded = [look for look in looks if math.isfinite(look.low) and math.isfinite(look.high)]
        if len(bounded) > 1:
            paths.append((name, bounded))
    if not paths:
        return None
    paths = paths[:MOST_FACETS]
    ends = [edge for _, looks in paths for look in looks for edge in look[1:]]
    lines = [{"effect": end, "low": None} for end in ends]
    domain = _domain(part.low, part.high, lines, part.scale == "rate")
    plots = [_path(part, looks, domain) for _, looks in paths]
    if len(plots) == 1:
        return {"$schema": SCHEMA, **plots[0]}
    return {"plots": [{**p, "title": name} for (name, _), p in zip(paths, plots, strict=True)]}


def _path(part: PartDetail, looks: Sequence[Look], domain: Sequence[float]) -> Spec:
    values = [
        {
            "n": look.n,
            "effect": plain(look.effect),
            "low": plain(look.low),
            "high": plain(look.high),
        }
        for look in looks
    ]
    y = {
        "type": "quantitative",
        "title": effect_title(part, part.of),
        "scale": {"domain": domain, "zero": False, "nice": False},
        "axis": _axis(part.scale == "log-ratio", domain, {"tickCount": 5}),
    }
    x = {
        "field": "n",
        "type": "quantitative",
        "title": "replicates",
        "scale": {"zero": False, "nice": False},
        "axis": {"values": [look.n for look in looks], "format": "d"},
    }
    region = _region(part.low, part.high, domain)
    for layer in region:
        # Here the effect runs upwards.
        layer["encoding"] = {
            {"x": "y", "x2": "y2"}[channel]: value for channel, value in layer["encoding"].items()
        }
    band = {
        "data": {"values": values},
        "mark": {"type": "area", "style": "interval", "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    mean = {
        "data": {"values": values},
        "mark": {"type": "line", "point": True, "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "effect"}},
    }
    return {"width": "container", "height": 170, "layer": [*region, band, mean]}


def case_plot(part: PartDetail) -> Spec | None:
    """Effects of published cases, the largest on top."""
    cases = sorted(part.cases, key=lambda case: -case.effect)
    rows = [
        (
            f"{case.dataset} ({case.rival})" if len(part.overall) > 1 else case.dataset,
            "single",
            case,
        )
        for case in cases
    ]
    return forest_plot(part, rows, part.named) if rows else None
