"""Named data sets as they are shipped."""

from __future__ import annotations

import gzip
import hashlib
import pickle
import subprocess
import sys
import time
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from probatum.data import DataNotFoundError, available, describe, load, names, preprocessor

HERE = [name for name in names() if describe(name).kind != "files"]
SHIPPED = [name for name in names() if describe(name).kind == "shipped"]


@pytest.mark.parametrize("name", HERE)
def test_facts_are_those_of_the_table(name: str) -> None:
    table, facts = load(name), describe(name)
    assert table.X.shape == (facts.rows, facts.columns)
    assert int(table.y.sum()) == facts.positives
    assert table.y.dtype == np.int64
    assert set(np.unique(table.y)) == {0, 1}
    assert (table.name, table.licence, table.nature) == (name, facts.licence, facts.nature)
    assert facts.target not in table.X
    assert available(name)


@pytest.mark.parametrize("name", HERE)
def test_loads_alike_and_fast(name: str) -> None:
    first = load(name)
    start = time.perf_counter()
    second = load(name)
    assert time.perf_counter() - start < 0.3
    pd.testing.assert_frame_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_tables_are_the_known_ones_and_documented(name: str) -> None:
    (file,) = describe(name).files
    folder = resources.files("probatum.data") / "tables"
    packed = (folder / file.name).read_bytes()
    assert hashlib.sha256(packed).hexdigest() == file.sha256
    assert packed[4:8] == b"\0\0\0\0"  # no time stamp
    assert gzip.decompress(packed).startswith(",".join(load(name).X.columns).encode())
    assert name in (folder / "LICENSES.md").read_text(encoding="utf-8")


def test_all_tables_together_are_small() -> None:
    folder = resources.files("probatum.data") / "tables"
    assert sum(len(p.read_bytes()) for p in folder.iterdir() if p.name.endswith(".gz")) < 1_000_000


def test_what_is_not_observed_says_so() -> None:
    assert describe("default").nature == "simulated"
    assert "SIMULATED" in describe("default").description
    assert describe("attrition").nature == "fictional"
    assert "FICTIONAL" in describe("attrition").description


def test_missing_cells_are_missing_and_words_are_not() -> None:
    credit = load("credit-data").X
    assert credit["Income"].isna().sum() == 381
    assert credit["Home"].isna().sum() == 6
    assert isinstance(credit["Home"].dtype, pd.CategoricalDtype)


def test_positive_class() -> None:
    assert load("breast_cancer").y.sum() == 212  # malignant, the other way round than scikit-learn
    assert load("digits_8").positive == "8"


def test_unknown_name() -> None:
    for ask in (load, describe, available):
        with pytest.raises(ValueError, match="no data set called 'iris'; there are: abalone19"):
            ask("iris")


def test_importing_is_light() -> None:
    code = "import sys, probatum.data as d; d.names(); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["credit-data", "attrition", "abalone9-18", "default"])
@pytest.mark.parametrize("scale", [True, False])
def test_preprocessor_makes_numbers(name: str, scale: bool) -> None:
    table = load(name)
    matrix = preprocessor(table.X, scale=scale).fit_transform(table.X)
    assert matrix.dtype == float
    assert np.isfinite(matrix).all()
    assert matrix.shape[0] == len(table.y)


def test_preprocessor_takes_levels_unseen_in_training() -> None:
    table = load("credit-data")
    model = make_pipeline(preprocessor(table.X), LogisticRegression(max_iter=500))
    assert cross_val_score(model, table.X, table.y, scoring="roc_auc", cv=3).min() > 0.75
    strange = table.X.copy()
    strange["Home"] = "castle"
    assert len(model.fit(table.X, table.y).predict(strange)) == len(table.y)
    with pytest.raises(TypeError, match="DataFrame, got ndarray"):
        preprocessor(table.X.to_numpy())  # type: ignore[arg-type]


KINDS: dict[str, Any] = {
    "bool": [True, False, True, True],
    "boolean": pd.array([True, None, False, True], dtype="boolean"),
    "objects": np.array([True, None, False, True], dtype=object),
    "category": pd.Categorical(["a", "b", None, "a"]),
    "numbered": pd.Categorical([1, 2, None, 1]),
    "string": pd.array(["x", None, "y", "x"], dtype="string"),
    "plain": ["u", "v", None, "u"],
    "mixed": np.array([1, "a", None, 2.0], dtype=object),
    "Int64": pd.array([1, None, 3, 4], dtype="Int64"),
    "Float64": pd.array([0.5, None, 3, 4], dtype="Float64"),
    "empty": [np.nan] * 4,
    "nothing": np.array([None] * 4, dtype=object),
    "interval": pd.cut([1, 2, 3, 4], 2),
}


@pytest.mark.parametrize("names", [[name] for name in KINDS] + [["category", "bool"], list(KINDS)])
@pytest.mark.parametrize("out", ["default", "pandas"])
@pytest.mark.parametrize("infer_string", [False, True])  # pandas 3 infers strings
@pytest.mark.filterwarnings("error")
def test_preprocessor_takes_every_type(names: list[str], out: Any, infer_string: bool) -> None:
    with pd.option_context("future.infer_string", infer_string):
        X = pd.DataFrame({name: KINDS[name] for name in names})
        before = X.copy()
        model = pickle.loads(pickle.dumps(clone(preprocessor(X)))).set_output(transform=out)
        matrix = model.fit_transform(X)
        assert np.isfinite(np.asarray(matrix, dtype=float)).all()
        assert len(model.get_feature_names_out()) == matrix.shape[1]
        again = model.transform(X.iloc[::-1])
        np.testing.assert_array_equal(np.asarray(again)[::-1], np.asarray(matrix))
        pd.testing.assert_frame_equal(X, before)


def test_preprocessor_knows_a_level_in_another_type() -> None:
    X = pd.DataFrame({"a": pd.Categorical([1, 2, 10]), "b": [True, False, True]})
    model = preprocessor(X).fit(X)
    other = pd.DataFrame(
        {"a": pd.Categorical([1.0, 2.0, 10.0]), "b": pd.array([True, False, True], dtype="boolean")}
    )
    np.testing.assert_array_equal(model.transform(other), model.transform(X))


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2020", periods=2),
        pd.date_range("2020", periods=2, tz="UTC"),
        pd.to_timedelta([1, 2], unit="D"),
        pd.period_range("2020", periods=2),
        np.array(list(pd.date_range("2020", periods=2)), dtype=object),
        [1j, 2j],
    ],
)
def test_preprocessor_refuses_by_name_what_is_neither_number_nor_category(column: Any) -> None:
    with pytest.raises(TypeError, match="column 'when' holds") as caught:
        preprocessor(pd.DataFrame({"x": [1, 2], "when": column}))
    assert "\n" not in str(caught.value)


@pytest.mark.data
def test_heart_sites() -> None:
    try:
        table = load("heart-sites") if available("heart-sites") else None
    except DataNotFoundError:
        table = None
    if table is None:
        pytest.skip(
            "data set 'heart-sites' is missing: set PROBATUM_DATA to a folder that holds it"
        )
    facts = describe("heart-sites")
    assert table.X.shape == (facts.rows, facts.columns)
    assert table.y.sum() == facts.positives
    sites = table.X["site"].value_counts()
    assert sites.to_dict() == {"cleveland": 303, "hungarian": 294, "va": 200, "switzerland": 123}
    assert table.X.loc[table.X["site"] == "switzerland", "chol"].isna().all()
    assert table.X["age"].between(28, 77).all()
