"""The database under a store: a SQLite file, or a PostgreSQL server that may go away for a while.

Work is handed in as a function of a connection and runs in one transaction. Where the server is
gone it is run again, as a whole, when the server is back: it must be safe to repeat even if its
commit went through and only the answer was lost.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from probatum.evidence.extras import install_line

__all__ = ["PATIENCE", "Database", "StoreError", "address", "insert", "shown"]

T = TypeVar("T")

PATIENCE = 300.0
"""So many seconds a run waits for a server that went away."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
# Shutting down, crashed, starting up, too many connections; those of class 08 come in addition.
_GONE = frozenset({"57P01", "57P02", "57P03", "53300"})
# The server gave up one of two transactions that stood in each other's way.
_COLLIDED = frozenset({"40001", "40P01"})
# What SQLite says of a damaged file may itself be no text.
_ERRORS = (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)
# Any number will do, so long as all versions take the same one.
_LOCK = 0x70726F62
_PSYCOPG = {
    # A cut cable must be noticed: without these a commit may wait for hours.
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    # Text that the server's encoding lacks is an error of the server, told like any other.
    "client_encoding": "utf8",
    "application_name": "probatum",
}


class StoreError(Exception):
    """The store can't be opened, read or written; the message says what would mend it."""


def address(url: str) -> sa.URL:
    """A store's address, read.

    Raises
    ------
    StoreError
        If it is none, or of a database that stores can't be in; a password in it is not repeated.

    Examples
    --------
    >>> address("postgres://me@db.example.org/evidence").drivername
    'postgresql+psycopg'
    """
    try:
        found = sa.make_url(re.sub(r"^postgres(?=:|\+)", "postgresql", url))
    except (sa.exc.ArgumentError, ValueError):
        found = None
    # What follows an @ in a password would be taken, and told, as the name of a host.
    if found is None or "@" in (found.host or ""):
        hint = "use a SQLAlchemy URL such as sqlite:///evidence.db"
        if "@" in url:
            hint = "write / @ : # % in a password as %2F %40 %3A %23 %25"
        raise StoreError(f"not a store address: {_without_secrets(url)!r}; {hint}")
    if found.drivername == "postgresql":
        found = found.set(drivername="postgresql+psycopg")
    if found.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise StoreError(
            f"can't open the store {shown(found)}: stores are SQLite files (sqlite:///FILE) or "
            "PostgreSQL databases (postgresql://USER@HOST/NAME)"
        )
    return found


def shown(url: sa.URL) -> str:
    """An address as it may be printed.

    Examples
    --------
    >>> shown(sa.make_url("postgresql://me:secret@host/db?sslpassword=secret"))
    'postgresql://me:***@host/db'
    """
    secret = [name for name in url.query if "password" in name.lower()]
    return url.difference_update_query(secret).render_as_string(hide_password=True)


def _without_secrets(text: str) -> str:
    """What can be shown of an address that can't be read.

    Examples
    --------
    >>> _without_secrets("postgresql://me:p@ss@host:x/db?password=secret")
    'postgresql://***@host:x/db?password=***'
    """
    text = re.sub(r"^([\w+]+:/*)?.*@", r"\1***@", text, flags=re.DOTALL)
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", text)


def insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that may say what happens to a row that is there already."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


class Database:
    """Runs work on a database, each piece in one transaction.

    Parameters
    ----------
    url : sqlalchemy.URL
        As :func:`address` gives it.
    patience : float
        Seconds to wait for a server that went away after it had been reached once.

    Raises
    ------
    StoreError
        If there is no driver, or no folder for the file.
    """

    def __init__(self, url: sa.URL, patience: float | None = None) -> None:
        self.url = url
        self.where = shown(url)
        self._server = url.get_backend_name() != "sqlite"
        self._patience = PATIENCE if patience is None else patience
        self._opened = self._waits = False
        self._given_up = ""
        try:
            self.engine = self._made()
        except ImportError as error:
            needs = install_line("postgres")
            raise StoreError(
                f"can't open the store {self.where}: PostgreSQL needs psycopg: {needs}"
            ) from error
        except (OSError, *_ERRORS) as error:
            raise self._failed("open", error) from error

    def _made(self) -> sa.Engine:
        if self._server:
            # No ping before each use: work that meets a dead connection is run again. Statements
            # prepared on the server would be lost behind a pooler.
            given = {name: value for name, value in _PSYCOPG.items() if name not in self.url.query}
            return sa.create_engine(
                self.url,
                connect_args={**given, "prepare_threshold": None},
                isolation_level="READ COMMITTED",
            )
        if self.url.database not in (None, "", ":memory:"):
            Path(str(self.url.database)).parent.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(self.url)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        return engine

    def open(self, prepare: Callable[[Database], None]) -> None:
        """Have the tables made ready; a server that can't be reached now is not waited for."""
        try:
            prepare(self)
        except (OSError, *_ERRORS) as error:
            self.close()
            raise self._failed("open", error) from error
        except BaseException:
            self.close()
            raise
        self._opened, self._waits = True, self._server

    def stop_waiting(self) -> None:
        """From now on a server that is gone is told at once."""
        self._waits = False

    def give_up(self) -> None:
        """Wait no longer for a server that was waited for long enough."""
        self._waits = False
        waited = f"it was waited for {_minutes(self._patience)}"
        self._given_up = f"{waited}; what it took is kept, run the same command again to go on"

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """What work on a connection gives that only reads."""

        def once() -> T:
            with self.engine.connect() as connection:
                return work(connection)

        return self._done("read", once)

    def write(self, work: Callable[[sa.Connection], T], *, alone: bool = False) -> T:
        """What work in one transaction gives, once that is durable.

        With ``alone``, other processes that ask for it too wait for each other.
        """

        def once() -> T:
            with self.engine.begin() as connection:
                if not self._server:
                    # What is read in it must not change before it writes.
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                elif alone:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
                return work(connection)

        return self._done("write to", once)

    def alone_with(self, connection: sa.Connection, name: str) -> None:
        """Wait, within a transaction, for others that are about something of the same name."""
        # SQLite has one writer at a time anyway.
        if self._server:
            lock = sa.func.pg_advisory_xact_lock(_LOCK, sa.func.hashtext(name))
            connection.execute(sa.select(lock))

    def rows(self, query: sa.Select[Any], by: sa.Column[Any]) -> Iterator[sa.Row[Any]]:
        """Rows in the order of a unique column of theirs, read while they are taken.

        A reading that breaks goes on after the last row that was taken.
        """
        wait, last = _Wait(self), None
        while True:
            rest = query if last is None else query.where(by > last)
            try:
                with self.engine.connect() as connection:
                    options = connection.execution_options(yield_per=1000)
                    for row in options.execute(rest.order_by(by)):
                        wait.over()
                        yield row
                        last = row._mapping[by]
                wait.over()
                return
            except _ERRORS as error:
                if not wait.again(error):
                    raise self._failed("read", error) from error

    def _done(self, what: str, once: Callable[[], T]) -> T:
        wait = _Wait(self)
        while True:
            try:
                found = once()
            except sa.exc.IntegrityError:
                wait.over()
                raise
            except _ERRORS as error:
                if not wait.again(error):
                    raise self._failed(what, error) from error
            else:
                wait.over()
                return found

    def _failed(self, what: str, error: Exception) -> StoreError:
        if not self._opened:
            why = f"{first_line(error)}{self._hint()}"
            return StoreError(f"can't open the store {self.where}: {why}")
        hint = f"; {self._given_up}" if self._given_up else ""
        return StoreError(f"can't {what} the store: {first_line(error)}{hint}")

    def _hint(self) -> str:
        """What SQLite does not say of a file that it can't open."""
        file = Path(str(self.url.database))
        if self._server or not file.is_file() or os.access(file.parent, os.W_OK):
            return ""
        return f"; {file.parent} is read-only, and reading takes files beside it too: copy it"

    def close(self) -> None:
        """Release the connections."""
        self.engine.dispose()


class _Wait:
    """Says whether one piece of work is to be tried again, and waits for it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._since = 0.0
        self._tries = 0
        self._told = False

    def again(self, error: Exception) -> bool:
        """Whether to try again, after a pause; False where that would not help, or not any more."""
        if not self._database._waits or not (_gone(error) or _collided(error)):
            return False
        now = time.monotonic()
        self._tries += 1
        if self._tries == 1:
            # The connections may be dead, and the server there.
            self._since = now
            return True
        left = self._since + self._database._patience - now
        if left <= 0:
            # What comes after, such as a last note, must not wait as long again.
            self._database.give_up()
            return False
        if not self._told and not _collided(error):
            self._told = True
            said = f"the store {self._database.where} is gone ({first_line(error)})"
            _say(f"{said}; waiting for it, {_minutes(self._database._patience)} at most")
        try:
            _pause(min(left, _LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(self._tries - 2, 16)))
        except BaseException:
            self._database.stop_waiting()
            raise
        return True

    def over(self) -> None:
        """It went well."""
        if self._told:
            _say(f"the store is back after {time.monotonic() - self._since:.0f} s")
        self._tries, self._told = 0, False


def _pause(seconds: float) -> None:
    time.sleep(seconds)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} s"


def _state(error: Exception) -> str:
    return getattr(getattr(error, "orig", None), "sqlstate", None) or ""


def _collided(error: Exception) -> bool:
    return _state(error) in _COLLIDED


def _gone(error: Exception) -> bool:
    """Whether an error of a server that was reached before means that it is away."""
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    state = _state(error)
    if error.connection_invalidated or state in _GONE or state.startswith("08"):
        return True
    # Without a state it did not come from the server: there was none to be reached.
    return not state and isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)


def _prepare_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=30000")
    # WAL lets readers work during a run; FULL makes each commit survive a power cut.
    for left in reversed(range(100)):
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            # Two processes that open a new file at once don't wait for each other here.
            if not left or "locked" not in str(error):
                raise
            time.sleep(0.02)
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def first_line(error: BaseException) -> str:
    """What an error says, without what drivers and SQLAlchemy add."""
    if isinstance(error, UnicodeDecodeError):
        return "it is damaged: text in it is not UTF-8"
    text = str(getattr(error, "orig", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__
