"""Logs of trials: rows of (arm, outcome), or rows of counts per arm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probatum.data import read_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PullCounts", "read_log"]

ARM_NAMES = ("arm", "variant", "option", "action", "caption", "group", "treatment", "id", "name")
OUTCOME_NAMES = ("outcome", "reward", "success", "result", "converted", "passed", "clicked")
SUCCESS_NAMES = ("successes", "wins", "conversions", "clicks", "passes")
TRIAL_NAMES = ("trials", "pulls", "n", "count", "votes", "impressions")
TRUE = frozenset(("1", "true", "yes", "t", "y"))
FALSE = frozenset(("0", "false", "no", "f", "n"))


@dataclass(frozen=True)
class PullCounts:
    """Trials so far.

    Attributes
    ----------
    arms : tuple of str
        Names, in the order in which they first occur.
    successes, pulls : ndarray of int, shape (K,)
    """

    arms: tuple[str, ...]
    successes: NDArray[np.int64]
    pulls: NDArray[np.int64]

    def among(self, arms: tuple[str, ...]) -> PullCounts:
        """The same counts for a list of arms, some of which may not have been tried yet.

        Raises
        ------
        ValueError
            If an arm that was tried is not in the list.
        """
        lost = [arm for arm in self.arms if arm not in arms]
        if lost:
            raise ValueError(f"the log has the arm {lost[0]!r}, which is not in {list(arms)}")
        at = [self.arms.index(arm) if arm in self.arms else -1 for arm in arms]
        take = np.append(self.successes, 0), np.append(self.pulls, 0)
        return PullCounts(arms, take[0][at], take[1][at])


def read_log(
    path: str | Path,
    *,
    arm: str | None = None,
    outcome: str | None = None,
    successes: str | None = None,
    trials: str | None = None,
) -> PullCounts:
    """Counts per arm from a table of trials, or of counts.

    Parameters
    ----------
    path : str or Path
        See `probatum.data.read_table`.
    arm : str, optional
        Column of arms; by default one of a usual name (arm, variant, option, ...).
    outcome : str, optional
        Column of outcomes: 0/1, true/false or yes/no. By default one of a usual name (outcome,
        reward, success, ...), or the other one of two columns.
    successes, trials : str, optional
        Columns of counts, in place of outcomes; several rows of an arm are added.

    Raises
    ------
    OSError
        If the file can't be read.
    ValueError
        If it is no such table; names the column, or row and value.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "log.csv")
    ...     _ = file.write_text("arm,outcome\\nred,1\\nblue,0\\nred,no\\n")
    ...     counts = read_log(file)
    >>> counts.arms, counts.successes.tolist(), counts.pulls.tolist()
    (('red', 'blue'), [1, 0], [2, 1])
    """
    table = read_table(path)
    if table.empty:
        raise ValueError(f"{path} has a header, but no rows")
    arm = _column(table, path, arm, ARM_NAMES, "arm")
    if outcome is not None and (successes is not None or trials is not None):
        raise ValueError("give either an outcome column, or successes and trials")
    s_column = _found(table, successes, SUCCESS_NAMES, path)
    n_column = _found(table, trials, TRIAL_NAMES, path)
    names = [_name(value, row, arm, path) for row, value in enumerate(table[arm], 1)]
    if outcome is None and s_column is not None and n_column is not None:
        won = [_count(v, row, s_column, path) for row, v in enumerate(table[s_column], 1)]
        tried = [_count(v, row, n_column, path) for row, v in enumerate(table[n_column], 1)]
        for row, (s, n) in enumerate(zip(won, tried, strict=True), 1):
            if s > n:
                raise ValueError(f"{path}: row {row} has {s} successes of {n} trials")
    elif successes is not None or trials is not None:
        raise ValueError("successes and trials come together; one of them was not found")
    else:
        others = [str(c) for c in table.columns if c != arm]
        if outcome is None and len(others) == 1:
            outcome = others[0]
        outcome = _column(table, path, outcome, OUTCOME_NAMES, "outcome")
        won = [_outcome(v, row, outcome, path) for row, v in enumerate(table[outcome], 1)]
        tried = [1] * len(won)
    arms = tuple(dict.fromkeys(names))
    place = {name: i for i, name in enumerate(arms)}
    at = np.array([place[name] for name in names])
    return PullCounts(
        arms,
        np.bincount(at, weights=won, minlength=len(arms)).astype(np.int64),
        np.bincount(at, weights=tried, minlength=len(arms)).astype(np.int64),
    )


def _found(
    table: pd.DataFrame, given: str | None, usual: tuple[str, ...], path: str | Path
) -> str | None:
    """A column by its name, or by a usual one; None if there is none."""
    columns = [str(column) for column in table.columns]
    if given is not None:
        if given not in columns:
            raise ValueError(f"{path} has no column {given!r}; it has {', '.join(columns)}")
        return given
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name] for name in usual if name in lower), None)


def _column(
    table: pd.DataFrame, path: str | Path, given: str | None, usual: tuple[str, ...], what: str
) -> str:
    found = _found(table, given, usual, path)
    if found is None:
        columns = ", ".join(map(str, table.columns))
        raise ValueError(f"{path}: which column is the {what}? say --{what}; it has {columns}")
    return found


def _text(value: Any) -> str:
    """A cell as a person wrote it: a column with gaps turns whole numbers into floats."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _name(value: Any, row: int, column: str, path: str | Path) -> str:
    if value is None or value != value:
        raise ValueError(f"{path}: row {row} has no {column}")
    return _text(value)


def _outcome(value: Any, row: int, column: str, path: str | Path) -> int:
    text = _text(value).lower()
    if text in TRUE or text in FALSE:
        return int(text in TRUE)
    shown = "nothing" if value is None or value != value else repr(_text(value))
    raise ValueError(
        f"{path}: row {row} has {shown} as {column}; accepted are 0/1, true/false and yes/no"
    )


def _count(value: Any, row: int, column: str, path: str | Path) -> int:
    number = value if isinstance(value, int | float | np.number) else None
    if number is None or not 0 <= float(number) < 2**53 or float(number) % 1:
        shown = _text(value)
        raise ValueError(f"{path}: row {row} has {shown!r} as {column}; counts are whole numbers")
    return int(number)
