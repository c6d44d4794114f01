"""Predictions as a table, beside the columns that they were made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probatum.data.user_tables import is_number, unique_names
from probatum.files import whole_file

# What a spreadsheet may take for a formula, in its full-width forms too.
_FORMULA = tuple("=+-@\t\r＝＋－＠")


@dataclass(frozen=True)
class Unlabelled:
    """Rows of a table without labels.

    ``X`` are their features, ``cells`` the cells as they are written, ``frame`` the same typed,
    ``separator`` and ``decimal`` how the file separates cells and writes fractions.
    """

    X: pd.DataFrame
    cells: pd.DataFrame
    frame: pd.DataFrame
    separator: str
    file: Path
    decimal: str = "."


def write_predictions(
    output: Path,
    rows: Unlabelled,
    proba: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    classes: tuple[str, str],
) -> list[str]:
    """All columns as they were, then row number, probability and class; whole or not at all.

    Returns what is to be said of it.
    """
    labels = [harmless(name) for name in classes]
    columns = [
        rows.cells[name]
        if pd.api.types.is_numeric_dtype(rows.frame[name])
        else rows.cells[name].map(harmless)
        for name in rows.cells.columns
    ]
    columns += [
        pd.Series(np.arange(1, proba.size + 1)),
        pd.Series([f"{value:.6g}".replace(".", rows.decimal) for value in proba]),
        pd.Series(np.where(chosen, labels[1], labels[0])),
    ]
    names, renamed = unique_names([*rows.cells.columns, "row", "probability", "prediction"])
    table = pd.concat(columns, axis=1, keys=list(map(harmless, names)))
    separator = "\t" if ".tsv" in output.name.lower() else rows.separator
    with whole_file(output) as draft:
        table.to_csv(draft, sep=separator, index=False, encoding="utf-8", lineterminator="\n")
    if not renamed:
        return []
    return [f"columns of {output.name} renamed, for there are such already: {renamed}"]


def decimal_sign(cells: pd.DataFrame, frame: pd.DataFrame) -> str | None:
    """How a file writes fractions, by how its numbers were read; None where it has none.

    Examples
    --------
    >>> cells = pd.DataFrame({"name": ["a,b", "c"], "size": ["1,5", "2"]})
    >>> decimal_sign(cells, cells.assign(size=[1.5, 2.0]))
    ','
    """
    points = False
    for name in cells.columns:
        if cells[name].dtype != object or not pd.api.types.is_numeric_dtype(frame[name]):
            continue
        written = cells[name].astype(str)
        comma = written.str.contains(",", regex=False).to_numpy()
        if comma.any():
            at = int(comma.argmax())
            as_decimal = written.iloc[at].strip().replace(".", "").replace(",", ".")
            if is_number(as_decimal) and float(as_decimal) == frame[name].iloc[at]:
                return ","
        points = points or bool(written.str.contains(".", regex=False).any())
    return "." if points else None


def harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay as they are.

    Examples
    --------
    >>> [harmless(cell) for cell in ("=1+1", "-1.5", "a-b", " @x")]
    ["'=1+1", '-1.5', 'a-b', "' @x"]
    """
    if not isinstance(cell, str) or is_number(cell):
        return cell
    return f"'{cell}" if cell.startswith(_FORMULA) or cell.lstrip().startswith(_FORMULA) else cell
