"""A reader's own table and classifier in the experiments of the linear-fractional paper."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from probatum.catalog.linear_fractional import PAPER, own, tables
from probatum.evidence import Arm, Dataset, Experiment
from probatum.evidence.keys import trial_key
from probatum.evidence.trial import TrialBlock

SIZE = {"n_train": (100,), "learners": ("logistic",), "metrics": ("f1",)}
OPEN = [e for e in PAPER.experiments if e.data_slot is not None]


def write(folder: Path, n: int = 200, positives: int = 40, name: str = "My data (v2).csv") -> Path:
    rng = np.random.default_rng(0)
    y = np.arange(n) < positives
    x = rng.normal(size=n) + 2 * y
    table = pd.DataFrame({"id": np.arange(n), "x": x, "c": rng.choice(list("uv"), n)})
    table.assign(y=np.where(y, "yes", "no")).to_csv(folder / name, index=False)
    return folder / name


def quiet(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **options)


def dataset(folder: Path) -> Dataset:
    found: Dataset = quiet(own.own_table, write(folder), target="y")
    return found


# --- data ----------------------------------------------------------------------------------------


def test_a_file_becomes_a_table(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"My data \(v2\)\.csv: left out.*'id'"):
        found = own.own_table(write(tmp_path), target="y")
    assert found.id == "own-my-data-v2"
    assert found.licence == "the reader's own"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = found.open()
    assert list(table.X) == ["x", "c"]
    assert table.y.sum() == 40
    assert table.positive == "yes"
    turned = quiet(own.own_table, write(tmp_path), target="y", positive="no").open()
    assert turned.y.sum() == 160


def test_the_key_follows_the_content(tmp_path: Path) -> None:
    experiment = OPEN[0]
    first = dataset(tmp_path)

    def key(of: Dataset) -> str:
        budget = experiment.budget("smoke")
        return trial_key(PAPER.slug, experiment, experiment.arms[:1], of, 0, budget)

    before = key(first)
    assert before == key(dataset(tmp_path))
    other = quiet(own.own_table, Path(first.params["path"]), target="y", positive="yes")
    assert key(other) != before
    write(tmp_path, positives=41)
    assert key(first) != before


@pytest.mark.parametrize("name", ["x.csv", "Ünïcode 表.csv", "....csv", "a--b__c.csv.gz", "表.csv"])
def test_any_name_gives_an_id(tmp_path: Path, name: str) -> None:
    found = quiet(own.own_table, write(tmp_path, name=name), target="y")
    assert found.id.startswith("own-")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {"target": "y"}, "is empty"),
        ("x,y\n1,2,3\n4,5\n", {"target": "y"}, "cells, the header has"),
        (None, {"target": "z"}, "no column 'z'"),
        (None, {"target": "x"}, "a quantity"),
        (None, {"target": "y", "positive": "perhaps"}, "no row has 'perhaps'"),
        ((119, 40), {"target": "y"}, "has 119 rows with a target; 120 are needed"),
        ((150, 9), {"target": "y"}, "has 9 rows of 'yes'; 10 of each class"),
        ((1000, 20), {"target": "y"}, "2.00% of the rows .* samples of 100 rows"),
    ],
)
def test_what_is_refused_before_anything_runs(
    tmp_path: Path, content: Any, options: dict[str, str], message: str
) -> None:
    if isinstance(content, str):
        file = tmp_path / "t.csv"
        file.write_text(content)
    else:
        file = write(tmp_path, *(content or (200, 40)))
    with pytest.raises(ValueError, match=message) as caught:
        own.own_table(file, **options)
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file"):
        own.own_table(tmp_path / "t.csv", target="y")


@pytest.mark.parametrize("experiment", OPEN, ids=lambda e: e.id)
def test_every_arm_of_an_open_experiment_runs_on_the_smallest_table(
    tmp_path: Path, experiment: Experiment
) -> None:
    """No arm may fail for lack of rows on a table that was not refused."""
    small = quiet(own.own_table, write(tmp_path, own.LEAST_ROWS, own.LEAST_OF_A_CLASS), target="y")
    trial = getattr(tables, experiment.trial.partition(":")[2])
    size = experiment.budget("smoke").size
    for arm in experiment.arms:
        for replicate in range(2):
            rows = quiet(trial, TrialBlock("linear-fractional/x", (arm,), small, size, replicate))
            assert rows
            assert all(np.isfinite(value) for row in rows for value in row.values.values())


# --- methods -------------------------------------------------------------------------------------


class Plain:
    """Takes nothing, and remembers what it was given."""

    def fit(self, X: Any, y: Any) -> Plain:
        X -= X.mean(axis=0)  # in place, as some do
        self.model = LogisticRegression().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X).astype(float)


class Full:
    """Takes everything that is offered."""

    def __init__(self, *, estimator: Any, metric: Any, random_state: int) -> None:
        self.given = (estimator, metric, random_state)

    def fit(self, X: Any, y: Any, X_unlabeled: Any = None) -> Full:
        self.pool = X_unlabeled
        self.model = self.given[0].fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)


class Proba(Plain):
    def predict(self, X: Any) -> Any:
        return self.model.predict_proba(X)[:, 1]


class Wide(Plain):
    def predict(self, X: Any) -> Any:
        return np.zeros((len(X), 2), dtype=int)


def test_a_class_is_given_what_it_takes() -> None:
    pool, learner, metric = np.ones((5, 2)), LogisticRegression(), tables.METRICS["jaccard"]
    arm = Arm("mine", f"{own.__name__}:OwnClassifier", params={"make": f"{__name__}:Full"})
    contender = arm.build()(learner, metric, pool, 7)
    assert contender.model.given == (learner, metric, 7)
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    assert contender.fit(X, y).model.pool.tolist() == pool.tolist()
    assert set(contender.predict(X)) <= {0, 1}
    assert isinstance(arm.build().probe(), Full)


class Needy(Plain):
    def __init__(self, k: int) -> None:
        self.k = k


def test_a_class_that_needs_more_says_what() -> None:
    with pytest.raises(TypeError, match=r"Needy takes more than is offered: .*'k'"):
        own.OwnClassifier(f"{__name__}:Needy").probe()


@pytest.mark.parametrize("name", ["Plain", "Full"])
def test_a_reader_s_class_runs_beside_the_others(tmp_path: Path, name: str) -> None:
    data = dataset(tmp_path)
    arm = Arm("mine", f"{own.__name__}:OwnClassifier", params={"make": f"{__name__}:{name}"})
    (row,) = quiet(tables.scores, TrialBlock("linear-fractional/x", (arm,), data, SIZE, 0))
    assert row.values["f1"] > 0.2


@pytest.mark.parametrize(
    ("name", "message"),
    [("Proba", "must give labels 0 and 1, gave 0"), ("Wide", r"gave shape \(50, 2\) for 50 rows")],
)
def test_predictions_that_are_no_labels_are_an_error(
    tmp_path: Path, name: str, message: str
) -> None:
    arm = Arm("mine", f"{own.__name__}:OwnClassifier", params={"make": f"{__name__}:{name}"})
    block = TrialBlock("linear-fractional/x", (arm,), dataset(tmp_path), SIZE, 0)
    with pytest.raises(ValueError, match=message):
        quiet(tables.scores, block)


def test_options_say_how_a_file_is_read(tmp_path: Path) -> None:
    rows = "".join(f"{i % 7};{i % 2};{i}\n" for i in range(130))
    (tmp_path / "t.csv").write_bytes(f"l\u00e4nge;y;extra\n{rows}".encode("latin-1"))
    with pytest.raises(ValueError, match=r"--with NAME=VALUE takes .*encoding"):
        own.own_table(tmp_path / "t.csv", target="y")
    dataset = own.own_table(tmp_path / "t.csv", target="y", encoding="latin-1", drop="extra")
    table = dataset.open()
    assert list(table.X.columns) == ["l\u00e4nge"]
    again = own.own_table(tmp_path / "t.csv", target="y", encoding="latin-1")
    same = own.own_identity(**dataset.params)
    assert same == own.own_identity(**{**dataset.params}) != own.own_identity(**again.params)


class Halves:
    def fit(self, X: Any, y: Any) -> Any:
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), 0.5)


def test_a_classifier_rehearses_on_a_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "resolve", lambda target: Halves)
    with pytest.raises(ValueError, match=r"predict fails on 80 rows.*gave 0\.5"):
        own.OwnClassifier("x:Halves").probe()
