"""The plain preprocessing that a careful user would put before a linear model or a forest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

# What pandas.api.types.infer_dtype calls columns of objects that are times.
_TIMES = ("datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period")


def preprocessor(X: pd.DataFrame, *, scale: bool = True) -> Any:
    """Unfitted transformer for a mixed table: impute, one-hot encode, scale.

    Numbers get their median where missing and are standardised; categories get their most frequent
    level where missing and one column a level, and a level unseen in training gets zeros. A column
    without any value becomes a constant. It learns nothing from `X` but which columns are which, so
    put it in a `Pipeline` and fit it on training rows.

    Parameters
    ----------
    X : DataFrame
        Columns of numbers, and of categories, strings or booleans, of any pandas type, nullable or
        not. Levels are told apart, and sorted, by how they are written.
    scale : bool, default=True
        Whether to standardise the numbers. Trees need no scaling.

    Returns
    -------
    sklearn.compose.ColumnTransformer

    Raises
    ------
    TypeError
        If X is not a DataFrame, or a column holds dates, times or anything else that is neither a
        number nor a category; the message names it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from probatum.data import load
    >>> table = load("credit-data")
    >>> model = make_pipeline(preprocessor(table.X), LogisticRegression(max_iter=1000))
    >>> bool(model.fit(table.X, table.y).score(table.X, table.y) > 0.78)
    True
    """
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"X must be a pandas DataFrame, got {type(X).__name__}")
    columns: dict[str, list[Any]] = {"number": [], "category": []}
    for name, column in X.items():
        columns[_kind(name, column)].append(name)
    number = [
        FunctionTransformer(_as_floats, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", keep_empty_features=True),
    ]
    category = [
        FunctionTransformer(_as_words, feature_names_out="one-to-one"),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    ]
    return ColumnTransformer(
        [
            (
                "number",
                make_pipeline(*number, StandardScaler()) if scale else make_pipeline(*number),
                columns["number"],
            ),
            ("category", make_pipeline(*category), columns["category"]),
        ]
    )


def _kind(name: Any, column: pd.Series[Any]) -> Literal["number", "category"]:
    import pandas as pd
    from pandas.api import types

    dtype = column.dtype
    if types.is_bool_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return "number"
    plain = types.is_object_dtype(dtype) or types.is_string_dtype(dtype)
    held = types.infer_dtype(column, skipna=True)
    if plain and held not in _TIMES:
        return "category"
    raise TypeError(
        f"column {name!r} holds {held} values ({dtype}); "
        "turn it into numbers, categories, strings or booleans, or drop it"
    )


def _as_floats(X: pd.DataFrame) -> pd.DataFrame:
    """The same numbers as floats, NaN where missing, whatever the pandas type."""
    import numpy as np
    import pandas as pd

    values = {name: X[name].to_numpy(dtype=float, na_value=np.nan) for name in X.columns}
    return pd.DataFrame(values, index=X.index, columns=X.columns)


def _as_words(X: pd.DataFrame) -> pd.DataFrame:
    """Every level as it is written, NaN where missing, in columns of plain objects."""
    import numpy as np
    import pandas as pd

    words = {}
    for name in X.columns:
        codes, levels = pd.factorize(X[name].astype(object))  # a missing value has the code -1
        written = np.array([*map(_word, levels), np.nan], dtype=object)
        words[name] = written[codes]
    return pd.DataFrame(words, index=X.index, columns=X.columns, dtype=object)


def _word(level: Any) -> str:
    # One missing value turns a column of integers into floats: 1 and 1.0 are one level.
    whole = isinstance(level, float) and level.is_integer()
    return str(int(level)) if whole else str(level)
