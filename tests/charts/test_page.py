"""The page on which a calibration is put right, in a real browser, as a reader uses it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from browser import DESKTOP, PHONE, Visits, axe, no_sideways_scroll

from probatum.charts import Axis, Box, Curve, PlotData, correction_page, overlay
from probatum.charts.plot_data import Tick

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVIL = "</script><img src=x onerror=alert(1)>"
NAMES = (EVIL, 'a "quoted", name\nof two lines', "=1+2; <!-- ü")
SIZE = (500, 800)
BOX = Box(80.5, 40.5, 720.5, 440.5)


def axis(start: tuple[float, float], end: tuple[float, float], scale: str = "linear") -> Axis:
    """An axis through two places with their values, and five labels along it."""
    u, v = (np.log10(at[1]) if scale == "log" else at[1] for at in (start, end))
    slope = (v - u) / (end[0] - start[0])
    plain = Axis(scale, slope, u - slope * start[0])  # type: ignore[arg-type]
    places = np.linspace(start[0], end[0], 5)
    ticks = [Tick(float(p), float(plain.value(p)), f"{float(plain.value(p)):g}") for p in places]
    ticks[2] = replace(ticks[2], text=EVIL, inlier=False)
    return replace(plain, ticks=tuple(ticks), label=EVIL)


def plot(names: Sequence[str] = NAMES, points: int = 300) -> PlotData:
    """A line, markers and a line of the right axis, whose names are hostile."""
    x = axis((100.5, 0.1), (700.5, 12.5))
    y = axis((430.5, -3.0), (50.5, 7.0))
    right = axis((430.5, 1e-3), (50.5, 1e4), "log")
    columns = np.linspace(81, 720, points)
    wave = np.stack([columns, 240 + 150 * np.sin(columns / 37.7)], axis=1)
    dots = np.stack([columns[::20], 100 + columns[::20] / 3], axis=1)
    slope = np.stack([columns, 430 - columns / 2], axis=1)
    curves = [
        Curve(name, x.value(px[:, 0]), of.value(px[:, 1]), px, color, kind, 0.9, side)  # type: ignore[arg-type]
        for name, px, of, color, kind, side in (
            (names[0], wave, y, (200, 0, 0), "function", "left"),
            (names[1], dots, y, (0, 90, 0), "markers", "left"),
            (names[2], slope, right, (0, 0, 200), "loop", "right"),
        )
    ]
    image = np.full((*SIZE, 3), 255, np.uint8)
    image[440, 80:720] = image[40:440, 80] = 0
    return PlotData(tuple(curves), x, y, BOX, right, (f"look at {EVIL}",), 0.0, image)


def opened(
    visits: Visits, folder: Path, plots: Sequence[PlotData], name: str = "figure", **how: Any
) -> Page:
    (folder / "page.html").write_text(correction_page(plots, name), encoding="utf-8", newline="")
    return visits.open(folder, "page.html", **how)


def downloaded(page: Page, button: str) -> tuple[str, str]:
    """Name and text of what a button gives."""
    with page.expect_download() as waiting:
        page.click(button)
    found = waiting.value
    return found.suggested_filename, Path(found.path()).read_bytes().decode()


def table(page: Page, within: str = "#plot-0") -> pd.DataFrame:
    _, text = downloaded(page, f"{within} .csv")
    assert text.startswith("curve,x,y,column,row\n")
    return pd.read_csv(io.StringIO(text))


def handle(page: Page, name: str, i: int) -> tuple[float, float]:
    """The middle of a handle on the screen."""
    box = page.locator(f"#plot-0 .handle[data-axis='{name}'][data-i='{i}']").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def value_of(page: Page, label: str) -> str:
    return page.get_by_label(label, exact=True).first.input_value()


def moved(of: Axis, i: int, to: float, values: Callable[[float], float] = float) -> Axis:
    """The axis after one of its handles, at its outermost labels, was moved."""
    places = sorted(tick.px for tick in of.ticks if tick.inlier)
    ends = [places[0], places[-1]]
    u, v = (float(np.log10(e)) if of.scale == "log" else float(e) for e in of.value(ends))
    ends[i] = to
    slope = (v - u) / (ends[1] - ends[0])
    return Axis(of.scale, slope, u - slope * ends[0])


def test_untouched_the_csv_is_that_of_python(visits: Visits, tmp_path: Path) -> None:
    read = plot()
    page = opened(visits, tmp_path, [read])
    name, text = downloaded(page, ".csv")
    assert name == "figure.csv"
    theirs, ours = pd.read_csv(io.StringIO(text)), read.to_frame()
    assert list(theirs["curve"]) == list(ours["curve"])
    assert set(theirs["curve"]) == set(NAMES)
    numbers = ["x", "y", "column", "row"]
    np.testing.assert_allclose(theirs[numbers], ours[numbers], rtol=1e-6, atol=1e-6)
    most = max(
        len(re.sub(r"e.*|[-.]", "", n).lstrip("0")) for n in re.findall(r",(-?[\d.e-]+)", text)
    )
    assert most == 10
    assert "3 of 3 curves" in page.locator(".said").inner_text()


def test_long_curves_are_whole(visits: Visits, tmp_path: Path) -> None:
    read = plot(points=30_000)
    assert len(table(opened(visits, tmp_path, [read]))) == len(read.to_frame())


def test_nothing_hostile_becomes_markup(visits: Visits, tmp_path: Path) -> None:
    page = opened(visits, tmp_path, [plot()], name=EVIL)
    assert page.locator("img").count() == 0
    assert page.title().startswith(EVIL)
    assert page.locator(".warning li").inner_text() == f"look at {EVIL}"
    assert value_of(page, "name of the curve") == EVIL
    assert page.locator(".curves .swatch").count() == 3


def test_a_handle_dragged_changes_the_numbers(visits: Visits, tmp_path: Path) -> None:
    read = plot()
    page = opened(visits, tmp_path, [read])
    assert page.locator(".handle").count() == 6
    before = table(page)
    x, y = handle(page, "x", 1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 20, y + 3)
    page.mouse.move(x - 40, y + 3)
    page.mouse.up()
    scale = SIZE[1] / page.locator("#plot-0 .figure").bounding_box()["width"]  # type: ignore[index]
    now = float(page.locator(".handle[data-axis=x][data-i='1']").get_attribute("aria-valuenow"))  # type: ignore[arg-type]
    assert now == pytest.approx(700.5 - 40 * scale, abs=0.2)
    assert float(value_of(page, "x handle 2, pixel")) == now
    after = table(page)
    expected = moved(read.x_axis, 1, 700.5 - 40 * scale).value(before["column"])
    np.testing.assert_allclose(after["x"], expected, rtol=2e-3)
    assert (after["y"] == before["y"]).all()
    # Let go, it stays where it is.
    page.mouse.move(x + 60, y)
    assert (table(page)["x"] == after["x"]).all()


@pytest.mark.parametrize(
    ("key", "name", "i", "step"),
    [
        ("ArrowRight", "x", 0, 1.0),
        ("ArrowLeft", "x", 1, -1.0),
        ("Shift+ArrowRight", "x", 0, 10.0),
        ("Alt+ArrowLeft", "x", 1, -0.1),
        ("ArrowDown", "y", 0, 1.0),
        ("Shift+ArrowUp", "right", 1, -10.0),
    ],
)
def test_keys_move_a_handle(
    visits: Visits, tmp_path: Path, key: str, name: str, i: int, step: float
) -> None:
    read = plot()
    page = opened(visits, tmp_path, [read])
    page.locator(f".handle[data-axis={name}][data-i='{i}']").focus()
    for _ in range(3):
        page.keyboard.press(key)
    of = {"x": read.x_axis, "y": read.y_axis, "right": read.right_axis}[name]
    assert of is not None
    start = sorted(tick.px for tick in of.ticks)[-i]
    after = table(page)
    curve = after["curve"] == (NAMES[2] if name == "right" else NAMES[0])
    seen, px = ("x", "column") if name == "x" else ("y", "row")
    expected = moved(of, i, start + 3 * step).value(after[px][curve])
    np.testing.assert_allclose(after[seen][curve], expected, rtol=1e-6, atol=1e-6)


def test_values_and_scale_can_be_changed(visits: Visits, tmp_path: Path) -> None:
    read = plot()
    page = opened(visits, tmp_path, [read])
    page.get_by_label("y handle 1, value").fill("10")
    page.get_by_label("y handle 2, value").fill("1e3")
    page.get_by_label("y scale").select_option("log")
    after = table(page)
    left = after["curve"] != NAMES[2]
    # The first handle is the upper one.
    slope = (3 - 1) / (430.5 - 50.5)
    expected = Axis("log", slope, 1 - slope * 50.5).value(after["row"][left])
    np.testing.assert_allclose(after["y"][left], expected, rtol=1e-6)
    page.get_by_label("x handle 1, pixel").fill("120")
    page.keyboard.press("Enter")
    after = table(page)
    expected = moved(read.x_axis, 0, 120.0).value(after["column"])
    np.testing.assert_allclose(after["x"], expected, rtol=1e-6, atol=1e-6)
    page.click(".reset")
    numbers = ["x", "y", "column", "row"]
    np.testing.assert_allclose(table(page)[numbers], read.to_frame()[numbers], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ({"x handle 1, value": "twelve"}, "x axis needs two numbers"),
        ({"x handle 1, value": "1,5"}, "x axis needs two numbers"),
        ({"y handle 2, value": ""}, "y axis needs two numbers"),
        ({"y handle 2, value": "1e999"}, "y axis needs two numbers"),
        ({"x handle 1, value": "12.5"}, "x axis needs two different values"),
        ({"right handle 1, value": "-1"}, "right axis is log and needs two values above 0"),
    ],
)
def test_wrong_values_are_named_and_give_no_file(
    visits: Visits, tmp_path: Path, do: dict[str, str], said: str
) -> None:
    page = opened(visits, tmp_path, [plot()])
    for label, text in do.items():
        page.get_by_label(label).fill(text)
    assert said in page.locator(".axes-error").inner_text()
    assert page.locator(".csv").is_disabled()
    assert page.locator(".json").is_disabled()
    page.click(".reset")
    assert page.locator(".axes-error").inner_text() == ""
    assert page.locator(".csv").is_enabled()


def test_two_handles_at_one_place_are_refused(visits: Visits, tmp_path: Path) -> None:
    page = opened(visits, tmp_path, [plot()])
    field = page.get_by_label("x handle 1, pixel")
    field.fill("700.5")
    field.press("Enter")
    assert "both handles at one place" in page.locator(".axes-error").inner_text()
    assert page.locator(".csv").is_disabled()
    field.fill("nonsense")
    field.press("Enter")
    assert field.input_value() == "700.5"


def test_curves_are_dropped_and_renamed(visits: Visits, tmp_path: Path) -> None:
    page = opened(visits, tmp_path, [plot()])
    lines = page.locator(".drawn polyline.curve").count()
    page.locator(".curves input[type=checkbox]").nth(2).uncheck()
    assert page.locator(".drawn polyline.curve").count() == lines - 1
    page.get_by_label("name of the curve").nth(0).fill('new, "name"')
    found = table(page)
    assert set(found["curve"]) == {'new, "name"', NAMES[1]}
    page.get_by_label("y axis of", exact=False).nth(1).select_option("right")
    other = table(page)
    dots = other["curve"] == NAMES[1]
    right = plot().right_axis
    assert right is not None
    np.testing.assert_allclose(other["y"][dots], right.value(other["row"][dots]), rtol=1e-6)


def test_the_calibration_is_json_and_claims_no_more_than_is_known(
    visits: Visits, tmp_path: Path
) -> None:
    read = replace(plot(), y_axis=Axis(calibrated=False, sure=0.0))
    page = opened(visits, tmp_path, [read])
    name, text = downloaded(page, ".json")
    assert name == "figure.calibration.json"
    found = json.loads(text)
    assert found["axes"]["x"]["slope"] == pytest.approx(read.x_axis.slope, rel=1e-9)
    assert found["axes"]["right"]["scale"] == "log"
    assert [one["name"] for one in found["curves"]] == list(NAMES)
    assert found["axes"]["x"]["calibrated"] is True
    assert found["axes"]["y"]["calibrated"] is False
    assert (found["axes"]["y"]["slope"], found["axes"]["y"]["intercept"]) == (1.0, 0.0)
    page.get_by_label("y handle 1, value").fill("0")
    page.get_by_label("y handle 2, value").fill("1")
    assert json.loads(downloaded(page, ".json")[1])["axes"]["y"]["calibrated"] is True


def test_several_plots_do_not_touch_each_other(visits: Visits, tmp_path: Path) -> None:
    first = plot()
    page = opened(visits, tmp_path, [first, replace(first, right_axis=None)])
    page.locator("#plot-1").get_by_label("x handle 1, value").fill("5")
    name, _ = downloaded(page, "#plot-1 .csv")
    assert name == "figure-2.csv"
    np.testing.assert_allclose(table(page)["x"], first.to_frame()["x"], rtol=1e-6)
    assert abs(table(page, "#plot-1")["x"].min() - first.to_frame()["x"].min()) > 1
    assert page.locator("#plot-1 .handle").count() == 4
    for i in (0, 1):
        shown = page.locator(f"#plot-{i} [aria-label='The figure as it was given']").bounding_box()
        assert shown is not None
        assert shown["width"] > 300


def test_zoomed_in_the_handles_stay_on_the_figure(visits: Visits, tmp_path: Path) -> None:
    page = opened(visits, tmp_path, [plot()])
    wide = page.locator("#plot-0 .figure").bounding_box()["width"]  # type: ignore[index]
    knob = page.locator(".handle[data-axis=x][data-i='0']")
    size = knob.bounding_box()["width"]  # type: ignore[index]
    zoom = page.locator(".zoom")
    zoom.fill("400")
    now = page.locator("#plot-0 .figure").bounding_box()
    assert now is not None
    assert now["width"] == pytest.approx(4 * wide, rel=0.03)
    box = knob.bounding_box()
    assert box is not None
    assert box["width"] == pytest.approx(size, rel=0.05)
    middle = box["x"] + box["width"] / 2 - now["x"]
    assert middle / now["width"] == pytest.approx(100.5 / SIZE[1], abs=1e-3)
    no_sideways_scroll(page)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_it_is_accessible_and_fits(
    visits: Visits, tmp_path: Path, size: tuple[int, int], dark: bool
) -> None:
    page = opened(visits, tmp_path, [plot(), plot()], size=size, dark=dark)
    page.get_by_label("x handle 1, value").first.fill("?")
    no_sideways_scroll(page)
    assert axe(page) == []


def test_a_finger_drags_a_handle_and_scrolls_elsewhere(visits: Visits, tmp_path: Path) -> None:
    page = opened(visits, tmp_path, [plot(), plot()], size=PHONE)
    page.locator(".figure").first.scroll_into_view_if_needed()
    touch = page.context.new_cdp_session(page)

    def swipe(x: float, y: float, dx: float, dy: float) -> None:
        def put(kind: str, share: float) -> None:
            points = [{"x": x + share * dx, "y": y + share * dy}] if kind != "touchEnd" else []
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        put("touchStart", 0)
        for share in np.linspace(0.1, 1, 10):
            put("touchMove", float(share))
        put("touchEnd", 1)

    knob = page.locator("#plot-0 .handle[data-axis=y][data-i='1']")
    box = knob.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 15
    before, scrolled = float(value_of(page, "y handle 2, pixel")), page.evaluate("scrollY")
    swipe(*handle(page, "y", 1), 0, -30)
    page.wait_for_timeout(100)
    # Labels of the y axis are sorted from the top: the second handle is the lower one.
    assert float(value_of(page, "y handle 2, pixel")) < before - 30
    assert page.evaluate("scrollY") == scrolled
    x, y = handle(page, "x", 0)
    swipe(x + 60, y - 60, 0, -50)
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") > scrolled


def test_without_scripts_the_figure_and_the_warnings_are_there(
    visits: Visits, tmp_path: Path
) -> None:
    page = opened(visits, tmp_path, [plot(), plot()], scripts=False)
    assert page.locator(".warning li").first.is_visible()
    assert page.locator("noscript .warning").is_visible()
    for figure in page.locator(".figure").all():
        box = figure.bounding_box()
        assert box is not None
        assert box["height"] / box["width"] == pytest.approx(SIZE[0] / SIZE[1], rel=0.02)
    assert not page.locator(".csv").first.is_visible()
    assert not page.locator(".zoom").first.is_visible()


def test_a_figure_of_two_plots_opens_soon_and_is_light(visits: Visits, tmp_path: Path) -> None:
    one = plot(points=1600)
    noisy = np.random.default_rng(0).integers(200, 256, (1200, 1600, 3)).astype(np.uint8)
    text = correction_page([replace(one, image=noisy)] * 2, "figure")
    assert len(text) < 3e6
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    # The best of three: a busy machine is no slow page.
    took = []
    for _ in range(3):
        page = visits.open(tmp_path, "page.html")
        assert page.locator("#plot-1 .handle").count() == 6
        took.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert min(took) < 1000, f"{took} ms"


def test_nothing_leaves_the_page(visits: Visits, tmp_path: Path) -> None:
    page = opened(visits, tmp_path, [plot()])
    downloaded(page, ".csv")
    asked = [url for url in visits.requests if not url.startswith(("data:", "blob:"))]
    assert asked == [page.url]
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert policy is not None
    assert "unsafe" not in policy


def test_the_overlay_marks_curves_on_the_washed_out_figure() -> None:
    read = plot()
    shown = overlay(read)
    assert shown.shape == (*SIZE, 3)
    assert shown.dtype == np.uint8
    assert tuple(shown[240, 760]) == (255, 255, 255)
    for curve in read.curves:
        column, row = curve.px[len(curve.px) // 2]
        near = shown[int(row) - 4 : int(row) + 5, int(column) - 4 : int(column) + 5].astype(int)
        assert (np.ptp(near, axis=2) > 60).any()


def test_a_page_needs_images() -> None:
    bare = replace(plot(), image=None)
    with pytest.raises(ValueError, match="image"):
        correction_page([bare], "figure")
    with pytest.raises(ValueError, match="image"):
        overlay(bare)
