"""Values from files and databases are believed only where they have their form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from trials_for_engine import arm, experiment, paper, selection

from probatum.evidence import Claim, Every, Stat, Within
from probatum.evidence.citations import stored_citations
from probatum.evidence.described import shipped_standing
from probatum.evidence.forms import INDEX, SIDECAR, misfit, moment, whole
from probatum.evidence.run import execute
from probatum.evidence.shipped import (
    decision_from_json,
    decision_to_json,
    read_records,
    ship,
    shipped_runs,
    write_index,
)
from probatum.evidence.shipped_index import (
    SHIPPED,
    ShippedError,
    damaged,
    read_index,
    read_sidecar,
)
from probatum.evidence.store import Store, StoreError

SCORES = experiment((arm("good", "method", mean=1.0), arm("poor", mean=0.0)))
TOY = paper(
    Claim("better", "It is.", "paper", SCORES, Within(Stat("m"), "good", to=("poor",), low=0.5))
)


def test_all_that_is_shipped_has_its_form() -> None:
    sidecars = [path for path in SHIPPED.glob("*.json") if path.name != "index.json"]
    assert sidecars
    for path in sidecars:
        assert misfit(json.loads(path.read_text(encoding="utf-8")), SIDECAR) == ""
    assert misfit(read_index(), INDEX) == ""


@pytest.mark.parametrize(
    ("sidecar", "where"),
    [
        ({"e": []}, "e"),
        ({"e": {"replicates": True}}, "e.replicates"),
        ({"e": {"replicates": 0}}, "e.replicates"),
        ({"e": {"replicates": 10**30}}, "e.replicates"),
        ({"e": {"measured": ["2026-01-01"]}}, "e.measured"),
        ({"e": {"measured": ["2026-01-01", "soon"]}}, "e.measured"),
        ({"e": {"environments": {}}}, "e.environments"),
        ({"e": {"environments": [{"versions": {"numpy": 2}}]}}, "e.environments.0.versions.numpy"),
        ({"e": {"environments": [{"cores": "two"}]}}, "e.environments.0.cores"),
        ({"e": {"cells": {"a on d": {"key": "k"}}}}, "e.cells.a on d.fingerprint"),
        ({"e": {"size": 3}}, "e.size"),
        ([], "all of it"),
    ],
)
def test_the_place_that_is_wrong_is_named(sidecar: Any, where: str) -> None:
    assert misfit(sidecar, SIDECAR) == where


@pytest.mark.parametrize(
    "decision",
    [
        {},
        {"verdict": "sure"},
        {"verdict": ["holds"]},
        {"verdict": "holds", "n": "many"},
        {"verdict": "holds", "effect": "large"},
        {"verdict": "holds", "guarantee": "mine"},
        {"verdict": "holds", "exceptions": "none"},
        {"verdict": "holds", "parts": [3]},
        {"verdict": "holds", "parts": [{"verdict": "holds", "exact": [1]}]},
        {"verdict": "holds", "level": float("nan")},
    ],
)
def test_an_index_with_something_else_is_refused(tmp_path: Path, decision: Any) -> None:
    (tmp_path / "index.json").write_text(json.dumps({"toy": {"better": decision}}))
    with pytest.raises(ShippedError, match=r"^index\.json can't be read: toy\.better"):
        read_index(tmp_path)
    standing, problems = shipped_standing([TOY], tmp_path)
    assert standing["missing"] == ["toy/better"]
    assert "index.json" in problems[0]


def test_a_file_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_text('{"a":' * 100_000)
    with pytest.raises(ShippedError, match=r"^toy\.json can't be read"):
        read_sidecar("toy", tmp_path)


def test_a_folder_in_the_place_of_a_file_counts_as_damage(tmp_path: Path) -> None:
    (tmp_path / "toy.csv").mkdir()
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  toy.csv\n")
    assert damaged(tmp_path) == ["toy.csv"]
    (tmp_path / "SHA256SUMS").unlink()
    (tmp_path / "SHA256SUMS").mkdir()
    assert damaged(tmp_path) == ["toy.csv"]


def test_decisions_that_do_not_fit_the_trials_are_made_again(store: Store, tmp_path: Path) -> None:
    report = execute(selection(TOY), store=store, jobs=0, profile="standard")
    ship(report.runs, store, tmp_path)
    write_index([TOY], tmp_path)
    (right,) = report.decisions
    records, sidecar = read_records("toy", tmp_path), read_sidecar("toy", tmp_path)
    stated = decision_to_json(right)
    many = [{**part, "replicates": 10**9} for part in stated["parts"]]
    for change in ({"parts": stated["parts"] * 2}, {"parts": many}, {"paper": "other"}):
        other = decision_from_json({**stated, **change, "verdict": "fails"})
        (run,) = shipped_runs(TOY, sidecar, records, {"better": other})
        assert run.decisions == {"better": right}
    believed = decision_from_json({**stated, "reason": "said so"})
    (run,) = shipped_runs(TOY, sidecar, records, {"better": believed})
    assert run.decisions == {"better": believed}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("rows", '[["good", "", null, {"m": "high"}, {}]]'),
        ("rows", '[["good", "", null, {"m": NaN}, {}]]'),
        ("rows", '[["good", "", "far", {"m": 1.0}, {}]]'),
        ("rows", '[["good", "", null, {}, {"hit": [3, 2]}]]'),
        ("rows", '[["good", "", null, {}, {"hit": [true, 2]}]]'),
        ("rows", '[[{}, "", null, {}, {}]]'),
        ("rows", "[" * 100_000),
        ("size", "3"),
        ("status", "fine"),
    ],
)
def test_a_trial_with_something_else_in_it_is_told(store: Store, column: str, value: str) -> None:
    execute(selection(TOY), store=store, jobs=0)
    with store._engine.begin() as connection:
        connection.execute(sa.text(f"update trials set {column} = :value"), {"value": value})
    with pytest.raises(StoreError, match=r"^trial \w+ in the store can't be read: ") as caught:
        list(store.records())
    assert "\n" not in str(caught.value)


def test_a_machine_with_something_else_in_it_is_told(store: Store) -> None:
    execute(selection(TOY), store=store, jobs=0)
    for text in ("{", "[]", '{"versions": 3}', '{"cores": "two"}', "[" * 100_000):
        with store._engine.begin() as connection:
            connection.execute(sa.text("update environments set described = :t"), {"t": text})
        with pytest.raises(StoreError, match=r"^the machine \w+ in the store can't be read: "):
            store.environments()
        with pytest.raises(StoreError, match="machine"):
            list(stored_citations(selection(TOY), store, "quick", "1"))


def test_numbers_that_no_calendar_and_no_count_has_are_none() -> None:
    assert [whole(n) for n in (0, 3, -1, 1.0, True, 2**60)] == [True, True, *[False] * 4]
    assert [moment(t) for t in (0, 1.7e9, -1, 1e18, "now")] == [True, True, *[False] * 3]


@pytest.mark.parametrize(
    ("high", "slack"), [(float("inf"), 0), (float("nan"), 0), (1e308, 1e308), (1.0, -0.1)]
)
def test_a_limit_that_nothing_could_exceed_is_refused(high: float, slack: float) -> None:
    with pytest.raises(ValueError, match="needs a finite limit"):
        Every("m", "good", high, slack)
