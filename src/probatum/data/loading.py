"""Load a named data set as a table of features and a binary target."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Literal

from probatum.data.catalogue import DatasetFacts, describe
from probatum.data.store import DataNotFoundError, fetch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

# fmt: off
_HEART_COLUMNS = [
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak",
    "slope", "ca", "thal", "num",
]
# fmt: on


@dataclass(frozen=True)
class Table:
    """A data set for binary classification.

    Attributes
    ----------
    name : str
    X : DataFrame of shape (n_samples, n_features)
        Numbers, and categories as pandas categoricals; missing values are NaN.
    y : ndarray of shape (n_samples,)
        1 for the positive class, else 0.
    positive : str
        What the positive class is called in the data.
    licence, source, description : str
    nature : {"real", "simulated", "fictional"}
    """

    name: str
    X: pd.DataFrame
    y: npt.NDArray[np.int64]
    positive: str
    licence: str
    source: str
    description: str
    nature: Literal["real", "simulated", "fictional"]


def load(name: str) -> Table:
    """Load a data set by name; equal on every call and machine.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If there is no such data set.
    DataNotFoundError
        If its files are not to be had; says what would mend it.

    Examples
    --------
    >>> table = load("yeast4")
    >>> table.X.shape, int(table.y.sum()), table.licence
    ((1484, 8), 51, 'CC BY 4.0')
    """
    facts = describe(name)
    if facts.kind == "shipped":
        X, y = _shipped(facts)
    elif facts.kind == "scikit-learn":
        X, y = _bundled(facts)
    else:
        X, y = _heart_sites()
    return Table(
        name=name,
        X=X,
        y=y,
        positive=facts.positive,
        licence=facts.licence,
        source=facts.source,
        description=facts.description,
        nature=facts.nature,
    )


def available(name: str) -> bool:
    """Whether `load` would succeed without going to the network.

    Examples
    --------
    >>> available("caravan")
    True
    """
    if describe(name).kind != "files":
        return True
    try:
        fetch(name, download=False)
    except DataNotFoundError:
        return False
    return True


def _shipped(facts: DatasetFacts) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    import gzip
    import io

    import numpy as np
    import pandas as pd

    (file,) = facts.files
    packed = (resources.files("probatum.data") / "tables" / file.name).read_bytes()
    if hashlib.sha256(packed).hexdigest() != file.sha256:
        raise DataNotFoundError(facts.name, f"{file.name} is damaged; reinstall probatum")
    # "None" and "NA" are values in these tables; only an empty cell is missing.
    table = pd.read_csv(io.BytesIO(gzip.decompress(packed)), keep_default_na=False, na_values=[""])
    target = table.pop(facts.target)
    for column in table.columns:
        if not pd.api.types.is_numeric_dtype(table[column]):
            table[column] = table[column].astype(object).astype("category")
    return table, (target == facts.positive).to_numpy().astype(np.int64)


def _bundled(facts: DatasetFacts) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    import numpy as np
    from sklearn import datasets

    if facts.name == "breast_cancer":
        bunch = datasets.load_breast_cancer(as_frame=True)
        return bunch.data, (bunch.target == 0).to_numpy().astype(np.int64)  # 0 is malignant there
    bunch = datasets.load_digits(as_frame=True)
    return bunch.data, (bunch.target == int(facts.positive)).to_numpy().astype(np.int64)


def _heart_sites() -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    import numpy as np
    import pandas as pd

    folder = fetch("heart-sites")
    sites = []
    for site in ("cleveland", "hungarian", "switzerland", "va"):
        text = (folder / f"processed.{site}.data").read_text(encoding="utf-8")
        rows = [line.split(",") for line in text.splitlines() if line.strip()]
        rows = rows[1:] if rows[0][0].strip().upper() == "X1" else rows
        part = pd.DataFrame(rows, columns=_HEART_COLUMNS).replace("?", "nan").astype(float)
        # Copies write a missing value as '?', -9 or, where 0 is no possible value, 0.
        part = part.mask(part == -9)
        for column in ("thal", "chol", "trestbps"):
            part[column] = part[column].replace(0.0, np.nan)
        sites.append(part.assign(site=site))
    table = pd.concat(sites, ignore_index=True)
    table["site"] = table["site"].astype(object).astype("category")
    return table, (table.pop("num") > 0).to_numpy().astype(np.int64)
