"""Shipped evidence: plain files from which the same decisions follow."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trials_for_engine import HERE, arm, dataset, experiment, paper, selection

from probatum.evidence import (
    Budget,
    Claim,
    Every,
    Experiment,
    Metric,
    Paper,
    Rate,
    Stat,
    Within,
)
from probatum.evidence import fingerprint as fingerprints
from probatum.evidence.run import RunReport, execute
from probatum.evidence.shipped import (
    COLUMNS,
    ShippedError,
    freshness,
    index,
    read_index,
    read_records,
    ship,
    shipped_decisions,
    write_index,
)
from probatum.evidence.store import Record, Store

FATE = {3: "raises"}
STANDARD = {"quick": Budget(10, {"n": (1,)}), "standard": Budget(20, {"n": (1, 2)})}
CURVED = {"standard": Budget(20, {"n": (10, 30, 100)})}
SCORES = experiment(
    (arm("good", "method", mean=1.0), arm("poor", mean=0.0, fate=FATE)), budgets=STANDARD
)
TIMES = experiment(
    (arm("good", "method", exponent=-0.5), arm("poor", exponent=-0.1)),
    "curve",
    id="curves",
    metrics={"err": Metric("lower"), "cost": Metric("lower")},
    budgets=CURVED,
    together=True,
)
COUNTS = experiment(
    (arm("good", "method", rate=0.95),),
    "counts",
    id="counts",
    metrics={"m": Metric("higher"), "hit": Metric("higher", (0, 1))},
    budgets=STANDARD,
)
TABLES = experiment(
    (arm("good", "method", table={"x, y": 2.0, 'q"': 1.0}), arm("poor", table={"x, y": 1.0})),
    "published",
    id="tables",
    source="recorded",
    datasets=(dataset("d1"),),
    budgets=STANDARD,
)


def toy(
    scores: Experiment = SCORES,
    times: Experiment = TIMES,
    counts: Experiment = COUNTS,
    tables: Experiment = TABLES,
) -> Paper:
    within = Within(Stat("m"), "good", to=("poor",), low=0.5)
    return paper(
        Claim("better", "It is.", "paper", scores, within),
        Claim("bounded", "It is.", "paper", scores, Every("m", "good", high=60.0, at_least=5)),
        Claim(
            "slope",
            "It is.",
            "paper",
            times,
            Within(Stat("err", "loglog"), "good", to=("poor",), high=-0.2),
        ),
        Claim("often", "It is.", "paper", counts, Rate("hit", "good", low=0.8)),
        Claim("printed", "It is.", "paper", tables, within),
        Claim("space", "It is.", "target", missing="a rocket"),
    )


def run(of: Paper, store: Store, **changes: Any) -> RunReport:
    return execute(selection(of), store=store, jobs=0, **{"profile": "standard", **changes})


@pytest.fixture
def shipped(store: Store, tmp_path: Path) -> tuple[Path, RunReport]:
    """A folder with a shipped paper, and the run behind it."""
    report = run(toy(), store)
    folder = tmp_path / "shipped"
    ship(report.runs, store, folder)
    write_index([toy()], folder)
    return folder, report


def test_the_decisions_follow_from_the_files(shipped: tuple[Path, RunReport]) -> None:
    folder, report = shipped
    ours = {d.claim: d for d in report.decisions if d.claim != "space"}
    assert shipped_decisions(toy(), folder) == ours
    assert {d.verdict for d in ours.values()} == {"holds", "fails", "undecided"} - {
        v for v in ("fails", "undecided") if v not in {d.verdict for d in ours.values()}
    }
    assert read_index(folder) == json.loads(json.dumps(index([toy()], folder)))
    assert set(read_index(folder)["toy"]) == set(ours)
    assert all(freshness(toy(), folder).values())
    assert not list(folder.glob(".*"))


def test_the_table_is_readable_with_pandas_alone(
    shipped: tuple[Path, RunReport], store: Store
) -> None:
    folder, _ = shipped
    table = pd.read_csv(folder / "toy.csv")
    assert tuple(table.columns) == COLUMNS
    scores = table[(table.experiment == "e") & (table.arm == "good") & (table.metric == "m")]
    kept = {
        (r.dataset, r.replicate): r.rows[0].values["m"]
        for r in store.records()
        if (r.experiment, r.arm) == ("e", "good")
    }
    read = {
        (d, r): v for d, r, v in zip(scores.dataset, scores.replicate, scores.value, strict=True)
    }
    # pandas rounds the last digit unless told otherwise.
    assert read == pytest.approx(kept, rel=1e-15)
    failed = table[table.status != "ok"]
    assert set(failed.status) == {"raised"}
    assert failed.value.isna().all()
    assert failed.metric.isna().all()
    assert set(table[table.experiment == "counts"].tries.dropna()) == {40}
    sidecar = json.loads((folder / "toy.json").read_text())
    assert sidecar["curves"]["size"] == {"n": [10, 30, 100]}
    assert set(sidecar["e"]["cells"]) == {
        f"{a} on {d}" for a in ("good", "poor") for d in ("d1", "d2")
    }
    assert sidecar["curves"]["environments"][0]["versions"]["numpy"]


def test_shipping_twice_or_from_swapped_arms_gives_the_same_bytes(
    shipped: tuple[Path, RunReport], store: Store, tmp_path: Path
) -> None:
    folder, _ = shipped
    swapped = toy(
        replace(SCORES, arms=SCORES.arms[::-1], datasets=SCORES.datasets[::-1]),
        replace(TIMES, arms=TIMES.arms[::-1]),
    )
    swapped = replace(swapped, claims=swapped.claims[::-1])
    for name, of in (("again", toy()), ("swapped", swapped)):
        report = run(of, store)
        assert not report.statuses
        ship(report.runs, store, tmp_path / name)
        write_index([of], tmp_path / name)
        for file in ("toy.csv", "toy.json", "index.json"):
            assert (tmp_path / name / file).read_bytes() == (folder / file).read_bytes(), file


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        ({}, set()),
        ({"scores": replace(SCORES, trial=f"{HERE}:same")}, {"better", "bounded"}),
        ({"scores": replace(SCORES, arms=(*SCORES.arms, arm("new")))}, {"better", "bounded"}),
        ({"counts": replace(COUNTS, budgets={"standard": Budget(20, {"n": (1,)})})}, {"often"}),
        ({"times": replace(TIMES, datasets=TIMES.datasets[:1])}, {"slope"}),
        (
            {"tables": replace(TABLES, arms=(TABLES.arms[0], arm("poor", table={"x, y": 1.5})))},
            {"printed"},
        ),
    ],
)
def test_freshness_is_lost_where_something_changed(
    shipped: tuple[Path, RunReport], change: dict[str, Experiment], stale: set[str]
) -> None:
    folder, _ = shipped
    fresh = freshness(toy(**change), folder)
    assert set(fresh) == {"better", "bounded", "slope", "often", "printed"}
    assert {claim for claim, is_fresh in fresh.items() if not is_fresh} == stale


def test_freshness_is_lost_with_the_code(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "own_trials.py"
    source = (Path(__file__).parent / "trials_for_engine.py").read_text()
    module.write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    own = [replace(e, trial=e.trial.replace(HERE, "own_trials")) for e in (SCORES, TIMES, COUNTS)]
    of = toy(*own)
    ship(run(of, store).runs, store, tmp_path / "shipped")
    assert all(freshness(of, tmp_path / "shipped").values())
    module.write_text(source.replace("float(n) ** 2", "float(n) ** 3"))
    fingerprints.forget_sources()
    fresh = freshness(of, tmp_path / "shipped")
    assert [claim for claim, is_fresh in fresh.items() if not is_fresh] == ["slope"]


def test_nothing_but_whole_standard_runs_is_shipped(store: Store, tmp_path: Path) -> None:
    of = toy()
    part = execute(selection(of)[:2], store=store, jobs=0, profile="standard")
    with pytest.raises(ShippedError, match="toy is shipped whole, or not at all: no run of curves"):
        ship(part.runs, store, tmp_path)
    for settings_ in ({"profile": "quick"}, {"replicates": 40}):
        with pytest.raises(ShippedError, match="run at the standard profile"):
            ship(run(of, store, **settings_).runs, store, tmp_path)
    report = run(of, store)
    store.forget([next(r.key for r in store.records() if r.experiment == "e")])
    with pytest.raises(ShippedError, match="1 trials of toy/e are not in the store"):
        ship(report.runs, store, tmp_path)
    absent = replace(SCORES, arms=(arm("good", fate={0: "absent"}), arm("poor")))
    with pytest.raises(ShippedError, match="moon data are not available"):
        ship(run(toy(absent), store).runs, store, tmp_path)
    assert not list(tmp_path.glob("*.csv"))
    (tmp_path / "file").touch()
    with pytest.raises(ShippedError, match="can't write shipped evidence"):
        ship(run(of, store).runs, store, tmp_path / "file" / "folder")


def test_nothing_shipped_is_nothing(tmp_path: Path) -> None:
    assert read_records("toy", tmp_path) == []
    assert shipped_decisions(toy(), tmp_path) == {}
    assert freshness(toy(), tmp_path) == {}
    assert read_index(tmp_path) == {}
    assert index([toy()], tmp_path) == {}


HEADER = ",".join(COLUMNS)
OK = "e,d1,0,good,ok,,,m,1.0,,"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["nonsense"], 1),
        ([], 1),
        ([HEADER, "e,d1"], 2),
        ([HEADER, OK, "e,d1,zero,good,ok,,,m,1.0,,"], 3),
        ([HEADER, "e,d1,-1,good,ok,,,m,1.0,,"], 2),
        ([HEADER, "e,d1,0,good,fine,,,m,1.0,,"], 2),
        ([HEADER, "e,d1,0,good,ok,,,m,,,"], 2),
        ([HEADER, "e,d1,0,good,ok,,,,1.0,,"], 2),
        ([HEADER, "e,d1,0,good,ok,,,m,nan,,"], 2),
        ([HEADER, "e,d1,0,good,ok,,inf,m,1.0,,"], 2),
        ([HEADER, "e,d1,0,good,ok,,,m,1.0,1,2"], 2),
        ([HEADER, "e,d1,0,good,ok,,,m,,1,"], 2),
        ([HEADER, "e,d1,0,good,ok,,,m,,1.5,2"], 2),
        ([HEADER, "e,d1,0,good,raised,,,m,1.0,,"], 2),
        ([HEADER, OK, "e,d1,0,good,raised,,,,,,"], 3),
        ([HEADER, "e,d1,0,good,raised,,,,,,", "e,d1,0,good,raised,,,,,,"], 3),
        ([HEADER, OK, 'e,d1,0,good,ok,"', "x", "y"], 3),
        ([HEADER, OK, "e,d1,0,good,ok," + "x" * 200_000 + ",,m,1.0,,"], 3),
    ],
)
def test_a_damaged_table_is_named_with_its_line(
    tmp_path: Path, lines: list[str], line: int
) -> None:
    (tmp_path / "toy.csv").write_text("\n".join(lines) + "\n" * bool(lines))
    with pytest.raises(ShippedError, match=rf"^toy\.csv, line {line}: ") as caught:
        read_records("toy", tmp_path)
    assert "\n" not in str(caught.value)


def test_other_damage_is_told(shipped: tuple[Path, RunReport], tmp_path: Path) -> None:
    folder, _ = shipped
    good = (folder / "toy.csv").read_bytes()

    def error() -> str:
        with pytest.raises(ShippedError) as caught:
            shipped_decisions(toy(), folder)
        return str(caught.value)

    (folder / "toy.csv").write_bytes(good[:200] + b"\xff" + good[200:])
    assert error().startswith("toy.csv")
    (folder / "toy.csv").unlink()
    (folder / "toy.csv").mkdir()
    assert error().startswith("toy.csv can't be read")
    (folder / "toy.csv").rmdir()
    for line in ("e,d1,0,good,ok,,,other,1.0,,", "e,d1,0,good,ok,,,m,99.0,,"):
        (folder / "toy.csv").write_text(f"{HEADER}\n{line}\n")
        assert error().startswith("toy.csv, e, good on d1, replicate 0: ")
    (folder / "toy.csv").write_bytes(good)
    for sidecar in ("{", "[]", '{"e": 3}', '{"e": {}}', '{"e": {"replicates": "x"}}'):
        (folder / "toy.json").write_text(sidecar)
        assert error().startswith("toy.json")
    (folder / "toy.json").unlink()
    assert error() == "toy.csv is there, but not toy.json"


NAMES = st.sampled_from(["e", "d1", "a", "Ω", "x y"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
CELL = st.tuples(NAMES, NAMES, st.integers(0, 3), NAMES)
MEASURED = st.tuples(
    st.text(st.characters(exclude_categories=["C"]), max_size=5).filter(str.isprintable),
    st.none() | NUMBERS,
    st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(["k", "l"]), st.just((1, 2)), max_size=1),
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(CELL, st.lists(MEASURED, max_size=3, unique_by=lambda m: (m[0], m[1]))))
def test_records_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, cells: dict[Any, Any]
) -> None:
    from probatum.evidence.model import Row
    from probatum.evidence.shipped import _lines, _write

    records = [
        Record(
            "", "toy", e, a, d, r, "ok" if rows else "timeout", tuple(Row(a, *row) for row in rows)
        )
        for (e, d, r, a), rows in cells.items()
    ]
    folder = tmp_path_factory.mktemp("fuzz")
    _write("toy", list(_lines(records)), {}, folder)
    assert read_records("toy", folder) == records


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=60)
    | st.lists(st.lists(st.text(max_size=6), max_size=12), max_size=4).map(
        lambda rows: "\n".join(",".join(row) for row in rows).encode("utf-8", "replace")
    )
    | st.tuples(st.integers(0, len(OK)), st.text(max_size=3)).map(
        lambda at: (OK[: at[0]] + at[1] + OK[at[0] :]).encode("utf-8", "replace")
    )
)
def test_whatever_a_table_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "toy.csv").write_bytes(f"{HEADER}\n{OK}\n".encode() + content)
    (folder / "toy.json").write_text('{"e": {"replicates": 20}}')
    said, found = "toy.csv", {}
    try:
        found = shipped_decisions(toy(), folder)
    except ShippedError as error:
        said = str(error)
    assert said.startswith("toy.csv")
    assert set(found) in (set(), {"better", "bounded"})


def test_the_writer_of_csv_is_read_by_the_standard_library(
    shipped: tuple[Path, RunReport],
) -> None:
    folder, _ = shipped
    with (folder / "toy.csv").open(newline="") as file:
        assert {len(line) for line in csv.reader(file)} == {len(COLUMNS)}
    assert b"\r" not in (folder / "toy.csv").read_bytes()
