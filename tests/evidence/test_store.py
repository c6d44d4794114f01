"""The store: one row per attempt, whoever writes, and clear words when it can't."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trials_for_engine import arm, dataset

from probatum.evidence import Metric, Row
from probatum.evidence.run import execute
from probatum.evidence.store import Record, Store, StoreError, environment, plain_size
from probatum.evidence.trial import Outcome, Task, run_task

HERE = Path(__file__).parent
TASK = Task(
    key="k",
    target="trials_for_engine:noisy",
    experiment="toy/e",
    arms=(arm("a"),),
    dataset=dataset("d"),
    replicate=0,
    size={},
    metrics={"m": Metric("higher")},
    seconds=10.0,
    memory_gb=1.0,
)
NO_TABLE = "(no such table|relation .* does not exist)"
ROWS = (
    Row("a", "one", 0.1, {"m": 1 / 3, "k": -0.0}, {"hit": (1, 2)}),
    Row("a", values={"m": 5e-324}),
)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store, once on each database."""
    with Store(store_url) as opened:
        yield opened


def add(
    store: Store, task: Task = TASK, outcome: Outcome | None = None, final: bool = True
) -> bool:
    outcome = outcome or Outcome("ok", ROWS, seconds=1.5, peak_mb=3.0, started=9.0)
    return store.add(task, outcome, paper="toy", fingerprint="f", final=final)


def test_a_record_comes_back_as_it_was(store: Store) -> None:
    sized = replace(TASK, size={"n": (1, 2), "deep": {"s": {"b", "a"}}}, attempt=2)
    assert add(store, sized)
    found = store.final(["k", "other"])["k"]
    assert found == Record(
        "k",
        "toy",
        "e",
        "a",
        "d",
        0,
        "ok",
        ROWS,
        attempt=2,
        size={"n": [1, 2], "deep": {"s": ["a", "b"]}},
        fingerprint="f",
        seconds=1.5,
        peak_mb=3.0,
        limit_seconds=10.0,
        limit_gb=1.0,
        started=9.0,
        environment=next(iter(store.environments())),
    )
    assert found.size == plain_size(sized.size)


def test_an_attempt_is_stored_once_and_the_last_is_final(store: Store) -> None:
    crash = Outcome("crashed", transient=True)
    assert add(store, outcome=crash, final=False)
    assert not store.final(["k"])
    assert not add(store)
    assert store.last_attempts(["k"]) == {"k": 1}
    assert add(store, replace(TASK, attempt=2), crash)
    assert add(store, replace(TASK, attempt=3))
    assert not add(store, replace(TASK, attempt=2))
    assert store.final(["k"])["k"].attempt == 3
    kept = list(store.records("toy", attempts=True))
    assert [(r.attempt, r.final) for r in kept] == [(1, False), (2, False), (3, True)]
    assert len(list(store.records("toy"))) == 1
    assert not list(store.records("other"))
    store.forget(["k"])
    assert not list(store.records(attempts=True))


def test_each_attempt_has_the_machine_that_it_ran_on(store: Store) -> None:
    node = {"host": "node7", "cores": 64, "versions": {"numpy": "2.9"}}
    there = Outcome("ok", ROWS, environment=node)
    assert add(store)
    assert add(store, replace(TASK, key="k2"), there)
    more = [(replace(TASK, key="k3"), there), (replace(TASK, key="k4"), Outcome("ok", ROWS))]
    assert store.add_all([(one, outcome, "toy", "f") for one, outcome in more])
    machines = store.environments()
    assert len(machines) == 2
    found = {record.key: machines[record.environment] for record in store.records()}
    assert found["k2"] == found["k3"] == node
    assert found["k"] == found["k4"] == environment()


def test_the_environment_is_there_even_if_the_first_row_was_not(store: Store) -> None:
    assert add(store)
    with Store(store.url.render_as_string(hide_password=False)) as other:
        with other._engine.begin() as connection:
            connection.execute(sa.text("delete from environments"))
        assert not add(other)
        assert add(other, replace(TASK, key="l"))
        record = other.final(["l"])["l"]
        assert set(other.environments()[record.environment]) >= {"host", "versions", "cores"}


def test_many_keys_are_read_in_pieces(store: Store) -> None:
    tasks = [replace(TASK, key=f"k{i}", replicate=i) for i in range(1000)]
    for task in tasks[:5] + tasks[-5:]:
        add(store, task)
    keys = [task.key for task in tasks]
    assert len(store.final(keys)) == len(store.last_attempts(keys)) == 10
    store.forget(keys)
    assert not store.final(keys)


TEXTS = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["'; drop table trials; --", "\0", "\udc80", "𝔘nicode", '"', "\r\n", "%s", ":name"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(said=TEXTS, case=TEXTS, size=st.dictionaries(TEXTS, TEXTS, max_size=2))
def test_hostile_text_comes_back(store: Store, said: str, case: str, size: dict[str, str]) -> None:
    store.forget(["k"])
    rows = (Row("a", case, values={"m": 1.0}),)
    outcome = Outcome("ok", rows, message=said, traceback=said)
    assert add(store, replace(TASK, size=size), outcome)
    (found,) = store.records()
    assert found.rows == rows
    assert found.size == size
    printable = said.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    assert (found.message, found.traceback) == (printable, printable)


def test_a_trial_may_not_name_a_case_that_no_table_can_hold() -> None:
    for case in ("a\nb", "\0", "\udc80"):
        odd = replace(TASK, target="trials_for_engine:cased", size={"case": case})
        outcome = run_task(odd)
        assert outcome.status == "bad result"
        assert "a case is printable text on one line" in outcome.message


def test_several_processes_may_write_the_same_trials(store_url: str, tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import sys
        from trials_for_engine import *
        from probatum.evidence import Stat, Within
        from probatum.evidence.run import execute
        from probatum.evidence.store import Store
        flaky = {r: f"once:{sys.argv[2]}" for r in range(0, 10, 3)}
        arms = (arm("a", "method", mean=1.0, fate={**flaky, 4: "raises"}), arm("b"))
        above = Within(Stat("m"), "a", ("b",), low=3.0)
        claim = Claim("c", "It is.", "paper", experiment(arms), above)
        with Store(sys.argv[1]) as store:
            report = execute(selection(paper(claim)), store=store, jobs=1)
        print(report.decisions)
        """
    )
    flags = tmp_path / "flags"
    flags.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-c", code, store_url, str(flags)]
    ran = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    decisions = {process.communicate(timeout=100)[0] for process in ran}
    assert [process.returncode for process in ran] == [0, 0, 0]
    assert len(decisions) == 1
    with Store(store_url) as store:
        kept = list(store.records(attempts=True))
        assert len({(r.key, r.attempt) for r in kept}) == len(kept)
        final = [r.key for r in kept if r.final]
        assert len(final) == len(set(final)) == len({r.key for r in kept}) >= 40


def test_several_threads_may_make_a_store(store_urls: Callable[[], str]) -> None:
    for _ in range(5):
        url, together = store_urls(), threading.Barrier(4)

        def make(url: str = url, together: threading.Barrier = together) -> None:
            together.wait()
            Store(url).close()

        with ThreadPoolExecutor(4) as pool:
            for made in [pool.submit(make) for _ in range(4)]:
                made.result()
        with Store(url) as store:
            assert list(store.records()) == []


def error_of(url: str) -> str:
    with pytest.raises(StoreError) as caught:
        Store(url)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at" * 9)
    assert "file is not a database" in error_of(f"sqlite:///{tmp_path}/text.db")
    assert "not a store address: 'evidence.db'" in error_of("evidence.db")
    assert "can't open the store nosuchthing://x: stores are" in error_of("nosuchthing://x")
    assert "can't open the store" in error_of("sqlite:////proc/no/e.db")
    assert "unable to open" in error_of(f"sqlite:///{tmp_path}")
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("create table facts (something text)")
    assert "no such column" in error_of(f"sqlite:///{tmp_path}/other.db")
    said = error_of("mysql://me:secret@localhost/x")
    assert "can't open the store mysql://me:***@localhost/x: stores are SQLite files" in said


def test_damage_that_sqlite_has_no_words_for_is_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/e.db"
    Store(url).close()
    with contextlib.closing(sqlite3.connect(tmp_path / "e.db")) as connection:
        connection.execute("pragma writable_schema=1")
        # The message of the database quotes the name, and so is no text.
        connection.execute(
            "update sqlite_master set name = cast(x'b1ff' as text), sql = 'x' where rowid = 1"
        )
        connection.commit()
    assert "it is damaged: text in it is not UTF-8" in error_of(url)


def test_a_locked_store_is_told(
    file_store: Store, locked: Callable[[], AbstractContextManager[None]]
) -> None:
    store = file_store
    with locked():
        for write in (lambda: add(store), lambda: store.forget(["k"])):
            with pytest.raises(StoreError, match="can't write to the store: database is locked"):
                write()
        assert not list(store.records())
    assert add(store)


def test_a_full_disk_is_told(file_store: Store) -> None:
    store = file_store

    @sa.event.listens_for(store._engine, "connect")
    def small(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count=20")

    store.close()
    long, kept = Outcome("raised", traceback="x" * 5000), 0

    def fill() -> None:
        nonlocal kept
        for kept in range(1000):
            add(store, replace(TASK, key=f"k{kept}"), long)

    with pytest.raises(StoreError, match="can't write to the store: database or disk is full"):
        fill()
    assert len(list(store.records())) == kept


def test_damage_is_told(store: Store) -> None:
    add(store)
    with store._engine.begin() as connection:
        connection.execute(sa.text("update trials set rows = '[[1]'"))
    with pytest.raises(StoreError, match="trial k in the store can't be read"):
        list(store.records())
    with store._engine.begin() as connection:
        connection.execute(sa.text("drop table trials"))
    for read in (
        lambda: list(store.records()),
        lambda: store.final(["k"]),
        lambda: store.last_attempts(["k"]),
    ):
        with pytest.raises(StoreError, match=f"can't read the store: {NO_TABLE}"):
            read()


@pytest.mark.parametrize(
    ("status", "seconds", "memory", "serves"),
    [
        ("ok", 99, 99, True),
        ("raised", 99, 99, True),
        ("timeout", 10, 99, True),
        ("timeout", 11, 1, False),
        ("out of memory", 99, 1.0, True),
        ("out of memory", 1, 1.1, False),
    ],
)
def test_a_limit_that_grew_may_change_the_end(
    status: str, seconds: float, memory: float, serves: bool
) -> None:
    record = Record("k", "p", "e", "a", "d", 0, status, limit_seconds=10.0, limit_gb=1.0)
    assert record.serves(seconds, memory) is serves


def test_rows_are_plain_json(store: Store) -> None:
    add(store)
    with store._engine.connect() as connection:
        text = connection.execute(sa.text("select rows from trials")).scalar_one()
    assert json.loads(text)[0] == ["a", "one", 0.1, {"m": 1 / 3, "k": -0.0}, {"hit": [1, 2]}]
    assert execute([], store=store).decisions == []
