"""The tool of the anchored fixed-point entry, and its trials on linear programs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.catalog.anchored_fixed_point import _lp_claims, linear_programs, tool
from probatum.evidence import Arm
from probatum.evidence.model import resolve
from probatum.evidence.trial import TrialBlock

pytest.importorskip("highspy")
EXPERIMENT = _lp_claims.LP_EXPERIMENT
INFEASIBLE = "min\n obj: x + y\nst\n c1: x + y >= 10\n c2: x - y = 0\nbounds\n x <= 3\nend\n"
ENDLESS = "max\n obj: x + y\nst\n c1: x - y <= 10\nend\n"


@pytest.fixture
def diet(tmp_path: Path) -> Path:
    tool.example(tmp_path)
    return tmp_path / "diet.mps"


def test_the_example_solves_and_writes_csv(diet: Path, tmp_path: Path) -> None:
    output = tmp_path / "solution.csv"
    calls: list[tuple[float, float | None, str]] = []

    def progress(done: float, total: float | None = None, what: str = "") -> None:
        calls.append((done, total, what))

    answer = tool.solve_file(diet, peer=True, output=output, progress=progress)
    assert answer.values["status"] == "optimal"
    assert answer.values["objective"] == pytest.approx(24.5, rel=1e-5)
    assert answer.values["peer"]["relative_difference"] < 1e-5
    assert answer.files == (output,)
    assert answer.warnings == ()
    assert any("HiGHS simplex" in line for line in answer.lines)
    assert all("\n" not in line for line in answer.lines)
    assert [done for done, _, _ in calls] == sorted(done for done, _, _ in calls)
    assert all(total is not None and 0 <= done <= total for done, total, _ in calls)
    with output.open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["name"] for row in table if row["kind"] == "row"] == ["energy", "protein", "weight"]
    assert (table[0]["kind"], table[0]["name"]) == ("status", "optimal")
    assert float(table[0]["value"]) == answer.values["objective"]
    values = {row["name"]: float(row["value"]) for row in table}
    assert values["bread"] == pytest.approx(6)
    assert values["energy"] == pytest.approx(2000, rel=1e-5)
    assert float(table[1]["marginal"]) == pytest.approx(-4.25, rel=1e-4)
    json.dumps(answer.values, allow_nan=False)


def test_json_holds_everything(diet: Path, tmp_path: Path) -> None:
    output = tmp_path / "solution.json"
    answer = tool.solve_file(diet, presolve=False, method="halpern", output=output)
    found = json.loads(output.read_text())
    assert found["objective"] == answer.values["objective"]
    assert [v["name"] for v in found["solution"]["variables"]] == ["bread", "milk", "beans"]
    assert found["solution"]["rows"][0]["dual"] == pytest.approx(0.025, rel=1e-4)


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [(INFEASIBLE, "infeasible", "farkas"), (ENDLESS, "unbounded", "ray")],
)
def test_no_optimum_is_an_answer_with_a_proof(
    tmp_path: Path, text: str, status: str, kind: str, presolve: bool
) -> None:
    (tmp_path / "p.lp").write_text(text)
    output = tmp_path / "s.json"
    answer = tool.solve_file(tmp_path / "p.lp", presolve=presolve, peer=True, output=output)
    assert answer.values["status"] == status
    assert answer.values["peer"]["status"] == status
    assert answer.values["objective"] is None
    certificate = answer.values["certificate"]
    assert certificate["kind"] == kind
    if kind == "farkas":
        assert certificate["demanded"] > certificate["possible"]
        assert answer.warnings == ()
    else:
        assert certificate["slope"] > 0
        assert "feasible point" in answer.warnings[0]
        assert len(answer.warnings) == 1
    assert answer.incomplete == ""
    written = json.loads(output.read_text())
    assert next(iter(written)) == "status"
    assert written["status"] == status
    assert ("solution" in written) == (status == "unbounded")
    assert any(entry["value"] for entry in written["certificate"]["entries"])
    json.dumps(answer.values, allow_nan=False)


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize(
    ("text", "status", "kinds"),
    [
        (INFEASIBLE, "infeasible", {"status", "farkas"}),
        (INFEASIBLE.replace("x <= 3", "5 <= x <= 3"), "infeasible", {"status", "proof"}),
        (ENDLESS, "unbounded", {"status", "variable", "row", "ray"}),
    ],
)
def test_a_file_that_was_there_is_replaced_whatever_the_status(
    tmp_path: Path, text: str, status: str, kinds: set[str], presolve: bool
) -> None:
    (tmp_path / "p.lp").write_text(text)
    output = tmp_path / "s.csv"
    output.write_text("an older solution\n")
    answer = tool.solve_file(tmp_path / "p.lp", presolve=presolve, output=output)
    assert answer.files == (output,)
    with output.open(newline="") as file:
        table = list(csv.DictReader(file))
    assert (table[0]["kind"], table[0]["name"], table[0]["value"]) == ("status", status, "")
    assert {row["kind"] for row in table} == kinds
    if "proof" in kinds:
        assert any("proof            the bounds of x cross, 5 > 3" in s for s in answer.lines)


def test_a_row_without_variables_is_its_own_proof(tmp_path: Path) -> None:
    text = "NAME\nROWS\n N c\n G r\n E s\nCOLUMNS\n x c 1\nRHS\n d r 3\nENDATA\n"
    (tmp_path / "p.mps").write_text(text)
    answer = tool.solve_file(tmp_path / "p.mps", output=tmp_path / "s.json")
    assert answer.values["certificate"] == {"kind": "farkas", "demanded": 3.0, "possible": 0.0}


def test_a_limit_is_said_with_what_would_help(diet: Path) -> None:
    answer = tool.solve_file(diet, presolve=False, max_iterations=5)
    assert answer.values["status"] == "stopped"
    assert "raise --max-iterations" in answer.incomplete
    answer = tool.solve_file(diet, presolve=False, tol=1e-15, time_limit=1e-9)
    assert "raise --time-limit" in answer.incomplete
    output = diet.with_name("s.csv")
    tool.solve_file(diet, presolve=False, max_iterations=5, output=output)
    assert output.read_text().splitlines()[1].startswith("status,stopped,")


def test_names_that_spreadsheets_would_run_are_quoted(tmp_path: Path) -> None:
    text = tool.EXAMPLE.replace("bread", '=1+1,"x"').replace("milk", "@SUM(A1)")
    (tmp_path / "p.mps").write_text(text)
    tool.solve_file(tmp_path / "p.mps", output=tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    assert names[1:3] == ['\'=1+1,"x"', "'@SUM(A1)"]


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1, max_size=12))
def test_no_cell_starts_a_formula(name: str) -> None:
    cell = tool._cell(name)
    assert cell[0] not in "=+-@\t\r"
    assert cell.endswith(name)


def test_bad_use_ends_in_one_line(diet: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.mps").write_text("")
    (tmp_path / "garbled.mps").write_bytes(bytes(range(256)))
    (tmp_path / "linked.csv").hardlink_to(diet)
    cases: list[tuple[type[Exception], str, Path, dict[str, Any]]] = [
        (ValueError, "is empty", tmp_path / "empty.mps", {}),
        (ValueError, "line 1: ", tmp_path / "garbled.mps", {}),
        (ValueError, "must end in .csv or .json", diet, {"output": tmp_path / "a.txt"}),
        (ValueError, "-o .*diet.mps would overwrite the file that is read", diet, {"output": diet}),
        (ValueError, "would overwrite", diet, {"output": tmp_path / "linked.csv"}),
        (ValueError, "--tol must be above 0", diet, {"tol": -1.0}),
        (ValueError, "--tol must be above 0 and below 1", diet, {"tol": 1.0}),
        (ValueError, "--tol must be above 0", diet, {"tol": float("nan")}),
        (ValueError, "--max-iterations must be 1 or more", diet, {"max_iterations": 0}),
        (ValueError, "--time-limit must be above 0", diet, {"time_limit": 0.0}),
        (OSError, "No such file", tmp_path / "no.mps", {}),
        (OSError, "directory", tmp_path, {}),
        (OSError, "there is no folder", diet, {"output": tmp_path / "no" / "a.csv"}),
    ]
    for kind, words, problem, options in cases:
        with pytest.raises(kind, match=words) as caught:
            tool.solve_file(problem, **options)
        assert "\n" not in str(caught.value)


def test_integers_are_relaxed_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "p.lp").write_text("min\n obj: x\nst\n c: 2 x >= 3\ngeneral\n x\nend\n")
    answer = tool.solve_file(tmp_path / "p.lp")
    assert answer.values["objective"] == pytest.approx(1.5, rel=1e-5)
    assert "taken as continuous" in answer.warnings[0]


# --- the trials ----------------------------------------------------------------------------------


def block(arm: Arm, dataset: Any, replicate: int = 0, **size: Any) -> TrialBlock:
    size = {"rows": 20, "limit": 4000, "tolerances": (1e-3, 1e-5), **size}
    return TrialBlock("anchored-fixed-point/linear-programs", (arm,), dataset, size, replicate)


@pytest.mark.parametrize("dataset", EXPERIMENT.datasets, ids=lambda d: d.id)
def test_programs_have_an_optimum_and_change_with_the_replicate(dataset: Any) -> None:
    first, again, other = (
        dataset.open().draw(np.random.default_rng(seed), {"rows": 20})[0] for seed in (0, 0, 1)
    )
    best = linear_programs.solve_with_highs(first)
    assert best["status"] == "optimal"
    assert linear_programs.solve_with_highs(again)["objective"] == best["objective"]
    assert linear_programs.solve_with_highs(other)["objective"] != best["objective"]


def test_median_regression_is_what_scikit_learn_finds() -> None:
    from sklearn.linear_model import QuantileRegressor

    lp, _ = linear_programs.QuantileRegression(0.9).draw(np.random.default_rng(0), {"rows": 50})
    X, y = lp.A[:, 1:11].toarray(), lp.row_lower
    model = QuantileRegressor(quantile=0.9, alpha=0.0).fit(X, y)
    rest = y - model.predict(X)
    loss = float(np.sum(np.maximum(0.9 * rest, -0.1 * rest)))
    assert linear_programs.solve_with_highs(lp)["objective"] == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("arm", EXPERIMENT.arms, ids=lambda a: a.id)
def test_every_arm_counts_its_steps(arm: Arm) -> None:
    dataset = EXPERIMENT.datasets[-1]
    rows = linear_programs.iterations(block(arm, dataset))
    assert [row.case for row in rows] == ["0.001", "1e-05"]
    counts = [row.values["iterations"] for row in rows]
    assert 0 < counts[0] <= counts[1] <= 4000
    assert all(row.values["false_optimum"] == 0 for row in rows)
    assert all((row.values["unsolved"] == 1) <= (row.values["iterations"] == 4000) for row in rows)
    if arm.role == "control":
        assert counts[1] == 4000
    if arm.id == "halpern":
        assert counts[1] < 4000


def test_a_wrong_optimum_would_be_noticed() -> None:
    arm = Arm("liar", f"{__name__}:Liar")
    (loose, tight) = linear_programs.iterations(block(arm, EXPERIMENT.datasets[-1]))
    assert loose.values["false_optimum"] == 0
    assert tight.values["false_optimum"] == 1


class Liar:
    """Says at once that it is done."""

    def count(self, lp: Any, tolerances: Any, limit: int, start: Any) -> linear_programs.Counts:
        return linear_programs.Counts((1, 1), 1e9)


def test_a_readers_file_is_a_data_set(diet: Path) -> None:
    dataset = resolve(str(EXPERIMENT.data_slot))(diet)
    assert dataset.id == "diet"
    assert dataset.licence == "the reader's own"
    assert len(resolve(dataset.identity)(**dataset.params)) == 64
    arm = EXPERIMENT.arm("halpern")
    counts = [
        linear_programs.iterations(block(arm, dataset, replicate))[1].values["iterations"]
        for replicate in range(4)
    ]
    assert max(counts) < 4000
    diet.write_text(INFEASIBLE)
    with pytest.raises(ValueError, match="can be read"):
        resolve(str(EXPERIMENT.data_slot))(diet)
    (diet.parent / "i.lp").write_text(INFEASIBLE)
    with pytest.raises(ValueError, match="no optimum to converge to: it is infeasible"):
        resolve(str(EXPERIMENT.data_slot))(diet.parent / "i.lp")


def test_the_method_has_the_readers_interface() -> None:
    from probatum.evidence.opened import check_interface

    target = f"{linear_programs.__name__}:HighsPdlp"
    check_interface("mine", target, str(EXPERIMENT.arm_interface), EXPERIMENT.arm_make)
