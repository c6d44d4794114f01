"""One construction: the anchored methods are the base methods on another operator."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from probatum.optimize import (
    BASES,
    fixed_point_anchored,
    monotone_root,
    regularize,
    regularize_map,
    tikhonov,
)
from probatum.optimize.monotone import METHODS

finite = st.floats(-100, 100)
vectors = arrays(float, 4, elements=finite)


def run(base: str, op: Any, x: np.ndarray, steps: int) -> list[np.ndarray]:
    """Iterates of a base method that is answered by `op` itself."""
    made = BASES[base]
    x = x.copy()
    asking = made.start(x)
    at, points = next(asking), []
    for _ in range(steps):
        points.append(x.copy())
        for _ in range(made.queries):
            at = asking.send(op(at))
    return points


def test_plain_and_anchored_methods_share_their_code() -> None:
    for plain, anchored in (("forward", "rfs"), ("eg", "reg"), ("popov", "rpeg")):
        assert METHODS[plain].run is METHODS[anchored].run
        assert METHODS[plain].c == 0 < METHODS[anchored].c


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["forward", "extragradient", "popov"]),
    vectors,
    vectors,
    st.floats(0.01, 0.5),
    st.floats(0, 0.9),
)
def test_the_wrapper_is_the_base_method_on_the_regularised_operator(
    base: str, start: np.ndarray, anchor: np.ndarray, eta: float, delta: float
) -> None:
    """With constant weights the wrapper and the operator must give one sequence."""
    M = np.array([[0, 1, 0, 0], [-1, 0, 0.5, 0], [0, -0.5, 0.2, 0], [0, 0, 0, 1.0]])
    steps, x = 6, start.copy()
    asking = tikhonov(BASES[base])(x, anchor, lambda k: (eta, delta))
    at, points = next(asking), []
    for _ in range(steps):
        points.append(x.copy())
        for _ in range(BASES[base].queries):
            at = asking.send(M @ at)
    expected = run(base, regularize(lambda x: M @ x, anchor, eta, delta), start, steps)
    assert np.array(points) == pytest.approx(np.array(expected), rel=1e-12, abs=1e-9)


def test_the_lines_of_the_anchored_methods() -> None:
    """Each method against its formula, written out."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    M = (A - A.T) / np.linalg.norm(A - A.T, 2)
    F = lambda x: M @ x  # noqa: E731
    x0 = rng.normal(size=6)
    x, stored, forms = x0, np.zeros(6), {"reg": [x0], "rpeg": [], "rfs": [x0]}
    y = x0
    for k in range(8):
        d = 1 / (k + 2)
        half = x - 0.5 * F(x) - d * (x - x0)
        x = x - 0.5 * F(half) - d * (half - x0)
        forms["reg"].append(x)
    x = x0
    for k in range(9):
        y = x - stored
        forms["rpeg"].append(y)
        stored = 0.3 * F(y) + (y - x0) / (k + 2)
        x = x - stored
    x = x0
    for k in range(8):
        d = 3 / (k + 6)
        x = x - np.sqrt(0.5 * d) * F(x) - d * (x - x0)
        forms["rfs"].append(x)
    for method, expected in forms.items():
        seen: list[np.ndarray] = []
        found = monotone_root(F, x0, method=method, L=1.0, tol=0.0, maxiter=8, callback=seen.append)
        assert np.array([*seen, found.x]) == pytest.approx(np.array(expected), abs=1e-13)


@pytest.mark.parametrize("method", ["eag", "feg"])
def test_the_known_methods_agree_with_their_textbook_forms(method: str) -> None:
    from probatum.catalog.anchored_fixed_point import problems, rivals

    problem = problems.bilinear(np.random.default_rng(0))
    seen: list[np.ndarray] = []
    monotone_root(
        problem.F, problem.x0, method=method, L=1.0, tol=0.0, maxiter=20, callback=seen.append
    )
    forms = islice(rivals.FORMS[method](problem.F, problem.x0, 1.0), 20)
    assert np.array(seen) == pytest.approx(np.array(list(forms)), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(vectors, vectors, st.floats(0, 1))
def test_the_two_forms_are_one_construction(x: np.ndarray, a: np.ndarray, delta: float) -> None:
    """x - T_k(x) is the regularised operator of I - T, with eta = 1 - delta."""
    T = lambda x: np.roll(x, 1) * 0.5 + 1  # noqa: E731
    gap = x - regularize_map(T, a, delta)(x)
    if delta < 1:
        as_equation = regularize(lambda x: x - T(x), a, 1 - delta, delta)(x)
        assert gap == pytest.approx(as_equation, abs=1e-9)


def test_halpern_is_tight_on_a_rotation() -> None:
    """(k + 1) |x - T(x)| comes up to its bound of 2 |x0 - x*| on rotations by small angles."""
    angle = 0.01
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    found = fixed_point_anchored(lambda x: R @ x, [1.0, 0.0], tol=0.0, maxiter=4000, radius=1.0)
    scaled = (np.arange(found.residuals.size) + 1) * found.residuals
    assert 1.99 < scaled.max() <= 2 + 1e-9
    assert found.residual <= found.bound


@pytest.mark.parametrize(
    ("eta", "delta"), [(0.0, 0.1), (-1.0, 0.1), (np.inf, 0.1), (1.0, -0.1), (1.0, np.nan)]
)
def test_weights_out_of_range_are_named(eta: float, delta: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        regularize(np.negative, [1.0], eta, delta)


def test_an_operator_that_changes_the_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        regularize(lambda x: np.zeros(2), [1.0], 1.0, 0.1)([1.0])
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        regularize_map(lambda x: np.zeros(2), [1.0], 0.1)([1.0])
    with pytest.raises(ValueError, match="delta"):
        regularize_map(np.negative, [1.0], 1.5)
