"""Rows of arms that failed: alone they raise, together they say so in one row."""

import pytest
from trials_for_engine import arm, dataset

from probatum.evidence import Metric, Row
from probatum.evidence.trial import BadResult, Task, checked_rows


def task(*arms):
    return Task(
        "k",
        "m:t",
        "p/e",
        tuple(arm(a) for a in arms),
        dataset("d"),
        0,
        {},
        {"m": Metric("higher")},
        1,
        1,
    )


def test_a_failed_row_says_why_in_one_line():
    rows = [Row("a", values={"m": 1}), Row("b", "case", failed="line one\nline two")]
    assert checked_rows(rows, task("a", "b"))[1] == Row("b", failed="line one line two")


GOOD = Row("b", values={"m": 1})


@pytest.mark.parametrize(
    ("rows", "arms", "said"),
    [
        ([Row("a", failed="x")], ("a",), "an arm that runs alone raises"),
        ([Row("a", failed="x"), Row("a", values={"m": 1}), GOOD], ("a", "b"), "other rows"),
        ([Row("a", values={"m": 1}, failed="x"), GOOD], ("a", "b"), "no values"),
    ],
)
def test_a_failed_row_stands_alone(rows, arms, said):
    with pytest.raises(BadResult, match=said):
        checked_rows(rows, task(*arms))
