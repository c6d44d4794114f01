"""Drawn figures are what they say, and their ink lies where their truth says."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probatum.charts.drawing import (
    STRATA,
    UNREADABLE,
    Drawn,
    DrawnCurve,
    DrawnPlot,
    draw,
    draw_unreadable,
    load_drawn,
)
from probatum.charts.drawing import figures as figures_module
from probatum.charts.drawing.by_gnuplot import RendererMissingError
from probatum.charts.drawing.by_scale import marked_up, rgb
from probatum.charts.drawing.look import Look, Stroke
from probatum.charts.drawing.material import Line, material
from probatum.charts.drawing.plan import Damage, Panel, Plan, PlannedCurve, Scale, crosses
from probatum.charts.drawing.planning import plan_figure
from probatum.charts.plot_data import Box

pytest.importorskip("matplotlib")
pytest.importorskip("PIL")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not (Path(os.environ.get("PROBATUM_DATA", "")) / "spectra-charts").is_dir(),
        reason="spectra-charts is not in PROBATUM_DATA",
    ),
]

LOOK = Look(
    page="#ffffff",
    paper="#ffffff",
    ink="#000000",
    grid_color="#cccccc",
    font="DejaVu Sans",
    font_pt=9.0,
    spines="frame",
    spine_pt=0.72,
    ticks="out",
    tick_pt=3.5,
    all_sides=False,
    minor_ticks=False,
    grid="none",
    grid_dash="solid",
    dark=False,
    numbers="plain",
)
# Away from whole pixels, steep and gentle, and not alike in any direction.
X = np.array([1.03, 2.21, 3.17, 3.29, 5.43, 8.91])
Y = np.array([1.13, 1.57, 8.31, 2.03, 6.49, 3.17])


@pytest.fixture(params=["matplotlib", "gnuplot", "plotly"])
def renderer(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if name == "gnuplot" and shutil.which("gnuplot") is None:
        pytest.skip("gnuplot is not installed")
    if name == "plotly":
        from probatum.charts.drawing.by_plotly import _browser

        try:
            _browser()
        except RendererMissingError as error:
            pytest.skip(str(error))
    return name


def rendered(renderer: str, plan: Plan) -> tuple[np.ndarray, DrawnPlot]:
    from importlib import import_module

    by = import_module(f"probatum.charts.drawing.by_{renderer}")
    image, plots = by.render(plan)
    return image, plots[0]


def one_curve(
    *, x: Scale, y: Scale, kind: str = "function", stroke: Stroke, points: tuple = (X, Y)
) -> Plan:
    curve = PlannedCurve(Line("curve", *points, "made"), stroke, kind)  # type: ignore[arg-type]
    panel = Panel((curve,), x, y, "x", "y")
    return Plan(640, 480, 100, LOOK, (panel,), (Box(90.5, 20.5, 610.5, 420.5),), ())


def coverage(image: np.ndarray, color: str) -> np.ndarray:
    """How far each pixel goes from white to a pure red."""
    assert color == "#ff0000"
    return (255.0 - image[..., 1]) * (image[..., 0] > 200) / 255


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (Scale(0.0, 10.0), Scale(0.0, 10.0)),
        (Scale(10.0, 0.0), Scale(-5.0, 12.0)),
        (Scale(0.5, 20.0, True), Scale(1.0, 10.0, True)),
    ],
)
def test_a_line_lies_where_its_truth_says(renderer: str, x: Scale, y: Scale) -> None:
    image, plot = rendered(renderer, one_curve(x=x, y=y, stroke=Stroke("#ff0000", width=1.5)))
    ink = coverage(image, "#ff0000")
    (curve,) = plot.curves
    order = np.argsort(curve.px[:, 0])
    columns, rows = curve.px[order].T
    # Columns in which the line is neither steep nor about to turn.
    tried = 0
    for left, right, top, bottom in zip(
        columns[:-1], columns[1:], rows[:-1], rows[1:], strict=True
    ):
        if abs(bottom - top) > 1.2 * (right - left):
            continue
        for column in range(int(left) + 5, int(right) - 5, 7):
            expected = np.interp(column + 0.5, columns, rows)
            near = slice(int(expected) - 8, int(expected) + 9)
            seen = ink[near, column]
            centre = (seen * (np.arange(near.start, near.stop) + 0.5)).sum() / seen.sum()
            assert centre == pytest.approx(expected, abs=0.8), (column, left, right)
            tried += 1
    assert tried > 10


def test_points_lie_where_their_truth_says(renderer: str) -> None:
    stroke = Stroke("#ff0000", "none", marker="s", marker_size=5.0)
    scale = Scale(0.0, 10.0)
    image, plot = rendered(renderer, one_curve(x=scale, y=scale, kind="markers", stroke=stroke))
    ink = coverage(image, "#ff0000")
    assert len(plot.curves[0].px) == len(X)
    # matplotlib rounds the place of a marker to a whole pixel, always upwards.
    slack = 1.05 if renderer == "matplotlib" else 0.8
    for column, row in plot.curves[0].px[[0, 1, 4, 5]]:
        rows = slice(int(row) - 9, int(row) + 10)
        columns = slice(int(column) - 9, int(column) + 10)
        seen = ink[rows, columns]
        assert seen.sum() > 9
        grid_rows, grid_columns = np.mgrid[rows, columns] + 0.5
        assert (seen * grid_columns).sum() / seen.sum() == pytest.approx(column, abs=slack)
        assert (seen * grid_rows).sum() / seen.sum() == pytest.approx(row, abs=slack)


def test_spines_are_the_sides_of_the_box(renderer: str) -> None:
    scale = Scale(0.0, 10.0)
    image, plot = rendered(renderer, one_curve(x=scale, y=scale, stroke=Stroke("#ff0000")))
    dark = 255.0 - image.max(axis=2)
    across = np.arange(image.shape[1]) + 0.5
    along = np.arange(image.shape[0]) + 0.5
    row, column = 30, 560  # where neither the curve nor numbers are
    for place, line, at in [
        (plot.box.left, dark[row], across),
        (plot.box.right, dark[row], across),
        (plot.box.top, dark[:, column], along),
        (plot.box.bottom, dark[:, column], along),
    ]:
        near = np.abs(at - place) < 4
        assert line[near].sum() > 100
        assert (line[near] * at[near]).sum() / line[near].sum() == pytest.approx(place, abs=0.8)


@pytest.mark.parametrize("stratum", ["one colour", "panels", "inset", "twin", "stack", "loops"])
def test_there_is_ink_of_its_colour_along_every_curve(renderer: str, stratum: str) -> None:
    from importlib import import_module

    from scipy.ndimage import minimum_filter

    plan = plan_figure(np.random.default_rng(5), stratum)
    image, plots = import_module(f"probatum.charts.drawing.by_{renderer}").render(plan)
    assert stratum in plan.strata
    assert image.shape == (plan.height, plan.width, 3)
    for plot in plots:
        for curve in plot.curves:
            if curve.dash != "solid" or curve.px.shape[0] < 2:
                continue
            along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(curve.px, axis=0).T))])
            at = np.linspace(0, along[-1], 400)
            columns, rows = (np.interp(at, along, c).astype(int) for c in curve.px.T)
            unlike = np.abs(image.astype(float) - curve.color).max(axis=2)
            near = minimum_filter(unlike, size=5)[rows, columns]
            paper = np.abs(np.array(rgb(plan.look.paper)) - curve.color).max()
            # Thin lines are paler than their colour; a legend or another curve may lie above.
            assert (near < 0.6 * paper).mean() > 0.85, curve.name


def test_truth_follows_a_crooked_scan() -> None:
    from probatum.charts.drawing.damage import damaged

    scale = Scale(0.0, 10.0)
    plan = one_curve(
        x=scale,
        y=scale,
        kind="markers",
        stroke=Stroke("#ff0000", "none", marker="s", marker_size=6.0),
    )
    image, plot = rendered("matplotlib", plan)
    rng = np.random.default_rng(1)
    turned, (moved,), _ = damaged(rng, image, (plot,), Damage(angle=2.0), "#ffffff")
    ink = coverage(turned, "#ff0000")
    assert np.abs(moved.curves[0].px - plot.curves[0].px).max() > 5
    for column, row in moved.curves[0].px[[0, 1, 4, 5]]:
        rows = slice(int(row) - 9, int(row) + 10)
        columns = slice(int(column) - 9, int(column) + 10)
        seen = ink[rows, columns]
        grid_rows, grid_columns = np.mgrid[rows, columns] + 0.5
        assert (seen * grid_columns).sum() / seen.sum() == pytest.approx(column, abs=1.1)
        assert (seen * grid_rows).sum() / seen.sum() == pytest.approx(row, abs=1.1)


def test_the_same_seed_gives_the_same_bytes(renderer: str, tmp_path: Path) -> None:
    first, second = (draw(11, stratum="jpeg", renderer=renderer) for _ in range(2))  # type: ignore[arg-type]
    other = draw(12, stratum="jpeg", renderer=renderer)  # type: ignore[arg-type]
    assert first.encoded() == second.encoded() != other.encoded()
    texts = []
    for i, figure in enumerate((first, second)):
        path = figure.save(tmp_path / str(i), "figure")
        assert path.suffix == ".jpg"
        texts.append(path.with_suffix(".json").read_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("stratum", [None, "jpeg"])
def test_a_saved_figure_is_read_back(stratum: str | None, tmp_path: Path) -> None:
    figure = draw(3, stratum=stratum)
    back = load_drawn(figure.save(tmp_path, "figure").with_suffix(".json"))
    assert (back.image == figure.image).all()
    assert back.encoded() == figure.encoded()
    assert back.style == figure.style
    assert back.strata == figure.strata
    for plot, same in zip(figure.plots, back.plots, strict=True):
        assert (plot.box, plot.x_axis, plot.right_axis) == (same.box, same.x_axis, same.right_axis)
        for curve, again in zip(plot.curves, same.curves, strict=True):
            np.testing.assert_allclose(again.px, curve.px, atol=1e-4)
            np.testing.assert_allclose(again.y, curve.y, rtol=1e-8, atol=1e-12)
            bare = {"x": curve.x, "y": curve.y, "px": curve.px}
            assert repr(replace(again, **bare)) == repr(curve)


def is_what_it_says(figure: Drawn, stratum: str) -> bool:
    """Whether what a stratum promises can be seen in the truth."""
    curves = [curve for plot in figure.plots for curve in plot.curves]
    main = [plot for plot in figure.plots if not plot.inset]
    height, width = figure.image.shape[:2]
    page = figure.image[:3, :3].mean()
    axes = [axis for plot in main for axis in (plot.x_axis, plot.y_axis)]
    return {
        "easy": len(main) == 1 and all(c.dash == "solid" and not c.marker for c in curves),
        "one colour": any(_cross_alike(plot) for plot in main),
        "dashes": any(c.dash in ("dashed", "dotted", "dashdot") for c in curves),
        "markers": any(c.marker for c in curves),
        "loops": "eis_battery" in figure.style["sources"] or any(_goes_back(c) for c in curves),
        "log": any(axis.scale == "log" for axis in axes),
        "twin": any(p.right_axis and {c.axis for c in p.curves} == {"left", "right"} for p in main),
        "inset": len(main) < len(figure.plots),
        "stack": any(_stacked(plot) for plot in main),
        "dark": page < 100,
        "jpeg": figure.jpeg is not None and figure.jpeg[:2] == b"\xff\xd8",
        "scan": abs(figure.style["damage"]["angle"]) > 0.1,
        "panels": len(main) >= 2 and width > 500 and height > 200,
    }[stratum]


def _cross_alike(plot: DrawnPlot) -> bool:
    shares = []
    for c in plot.curves:
        u = (c.px[:, 0] - plot.box.left) / plot.box.width
        shares.append((c, (u, (plot.box.bottom - c.px[:, 1]) / plot.box.height)))
    return any(
        a.color == b.color and crosses(first, second, loop=a.kind == "loop")
        for i, (a, first) in enumerate(shares)
        for b, second in shares[:i]
    )


def _goes_back(curve: DrawnCurve) -> bool:
    steps = np.diff(curve.x)
    return bool(curve.kind in ("loop", "markers") and (steps > 0).any() and (steps < 0).any())


def _stacked(plot: DrawnPlot) -> bool:
    middles = [np.median(c.y) for c in plot.curves]
    return len(middles) >= 2 and bool((np.diff(middles) > 0).all())


@pytest.mark.parametrize("stratum", STRATA)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_stratum_can_be_drawn_and_is_what_it_says(stratum: str, seed: int) -> None:
    figure = draw(seed, stratum=stratum)
    assert figure.style["asked"] == stratum
    for found in {stratum, *figure.strata}:
        assert found in figure.strata
        assert is_what_it_says(figure, found), found


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1), stratum=st.sampled_from([None, *STRATA]))
def test_curves_lie_in_their_boxes_and_axes_agree_with_them(seed: int, stratum: str | None) -> None:
    figure = draw(seed, stratum=stratum)
    height, width, _ = figure.image.shape
    assert figure.image.dtype == np.uint8
    assert figure.plots
    crooked = "scan" in figure.strata
    slack = 0.03 * width if crooked else 0.6
    for plot in figure.plots:
        box = plot.box
        assert 0 < box.left < box.right < width
        assert 0 < box.top < box.bottom < height
        assert plot.curves
        for curve in plot.curves:
            assert curve.px.shape == (curve.x.size, 2)
            assert np.isfinite(curve.px).all()
            assert (curve.px[:, 0] > box.left - slack).all()
            assert (curve.px[:, 0] < box.right + slack).all()
            assert (curve.px[:, 1] > box.top - slack).all()
            assert (curve.px[:, 1] < box.bottom + slack).all()
            if not crooked:
                y_axis = plot.right_axis if curve.axis == "right" else plot.y_axis
                assert y_axis is not None
                np.testing.assert_allclose(plot.x_axis.px(curve.x), curve.px[:, 0], atol=0.02)
                np.testing.assert_allclose(y_axis.px(curve.y), curve.px[:, 1], atol=0.02)


def test_half_of_the_figures_have_curves_of_one_colour_that_cross() -> None:
    plans = [plan_figure(np.random.default_rng(seed), None) for seed in range(100)]
    assert sum("one colour" in plan.strata for plan in plans) >= 45
    kinds = {stratum for plan in plans for stratum in plan.strata}
    assert kinds == set(STRATA)


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_drawn_too(kind: str) -> None:
    first, second, other = (draw_unreadable(seed, kind) for seed in (4, 4, 5))
    assert (first.image == second.image).all()
    assert first.image.shape != other.image.shape or (first.image != other.image).any()
    assert first.style["unreadable"] == kind
    for plot in first.plots:
        if kind == "empty axes":
            assert not plot.curves
        else:
            assert not plot.x_axis.calibrated
            assert not plot.y_axis.calibrated


def test_blurred_labels_are_gone_and_curves_are_not() -> None:
    figure = draw_unreadable(7, "blurred labels")
    (plot,) = figure.plots[:1]
    below = figure.image[int(plot.box.bottom) + 25 :, :].astype(float)
    inside = figure.image[int(plot.box.top) : int(plot.box.bottom), :].astype(float)
    assert np.abs(np.diff(below.mean(axis=2), axis=1)).max() < 25
    assert np.abs(np.diff(inside.mean(axis=2), axis=1)).max() > 100


def test_garbled_numbers_fit_no_scale() -> None:
    from itertools import combinations

    from probatum.charts.drawing.unreadable import _garbler

    labels = _garbler(np.random.default_rng(0))
    seen = 0
    for _ in range(20):
        texts = labels(7)
        if not all(text.isdigit() for text in texts):
            continue
        seen += 1
        values = [float(text) for text in texts]
        for a, b, c in combinations(range(7), 3):
            step = (values[b] - values[a]) / (b - a)
            assert abs(values[a] + step * (c - a) - values[c]) > 0.1 * abs(step)
    assert seen > 3


def test_variants_are_of_real_curves() -> None:
    from probatum.data.spectra import load_spectra

    known = {spectrum.name for spectrum in load_spectra()}
    for kind in ("xafs", "raman", "cv", "gcd"):
        found = material(np.random.default_rng(2), kind, 4)
        assert {line.source for line in found.lines} <= known
        assert len({line.name for line in found.lines}) == 4
        assert all(line.x.size == line.y.size > 10 for line in found.lines)


def test_crossing_is_told_from_touching_and_noise() -> None:
    u = np.linspace(0, 1, 500)
    rng = np.random.default_rng(0)
    assert crosses((u, u), (u, 1 - u), loop=False)
    assert not crosses((u, 0.5 * u), (u, 0.5 * u + 0.1), loop=False)
    assert not crosses((u, 0.5 + rng.normal(0, 0.1, 500)), (u, 0.5 + 0 * u), loop=False)
    assert crosses((u, u), (u, 1 - u), loop=True)
    assert not crosses((u, u), (u, u), loop=True)


def test_errors_name_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"stratum must be one of easy.*'hard'"):
        draw(1, stratum="hard")
    with pytest.raises(ValueError, match=r"renderer must be one of matplotlib.*'excel'"):
        draw(1, renderer="excel")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"kind must be one of no labels.*'tree'"):
        draw_unreadable(1, "tree")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RendererMissingError, match="gnuplot is not on the search path"):
        draw(1, renderer="gnuplot")


def test_markup_of_other_renderers() -> None:
    assert marked_up("E / V vs. Li/Li$^+$", "^{{{}}}", "_{{{}}}") == "E / V vs. Li/Li^{+}"
    assert marked_up("Z$_{re}$", "<sup>{}</sup>", "<sub>{}</sub>") == "Z<sub>re</sub>"
    assert figures_module.RENDERERS == ("matplotlib", "gnuplot", "plotly")
