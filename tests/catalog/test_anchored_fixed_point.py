"""The trials of paper 56 measure what they say, checked on cases with known answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.catalog.anchored_fixed_point import (
    PAPER,
    consensus,
    problems,
    queries,
    rates,
    rivals,
    worst_case,
)
from probatum.evidence import Arm, Dataset, Experiment
from probatum.evidence.model import resolve
from probatum.evidence.trial import TrialBlock

EQUATIONS = ("log-spectrum", "rotation-convex", "skew")
MAPS = ("rotation", "projections", "reflections", "douglas-rachford", "long-gradient-step")


def experiment(name: str) -> Experiment:
    return next(e for e in PAPER.experiments if e.id == name)


def rows(name: str, arm: str, dataset: str, size: dict[str, Any], replicate: int = 0) -> Any:
    of = experiment(name)
    chosen = next(d for d in of.datasets if d.id == dataset)
    block = TrialBlock(f"anchored-fixed-point/{name}", (of.arm(arm),), chosen, size, replicate)
    return resolve(of.trial)(block)


# --- problems -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_are_monotone_lipschitz_and_solved_where_they_say(name: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        problem = problems.equations(name)(rng)
        assert problem.F(problem.solution) == pytest.approx(np.zeros(40), abs=1e-12)
        for x, y in rng.normal(size=(50, 2, 40)):
            apart, changed = x - y, problem.F(x) - problem.F(y)
            assert apart @ changed >= -1e-10
            assert np.linalg.norm(changed) <= problem.L * np.linalg.norm(apart) * (1 + 1e-9)


@pytest.mark.parametrize("name", MAPS)
def test_maps_are_nonexpansive_and_fixed_where_they_say(name: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        problem = problems.maps(name)(rng)
        assert problem.T(problem.solution) == pytest.approx(problem.solution, abs=1e-10)
        for x, y in rng.normal(size=(50, 2, 40)):
            moved = np.linalg.norm(problem.T(x) - problem.T(y))
            assert moved <= np.linalg.norm(x - y) * (1 + 1e-9)


def test_the_reflected_resolvent_is_that_of_the_equation() -> None:
    problem = problems.bilinear(np.random.default_rng(0))
    T = problems.reflected_resolvent(problem)
    z = np.random.default_rng(1).normal(size=40)
    # With w = (I + F)^-1 x the map is 2 w - x.
    x = z + problem.F(z)
    assert T(x) == pytest.approx(2 * z - x, abs=1e-9)
    with pytest.raises(ValueError, match="linear"):
        problems.reflected_resolvent(problems.rotation_convex(np.random.default_rng(0)))


# --- rates ----------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.floats(0.2, 2.0), st.floats(1e-3, 1e3))
def test_decades_of_a_power_law(power: float, constant: float) -> None:
    k = np.arange(1, 10_002)
    last, before = rates.decades(constant * k**-power)
    # sup over a decade of k^(1 - power): at its end where it grows, at its beginning otherwise.
    assert last / before == pytest.approx(10 ** (1 - power), rel=0.02)
    last, before = rates.decades(constant * k**-power, power)
    assert last / before == pytest.approx(1.0)


def test_a_method_that_diverged_has_a_ratio_too() -> None:
    problem = problems.bilinear(np.random.default_rng(0))
    residuals = rivals.Textbook("unanchored-forward").residuals(problem, 2000)
    assert rates.decades(residuals, 0.5)[0] > 2 * rates.decades(residuals, 0.5)[1]
    assert np.isfinite(rates.decades(np.array([1.0, np.inf, np.nan] * 200))).all()


def test_the_textbook_s_regularised_extragradient_is_the_library_s() -> None:
    problem = problems.skew_matrix(np.random.default_rng(0))
    ours = rivals.Ours("reg").residuals(problem, 300)
    assert ours == pytest.approx(rivals.Textbook("reg").residuals(problem, 300), rel=1e-9)


def test_rates_tell_the_method_from_its_controls() -> None:
    """On draws with a spread of frequencies, at a size that takes seconds."""
    size = {"steps": 10_000}
    for arm, low, high in (
        ("reg", 0.5, 1.4),
        ("rpeg", 0.5, 1.4),
        ("anchor-dropped", 1.5, 6.0),
        ("constant-weight", 3.0, 12.0),
    ):
        (row,) = rows("equation-rates", arm, "log-spectrum", size)
        assert low < row.values["r1"] < high, arm
    (row,) = rows("forward-rate", "rfs", "log-spectrum", size)
    assert row.values["r_half"] < 1.4
    assert row.values["shrink"] < 0.5


@pytest.mark.parametrize("name", MAPS)
def test_misplaced_anchors_give_another_sequence(name: str) -> None:
    size = {"steps": 50}
    (own,) = rows("same-sequence", "picard-regularised", name, size)
    (other,) = rows("same-sequence", "anchor-outside", name, size)
    assert own.values["apart"] < 1e-12
    assert other.values["apart"] > 1e-3


def test_graal_solves_what_it_should() -> None:
    problem = problems.skew_matrix(np.random.default_rng(0))
    residuals = rivals.Textbook("graal").residuals(problem, 3000)
    assert residuals[-1] < 0.05 * residuals[0]


def test_the_recurrence_is_measured_at_the_iterates() -> None:
    """For Halpern, r_k is |x_k - T_k(x_k)| of the sequence written out."""
    problem = problems.bilinear(np.random.default_rng(0))
    T = problems.reflected_resolvent(problem)
    x, home, expected = problem.x0, problem.x0, []
    for k in range(20):
        d = 1 / (k + 2)
        following = (1 - d) * T(x) + d * home
        expected.append(np.linalg.norm(x - following))
        x = following
    found = rates.Recurrence("picard").trace(T, problem.x0, 19)
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_recurrence_tells_anchored_from_plain() -> None:
    for arm, holds in (("reg", True), ("rpeg", True), ("halpern", True), ("extragradient", False)):
        (row,) = rows("recurrence", arm, "log-spectrum", {"steps": 3000})
        assert bool(row.values["constant"] <= 1) is holds, arm


# --- where methods ask ----------------------------------------------------------------------------


def test_recorded_coefficients_reproduce_a_run() -> None:
    """Points rebuilt from coefficients are those of a run on a real operator."""
    problem = problems.bilinear(np.random.default_rng(0))
    seen: list[np.ndarray] = []

    def watched(x: np.ndarray) -> np.ndarray:
        seen.append(x.copy())
        return problem.F(x)

    from probatum.optimize import monotone_root

    monotone_root(watched, problem.x0, method="reg", L=1.0, tol=0.0, maxiter=5)
    table = queries.OursAsks("reg").questions(5)
    values = [problem.F(x) for x in seen]
    for row, point in zip(table, seen, strict=True):
        rebuilt = row[queries.START] * problem.x0
        for share, value in zip(row[queries.VALUES :], values, strict=True):
            rebuilt = rebuilt + share * value
        assert rebuilt == pytest.approx(point, abs=1e-12)


def test_the_two_ways_to_record_agree() -> None:
    for form in ("reg", "eag", "feg"):
        ours, textbook = queries.OursAsks(form), queries.TextbookAsks(form)
        assert ours.questions(4) == pytest.approx(textbook.questions(4), abs=1e-14), form


def test_anchor_terms_are_inherited_or_not() -> None:
    for arm in ("picard", "forward", "extragradient", "popov", "eag", "feg"):
        found = rows("placements", arm, "unit-vectors", {})
        off = max(row.values["off"] for row in found)
        assert (off < 1e-12) is (arm not in ("eag", "feg")), arm


def test_the_table_of_placements_is_that_of_the_formulas() -> None:
    """Second line of the extragradient: x - eta F(y) - delta (y - anchor)."""
    eta, delta = 0.4, 0.2
    _, lines = queries.Placement("extragradient", eta, delta).lines()
    y = np.array([1 - delta, delta, -eta, 0, 0, 0])
    assert lines[0] == pytest.approx(y)
    x = np.array([1, delta, 0, -eta, 0, 0]) - delta * y
    assert lines[1] == pytest.approx(x)


# --- performance estimation -----------------------------------------------------------------------


@pytest.mark.parametrize("N", [2, 4, 8])
def test_the_worst_case_of_the_fast_extragradient_is_known(N: int) -> None:
    norm = worst_case.worst_norm(queries.OursAsks("feg").questions(N))
    assert norm == pytest.approx(2 / N, abs=1e-5)


def test_our_program_is_that_of_pepit() -> None:
    pepit = pytest.importorskip("PEPit")
    from PEPit.operators import LipschitzStronglyMonotoneOperatorCheap

    problem = pepit.PEP()
    F = problem.declare_function(LipschitzStronglyMonotoneOperatorCheap, mu=0, L=1)
    solution, start = F.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((start - solution) ** 2 <= 1)
    x = start
    for k in range(3):
        delta = 1 / (k + 2)
        y = x - 0.5 * F.gradient(x) - delta * (x - start)
        x = x - 0.5 * F.gradient(y) - delta * (y - start)
    problem.set_performance_metric(F.gradient(x) ** 2)
    theirs = math.sqrt(problem.solve(verbose=0, solver="CLARABEL"))
    ours = worst_case.worst_norm(queries.OursAsks("reg").questions(3))
    assert ours == pytest.approx(theirs, abs=1e-4)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["reg", "eg", "eag", "feg"]))
def test_no_operator_is_worse_than_the_worst(seed: int, method: str) -> None:
    problem = problems.bilinear(np.random.default_rng(seed))
    share = 0.125 if method == "eag" else None
    residuals = rivals.Ours(method, share).residuals(problem, 3)
    bound = worst_case.worst_norm(queries.OursAsks(method).questions(3))
    assert residuals[3] <= bound * problem.distance * (1 + 1e-6)


# --- real data ------------------------------------------------------------------------------------


def test_the_shared_regression_is_monotone_and_its_saddle_point_is_the_pooled_fit() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(4, 12, 3)), rng.choice([-1.0, 1.0], size=(4, 12))
    problem = consensus.consensus(X, signs)
    for x, y in rng.normal(size=(50, 2, problem.x0.size)):
        apart, changed = x - y, problem.F(x) - problem.F(y)
        assert apart @ changed >= -1e-10
        assert np.linalg.norm(changed) <= problem.L * np.linalg.norm(apart)

    from probatum.optimize import monotone_root

    found = monotone_root(problem.F, problem.x0, method="eg", L=problem.L, tol=1e-8)
    weights = found.x[:12].reshape(4, 3)
    assert found.success
    assert weights == pytest.approx(np.tile(weights[0], (4, 1)), abs=1e-6)

    def pooled(w: Any) -> float:
        margin = signs * (X @ w)
        return float(np.logaddexp(0, -margin).sum() + 4 * 0.5 * w @ w)

    assert weights[0] == pytest.approx(minimize(pooled, np.zeros(3)).x, abs=1e-4)


def test_evaluations_are_counted_and_cut_off() -> None:
    problem = consensus.sites("breast_cancer", 20, 4)(np.random.default_rng(0))
    eg = consensus.Counted("eg").evaluations(problem, 1e-2, 10_000)
    again = consensus.Counted("eg").evaluations(problem, 1e-2, eg - 10)
    assert again == eg - 10
    assert consensus.CountedForm("graal", 1).evaluations(problem, 1e-2, 10_000) < 10_000
    assert consensus.CountedForm("constant-weight", 2).evaluations(problem, 1e-6, 500) == 500
    assert consensus.identity_of_sites("caravan", 1, 1) != ""


# --- a reader's own method ------------------------------------------------------------------------


class Reader:
    """A reader's extragradient, as its rate experiment asks for."""

    def solve(self, F: Any, x0: Any, L: float, maxiter: int) -> Any:
        x, points = x0, []
        for _ in range(maxiter + 1):
            points.append(x)
            x = x - 0.5 / L * F(x - 0.5 / L * F(x))
        return np.array(points)


class TooShort:
    def solve(self, F: Any, x0: Any, L: float, maxiter: int) -> Any:
        return [x0]


def test_a_reader_s_method_is_an_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "Reader", Reader, raising=False)
    monkeypatch.setattr(rivals, "TooShort", TooShort, raising=False)
    problem = problems.bilinear(np.random.default_rng(0))
    own = rivals.Readers(f"{rivals.__name__}:Reader")
    ours = rivals.Ours("eg").residuals(problem, 200)
    assert own.residuals(problem, 200) == pytest.approx(ours, rel=1e-9)
    assert isinstance(own.probe(), Reader)
    with pytest.raises(ValueError, match="needed to judge"):
        rivals.Readers(f"{rivals.__name__}:TooShort").residuals(problem, 200)


def test_experiments_take_a_reader_s_method() -> None:
    for name in ("equation-rates", "forward-rate", "plain-methods"):
        of = experiment(name)
        assert of.arm_interface == "probatum.catalog.anchored_fixed_point.rivals:MonotoneSolver"
        assert callable(resolve(str(of.arm_make)))


def test_a_block_of_another_draw_is_another_problem() -> None:
    arm = Arm("reg", f"{rivals.__name__}:Ours", params={"method": "reg"})
    dataset = Dataset("skew", f"{problems.__name__}:equations", "generated", {"name": "skew"})
    values = [
        rates.equation_rates(TrialBlock("x/y", (arm,), dataset, {"steps": 200}, r))[0].values
        for r in (0, 0, 1)
    ]
    assert values[0] == values[1] != values[2]
