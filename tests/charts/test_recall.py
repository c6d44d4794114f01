"""The measure of recovered curves."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.charts.recall import LineRecall, closeness

LEVEL = np.array([[0.0, 50.5], [400.0, 50.5]])


def down(pixels):
    return LEVEL + np.array([0.0, pixels])


def test_a_level_line_counts_up_to_three_pixels_off():
    score = LineRecall().score
    assert score([down(3.0)], [LEVEL]).recovered == (0,)
    assert score([down(4.0)], [LEVEL]).recovered == ()


def test_overlap_of_level_lines_is_that_of_their_bands():
    # Two bands of 11 rows, 2 apart, share 9 of 13 rows; the ends are rounded off a little.
    share = LineRecall().overlaps([down(2.0)], [LEVEL])[0, 0]
    assert share == pytest.approx(9 / 13, abs=0.01)


def test_the_same_curve_with_other_points_overlaps_wholly():
    many = np.stack([np.linspace(0.0, 400.0, 4001), np.full(4001, 50.5)], axis=1)
    assert LineRecall().overlaps([many], [LEVEL])[0, 0] == 1.0


def test_band_is_a_disc_around_a_point():
    point = np.array([[20.5, 20.5]])
    inside = LineRecall(tol=5).overlaps([point], [point])
    assert inside[0, 0] == 1.0
    # Discs of radius 5 whose centres are 11 apart share nothing, at 10 they just touch.
    assert LineRecall(tol=5).overlaps([point], [np.array([[31.5, 20.5]])])[0, 0] == 0.0
    assert LineRecall(tol=5).overlaps([point], [np.array([[30.5, 20.5]])])[0, 0] > 0.0


def test_matching_is_one_to_one_and_counts_what_is_not_there():
    twice = LineRecall().score([LEVEL, LEVEL], [LEVEL, down(30.0)])
    assert twice.recall == 0.5
    assert twice.precision == 0.5
    assert len({i for i, _, _ in twice.matches}) == len(twice.matches)


def test_a_pair_above_the_bar_is_not_given_up_for_two_below():
    # The first read curve fits both true ones; the second fits only the first, barely.
    truth = [LEVEL, down(6.0)]
    read = [down(1.0), down(-8.0)]
    assert 0 in LineRecall().score(read, truth).recovered


def test_nothing_read_and_nothing_true():
    nothing_read = LineRecall().score([], [LEVEL])
    assert nothing_read.recall == 0.0
    assert np.isnan(nothing_read.precision)
    nothing_true = LineRecall().score([LEVEL], [])
    assert np.isnan(nothing_true.recall)
    assert nothing_true.precision == 0.0
    assert LineRecall().score([np.empty((0, 2))], [LEVEL]).recall == 0.0


def test_markers_are_compared_as_points_only_where_both_are():
    points = np.array([[10.0, 10.0], [200.0, 10.0], [100.0, 150.0]])
    shuffled = points[[2, 0, 1]]
    apart = LineRecall().score(
        [shuffled], [points], predicted_kinds=["markers"], truth_kinds=["markers"]
    )
    joined = LineRecall().score(
        [shuffled], [points], predicted_kinds=["function"], truth_kinds=["markers"]
    )
    assert apart.matches[0][2] == 1.0
    assert joined.matches[0][2] < 1.0


def test_breaks_are_not_drawn():
    broken = np.array([[0.0, 50.5], [100.0, 50.5], [np.nan, np.nan], [300.0, 50.5], [400.0, 50.5]])
    assert LineRecall().overlaps([broken], [LEVEL])[0, 0] == pytest.approx(0.5, abs=0.05)


def test_closeness_in_shares_of_the_range():
    x = np.linspace(0.0, 1.0, 101)
    true = np.stack([x, x**2], axis=1)
    off = true + np.array([0.0, 0.018])
    close = closeness(off, true, 2.0)
    assert close.median == pytest.approx(0.009)
    assert close.covered == 1.0
    assert close.accurate
    assert not closeness(true + np.array([0.0, 0.03]), true, 2.0).accurate
    assert not closeness(true[:40], true, 2.0).accurate
    assert closeness(np.empty((0, 2)), true, 1.0).covered == 0.0


@pytest.mark.parametrize("settings_", [{"tol": 0}, {"tol": 1e6}, {"iou": 0}, {"iou": 1.5}])
def test_settings_out_of_range(settings_):
    with pytest.raises(ValueError, match="lies between"):
        LineRecall(**settings_)


def test_wrong_shapes_and_ranges():
    with pytest.raises(ValueError, match="shape"):
        LineRecall().score([np.zeros(3)], [LEVEL])
    with pytest.raises(ValueError, match="too many"):
        LineRecall().score([LEVEL * 1e5], [LEVEL])
    with pytest.raises(ValueError, match="y_range"):
        closeness(LEVEL, LEVEL, 0.0)


def test_ten_curves_in_a_moment():
    x = np.arange(1000.0)
    curves = [np.stack([x, 300 + 200 * np.sin(x / 80 + k)], axis=1) for k in range(5)]
    LineRecall().score(curves, curves)
    start = time.process_time()
    LineRecall().score(curves, curves)
    assert time.process_time() - start < 0.3


coordinates = st.floats(-50, 300, allow_nan=False)
lines = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None)
@given(lines, lines)
def test_overlap_is_symmetric_and_a_share(one, other):
    a, b = np.array(one), np.array(other)
    share = LineRecall().overlaps([a], [b])[0, 0]
    assert 0.0 <= share <= 1.0
    assert share == LineRecall().overlaps([b], [a])[0, 0]
    assert LineRecall().overlaps([a], [a[::-1]])[0, 0] > 0.9
