"""Derived quantities against closed forms, and their uncertainty against rounding to pixels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from probatum.charts import (
    cv_peaks,
    eis_intercept,
    gcd_capacity,
    phase_purity,
    raman_id_ig,
    scherrer_size,
)
from probatum.charts.derived import Derived

Floats = NDArray[np.float64]

TWO_THETA = np.linspace(20.0, 60.0, 8001)
SHIFT = np.linspace(1000.0, 1900.0, 3601)


def gauss(x: Floats, at: float, full: float) -> Floats:
    return np.asarray(np.exp(-4 * math.log(2) * ((x - at) / full) ** 2))


def lorentz(x: Floats, at: float, full: float) -> Floats:
    return np.asarray(1 / (1 + (2 * (x - at) / full) ** 2))


def voigt(x: Floats, at: float, sigma: float, gamma: float) -> Floats:
    from scipy.special import voigt_profile

    return np.asarray(voigt_profile(x - at, sigma, gamma))


def size(full: float, at: float, wavelength: float = 1.5406, shape: float = 0.9) -> float:
    return shape * wavelength / (math.radians(full) * math.cos(math.radians(at / 2)))


def carbon(ratio: float, slope: float = 0.0, shape: Any = gauss) -> Floats:
    bands = ratio * shape(SHIFT, 1350, 90) + shape(SHIFT, 1590, 60)
    return np.asarray(40.0 + 100 * bands + slope * (SHIFT - 1000))


def arc(rs: float, rct: float, points: int = 400, power: float = 1.0) -> tuple[Floats, Floats]:
    """A semicircle from high frequency to low; flattened where the power is below 1."""
    w = np.logspace(8, -6, points)
    z = rs + rct / (1 + (1j * w) ** power)
    return np.asarray(z.real, float), np.asarray(-z.imag, float)


def sweep(at: tuple[float, float] = (0.32, 0.18)) -> tuple[Floats, Floats]:
    """A voltammogram: forth with a peak upwards, back with one downwards."""
    forth = np.linspace(-0.2, 0.8, 2001)
    back = forth[::-1]
    up = gauss(forth, at[0], 0.12) + 0.1
    down = -0.8 * gauss(back, at[1], 0.12) - 0.1
    return np.concatenate([forth, back]), np.concatenate([up, down])


@pytest.mark.parametrize("full", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("at", [28.44, 50.0])
def test_size_from_a_gaussian(full: float, at: float) -> None:
    found = scherrer_size(TWO_THETA, 7 + 300 * gauss(TWO_THETA, at, full))
    assert found.value == pytest.approx(size(full, at), rel=2e-3)
    assert found.uncertainty == 0.0


def test_size_from_a_lorentzian_with_its_tails() -> None:
    found = scherrer_size(TWO_THETA, lorentz(TWO_THETA, 40.0, 0.3))
    assert found.value == pytest.approx(size(0.3, 40.0), rel=2e-3)


def test_size_from_a_voigt_profile() -> None:
    sigma, gamma = 0.1, 0.08
    half = [0.5346 * 2 * gamma, math.sqrt(0.2166 * (2 * gamma) ** 2 + 8 * math.log(2) * sigma**2)]
    found = scherrer_size(TWO_THETA, voigt(TWO_THETA, 40.0, sigma, gamma))
    assert found.value == pytest.approx(size(sum(half), 40.0), rel=5e-3)


def test_the_instrument_is_taken_off_in_squares() -> None:
    y = gauss(TWO_THETA, 35.0, math.hypot(0.3, 0.4))
    found = scherrer_size(TWO_THETA, y, instrument=0.4)
    assert found.value == pytest.approx(size(0.3, 35.0), rel=3e-3)
    with pytest.raises(ValueError, match="no wider than the instrument"):
        scherrer_size(TWO_THETA, y, instrument=0.6)


def test_the_peak_that_is_asked_for_on_a_slope() -> None:
    y = gauss(TWO_THETA, 30.0, 0.3) + 0.5 * gauss(TWO_THETA, 45.0, 0.6) + 0.005 * TWO_THETA
    found = scherrer_size(TWO_THETA, y, peak=45.2, wavelength=0.7107, shape=0.94)
    assert found.value == pytest.approx(size(0.6, 45.0, 0.7107, 0.94), rel=0.02)
    for wrong in (38.0, math.nan):
        with pytest.raises(ValueError, match=f"no peak within 1 degree of {wrong:g}"):
            scherrer_size(TWO_THETA, y, peak=wrong)


@pytest.mark.parametrize("ratio", [0.3, 0.95, 1.6])
@pytest.mark.parametrize("slope", [-0.03, 0.0, 0.06])
def test_bands_over_a_sloping_baseline(ratio: float, slope: float) -> None:
    found = raman_id_ig(SHIFT, carbon(ratio, slope))
    assert found.value == pytest.approx(ratio, rel=0.01)


def test_a_curve_without_its_bands_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="1300 and 1620"):
        raman_id_ig(SHIFT[SHIFT < 1500], carbon(1.0)[SHIFT < 1500])
    with pytest.raises(ValueError, match="no G band"):
        raman_id_ig(SHIFT, np.full_like(SHIFT, 3.0))
    few = [500, 1310, 1320, 1340, 1570, 1580, 1590, 1600, 1750]
    with pytest.raises(ValueError, match="within 40 1/cm of 1150"):
        raman_id_ig(few, np.ones(9))


@pytest.mark.parametrize("power", [1.0, 0.85])
def test_a_semicircle_starts_at_its_resistance(power: float) -> None:
    x, y = arc(12.0, 80.0, power=power)
    assert eis_intercept(x, y).value == pytest.approx(12.0, abs=0.05)


def test_an_arc_that_is_cut_above_the_axis_is_continued() -> None:
    x, y = arc(5.0, 40.0)
    kept = y > 0.05 * y.max()
    assert eis_intercept(x[kept], y[kept]).value == pytest.approx(5.0, abs=0.1)
    far = y > 0.5 * y.max()
    with pytest.raises(ValueError, match="does not meet the real axis"):
        eis_intercept(x[far], y[far])


def test_where_an_arc_ends_at_low_frequency_does_not_count() -> None:
    x, y = arc(5.0, 40.0)
    y = np.where(x > 44.9, -0.2, y + 0.05)
    assert eis_intercept(x, y).value == pytest.approx(5.0, abs=0.1)
    with pytest.raises(ValueError, match="does not meet the real axis"):
        eis_intercept(x, np.where(x > 40, -0.2, y + 8.0))


def test_an_inductive_tail_is_crossed() -> None:
    w = np.logspace(8, -6, 600)
    z = 3.0 + 20.0 / (1 + 1j * w * 0.01) + 1j * w * 1e-7
    found = eis_intercept(z.real, -z.imag)
    cross = np.interp(0.0, -z.imag[:400], z.real[:400])
    assert found.value == pytest.approx(cross, abs=0.05)


def test_a_warburg_line_does_not_move_the_intercept() -> None:
    x, y = arc(8.0, 30.0)
    tail = np.linspace(0, 40, 200)
    x, y = np.concatenate([x, 38 + tail]), np.concatenate([y, tail])
    assert eis_intercept(x, y).value == pytest.approx(8.0, abs=0.05)


def test_capacity_is_where_the_curve_ends() -> None:
    x = np.linspace(0.0, 372.0, 500)
    assert gcd_capacity(x, 3 - x / 200).value == 372.0
    fold = np.concatenate([x, x[::-1]])
    assert gcd_capacity(fold, np.concatenate([3 - x / 200, x / 200])).value == 372.0
    assert gcd_capacity(x - 2.0, 3 - x / 200).value == 372.0


def test_peaks_of_a_voltammogram() -> None:
    high, low = cv_peaks(*sweep())
    assert high.value == pytest.approx(0.32, abs=1e-3)
    assert low.value == pytest.approx(0.18, abs=1e-3)


@pytest.mark.parametrize("shape", [gauss, lorentz])
def test_purity_is_the_share_of_known_areas(shape: Callable[..., Floats]) -> None:
    own = [(25.0, 0.2, 10.0), (37.0, 0.4, 6.0)]
    foreign = [(30.5, 0.3, 4.0), (52.0, 0.2, 5.0)]
    y = np.sum([h * shape(TWO_THETA, at, w) for at, w, h in own + foreign], axis=0)
    areas = [sum(w * h for _, w, h in part) for part in (own, foreign)]
    found = phase_purity(TWO_THETA, y, [25.05, 36.95])
    assert found.value == pytest.approx(areas[0] / sum(areas), abs=0.01)
    every = phase_purity(TWO_THETA, y, [25.0, 30.5, 37.0, 52.0])
    assert every == (1.0, 0.0)
    assert phase_purity(TWO_THETA, y, [45.0]).value == 0.0
    edge = phase_purity(TWO_THETA, y, [25.19, 37.0], dx=0.02)
    assert edge.uncertainty > 0.05


def test_the_order_and_the_number_of_points_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    x, y = arc(12.0, 80.0)
    cases: list[tuple[Callable[..., Derived], Floats, Floats]] = [
        (raman_id_ig, SHIFT, carbon(0.8, 0.02)),
        (scherrer_size, TWO_THETA, gauss(TWO_THETA, 40.0, 0.4)),
        (eis_intercept, x, y),
        (gcd_capacity, TWO_THETA, TWO_THETA),
        (lambda x, y: phase_purity(x, y, [40.0]), TWO_THETA, gauss(TWO_THETA, 40.0, 0.4)),
    ]
    for quantity, x, y in cases:
        straight = quantity(x, y).value
        for order in (
            np.arange(len(x))[::-1],
            rng.permutation(len(x)),
            np.arange(len(x)).repeat(2),
        ):
            assert quantity(x[order], y[order]).value == pytest.approx(straight, rel=1e-9)
        gap = np.insert(np.stack([x, y]), 5, np.nan, axis=1)
        assert quantity(*gap).value == pytest.approx(straight, rel=1e-9)
    forth, back = cv_peaks(*sweep()), cv_peaks(*(part[::-1] for part in sweep()))
    assert [p.value for p in forth] == pytest.approx([p.value for p in back])


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 2], [1, 2], "three finite points, got 2"),
        ([1, 2, 3], [1, 2], "one length"),
        ([[1, 2, 3]], [[1, 2, 3]], "one-dimensional"),
        ([1, math.nan, 3, 4], [1, 2, math.inf, 4], "three finite points, got 2"),
        ([1, 2, 3, 4, 1e200], [1, 2, 3, 4, 5], "within 1e\\+100 of zero"),
    ],
)
def test_wrong_curves_are_named_in_one_line(x: Any, y: Any, said: str) -> None:
    for quantity in (raman_id_ig, scherrer_size, eis_intercept, gcd_capacity, cv_peaks):
        with pytest.raises(ValueError, match=said) as error:
            quantity(x, y)
        assert "\n" not in str(error.value)


def test_wrong_settings_are_named() -> None:
    y = gauss(TWO_THETA, 40.0, 0.4)
    for wrong in ({"wavelength": 0.0}, {"shape": -1.0}, {"instrument": -0.1}, {"dx": -1.0}):
        with pytest.raises(ValueError, match=r"positive|zero or more"):
            scherrer_size(TWO_THETA, y, **wrong)
    with pytest.raises(ValueError, match="no peak"):
        scherrer_size(TWO_THETA, TWO_THETA)
    with pytest.raises(ValueError, match="between 0 and 180 degrees"):
        scherrer_size(TWO_THETA + 300, y)
    for peaks in ([], [math.nan]):
        with pytest.raises(ValueError, match="at least one peak"):
            phase_purity(TWO_THETA, y, peaks)
    with pytest.raises(ValueError, match="window"):
        phase_purity(TWO_THETA, y, [40.0], window=0.0)
    with pytest.raises(ValueError, match="zero or more"):
        cv_peaks(*sweep(), dy=math.nan)


def pixels(x: Floats, y: Floats, dx: float, dy: float, shift: Floats) -> tuple[Floats, Floats]:
    """The points in the middle of the pixels in which they lie."""
    return (
        (np.floor(x / dx + shift[0]) + 0.5 - shift[0]) * dx,
        (np.floor(y / dy + shift[1]) + 0.5 - shift[1]) * dy,
    )


def columns(x: Floats, y: Floats, dx: float, dy: float, shift: Floats) -> tuple[Floats, Floats]:
    """A function as it is drawn: one point for each column of pixels."""
    at = np.arange(x.min() + dx * (0.5 + shift[0]), x.max(), dx)
    return pixels(at, np.interp(at, x, y), dx, dy, shift)


def covered(
    truth: float, quantity: Callable[[Floats], Derived], seed: int, cases: int = 200
) -> float:
    """Share of grids of pixels on which the error lies within three uncertainties."""
    rng = np.random.default_rng(seed)
    found = [quantity(rng.random(2)) for _ in range(cases)]
    return float(np.mean([abs(one.value - truth) <= 3 * one.uncertainty for one in found]))


@pytest.mark.parametrize(("wide", "high"), [(6, 300), (40, 200), (150, 60)])
def test_pixels_explain_the_error_of_a_size(wide: float, high: float) -> None:
    dx, dy = 0.05, 100 / high
    y = 100 * gauss(TWO_THETA, 40.0, wide * dx)

    def quantity(shift: Floats) -> Derived:
        return scherrer_size(*columns(TWO_THETA, y, dx, dy, shift), dx=dx, dy=dy)

    assert covered(size(wide * dx, 40.0), quantity, 1) >= 0.95
    assert quantity(np.zeros(2)).uncertainty < 0.2 * size(wide * dx, 40.0)


@pytest.mark.parametrize("ratio", [0.5, 1.2])
def test_pixels_explain_the_error_of_a_ratio_of_bands(ratio: float) -> None:
    y = carbon(ratio, 0.01)
    exact = raman_id_ig(SHIFT, y).value

    def quantity(shift: Floats) -> Derived:
        return raman_id_ig(*columns(SHIFT, y, 1.5, 0.5, shift), dy=0.5)

    assert covered(exact, quantity, 2) >= 0.95
    assert quantity(np.zeros(2)).uncertainty < 0.01


@pytest.mark.parametrize("power", [1.0, 0.8])
def test_pixels_explain_the_error_of_an_intercept(power: float) -> None:
    x, y = arc(12.0, 80.0, 4000, power)

    def quantity(shift: Floats) -> Derived:
        return eis_intercept(*pixels(x, y, 0.2, 0.2, shift), dx=0.2, dy=0.2)

    assert covered(12.0, quantity, 3) >= 0.95
    assert quantity(np.zeros(2)).uncertainty < 0.4


def test_pixels_explain_the_error_of_a_capacity() -> None:
    x = np.linspace(0.0, 372.0, 5000)

    def quantity(shift: Floats) -> Derived:
        return gcd_capacity(*pixels(x, 3 - x / 200, 0.8, 0.01, shift), dx=0.8)

    assert covered(372.0, quantity, 4) >= 0.95


@pytest.mark.parametrize(("steep", "dy"), [(0.12, 0.01), (0.03, 0.1)])
def test_pixels_explain_the_error_of_peak_potentials(steep: float, dy: float) -> None:
    x, y = sweep()
    # Flanks unlike each other put the top at no middle of what looks level.
    early = (x < 0.32) & (np.arange(len(x)) < len(x) / 2)
    y = np.where(early, gauss(x, 0.32, steep) + 0.1, y)
    for i, truth in enumerate((0.32, 0.18)):

        def quantity(shift: Floats, i: int = i) -> Derived:
            return cv_peaks(*pixels(x, y, 0.002, dy, shift), dx=0.002, dy=dy)[i]

        assert covered(truth, quantity, 5 + i) >= 0.95
        assert quantity(np.zeros(2)).uncertainty < 0.03


def test_pixels_explain_the_error_of_a_purity() -> None:
    own, foreign = (25.0, 0.6, 100.0), (40.0, 0.6, 20.0)
    y = np.sum([h * gauss(TWO_THETA, at, w) for at, w, h in (own, foreign)], axis=0)

    def quantity(shift: Floats) -> Derived:
        read = columns(TWO_THETA, y, 0.05, 0.4, shift)
        return phase_purity(*read, [25.0], dx=0.05, dy=0.4)

    assert covered(100 / 120, quantity, 8) >= 0.95
    assert quantity(np.zeros(2)).uncertainty < 0.03


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TAME = st.floats(-2000, 2000)


@settings(max_examples=150, deadline=None)
@given(
    points=st.one_of(
        st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40),
        st.lists(st.tuples(TAME, TAME), max_size=60),
        st.lists(st.tuples(st.integers(1280, 1640), st.integers(0, 5)), min_size=30, max_size=90),
    ),
    pixel=st.sampled_from([0.0, 1e-3, 7.0, 1e308]),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_finite_curve_gives_finite_numbers_or_a_reason(
    points: list[tuple[float, float]], pixel: float
) -> None:
    x = [p[0] for p in points]
    y = [p[1] for p in points]
    quantities: list[Callable[[], Any]] = [
        lambda: [raman_id_ig(x, y, dy=pixel)],
        lambda: [scherrer_size(x, y, dx=pixel, dy=pixel)],
        lambda: [eis_intercept(x, y, dx=pixel, dy=pixel)],
        lambda: [gcd_capacity(x, y, dx=pixel)],
        lambda: cv_peaks(x, y, dx=pixel, dy=pixel),
        lambda: [phase_purity(x, y, [1.0, 1500.0], dx=pixel, dy=pixel)],
    ]
    for quantity in quantities:
        said, found = "", []
        try:
            found = quantity()
        except ValueError as error:
            said = str(error)
        assert bool(said) == (not found)
        assert "\n" not in said
        for one in found:
            assert math.isfinite(one.value)
            assert math.isfinite(one.uncertainty)
            assert one.uncertainty >= 0
