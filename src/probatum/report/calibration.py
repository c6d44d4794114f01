"""How often verdicts err, as simulated: tables and plots of ``calibration.json``.

The file is written by ``tools/calibrate_verdicts.py``; ``docs/verdicts.md`` and the report show
the same tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probatum.report.charts import SCHEMA
from probatum.report.content import Figure, Table

__all__ = ["EDGES", "explained", "figures", "read", "said", "tables"]

Result = Mapping[str, Any]
Row = Mapping[str, Any]

HERE = Path(__file__).parent
EDGES = ("low edge", "high edge", "band", "low edge, alpha/8", "high edge, alpha/8")
"""Regions at whose edge the claims stand, as the file names them."""
PROCEDURES = {
    "exact": "Betting (exact)",
    "rate": "Beta-binomial (exact)",
    "t": "Anytime-valid t",
}
UNGUARDED = {"5": "first look 5", "no modal": "no modal rule", "neither": "neither"}


def explained() -> str:
    """How a verdict is decided, in Markdown."""
    return (HERE / "text" / "verdicts.md").read_text(encoding="utf-8")


def read(path: Path = HERE / "calibration.json") -> dict[str, Any]:
    """The simulated numbers; a quantile that was not reached is ``None``."""
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def said(result: Result) -> str:
    """What was simulated, and how the worst law did where a guarantee is promised.

    Examples
    --------
    >>> said(read()).split(",", 2)[:2]
    ['2', '000 null claims a law']
    """
    limit = round(result["limit"] * result["claims"])
    judged = [row for row in result["errors"] if row["judged"]]
    worst = max(judged, key=_worst)
    by = PROCEDURES[worst["procedure"]].removesuffix(" (exact)").lower()
    return (
        f"{result['claims']:,} null claims a law, each with its mean exactly at the edge, looked at"
        f" up to {result['replicates']} replicates at level {result['alpha']}. Where the guarantee"
        f" is promised, at most {limit:,} may hold ({result['limit']:.0%}, below the level of"
        f" {result['alpha']:.0%}); the most there are {_worst(worst):,}, by {by} under the law"
        f' {worst["law"]}. "band" is a two-sided region with the mean at its upper edge. The last'
        " columns of the t show the worse side with its guard rails off."
    )


def tables(result: Result) -> list[Table]:
    """False ``holds`` of each procedure, replicates to ``holds``, and forecasts.

    Parameters
    ----------
    result : dict
        As of :func:`read`.

    Returns
    -------
    list of Table
        Captions and cells are plain text.

    Examples
    --------
    >>> for table in tables(read()):
    ...     print(table.caption, "|", len(table.lines))
    Betting (exact): false holds out of 2,000 | 12
    Beta-binomial (exact): false holds out of 2,000 | 14
    Anytime-valid t: false holds out of 2,000 | 17
    Replicates to holds, for low = 0 | 9
    more_needed: replicates predicted over replicates needed | 20
    """
    errors = [_errors(result, procedure) for procedure in PROCEDURES]
    return [*errors, _power(result), _forecasts(result)]


def _errors(result: Result, procedure: str) -> Table:
    guards = UNGUARDED if procedure == "t" else {}
    lines = tuple(
        (
            row["law"],
            "yes" if row["judged"] else "no",
            *(str(row[edge]) for edge in EDGES),
            *(str(row["unguarded"][guard]) for guard in guards),
        )
        for row in result["errors"]
        if row["procedure"] == procedure
    )
    head = ("law of a replicate", "promised", *EDGES, *guards.values())
    caption = f"{PROCEDURES[procedure]}: false holds out of {result['claims']:,}"
    return Table(caption, head, lines)


def _power(result: Result) -> Table:
    head = ("procedure", "law", "effect / sd", "median", "quartiles")
    more = (f"within {result['replicates']}", "fixed n, 50 %", "fixed n, 80 %")
    lines = tuple(
        (
            row["procedure"],
            row["law"],
            str(row["effect"]),
            _count(row["median"]),
            " to ".join(_count(value) for value in row["quartiles"]),
            f"{row['by 200']:.0%}",
            str(row["fixed-n t-test"]["50%"]),
            str(row["fixed-n t-test"]["80%"]),
        )
        for row in result["power"]
    )
    note = (
        "The last two columns are the pairs that a t-test at one fixed n needs for the same with a"
        " chance of 50 % or 80 %."
    )
    return Table("Replicates to holds, for low = 0", (*head, *more), lines, notes=(note,))


def _forecasts(result: Result) -> Table:
    head = ("procedure", "law", "effect", "look", "undecided", "median", "quartiles")
    lines = tuple(
        (
            row["procedure"],
            row["law"],
            str(row["effect"]),
            str(row["seen"]),
            str(row["undecided"]),
            _ratio(row["median"]),
            " to ".join(_ratio(value) for value in row["quartiles"]),
        )
        for row in result["forecast"]
    )
    note = (
        "Of claims that are still undecided at a look. A prediction that it will never be decided"
        " counts as infinite."
    )
    caption = "more_needed: replicates predicted over replicates needed"
    return Table(caption, head, lines, notes=(note,))


def _worst(row: Row) -> int:
    return max(int(row[edge]) for edge in EDGES)


def _count(value: float | None) -> str:
    return "more than 2,000" if value is None else f"{value:.0f}"


def _ratio(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.2f}"


def figures(result: Result) -> list[Figure]:
    """False ``holds`` beside the limit, one plot a procedure; and replicates to ``holds``.

    Examples
    --------
    >>> [(figure.title, len(figure.specs)) for figure in figures(read())]
    [('False holds', 3), ('Replicates to holds', 1)]
    """
    limit = f"{result['limit']:.0%}"
    return [
        Figure(
            "False holds",
            f"Share of null claims that came out as holds, at the worst edge. Filled: a law for"
            f" which at most {limit} (dashed) is promised. Hollow: one for which nothing is.",
            tuple(_false_holds(result, procedure) for procedure in PROCEDURES),
        ),
        Figure(
            "Replicates to holds",
            "Half of the claims with such an effect hold by then. The t-test is looked at once, at"
            " a number of pairs chosen beforehand.",
            (_replicates(result),),
        ),
    ]


def _false_holds(result: Result, procedure: str) -> dict[str, Any]:
    claims = result["claims"]
    rows = [row for row in result["errors"] if row["procedure"] == procedure]
    values = [
        {
            "law": row["law"],
            "share": _worst(row) / claims,
            "promised": "yes" if row["judged"] else "no",
            "said": f"{row['law']}: {_worst(row):,} of {claims:,}",
        }
        for row in rows
    ]
    x = {
        "type": "quantitative",
        "title": "false holds",
        # Even near zero, where most are, and up to all of them.
        "scale": {"type": "symlog", "constant": 0.01, "domain": [0, 1], "nice": False},
        "axis": {
            "values": [0, 0.01, result["limit"], 0.1, 1],
            "labelExpr": "format(datum.value, '~%')",
            "grid": True,
        },
    }
    y = {
        "field": "law",
        "type": "nominal",
        "sort": [row["law"] for row in rows],
        "title": None,
        # Points at zero stay clear of the names.
        "axis": {"domain": False, "ticks": False, "labelPadding": 9},
    }
    promised = {"condition": {"test": "datum.promised === 'yes'", "value": 1}, "value": 0}
    return {
        "$schema": SCHEMA,
        "title": PROCEDURES[procedure],
        "width": "container",
        "height": {"step": 18},
        "data": {"values": values},
        "layer": [
            {
                "data": {"values": [{"limit": result["limit"]}]},
                "mark": {"type": "rule", "style": "edge"},
                "encoding": {"x": {**x, "field": "limit"}},
            },
            {
                "mark": {"type": "point", "filled": False, "opacity": 1, "size": 45},
                "encoding": {"x": {**x, "field": "share"}, "y": y},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 45},
                "encoding": {
                    "x": {**x, "field": "share"},
                    "y": y,
                    "opacity": promised,
                    "tooltip": {"field": "said", "type": "nominal"},
                },
            },
        ],
    }


def _replicates(result: Result) -> dict[str, Any]:
    power = result["power"]
    values = [
        {
            "effect": row["effect"],
            "replicates": row["median"],
            "series": f"{PROCEDURES[row['procedure']].removesuffix(' (exact)')}, {row['law']}",
        }
        for row in power
        if row["median"] is not None
    ]
    fixed = {row["effect"]: row["fixed-n t-test"]["80%"] for row in power}
    once = "t-test at one fixed n, power 80 %"
    values += [{"effect": x, "replicates": y, "series": once} for x, y in fixed.items()]
    series = list(dict.fromkeys(value["series"] for value in values))
    which = {"field": "series", "type": "nominal", "scale": {"domain": series}}
    legend = {"orient": "bottom", "columns": 1, "title": None, "labelLimit": 300}
    legend |= {"symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2}
    return {
        "$schema": SCHEMA,
        "title": "Median replicates to holds",
        "width": "container",
        "height": 330,  # with the legend
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {
                "field": "effect",
                "type": "quantitative",
                "title": "effect / standard deviation",
                "scale": {"type": "log", "nice": False},
                "axis": {"values": sorted(fixed), "grid": True},
            },
            "y": {
                "field": "replicates",
                "type": "quantitative",
                "title": "replicates",
                "scale": {"type": "log", "nice": False},
                "axis": {"values": [5, 10, 20, 50, 100, 200, 500, 1000, 2000], "grid": True},
            },
            "color": {**which, "legend": legend},
            "strokeDash": {**which, "legend": legend},
        },
    }
