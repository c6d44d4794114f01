"""Tracing on images whose curves are known to the pixel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageDraw

from probatum.charts.plot_data import Box
from probatum.charts.recall import LineRecall, closeness
from probatum.charts.tracing import TextBox, TraceOptions, trace

WIDTH, HEIGHT = 400, 300
BOX = Box(20.5, 20.5, 379.5, 279.5)
X = np.linspace(30.0, 370.0, 681)
BLUE, RED = (31, 119, 180), (214, 39, 40)


def drawn(*lines, color=(0, 0, 0), width=2.0, paper=(255, 255, 255), frame=None, under=None):
    """An image of polylines, drawn four times as large and scaled down."""
    k = 4
    image = Image.new("RGB", (WIDTH * k, HEIGHT * k), paper)
    draw = ImageDraw.Draw(image)
    ink = frame or tuple(255 - c for c in paper)
    draw.rectangle([BOX.left * k, BOX.top * k, BOX.right * k, BOX.bottom * k], outline=ink, width=k)
    if under:
        under(draw, k)
    colors = color if isinstance(color, list) else [color] * len(lines)
    for line, one in zip(lines, colors, strict=True):
        points = [(float(x) * k, float(y) * k) for x, y in line]
        draw.line(points, fill=one, width=round(width * k), joint="curve")
    return np.asarray(image.resize((WIDTH, HEIGHT), Image.Resampling.BOX))


def curve(y):
    return np.stack([X, y], axis=1)


def recovered(tracks, *truth):
    return len(LineRecall().score([t.px for t in tracks], truth).recovered)


def away(track, truth):
    return closeness(track.px, truth, BOX.height)


def test_one_curve_to_a_fraction_of_a_pixel():
    truth = curve(150 + 80 * np.sin(X / 50))
    (track,) = trace(drawn(truth, color=BLUE), BOX)
    assert track.kind == "function"
    assert np.abs(np.array(track.color) - BLUE).max() <= 6
    assert away(track, truth).median * BOX.height < 0.3
    assert abs(track.px[0, 0] - 30) < 2.5
    assert abs(track.px[-1, 0] - 370) < 2.5
    assert track.support == 1.0
    assert track.stroke == pytest.approx(2, abs=1.01)


def test_pixels_are_counted_from_the_corner_of_the_first():
    truth = curve(np.full_like(X, 140.0))
    (track,) = trace(drawn(truth), BOX)
    assert np.median(track.px[:, 1]) == pytest.approx(140.0, abs=0.3)
    shifted = np.roll(drawn(truth), 1, axis=0)
    (lower,) = trace(shifted, Box(BOX.left, BOX.top + 1, BOX.right, BOX.bottom + 1))
    assert np.median(lower.px[:, 1]) == pytest.approx(141.0, abs=0.3)


def test_crossing_curves_of_one_colour_keep_their_identity():
    up, down = curve(150 + 90 * np.sin(X / 45)), curve(150 - 90 * np.sin(X / 45))
    tracks = trace(drawn(up, down), BOX, mode="function")
    assert len(tracks) == 2
    for truth in (up, down):
        best = min(tracks, key=lambda t: away(t, truth).p95)
        assert away(best, truth).p95 < 0.02


def test_a_shallow_crossing_goes_straight_on():
    up, down = curve(150 + (X - 200) * 0.06), curve(150 - (X - 200) * 0.06)
    tracks = trace(drawn(up, down), BOX, mode="function")
    assert len(tracks) == 2
    assert min(away(t, up).p95 for t in tracks) < 0.01
    assert min(away(t, down).p95 for t in tracks) < 0.01


def test_curves_that_touch_and_part_bounce():
    upper, lower = curve(145 - ((X - 200) / 14) ** 2), curve(149 + ((X - 200) / 14) ** 2)
    upper, lower = (np.clip(c, [0, 25], [999, 275]) for c in (upper, lower))
    tracks = trace(drawn(upper, lower), BOX, mode="function")
    assert len(tracks) == 2
    assert recovered(tracks, upper, lower) == 2


def test_without_prediction_or_joint_tracing_less_is_found():
    up, down = curve(150 + (X - 200) * 0.3), curve(150 - (X - 200) * 0.3)
    image = drawn(up, down)
    assert recovered(trace(image, BOX), up, down) == 2
    alone = trace(image, BOX, options=TraceOptions(joint=False))
    assert recovered(alone, up, down) < 2


def test_colours_are_told_apart_where_they_cross():
    truth = [curve(150 + 60 * np.sin(X / 40 + k)) for k in range(3)]
    colors = [BLUE, RED, (44, 160, 44)]
    tracks = trace(drawn(*truth, color=colors), BOX)
    assert len(tracks) == 3
    assert recovered(tracks, *truth) == 3
    for color in colors:
        assert min(np.abs(np.array(t.color) - color).max() for t in tracks) <= 8


def test_grey_and_black_are_two_curves():
    truth = [curve(100 + 20 * np.sin(X / 40)), curve(200 + 20 * np.sin(X / 40))]
    tracks = trace(drawn(*truth, color=[(0, 0, 0), (150, 150, 150)]), BOX)
    assert sorted(t.color[0] > 75 for t in tracks) == [False, True]


def test_dashes_are_bridged():
    truth = curve(150 + 60 * np.sin(X / 60))
    pieces = [truth[i : i + 17] for i in range(0, len(truth) - 17, 30)]
    (track,) = trace(drawn(*pieces), BOX)
    assert away(track, truth).median < 0.005
    assert 0.4 < track.support < 1.0


def test_a_gap_of_two_pixels_is_one_curve():
    truth = curve(120 + X / 10)
    image = drawn(truth).copy()
    image[30:270, 200:202] = 255
    assert len(trace(image, BOX)) == 1


def test_two_parallel_curves_with_two_pixels_between_them():
    truth = [curve(np.full_like(X, 120.0)), curve(np.full_like(X, 124.0))]
    tracks = trace(drawn(*truth), BOX, mode="function")
    rows = sorted(float(np.median(t.px[:, 1])) for t in tracks)
    assert rows == pytest.approx([120.0, 124.0], abs=0.3)


def test_the_height_of_a_steep_peak():
    truth = curve(250 - 200 * np.exp(-(((X - 200) / 2.5) ** 2)))
    (track,) = trace(drawn(truth), BOX)
    assert track.px[:, 1].min() == pytest.approx(50.0, abs=2.5)
    assert track.px[track.px[:, 1].argmin(), 0] == pytest.approx(200.0, abs=1.5)


def test_gridlines_are_no_curves():
    def grid(draw, k):
        for x in range(60, 380, 40):
            draw.line([x * k, BOX.top * k, x * k, BOX.bottom * k], fill=(200, 200, 200), width=k)
        for y in range(50, 280, 40):
            draw.line([BOX.left * k, y * k, BOX.right * k, y * k], fill=(200, 200, 200), width=k)

    truth = curve(150 + 80 * np.sin(X / 50))
    (track,) = trace(drawn(truth, under=grid), BOX)
    assert away(track, truth).p95 < 0.01
    assert trace(drawn(under=grid), BOX) == ()


def test_dashed_gridlines_are_no_curves():
    def grid(draw, k):
        for y in range(50, 280, 40):
            for x in range(21, 376, 8):
                draw.line([x * k, y * k, (x + 4) * k, y * k], fill=(190, 190, 190), width=k)

    truth = curve(150 + 80 * np.sin(X / 50))
    (track,) = trace(drawn(truth, under=grid), BOX)
    assert away(track, truth).p95 < 0.01


def test_a_shaded_band_is_background():
    def band(draw, k):
        draw.rectangle(
            [150 * k, BOX.top * k + k, 220 * k, BOX.bottom * k - k], fill=(250, 225, 170)
        )

    truth = curve(150 + 80 * np.sin(X / 50))
    (track,) = trace(drawn(truth, color=BLUE, under=band), BOX)
    assert away(track, truth).p95 < 0.01


def test_white_on_dark():
    truth = curve(150 + 80 * np.sin(X / 50))
    (track,) = trace(drawn(truth, color=(250, 240, 200), paper=(15, 25, 40)), BOX)
    assert away(track, truth).p95 < 0.01


def test_a_loop_is_closed_and_in_order():
    t = np.linspace(0, 2 * np.pi, 400)
    truth = np.stack([200 + 130 * np.cos(t), 150 + 80 * np.sin(t)], axis=1)
    (track,) = trace(drawn(truth), BOX)
    assert track.kind == "loop"
    assert track.closed
    assert np.allclose(track.px[0], track.px[-1])
    angles = np.unwrap(np.arctan2((track.px[:, 1] - 150) / 80, (track.px[:, 0] - 200) / 130))
    assert abs(angles[-1] - angles[0]) == pytest.approx(2 * np.pi, abs=0.1)
    assert recovered([track], truth) == 1
    apart = trace(drawn(truth), BOX, mode="function")
    assert [t.kind for t in apart] == ["function", "function"]


def test_a_sweep_with_upright_ends():
    there = np.array([[60.0, 120.0], [340.0, 100.0]])
    back = np.array([[340.0, 200.0], [60.0, 190.0]])
    truth = np.concatenate([there, back, there[:1]])
    (track,) = trace(drawn(truth), BOX)
    assert track.kind == "loop"
    assert track.closed
    assert recovered([track], truth) == 1


def test_markers_become_their_centres():
    centres = np.stack([np.arange(50.0, 360.0, 30.0), 150 + 8 * (np.arange(11) % 5)], axis=1)

    def dots(draw, k):
        for x, y in centres:
            draw.ellipse([(x - 4) * k, (y - 4) * k, (x + 4) * k, (y + 4) * k], fill=RED)

    (track,) = trace(drawn(under=dots), BOX)
    assert track.kind == "markers"
    assert np.abs(track.px - centres).max() < 0.5


def test_markers_are_found_on_a_line_when_asked_for():
    centres = np.stack([np.arange(50.0, 360.0, 30.0), np.full(11, 150.0)], axis=1)

    def dots(draw, k):
        for x, y in centres:
            draw.ellipse([(x - 5) * k, (y - 5) * k, (x + 5) * k, (y + 5) * k], fill=RED)

    image = drawn(curve(np.full_like(X, 150.0)), color=RED, under=dots)
    (track,) = trace(image, BOX, mode="markers")
    assert track.kind == "markers"
    assert np.abs(track.px - centres).max() < 1.0


def test_a_legend_names_curves_and_is_none():
    truth = [curve(120 + 30 * np.sin(X / 40)), curve(220 + 30 * np.sin(X / 40))]

    def legend(draw, k):
        for y, color in ((40, BLUE), (55, RED)):
            draw.line([300 * k, y * k, 320 * k, y * k], fill=color, width=2 * k)

    image = drawn(*truth, color=[BLUE, RED], under=legend)
    entries = [
        TextBox(Box(326, 35, 360, 45), "upper"),
        TextBox(Box(326, 50, 360, 60), "lower"),
    ]
    tracks = trace(image, BOX, text=entries)
    assert len(tracks) == 2
    names = {t.name: float(np.mean(t.px[:, 1])) for t in tracks}
    assert names["upper"] == pytest.approx(120, abs=12)
    assert names["lower"] == pytest.approx(220, abs=12)


def test_a_frame_around_a_legend_is_no_loop():
    def frame(draw, k):
        draw.rectangle([280 * k, 30 * k, 370 * k, 70 * k], outline=(90, 90, 90), width=k)

    truth = curve(200 + 30 * np.sin(X / 40))
    (track,) = trace(drawn(truth, color=BLUE, under=frame), BOX)
    assert away(track, truth).p95 < 0.01


def test_what_is_excluded_is_not_traced():
    outer, inner = curve(220 + 20 * np.sin(X / 40)), curve(80 + 20 * np.sin(X / 20))[300:500]
    image = drawn(outer, inner)
    tracks = trace(image, BOX, exclude=[Box(170, 50, 290, 110)])
    assert len(tracks) == 1
    assert recovered(tracks, outer) == 1


def test_the_number_of_curves_can_be_given():
    truth = [curve(100 + 20 * np.sin(X / 40)), curve(200 + 20 * np.sin(X / 40))]
    assert len(trace(drawn(*truth), BOX, n_curves=2)) == 2


@pytest.mark.parametrize("offset", [30, 22])
def test_a_stack_of_one_colour(offset):
    truth = [curve(60 + offset * k + 6 * np.sin(X / 15)) for k in range(7)]
    tracks = trace(drawn(*truth), BOX)
    assert len(tracks) == 7
    assert recovered(tracks, *truth) == 7


def test_an_empty_box_has_no_tracks():
    assert trace(drawn(), BOX) == ()
    assert trace(np.full((50, 50, 3), 255, np.uint8), Box(10, 10, 14, 14)) == ()


def test_wrong_arguments():
    image = drawn()
    with pytest.raises(ValueError, match="shape"):
        trace(image[..., 0], BOX)
    with pytest.raises(ValueError, match="uint8"):
        trace(image / 255.0, BOX)
    with pytest.raises(ValueError, match="mode is"):
        trace(image, BOX, mode="spiral")
    with pytest.raises(ValueError, match="at least 1"):
        trace(image, BOX, n_curves=0)


@settings(max_examples=30, deadline=None)
@given(
    arrays(np.uint8, (24, 32, 3), elements=st.sampled_from([0, 90, 200, 255])),
    st.sampled_from(["auto", "function", "loop", "markers"]),
    st.integers(0, 10),
    st.integers(0, 10),
)
def test_noise_gives_finite_points_within_the_box(image, mode, left, top):
    box = Box(left + 0.5, top + 0.5, 31.5, 23.5)
    for track in trace(image, box, mode=mode):
        assert track.px.ndim == 2
        assert np.isfinite(track.px).all()
        assert (track.px[:, 0] >= box.left).all()
        assert (track.px[:, 0] <= box.right).all()
        assert (track.px[:, 1] >= box.top).all()
        assert (track.px[:, 1] <= box.bottom).all()
        assert 0.0 <= track.support <= 1.0
        assert 0.0 <= track.ambiguity <= 1.0
