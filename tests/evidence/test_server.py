"""A store on a server that goes away: it is waited for, nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from postgres import PASSWORD, Server
from test_answers import ANSWER
from test_store import ROWS, TASK, add

from probatum.evidence import database
from probatum.evidence.store import Store, StoreError
from probatum.evidence.trial import Outcome

HERE = Path(__file__).parent
TOY = HERE.parent / "cli"


@pytest.fixture
def fragile(server: Server) -> Iterator[Server]:
    """The server, which runs again afterwards, whatever was done to it."""
    yield server
    server.restart()
    server.ask("drop role if exists reader")


def break_next_commit(store: Store, when: str) -> list[str]:
    """Have the connection break before or after the next commit reaches the server."""
    commit, broken = store._engine.dialect.do_commit, []

    def do_commit(connection: Any) -> None:
        if broken:
            commit(connection)
            return
        broken.append(when)
        if when == "after":
            commit(connection)
        connection.driver_connection.close()
        commit(connection)

    store._engine.dialect.do_commit = do_commit  # type: ignore[method-assign]
    return broken


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("attempt", "status", "final"), [(1, "ok", True), (1, "crashed", False), (2, "ok", True)]
)
def test_a_commit_without_an_answer_is_repeated_safely(
    server: Server, when: str, attempt: int, status: Any, final: bool
) -> None:
    with Store(server.new()) as store:
        for before in range(1, attempt):
            assert add(store, replace(TASK, attempt=before), Outcome("crashed"), final=False)
        broken = break_next_commit(store, when)
        outcome = Outcome(status, ROWS if status == "ok" else (), seconds=1 / 3)
        # It is ours, so that the run does not take it for that of another and go on counting.
        assert add(store, replace(TASK, attempt=attempt), outcome, final=final)
        assert broken == [when]
        kept = list(store.records(attempts=True))
        assert [r.attempt for r in kept] == list(range(1, attempt + 1))
        assert (kept[-1].status, kept[-1].final, kept[-1].rows) == (status, final, outcome.rows)
        # That of another run still is another's.
        assert not add(store, replace(TASK, attempt=attempt), Outcome("ok", started=1.0))


@pytest.mark.parametrize("when", ["before", "after"])
def test_other_writes_are_repeated_safely(server: Server, when: str) -> None:
    with Store(server.new()) as store:
        break_next_commit(store, when)
        store.remember([ANSWER, replace(ANSWER, question="d")])
        assert len(store.answers()) == 2
        break_next_commit(store, when)
        store.forget_answers([ANSWER.id])
        assert [answer.question for answer in store.answers()] == ["d"]
        add(store)
        break_next_commit(store, when)
        store.forget(["k"])
        assert not list(store.records())


def test_a_session_that_was_ended_is_replaced_without_a_word(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(server.new()) as store:
        add(store)
        name = store.url.database
        ended = server.ask(
            f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        )
        assert ended == [(True,)]
        assert add(store, replace(TASK, key="l"))
        assert len(list(store.records())) == 2
    assert capsys.readouterr().err == ""


def test_a_reading_goes_on_where_it_broke(fragile: Server) -> None:
    with Store(fragile.new()) as store:
        add(store)
        with store._engine.begin() as connection:
            columns = ", ".join(c for c in _columns(store) if c not in ("id", "key"))
            connection.execute(
                sa.text(
                    f"insert into trials (key, {columns}) select 'k' || n, {columns} "
                    "from trials, generate_series(1, 2999) n"
                )
            )
        found = []
        for record in store.records():
            found.append(record.key)
            if len(found) in (500, 1500):
                fragile.restart()
        assert found == ["k", *(f"k{n}" for n in range(1, 3000))]


def _columns(store: Store) -> list[str]:
    return [column["name"] for column in sa.inspect(store._engine).get_columns("trials")]


def test_a_server_that_is_gone_is_waited_for(
    fragile: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            fragile.start()

    with Store(fragile.new()) as store:
        add(store)
        fragile.stop()
        with monkeypatch.context() as patched:
            patched.setattr(database, "_pause", sleep)
            assert add(store, replace(TASK, key="l"))
        assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
        assert {record.key for record in store.records()} == {"k", "l"}
    gone, back = capsys.readouterr().err.splitlines()
    assert gone.startswith("the store postgresql+psycopg://probatum:***@127.0.0.1")
    assert gone.endswith("waiting for it, 5 minutes at most")
    assert back.startswith("the store is back after ")
    assert PASSWORD not in gone


def test_the_wait_has_an_end(fragile: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(fragile.new(), patience=0.5) as store:
        add(store)
        fragile.stop()
        with pytest.raises(StoreError) as caught:
            add(store, replace(TASK, key="l"))
        said = str(caught.value)
        assert said.startswith("can't write to the store: ")
        assert "it was waited for 0.5 s; what it took is kept" in said
        assert "\n" not in said
        assert PASSWORD not in said
        assert capsys.readouterr().err.count("\n") == 1
        # What follows is not waited for again.
        with pytest.raises(StoreError, match="can't write to the store"):
            store.remember([ANSWER])
        assert capsys.readouterr().err == ""
        fragile.start()
        assert [record.key for record in store.records()] == ["k"]


def test_a_wait_that_is_interrupted_is_the_last(
    fragile: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(database, "_pause", interrupted)
    with Store(fragile.new()) as store:
        fragile.stop()
        with pytest.raises(KeyboardInterrupt):
            add(store)
        assert capsys.readouterr().err.count("\n") == 1
        with pytest.raises(StoreError, match="can't write to the store"):
            store.remember([ANSWER])
        assert capsys.readouterr().err == ""


def test_what_can_not_be_opened_is_told_at_once(fragile: Server) -> None:
    url = fragile.new()
    wrong = [
        url.replace(PASSWORD, "wr0ng-one"),
        f"{url}-other",
        url.replace("probatum:", "nobody-here:"),
        f"{url}?password=wr0ng-one",
    ]
    fragile.ask("create role reader login password 'wr0ng-one'")
    wrong.append(url.replace(f"probatum:{PASSWORD}", "reader:wr0ng-one"))
    said = [error_of(address) for address in wrong]
    assert "permission denied" in said[-1]
    fragile.stop()
    said.append(error_of(url))
    assert "onnection refused" in said[-1]
    for line in said:
        assert line.startswith("can't open the store postgresql+psycopg://")
        assert "\n" not in line
        assert PASSWORD not in line
        assert "wr0ng-one" not in line


def error_of(url: str) -> str:
    with pytest.raises(StoreError) as caught:
        Store(url)
    return str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}@host:port/db",
        f"postgresql://me:p@{PASSWORD}@host/db",
        f"postgresql://me:/{PASSWORD}:x@host/db",
        f"postgresql:me:{PASSWORD}@host/db",
        f"me:{PASSWORD}@host/db",
        f"postgresql:me?password={PASSWORD}",
        f"postgresql+psycopg2://me:{PASSWORD}@host/db",
        f"mysql://me@host/db?password={PASSWORD}",
    ],
)
def test_no_error_repeats_a_password(url: str) -> None:
    said = error_of(url)
    assert PASSWORD not in said
    assert "\n" not in said


def test_a_driver_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    said = error_of(f"postgresql://me:{PASSWORD}@host/db")
    assert said.endswith("PostgreSQL needs psycopg: pip install 'probatum[postgres]'")
    assert PASSWORD not in said


def test_a_reader_of_a_team_needs_no_right_to_write(server: Server) -> None:
    url = server.new()
    with Store(url) as store:
        add(store)
        name = str(store.url.database)
    server.ask("create role looker login password 'l00ker'")
    server.ask("grant select on all tables in schema public to looker", name)
    with Store(url.replace(f"probatum:{PASSWORD}", "looker:l00ker")) as store:
        assert [record.key for record in store.records()] == ["k"]
        with pytest.raises(StoreError, match="can't write to the store: permission denied"):
            add(store, replace(TASK, key="l"))


def run(url: str, folder: Path) -> subprocess.Popen[bytes]:
    (folder / "flags").mkdir(parents=True)
    return subprocess.Popen(
        [sys.executable, str(HERE / "run_to_be_killed.py"), url, "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "FLAGS": str(folder / "flags"), "OMP_NUM_THREADS": "1"},
        cwd=folder,
    )


def finished(process: subprocess.Popen[bytes]) -> tuple[list[dict[str, Any]], str]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()
    return json.loads(out.decode().lstrip(".")), err.decode()


def rows_of(url: str) -> dict[str, Any]:
    with Store(url) as store:
        kept = list(store.records(attempts=True))
    assert len({(r.key, r.attempt) for r in kept}) == len(kept)
    final = [r for r in kept if r.final]
    assert len({r.key for r in final}) == len(final)
    assert {r.key for r in kept} == {r.key for r in final}
    return {r.key: (r.arm, r.replicate, r.status, r.rows) for r in final}


def test_two_runs_on_a_server_that_is_restarted_end_as_one_alone(
    fragile: Server, tmp_path: Path
) -> None:
    plain, url = f"sqlite:///{tmp_path}/plain/e.db", fragile.new()
    alone = run(plain, tmp_path / "plain")
    both = [run(url, tmp_path / name) for name in ("one", "two")]
    assert both[0].stdout is not None
    for dots in (3, 30, 30):
        both[0].stdout.read(dots)
        fragile.restart(pause=0.5)
    (first, said), (second, _), (expected, _) = (finished(process) for process in (*both, alone))
    assert first == second == expected
    assert rows_of(url) == rows_of(plain)
    assert said.count(" is gone (") == said.count("the store is back") >= 1
    assert PASSWORD not in said


def check(url: str, folder: Path, patience: float) -> subprocess.Popen[str]:
    script = (
        "import sys, toy_probatum; from probatum.evidence import database\n"
        f"database.PATIENCE = {patience}\n"
        "sys.exit(toy_probatum.run('toy_papers', 'shipped', sys.argv[1:]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, "check", "slow", "--store", url, "--jobs", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TOY)},
        cwd=folder,
    )


def stored(url: str) -> int:
    with Store(url) as store:
        return sum(1 for _ in store.records())


def test_a_command_ends_with_one_line_and_goes_on_later(fragile: Server, tmp_path: Path) -> None:
    url = fragile.new()
    running = check(url, tmp_path, patience=0.5)
    deadline = time.monotonic() + 30
    while not stored(url) and time.monotonic() < deadline:
        time.sleep(0.1)
    fragile.stop()
    out, err = running.communicate(timeout=60)
    assert running.returncode == 3
    assert out == ""
    assert "Traceback" not in err
    assert PASSWORD not in err
    assert "run the same command again to go on" in err.splitlines()[-1]
    again = check(url, tmp_path, patience=0.5)
    assert again.communicate(timeout=60)[1].count("\n") == 1
    assert again.returncode == 3
    fragile.start()
    kept = stored(url)
    assert kept > 0
    running = check(url, tmp_path, patience=0.5)
    while stored(url) == kept and time.monotonic() < deadline:
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "kept" in err
    assert stored(url) > kept
