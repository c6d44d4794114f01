"""Lets tests and worker processes import the trials that lie beside them, and gives them stores."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from probatum.evidence.store import Store

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from postgres import Server, why_none  # noqa: E402


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    """An empty store in a file, in a folder of its own."""
    with Store(f"sqlite:///{tmp_path}/store/evidence.db") as opened:
        yield opened


@pytest.fixture
def locked(file_store: Store) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Has another process's lock lie on the file store while a block lasts."""

    @sa.event.listens_for(file_store._engine, "connect")
    def impatient(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA busy_timeout=50")

    @contextlib.contextmanager
    def lock() -> Iterator[None]:
        file_store.close()
        holder = sqlite3.connect(str(file_store.url.database), isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            holder.close()

    return lock


@pytest.fixture
def store(file_store: Store) -> Store:
    """An empty store; modules whose tests are about databases give it once on each."""
    return file_store


@pytest.fixture(scope="session")
def _started() -> Iterator[Server]:
    """A PostgreSQL server; tests without one skip, or fail where nothing may be missing."""
    why = why_none()
    if why and os.environ.get("PROBATUM_REQUIRE_DATA") == "1":
        pytest.fail(f"stores must be tested on PostgreSQL here, but {why}")
    if why:
        pytest.skip(why)
    started = Server()
    yield started
    started.close()


@pytest.fixture
def server(_started: Server) -> Iterator[Server]:
    """The PostgreSQL server, on which a test may have databases of its own."""
    yield _started
    _started.drop()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_urls(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives addresses of stores that are not there yet, once on each database."""
    if request.param == "sqlite":
        numbers = itertools.count()
        return lambda: f"sqlite:///{tmp_path}/new/{next(numbers)}.db"
    started: Server = request.getfixturevalue("server")
    return started.new


@pytest.fixture
def store_url(store_urls: Callable[[], str]) -> str:
    """The address of a store that is not there yet."""
    return store_urls()


@pytest.fixture(scope="session")
def ray() -> None:
    """Ray is installed; tests without it skip, or fail where nothing may be missing."""
    if importlib.util.find_spec("ray") is None:
        if os.environ.get("PROBATUM_REQUIRE_DATA") == "1":
            pytest.fail("trials must be run on a cluster here, but ray is not installed")
        pytest.skip("ray is not installed")
