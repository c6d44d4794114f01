"""The store of trials: one durable transaction per finished trial, one row per attempt."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from probatum.evidence.answers import Remembered, answers_table, plain_text, row_of, row_read
from probatum.evidence.database import Database, StoreError, address, insert
from probatum.evidence.forms import ENVIRONMENT, misfit, record_misfit, row_misfit
from probatum.evidence.migrations import bring_up_to_date
from probatum.evidence.model import Row
from probatum.evidence.trial import Outcome, Task

__all__ = ["DEFAULT_URL", "Record", "Store", "StoreError", "environment", "plain_size"]

DEFAULT_URL = "sqlite:///.probatum/evidence.db"
# fmt: off
LIBRARIES = (
    "probatum", "numpy", "scipy", "scikit-learn", "pandas", "imbalanced-learn", "clarabel",
    "highspy", "numba",
)
# fmt: on
CHUNK = 400

_meta = sa.MetaData()

sa.Table(
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
        wrong = record_misfit(fields) or next(filter(None, map(row_misfit, fields["rows"])), "")
        if wrong:
            raise ValueError(f"its {wrong} is not as it was stored")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"trial {fields['key']} in the store can't be read: {error}") from None
    return Record(**fields)


def _environment_read(of: str, text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(text)
        wrong = misfit(found, ENVIRONMENT)
    except (ValueError, TypeError, RecursionError) as error:
        wrong = str(error)
    if wrong:
        raise StoreError(f"the machine {of} in the store can't be read: {wrong}")
    return found


def _row_of(
    task: Task, outcome: Outcome, paper: str, fingerprint: str, final: bool
) -> dict[str, Any]:
    """One attempt as a row of the table, but for its environment."""
    return {
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


class Store:
    """Trials in a database, by SQLAlchemy URL.

    Several processes, on several machines too, may use one at once. A PostgreSQL server that goes
    away while it is used is waited for, with a line on standard error.

    Parameters
    ----------
    url : str
        ``sqlite:///FILE`` by default; missing folders are made. ``postgresql://USER@HOST/NAME``
        for a database that a team shares.
    patience : float, optional
        Seconds to wait for a server that went away; 5 minutes by default.

    Raises
    ------
    StoreError
        If it can't be opened, or was written by a newer version.
    """

    def __init__(self, url: str = DEFAULT_URL, *, patience: float | None = None) -> None:
        self.url = address(url)
        self._known: set[str] = set()
        self._database = Database(self.url, patience)
        self._engine = self._database.engine
        self._database.open(lambda database: bring_up_to_date(database, _meta))

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

    def _environment_ids(
        self, connection: sa.Connection, machines: Iterable[Mapping[str, Any] | None]
    ) -> list[str]:
        """The ids under which machines are stored, of which None is this one."""
        texts = [json.dumps(machine or environment(), sort_keys=True) for machine in machines]
        ids = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]
        # In one order everywhere, so that two processes do not wait for each other.
        for found, described in sorted({*zip(ids, texts, strict=True)}):
            if found not in self._known:
                row = insert(connection, _environments).values(id=found, described=described)
                connection.execute(row.on_conflict_do_nothing())
        return ids

    def add(
        self, task: Task, outcome: Outcome, *, paper: str, fingerprint: str, final: bool
    ) -> bool:
        """Store one attempt durably; False if it, or a good end of the trial, is stored already."""
        values = _row_of(task, outcome, paper, fingerprint, final)
        tries = 0

        def write(connection: sa.Connection) -> bool:
            nonlocal tries
            tries += 1
            (values["environment"],) = self._environment_ids(connection, [outcome.environment])
            if tries > 1 and _holds(connection, values):
                return True
            if task.attempt > 1:
                # Another run may have brought it to a good end meanwhile: that stays.
                self._database.alone_with(connection, task.key)
                ended_well = (_trials.c.key == task.key) & _trials.c.final
                ended_well &= _trials.c.status == "ok"
                if connection.execute(sa.select(_trials.c.id).where(ended_well)).first():
                    return False
            if final and task.attempt > 1:
                same = _trials.c.key == task.key
                connection.execute(_trials.update().where(same).values(final=False))
            connection.execute(_trials.insert(), values)
            return True

        try:
            stored = self._database.write(write)
        except sa.exc.IntegrityError:
            # It may be ours: committed, and the server gone before it could say so.
            return tries > 1 and self._database.read(lambda c: _holds(c, values))
        if stored:
            # Not before it was committed.
            self._known.add(values["environment"])
        return stored

    def add_all(self, ended: Sequence[tuple[Task, Outcome, str, str]]) -> bool:
        """Store first attempts that went well, all of them or, where one is there, none.

        Beside each task and outcome stand the paper and the fingerprint.
        """
        rows = [_row_of(*one, True) for one in ended]

        def write(connection: sa.Connection) -> None:
            machines = self._environment_ids(connection, [one[1].environment for one in ended])
            for row, machine in zip(rows, machines, strict=True):
                row["environment"] = machine
            connection.execute(_trials.insert(), rows)

        try:
            self._database.write(write)
        except sa.exc.IntegrityError:
            return False
        self._known.update(row["environment"] for row in rows)
        return True

    def _select(self, *conditions: sa.ColumnElement[bool]) -> Iterator[Record]:
        query = sa.select(_trials).where(*conditions)
        for row in self._database.rows(query, _trials.c.id):
            yield _loaded({name: value for name, value in row._mapping.items() if name != "id"})

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
        self._database.write(lambda connection: _delete(connection, _trials.c.key, keys))

    def last_attempts(self, keys: Sequence[str]) -> dict[str, int]:
        """Highest attempt stored per key, whether final or not."""
        found: dict[str, int] = {}
        for at in range(0, len(keys), CHUNK):
            query = (
                sa.select(_trials.c.key, sa.func.max(_trials.c.attempt))
                .where(_trials.c.key.in_(keys[at : at + CHUNK]))
                .group_by(_trials.c.key)
            )
            found.update((key, attempt) for key, attempt in self._all(query))
        return found

    def remember(self, answers: Iterable[Remembered]) -> None:
        """Keep these answers, each in the place of an earlier one to the same question."""
        # In one order everywhere, so that two processes do not wait for each other.
        wanted = sorted({answer.id: answer for answer in answers}.items())

        def write(connection: sa.Connection) -> None:
            (environment_id,) = self._environment_ids(connection, [None])
            rows = [row_of(answer, environment_id) for _, answer in wanted]
            put = insert(connection, _answers)
            columns = {c.name: put.excluded[c.name] for c in _answers.c}
            connection.execute(put.on_conflict_do_update(index_elements=["id"], set_=columns), rows)

        if wanted:
            self._database.write(write)

    def forget_answers(self, ids: Sequence[str]) -> None:
        """Delete these answers."""
        self._database.write(lambda connection: _delete(connection, _answers.c.id, ids))

    def answers(self, paper: str | None = None) -> list[Remembered]:
        """The last answers to what was asked, of one paper or all, by paper and question."""
        query = sa.select(_answers).order_by(
            _answers.c.paper, _answers.c.question, _answers.c.profile, _answers.c.decided
        )
        if paper is not None:
            query = query.where(_answers.c.paper == paper)
        try:
            return [row_read(dict(row._mapping)) for row in self._all(query)]
        except ValueError as error:
            raise StoreError(f"the store is damaged: {error}") from None

    def tally(self) -> dict[str, tuple[int, int]]:
        """Per paper how many trials are stored, and the number of the last one that came in."""
        query = sa.select(_trials.c.paper, sa.func.count(), sa.func.max(_trials.c.id))
        found = self._all(query.where(_trials.c.final).group_by(_trials.c.paper))
        if any(not isinstance(paper, str) for paper, _, _ in found):
            raise StoreError("a trial in the store can't be read: its paper is no text")
        return {paper: (count, last) for paper, count, last in found}

    def environments(self) -> dict[str, dict[str, Any]]:
        """Machines and versions by the id that records carry."""
        query = sa.select(_environments.c.id, _environments.c.described)
        return {i: _environment_read(i, text) for i, text in self._all(query)}

    def _all(self, query: sa.Select[Any]) -> Sequence[Any]:
        return self._database.read(lambda connection: connection.execute(query).all())

    def stop_waiting(self) -> None:
        """From now on a server that is gone is told at once, as when a run is asked to end."""
        self._database.stop_waiting()

    def close(self) -> None:
        """Release the connections."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _holds(connection: sa.Connection, values: Mapping[str, Any]) -> bool:
    """Whether this very attempt is stored, as this process would store it."""
    # Another run may have superseded it since.
    columns = [_trials.c[name] for name in values if name != "final"]
    same = (_trials.c.key == values["key"]) & (_trials.c.attempt == values["attempt"])
    found = connection.execute(sa.select(*columns).where(same)).first()
    return found is not None and all(values[name] == v for name, v in found._mapping.items())


def _delete(connection: sa.Connection, column: sa.Column[Any], those: Sequence[str]) -> None:
    for at in range(0, len(those), CHUNK):
        connection.execute(sa.delete(column.table).where(column.in_(those[at : at + CHUNK])))
