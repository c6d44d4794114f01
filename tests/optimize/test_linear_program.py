"""Solving linear programs: the right status and optimum, whatever the program is like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from probatum.optimize.linear_program import (
    LinearProgram,
    Restart,
    farkas_margin,
    kkt_residuals,
    solve_lp,
)
from probatum.optimize.linear_program.residuals import Certifier, Kkt
from probatum.optimize.linear_program.scaling import scale, spectral_norm
from probatum.optimize.linear_program.schemes import SCHEMES, PrimalDualMap

pytest.importorskip("highspy")
INF = np.inf
ALL = sorted(SCHEMES)
GOOD = ("reflected", "halpern", "average")


def random_program(rng: np.random.Generator) -> LinearProgram:
    """Small, of every status and with every oddity: ties, copies, empty parts, wide scales."""
    m, n = rng.integers(0, 7), rng.integers(0, 8)
    whole = rng.random() < 0.6
    A = rng.integers(-3, 4, (m, n)).astype(float) if whole else rng.standard_normal((m, n))
    A *= rng.random((m, n)) < rng.choice([0.3, 0.7, 1.0])
    if rng.random() < 0.3:
        A *= 10.0 ** rng.integers(-2, 3, (m, 1))
    x = rng.integers(-2, 3, n).astype(float)
    low, high = A @ x - rng.integers(0, 3, m), A @ x + rng.integers(0, 3, m)
    if rng.random() < 0.35:
        shift = rng.integers(-3, 4, m)
        low, high = low + shift, high + shift
    kind = rng.integers(0, 4, m)
    low, high = np.where(kind == 0, -INF, low), np.where(kind == 1, INF, high)
    high = np.where(kind == 2, np.where(np.isneginf(low), high, low), high)
    if m > 2 and rng.random() < 0.3:
        A[1], low[1], high[1] = A[0], low[0], high[0]
    kind = rng.integers(0, 5, n)
    lower = np.where(kind <= 1, -INF, x - rng.integers(0, 3, n))
    upper = np.where((kind == 0) | (kind == 2), INF, x + rng.integers(0, 3, n))
    c = rng.integers(-3, 4, n).astype(float)
    if m and rng.random() < 0.5:
        signs = np.where(np.isinf(upper), 1.0, np.where(np.isinf(lower), -1.0, c))
        c = A.T @ rng.integers(-2, 3, m) + np.where(kind == 0, 0.0, signs)
    return LinearProgram(c, A, low, high, lower, upper, "max" if rng.random() < 0.5 else "min")


def by_scipy(lp: LinearProgram, c: Any) -> OptimizeResult:
    high, low = np.isfinite(lp.row_upper), np.isfinite(lp.row_lower)
    A = sparse.vstack([lp.A[high], -lp.A[low]]) if high.any() or low.any() else None
    b = np.concatenate([lp.row_upper[high], -lp.row_lower[low]]) if A is not None else None
    bounds = np.column_stack([lp.lower, lp.upper])
    return linprog(c, A, b, bounds=bounds, options={"presolve": False})


def truth(lp: LinearProgram) -> tuple[int, float]:
    """Status and optimum by the simplex method; feasibility first, so that 2 and 3 differ."""
    sign = -1.0 if lp.sense == "max" else 1.0
    if lp.shape[1] == 0:
        met = np.all(lp.row_lower <= 0) and np.all(lp.row_upper >= 0)
        return (0, 0.0) if met else (2, np.nan)
    if np.any(lp.lower > lp.upper) or by_scipy(lp, 0 * lp.c).status == 2:
        return 2, np.nan
    found = by_scipy(lp, sign * lp.c)
    return (0, sign * found.fun) if found.status == 0 else (3, -sign * INF)


def check(lp: LinearProgram, result: OptimizeResult, tol: float = 1e-6) -> None:
    """What must be so whatever the status is."""
    m, n = lp.shape
    assert result.success == (result.status == 0)
    if result.status == 0:
        own = kkt_residuals(lp, result.x, result.dual)
        assert own.worst <= tol
        assert own.primal == pytest.approx(result.primal_residual, abs=1e-12)
        assert np.all((result.x >= lp.lower) & (result.x <= lp.upper))
        assert result.x.shape == (n,)
        assert result.dual.shape == (m,)
        assert result.reduced_costs == pytest.approx(lp.c - lp.A.T @ result.dual)
        assert result.activity == pytest.approx(lp.A @ result.x)
    if result.farkas is not None:
        demanded, possible = farkas_margin(lp, result.farkas)
        assert demanded > possible
    if result.ray is not None:
        certifier = Certifier(Kkt(lp.minimisation()), scale(lp.minimisation()))
        assert certifier.proves_dual_infeasible(result.ray)


@pytest.mark.parametrize("method", GOOD)
@pytest.mark.parametrize("presolve", [False, True])
def test_status_and_optimum_on_many_random_programs(method: Any, presolve: bool) -> None:
    unsolved, seen = 0, set()
    for seed in range(80):
        lp = random_program(np.random.default_rng(seed))
        status, optimum = truth(lp)
        result = solve_lp(lp, method=method, presolve=presolve, maxiter=20_000)
        check(lp, result)
        seen.add(result.status)
        if result.status == 1:
            unsolved += 1
            continue
        assert result.status == status, seed
        if status == 0:
            assert result.fun == pytest.approx(optimum, rel=2e-5, abs=2e-5), seed
    assert unsolved <= 1
    assert {0, 2, 3} <= seen


small = st.integers(-3, 3).map(float)
side = st.one_of(st.none(), st.integers(-4, 4).map(float))


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    n, m = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    A = np.array(draw(st.lists(small, min_size=m * n, max_size=m * n))).reshape(m, n)
    sides = [draw(st.lists(side, min_size=k, max_size=k)) for k in (m, m, n, n)]
    low, high, lower, upper = (
        [sign * INF if s is None else s for s in part]
        for part, sign in zip(sides, (-1, 1, -1, 1), strict=True)
    )
    c = draw(st.lists(small, min_size=n, max_size=n))
    return LinearProgram(c, A, low, high, lower, upper, draw(st.sampled_from(["min", "max"])))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(GOOD), st.booleans())
def test_never_a_wrong_status(lp: LinearProgram, method: Any, presolve: bool) -> None:
    status, optimum = (2, np.nan) if np.any(lp.row_lower > lp.row_upper) else truth(lp)
    result = solve_lp(lp, method=method, presolve=presolve, maxiter=5000)
    check(lp, result)
    assert result.status in (status, 1)
    if result.status == 0:
        assert result.fun == pytest.approx(optimum, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("method", ALL)
def test_every_method_solves_an_easy_program(method: Any) -> None:
    lp = LinearProgram.from_scipy([-1.0, -2.0], [[1.0, 1.0]], [4.0], bounds=(0, 3))
    result = solve_lp(lp, method=method, presolve=False, tol=1e-4)
    assert result.status == 0
    assert result.x == pytest.approx([1, 3], abs=1e-2)
    assert result.dual == pytest.approx([-1], abs=1e-2)


def test_the_anchored_iteration_is_halperns_on_the_map() -> None:
    """The tikhonov form of Picard's iteration, against the formula written out."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 9))
    lp = LinearProgram(rng.random(9), A, A @ rng.random(9), np.full(6, INF), [0.0] * 9, [1.0] * 9)
    T = PrimalDualMap(scale(lp), 1.0)
    z, t = rng.standard_normal(15), np.empty(15)
    for name, reflect in (("halpern", False), ("reflected", True)):
        scheme, mine = SCHEMES[name](), z.copy()
        scheme.begin(mine)
        w = z.copy()
        for k in range(50):
            T(mine, t)
            scheme.advance(mine, t)
            T(w, t)
            image = 2 * t - w if reflect else t
            w = z / (k + 2) + (k + 1) / (k + 2) * image
            assert mine == pytest.approx(w, abs=1e-12)


def test_the_map_is_nonexpansive_in_its_norm_and_its_fixed_points_solve() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((5, 8))
    x = rng.random(8)
    lp = LinearProgram(
        rng.standard_normal(8), A, A @ x - [0, 1, INF, 1, 0], A @ x + [0, 1, 1, INF, 0],
        [0.0] * 8, [2.0] * 8,
    )  # fmt: skip
    for weight in (0.1, 1.0, 30.0):
        T = PrimalDualMap(scale(lp), weight)
        a, b = rng.standard_normal((2, 13))
        for _ in range(20):
            Ta, Tb = np.empty(13), np.empty(13)
            T(a, Ta)
            T(b, Tb)
            assert T.norm(Ta - Tb) <= T.norm(a - b) * (1 + 1e-12)
            a, b = Ta, Tb
    found = solve_lp(lp, presolve=False, tol=1e-9)
    scaled = scale(lp)
    z = T.enter(found.x / scaled.columns, found.dual / scaled.rows)
    T(z, Ta)
    assert T.norm(Ta - z) < 1e-6


def test_scaling_keeps_the_program_and_evens_it_out() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((8, 12)) * 10.0 ** rng.integers(-4, 5, (8, 1))
    A[3], A[:, 5] = 0.0, 0.0
    lp = LinearProgram(rng.random(12), A, [-INF] * 8, [1.0] * 8, [0.0] * 12, [INF] * 12)
    scaled = scale(lp)
    assert np.isfinite(scaled.A.data).all()
    assert scaled.rows[:, None] * A * scaled.columns == pytest.approx(scaled.A.toarray())
    sizes = np.abs(scaled.A.toarray()).max(axis=1)[[0, 1, 2, 4, 5, 6, 7]]
    assert sizes.max() / sizes.min() < 10
    assert spectral_norm(scaled.A) <= 1 + 1e-12


@pytest.mark.parametrize("shape", [(1, 1), (2, 500), (60, 40), (300, 200)])
def test_the_spectral_norm_is_not_underestimated(shape: tuple[int, int]) -> None:
    A = sparse.random_array(shape, density=0.3, rng=np.random.default_rng(0), format="csr")
    true = np.linalg.norm(A.toarray(), 2)
    assert true * (1 - 1e-9) <= spectral_norm(A) <= max(2.5 * true, 1e-12)


ODD = {
    "nothing at all": (LinearProgram([], np.empty((0, 0)), [], [], [], []), 0, 0.0),
    "no variables, met": (LinearProgram([], np.empty((1, 0)), [-1], [1], [], []), 0, 0.0),
    "no variables, not met": (LinearProgram([], np.empty((1, 0)), [1], [2], [], []), 2, np.nan),
    "no rows": (LinearProgram([1, -1], np.empty((0, 2)), [], [], [-3, 0], [9, 5]), 0, -8.0),
    "no rows, endless": (LinearProgram([1.0], np.empty((0, 1)), [], [], [-INF], [0]), 3, -INF),
    "bounds cross": (LinearProgram([1.0], [[1.0]], [0], [1], [2], [1]), 2, np.nan),
    "sides cross": (LinearProgram([1.0], [[1.0]], [3], [1], [0], [9]), 2, np.nan),
    "all fixed": (LinearProgram([2.0], [[1.0]], [0], [5], [3], [3]), 0, 6.0),
    "all fixed, not met": (LinearProgram([2.0], [[1.0]], [0], [2], [3], [3]), 2, np.nan),
    "empty row, not met": (LinearProgram([1.0], [[0.0]], [1], [2], [0], [1]), 2, np.nan),
    "endless, yet infeasible": (
        LinearProgram([-1.0, 0.0], [[0, 1.0], [0, 1.0]], [2, -INF], [INF, 1], [0, 0], [INF, INF]),
        2,
        np.nan,
    ),
    "a tiny cost decides": (
        LinearProgram([1e4, -1e-3], [[1.0, 0.0]], [1], [INF], [0, 0], [INF, INF]), 3, -INF,
    ),
    "free, equations only": (
        LinearProgram([1.0, 1], [[1.0, 2], [2, 1]], [3, 3], [3, 3], [-INF] * 2, [INF] * 2), 0, 2.0,
    ),
    "hidden among large sides": (
        LinearProgram(
            [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [1e7, 1, -INF], [1e7, INF, 0],
            [-INF] * 2, [INF] * 2,
        ), 2, np.nan,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("presolve", [False, True])
def test_odd_programs(name: str, presolve: bool) -> None:
    lp, status, optimum = ODD[name]
    result = solve_lp(lp, presolve=presolve)
    check(lp, result)
    assert result.status == status, result.message
    assert result.fun == pytest.approx(optimum, nan_ok=True, rel=1e-5, abs=1e-5)
    assert "\n" not in result.message


def test_proofs_without_presolve() -> None:
    one = np.ones(2)
    infeasible = LinearProgram(one, [[1.0, 1.0], [1.0, -1.0]], [3.0, 0.0], [INF, 0.0], 0 * one, one)
    result = solve_lp(infeasible, presolve=False)
    assert result.status == 2
    demanded, possible = farkas_margin(infeasible, result.farkas)
    assert demanded > possible
    endless = LinearProgram([-1.0, 0.0], [[1.0, -1.0]], [0.0], [1.0], [0.0] * 2, [INF] * 2)
    result = solve_lp(endless, presolve=False)
    assert result.status == 3
    assert result.ray[0] == pytest.approx(result.ray[1])
    assert result.ray[0] > 0


def test_maximisation_mirrors_minimisation() -> None:
    lp = LinearProgram([3.0, 2.0], [[1.0, 1.0]], [-INF], [4.0], [0, 0], [3, INF], "max")
    other = LinearProgram(
        -lp.c, lp.A, lp.row_lower, lp.row_upper, lp.lower, lp.upper,
        "min" if lp.sense == "max" else "max", 2.0,
    )  # fmt: skip
    one, two = solve_lp(lp, presolve=False), solve_lp(other, presolve=False)
    assert one.status == two.status == 0
    assert two.fun == pytest.approx(2 - one.fun)
    assert two.dual == pytest.approx(-one.dual)


def test_duals_are_the_change_per_unit_of_a_side() -> None:
    lp = LinearProgram([3.0, 2.0], [[1.0, 1.0]], [-INF], [4.0], [0, 0], [3, INF], "max")
    result = solve_lp(lp, tol=1e-8)
    assert result.fun == pytest.approx(11)
    assert result.dual == pytest.approx([2], abs=1e-6)
    assert result.reduced_costs == pytest.approx([1, 0], abs=1e-6)


def test_limits_start_and_callback() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((30, 60))
    b = A @ rng.random(60)
    lp = LinearProgram(rng.random(60), A, b, b, np.zeros(60), np.full(60, INF))
    short = solve_lp(lp, presolve=False, maxiter=30)
    assert (short.status, short.nit) == (1, 30)
    assert short.x.shape == (60,)
    late = solve_lp(lp, presolve=False, tol=1e-13, time_limit=0.05)
    assert late.status == 1
    assert "time" in late.message
    seen: list[int] = []

    def stop(state: OptimizeResult) -> None:
        seen.append(state.nit)
        if state.nit >= 80:
            raise StopIteration

    stopped = solve_lp(lp, presolve=False, callback=stop)
    assert (stopped.status, stopped.nit) == (1, 80)
    assert seen == [1, 40, 80]
    full = solve_lp(lp, presolve=False, tol=1e-8)
    again = solve_lp(lp, presolve=False, x0=(full.x, full.dual))
    assert again.status == 0
    assert again.nit == 1
    assert solve_lp(lp, presolve=False, tol=1e-8).nit == full.nit
    near = solve_lp(lp, x0=full.x)
    assert near.fun == pytest.approx(full.fun, rel=1e-5)


def test_without_restarts_it_is_much_slower() -> None:
    rng = np.random.default_rng(4)
    A = rng.standard_normal((20, 40))
    b = A @ rng.random(40)
    lp = LinearProgram(rng.random(40), A, b, b, np.zeros(40), np.full(40, INF))
    restarted = solve_lp(lp, method="halpern", presolve=False)
    never = solve_lp(lp, method="halpern", presolve=False, restart=None, maxiter=5000)
    same = solve_lp(lp, method="halpern-no-restart", presolve=False, maxiter=5000)
    assert restarted.status == 0
    assert never.x == pytest.approx(same.x, abs=0)
    assert never.nit == 5000 > 2 * restarted.nit


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "simplex"}, "method must be one of"),
        ({"tol": 0.0}, "tol must be positive, got 0"),
        ({"tol": float("nan")}, "tol must be positive, got nan"),
        ({"maxiter": 0}, "maxiter must be positive"),
        ({"time_limit": -1}, "time_limit must be positive"),
        ({"x0": [1.0, 2.0, 3.0]}, "x0 must be 2 finite numbers"),
        ({"x0": [1.0, INF]}, "x0 must be 2 finite numbers"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], words: str) -> None:
    lp = LinearProgram.from_scipy([1.0, 1.0], [[1.0, 1.0]], [1.0])
    with pytest.raises(ValueError, match=words):
        solve_lp(lp, **options)


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(TypeError, match="LinearProgram"):
        solve_lp([1.0, 2.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [{"sufficient": 0.0}, {"sufficient": 0.9}, {"artificial": 0.0}, {"smoothing": 2.0},
     {"reach": 0.5}],
)  # fmt: skip
def test_bad_restarts_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="restarts need"):
        Restart(**options)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize(("low", "high"), [(3.0, np.inf), (-np.inf, -2.0)])
def test_an_empty_row_that_nothing_satisfies_has_its_proof(
    sense: Any, low: float, high: float
) -> None:
    lp = LinearProgram([1.0], [[1.0], [0.0]], [0.0, low], [1.0, high], [0.0], [1.0], sense)
    result = solve_lp(lp, presolve=False)
    assert result.status == 2
    demanded, possible = farkas_margin(lp, result.farkas)
    assert demanded > possible == 0


def test_sides_that_cross_are_the_proof_themselves() -> None:
    lp = LinearProgram([1.0], [[1.0]], [0.0], [1.0], [3.0], [2.0])
    result = solve_lp(lp, presolve=False)
    assert (result.status, result.farkas) == (2, None)
    assert result.message == "infeasible: the bounds of C1 cross, 3 > 2"
    lp = LinearProgram([1.0], [[1.0]], [4.0], [1.0], [0.0], [2.0])
    assert solve_lp(lp, presolve=False).message == "infeasible: the sides of row R1 cross, 4 > 1"
