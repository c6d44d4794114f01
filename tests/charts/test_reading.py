"""Boxes, labels and scales: read where they can be, refused where they can't."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import X, drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.charts import Axis, NoPlotFoundError, PlotData, extract, extract_all
from probatum.charts.reading import recogniser
from probatum.charts.reading.calibrate import Label, fit_axis, fit_two
from probatum.charts.reading.numbers import multiplier, readings

pytest.importorskip("matplotlib")
pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(not recogniser.available(), reason="OCR is not installed")


def sine(axes: Any) -> None:
    axes.plot(X, np.sin(X), "k")


def wrong_by(axis: Axis, expected: dict[float, float]) -> float:
    """Largest distance in pixels between an axis and values at pixels."""
    return max(abs(float(axis.px(value)) - px) for px, value in expected.items())


# matplotlib's default axes lie between these pixels at 100 dpi.
LEFT, RIGHT, TOP, BOTTOM = 80.0, 576.0, 57.6, 427.2


def test_box_and_axes_are_found_to_a_pixel() -> None:
    image = drawn(lambda a: (sine(a), a.set_xlim(0, 10), a.set_ylim(-1.5, 1.5)))
    found = extract(image)
    assert found.box.left == pytest.approx(LEFT, abs=0.8)
    assert found.box.bottom == pytest.approx(BOTTOM, abs=0.8)
    assert wrong_by(found.x_axis, {LEFT: 0.0, RIGHT: 10.0}) < 1.0
    assert wrong_by(found.y_axis, {BOTTOM: -1.5, TOP: 1.5}) < 1.0
    assert found.calibrated
    assert not found.warnings


@pytest.mark.parametrize(
    ("put", "check"),
    [
        (
            lambda a: (a.semilogy(X, np.exp(X)), a.set_ylim(1, 1e5)),
            lambda p: p.y_axis.scale == "log" and wrong_by(p.y_axis, {BOTTOM: 1, TOP: 1e5}) < 1.5,
        ),
        (
            lambda a: (a.plot(X, np.sin(X) * 3e6), a.set_ylim(-4e6, 4e6)),
            lambda p: wrong_by(p.y_axis, {BOTTOM: -4e6, TOP: 4e6}) < 1.5,
        ),
        (
            lambda a: (
                a.plot(X + 285, X),
                a.set_xlim(300, 280),
                a.set_xlabel("Binding energy [eV]"),
            ),
            lambda p: p.x_axis.slope < 0 and p.x_axis.unit == "eV",
        ),
        (
            lambda a: (sine(a), a.spines[["top", "right"]].set_visible(False)),
            lambda p: p.calibrated and p.box.top == pytest.approx(TOP, abs=1.5),
        ),
        (
            lambda a: (a.plot(X + 8980, X), a.yaxis.set_major_formatter("{x:,.3f}")),
            lambda p: wrong_by(p.x_axis, {0.0: float(p.x_axis.value(0.0))}) == 0 and p.calibrated,
        ),
        (
            lambda a: (sine(a), a.tick_params(direction="in", top=True, right=True)),
            lambda p: p.calibrated,
        ),
    ],
    ids=["log", "multiplier", "reversed", "two spines", "thousands", "ticks inside"],
)
def test_axes_of_many_looks(put: Any, check: Any) -> None:
    assert check(extract(drawn(put)))


def test_white_on_dark_and_on_another_ground() -> None:
    dark = {"axes__facecolor": "black", "figure__facecolor": "black", "text__color": "white"}
    dark |= {f"{k}__color": "white" for k in ("xtick", "ytick")} | {"axes__edgecolor": "white"}
    assert extract(drawn(lambda a: a.plot(X, np.sin(X), "w"), **dark)).calibrated
    bare = {"axes__facecolor": "#E5E5E5", "axes__edgecolor": "white", "axes__grid": True}
    bare |= {"grid__color": "white", "axes__axisbelow": True}
    found = extract(drawn(lambda a: a.plot(X, np.sin(X), "r"), **bare))
    assert found.calibrated
    assert found.box.right == pytest.approx(RIGHT, abs=1.5)


def test_a_scan_that_lies_askew_is_set_right() -> None:
    from PIL import Image

    image = drawn(lambda a: (sine(a), a.set_xlim(0, 10), a.set_ylim(-1.5, 1.5)), dpi=150)
    scan = Image.fromarray(image).rotate(0.7, Image.Resampling.BICUBIC, fillcolor="white")
    found = extract(scan)
    assert found.angle == pytest.approx(-0.7, abs=0.06)
    (curve,) = found.curves
    assert np.median(np.abs(curve.y - np.sin(curve.x))) < 0.03
    # Back in the scan the points lie on its ink.
    px = found.before_turning(curve.px)
    ink = np.asarray(scan.convert("L"))[px[:, 1].astype(int), px[:, 0].astype(int)]
    assert (ink < 160).mean() > 0.8


def test_panels_are_read_each_with_its_own_axes() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), dpi=100, layout="tight")
    canvas = FigureCanvasAgg(figure)
    for i, axes in enumerate(figure.subplots(2, 2).flat, 1):
        axes.plot(X * i, np.sin(X), "k")
        axes.set_xlim(0, 10 * i)
    canvas.draw()
    found = extract_all(np.asarray(canvas.buffer_rgba()))
    assert len(found) == 4
    ends = [float(plot.x_axis.value(plot.box.right)) for plot in found]
    assert ends == pytest.approx([10, 20, 30, 40], rel=0.01)
    assert all(plot.right_axis is None for plot in found)


def test_panels_that_share_a_spine_are_parted() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(dpi=120)
    canvas = FigureCanvasAgg(figure)
    for i, axes in enumerate(figure.subplots(2, 1, sharex=True, gridspec_kw={"hspace": 0}), 1):
        axes.plot(X, i * np.sin(X), "k")
        axes.set_ylim(-1.5 * i, 1.5 * i)
    canvas.draw()
    found = extract_all(np.asarray(canvas.buffer_rgba()))
    assert [float(p.y_axis.value(p.box.top)) for p in found] == pytest.approx([1.5, 3.0], rel=0.02)
    assert all(plot.x_axis.calibrated for plot in found)


def test_a_second_y_axis_is_told_and_its_curve_found_by_colour() -> None:
    def put(axes: Any) -> None:
        axes.plot(X, np.sin(X), color="#1f77b4")
        other = axes.twinx()
        other.plot(X, 100 * X, color="#d62728")
        other.tick_params(colors="#d62728")

    found = extract(drawn(put, dpi=130))
    assert found.right_axis is not None
    sides = {curve.axis: curve for curve in found.curves}
    assert sides["right"].y.max() == pytest.approx(1000, rel=0.02)
    assert sides["left"].y.max() == pytest.approx(1.0, abs=0.03)


# --- what can't be read -------------------------------------------------------------------------


def test_without_labels_values_are_pixels_and_that_is_said() -> None:
    found = extract(drawn(lambda a: (sine(a), a.set_xticklabels([]), a.set_yticklabels([]))))
    assert not found.calibrated
    assert {w.split()[1] for w in found.warnings} == {"x", "y"}
    assert all("--" in warning for warning in found.warnings)
    np.testing.assert_allclose(found.curves[0].x, found.curves[0].px[:, 0])


def test_labels_that_are_no_scale_are_not_made_one() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)

        def put(axes: Any, rng: np.random.Generator = rng) -> None:
            sine(axes)
            axes.set_xticks([0, 2, 4, 6, 8, 10], [str(v) for v in rng.integers(100, 9999, 6)])
            axes.set_yticks([-1, 0, 1, 2], list("abcd"))

        assert not extract(drawn(put)).calibrated


def test_a_picture_without_a_plot_is_refused() -> None:
    rng = np.random.default_rng(1)
    noise = np.cumsum(rng.normal(size=(300, 400, 3)), axis=1)
    photo = np.uint8(255 * (noise - noise.min()) / np.ptp(noise))
    for image in (photo, np.full((300, 400), 255, np.uint8)):
        with pytest.raises(NoPlotFoundError, match="give its box"):
            extract(image)


@pytest.mark.parametrize(
    ("image", "settings", "said"),
    [
        ("missing.png", {}, "there is no file missing.png"),
        (np.zeros((4, 4)), {}, "4 by 4 pixels is too small"),
        (np.zeros((100, 100), complex), {}, "uint8, or floats from 0 to 1, got complex128"),
        (np.zeros((100, 100, 5), np.uint8), {}, r"got \(100, 100, 5\)"),
        (np.full((100, 100), 2.0), {}, "from 0 to 1"),
        (np.zeros((100, 100)), {"mode": "lines"}, "mode is 'auto'"),
        (np.zeros((100, 100)), {"n_curves": 0}, "n_curves lies between 1 and"),
        (np.zeros((100, 100)), {"box": (0, 0, 200, 50)}, "does not lie in the image"),
        (np.zeros((100, 100)), {"box": (5, 5, 5, 50)}, "left < right"),
        (np.zeros((100, 100)), {"calibration": {"z": Axis()}}, "axes x, y and right, got 'z'"),
    ],
)
def test_bad_input_is_told_in_one_line(image: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=said) as told:
        extract(image, **settings)
    assert "\n" not in str(told.value)


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_text("not an image")
    with pytest.raises(ValueError, match=r"a\.png is not an image"):
        extract(file)


def test_box_and_calibration_may_be_given() -> None:
    image = drawn(lambda a: (sine(a), a.set_xlim(0, 10), a.set_ylim(-1.5, 1.5)))
    slope = -3 / (BOTTOM - TOP)
    axes = {
        "x": Axis(slope=10 / (RIGHT - LEFT), intercept=-10 * LEFT / (RIGHT - LEFT)),
        "y": Axis(slope=slope, intercept=-1.5 - slope * BOTTOM),
    }
    found = extract(image, box=(LEFT, TOP, RIGHT, BOTTOM), calibration=axes, ocr="off")
    (curve,) = found.curves
    assert np.abs(curve.y - np.sin(curve.x)).max() < 0.05


# --- numbers and lines --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1.50", -1.5),
        ("−3", -3.0),
        ("1,000", 1000.0),
        ("0,5", 0.5),
        ("2.5e-3", 0.0025),
        ("10k", 1e4),
        ("5 M", 5e6),
        ("O.2", 0.2),
        ("l0", 10.0),
        ("u150", 150.0),
        ("10²", 100.0),
        ("75%", 75.0),
    ],
)
def test_what_labels_say(text: str, value: float) -> None:
    assert value in [reading.value for reading in readings(text)]


def test_powers_and_factors() -> None:
    assert [r.value for r in readings("2×10", "4")] == [2e4]
    assert readings("foo", "4") == []
    assert [multiplier("1e-6"), multiplier("x10", "3"), multiplier("10")] == [1e-6, 1e3, None]


def labels(values: list[float], slope: float = 20.0, start: float = 50.0) -> list[Label]:
    return [
        Label(start + slope * i, f"{v:g}", tuple(readings(f"{v:g}"))) for i, v in enumerate(values)
    ]


def test_a_lost_point_is_found_by_the_others() -> None:
    # 17.5, 12.5, 7.5 and 2.5, of which two lost their points.
    said = ["175", "15.0", "125", "10.0", "7.5", "5.0", "2.5", "0.0"]
    found = fit_axis([Label(20.0 * i, s, tuple(readings(s))) for i, s in enumerate(said)])
    assert found is not None
    assert float(found.value(0.0)) == pytest.approx(17.5)


def test_three_of_five_numbers_on_a_line_are_no_scale() -> None:
    assert fit_axis(labels([2440, 2576, 1476, 1971, 781])) is None
    found = fit_axis(labels([0, 50, 9, 150, 200]))
    assert found is not None
    assert [tick.inlier for tick in found.ticks] == [True, True, False, True, True]


def test_two_labels_need_marks_that_confirm_them() -> None:
    decades = [Label(100.0, "1", tuple(readings("1"))), Label(300.0, "10", tuple(readings("10")))]
    minor = [100 + 200 * math.log10(k) for k in range(1, 10)] + [300.0]
    found = fit_two(decades, minor, 2.0)
    assert found is not None
    assert found.scale == "log"
    even = fit_two(decades, [100.0, 200.0, 300.0], 2.0)
    assert even is not None
    assert (even.scale, float(even.value(200.0))) == ("linear", pytest.approx(5.5))
    assert fit_two(decades, [100.0, 170.0, 300.0], 2.0) is None
    assert fit_two(decades[:1], minor, 2.0) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 2000), st.text(max_size=6)), max_size=8),
    st.sampled_from([0.5, 1.6, 3.0]),
)
def test_any_labels_give_an_axis_or_none(said: list[tuple[float, str]], tolerance: float) -> None:
    found = fit_axis([Label(px, text, tuple(readings(text))) for px, text in said], tolerance)
    if found is not None:
        assert math.isfinite(found.slope)
        assert found.slope != 0
        assert sum(tick.inlier for tick in found.ticks) >= 3
        assert found.residual_px <= tolerance


def test_axes_map_there_and_back() -> None:
    for axis in (Axis(slope=-0.25, intercept=3.0), Axis("log", slope=0.01, intercept=-2.0)):
        np.testing.assert_allclose(axis.px(axis.value([1.0, 55.5, 700.0])), [1.0, 55.5, 700.0])
    assert np.isnan(Axis("log", 0.01, 0.0).px([-1.0, 0.0])[0])
    for bad in ({"slope": 0.0}, {"slope": math.nan}, {"scale": "cubic"}):
        with pytest.raises(ValueError, match=r"scale must be|finite slope"):
            Axis(**bad)  # type: ignore[arg-type]


def test_frames_of_a_result() -> None:
    blank = PlotData((), Axis(), Axis(), extract(drawn(sine)).box)
    assert list(blank.to_frame().columns) == ["curve", "x", "y", "column", "row"]
