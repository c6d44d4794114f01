"""Stores of other versions: brought up to date as a whole or not at all, or refused."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from test_answers import ANSWER
from test_store import ROWS, TASK, add

from probatum.evidence import migrations
from probatum.evidence.answers import Remembered
from probatum.evidence.migrations import Step
from probatum.evidence.store import Store, StoreError

STORES = Path(__file__).parent / "stores"


def ask(url: str, *statements: str) -> list[tuple[object, ...]]:
    """What the last of these statements gives, run beside any store."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    try:
        with engine.begin() as connection:
            found = [connection.execute(sa.text(statement)) for statement in statements][-1]
            return [tuple(row) for row in found] if found.returns_rows else []
    finally:
        engine.dispose()


def version(url: str) -> str:
    ((found,),) = ask(url, "select value from facts where name = 'schema'")
    return str(found)


@pytest.fixture
def older(store_url: str) -> str:
    """A store as a version before the first might have left it: without limits on memory."""
    with Store(store_url) as store:
        add(store)
    ask(
        store_url,
        "alter table trials drop column limit_gb",
        "drop table answers",
        "update facts set value = '0' where name = 'schema'",
    )
    return store_url


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Has a step from that version to the first, and notes how often it was taken."""
    taken: list[int] = []

    def change(connection: sa.Connection) -> None:
        taken.append(1)
        added = "alter table trials add column limit_gb float not null default 2.5"
        connection.execute(sa.text(added))

    monkeypatch.setattr(migrations, "STEPS", (Step(1, change),))
    return taken


def test_an_older_store_is_brought_up_to_date_once(older: str, steps: list[int]) -> None:
    for _ in range(2):
        with Store(older) as store:
            (record,) = store.records()
            assert (record.rows, record.limit_gb) == (ROWS, 2.5)
            store.remember([ANSWER])
    assert steps == [1]
    assert version(older) == "1"


def test_several_may_open_an_older_store_at_once(older: str, steps: list[int]) -> None:
    together = threading.Barrier(4)

    def opened(_: int) -> int:
        together.wait()
        with Store(older) as store:
            return len(list(store.records()))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(opened, range(4))) == [1] * 4
    assert steps == [1]


def test_steps_are_taken_in_their_order(
    older: str, steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename(old: str, new: str) -> Step:
        number = len(migrations.STEPS) + 1
        statement = f"alter table trials rename column {old} to {new}"
        return Step(number, lambda connection: connection.execute(sa.text(statement)))

    for names in (("limit_gb", "gigabytes"), ("gigabytes", "limit_gb")):
        monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, rename(*names)))
    with Store(older) as store:
        assert next(store.records()).limit_gb == 2.5
    assert version(older) == "3"


def test_a_step_that_fails_leaves_the_store_as_it_was(
    older: str, steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: sa.Connection) -> None:
        connection.execute(sa.text("update facts set value = 'half'"))
        connection.execute(sa.text("alter table nowhere add column x float"))

    with monkeypatch.context() as patched:
        patched.setattr(migrations, "STEPS", (*migrations.STEPS, Step(2, broken)))
        with pytest.raises(StoreError, match=r"can't open the store .*nowhere") as caught:
            Store(older)
        assert "\n" not in str(caught.value)
    assert version(older) == "0"
    assert "answers" not in tables(older)
    with Store(older) as store:
        assert len(list(store.records())) == 1
    assert steps == [1, 1]


def tables(url: str) -> list[str]:
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    try:
        return sa.inspect(engine).get_table_names()
    finally:
        engine.dispose()


def test_what_no_step_leads_from_is_refused(older: str) -> None:
    with pytest.raises(StoreError, match="has schema 0, from which nothing leads to 1"):
        Store(older)
    assert version(older) == "0"
    assert "answers" not in tables(older)


@pytest.mark.parametrize("said", ["99", "2", "new", "1.5", "-1", ""])
def test_a_newer_store_is_refused(store_url: str, said: str) -> None:
    Store(store_url).close()
    ask(store_url, f"update facts set value = '{said}' where name = 'schema'")
    with pytest.raises(StoreError) as caught:
        Store(store_url)
    assert f"has schema {said}, this version reads 1: upgrade probatum" in str(caught.value)
    assert version(store_url) == said


def test_a_store_without_a_number_is_of_the_first_version(store_url: str) -> None:
    # So it was left by a version that was killed between its tables and its number.
    with Store(store_url) as store:
        add(store)
    ask(store_url, "delete from facts")
    with Store(store_url) as store:
        assert len(list(store.records())) == 1
    assert version(store_url) == "1"


def test_every_version_writes_the_next_number() -> None:
    versions = [step.version for step in migrations.STEPS]
    first = migrations.FIRST + 1
    assert versions == list(range(first, first + len(versions)))


def test_a_file_of_the_first_version_is_read(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "e.db")
    connection.executescript((STORES / "version1.sql").read_text())
    connection.close()
    with Store(f"sqlite:///{tmp_path}/e.db") as store:
        first, second, third = store.records(attempts=True)
        assert (first.key, first.status, first.rows) == ("k1", "ok", ROWS)
        assert (first.size, first.limit_seconds, first.limit_gb) == ({"n": [1, 2]}, 10.0, 1.0)
        assert (first.seconds, first.peak_mb, first.started) == (1.5, 3.0, 9.0)
        assert (second.key, second.status, second.final) == ("k2", "timeout", False)
        assert (third.attempt, third.status, third.final) == (2, "raised", True)
        assert third.message == "ValueError: it's 'quoted'"
        assert third.traceback == 'Traceback\n  line "two"\n'
        assert store.environments()[first.environment]["versions"]["numpy"] == "2.3.5"
        (answer,) = store.answers()
        assert isinstance(answer, Remembered)
        assert (answer.id, answer.decision, answer.own) == (ANSWER.id, ANSWER.decision, ANSWER.own)
        # It is not only read: a run goes on with it.
        assert not add(store, TASK.__class__(**{**vars(TASK), "key": "k1"}))
        assert add(store)
        assert store.tally() == {"toy": (3, 4)}
