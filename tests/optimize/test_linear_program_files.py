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
    lp, said = read_telling(file)
    assert "1 integer variables are taken as continuous" in said[0]
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
    "line 24 is the last, without ENDATA": ("a.mps", FULL.replace("ENDATA\n", "").encode()),
    "not in UTF-8": ("a.mps", FULL.replace(" x  ", " \xe9  ").encode("latin-1")),
    "line 11: column 'x', row 'profit' must be a number, got 'nan'": (
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


# What HiGHS would cut off, leave out or take twice: part of the text, what it becomes, the words.
WRONG_LINES: list[tuple[str, str, str]] = [
    ("profit    1.0", "profit    -1,9", "line 11: column 'x', row 'profit' .* got '-1,9'"),
    ("profit    1.0", "profit    4,5abc", "line 11: .* must be a number, got '4,5abc'"),
    ("profit    1.0", "profit    0x10", "must be a number, got '0x10'"),
    ("profit    1.0", "profit    1+3", r"must be a number, got '1\+3'"),
    ("profit    1.0", "profit    1e999", "must be a finite number, got '1e999'"),
    ("profit    1.0", "profit    inf", "must be a finite number, got 'inf'"),
    ("most      4.0", "most      4.0.0", "line 18: RHS of row 'most' .* got '4.0.0'"),
    ("most      2.0", "most      2;0", "line 21: RANGES of row 'most' .* got '2;0'"),
    ("x         3.0", "x         3,0", "line 23: bound UP of column 'x' .* got '3,0'"),
    ("least     1.0   idle", "lost      1.0   idle", "line 12: row 'lost' is not defined in ROWS"),
    ("least     1.0   idle", "most      1.0   idle", "row 'most' comes twice in column 'x'"),
    ("    z         profit", "    x         profit", "column 'x' comes twice, with others"),
    ("exact     2.0   profit", "exact     2.0   lost", "line 19: row 'lost' is not defined"),
    ("exact     2.0   profit", "most      2.0   profit", "row 'most' comes twice in RHS"),
    ("    RHS       exact", "    RHS2      exact", "RHS has a second set 'RHS2', after 'RHS'"),
    ("most      2.0   exact", "most      2.0   idle", "row 'idle' is of kind N and takes no range"),
    (" MI BND       z", " MI BND       q", "line 24: column 'q' is not defined in COLUMNS"),
    (" MI BND       z", " LO BND       z", "a set, a column and a number|is not defined"),
    (" MI BND       z", " FX BND       x   2.0", "the upper bound of column 'x' comes twice"),
    (" MI BND       z", " MI B2        z", "second set 'B2'"),
    (" MI BND       z", " XX BND       z", "a bound must be UP, .* got 'XX'"),
    (" N  idle", " N  profit", "line 9: row 'profit' comes twice"),
    (" N  idle", " n  idle", "a row must be of kind N, L, G or E, got 'n'"),
    (
        " N  idle",
        " N  my idle",
        "3 fields; a name with spaces is read only in the columns of fixed",
    ),
    ("    x         least", "    my x      least", "names? with spaces"),
    ("least     1.0   idle      3.0", "least     1.0   idle", "got 4 fields"),
    ("'INTORG'", "'INT'", "a marker must be"),
    ("    MAX", "    MOST", "line 3: OBJSENSE must be MIN or MAX, got 'MOST'"),
    ("ENDATA", "RHS\nENDATA", "line 25: section RHS comes twice"),
    ("ENDATA", "SOS\nENDATA", "section SOS is no part of a linear program"),
    ("OBJSENSE\n    MAX", "OBJSENSE:MAX", "line 2: .* begins no section that is known"),
    ("ENDATA", "", "is the last, without ENDATA"),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG_LINES)
def test_nothing_in_an_mps_file_is_cut_off_or_left_out(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in FULL
    text = FULL.replace(old, new, 1)
    for name, data in (("a.mps", text.encode()), ("a.mps.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=words) as caught:
            read_mps(tmp_path / name)
        assert "\n" not in str(caught.value)


def read_telling(file: Path) -> tuple[LinearProgram, list[str]]:
    """The program, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return read_mps(file), [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.", 1), (".5", 0.5), ("+2e1", 20), ("-3E+0", -3), ("1.5D1", 15), ("2d-1", 0.2)],
)
def test_numbers_are_read_as_they_stand(tmp_path: Path, text: str, number: float) -> None:
    (tmp_path / "a.mps").write_text(FULL.replace("profit    1.0", f"profit    {text}"))
    assert read_telling(tmp_path / "a.mps")[0].c[0] == pytest.approx(number)


@pytest.mark.parametrize("side", ["inf", "Infinity", "1e30"])
def test_sides_may_be_infinite(tmp_path: Path, side: str) -> None:
    (tmp_path / "a.mps").write_text(FULL.replace("x         3.0", f"x         {side}"))
    assert read_telling(tmp_path / "a.mps")[0].upper[0] == INF


def test_names_with_spaces_are_read_in_the_columns_of_fixed_format(tmp_path: Path) -> None:
    text = (
        "NAME          t\nROWS\n N  COST\n L  L 1\nCOLUMNS\n"
        "    A B       COST               1.0   L 1                1.0\n"
        "RHS\n    RHS       L 1                4.0\nBOUNDS\n UP BND       A B                3.0\n"
        "ENDATA\n"
    )
    (tmp_path / "a.mps").write_text(text)
    with pytest.warns(UserWarning, match="switching to fixed format"):
        lp = read_mps(tmp_path / "a.mps")
    assert (lp.row_names, lp.column_names) == (("L 1",), ("A B",))
    (tmp_path / "a.mps").write_text(text.replace("  3.0", "3,0  "))
    with pytest.raises(ValueError, match="with spaces"):
        read_mps(tmp_path / "a.mps")


def test_unindented_lines_without_sets_are_read(tmp_path: Path) -> None:
    text = FULL.replace("\n    ", "\n").replace("\n ", "\n").replace("RHS       most", "most")
    (tmp_path / "a.mps").write_text(text.replace("BND ", "").replace("\nENDATA", "\nFR n\nENDATA"))
    with pytest.warns(UserWarning, match="taken as continuous"):
        lp = read_mps(tmp_path / "a.mps")
    assert lp.lower == pytest.approx([0, -INF, -INF])
    assert lp.row_upper == pytest.approx([4, INF, 2])


def test_bounds_that_mps_assumes_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.mps").write_text(FULL)
    lp, said = read_telling(tmp_path / "a.mps")
    assert lp.upper[1] == 1
    assert said[1] == (
        "integer variables without bounds in the file get 0 to 1, as MPS has it: n (1 in all)"
    )
    (tmp_path / "a.mps").write_text(FULL.replace("ENDATA", " LO BND n 0\nENDATA"))
    lp, said = read_telling(tmp_path / "a.mps")
    assert lp.upper[1] == INF
    assert len(said) == 1


def test_a_row_named_twice_in_an_lp_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.lp").write_text(SMALL.replace("c2:", "c1:"))
    with pytest.raises(ValueError, match="has the row c1 twice"):
        read_mps(tmp_path / "a.lp")


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    data = gzip.compress(FULL.encode())
    for damaged in (data[: len(data) // 2], data[:20] + b"damage" + data[26:]):
        (tmp_path / "a.mps.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match="is damaged as a gzip file"):
            read_mps(tmp_path / "a.mps.gz")
