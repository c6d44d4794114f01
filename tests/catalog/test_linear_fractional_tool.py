"""``probatum use linear-fractional``: from a person's table to scores, predictions and a plot."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from probatum.catalog.linear_fractional import predictions, reliability, tool
from probatum.data import NotInstalledError, prepare_features, preprocessor, read_table
from probatum.data.user_tables import read_cells, typed
from probatum.evidence import Answer
from probatum.evidence.tool import silent
from probatum.supervised import LinearFractional, LinearFractionalClassifier


def small(folder: Path, n: int = 120, seed: int = 0, name: str = "small.csv") -> Path:
    """Two columns, one of which says something; a quarter of the rows are positive."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(1.5 - 1.5 * x))
    table = pd.DataFrame({"x": x, "z": rng.normal(size=n), "y": np.where(y, "b", "a")})
    table.to_csv(folder / name, index=False)
    return folder / name


# --- one run, with everything --------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tool")
    tool.example_files(made)
    return made


@pytest.fixture(scope="module")
def steps() -> list[tuple[float, float | None, str]]:
    return []


@pytest.fixture(scope="module")
def answer(folder: Path, steps: list[tuple[float, float | None, str]]) -> Answer:
    def progress(done: float, total: float | None = None, what: str = "") -> None:
        steps.append((done, total, what))

    return tool.classify(
        folder / "customers.csv",
        target="left",
        predict=folder / "new.csv",
        output=folder / "out.csv",
        plot=folder / "r.png",
        progress=progress,
    )


def test_what_is_told(answer: Answer) -> None:
    values = json.loads(json.dumps(dict(answer.values), allow_nan=False))
    assert values["rows"] == 400
    assert values["positive"] == "yes"
    assert values["columns"] == ["since", "age", "plan", "visits"]
    assert values["metric"] == "f1"
    # Of F1 the threshold is half of the score.
    assert values["threshold"] == pytest.approx(values["expected_score"] / 2)
    assert "200 unlabelled rows of new.csv" in values["threshold_from"]
    out = values["out_of_fold"]
    for rule in ("computed", "swept", "half"):
        assert 0 < out[rule]["low"] < out[rule]["score"] < out[rule]["high"] < 1
    assert out["computed_minus_half"]["low"] > 0
    assert out["computed_minus_half"]["score"] == pytest.approx(
        out["computed"]["score"] - out["half"]["score"]
    )
    assert abs(values["calibration"]["mean_probability"] - values["prevalence"]) < 0.01
    assert sum(one["n"] for one in values["calibration"]["bins"]) == 400
    text = "\n".join(answer.lines)
    assert f"threshold for f1: {values['threshold']:.4f}" in text
    assert f"{out['computed']['score']:.3f} ({out['computed']['low']:.3f} to" in text
    assert any("'customer_id'" in warning for warning in answer.warnings)


def test_predictions_stand_beside_the_cells_as_they_were(answer: Answer, folder: Path) -> None:
    given = pd.read_csv(folder / "new.csv", dtype=str, keep_default_na=False)
    found = pd.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)
    assert list(found) == [*given, "row", "probability", "prediction"]
    pd.testing.assert_frame_equal(found[list(given)], given)
    assert found["row"].astype(int).tolist() == list(range(1, 201))
    above = found["probability"].astype(float) > answer.values["threshold"]
    assert found["prediction"].tolist() == np.where(above, "yes", "no").tolist()
    assert answer.values["predicted"] == {"rows": 200, "positive": int(above.sum())}
    assert answer.files == (folder / "r.png", folder / "out.csv")
    assert (folder / "r.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in folder.iterdir()} == {
        "customers.csv",
        "new.csv",
        "out.csv",
        "r.png",
    }


def test_progress_goes_on_to_its_end(
    answer: Answer, steps: list[tuple[float, float | None, str]]
) -> None:
    assert [done for done, _, _ in steps] == list(range(tool.FOLDS + 2))
    assert {total for _, total, _ in steps} == {tool.FOLDS + 1}
    assert all(what for _, _, what in steps)


@pytest.fixture
def two_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the fits."""
    monkeypatch.setattr(tool, "FOLDS", 2)


# --- what is measured ----------------------------------------------------------------------------


@pytest.mark.usefixtures("two_folds")
def test_out_of_fold_is_what_the_classifier_itself_would_do(tmp_path: Path) -> None:
    features = prepare_features(read_table(small(tmp_path)), "y")
    metric = LinearFractional.fbeta(2)
    learner = make_pipeline(preprocessor(features.X), tool.learner_for("logistic", 3))
    folds = tool._out_of_fold(learner, features, metric, 3, silent)
    model = LinearFractionalClassifier(learner, metric=metric, cv=tool._splitter(3))
    for train, test in tool._splitter(3).split(features.X, features.y):
        model.fit(features.X.iloc[train], features.y[train])
        own = model.predict(features.X.iloc[test])
        assert folds.predicted["computed"][test].tolist() == own.astype(bool).tolist()
        assert folds.proba[test] == pytest.approx(
            model.predict_proba(features.X.iloc[test])[:, 1], abs=1e-12
        )
        half = model.estimator_.predict(features.X.iloc[test]).astype(bool)
        assert folds.predicted["half"][test].tolist() == half.tolist()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(*[st.booleans()] * 4), min_size=1, max_size=60),
    st.sampled_from(["f1", "jaccard", "fbeta:2", "tversky:0.3,0.7"]),
)
def test_scores_are_those_of_the_metric(rows: list[tuple[bool, ...]], name: str) -> None:
    y, *rules = (np.array(column) for column in zip(*rows, strict=True))
    metric = tool.parse_metric(name)
    folds = tool._Folds(np.zeros(y.size), dict(zip(tool._RULES, rules, strict=True)))
    scores = tool._scores(folds, y.astype(np.int64), metric, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rule, guess in zip(tool._RULES, rules, strict=True):
            assert scores[rule].score == pytest.approx(metric(y, guess, pos_label=True))
            assert scores[rule].low <= scores[rule].high


@pytest.mark.usefixtures("two_folds")
def test_the_seed_decides(tmp_path: Path) -> None:
    file = small(tmp_path)
    first, again, other = (
        tool.classify(file, target="y", metric="jaccard", seed=seed).values for seed in (1, 1, 2)
    )
    assert first == again
    assert first["threshold"] != other["threshold"]
    # Of Jaccard the threshold is u / (1 + u).
    u = first["expected_score"]
    assert first["threshold"] == pytest.approx(u / (1 + u))


@pytest.mark.usefixtures("two_folds")
@pytest.mark.parametrize("estimator", ["forest", "boosting"])
def test_trees(tmp_path: Path, estimator: Any) -> None:
    answer = tool.classify(small(tmp_path), target="y", estimator=estimator, positive="a")
    assert answer.values["estimator"] == estimator
    assert answer.values["classes"] == ["b", "a"]
    assert answer.values["out_of_fold"]["computed"]["score"] > 0.7


@pytest.mark.usefixtures("two_folds")
def test_labels_that_say_nothing_are_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=200), "y": rng.random(200) < 0.2})
    table.to_csv(tmp_path / "noise.csv", index=False)
    answer = tool.classify(tmp_path / "noise.csv", target="y")
    assert any("no better than that of predicting 'True' everywhere" in w for w in answer.warnings)


@pytest.mark.usefixtures("two_folds")
def test_unlabelled_rows_from_elsewhere_are_told(tmp_path: Path) -> None:
    table = pd.read_csv(small(tmp_path, 300, seed=1)).drop(columns="y")
    table.assign(x=table["x"] + 2).to_csv(tmp_path / "other.csv", index=False)
    answer = tool.classify(small(tmp_path, 300), target="y", unlabeled=tmp_path / "other.csv")
    assert "300 unlabelled rows of other.csv" in answer.values["threshold_from"]
    assert any("the unlabelled rows come from elsewhere" in w for w in answer.warnings)
    assert answer.values["predicted"] is None


@pytest.mark.usefixtures("two_folds")
def test_few_rows_to_predict_do_not_set_the_threshold(tmp_path: Path) -> None:
    few = small(tmp_path, 5, name="few.csv")
    answer = tool.classify(small(tmp_path), target="y", predict=few)
    assert "training rows" in answer.values["threshold_from"]
    assert any("too few to compute the threshold from" in w for w in answer.warnings)
    assert answer.files == ()
    assert answer.values["predicted"]["rows"] == 5


# --- what is refused, before anything runs -------------------------------------------------------


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def ran(*_: Any, **__: Any) -> None:
        raise AssertionError("something was fitted")

    monkeypatch.setattr(tool, "_out_of_fold", ran)


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "yy"}, ValueError, "no column 'yy'; did you mean 'y'"),
        ({"target": "x"}, ValueError, "a quantity, not two classes"),
        ({"positive": "c"}, ValueError, r"no row has 'c' in column 'y'; it holds 'a' \("),
        ({"metric": "f2"}, ValueError, "--metric must be f1, jaccard, fbeta:B"),
        ({"metric": "fbeta:-1"}, ValueError, "--metric fbeta:-1: beta must be a positive number"),
        ({"metric": "fbeta:x"}, ValueError, "--metric fbeta:x"),
        ({"estimator": "svm"}, ValueError, "--estimator must be one of logistic, forest, boosting"),
        ({"seed": -1}, ValueError, "--seed must lie from 0"),
        ({"drop": "x,w"}, ValueError, "no column 'w'"),
        ({"drop": "x, z"}, ValueError, "no column is left to learn from"),
        ({"output": "o.csv"}, ValueError, "--output is for predictions: .* --predict"),
        ({"plot": "r.jpeg"}, ValueError, r"--plot must end in \.png or \.svg or \.pdf"),
        ({"plot": "no/r.png"}, FileNotFoundError, "there is no folder"),
        ({"predict": "small.csv", "output": "o.xlsx"}, ValueError, r"--output must end in \.csv"),
        ({"predict": "small.csv", "output": "small.csv"}, ValueError, "would overwrite a table"),
        ({"predict": "small.csv", "output": "d.csv"}, IsADirectoryError, "is a folder"),
        ({"predict": "smal.csv"}, FileNotFoundError, "near it is small.csv"),
        ({"predict": "lacks.csv"}, ValueError, r"lacks\.csv: the table lacks 'z'"),
        ({"unlabeled": "ragged.csv"}, ValueError, r"ragged\.csv: line 3 has 1 cells"),
        ({"encoding": "nope"}, ValueError, "unknown encoding"),
        ({"separator": "ab"}, ValueError, "separator must be one character"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    file = small(tmp_path)
    (tmp_path / "lacks.csv").write_text("x\n1\n")
    (tmp_path / "ragged.csv").write_text("x,z\n1,2\n3\n")
    (tmp_path / "d.csv").mkdir()
    paths = {"output", "plot", "predict", "unlabeled"}
    given = {k: tmp_path / v if k in paths else v for k, v in options.items()}
    before = sorted(tmp_path.iterdir())
    with pytest.raises(error, match=message) as caught:
        tool.classify(file, **{"target": "y", **given})
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("nothing_runs")
def test_too_few_of_a_class(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f"{i % 7}.5,{'b' if i < 9 else 'a'}\n" for i in range(90))
    )
    with pytest.raises(ValueError, match="9 rows of 'b' are too few: at least 10 of each class"):
        tool.classify(tmp_path / "t.csv", target="y")


@pytest.mark.usefixtures("nothing_runs")
def test_a_plot_without_matplotlib_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NotInstalledError, match=r"needs matplotlib: pip install") as caught:
        tool.classify(small(tmp_path), target="y", plot=tmp_path / "r.png")
    assert caught.value.remedy == "pip install 'probatum[plots]'"


@settings(deadline=None)
@given(st.one_of(st.text(max_size=12), st.from_regex(r"(f1|fbeta|tversky):[0-9.,e-]{0,6}")))
def test_any_word_is_a_metric_or_one_line(text: str) -> None:
    try:
        metric = tool.parse_metric(text)
    except ValueError as error:
        told = str(error)
    else:
        assert isinstance(metric, LinearFractional)
        return
    assert told.startswith("--metric")


# --- what is written -----------------------------------------------------------------------------


def rows_of(folder: Path, content: str) -> predictions.Unlabelled:
    (folder / "rows.csv").write_text(content)
    cells, separator = read_cells(folder / "rows.csv")
    assert separator is not None
    frame = typed(cells, separator)
    return predictions.Unlabelled(frame, cells, frame, separator, folder / "rows.csv")


def written(folder: Path, content: str, classes: tuple[str, str] = ("no", "yes")) -> list[str]:
    rows = rows_of(folder, content)
    n = len(rows.cells)
    chosen = np.arange(n) == 0
    predictions.write_predictions(folder / "out.csv", rows, np.full(n, 0.25), chosen, classes)
    return (folder / "out.csv").read_text().splitlines()


def test_no_cell_becomes_a_formula(tmp_path: Path) -> None:
    lines = written(
        tmp_path,
        '=a,b,c\n=1+1,-5,-5\n+cmd,+2.5,-\n@x,-1e3,x-y\n" -x",3,-a\n＝1,4,-7\n',
        ("=no", "+yes"),
    )
    assert lines == [
        "'=a,b,c,row,probability,prediction",
        "'=1+1,-5,-5,1,0.25,'+yes",
        "'+cmd,+2.5,'-,2,0.25,'=no",
        "'@x,-1e3,x-y,3,0.25,'=no",
        "' -x,3,'-a,4,0.25,'=no",
        "'＝1,4,-7,5,0.25,'=no",
    ]


def test_a_file_keeps_its_separator_and_its_commas(tmp_path: Path) -> None:
    assert written(tmp_path, "a;b\n-1,50;x, y\n2;007\n") == [
        "a;b;row;probability;prediction",
        "-1,50;x, y;1;0.25;yes",
        "2;007;2;0.25;no",
    ]


def test_a_name_that_is_taken_is_changed_and_told(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "prediction,x\nold,1\n")
    told = predictions.write_predictions(
        tmp_path / "out.csv", rows, np.ones(1), np.ones(1, dtype=bool), ("no", "yes")
    )
    assert "'prediction' to 'prediction.2'" in told[0]
    assert (tmp_path / "out.csv").read_text() == (
        "prediction,x,row,probability,prediction.2\nold,1,1,1,yes\n"
    )


def test_gzip_and_tabs_by_the_name(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a,b\n1,2\n")
    for name in ("o.tsv", "o.csv.gz"):
        predictions.write_predictions(
            tmp_path / name, rows, np.ones(1), np.ones(1, dtype=bool), ("no", "yes")
        )
        assert read_table(tmp_path / name)["prediction"].tolist() == ["yes"]
    assert (tmp_path / "o.tsv").read_text().startswith("a\tb\t")
    assert (tmp_path / "o.csv.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(self: pd.DataFrame, path: Path, **_: Any) -> None:
        Path(path).write_text("half of i")
        raise OSError("no space left")

    rows = rows_of(tmp_path, "a,b\n1,2\n")
    (tmp_path / "out.csv").write_text("old")
    monkeypatch.setattr(pd.DataFrame, "to_csv", breaks)
    with pytest.raises(OSError, match="no space left"):
        predictions.write_predictions(
            tmp_path / "out.csv", rows, np.ones(1), np.ones(1, dtype=bool), ("no", "yes")
        )
    assert (tmp_path / "out.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", "out.csv"}


# --- reliability ---------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80))
def test_bins_hold_every_row_once(rows: list[tuple[float, bool]]) -> None:
    proba = np.array([p for p, _ in rows])
    y = np.array([label for _, label in rows], dtype=np.int64)
    bins = reliability.reliability_bins(proba, y)
    assert sum(one.n for one in bins) == y.size
    assert sum(one.n * one.share for one in bins) == pytest.approx(y.sum())
    assert sum(one.n * one.mean for one in bins) == pytest.approx(proba.sum())
    for one in bins:
        assert 0 <= one.low <= one.share <= one.high <= 1
    means = [one.mean for one in bins]
    assert means == sorted(means)


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_plot_is_the_same_each_time_and_says_what_it_shows(tmp_path: Path, kind: str) -> None:
    class Model:
        threshold_ = 0.3
        metric_ = LinearFractional.f1()

    proba = np.linspace(0, 1, 50)
    bins = reliability.reliability_bins(proba, (proba > 0.4).astype(np.int64))
    drawn = []
    for name in ("a", "b"):
        reliability.draw(tmp_path / name, kind, bins, proba, Model(), "a $\\frac <b>")
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    if kind == "svg":
        text = drawn[0].decode()
        for words in ("predicted probability of", "share of", "threshold 0.300 (f1)"):
            assert words in text


@pytest.mark.parametrize("threshold", [np.inf, 0.0, 1.0])
def test_extreme_thresholds_can_be_drawn(tmp_path: Path, threshold: float) -> None:
    class Model:
        threshold_ = threshold
        metric_ = LinearFractional.f1()

    proba = np.full(20, 0.0 if threshold else 1.0)
    bins = reliability.reliability_bins(proba, np.tile([0, 1], 10))
    reliability.draw(tmp_path / "r", "png", bins, proba, Model(), "yes")
    assert (tmp_path / "r").stat().st_size > 1000


# --- what people's tables hold -------------------------------------------------------------------


def test_parameters_that_leave_nothing_to_predict_are_refused() -> None:
    assert tool.parse_metric(" FBeta:2") == LinearFractional.fbeta(2)
    assert tool.parse_metric("Jaccard") == LinearFractional.jaccard()
    for text in ("tversky:1e300,1e300", "fbeta:1e9", "tversky:1e-9,0", "tversky:0.5,inf"):
        with pytest.raises(ValueError, match="from 0 to 1000"):
            tool.parse_metric(text)


def test_probabilities_are_written_as_the_file_writes_fractions(tmp_path: Path) -> None:
    train = tmp_path / "t.csv"
    pd.read_csv(small(tmp_path)).to_csv(train, index=False, sep=";", decimal=",")
    for content, comma in (("x;z\n0,5;1,5\n", True), ("x;z\n1;2\n", True), ("x,z\n1,2\n", False)):
        (tmp_path / "new.csv").write_text(content)
        tool.classify(train, target="y", predict=tmp_path / "new.csv", output=tmp_path / "out.csv")
        last = (tmp_path / "out.csv").read_text().splitlines()[1]
        assert ("0," in last.split(";")[-2]) if comma else ("0." in last.split(",")[-2])


def test_a_class_called_none(tmp_path: Path) -> None:
    frame = pd.read_csv(small(tmp_path))
    frame["y"] = frame["y"].map({"a": "None", "b": "Severe"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    answer = tool.classify(tmp_path / "t.csv", target="y")
    assert answer.values["rows"] == 120
    assert answer.values["classes"] == ["None", "Severe"]
    assert any("'None' in 'y' taken as a class" in warning for warning in answer.warnings)


@pytest.mark.usefixtures("nothing_runs")
def test_a_hard_link_to_a_table_is_not_overwritten(tmp_path: Path) -> None:
    file = small(tmp_path)
    (tmp_path / "link.csv").hardlink_to(file)
    with pytest.raises(ValueError, match="would overwrite a table"):
        tool.classify(file, target="y", predict=file, output=tmp_path / "link.csv")
