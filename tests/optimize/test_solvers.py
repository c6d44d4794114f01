"""The solvers: conformance, shapes, restarts, step search, guards and messages."""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import OptimizeResult

from probatum.optimize import METHODS, check_solver, fixed_point_anchored, monotone_root

GAME = np.array([[0.0, 1.0], [-1.0, 0.0]])
SOLVING = [name for name in METHODS if name != "forward"]


def game(x: Any) -> Any:
    return GAME @ x


@pytest.mark.parametrize("method", SOLVING)
@pytest.mark.parametrize("L", [2.6, None])
def test_every_method_keeps_the_contract(method: str, L: float | None) -> None:
    # The forward step's rate is the square root of the others'.
    check_solver(partial(monotone_root, method=method, L=L), tol=0.2 if method == "rfs" else 0.01)


def test_the_fixed_point_solver_keeps_the_contract() -> None:
    check_solver(fixed_point_anchored, kind="map")
    check_solver(partial(fixed_point_anchored, schedule="none"), kind="map")
    check_solver(partial(fixed_point_anchored, restart="adaptive"), kind="map")


def _altered(**changes: Any) -> Any:
    def solver(F: Any, x0: Any, **options: Any) -> OptimizeResult:
        found = monotone_root(F, x0, **options)
        found.update({name: change(found) for name, change in changes.items()})
        return found

    return solver


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (_altered(residual=lambda r: r.residual * 2), "residual"),
        (_altered(nfev=lambda r: r.nfev + 1), "nfev"),
        (_altered(x=lambda r: r.x.ravel()), "shape"),
        (_altered(success=lambda r: True), "status 1"),
        (_altered(fun=lambda r: r.fun + 1), "fun"),
        (_altered(message=lambda r: 3), "message"),
        (lambda F, x0, **o: {"x": x0}, "OptimizeResult"),
    ],
)
def test_the_conformance_check_finds_what_is_broken(solver: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_solver(solver)


def test_the_conformance_check_knows_two_kinds() -> None:
    with pytest.raises(ValueError, match="kind"):
        check_solver(monotone_root, kind="other")  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(array_shapes(max_dims=3, max_side=4), st.sampled_from(SOLVING), st.randoms())
def test_points_of_any_shape(shape: tuple[int, ...], method: str, random: Any) -> None:
    x0 = np.random.default_rng(random.randrange(2**32)).normal(size=shape)
    flat = monotone_root(lambda x: x - 1, x0.ravel(), method=method, L=1.0, maxiter=20)
    found = monotone_root(lambda x: x - 1, x0, method=method, L=1.0, maxiter=20)
    assert found.x.shape == found.fun.shape == shape
    assert np.array_equal(found.x.ravel(), flat.x)
    assert np.array_equal(found.residuals, flat.residuals)


def test_trees_of_arrays() -> None:
    Pair = namedtuple("Pair", "u v")

    def F(p: Any) -> Any:
        return {"w": p["w"] - 1.0, "more": [Pair(p["more"][0].v, -p["more"][0].u), p["more"][1]]}

    x0 = {"w": np.zeros((2, 2)), "more": [Pair(np.ones(3), np.ones(3)), np.array(2.0)]}
    found = monotone_root(F, x0, L=1.0, tol=1e-2)
    assert found.success
    assert found.x["w"] == pytest.approx(np.ones((2, 2)), abs=0.02)
    assert isinstance(found.x["more"][0], Pair)
    assert found.x["more"][1].shape == ()
    assert np.array_equal(x0["w"], np.zeros((2, 2)))
    for value, words in (
        ({"w": x0["w"]}, "key 'more' is missing"),
        ({**x0, "extra": 1.0}, "key 'extra' is not expected"),
        ({**x0, "more": x0["more"][:1]}, r"2 parts are expected in \['more'\], got 1"),
        ({**x0, "more": 1.0}, r"a list or tuple is expected in \['more'\], got float"),
        ({**x0, "w": x0}, r"an array is expected in \['w'\], got dict"),
        ([np.zeros(11)], "a dict is expected, got list"),
        ({**x0, "w": np.zeros(4)}, "has shape .*was expected"),
    ):
        for solve in (monotone_root, fixed_point_anchored):
            with pytest.raises(ValueError, match=words):
                solve(lambda p, value=value: value, x0)
    with pytest.raises(ValueError, match="laid out"):
        monotone_root(lambda p: np.zeros(11), x0, L=1.0)


def test_scalars_and_lists_of_numbers() -> None:
    assert float(fixed_point_anchored(np.cos, 1.0, tol=1e-3, restart=0.5).x) == pytest.approx(
        0.739, abs=1e-2
    )
    assert fixed_point_anchored(lambda x: x / 2, [1, 2], tol=1e-3).x.shape == (2,)


@settings(max_examples=40, deadline=None)
@given(
    arrays(float, 2, elements=st.floats(-1e6, 1e6)),
    st.sampled_from(SOLVING),
    st.one_of(st.none(), st.floats(0.1, 0.9)),
)
def test_no_input_breaks_the_result(x0: np.ndarray, method: str, restart: float | None) -> None:
    found = monotone_root(game, x0, method=method, L=1.0, maxiter=30, restart=restart)
    assert np.isfinite(found.x).all()
    assert len(found.residuals) == found.nit + 1
    assert found.residual == pytest.approx(np.linalg.norm(game(found.x)))


def test_restarts_turn_a_rate_into_linear_convergence() -> None:
    plain = monotone_root(game, [3.0, 4.0], L=1.0, tol=1e-8, maxiter=3000)
    restarted = monotone_root(game, [3.0, 4.0], L=1.0, tol=1e-8, maxiter=3000, restart="adaptive")
    assert plain.status == 1
    assert plain.restarts == 0
    assert restarted.success
    assert restarted.nit < 300
    assert 10 < restarted.restarts < 30


@pytest.mark.parametrize("method", SOLVING)
def test_the_step_search_survives_a_bad_start(method: str) -> None:
    """F is flat at the start and steep elsewhere, so that the first guess is far too long."""

    def F(x: Any) -> Any:
        return 50 * (GAME @ x) * np.tanh(np.linalg.norm(x) ** 2) + np.tanh(x)

    found = monotone_root(F, [1e-3, 0.3], method=method, tol=1e-9, maxiter=300)
    assert np.isfinite(found.x).all()
    assert found.status in (0, 1)
    assert found.eta < 1


def test_the_step_search_shrinks_and_counts_its_calls() -> None:
    calls = 0

    def F(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return GAME @ x + x**3

    found = monotone_root(F, [0.0, 2.0], tol=1e-2, maxiter=20_000)
    assert found.success
    assert found.nfev == calls
    assert found.nfev > 2 * found.nit + 1


def test_a_step_into_values_that_are_not_numbers_is_taken_again() -> None:
    def F(x: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return np.log(x)

    found = monotone_root(F, [0.05], tol=1e-6, restart="adaptive", maxiter=10_000)
    assert found.success
    assert found.x[0] == pytest.approx(1.0, abs=1e-5)


def test_divergence_is_told() -> None:
    found = monotone_root(game, [1.0, 1.0], method="forward", L=1.0)
    assert found.status == 3
    assert "diverged" in found.message
    later = monotone_root(lambda x: np.where(x < 2.5, x - 3.0, np.nan), [0.0], method="eg", L=1.0)
    assert later.status == 3
    assert not later.success
    assert "give L" in found.message
    grown = fixed_point_anchored(lambda x: 2 * x + 1, [1.0, 2.0])
    assert grown.status == 3
    assert "T is not nonexpansive" in grown.message
    assert "give L" not in grown.message
    lost = fixed_point_anchored(lambda x: np.where(x < 2.5, x + 1.0, np.nan), [0.0])
    assert "no longer finite" in lost.message


def test_the_limit_names_restarts_where_they_would_help() -> None:
    def end(**options: Any) -> str:
        return str(monotone_root(game, [3.0, 4.0], L=1.0, maxiter=3, **options).message)

    assert 'restart="adaptive"' in end()
    assert 'restart="adaptive"' in fixed_point_anchored(np.cos, 1.0, maxiter=2).message
    assert "restart" not in end(restart="adaptive")
    assert "restart" not in end(method="eg")  # without an anchor they change nothing
    assert "restart" not in fixed_point_anchored(np.cos, 1.0, maxiter=2, schedule="none").message


def test_guarantees_are_printed_where_they_are_known() -> None:
    found = monotone_root(game, [3.0, 4.0], method="feg", L=1.0, tol=0.0, maxiter=100, radius=5.0)
    assert found.residual <= found.bound == pytest.approx(0.1)
    assert np.isnan(monotone_root(game, [3.0, 4.0], L=1.0, maxiter=10, radius=5.0).bound)
    assert np.isnan(fixed_point_anchored(np.cos, [1.0]).bound)


def test_the_anchor_is_kept_and_another_one_works() -> None:
    far = fixed_point_anchored(lambda x: x, [0.0], anchor=[7.0], tol=-0.0, maxiter=1)
    assert far.residual == 0.0
    held = fixed_point_anchored(lambda x: -x, [1.0], anchor=[5.0], tol=1e-3, callback=lambda x: 0)
    assert held.success


def test_callbacks_get_results_where_they_ask_for_them() -> None:
    seen: list[OptimizeResult] = []

    def callback(intermediate_result: OptimizeResult) -> None:
        seen.append(intermediate_result)

    monotone_root(game, [1.0, 0.0], L=1.0, tol=0.0, maxiter=3, callback=callback)
    assert [r.nit for r in seen] == [0, 1, 2]
    assert seen[0].residual == 1.0
    assert np.array_equal(seen[0].fun, [0.0, -1.0])


def test_the_operator_cannot_change_the_solver_s_points() -> None:
    def meddles(x: Any) -> Any:
        x += 1.0
        return x

    with pytest.raises(ValueError, match="read-only"):
        fixed_point_anchored(meddles, [1.0])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["L", "eta", "c", "k0", "tol", "restart", "radius", "maxiter"]),
    st.sampled_from([-1, -0.5, np.nan, "text", -np.inf]),
)
def test_bad_options_are_named(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        monotone_root(game, [1.0, 2.0], **{name: value})
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 150


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: monotone_root(game, [1.0, 2.0], method="newton"), "method must be one of"),
        (lambda: monotone_root(game, [1.0, 2.0], method="eg", c=1.0), "no anchor"),
        (lambda: monotone_root(game, [1.0, 2.0], c=3.0), "must not exceed 1"),
        (lambda: monotone_root(game, []), "no entries"),
        (lambda: monotone_root(game, [[1.0], [1.0, 2.0]]), "ragged"),
        (lambda: monotone_root(game, [1.0, 2.0], anchor=[1.0]), r"anchor has shape \(1,\)"),
        (lambda: fixed_point_anchored(np.cos, [1.0], schedule="other"), "schedule"),
        (lambda: fixed_point_anchored(np.cos, [1.0], schedule=1.5), r"\[0, 1\]"),
        (lambda: fixed_point_anchored(np.cos, [1.0], schedule=lambda k: k), r"k = "),
        (lambda: fixed_point_anchored(np.cos, [1.0], restart="often"), "restart"),
        (lambda: fixed_point_anchored(np.exp, [np.inf]), "not finite"),
        (lambda: fixed_point_anchored(lambda x: x + np.inf, [1.0]), "not finite"),
    ],
)
def test_messages_say_what_is_wrong(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: monotone_root("F", [1.0]),
        lambda: monotone_root(game, [1j, 2.0]),
        lambda: monotone_root(game, ["a", "b"]),
        lambda: monotone_root(game, [1.0, 2.0], callback=3),
    ],
)
def test_wrong_kinds_are_type_errors(call: Any) -> None:
    with pytest.raises(TypeError):
        call()
