"""export: tidy files, whole or not at all."""

import csv
import json
import sys

import pytest

INLINE = ("--jobs", "0", "--quiet")
SMOKE = ("--profile", "smoke")


@pytest.fixture
def checked(probatum):
    """A store with the trials of two papers."""
    assert probatum("check", "coins", "noisy", *SMOKE, *INLINE).code == 0
    return probatum


def _csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_trials_as_csv(checked, toy):
    ran = checked("export", "coins", "-o", "trials.csv", "--json")
    found = ran.object("export")
    rows = _csv(toy / "trials.csv")
    assert ran.code == 0
    assert found == {"file": "trials.csv", "what": "trials", "rows": len(rows)}
    assert len(rows) == 60 * 3
    assert {row["metric"] for row in rows} == {"score", "gap", "hit"}
    assert {row["paper"] for row in rows} == {"coins"}
    hit = next(row for row in rows if row["metric"] == "hit")
    assert (hit["value"], hit["tries"]) == ("", "50")


def test_all_papers_by_default(checked, toy):
    checked("export", "-o", "trials.json")
    trials = json.loads((toy / "trials.json").read_text())["trials"]
    assert {row["paper"] for row in trials} == {"coins", "noisy"}


def test_decisions_of_a_store(checked, toy):
    assert checked("export", "coins", "--what", "decisions", "-o", "d.json", *SMOKE).code == 0
    decisions = json.loads((toy / "d.json").read_text())["decisions"]
    again = checked("check", "coins", "--json", *SMOKE, *INLINE).object("check")["decisions"]
    assert [(d["claim"], d["verdict"], d["n"]) for d in decisions] == [
        (d["claim"], d["verdict"], d["n"]) for d in again
    ]


def test_shipped_evidence(probatum, toy):
    assert probatum("check", "coins", "--ship", *INLINE).code == 0
    assert probatum("export", "--shipped", "-o", "t.csv").code == 0
    assert probatum("export", "coins/often", "--shipped", "--what", "decisions", "-o", "d.csv")
    assert len(_csv(toy / "t.csv")) == 180 * 3
    assert [row["claim"] for row in _csv(toy / "d.csv")] == ["often"]
    assert probatum("export", "--shipped", "--what", "decisions", "-o", "a.csv").code == 0
    reasons = {(r["paper"], r["claim"]): r["reason"] for r in _csv(toy / "a.csv")}
    assert len(reasons) == 9
    assert "rocket" in reasons["coins", "in-space"]
    assert reasons["noisy", "bounded"] == "not shipped"
    (toy / "shipped" / "coins.csv").write_text("what,is,this\n")
    ran = probatum("export", "--shipped", "-o", "t.csv")
    assert ran.code == 3
    assert "coins.csv" in ran.err
    assert len(_csv(toy / "t.csv")) == 180 * 3


def test_parquet_needs_pyarrow(checked, toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = checked("export", "-o", "trials.parquet")
    assert ran.code == 3
    assert "pip install pyarrow" in ran.err
    assert {path.name for path in toy.iterdir()} == {".probatum"}


def test_parquet(checked, toy):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert checked("export", "coins", "-o", "trials.parquet").code == 0
    assert parquet.read_table(toy / "trials.parquet").num_rows == 60 * 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "output"),
        (("-o", "x.xlsx"), 2, ".csv"),
        (("-o", "nowhere/x.csv"), 2, "folder"),
        (("-o", "x.csv", "--what", "plots"), 2, "what"),
        (("coinz", "-o", "x.csv"), 2, "coins"),
        (("-o", "x.csv", "--shipped", "--store", "a.db"), 2, "--shipped"),
        (("-o", "x.csv"), 3, "no store"),
        (("-o", "x.csv", "--store", "a.db"), 3, "no store"),
    ],
)
def test_misuse_gives_one_line_and_no_file(probatum, toy, arguments, code, said):
    ran = probatum("export", *arguments)
    assert ran.code == code
    assert len(ran.err.strip().splitlines()) == 1
    assert said in ran.err
    assert not list(toy.iterdir())


def test_a_folder_that_cannot_be_written(checked, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("probatum.files.tempfile.mkstemp", refuse)
    ran = checked("export", "-o", "x.csv")
    assert ran.code == 3
    assert "Permission denied" in ran.err
