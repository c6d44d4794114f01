"""Logs of trials: rows of (arm, outcome), or rows of counts per arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probatum.data.other_formats import json_of
from probatum.data.user_tables import read_cells, typed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PullCounts", "read_log"]

ARM_NAMES = ("arm", "variant", "option", "action", "caption", "group", "treatment")
# Names of arms only where none of the others is there: a person has an id and a name too.
ARM_NAMES_IF_NEEDED = ("id", "name")
OUTCOME_NAMES = (
    "outcome", "reward", "success", "result", "converted", "conversion", "passed", "clicked",
    "click", "won", "win", "correct",
)  # fmt: skip
SUCCESS_NAMES = ("successes", "wins", "conversions", "clicks", "passes")
TRIAL_NAMES = ("trials", "pulls", "n", "count", "votes", "impressions")
# From here on 1, 2, 3, ... is a running number and no accident.
RUNNING_ROWS = 3
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
    columns : mapping of str to str
        Which column of a log was read as what: arm, and outcome or successes and trials.
    """

    arms: tuple[str, ...]
    successes: NDArray[np.int64]
    pulls: NDArray[np.int64]
    columns: Mapping[str, str] = field(default_factory=dict)

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
        return PullCounts(arms, take[0][at], take[1][at], self.columns)


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
        Columns of counts, in place of outcomes; several rows of an arm are added. By default those
        of a usual name, if there is no outcome; a running number is none.

    Raises
    ------
    OSError
        If the file can't be read.
    ValueError
        If it is no such table; names the column, or row and value. If there are several columns
        to choose from; names them.

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
    path = Path(path)
    _refuse_saved(path)
    usual = (*ARM_NAMES, *ARM_NAMES_IF_NEEDED)
    may_be_arms = {name for word in usual for name in (word, word.capitalize(), word.upper())}
    cells, separator = read_cells(path, words=may_be_arms | {arm or ""})
    table = cells if separator is None else typed(cells, separator)
    given = {"arm": arm, "outcome": outcome, "successes": successes, "trials": trials}
    columns = _columns(table, path, {r: name for r, name in given.items() if name is not None})
    at, arms = _arms(table[columns["arm"]], cells[columns["arm"]], columns["arm"], path)
    if "outcome" in columns:
        won = _read(table[columns["outcome"]], _outcome, columns["outcome"], path)
        tried = np.ones_like(won)
    else:
        won = _read(table[columns["successes"]], _count, columns["successes"], path)
        tried = _read(table[columns["trials"]], _count, columns["trials"], path)
        if (over := won > tried).any():
            row = int(over.argmax())
            raise ValueError(
                f"{path}: row {row + 1} has {won[row]} successes of {tried[row]} trials"
            )
    return PullCounts(
        arms,
        np.bincount(at, weights=won, minlength=len(arms)).astype(np.int64),
        np.bincount(at, weights=tried, minlength=len(arms)).astype(np.int64),
        columns,
    )


# --- which column is what ------------------------------------------------------------------------


def _columns(table: pd.DataFrame, path: Path, given: dict[str, str]) -> dict[str, str]:
    """The column of each role: as given, else the only one of a usual name."""
    names = [str(column) for column in table.columns]
    for name in given.values():
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}; it has {', '.join(names)}")
    if "outcome" in given and ("successes" in given or "trials" in given):
        raise ValueError("give either an outcome column, or successes and trials")
    free = [name for name in names if name not in given.values()]
    if "arm" in given:
        arm = given["arm"]
    else:
        usual = _called(free, ARM_NAMES) or _called(free, ARM_NAMES_IF_NEEDED)
        arm = _only(usual, "arm", names, path)
        free.remove(arm)
    if "outcome" in given:
        return {"arm": arm, "outcome": given["outcome"]}
    won = _called(free, SUCCESS_NAMES)
    tried = [name for name in _called(free, TRIAL_NAMES) if not _running(table[name])]
    if "successes" in given or "trials" in given:
        if not ("successes" in given or won) or not ("trials" in given or tried):
            raise ValueError("successes and trials come together; one of them was not found")
        outcomes: list[str] = []
    else:
        outcomes = _called(free, OUTCOME_NAMES) if len(free) > 1 else free
        if outcomes and (won or tried) and len(free) > 1:
            raise ValueError(
                f"{path}: outcomes in {', '.join(outcomes)} or counts in {', '.join(won + tried)}? "
                "say --outcome, or --successes and --trials"
            )
        if not outcomes and bool(won) != bool(tried):
            raise ValueError(
                f"{path}: which column is the outcome? say --outcome, or --successes and --trials "
                f"(a running number is neither); it has {', '.join(names)}"
            )
        if outcomes or not won:
            return {"arm": arm, "outcome": _only(outcomes, "outcome", names, path)}
    return {
        "arm": arm,
        "successes": given.get("successes") or _only(won, "successes", names, path),
        "trials": given.get("trials") or _only(tried, "trials", names, path),
    }


def _called(names: list[str], usual: tuple[str, ...]) -> list[str]:
    return [name for name in names if name.strip().lower() in usual]


def _only(candidates: list[str], what: str, names: list[str], path: Path) -> str:
    if len(candidates) == 1:
        return candidates[0]
    raise ValueError(
        f"{path}: which column is the {what}, {', '.join(candidates)}? say --{what}"
        if candidates
        else f"{path}: which column is the {what}? say --{what}; it has {', '.join(names)}"
    )


def _running(column: pd.Series[Any]) -> bool:
    """Whether a column numbers the rows, from 0 or 1."""
    if column.dtype.kind not in "iuf" or len(column) < RUNNING_ROWS or column.isna().any():
        return False
    values = column.to_numpy(dtype=float)
    return values[0] in (0, 1) and bool((np.diff(values) == 1).all())


# --- what the cells say --------------------------------------------------------------------------


def _refuse_saved(path: Path) -> None:
    """Say so of what the tool itself wrote."""
    try:
        with path.open("rb") as stream:
            if stream.read(1) != b"{":
                return
            found = json_of("{" + stream.read().decode("utf-8", "replace"))
    except (OSError, ValueError):  # said by who reads it
        return
    if isinstance(found, dict) and ("policy" in found or "answer" in found):
        raise ValueError(f"{path} is a saved answer, not a log of trials")


def _arms(
    column: pd.Series[Any], cells: pd.Series[Any], name: str, path: Path
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Which arm each row has, and the arms; only the empty cell is none, "NA" is an arm."""
    import pandas as pd

    gaps = column.isna()
    words = cells.where(gaps, column) if gaps.any() else column
    codes, levels = pd.factorize(words, use_na_sentinel=True)
    texts = [_text(level) for level in levels]
    none = np.array([not text for text in texts] + [True])[codes]
    if none.any():
        raise ValueError(f"{path}: row {int(none.argmax()) + 1} has no {name}")
    arms = tuple(dict.fromkeys(texts))
    place = {text: i for i, text in enumerate(arms)}
    return np.array([place[text] for text in texts], dtype=np.int64)[codes], arms


def _read(
    column: pd.Series[Any], meaning: Callable[[Any], int | None], name: str, path: Path
) -> NDArray[np.int64]:
    """What the cells mean; each different one is looked at once."""
    import pandas as pd

    codes, levels = pd.factorize(column, use_na_sentinel=True)
    found = [meaning(level) for level in levels]
    wrong = np.array([one is None for one in found] + [True])[codes]
    if wrong.any():
        row = int(wrong.argmax())
        value = column.iloc[row]
        shown = "nothing" if value is None or value != value else repr(_text(value))
        raise ValueError(f"{path}: row {row + 1} has {shown} as {name}; {_ACCEPTED[meaning]}")
    return np.array(found, dtype=np.int64)[codes]


def _text(value: Any) -> str:
    """A cell as a person wrote it: a column with gaps turns whole numbers into floats."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _outcome(value: Any) -> int | None:
    text = _text(value).lower()
    return int(text in TRUE) if text in TRUE or text in FALSE else None


def _count(value: Any) -> int | None:
    number = value if isinstance(value, int | float | np.number) else None
    if number is None or not 0 <= float(number) < 2**53 or float(number) % 1:
        return None
    return int(number)


_ACCEPTED: dict[Callable[[Any], int | None], str] = {
    _outcome: "accepted are 0/1, true/false and yes/no",
    _count: "counts are whole numbers",
}
