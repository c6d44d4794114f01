"""From someone's table to features and two classes: each rule, and whatever a table may hold."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.data import Features, load, prepare_features, preprocessor

N = 60
LABELS = ["no"] * 45 + ["yes"] * 15


def table(**columns: Any) -> pd.DataFrame:
    given = {"x": np.linspace(0, 1, N) ** 2, **columns, "y": LABELS}
    return pd.DataFrame(given).sample(frac=1, random_state=0).reset_index(drop=True)


def said(features: Features) -> str:
    return "; ".join(features.notes)


# --- the target ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "no", "yes"], ("no", "yes")),
        (["yes", "yes", "no"], ("yes", "no")),  # the rarer one is positive
        (["no", "yes"], ("no", "yes")),
        ([0, 0, 1], ("0", "1")),
        ([0.0, 0.0, 1.0, None], ("0", "1")),
        ([False, True, False], ("False", "True")),
        (["False", "true", "False"], ("False", "true")),
        ([" a", "a", "b "], ("a", "b")),
        ([1, 2, 2], ("2", "1")),
        (pd.array([0, None, 0, 1], dtype="Int64"), ("0", "1")),
        (pd.Categorical(["u", "v", "u"], categories=["v", "u", "w"]), ("u", "v")),
    ],
)
def test_two_classes_of_any_kind(labels: Any, classes: tuple[str, str]) -> None:
    frame = pd.DataFrame({"y": labels})
    frame.insert(0, "x", np.arange(len(frame)) * 0.5)
    features = prepare_features(frame, "y")
    assert features.classes == classes
    assert features.positive == classes[1]
    assert features.y.dtype == np.int64
    assert len(features.X) == features.y.size == frame["y"].notna().sum()
    assert features.rows.tolist() == np.flatnonzero(frame["y"].notna()).tolist()


def test_rows_without_a_target_are_left_out_and_counted() -> None:
    frame = table()
    frame.loc[[3, 8], "y"] = [None, " "]
    features = prepare_features(frame, "y")
    assert "2 rows without a value of 'y' left out" in features.notes
    kept = frame.drop(index=[3, 8])
    assert features.X["x"].tolist() == kept["x"].tolist()
    assert features.y.tolist() == (kept["y"] == "yes").astype(int).tolist()


def test_one_class_against_the_rest_if_it_is_asked_for() -> None:
    frame = table(colour=["red"] * 30 + ["green"] * 20 + ["blue"] * 10)
    with pytest.raises(ValueError, match=r"3 classes, 'red' \(30 rows\), 'green' .* give positive"):
        prepare_features(frame, "colour")
    features = prepare_features(frame, "colour", positive="green")
    assert features.classes == ("not green", "green")
    assert features.y.sum() == 20
    assert prepare_features(frame, "y", positive="no").classes == ("yes", "no")
    with pytest.raises(ValueError, match=r"no row has 'pink' in column 'colour'; it holds 'red'"):
        prepare_features(frame, "colour", positive="pink")


def test_a_positive_number_may_be_written_otherwise() -> None:
    frame = pd.DataFrame({"x": [1.5, 2, 3, 4], "y": [1, 0, 1, 1]})
    assert prepare_features(frame, "y", positive="1.0").classes == ("0", "1")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("z", r"no column 'z'; did you mean|no column 'z'; there are"),
        ("X", "did you mean 'x'"),
        ("x", r"60 different numbers \(from 0 to 1\): a quantity"),
        ("one", r"one class only, 'a' \(60 rows\); two are needed"),
        ("empty", "holds no value in any row"),
        ("names", r"60 classes, .* and 52 more; give positive"),
        ("lists", "holds mixed values, not classes"),
    ],
)
def test_targets_that_are_none(target: str, message: str) -> None:
    frame = table(one="a", empty=None, names=[f"n{i}" for i in range(N)], lists=[[1]] * N)
    with pytest.raises(ValueError, match=message):
        prepare_features(frame, target)


# --- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("column_1", range(N), "number or identify"),
        ("Unnamed: 0", range(N), "number or identify"),
        ("no", range(1, N + 1), "number or identify"),
        ("empty", None, "one value or none"),
        ("one", "a", "one value or none"),
        ("prose", [f"word {i}" for i in range(N)], "free text"),
        ("lists", [[1]] * N, "mixed values"),
        ("bytes", [b"a", b"b"] * 30, "bytes values"),
        ("complex", np.arange(N) + 1j, "complex values"),
        ("day", ["1/2/2024", "3/4/2024"] * 30, "days and months can't be told apart"),
    ],
)
def test_columns_of_no_use_are_left_out_and_named(name: str, values: Any, reason: str) -> None:
    frame = table()
    frame.insert(0, name, values)
    features = prepare_features(frame, "y")
    assert name not in features.X
    assert any(reason in note and repr(name) in note for note in features.notes)
    features.apply(frame.drop(columns=name))  # and nobody asks for them again


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerId", "Customer ID", "id_no"])
def test_identifiers_by_their_name(name: str) -> None:
    frame = table()
    frame[name] = np.random.default_rng(0).permutation(N) * 17
    assert name not in prepare_features(frame, "y").X
    frame[name] = frame[name] % 5  # not one a row: a group, not an identifier
    assert name in prepare_features(frame, "y").X


def test_an_innocent_name_and_distinct_numbers_stay() -> None:
    frame = table(acid=np.random.default_rng(0).permutation(N) * 17)
    assert list(prepare_features(frame, "y").X) == ["x", "acid"]


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("%Y-%m-%d", ["days", "month", "weekday"]),
        ("%Y-%m-%d %H:%M:%S", ["days", "month", "weekday", "hour"]),
        ("%Y-%m-%dT%H:%MZ", ["days", "month", "weekday", "hour"]),
        ("%d.%m.%Y", ["days", "month", "weekday"]),
        ("%d/%m/%Y", ["days", "month", "weekday"]),
        ("%m/%d/%Y %H:%M", ["days", "month", "weekday", "hour"]),
    ],
)
def test_dates_become_numbers(written: str, parts: list[str]) -> None:
    days = pd.date_range("2024-01-20", periods=N, freq="17h")
    frame = pd.DataFrame({"when": days.strftime(written), "y": LABELS})
    features = prepare_features(frame, "y")
    assert list(features.X) == [f"when ({part})" for part in parts]
    assert "dates turned into" in said(features)
    assert features.X["when (month)"].tolist() == days.month.tolist()
    assert features.X["when (weekday)"].tolist() == days.weekday.tolist()
    whole = np.floor(features.X["when (days)"] + days[0].hour / 24)
    assert whole.tolist() == (days.normalize() - days[0].normalize()).days.tolist()
    later, notes = features.apply(pd.DataFrame({"when": [days[5].strftime(written), "soon", None]}))
    assert later["when (days)"].isna().tolist() == [False, True, True]
    assert later["when (days)"][0] == features.X["when (days)"][5]
    assert "missing: 1, such as 'soon'" in "; ".join(notes)


def test_dates_by_their_type() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(N)]
    frame = table(a=days, b=pd.to_datetime(days).tz_localize("Europe/Rome"))
    frame["c"] = pd.PeriodIndex(days, freq="D")
    frame["d"] = pd.to_timedelta(np.arange(N), "h")
    features = prepare_features(frame, "y")
    assert {"a (days)", "b (days)", "c (days)", "d"} <= set(features.X)
    assert features.X["d"].max() == (N - 1) * 3600
    assert set(features.X.dtypes.astype(str)) == {"float64"}


def test_a_date_that_nobody_lived_to_see_is_missing() -> None:
    frame = table(until=["2024-01-01", "2024-02-03", "9999-12-31"] * 20)
    features = prepare_features(frame, "y")
    assert features.X["until (days)"].isna().sum() == 20
    assert "missing: 20, such as '9999-12-31'" in said(features)


def test_numbers_with_a_few_words_are_numbers() -> None:
    frame = table(age=["unknown" if i % 20 == 0 else str(i % 7) for i in range(N)])
    features = prepare_features(frame, "y")
    assert features.X["age"].isna().sum() == 3
    assert "'age' holds numbers" in said(features)
    assert "missing: 3, such as 'unknown'" in said(features)


def test_codes_with_leading_zeros_stay_words() -> None:
    frame = table(zip=[f"0{i % 5}1" for i in range(N)])
    assert sorted(prepare_features(frame, "y").X["zip"].unique()) == [f"0{i}1" for i in range(5)]


def test_infinite_numbers_are_missing() -> None:
    frame = table(v=[np.inf, -np.inf, 1e300, 1.0, 2.0, 3.0] * 10)
    features = prepare_features(frame, "y")
    assert features.X["v"].isna().sum() == 30
    assert "infinite" in said(features)


def test_the_rare_of_many_levels_are_made_one() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"town": [f"t{i}" for i in rng.zipf(1.3, 1000) % 400], "y": LABELS[:50] * 20}
    )
    features = prepare_features(frame, "y")
    assert features.X["town"].nunique() == 101
    assert "'town'" in said(features)
    kept = features.X["town"][0]
    later, _ = features.apply(pd.DataFrame({"town": [kept, "Atlantis", None]}))
    assert later["town"].astype(object).tolist()[:2] == [kept, "(other)"]
    assert pd.isna(later["town"][2])


def test_a_column_that_gives_the_class_away_is_told() -> None:
    frame = table(code=[0] * 45 + [1] * 15, word=["stay"] * 45 + ["leave"] * 15)
    assert "'code', 'word' alone tell the classes apart" in said(prepare_features(frame, "y"))
    features = prepare_features(frame, "y", drop=["code", "word", "x"][:2])
    assert "alone tell the classes apart" not in said(features) or "'x'" in said(features)


def test_dropped_columns() -> None:
    frame = table(a=list(range(30)) * 2)
    assert list(prepare_features(frame, "y", drop=["x"]).X) == ["a"]
    with pytest.raises(ValueError, match="no column 'aa'; did you mean 'a'"):
        prepare_features(frame, "y", drop=["aa"])
    with pytest.raises(ValueError, match="target 'y' can't be dropped"):
        prepare_features(frame, "y", drop=["y"])
    with pytest.raises(ValueError, match="no column is left to learn from"):
        prepare_features(frame, "y", drop=["x", "a"])


def test_names_that_are_no_text_or_occur_twice() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).random((N, 3)), columns=[0, "a", "a"])
    frame["y"] = LABELS
    features = prepare_features(frame, "y")
    assert list(features.X) == ["0", "a", "a.2"]
    pd.testing.assert_frame_equal(features.apply(frame).X, features.X)
    with pytest.raises(TypeError, match="must be a pandas DataFrame, got list"):
        prepare_features([[1]], "y")  # type: ignore[arg-type]


# --- another table -------------------------------------------------------------------------------


def test_another_table_needs_the_columns_in_use_and_no_others() -> None:
    frame = table(colour=["red", "blue"] * 30, one=1)
    features = prepare_features(frame, "y")
    later = frame[["colour", "x"]].assign(new=1).head(3)
    X, notes = features.apply(later)
    assert list(X) == list(features.X)
    assert notes == ("left alone, because the training table lacks them: 'new'",)
    with pytest.raises(ValueError, match=r"lacks 'x', .* did you mean 'X'"):
        features.apply(later.rename(columns={"x": "X"}))
    with pytest.raises(ValueError, match="has no rows"):
        features.apply(later.head(0))


def test_what_was_learned_stays_whatever_the_other_table_is_like() -> None:
    frame = table(size=["1", "2", "L"] * 20, amount=[1.5, 2.5, 3.5] * 20)
    features = prepare_features(frame, "y")
    X, notes = features.apply(
        pd.DataFrame({"x": ["0.5", "?"], "size": [1, 2.0], "amount": ["2", 3]})
    )
    assert X["size"].tolist() == ["1", "2"]
    assert X["amount"].tolist() == [2.0, 3.0]
    assert X["x"].isna().tolist() == [False, True]
    assert "'x' holds numbers" in "; ".join(notes)


@pytest.mark.parametrize("name", ["credit-data", "attrition", "caravan", "digits_8"])
def test_known_tables_keep_their_columns(name: str) -> None:
    known = load(name)
    frame = known.X.assign(target=np.where(known.y, "yes", "no"))
    features = prepare_features(frame, "target", positive="yes")
    constant = [c for c in known.X if known.X[c].nunique() <= 1]
    assert list(features.X) == [c for c in known.X if c not in constant]
    assert features.y.tolist() == known.y.tolist()
    pd.testing.assert_frame_equal(features.apply(frame).X, features.X)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=6),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(allow_nan=False),  # pandas itself stumbles over a signalling NaN
    st.binary(max_size=2),
    st.lists(st.integers(), max_size=1),
    st.sampled_from(["2024-01-02", "1.2.2024", "31/12/2024", "007", "1e5", "yes", "NaT", "nan"]),
)
COLUMN = st.one_of(
    st.lists(VALUES, min_size=12, max_size=12),
    st.sampled_from([VALUES]).flatmap(
        lambda v: st.lists(v, min_size=2, max_size=2).map(lambda p: p * 6)
    ),
    st.lists(st.dates(), min_size=12, max_size=12).map(lambda days: [str(day) for day in days]),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(COLUMN, min_size=1, max_size=3), st.permutations(["a"] * 4 + ["b"] * 7 + [None]))
def test_any_table_gives_features_or_one_line(held: list[list[Any]], labels: list[Any]) -> None:
    frame = pd.DataFrame(
        {f"c{i}": pd.Series(column, dtype=object) for i, column in enumerate(held)}
    )
    for column in frame.columns:
        frame[column] = frame[column].infer_objects()
    frame["y"] = labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            features = prepare_features(frame, "y")
        except ValueError as error:
            features, told = None, str(error)
        if features is None:
            assert told.startswith("no column is left to learn from")
            return
        assert features.y.size == 11
        again = features.apply(frame).X.iloc[features.rows].reset_index(drop=True)
        pd.testing.assert_frame_equal(again.astype(object), features.X.astype(object))
        encoded = np.asarray(preprocessor(features.X).fit_transform(features.X), dtype=float)
    assert np.isfinite(encoded).all()


def test_decimals_are_numbers() -> None:
    frame = table(price=[Decimal("1.25"), Decimal("2.5")] * 30)
    assert sorted(prepare_features(frame, "y").X["price"].unique()) == [1.25, 2.5]


# --- what does not go with the training table ----------------------------------------------------


def test_a_class_that_is_called_none_is_one_and_told() -> None:
    frame = table().assign(y=["None", "Mild"] * 30)
    features = prepare_features(frame, "y", positive="None")
    assert features.y.sum() == 30
    assert "'None' in 'y' taken as a class" in said(features)
    with pytest.raises(ValueError, match=r"3 classes.*'NA' in 'y' taken as a class; .* empty"):
        prepare_features(table().assign(y=["yes", "no", "NA"] * 20), "y")


def test_a_column_that_can_not_be_read_as_in_training_is_refused() -> None:
    frame = table(age=[float(i % 7) for i in range(N)], on=["2024-01-01", "2024-02-03"] * 30)
    features = prepare_features(frame, "y")
    later = frame.drop(columns="y").head(4)
    with pytest.raises(ValueError, match=r"'age' holds numbers in the training.*such as '3 yrs'"):
        features.apply(later.assign(age="3 yrs"))
    with pytest.raises(ValueError, match=r"'on' holds dates in the training.*ISO8601.*'May'"):
        features.apply(later.assign(on="May"))
    _, notes = features.apply(later.assign(age=["3 yrs", "1", "2", None]))
    assert any("such as '3 yrs' (25.00% of the rows)" in note for note in notes)
    _, notes = features.apply(later.assign(age=None))
    assert "column 'age' holds no value in any row" in notes


def test_levels_that_are_new_are_told() -> None:
    features = prepare_features(table(town=["Bern", "Genf", None] * 20), "y")
    assert "lack" not in said(features)
    later = pd.DataFrame({"x": [0.0] * 6, "town": ["Rom", "Ulm", "Wien", "Prag", "Bern", None]})
    _, notes = features.apply(later)
    (note,) = (note for note in notes if "'town'" in note)
    assert "in 4 of 6 rows: 'Rom', 'Ulm', 'Wien' and 1 more" in note


def test_numbers_too_large_are_called_so() -> None:
    features = prepare_features(
        table(big=[1e308, -1e308] * 30, inf=[np.inf, 1.0] * 30, some=[1e200, 1.0, 2.0] * 20), "y"
    )
    assert [rule.name for rule in features.rules] == ["x", "some"]
    told = said(features)
    assert "too large to standardise (beyond 1e+100): 'big'" in told
    assert "they hold one value or none: 'inf'" in told
    assert "too large to standardise (beyond 1e+100) count as missing: 20" in told


def test_messages_end_well() -> None:
    with pytest.raises(ValueError, match=r"^no column is left to learn from; dropped: 'x'$"):
        prepare_features(table(), "y", drop=["x"])
    features = prepare_features(table(age=[1.5, 2.5, 3.5] * 20), "y")
    with pytest.raises(ValueError, match=r"lacks 'age', which the training table has; it has 'x'$"):
        features.apply(table()[["x"]])
