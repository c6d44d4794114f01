"""Plots hold the numbers of the decision, over the region that the claim states."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import make

from probatum import catalog
from probatum.evidence.detail import Curve, Estimate, PartDetail
from probatum.evidence.model import Rate, Stat, Within
from probatum.evidence.shipped_index import SHIPPED, read_index
from probatum.report.charts import effects_plot, path_plot
from probatum.report.content import paper_content
from probatum.report.curves import curve_plots
from probatum.report.sources import from_shipped

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def points(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return spec["data"]["values"]


def edges(spec: dict[str, Any]) -> list[float]:
    lines = [layer for layer in spec["layer"] if layer["mark"].get("style") == "edge"]
    return [value["at"] for layer in lines for value in layer["data"]["values"] if "at" in value]


@given(
    st.lists(st.tuples(FINITE, st.none() | st.tuples(FINITE, FINITE)), min_size=1, max_size=9),
    FINITE | st.just(-math.inf),
    FINITE | st.just(math.inf),
    st.booleans(),
    st.booleans(),
)
def test_any_numbers_make_a_plot_that_shows_them(effects, low, high, factors, unit):
    rows = []
    for at, (effect, ends) in enumerate(effects):
        first, last = sorted(ends) if ends else (None, None)
        rows.append((f"line {at}", "single", Estimate("", "", effect, first, last, 5, "holds")))
    spec = effects_plot(rows, min(low, high), max(low, high), factors=factors, unit=unit)
    assert spec is not None
    # JSON knows no infinity.
    json.dumps(spec, allow_nan=False)
    shown = points(spec)
    assert [line["label"] for line in shown] == [label for label, _, _ in rows]
    encoding = spec["layer"][-1]["encoding"]
    start, end = encoding["x"]["scale"]["domain"]
    assert start <= end
    if not unit:
        assert all(start <= line["effect"] <= end for line in shown)


def test_what_was_not_measured_is_no_line():
    nothing = Estimate("", "", math.nan, None, None, 0, "undecided")
    assert effects_plot([("a", "average", nothing)], 0.0, 1.0) is None


@pytest.mark.parametrize(("low", "high"), [(0.02, math.inf), (-math.inf, -0.5), (-0.1, 0.1)])
def test_the_band_is_the_region_and_its_edges_are_lines(low, high):
    estimate = Estimate("", "", 0.05, 0.03, 0.07, 10, "holds")
    spec = effects_plot([("average", "average", estimate)], low, high)
    assert spec is not None
    assert edges(spec) == [edge for edge in (low, high) if math.isfinite(edge)]
    band = next(layer for layer in spec["layer"] if layer["mark"].get("style") == "region")
    (values,) = band["data"]["values"]
    start, end = spec["layer"][-1]["encoding"]["x"]["scale"]["domain"]
    assert values == {"from": max(low, start), "to": min(high, end)}


def test_ratios_are_read_as_factors():
    estimate = Estimate("", "", math.log(3), math.log(2), math.log(5), 10, "holds")
    spec = effects_plot([("average", "average", estimate)], math.log(1.25), math.inf, factors=True)
    assert spec is not None
    assert points(spec)[0]["said"] == "average: 3× [2×, 5×]"
    ticks = spec["layer"][-1]["encoding"]["x"]["axis"]["values"]
    assert [round(math.exp(tick), 3) for tick in ticks] == [1.5, 2, 3, 5]


def part(within: Within | Rate, **changes: Any) -> PartDetail:
    blank = PartDetail(
        within, "err", "", "log-log slope of err", "absolute", "", -math.inf, -0.3,
        (), (), (), (), (), (),
    )  # fmt: skip
    return replace(blank, **changes)


SLOPE = Within(Stat("err", "loglog"), "good", scale="absolute", low=-0.6, high=-0.4)
CURVES = (
    Curve("d", "good", tuple((10.0**k, 10 ** (-0.5 * k)) for k in range(1, 5))),
    Curve("d", "poor", tuple((10.0**k, 10 ** (-0.1 * k)) for k in range(1, 5))),
    Curve("d", "none", ((10.0, 0.0), (100.0, -1.0))),
)
ROLES = {"good": "method", "poor": "baseline", "none": "control"}


def test_guides_have_the_slopes_at_the_edges():
    (spec,) = curve_plots([part(SLOPE, curves=CURVES)], ROLES, "rows")
    lines, guides = spec["layer"]
    assert lines["encoding"]["x"]["title"] == "rows"
    assert lines["encoding"]["color"]["scale"]["domain"] == ["good", "poor", "none"]
    # Nothing to be drawn on a logarithmic axis is left.
    assert {value["arm"] for value in lines["data"]["values"]} == {"good", "poor"}
    by_edge: dict[str, list[dict[str, float]]] = {}
    for value in guides["data"]["values"]:
        by_edge.setdefault(value["edge"], []).append(value)
    for edge, (one, two) in by_edge.items():
        slope = math.log(two["y"] / one["y"]) / math.log(two["x"] / one["x"])
        assert slope == pytest.approx(float(edge), abs=1e-4)
    assert set(by_edge) == {"-0.6", "-0.4"}


def test_parts_that_read_the_same_curves_share_a_plot():
    other = replace(SLOPE, arm="poor", low=-0.2, high=0.0)
    specs = curve_plots([part(SLOPE, curves=CURVES), part(other, curves=CURVES)], ROLES)
    assert len(specs) == 1
    assert len(specs[0]["layer"]) == 3


def test_one_look_is_no_path():
    assert path_plot(part(SLOPE)) is None


def shown_effects(content: dict[str, Any]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for page in content["claims"]:
        if page.evidence is not None:
            for figure in page.evidence.figures:
                if figure.title == "Effect":
                    for spec in figure.specs:
                        lines = [p["effect"] for p in points(spec) if p["kind"] == "average"]
                        found.setdefault(page.claim.id, []).extend(lines)
    return found


@pytest.mark.parametrize("paper", catalog.load().papers, ids=lambda paper: paper.slug)
def test_every_decision_of_the_catalog_is_drawn_where_it_lies(paper):
    """The plots of shipped evidence agree with the index, which the decisions are read from."""
    content = paper_content(paper, from_shipped(paper, SHIPPED), None)
    index = read_index()[paper.slug]
    drawn = shown_effects(content)
    for page in content["claims"]:
        decision = index.get(page.claim.id)
        if decision is None:
            assert page.verdict == "untested"
            continue
        assert page.verdict == decision["verdict"]
        each = any(isinstance(p, Within) and p.over == "each" for p in page.claim.parts)
        if decision["effect"] is not None and not each:
            # A ratio of what is better lower is drawn in the direction of the rule's words.
            effect = decision["effect"]
            nearest = min(abs(abs(at) - abs(effect)) for at in drawn[page.claim.id])
            assert nearest <= 1e-5 * max(1, abs(effect))


def test_every_kind_of_claim_has_its_plots_and_tables(tmp_path):
    papers = make(tmp_path, 2, 8)
    for paper in papers:
        content = paper_content(paper, from_shipped(paper, tmp_path), None)
        for page in content["claims"]:
            if page.evidence is None:
                assert page.claim.experiment is None
                continue
            titles = {figure.title for figure in page.evidence.figures}
            assert "Effect" in titles
            assert page.evidence.tables
            slopes = [p for p in page.claim.parts if isinstance(p, Within) and not p.stat.is_level]
            assert ("Curves" in titles) == bool(slopes)
            for table in page.evidence.tables:
                assert all(len(line) == len(table.head) for line in table.lines)
                assert all(0 < column < len(table.head) for _, column in table.marked)
