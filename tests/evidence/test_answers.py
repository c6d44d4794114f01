"""Answers: what was asked is remembered in words of its own, the latest counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trials_for_engine import arm, dataset, experiment, paper, selection

from probatum.evidence import Budget, Claim, Stat, Within
from probatum.evidence.answers import Remembered, answer_id
from probatum.evidence.noting import Noting, brought
from probatum.evidence.opened import Own
from probatum.evidence.run import execute
from probatum.evidence.store import Store, StoreError

HERE = Path(__file__).parent
OWN = {
    "data": [{"file": "my.csv", "dataset": "own-my", "content": "71d0"}],
    "options": {"target": "y"},
    "arms": {"mine": "my_package:Mine"},
}
ANSWER = Remembered(
    paper="toy",
    question="c+of-mine",
    profile="quick",
    decision={"verdict": "holds", "low": 0.1, "parts": [{"low": None}]},
    decided=1.5e9,
    own=OWN,
    claim="c",
    title="Toy",
    statement="It is.",
    criterion="the mean m of mine is at least 1",
    replicates=20,
)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store, once on each database."""
    with Store(store_url) as opened:
        yield opened


def test_an_answer_comes_back_as_it_was(store: Store) -> None:
    plain = replace(ANSWER, question="c", own={}, replicates=None)
    store.remember([ANSWER, plain])
    environment = next(iter(store.environments()))
    assert store.answers() == [
        replace(plain, environment=environment),
        replace(ANSWER, environment=environment),
    ]
    assert store.answers("toy") == store.answers()
    assert store.answers("other") == []
    store.forget_answers([ANSWER.id])
    assert [answer.question for answer in store.answers()] == ["c"]


def test_the_latest_answer_to_a_question_counts(store: Store) -> None:
    later = replace(ANSWER, decided=2e9, decision={"verdict": "fails"}, statement="It is not.")
    store.remember([ANSWER])
    store.remember([later])
    (found,) = store.answers()
    assert (found.decided, found.decision, found.statement) == (
        2e9,
        {"verdict": "fails"},
        "It is not.",
    )
    store.remember([])
    assert len(store.answers()) == 1


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"data": [{"file": "old/my.csv", "dataset": "own-x", "content": "71d0"}]}, True),
        ({"data": [{"file": "my.csv", "dataset": "own-my", "content": "71d1"}]}, False),
        ({"options": {"target": "z"}}, False),
        ({"arms": {"mine": "my_package:Other"}}, False),
        ({"data": []}, False),
    ],
)
def test_what_was_brought_is_part_of_the_question(change: dict[str, Any], same: bool) -> None:
    other = replace(ANSWER, own={**OWN, **change})
    assert (other.id == ANSWER.id) is same


def test_a_file_without_a_hash_is_known_by_its_name() -> None:
    ids = [
        answer_id("p", "c", "quick", {"data": [{"file": file, "dataset": "d", "content": ""}]})
        for file in ("a.csv", "b.csv", "a.csv")
    ]
    assert ids[0] == ids[2] != ids[1]


TEXTS = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["'; drop table answers; --", "\0", "\udc80", '"', "</script>", ":name"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(slug=TEXTS, file=TEXTS, option=TEXTS, statement=TEXTS, reason=TEXTS)
def test_hostile_text_comes_back_fit_to_be_printed(
    store: Store, slug: str, file: str, option: str, statement: str, reason: str
) -> None:
    def printable(text: str) -> str:
        return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")

    own = {
        "data": [{"file": file, "dataset": "own-d", "content": ""}],
        "options": {option: option},
        "arms": {},
    }
    decision = {"verdict": "holds", "reason": reason}
    given_ = replace(ANSWER, paper=slug, statement=statement, own=own, decision=decision)
    store.remember([given_, given_])
    (found,) = store.answers()
    store.forget_answers([given_.id])
    assert found.paper == printable(slug)
    assert found.statement == printable(statement)
    assert found.own["data"][0]["file"] == printable(file)
    assert found.own["options"] == {printable(option): printable(option)}
    assert found.decision["reason"] == printable(reason)
    assert found.id == given_.id


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("decision", "{"),
        ("decision", "[]"),
        ("decision", "{}"),
        ("own", "[" * 100_000),
        ("own", '{"data": [{"file": 3}]}'),
        ("own", '{"data": {}}'),
        ("own", '{"arms": {"a": 1}}'),
        ("own", '{"options": []}'),
        ("described", "null"),
        ("described", '{"replicates": "many"}'),
    ],
)
def test_damage_is_told_with_the_row(store: Store, column: str, text: str) -> None:
    told_with_the_row(store, column, text)


def test_a_file_may_hold_a_word_where_a_number_was_declared(file_store: Store) -> None:
    told_with_the_row(file_store, "decided", "soon")


def told_with_the_row(store: Store, column: str, text: str) -> None:
    store.remember([ANSWER])
    with store._engine.begin() as connection:
        connection.execute(sa.text(f"update answers set {column} = :text"), {"text": text})
    with pytest.raises(StoreError) as caught:
        store.answers()
    assert f"the answer to toy/c+of-mine (quick, row {ANSWER.id}) can't be read" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


def test_a_number_that_json_does_not_know_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        store.remember([replace(ANSWER, decision={"verdict": "holds", "low": float("-inf")})])
    assert store.answers() == []


def test_a_store_without_answers_is_taken_on(store_url: str) -> None:
    with Store(store_url) as store, store._engine.begin() as connection:
        connection.execute(sa.text("drop table answers"))
    with Store(store_url) as store:
        assert store.answers() == []
        store.remember([ANSWER])
        assert len(store.answers()) == 1


def test_a_locked_store_is_told(
    file_store: Store, locked: Callable[[], AbstractContextManager[None]]
) -> None:
    store = file_store
    with locked():
        for write in (lambda: store.remember([ANSWER]), lambda: store.forget_answers(["x"])):
            with pytest.raises(StoreError, match="can't write to the store: database is locked"):
                write()
    with store._engine.begin() as connection:
        connection.execute(sa.text("drop table answers"))
    with pytest.raises(StoreError, match="can't read the store: no such table"):
        store.answers()


def test_two_processes_may_write_the_same_answers(store_url: str) -> None:
    code = textwrap.dedent(
        """
        import sys
        from dataclasses import replace
        from test_answers import ANSWER
        from probatum.evidence.store import Store
        for at in range(40):
            with Store(sys.argv[1]) as store:
                store.remember(
                    replace(ANSWER, question=f"c{i}", statement=f"{sys.argv[2]} {at}")
                    for i in (range(5) if at % 2 else reversed(range(5)))
                )
        """
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    ran = [
        subprocess.Popen(
            [sys.executable, "-c", code, store_url, name],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    said = [process.communicate(timeout=100)[1] for process in ran]
    assert [process.returncode for process in ran] == [0, 0], said
    with Store(store_url) as store:
        found = store.answers()
    assert [answer.question for answer in found] == [f"c{i}" for i in range(5)]
    # Each is from the last round of one process, and all five from the same.
    assert {answer.statement for answer in found} in ({"one 39"}, {"two 39"})


ARMS = (arm("a", "method", mean=1.0), arm("b"))


def claim(name: str, low: float = 0.5, **changes: Any) -> Claim:
    wanted = experiment(ARMS, **changes)
    return Claim(name, "It is.", "paper", wanted, Within(Stat("m"), "a", ("b",), low=low))


def test_a_run_notes_each_decision_once_it_is_final(store: Store) -> None:
    asked = paper(
        claim("holds", id="e1"),
        claim("fails", 3.0, id="e2"),
        claim("undecided", 1.0, id="e3"),
        Claim("untested", "It is.", "target", missing="a moon"),
    )
    noting = Noting(selection(asked), None, "quick", None)
    report = execute(selection(asked), store=store, jobs=0, watcher=noting)
    noted = {answer.question: answer for answer in noting.answers()}
    assert set(noted) == {"holds", "fails", "undecided"}
    for decision in report.decisions[:3]:
        answer = noted[decision.claim]
        assert answer.decision["verdict"] == decision.verdict == decision.claim
        assert answer.decision["n"] == decision.n
        assert (answer.own, answer.claim) == ({}, decision.claim)
    assert noted["holds"].criterion.startswith("the mean m of a is at least 0.5 higher")
    store.remember(noting.answers())
    assert len(store.answers()) == 3


def test_what_could_not_be_run_has_no_answer(store: Store, tmp_path: Path) -> None:
    lost = (arm("a", "method", fate={0: "absent"}), arm("b"))
    absent = replace(
        claim("absent"), experiment=experiment(lost, id="e1", datasets=(dataset("d"),))
    )
    asked = paper(absent, claim("there", id="e2"))
    noting = Noting(selection(asked), None, "quick", None)
    report = execute(selection(asked), store=store, jobs=0, watcher=noting)
    assert len(report.problems) == 1
    assert [answer.question for answer in noting.answers()] == ["there"]


def test_a_budget_that_can_decide_nothing_gives_no_answer(store: Store) -> None:
    asked = paper(claim("c", budgets={"smoke": Budget(2)}))
    noting = Noting(selection(asked), None, "quick", None)
    report = execute(selection(asked), store=store, jobs=0, watcher=noting)
    assert report.decisions[0].reason.startswith("not run")
    assert noting.answers() == []


def test_data_are_hashed_before_the_run(tmp_path: Path) -> None:
    file = tmp_path / "my.txt"
    file.write_text("first")
    own_data = replace(
        dataset("own-my"),
        params={"file": str(file)},
        identity="trials_for_engine:content",
        own=True,
    )
    asked = claim("c", datasets=(own_data,))
    found = brought(asked, Own((file,), {"target": "y"}))
    assert found == {
        "data": [{"file": str(file), "dataset": "own-my", "content": "first"}],
        "options": {"target": "y"},
        "arms": {},
    }
    assert brought(asked, None) == {}
    assert json.loads(json.dumps(found)) == found
