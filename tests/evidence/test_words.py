"""Criteria in words, in every form they take."""

import json
import math
from dataclasses import replace

import pytest

from probatum.evidence import (
    AllOf,
    Arm,
    Budget,
    Claim,
    Dataset,
    Every,
    Experiment,
    Metric,
    Rate,
    Stat,
    Within,
)
from probatum.evidence.words import criterion_parameters, criterion_words

F1, ERROR = Stat("f1"), Stat("error")
LOG2 = math.log(2)


def claim(criterion, sets=1):
    experiment = Experiment(
        "e",
        "m:trial",
        tuple(Arm(name, "m:A") for name in ("a", "b", "c")),
        tuple(Dataset(f"d{i}", "m:load", "CC0") for i in range(sets)),
        {"f1": Metric("higher", (0, 1)), "error": Metric("lower"), "hit": Metric("higher", (0, 1))},
        {"quick": Budget(20)},
        source="deterministic",
    )
    return Claim("c", "...", "paper", experiment, criterion)


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (Within(F1, "a", ("b",), low=0.1), "is at least 0.1 higher than that of b"),
        (Within(F1, "a", ("b",), low=0.0), "is no lower than that of b"),
        (Within(F1, "a", ("b",), low=-0.1), "is at most 0.1 lower than that of b"),
        (Within(F1, "a", ("b",), high=0.1), "is at most 0.1 higher than that of b"),
        (Within(F1, "a", ("b",), high=0.0), "is no higher than that of b"),
        (Within(F1, "a", ("b",), high=-0.1), "is at least 0.1 lower than that of b"),
        (Within(F1, "a", ("b",), low=-0.1, high=0.1), "differs from that of b by at most 0.1"),
        (Within(F1, "a", ("b",), low=0.1, high=0.2), "is between 0.1 and 0.2 higher than"),
        (Within(F1, "a", ("b",), low=-0.2, high=-0.1), "is between 0.1 and 0.2 lower than"),
        (Within(F1, "a", ("b",), low=-0.2, high=0.1), "at most 0.2 lower and at most 0.1 higher"),
        (Within(ERROR, "a", ("b",), low=0.1), "is at least 0.1 lower than that of b"),
        (Within(ERROR, "a", ("b", "c"), low=0), "is no higher than that of each of b and c"),
        (Within(F1, "a", ("b",), "log-ratio", low=LOG2), "is at least 2 times that of b"),
        (Within(ERROR, "a", ("b",), "log-ratio", low=LOG2), "is at most 0.5 times that of b"),
        (Within(ERROR, "a", ("b",), "log-ratio", low=-LOG2, high=LOG2), "between 0.5 and 2 times"),
        (Within(F1, "a", scale="absolute", low=0.9), "the mean f1 of a is at least 0.9, on d0"),
        (Within(F1, "a", scale="absolute", low=0.1, high=0.2), "lies between 0.1 and 0.2"),
        (
            Within(Stat("error", "loglog", tail=0.5), "a", scale="absolute", high=-0.4),
            "the log-log slope of error of a against x (over the largest 50% of x) is at most -0.4",
        ),
        (
            Within(Stat("error", "slope"), "a", ("b",), high=-1),
            "the slope of error of a against x is at least 1 lower than that of b",
        ),
        (
            Within(Stat("f1", "spearman", against="error"), "a", scale="absolute", low=0.5),
            "the rank correlation of f1 with error of a is at least 0.5",
        ),
        (Within(Stat("f1", "max", case="hard"), "a", scale="absolute", low=0.5), "in case hard"),
        (Rate("hit", "a", low=0.5), "the rate of hit for a is at least 0.5"),
        (Rate("hit", "a", high=0.5), "the rate of hit for a is at most 0.5"),
        (Rate("hit", "a", low=0.4, high=0.5), "lies between 0.4 and 0.5"),
        (Every("error", "a", 0.0, at_least=9), "error of a never exceeds 0"),
        (AllOf((Rate("hit", "a", low=0.5), Every("error", "a", 0.0))), "(1) the rate"),
    ],
)
def test_words(criterion, words):
    assert words in criterion_words(claim(criterion))


@pytest.mark.parametrize(
    ("stat", "words"),
    [
        (
            Stat("error", "loglog", tail=0.5, case="hard"),
            "the log-log slope of error of a in case hard against number of rows "
            "(over the largest 50% of number of rows) is at most -0.4",
        ),
        (Stat("error", "kendall"), "Kendall's tau of error of a and number of rows is at most"),
        (Stat("error", "slope", against="f1"), "the slope of error against f1 of a is at most"),
        (Stat("error", per_case=True), "the mean error of a (in each case, on average over them)"),
    ],
)
def test_words_name_the_abscissa(stat, words):
    asked = claim(Within(stat, "a", scale="absolute", high=-0.4))
    along = replace(asked.experiment, abscissa="number of rows")
    assert criterion_words(replace(asked, experiment=along)).startswith(words)


def test_words_name_the_datasets_averaged_over():
    average = Within(F1, "a", ("b",), low=0)
    each = Within(F1, "a", ("b",), low=0, over="each")
    assert criterion_words(claim(average, sets=3)).endswith("on average over 3 datasets")
    assert criterion_words(claim(each, sets=3)).endswith("on each of 3 datasets")


def test_parameters_are_plain_json():
    found = criterion_parameters(
        claim(AllOf((Within(F1, "a", ("b",), low=0), Rate("hit", "a", 1))))
    )
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [part["kind"] for part in found["parts"]] == ["within", "rate"]
    assert found["parts"][0]["high"] is None


def test_an_untested_claim_has_no_rule():
    untested = Claim("c", "...", "target", missing="a telescope")
    assert criterion_words(untested) == ""
    assert criterion_parameters(untested) == {}
