"""Versions of the tables, and how a store of an earlier one is brought up to date.

A change to the tables is one more step at the end of ``STEPS``. It is run in the transaction, and
under the lock, in which the version is raised: a store is either as it was or as it should be.
New tables need no statement of their own, as those that are missing are made after the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from probatum.evidence.database import Database, StoreError, insert

__all__ = ["FIRST", "STEPS", "Step", "bring_up_to_date", "current"]

FIRST = 1
"""The version that had no step."""


@dataclass(frozen=True)
class Step:
    """What brings a store from the version before to this one.

    Parameters
    ----------
    version : int
        Of the store after it.
    change : callable
        Takes a connection within a transaction and neither commits nor rolls back. It names
        tables and columns in SQL, not by the tables of the code, which go on changing.
    """

    version: int
    change: Callable[[sa.Connection], None]


STEPS: tuple[Step, ...] = ()


def current() -> int:
    """The version that this code reads and writes."""
    return STEPS[-1].version if STEPS else FIRST


def bring_up_to_date(database: Database, meta: sa.MetaData) -> None:
    """Make the tables that are missing, and change those of an earlier version.

    Parameters
    ----------
    database : Database
    meta : sqlalchemy.MetaData
        The tables of this version, among them ``facts`` and ``trials``.

    Raises
    ------
    StoreError
        If the store was written by a newer version, or by one too old; it stays as it is.
    """

    def is_current(connection: sa.Connection) -> bool:
        names = set(sa.inspect(connection).get_table_names())
        if not set(meta.tables) <= names:
            return False
        found = _version(connection, meta, names, database.where)
        return found == current()

    def change(connection: sa.Connection) -> None:
        names = set(sa.inspect(connection).get_table_names())
        found = _version(connection, meta, names, database.where)
        if found is None:
            # The first version wrote its number after its tables, in another transaction.
            found = FIRST if "trials" in names else current()
        _take_steps(connection, found, database.where)
        meta.create_all(connection)
        row = {"name": "schema", "value": str(current())}
        put = insert(connection, meta.tables["facts"]).values(row)
        connection.execute(put.on_conflict_do_update(index_elements=["name"], set_=row))

    # A look first: opening a store that is as it should be neither writes nor waits.
    if not database.read(is_current):
        database.write(change, alone=True)


def _version(
    connection: sa.Connection, meta: sa.MetaData, names: set[str], where: str
) -> int | None:
    """The version that a store says it has; None where it says nothing."""
    if "facts" not in names:
        return None
    facts = meta.tables["facts"]
    said = connection.execute(sa.select(facts.c.value).where(facts.c.name == "schema")).scalar()
    if said is None:
        return None
    found = int(said) if re.fullmatch("[0-9]{1,9}", str(said)) else None
    if found is None or found > current():
        raise StoreError(
            f"the store {where} has schema {said}, this version reads {current()}: "
            "upgrade probatum or name another store"
        )
    return found


def _take_steps(connection: sa.Connection, found: int, where: str) -> None:
    before = found
    for step in STEPS:
        if step.version == found + 1:
            step.change(connection)
            found = step.version
    if found != current():
        raise StoreError(
            f"the store {where} has schema {before}, from which nothing leads to {current()}, "
            "which this version reads: name another store"
        )
