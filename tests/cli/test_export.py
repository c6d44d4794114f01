"""export: tidy files, whole or not at all."""

import csv
import datetime
import hashlib
import json
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probatum import __version__
from probatum.evidence.tables import write_table

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
    assert "pip install 'probatum[parquet]'" in ran.err
    assert {path.name for path in toy.iterdir()} == {".probatum"}


@pytest.mark.parametrize("what", ["trials", "decisions"])
def test_parquet_holds_what_json_holds(checked, toy, what):
    arguments = ("export", "coins", "noisy", "--what", what, *SMOKE)
    assert checked(*arguments, "-o", "t.parquet").code == 0
    assert checked(*arguments, "-o", "t.json").code == 0
    rows = json.loads((toy / "t.json").read_text())[what]
    assert len(rows) > 6
    table = pq.read_table(toy / "t.parquet")
    assert table.to_pylist() == [dict.fromkeys(table.column_names) | row for row in rows]
    assert {path.suffix for path in toy.iterdir() if path.is_file()} == {".parquet", ".json"}


def test_parquet_has_types_and_nulls(checked, toy):
    assert checked("export", "coins", "-o", "t.parquet").code == 0
    table = pq.read_table(toy / "t.parquet")
    kinds = {field.name: field.type for field in table.schema}
    whole = {"replicate", "successes", "tries"}
    number = {"x", "value"}
    assert {name for name, kind in kinds.items() if kind == pa.int64()} == whole
    assert {name for name, kind in kinds.items() if kind == pa.float64()} == number
    assert {kind for name, kind in kinds.items() if name not in whole | number} == {pa.string()}
    assert table["x"].null_count == len(table)
    hit = pd.read_parquet(toy / "t.parquet").query("metric == 'hit'")
    assert hit["value"].isna().all()
    assert set(hit["tries"]) == {50}


def test_parquet_keeps_text(tmp_path):
    lines = [
        {"paper": "a", "message": 'naïve → 漢字, "quoted"\nnext line', "value": 1e-300},
        {"paper": "", "message": None, "value": None, "tries": 2**53 + 1},
    ]
    assert write_table(tmp_path / "t.parquet", iter(lines), "trials") == 2
    found = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert [{**line, **given} for line, given in zip(found, lines, strict=True)] == found


def test_parquet_of_nothing_has_columns(tmp_path):
    assert write_table(tmp_path / "t.parquet", iter(()), "decisions") == 0
    table = pq.read_table(tmp_path / "t.parquet")
    assert (table.num_rows, table.schema.field("n").type) == (0, pa.int64())


def test_citations_of_a_store(checked, toy):
    arguments = ("export", "coins/often", "coins/in-space", "--what", "citations", *SMOKE)
    ran = checked(*arguments, "-o", "c.bib")
    assert (ran.code, ran.out) == (0, "c.bib: 2 citations\n")
    often, space = (toy / "c.bib").read_text().split("\n\n")
    today = datetime.datetime.now(datetime.UTC).date()
    assert often.startswith("@misc{probatum-coins-often,\n  title = {{It mostly hits [verdict: ")
    assert f"year = {{{today.year}}}" in often
    assert f"measured {today} with probatum {__version__}" in often
    assert "probatum check coins/often -{}-profile smoke}" in often
    assert "SHA-256" not in often
    assert "untested; needs a rocket" in space
    assert "measured" not in space
    found = checked(*arguments, "-o", "c.jsonld", "--json").object("export")
    assert found == {"file": "c.jsonld", "what": "citations", "rows": 2}
    graph = json.loads((toy / "c.jsonld").read_text())["@graph"]
    assert [node["claimReviewed"] for node in graph] == ["It mostly hits.", "It works in space."]
    assert graph[0]["datePublished"] == str(today)


def test_what_a_citation_says_is_what_was_decided(checked, toy):
    arguments = ("export", "coins", *SMOKE)
    assert checked(*arguments, "--what", "decisions", "-o", "d.json").code == 0
    assert checked(*arguments, "--what", "citations", "-o", "c.jsonld").code == 0
    decisions = json.loads((toy / "d.json").read_text())["decisions"]
    graph = json.loads((toy / "c.jsonld").read_text())["@graph"]
    assert len({decision["verdict"] for decision in decisions}) > 2
    assert [node["reviewRating"]["alternateName"] for node in graph] == [
        decision["verdict"] for decision in decisions
    ]


def test_citations_of_claims_that_a_store_has_no_trials_of(checked, toy):
    assert checked("export", "absent", "--what", "citations", "-o", "c.bib").code == 0
    # Of what was never tried there is nothing to cite.
    assert "@misc" not in (toy / "c.bib").read_text()


def test_citations_of_shipped_evidence(probatum, toy):
    assert probatum("check", "coins", "--ship", *INLINE).code == 0
    export = ("export", "--shipped", "--what", "citations", "-o")
    assert probatum(*export, "c.bib").code == 0
    entries = (toy / "c.bib").read_text().split("\n\n")
    digest = hashlib.sha256((toy / "shipped" / "coins.csv").read_bytes()).hexdigest()
    assert len(entries) == 9
    shipped = [entry for entry in entries if f"SHA-256 of coins.csv {digest}" in entry]
    assert len(shipped) == 5
    assert all("-{}-profile standard -{}-against shipped}" in entry for entry in shipped)
    bounded = next(entry for entry in entries if "{probatum-noisy-bounded," in entry)
    assert "note = {untested; not shipped; " in bounded
    before = (toy / "c.bib").read_bytes()
    with (toy / "shipped" / "coins.csv").open("a") as file:
        file.write("\n")
    ran = probatum(*export, "c.bib")
    assert ran.code == 3
    assert "coins.csv is not as it was shipped" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert (toy / "c.bib").read_bytes() == before
    assert not list(toy.glob(".c.bib*"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "output"),
        (("-o", "x.xlsx"), 2, ".csv"),
        (("-o", "nowhere/x.csv"), 2, "folder"),
        (("-o", "x.csv", "--what", "plots"), 2, "what"),
        (("-o", "x.bib"), 2, ".bib is for --what citations"),
        (("-o", "x", "--what", "citations"), 2, ".bib, .jsonld"),
        (("-o", "x.csv", "--what", "citations"), 2, ".csv is for --what trials or decisions"),
        (("-o", "x.json", "--what", "citations"), 2, ".jsonld"),
        (("-o", "x.bib", "--what", "citations", "--own"), 2, "--own"),
        (("-o", "x.bib", "--what", "citations"), 3, "no store"),
        (("coinz", "-o", "x.csv"), 2, "coins"),
        (("coins/bettr", "-o", "x.bib", "--what", "citations"), 2, "better"),
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
    for arguments in (("x.csv",), ("x.bib", "--what", "citations")):
        ran = checked("export", "-o", *arguments)
        assert ran.code == 3
        assert "Permission denied" in ran.err
