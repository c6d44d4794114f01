"""From a table of someone's own to features and a target of two classes, by stated rules.

What the rules find out about the training rows (formats of dates, levels, which columns are of no
use) is kept and applied to other tables as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from probatum.data.columns import (
    USABLE,
    ColumnRule,
    features_by,
    listed,
    rule_for,
    type_of,
    words_of,
)
from probatum.data.missing_values import MISSING
from probatum.data.user_tables import nearest, unique_names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

# A target of numbers with more different values is a quantity.
_TARGET_LEVELS = 20
# A column that tells the classes apart is told of from so many rows on, if it has no more levels.
_GIVEAWAY_ROWS, _GIVEAWAY_LEVELS = 30, 20


class Applied(NamedTuple):
    """Features of another table, and what is to be said about it."""

    X: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Features:
    """Features and target of a table, and the rules that made them.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_features)
        Numbers as floats and categories as pandas categoricals of words; missing values are NaN.
    y : ndarray of int64 of shape (n_samples,)
        1 for the positive class, else 0.
    classes : tuple of two str
        How the negative and the positive class are called in the table.
    positive : str
        ``classes[1]``.
    notes : tuple of str
        What was left out or interpreted, a sentence each.
    rows : ndarray of shape (n_samples,)
        Which rows of the table they are, from 0.
    rules : tuple of ColumnRule
    known : frozenset of str
        All columns of the table.
    """

    X: pd.DataFrame
    y: npt.NDArray[np.int64]
    classes: tuple[str, str]
    positive: str
    notes: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    rules: tuple[ColumnRule, ...] = field(repr=False)
    known: frozenset[str] = field(repr=False)

    def apply(self, frame: pd.DataFrame) -> Applied:
        """The same features of another table, of which no target is asked.

        Parameters
        ----------
        frame : DataFrame
            With every column that is used; others are left alone, with a note on new ones.

        Returns
        -------
        Applied
            ``X`` with as many rows as `frame`, and ``notes``.

        Raises
        ------
        ValueError
            If columns are missing (they are named), none of a column's cells can be read as what
            it holds in training, or there are no rows.
        """
        frame = _named(frame)
        if not len(frame):
            raise ValueError("the table has no rows")
        lost = [rule.name for rule in self.rules if rule.name not in frame]
        if lost:
            more = f" and {len(lost) - 10} more" if len(lost) > 10 else ""
            near = nearest(lost[0], (name for name in frame.columns if name not in self.known))
            if not near.startswith("did you mean"):
                near = nearest("", frame.columns).replace("there are: ", "it has ", 1)
            raise ValueError(
                f"the table lacks {listed(lost[:10])}{more}, which the training table has; {near}"
            )
        notes = []
        new = [name for name in frame.columns if name not in self.known]
        if new:
            notes.append(f"left alone, because the training table lacks them: {listed(new)}")
        X, more_notes = features_by(frame, self.rules, learned_here=False)
        return Applied(X, (*notes, *more_notes))


def prepare_features(
    frame: pd.DataFrame,
    target: str,
    drop: Sequence[str] = (),
    *,
    positive: str | None = None,
) -> Features:
    """Turn a table into features and a target of two classes.

    Rows without a target are left out. The positive class is the rarer one (of equals the last in
    sorted order); `positive` names another, and makes of more than two classes one against the
    rest. Left out are columns with one value or none, columns that number the rows or identify
    them (called ``id`` or the like, every value different), free text (more than 20 different
    values, nearly one a row), and what is neither number, word nor date. Dates, in one of the usual
    formats, become days since the first, month, weekday and hour, as far as these vary; a column
    whose days and months can't be told apart is left out. A column in which 9 of 10 values are
    numbers is numbers, with the rest missing; infinite ones, and those beyond 1e100, are missing
    too, and a column of nothing else is left out. Of more than 100 levels the 100 most frequent are
    kept and the others made one.

    Parameters
    ----------
    frame : DataFrame
    target : str
        Column to predict.
    drop : sequence of str, default=()
        Columns not to use.
    positive : str, default=None
        The positive class, as the table has it.

    Returns
    -------
    Features

    Raises
    ------
    ValueError
        If a column that is named is missing, the target has not two classes, or no column of use
        is left.
    TypeError
        If `frame` is not a DataFrame.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 41, 52, 28], "left": ["no", "no", None, "yes"]})
    >>> features = prepare_features(table, "left")
    >>> features.y.tolist(), features.classes, features.notes
    ([0, 0, 1], ('no', 'yes'), ("1 row without a value of 'left' left out",))
    >>> features.apply(pd.DataFrame({"age": [35]})).X
        age
    0  35.0
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    frame = _named(frame)
    for name in (target, *drop):
        if name not in frame:
            raise ValueError(f"there is no column {name!r}; {nearest(name, frame.columns)}")
    if target in drop:
        raise ValueError(f"the target {target!r} can't be dropped")
    y, rows, classes, notes = _target(frame[target], target, positive)
    rules: list[ColumnRule] = []
    left_out: dict[str, list[str]] = {}
    taken = set(frame.columns)
    for name in frame.columns:
        if name == target or name in drop:
            continue
        found = rule_for(name, frame[name], rows, taken)
        if isinstance(found, str):
            left_out.setdefault(found, []).append(name)
        else:
            rules.append(found)
    notes += [f"left out, because {why}: {listed(them)}" for why, them in left_out.items()]
    if not rules:
        if drop:
            notes.append(f"dropped: {listed(dict.fromkeys(drop))}")
        raise ValueError("; ".join(("no column is left to learn from", *notes)))
    X, more_notes = features_by(frame.iloc[rows], tuple(rules))
    notes += [*more_notes, *_giveaways(X, y)]
    known = frozenset(frame.columns)
    return Features(X, y, classes, classes[1], tuple(notes), rows, tuple(rules), known)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with names that are text and differ, and rows numbered from 0."""
    names, _ = unique_names(frame.columns)
    return frame.set_axis(names, axis=1).reset_index(drop=True)


# --- the target ----------------------------------------------------------------------------------


def _target(
    column: pd.Series[Any], target: str, positive: str | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[str, str], list[str]]:
    """0 and 1 of the rows that have a target, which rows these are, the classes and notes."""
    import numpy as np
    from pandas.api import types

    if (held := type_of(column)) not in USABLE:
        raise ValueError(f"column {target!r} holds {held} values, not classes")
    words = words_of(column).str.strip()
    words = words.mask(words == "")
    rows = np.flatnonzero(words.notna().to_numpy()).astype(np.int64)
    kept = words.iloc[rows]
    notes = []
    if lost := len(words) - rows.size:
        s = "" if lost == 1 else "s"
        notes.append(f"{lost} row{s} without a value of {target!r} left out")
    counts = kept.value_counts().sort_index()
    counts = counts.sort_values(ascending=False, kind="stable")
    if not len(counts):
        raise ValueError(f"column {target!r} holds no value in any row")
    shown = _counted(counts)
    named_missing = [word for word in counts.index if word in MISSING]
    if named_missing:
        notes.append(
            f"{listed(named_missing)} in {target!r} taken as a class; if it stands for a missing "
            "value, empty these cells"
        )
    if len(counts) == 1:
        raise ValueError(f"column {target!r} holds one class only, {shown}; two are needed")
    if positive is not None:
        chosen = _same_label(positive, counts.index)
        if chosen is None:
            raise ValueError(f"no row has {positive!r} in column {target!r}; it holds {shown}")
    elif len(counts) > 2:
        numbers = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
        if numbers and len(counts) > _TARGET_LEVELS:
            raise ValueError(
                f"column {target!r} holds {len(counts)} different numbers (from {column.min():g} "
                f"to {column.max():g}): a quantity, not two classes; make a column that says yes "
                "or no of it"
            )
        raise ValueError(
            f"column {target!r} holds {len(counts)} classes, {shown}; give positive (one of them "
            "against the rest)" + "".join(f"; {note}" for note in notes if "as a class" in note)
        )
    else:
        chosen = sorted(counts.index, key=lambda word: (-counts[word], word))[-1]
    rest = [word for word in counts.index if word != chosen]
    negative = rest[0] if len(rest) == 1 else f"not {chosen}"
    y = (kept == chosen).to_numpy().astype(np.int64)
    return y, rows, (negative, chosen), notes


def _counted(counts: pd.Series[Any]) -> str:
    shown = ", ".join(f"{word!r} ({n} rows)" for word, n in counts.head(8).items())
    return shown + (f" and {len(counts) - 8} more" if len(counts) > 8 else "")


def _same_label(given: str, labels: Iterable[str]) -> str | None:
    """The label that is meant: as it is written, or the same number."""
    given = str(given).strip()
    for label in labels:
        if label == given:
            return label
    for label in labels:
        try:
            if float(label) == float(given):
                return label
        except ValueError:
            continue
    return None


def _giveaways(X: pd.DataFrame, y: npt.NDArray[np.int64]) -> list[str]:
    """Columns that tell the class by themselves: most often the target in other words."""
    import pandas as pd

    found = []
    for name in X.columns if y.size >= _GIVEAWAY_ROWS else ():
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            # A level a row would tell everything as well.
            telling = column.nunique() <= _GIVEAWAY_LEVELS and bool(
                (pd.Series(y).groupby(column.astype(object).fillna("")).nunique() == 1).all()
            )
        else:
            ones, zeros = column[y == 1], column[y == 0]
            telling = not column.isna().any() and bool(
                ones.min() > zeros.max() or ones.max() < zeros.min()
            )
        if telling:
            found.append(str(name))
    if not found:
        return []
    return [
        f"{listed(found)} alone tell{'s' if len(found) == 1 else ''} the classes apart; "
        "if this would not be known beforehand, drop it"
    ]
