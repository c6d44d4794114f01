"""Logs of trials as people write them, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.bandits.logs import PullCounts, read_log


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "log.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "arm,outcome\na,1\nb,0\na,0\n",
        "variant,converted\na,yes\nb,no\na,No\n",
        "outcome;arm\nTRUE;a\nfalse;b\nFALSE;a\n",
        "\ufeffarm,whatever\na,1.0\nb,0.0\na,0\n",
        "arm\tsuccess\nb\t0\na\t1\na\t0\n",
        "arm,successes,trials\na,1,1\nb,0,1\na,0,1\n",
        "Arm,Wins,N,comment\na,1,2,x\nb,0,1,y\n",
    ],
)
def test_the_same_log_in_many_dresses(tmp_path: Path, text: str) -> None:
    counts = read_log(written(tmp_path, text)).among(("a", "b"))
    assert counts.successes.tolist() == [1, 0]
    assert counts.pulls.tolist() == [2, 1]


def test_columns_by_name_and_arms_that_are_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "who,what,else\n1,1,x\n2,0,y\n1,1,z\n")
    counts = read_log(path, arm="who", outcome="what")
    assert counts.arms == ("1", "2")
    assert counts.successes.tolist() == [2, 0]
    more = counts.among(("3", "1", "2"))
    assert more.pulls.tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match="'1', which is not in"):
        counts.among(("2", "3"))


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("arm,outcome\na,1\nb,maybe\n", {}, "row 2 has 'maybe' as outcome; accepted are 0/1"),
        ("arm,outcome\na,1\nb,\n", {}, "row 2 has nothing as outcome"),
        ("arm,outcome\na,1\n,0\n", {}, "row 2 has no arm"),
        ("arm,outcome\na,2\n", {}, "row 1 has '2' as outcome"),
        ("arm,successes,trials\na,3,2\n", {}, "row 1 has 3 successes of 2 trials"),
        ("arm,successes,trials\na,1.5,2\n", {}, "row 1 has '1.5' as successes"),
        ("arm,successes,trials\na,1,x\n", {}, "as trials; counts are whole"),
        ("x,y,z\n1,2,3\n", {}, "which column is the arm"),
        ("arm,y,z\n1,2,3\n", {}, "which column is the outcome"),
        ("arm,outcome\na,1\n", {"arm": "who"}, "no column 'who'; it has arm, outcome"),
        ("arm,outcome\na,1\n", {"successes": "outcome"}, "come together"),
        ("arm,outcome\na,1\n", {"outcome": "outcome", "trials": "arm"}, "either an outcome"),
        ("", {}, "empty"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, text: str, options: dict[str, str], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        read_log(written(tmp_path, text), **options)  # type: ignore[arg-type]


def test_no_rows(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="rows"):
        read_log(written(tmp_path, "arm,outcome\n"))


def test_other_encodings_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="encoding"):
        read_log(written(tmp_path, "arm,outcome\nMüller,1\n", "latin-1"))
    with pytest.raises(OSError, match="no file"):
        read_log(tmp_path / "lgo.csv")
    with pytest.raises(OSError, match="folder"):
        read_log(tmp_path)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=40))
def test_counts_are_counts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, bool]]
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("arm,outcome\n" + "".join(f"{a},{'yes' if o else 'no'}\n" for a, o in rows))
    counts: PullCounts = read_log(path)
    for arm, s, n in zip(counts.arms, counts.successes, counts.pulls, strict=True):
        assert n == sum(a == arm for a, _ in rows)
        assert s == sum(a == arm and o for a, o in rows)


# --- which columns -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,variant,outcome\n7,a,1\n8,b,0\n", {"arm": "variant", "outcome": "outcome"}),
        ("name,reward\na,1\nb,0\n", {"arm": "name", "outcome": "reward"}),
        ("n,arm,outcome\n1,a,1\n2,b,0\n3,a,0\n", {"arm": "arm", "outcome": "outcome"}),
        ("Arm,Wins,N\na,1,2\n", {"arm": "Arm", "successes": "Wins", "trials": "N"}),
    ],
)
def test_the_columns_that_were_read_are_told(
    tmp_path: Path, text: str, columns: dict[str, str]
) -> None:
    counts = read_log(written(tmp_path, text))
    assert counts.columns == columns
    assert counts.among(counts.arms).columns == columns


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "n,arm,clicks,outcome\n1,a,0,1\n2,b,0,0\n3,a,0,1\n",
            "outcome or counts in clicks.*--outc",
        ),
        ("arm,outcome,count\na,1,5\nb,0,9\n", "outcome or counts in count"),
        ("arm,success,trials\na,5,9\nb,3,9\n", "success or counts in trials"),
        ("arm,outcome,reward\na,1,0\n", "the outcome, outcome, reward. say --outcome"),
        ("arm,variant,outcome\na,b,0\n", "the arm, arm, variant. say --arm"),
        ("arm,wins,clicks,n\na,1,2,5\n", "the successes, wins, clicks. say --successes"),
        ("arm,wins,n,votes\na,1,2,5\n", "the trials, n, votes. say --trials"),
        ("arm,wins,n\na,1,1\nb,0,2\nc,1,3\n", "a running number is neither"),
    ],
)
def test_what_may_be_two_things_is_asked(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_log(written(tmp_path, text))


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    path = written(tmp_path, "n,arm,clicks,outcome\n1,a,0,1\n2,b,0,0\n3,a,0,1\n")
    assert read_log(path, outcome="outcome").successes.tolist() == [2, 0]
    assert read_log(path, successes="clicks", trials="n").pulls.tolist() == [4, 2]


@pytest.mark.parametrize("other", ["a", "1"])
def test_only_an_empty_cell_is_no_arm(tmp_path: Path, other: str) -> None:
    text = f"arm,outcome\nNA,1\nnull,0\nNone,1\nnan,0\n{other},1\n"
    assert read_log(written(tmp_path, text)).arms == ("NA", "null", "None", "nan", other)


def test_a_saved_answer_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"answer": {}, "policy": null}')
    with pytest.raises(ValueError, match="is a saved answer, not a log"):
        read_log(path)
    path.write_text("[1]")
    with pytest.raises(ValueError, match="not a table format that is read"):
        read_log(path)
