"""The store of trials: one durable transaction per finished trial, one row per attempt."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from probatum.evidence.answers import Remembered, answers_table, plain_text, row_of, row_read
from probatum.evidence.model import Row
from probatum.evidence.trial import Outcome, Task

__all__ = ["DEFAULT_URL", "Record", "Store", "StoreError", "environment", "plain_size"]

DEFAULT_URL = "sqlite:///.probatum/evidence.db"
SCHEMA_VERSION = 1
# fmt: off
LIBRARIES = (
    "probatum", "numpy", "scipy", "scikit-learn", "pandas", "imbalanced-learn", "clarabel",
    "highspy", "numba",
)
# fmt: on
CHUNK = 400
ATTEMPTS = 3

_meta = sa.MetaData()

_facts = sa.Table(
    "facts", _meta, sa.Column("name", sa.String, primary_key=True), sa.Column("value", sa.String)
)

_environments = sa.Table(
    "environments",
    _meta,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("described", sa.Text, nullable=False),
)

_trials = sa.Table(
    "trials",
    _meta,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String(32), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("final", sa.Boolean, nullable=False),
    sa.Column("paper", sa.String, nullable=False),
    sa.Column("experiment", sa.String, nullable=False),
    sa.Column("arm", sa.String, nullable=False),
    sa.Column("dataset", sa.String, nullable=False),
    sa.Column("replicate", sa.Integer, nullable=False),
    sa.Column("size", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.String, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("traceback", sa.Text, nullable=False),
    sa.Column("rows", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("peak_mb", sa.Float),
    sa.Column("limit_seconds", sa.Float, nullable=False),
    sa.Column("limit_gb", sa.Float, nullable=False),
    sa.Column("started", sa.Float, nullable=False),
    sa.Column("environment", sa.String, nullable=False),
    sa.UniqueConstraint("key", "attempt"),
    sa.Index("trials_by_experiment", "paper", "experiment"),
)

# Versions that do not know of answers leave them alone: no new schema.
_answers = answers_table(_meta)


def plain_size(size: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes as a record carries them: JSON knows no tuples.

    Examples
    --------
    >>> plain_size({"n": (10, 100)})
    {'n': [10, 100]}
    """
    found: dict[str, Any] = json.loads(json.dumps(dict(size), sort_keys=True, default=sorted))
    return found


class StoreError(Exception):
    """The store can't be opened, read or written; the message says what would mend it."""


@dataclass(frozen=True)
class Record:
    """One stored attempt at a trial."""

    key: str
    paper: str
    experiment: str
    arm: str
    dataset: str
    replicate: int
    status: str
    rows: tuple[Row, ...] = ()
    attempt: int = 1
    final: bool = True
    size: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    message: str = ""
    traceback: str = ""
    seconds: float = 0.0
    peak_mb: float | None = None
    limit_seconds: float = 0.0
    limit_gb: float = 0.0
    started: float = 0.0
    environment: str = ""

    def serves(self, seconds: float, memory_gb: float) -> bool:
        """Whether it answers a task with these limits: a timeout may end well with more time."""
        if self.status == "timeout":
            return self.limit_seconds >= seconds
        if self.status == "out of memory":
            return self.limit_gb >= memory_gb
        return True


@cache
def environment() -> dict[str, Any]:
    """Machine and library versions that results are recorded with."""
    import psutil

    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "host": socket.gethostname(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "versions": versions,
    }


def _dumped_rows(rows: Iterable[Row]) -> str:
    plain = [
        [row.arm, row.case, row.x, dict(row.values), {k: list(v) for k, v in row.counts.items()}]
        + ([row.failed] if row.failed else [])
        for row in rows
    ]
    return json.dumps(plain, separators=(",", ":"), allow_nan=False)


def _loaded_rows(text: str) -> tuple[Row, ...]:
    return tuple(
        Row(arm, case, x, values, {name: (k, n) for name, (k, n) in counts.items()}, *failed)
        for arm, case, x, values, counts, *failed in json.loads(text)
    )


def _loaded(fields: dict[str, Any]) -> Record:
    try:
        fields["rows"] = _loaded_rows(fields["rows"])
        fields["size"] = json.loads(fields["size"])
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreError(f"trial {fields['key']} in the store can't be read: {error}") from None
    return Record(**fields)


class Store:
    """Trials in a database, by SQLAlchemy URL.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` by default; missing folders are made.

    Raises
    ------
    StoreError
        If it can't be opened, or was written by a newer version.
    """

    def __init__(self, url: str = DEFAULT_URL) -> None:
        try:
            self.url = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise StoreError(
                f"not a store address: {url!r}; use a SQLAlchemy URL such as sqlite:///evidence.db"
            ) from None
        self._environment = ""
        sqlite = self.url.get_backend_name() == "sqlite"
        try:
            if sqlite and self.url.database not in (None, "", ":memory:"):
                Path(str(self.url.database)).parent.mkdir(parents=True, exist_ok=True)
            self._engine = sa.create_engine(self.url)
            if sqlite:
                sa.event.listen(self._engine, "connect", _prepare_sqlite)
            self._open()
        except (OSError, sa.exc.SQLAlchemyError, ImportError) as error:
            where = self.url.render_as_string()
            raise StoreError(f"can't open the store {where}: {_first_line(error)}") from error

    def _create(self) -> None:
        """Make the tables that are missing, maybe side by side with another process."""
        for _ in _meta.tables:
            try:
                return _meta.create_all(self._engine)
            except sa.exc.DBAPIError as error:
                if "already exists" not in str(error):
                    raise
        _meta.create_all(self._engine)

    def _open(self) -> None:
        self._create()
        with self._engine.begin() as connection:
            found = connection.execute(
                sa.select(_facts.c.value).where(_facts.c.name == "schema")
            ).scalar()
            if found is None:
                connection.execute(
                    _facts.insert().prefix_with("OR IGNORE", dialect="sqlite"),
                    {"name": "schema", "value": str(SCHEMA_VERSION)},
                )
            elif found != str(SCHEMA_VERSION):
                raise StoreError(
                    f"the store {self.url.render_as_string()} has schema {found}, this version "
                    f"reads {SCHEMA_VERSION}: upgrade probatum or name another store"
                )

    @property
    def folder(self) -> Path:
        """Folder for prepared files, beside a SQLite file."""
        if self.url.get_backend_name() == "sqlite" and self.url.database not in (
            None,
            "",
            ":memory:",
        ):
            return Path(str(self.url.database)).resolve().parent
        return Path(".probatum").resolve()

    def _environment_id(self, connection: sa.Connection) -> str:
        described = json.dumps(environment(), sort_keys=True)
        found = hashlib.sha256(described.encode()).hexdigest()[:16]
        exists = sa.select(_environments.c.id).where(_environments.c.id == found)
        if connection.execute(exists).scalar() is None:
            connection.execute(
                _environments.insert().prefix_with("OR IGNORE", dialect="sqlite"),
                {"id": found, "described": described},
            )
        return found

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            raise StoreError(f"can't read the store: {_first_line(error)}") from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except sa.exc.IntegrityError:
            raise
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            raise StoreError(f"can't write to the store: {_first_line(error)}") from error

    def add(
        self, task: Task, outcome: Outcome, *, paper: str, fingerprint: str, final: bool
    ) -> bool:
        """Store one attempt durably; False if it, or a good end of the trial, is stored already."""
        values = {
            "key": task.key,
            "attempt": task.attempt,
            "final": final,
            "paper": paper,
            "experiment": task.experiment.partition("/")[2],
            "arm": task.arm,
            "dataset": task.dataset.id,
            "replicate": task.replicate,
            "size": json.dumps(plain_size(task.size)),
            "fingerprint": fingerprint,
            "status": outcome.status,
            "message": plain_text(outcome.message),
            "traceback": plain_text(outcome.traceback),
            "rows": _dumped_rows(outcome.rows),
            "seconds": outcome.seconds,
            "peak_mb": outcome.peak_mb,
            "limit_seconds": task.seconds,
            "limit_gb": task.memory_gb,
            "started": outcome.started,
        }
        try:
            with self._writing() as connection:
                environment_id = self._environment or self._environment_id(connection)
                values["environment"] = environment_id
                if task.attempt > 1:
                    # Another run may have brought it to a good end meanwhile: that stays.
                    ended_well = (_trials.c.key == task.key) & _trials.c.final
                    ended_well &= _trials.c.status == "ok"
                    if connection.execute(sa.select(_trials.c.id).where(ended_well)).first():
                        return False
                if final and task.attempt > 1:
                    connection.execute(
                        _trials.update().where(_trials.c.key == task.key).values(final=False)
                    )
                connection.execute(_trials.insert(), values)
        except sa.exc.IntegrityError:
            return False
        # Not before it was committed.
        self._environment = environment_id
        return True

    def _select(self, *conditions: sa.ColumnElement[bool]) -> Iterator[Record]:
        columns = [c for c in _trials.c if c.name != "id"]
        query = sa.select(*columns).where(*conditions).order_by(_trials.c.id)
        with self._reading() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield _loaded(dict(row._mapping))

    def final(self, keys: Sequence[str]) -> dict[str, Record]:
        """Final records by key."""
        found: dict[str, Record] = {}
        for at in range(0, len(keys), CHUNK):
            chunk = keys[at : at + CHUNK]
            for record in self._select(_trials.c.key.in_(chunk), _trials.c.final):
                found[record.key] = record
        return found

    def records(self, paper: str | None = None, *, attempts: bool = False) -> Iterator[Record]:
        """Stored records, of one paper or all; with ``attempts`` those that were retried too."""
        conditions: list[sa.ColumnElement[bool]] = []
        if paper is not None:
            conditions.append(_trials.c.paper == paper)
        if not attempts:
            conditions.append(_trials.c.final)
        return self._select(*conditions)

    def forget(self, keys: Sequence[str]) -> None:
        """Delete all attempts at these trials."""
        with self._writing() as connection:
            for at in range(0, len(keys), CHUNK):
                connection.execute(_trials.delete().where(_trials.c.key.in_(keys[at : at + CHUNK])))

    def last_attempts(self, keys: Sequence[str]) -> dict[str, int]:
        """Highest attempt stored per key, whether final or not."""
        found: dict[str, int] = {}
        with self._reading() as connection:
            for at in range(0, len(keys), CHUNK):
                query = (
                    sa.select(_trials.c.key, sa.func.max(_trials.c.attempt))
                    .where(_trials.c.key.in_(keys[at : at + CHUNK]))
                    .group_by(_trials.c.key)
                )
                found.update((key, attempt) for key, attempt in connection.execute(query))
        return found

    def remember(self, answers: Iterable[Remembered]) -> None:
        """Keep these answers, each in the place of an earlier one to the same question."""
        # In one order everywhere, so that two processes do not wait for each other.
        wanted = dict(sorted((answer.id, answer) for answer in answers))
        for _ in range(ATTEMPTS if wanted else 0):
            with contextlib.suppress(sa.exc.IntegrityError), self._writing() as connection:
                environment_id = self._environment_id(connection)
                _delete_answers(connection, list(wanted))
                rows = [row_of(answer, environment_id) for answer in wanted.values()]
                connection.execute(_answers.insert(), rows)
                return
        if wanted:
            raise StoreError("can't write to the store: others write the same answers; try again")

    def forget_answers(self, ids: Sequence[str]) -> None:
        """Delete these answers."""
        with self._writing() as connection:
            _delete_answers(connection, ids)

    def answers(self, paper: str | None = None) -> list[Remembered]:
        """The last answers to what was asked, of one paper or all, by paper and question."""
        query = sa.select(_answers).order_by(
            _answers.c.paper, _answers.c.question, _answers.c.profile, _answers.c.decided
        )
        if paper is not None:
            query = query.where(_answers.c.paper == paper)
        with self._reading() as connection:
            rows = [dict(row._mapping) for row in connection.execute(query)]
        try:
            return [row_read(row) for row in rows]
        except ValueError as error:
            raise StoreError(f"the store is damaged: {error}") from None

    def tally(self) -> dict[str, tuple[int, int]]:
        """Per paper how many trials are stored, and the number of the last one that came in."""
        with self._reading() as connection:
            query = sa.select(_trials.c.paper, sa.func.count(), sa.func.max(_trials.c.id))
            found = connection.execute(query.where(_trials.c.final).group_by(_trials.c.paper))
            return {paper: (count, last) for paper, count, last in found}

    def environments(self) -> dict[str, dict[str, Any]]:
        """Machines and versions by the id that records carry."""
        with self._reading() as connection:
            query = sa.select(_environments.c.id, _environments.c.described)
            return {i: json.loads(text) for i, text in connection.execute(query)}

    def close(self) -> None:
        """Release the connections."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _delete_answers(connection: sa.Connection, ids: Sequence[str]) -> None:
    for at in range(0, len(ids), CHUNK):
        connection.execute(_answers.delete().where(_answers.c.id.in_(ids[at : at + CHUNK])))


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


def _first_line(error: BaseException) -> str:
    text = str(getattr(error, "orig", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__
