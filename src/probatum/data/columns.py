"""What a column of someone's own table is, and the features that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from probatum.data.preprocessing import _as_floats, _as_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

# More levels than this would make as many columns; the rarer ones become one.
MAX_LEVELS = 100
_OTHER = "(other)"
# Text with more different values than this, and nearly one a row, is prose or names.
_TEXT_LEVELS, _TEXT_SHARE = 20, 0.8
# A column is numbers in spite of some words if at least this share of its values are numbers.
_NUMBER_SHARE = 0.9
# Larger numbers are codes for "none" or mistakes.
LARGEST = 1e100
# From here on a running number is no accident.
_INDEX_ROWS = 10

_IDENTIFIER = re.compile(
    r"(unnamed: ?\d+|column_1|index|row[ _.]?(id|names?|no|numbers?)|(.*[ _.-])?id|id[ _.-].*"
    r"|.*[a-z](Id|ID)|uuid|guid)",
)
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?")
_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?\s?(Z|[+-]\d{2}:?\d{2})?)?"
)
_DATE_FORMATS = tuple(
    f"{date}{time}"
    for date in ("%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
    for time in ("", " %H:%M", " %H:%M:%S")
)
# What `type_of` may call a column that can be used.
USABLE = ("number", "category", "date", "text")
_PARTS = ("days", "month", "weekday", "hour")
_ONE_VALUE = "they hold one value or none"
# Of levels that are new, so many are shown.
_SHOWN = 3


@dataclass(frozen=True)
class ColumnRule:
    """What the training rows say about a column that is used.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date"}
    levels : frozenset of str or None
        The levels that are kept where there are too many; None keeps all.
    date_format : str
        "ISO8601" or a format of `strptime`; empty for columns that hold dates by their type.
    origin : str
        The first date, from which days are counted.
    parts : tuple of str
        What is taken from a date: those of days, month, weekday, hour that vary.
    columns : tuple of str
        The columns of `X` that it gives.
    seen : frozenset of str or None
        All levels of the training rows.
    """

    name: str
    kind: Literal["number", "category", "date"]
    levels: frozenset[str] | None = None
    date_format: str = ""
    origin: str = ""
    parts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    seen: frozenset[str] | None = None


# --- what a column is ----------------------------------------------------------------------------


def rule_for(
    name: str, column: pd.Series[Any], rows: npt.NDArray[np.int64], taken: set[str]
) -> ColumnRule | str:
    """How to use a column, or why not to; learned on the rows that have a target."""
    kind = type_of(column)
    if kind not in USABLE:
        return f"they hold {kind} values"
    values = column.iloc[rows]
    present = values.dropna()
    if kind == "number":  # of which most have no need of words
        if present.nunique() <= 1:
            return _ONE_VALUE
        if _identifies(name, column, kind):
            return "they number or identify the rows"
        return _number_rule(name, present)
    words = words_of(present)
    distinct = words.nunique()
    if distinct <= 1:
        return _ONE_VALUE
    if _identifies(name, column, kind):
        return "they number or identify the rows"
    if kind == "date":
        return _date_rule(name, values, "", taken)
    if kind == "text":
        codes = words.str.fullmatch(r"[+-]?0\d+").any()  # 007 is no number
        if not codes and _numbers(words).notna().mean() >= _NUMBER_SHARE:
            return _number_rule(name, words)
        if (found := _date_format(words)) == "ambiguous":
            return "their days and months can't be told apart (write dates as 2024-12-31)"
        if found:
            return _date_rule(name, words, found, taken)
        if distinct > max(_TEXT_LEVELS, _TEXT_SHARE * len(present)):
            return "they hold free text, nearly every value another"
    seen = frozenset(map(str, words.unique()))
    if distinct <= MAX_LEVELS:
        return ColumnRule(name, "category", columns=(name,), seen=seen)
    # Of equally frequent levels the first in sorted order.
    counts = words.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    kept = frozenset(str(level) for level in counts.index[:MAX_LEVELS])
    return ColumnRule(name, "category", levels=kept, columns=(name,), seen=seen)


def _number_rule(name: str, present: pd.Series[Any]) -> ColumnRule | str:
    """Numbers, unless too few differ once infinite and huge ones are gone."""
    import numpy as np

    numbers = _numbers(present)
    size = numbers.abs()
    if numbers[size <= LARGEST].nunique() > 1:
        return ColumnRule(name, "number", columns=(name,))
    if ((size > LARGEST) & (size < np.inf)).any():
        return f"their numbers are too large to standardise (beyond {LARGEST:g})"
    return _ONE_VALUE


def type_of(column: pd.Series[Any]) -> str:
    """number, category, date, text, or what else pandas calls its values."""
    import pandas as pd
    from pandas.api import types

    dtype = column.dtype
    if types.is_bool_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if types.is_complex_dtype(dtype):
        return "complex"
    if types.is_numeric_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        return "number"
    if types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return "date"
    held = types.infer_dtype(column, skipna=True)
    if held == "mixed-integer" and not all(
        types.is_scalar(value) and not types.is_bool(value) for value in column
    ):
        return "mixed"  # False and 0 would be one level, whichever comes first
    return {
        "string": "text",
        "empty": "text",
        "boolean": "category",
        "categorical": "category",
        "integer": "number",
        "floating": "number",
        "mixed-integer-float": "number",
        "decimal": "number",
        "mixed-integer": "text",
        "date": "date",
        "datetime": "date",
        "datetime64": "date",
        "timedelta": "number",
        "timedelta64": "number",
    }.get(held, held)


def _identifies(name: str, column: pd.Series[Any], kind: str) -> bool:
    """Whether a column numbers the rows, or is called and looks like an identifier."""
    import numpy as np
    from pandas.api import types

    if kind not in ("number", "text") or len(column) < _INDEX_ROWS or column.isna().any():
        return False
    if types.is_integer_dtype(column.dtype):
        values = column.to_numpy(dtype=np.int64) if column.max() < 2**63 else None
        if values is not None and values[0] in (0, 1) and (np.diff(values) == 1).all():
            return True
    elif kind == "number":
        return False
    called = _IDENTIFIER.fullmatch(name) or _IDENTIFIER.fullmatch(name.lower())
    return bool(called) and words_of(column).is_unique


def _date_format(words: pd.Series[Any]) -> str:
    """The format of a column of dates: empty if it is none, "ambiguous" if it may be two."""
    import pandas as pd

    different = pd.Series(words.unique(), dtype=object)
    if not different.str.fullmatch(_DATE.pattern).all():
        return ""
    if different.str.fullmatch(_ISO.pattern).all():
        return "ISO8601" if _dates(different, "ISO8601").notna().mean() >= 0.5 else ""
    fitting = {}
    for date_format in _DATE_FORMATS:
        dates = _dates(different, date_format)
        if dates.notna().all():
            fitting[date_format] = dates
    if not fitting:
        return ""
    chosen, first = next(iter(fitting.items()))
    return chosen if all(dates.equals(first) for dates in fitting.values()) else "ambiguous"


def _date_rule(
    name: str, column: pd.Series[Any], date_format: str, taken: set[str]
) -> ColumnRule | str:
    dates = _dates(column, date_format).dropna()
    if dates.empty:
        return "their dates can't be read"
    origin = dates.min()
    parts = tuple(part for part in _PARTS if _date_part(dates, part, origin).nunique() > 1)
    if not parts:  # but for one, they lie beyond what pandas can hold
        return _ONE_VALUE
    columns = []
    for part in parts:
        column_name = f"{name} ({part})"
        while column_name in taken:
            column_name += "'"
        taken.add(column_name)
        columns.append(column_name)
    return ColumnRule(
        name,
        "date",
        date_format=date_format,
        origin=origin.isoformat(),
        parts=parts,
        columns=tuple(columns),
    )


# --- what a column becomes -----------------------------------------------------------------------


def features_by(
    frame: pd.DataFrame, rules: tuple[ColumnRule, ...], *, learned_here: bool = True
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Features by the rules, and notes on values that do not go with them.

    Of another table than that of which the rules were learned, `learned_here` is False: a column
    of which no value can be used is an error there.
    """
    import pandas as pd

    made: dict[str, pd.Series[Any]] = {}
    notes: list[str] = []
    pooled: list[str] = []
    for rule in rules:
        column = frame[rule.name]
        if not learned_here and column.isna().all():
            notes.append(f"column {rule.name!r} holds no value in any row")
        if rule.kind == "category":
            words = words_of(column)
            notes += _new_levels(rule, words)
            if rule.levels is not None:
                rare = words.notna() & ~words.isin(rule.levels)
                words = words.mask(rare, _OTHER)
                pooled += [rule.name] if rare.any() else []
            made[rule.name] = words.astype("category")
        elif rule.kind == "number":
            numbers = _numbers(column)
            # Infinity, and what a variance would overflow from.
            made[rule.name] = usable = numbers.mask(numbers.abs() > LARGEST)
            notes += _unreadable(rule, column, numbers, usable, learned_here)
        else:
            dates = _dates(column, rule.date_format)
            origin = pd.Timestamp(rule.origin)
            for part, name in zip(rule.parts, rule.columns, strict=True):
                made[name] = _date_part(dates, part, origin)
            notes += _unreadable(rule, column, dates, dates, learned_here)
    if pooled:
        notes.append(f"all but the {MAX_LEVELS} most frequent levels made one: {listed(pooled)}")
    dated = [rule.name for rule in rules if rule.kind == "date"]
    if dated:
        notes.append(f"dates turned into days, month, weekday and hour: {listed(dated)}")
    return pd.DataFrame(made).reset_index(drop=True), tuple(notes)


def _new_levels(rule: ColumnRule, words: pd.Series[Any]) -> list[str]:
    """What is to be said of levels that the training rows lack."""
    new = words.notna() & ~words.isin(rule.seen or ())
    if rule.seen is None or not new.any():
        return []
    levels = words[new].unique().tolist()
    more = f" and {len(levels) - _SHOWN} more" if len(levels) > _SHOWN else ""
    taken = "counted with the rare ones" if rule.levels is not None else "they say nothing"
    return [
        f"column {rule.name!r} has levels that the training rows lack in {int(new.sum())} of "
        f"{len(words)} rows: {listed(level[:30] for level in levels[:_SHOWN])}{more}; {taken}"
    ]


def _unreadable(
    rule: ColumnRule,
    column: pd.Series[Any],
    read: pd.Series[Any],
    usable: pd.Series[Any],
    learned_here: bool,
) -> list[str]:
    """What is to be said of cells that are not what the column holds."""
    present = column.notna()
    wrong = present & usable.isna()
    if not wrong.any():
        return []
    what = "numbers" if rule.kind == "number" else "dates"
    some = str(column[wrong].iloc[0])[:30]
    if not learned_here and wrong.sum() == present.sum():
        written = f", written as {rule.date_format}" if rule.date_format else ""
        raise ValueError(
            f"column {rule.name!r} holds {what} in the training table{written}; here no cell can "
            f"be read as one, such as {some!r}"
        )
    if rule.kind == "number" and (read[wrong].abs() < float("inf")).all():
        why = f"cells that are too large to standardise (beyond {LARGEST:g})"
    else:
        why = "cells that are none, or infinite,"
    return [
        f"column {rule.name!r} holds {what}; {why} count as missing: {int(wrong.sum())}, such as "
        f"{some!r} ({wrong.sum() / len(column):.2%} of the rows)"
    ]


def listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def words_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """Every value as it is written, NaN where missing."""
    name = "column"
    words: pd.Series[Any] = _as_words(column.to_frame(name))[name]
    return words


def _numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Every value as a float, NaN where it is none."""
    import pandas as pd
    from pandas.api import types

    if types.infer_dtype(column, skipna=True) in ("timedelta", "timedelta64"):
        seconds: pd.Series[Any] = pd.to_timedelta(column, errors="coerce").dt.total_seconds()
        return seconds
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        floats: pd.Series[Any] = _as_floats(column.to_frame("column"))["column"]
        return floats
    numbers = pd.to_numeric(words_of(column), errors="coerce")
    return numbers.astype(float)


def _dates(column: pd.Series[Any], date_format: str) -> pd.Series[Any]:
    """Every value as a time without a zone (that of UTC), NaT where it is none."""
    import pandas as pd

    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if date_format and not pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = words_of(column)
        times = pd.to_datetime(column, format=date_format, errors="coerce", utc=True)
    else:
        times = pd.to_datetime(column, errors="coerce", utc=True)
    return times.dt.tz_localize(None)


def _date_part(dates: pd.Series[Any], part: str, origin: pd.Timestamp) -> pd.Series[Any]:
    import pandas as pd

    if part == "days":
        return (dates - origin) / pd.Timedelta(days=1)
    found: pd.Series[Any] = getattr(dates.dt, part).astype(float)
    return found
