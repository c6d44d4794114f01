"""Plots of the curves that slopes and rank correlations are taken from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from probatum.evidence.detail import Curve, PartDetail
from probatum.evidence.model import Within
from probatum.report.charts import MOST_FACETS, SCHEMA, Spec, plain

__all__ = ["curve_plots"]

Point = dict[str, Any]
MOST_SERIES = 8


def curve_plots(
    parts: Sequence[PartDetail], roles: Mapping[str, str], abscissa: str = ""
) -> list[Spec]:
    """Curves of every arm, a plot per metric, case and dataset; parts that read one share it.

    Parameters
    ----------
    parts : sequence of PartDetail
    roles : mapping of str to str
        Role of each arm, in the order of the experiment, which is that of the colours.
    abscissa : str
        What x counts, where curves run along it.
    """
    groups: dict[tuple[Any, ...], list[PartDetail]] = {}
    for part in parts:
        if part.curves and isinstance(part.part, Within):
            stat = part.part.stat
            key = (stat.of, stat.against, stat.how == "loglog", stat.case)
            groups.setdefault(key, []).append(part)
    cases = {case for *_, case in groups}
    specs = []
    for (of, against, log, case), group in groups.items():
        curves = group[0].curves
        datasets = list(dict.fromkeys(curve.dataset for curve in curves))
        title = against if against != "x" else abscissa or "x"
        for dataset in datasets[:MOST_FACETS]:
            shown = _shown([c for c in curves if c.dataset == dataset], group, roles)
            spec = _plot(shown, group, (title, of), log, cloud=against != "x")
            if spec is None:
                continue
            names = [case if len(cases) > 1 else "", dataset if len(datasets) > 1 else ""]
            heading = ", ".join(name for name in names if name)
            specs.append({**spec, "title": heading} if heading else spec)
    return specs


def _shown(
    curves: Sequence[Curve], group: Sequence[PartDetail], roles: Mapping[str, str]
) -> list[Curve]:
    """As many curves as can be told apart: those that the rules read, then others."""
    read = []
    for part in group:
        assert isinstance(part.part, Within)
        read += [part.part.arm, *part.part.to]
    by_arm = {curve.arm: curve for curve in curves}
    rest = sorted(by_arm, key=lambda arm: {"method": 0, "baseline": 1}.get(roles.get(arm, ""), 2))
    wanted = list(dict.fromkeys((*read, *rest)))
    kept = [arm for arm in wanted if arm in by_arm][:MOST_SERIES]
    order = [arm for arm in roles if arm in kept]
    return [by_arm[arm] for arm in order]


def _plot(
    curves: Sequence[Curve],
    group: Sequence[PartDetail],
    titles: tuple[str, str],
    log: bool,
    *,
    cloud: bool,
) -> Spec | None:
    values = [
        {"x": plain(x), "y": plain(y), "arm": curve.arm}
        for curve in curves
        for x, y in curve.points
        if not log or (x > 0 and y > 0)
    ]
    if not values:
        return None
    arms = [curve.arm for curve in curves]
    series = {"field": "arm", "type": "nominal", "scale": {"domain": arms}}
    legend = {"orient": "bottom", "columns": 2, "title": None, "labelLimit": 150}
    encoding: Spec = {
        "x": _coordinate("x", titles[0], values, log),
        "y": _coordinate("y", titles[1], values, log),
        "color": {**series, "legend": legend},
    }
    mark: Spec = {"type": "line", "point": True}
    if cloud:
        mark = {"type": "point", "filled": True}
        encoding["shape"] = {**series, "legend": None}
    guides = [guide for part in group for guide in _guides(part, curves, log, encoding)]
    layers = [{"data": {"values": values}, "mark": mark, "encoding": encoding}, *guides]
    return {"$schema": SCHEMA, "width": "container", "height": 260, "layer": layers}


def _coordinate(field: str, title: str, values: Sequence[Point], log: bool) -> Spec:
    axis: Spec = {"tickCount": 5, "grid": True}
    numbers = [value[field] for value in values]
    if log:
        first, last = math.log10(min(numbers)), math.log10(max(numbers))
        powers = range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
        if len(powers) > 1:
            # Powers of ten say more than the many ticks between them.
            axis["values"] = [10.0**k for k in powers[:: math.ceil(len(powers) / 6)]]
    if not 1e-4 <= max(abs(number) for number in numbers) < 1e6 or (log and min(numbers) < 1e-4):
        axis["format"] = "~e"
    scale: Spec = {"type": "log", "nice": False} if log else {"zero": False}
    kind = {"field": field, "type": "quantitative"}
    return {**kind, "title": title, "scale": scale, "axis": axis}


def _guides(part: PartDetail, curves: Sequence[Curve], log: bool, encoding: Spec) -> list[Spec]:
    """Lines of the slopes at the edges of a region, through the middle of the arm's curve."""
    within = part.part
    assert isinstance(within, Within)
    if within.scale != "absolute" or within.stat.how not in ("slope", "loglog"):
        return []
    own = next((curve.points for curve in curves if curve.arm == within.arm), ())
    points = [(x, y) for x, y in own if not log or (x > 0 and y > 0)]
    if within.stat.tail < 1:
        points = points[-max(2, math.ceil(within.stat.tail * len(points))) :]
    if len(points) < 2:
        return []
    forth, back = (math.log, math.exp) if log else (float, float)
    x0 = math.fsum(forth(x) for x, _ in points) / len(points)
    y0 = math.fsum(forth(y) for _, y in points) / len(points)
    values = []
    for edge in (within.low, within.high):
        for x, _ in (points[0], points[-1]):
            height = y0 + edge * (forth(x) - x0)
            # Beyond what a float holds there is nothing to draw.
            if math.isfinite(height) and (not log or -700 < height < 700):
                edge_of = {"edge": f"{edge:g}", "arm": within.arm}
                values.append({"x": plain(x), "y": plain(back(height)), **edge_of})
    if not values:
        return []
    where = {channel: encoding[channel] for channel in ("x", "y", "color")}
    line = {"type": "line", "style": "edge", "clip": True}
    detail = {"field": "edge", "type": "nominal"}
    return [{"data": {"values": values}, "mark": line, "encoding": {**where, "detail": detail}}]
