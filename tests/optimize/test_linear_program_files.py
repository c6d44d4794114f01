"""Linear programs from arrays and from files: what is read, and what is refused in one line."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from probatum.optimize.linear_program import LinearProgram, read_mps, solve_lp
from probatum.optimize.linear_program.highs import Presolved, solve_with_highs

highspy = pytest.importorskip("highspy")
INF = np.inf
FULL = """\
NAME          TRIAL
OBJSENSE
    MAX
ROWS
 N  profit
 L  most
 G  least
 E  exact
 N  idle
COLUMNS
    x         profit    1.0   most      1.0
    x         least     1.0   idle      3.0
    MARK0     'MARKER'  'INTORG'
    n         profit    2.0   most      1.0
    MARK1     'MARKER'  'INTEND'
    z         profit    0.5   exact     1.0
RHS
    RHS       most      4.0   least     1.0
    RHS       exact     2.0   profit    -5.0
RANGES
    RNG       most      2.0   exact     -1.0
BOUNDS
 UP BND       x         3.0
 MI BND       z
ENDATA
"""
SMALL = (
    "minimise\n obj: x + 2 y\nsubject to\n c1: x + y >= 2\n c2: x - y >= -1\n c3: x - y <= 1\nend\n"
)


def test_every_section_of_an_mps_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "full.mps"
    file.write_text(FULL)
    with pytest.warns(UserWarning, match="1 integer variables are taken as continuous"):
        lp = read_mps(file)
    assert lp.sense == "max"
    assert lp.offset == 5.0
    assert lp.row_names == ("most", "least", "exact")
    assert lp.column_names == ("x", "n", "z")
    assert lp.row_lower == pytest.approx([2, 1, 1])
    assert lp.row_upper == pytest.approx([4, INF, 2])
    assert lp.lower == pytest.approx([0, 0, -INF])
    assert lp.upper[[0, 2]] == pytest.approx([3, INF])
    assert lp.A.toarray() == pytest.approx(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1.0]]))
    result = solve_lp(lp)
    # An integer variable without bounds of its own goes up to 1 in MPS.
    assert result.fun == pytest.approx(3 + 2 * 1 + 0.5 * 2 + 5, rel=1e-5)


@pytest.mark.parametrize("name", ["a.lp", "a.lp.gz", "A B ü.LP"])
def test_lp_format_packed_or_not(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    data = SMALL.encode()
    file.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    lp = read_mps(file)
    assert lp.shape == (3, 2)
    assert lp.row_lower == pytest.approx([2, -1, -INF])
    assert solve_lp(lp).fun == pytest.approx(2.5, rel=1e-5)


BAD: dict[str, tuple[str, bytes]] = {
    "is empty": ("a.mps", b""),
    "is not a linear program in MPS format": ("a.mps", b"garbage\n\x00\xff"),
    "is not a linear program in LP format": ("a.lp", b"max\n obj: 3 x\nwhatever 7 7 7 >\nend\n"),
    "can read": ("a.mps", FULL.replace("ENDATA\n", "").encode()),
    "not in UTF-8": ("a.mps", FULL.replace(" x  ", " \xe9  ").encode("latin-1")),
    "must hold finite numbers, got nan": (
        "a.mps", FULL.replace("x         profit    1.0", "x         profit    nan").encode(),
    ),
    "must end in .mps": ("a.txt", FULL.encode()),
    "no rows and no variables": ("a.mps", b"NAME\nROWS\n N  COST\nENDATA\n"),
    "quadratic": ("a.lp", b"min\n obj: x + [ x^2 ] / 2\nst\n c: x >= 1\nend\n"),
    "semi-continuous": ("a.lp", b"min\n obj: x\nst\n c: x >= 1\nbounds\n x <= 9\nsemi\n x\nend\n"),
}  # fmt: skip


@pytest.mark.parametrize("words", BAD)
def test_bad_files_end_in_one_line(tmp_path: Path, words: str) -> None:
    name, content = BAD[words]
    (tmp_path / name).write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=words) as caught:
            read_mps(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_mps(tmp_path / "no.mps")
    with pytest.raises(IsADirectoryError):
        read_mps(tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, len(FULL) - 1),
    st.one_of(
        st.binary(max_size=12), st.sampled_from([b"-", b"1e400", b"\n", b" x ", b"RANGES\n"])
    ),
    st.sampled_from(["a.mps", "a.lp"]),
)
def test_damaged_files_are_read_or_refused(tmp_path: Path, at: int, put: bytes, name: str) -> None:
    text = (FULL if name.endswith("mps") else SMALL).encode()
    at %= len(text)
    (tmp_path / name).write_bytes(text[:at] + put + text[at + len(put) // 2 :])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            lp = read_mps(tmp_path / name)
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert isinstance(lp, LinearProgram)


def test_reading_says_nothing_on_stdout(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.lp").write_text(SMALL)
    lp = read_mps(tmp_path / "a.lp")
    solve_lp(lp)
    solve_with_highs(lp, solver="pdlp")
    assert capfd.readouterr().out == ""


def test_without_highspy_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "highspy", None)
    lp = LinearProgram.from_scipy([1.0], [[1.0]], [1.0])
    with pytest.raises(ImportError, match=r"presolve=False.*probatum\[optimize\]") as caught:
        solve_lp(lp)
    assert caught.value.remedy  # type: ignore[attr-defined]
    assert solve_lp(lp, presolve=False).status == 0


def test_scipys_arguments_mean_the_same() -> None:
    rng = np.random.default_rng(0)
    A_ub, A_eq = rng.standard_normal((4, 6)), rng.standard_normal((2, 6))
    x = rng.random(6)
    c = rng.random(6)
    given = (c, A_ub, A_ub @ x + 0.1, sparse.csr_array(A_eq), A_eq @ x)
    for bounds in ((0, 1), (0, None), [(0, 2)] * 5 + [(-1, None)]):
        theirs = linprog(*given[:3], A_eq, given[4], bounds=bounds)
        ours = solve_lp(LinearProgram.from_scipy(*given, bounds=bounds), tol=1e-8)
        assert ours.fun == pytest.approx(theirs.fun, rel=1e-6)
        marginals = np.concatenate([theirs.ineqlin.marginals, theirs.eqlin.marginals])
        assert ours.dual == pytest.approx(marginals, abs=1e-5)
    pair = LinearProgram.from_scipy([1.0, 1.0], bounds=[(1, 2), (3, 4)])
    assert pair.lower == pytest.approx([1, 3])


BAD_ARRAYS: dict[str, dict[str, Any]] = {
    "A has 2 columns, but c has 1": {"c": [1.0]},
    "c must hold finite numbers, got inf": {"c": [1.0, INF]},
    "c must be a vector": {"c": [[1.0, 2.0]]},
    "A must hold finite numbers, got nan": {"A": [[np.nan, 1.0]]},
    "A must be a matrix": {"A": [[[1.0]]]},
    "A must be a matrix of numbers": {"A": [["a", "b"]]},
    "row_lower must be a vector of 1": {"row_lower": [1.0, 2.0]},
    r"row_lower\[0\] must be a number below": {"row_lower": [INF]},
    r"upper\[1\] must be a number .* got -inf": {"upper": [1.0, -INF]},
    r"lower\[0\] must be a number .* got nan": {"lower": [np.nan, 0.0]},
    "sense must be 'min' or 'max', got 'maximize'": {"sense": "maximize"},
    "offset must be finite": {"offset": INF},
    "row_names must be 1 names": {"row_names": ("a", "b")},
}


@pytest.mark.parametrize("words", BAD_ARRAYS)
def test_bad_arrays_are_named(words: str) -> None:
    good: dict[str, Any] = {
        "c": [1.0, 2.0], "A": [[1.0, 1.0]], "row_lower": [0.0], "row_upper": [1.0],
        "lower": [0.0, 0.0], "upper": [1.0, 1.0],
    }  # fmt: skip
    assert LinearProgram(**good).shape == (1, 2)
    with pytest.raises(ValueError, match=words) as caught:
        LinearProgram(**{**good, **BAD_ARRAYS[words]})
    assert "\n" not in str(caught.value)


def test_halves_of_scipys_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="A_ub and b_ub come together"):
        LinearProgram.from_scipy([1.0], [[1.0]])
    with pytest.raises(ValueError, match="bounds must be one pair or 1 pairs"):
        LinearProgram.from_scipy([1.0], bounds=[(0, 1), (0, 1), (0, 1)])


def test_the_program_keeps_its_own_copy() -> None:
    c, A = np.array([1.0, 2.0]), sparse.csr_array([[1.0, 0.0]])
    lp = LinearProgram(c, A, [0.0], [1.0], [0.0, 0.0], [1.0, 1.0])
    c[0], A.data[0] = 9.0, 9.0
    assert lp.c[0] == 1
    assert lp.A.data[0] == 1
    assert "2 variables" in repr(lp)


def test_presolve_gives_back_an_optimal_point_with_duals() -> None:
    rng = np.random.default_rng(5)
    A = sparse.random_array((30, 50), density=0.08, rng=rng, format="csr")
    x = np.maximum(rng.standard_normal(50), 0)
    cost = A.T @ rng.standard_normal(30) + np.where(x > 0, 0, rng.random(50))
    lp = LinearProgram(cost, A, A @ x, A @ x, np.zeros(50), np.full(50, INF))
    assert Presolved(lp).verdict in ("reduced", "solved")
    result = solve_lp(lp)
    assert result.status == 0
    assert result.fun == pytest.approx(lp.objective(x), rel=1e-5, abs=1e-5)
    assert max(result.primal_residual, result.dual_residual, result.gap) <= 1e-6


@pytest.mark.parametrize("solver", ["simplex", "ipm", "pdlp", "hipdlp"])
def test_the_peers_agree(solver: Any) -> None:
    lp = LinearProgram([3.0, 2.0], [[1.0, 1.0]], [-INF], [4.0], [0, 0], [3, INF], "max")
    found = solve_with_highs(lp, solver=solver)
    assert found["status"] == "optimal"
    assert found["objective"] == pytest.approx(11, rel=1e-5)
