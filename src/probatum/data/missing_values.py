"""Words that stand for a missing value, where they are not the name of something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What pandas takes for a missing value, and so most people who write tables.
# fmt: off
MISSING = frozenset((
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
))
# fmt: on


def without_missing(column: pd.Series[Any], as_words: bool) -> pd.Series[Any]:
    """Cells of a spreadsheet with NA and the like made missing; a column of words keeps them."""
    import pandas as pd

    absent = column.isin(MISSING)
    if not absent.any():
        return column
    rest = column.mask(absent)
    held = pd.api.types.infer_dtype(rest, skipna=True)
    if held in ("string", "integer", "floating", "mixed-integer", "mixed-integer-float"):
        numbers = pd.to_numeric(rest, errors="coerce")
        if numbers.notna().equals(rest.notna()):
            return numbers
    return column if as_words else rest.infer_objects()
