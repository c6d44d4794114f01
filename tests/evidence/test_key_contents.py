"""Keys: what they were stays what they are, and what a reader brings is in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from trials_for_engine import HERE, experiment

from probatum.evidence import Arm, Budget, Dataset, Experiment, Metric
from probatum.evidence.keys import arm_groups, prepare_key, trial_fingerprint, trial_key

PLAIN = Dataset("d", "builtins:dict", "CC0", {"b": 2, "a": [1, 2]})
# Nothing of ours is reached from here, so that these keys are the same whatever we edit.
FOREIGN = Experiment(
    id="e",
    trial="builtins:dict",
    arms=(Arm("a", "builtins:dict", "method", params={"x": (1, 2), "w": 0.5}),),
    datasets=(PLAIN,),
    metrics={"m": Metric("higher", (0.0, 1.0))},
    budgets={"quick": Budget(5, {"n": (1, 2)})},
    prepare="builtins:list",
)


def key(of: Experiment = FOREIGN, dataset: Dataset = PLAIN, **changes: object) -> str:
    settings = {"arms": of.arms, "replicate": 3, "budget": of.budgets["quick"], **changes}
    return trial_key("toy", of, dataset=dataset, **settings)  # type: ignore[arg-type]


def prepared(
    of: Experiment = FOREIGN,
    *,
    paper: str = "toy",
    dataset: Dataset = PLAIN,
    replicate: int | None = 3,
    size: object = 1,
) -> str:
    return prepare_key(paper, of, dataset, replicate, Budget(5, {"n": size}))


def test_stored_trials_are_found_again_by_later_versions() -> None:
    """Literal keys: when this fails, every trial that anybody stored is run anew."""
    assert key() == "112227d85009097753345357b3d4bcae"
    assert prepared() == "1254ed261e445dcfd91c8ce30a02dcfe"


def test_a_readers_method_is_in_the_key_and_so_is_its_code() -> None:
    made = Arm("mine", "builtins:dict", own="builtins:list")
    of = replace(FOREIGN, arms=(made,))
    assert key(of) != key(replace(FOREIGN, arms=(replace(made, own=""),)))
    assert key(of) != key(replace(FOREIGN, arms=(replace(made, own="builtins:tuple"),)))
    ours = replace(made, own=f"{HERE}:noisy")
    reached = [trial_fingerprint(FOREIGN, [arm], PLAIN) for arm in (made, ours)]
    assert reached[0] != reached[1]


def test_the_code_of_an_arm_of_a_loader_and_of_what_is_prepared_is_in_the_key() -> None:
    plain = trial_fingerprint(FOREIGN, FOREIGN.arms, PLAIN)
    arm = replace(FOREIGN.arms[0], make=f"{HERE}:noisy")
    assert trial_fingerprint(FOREIGN, [arm], PLAIN) != plain
    loaded = replace(PLAIN, load=f"{HERE}:load")
    assert trial_fingerprint(FOREIGN, FOREIGN.arms, loaded) != plain
    prepares = replace(FOREIGN, prepare=f"{HERE}:prepare")
    assert trial_fingerprint(prepares, FOREIGN.arms, PLAIN) != plain
    tried = replace(FOREIGN, trial=f"{HERE}:noisy")
    assert trial_fingerprint(tried, FOREIGN.arms, PLAIN) != plain


def test_a_readers_file_may_be_moved_and_a_papers_parameters_may_not(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.csv", "two.csv")]
    for file in files:
        file.write_text("1")
    sets = [
        Dataset("d", f"{HERE}:load", "own", {"file": str(file)}, f"{HERE}:content", own=True)
        for file in files
    ]
    assert key(dataset=sets[0]) == key(dataset=sets[1])
    assert prepared(dataset=sets[0]) == prepared(dataset=sets[1])
    theirs = [replace(of, own=False) for of in sets]
    assert key(dataset=theirs[0]) != key(dataset=theirs[1])
    # A reader's data of which nothing says what is in them are known by their parameters.
    unnamed = [replace(of, identity=None) for of in sets]
    assert key(dataset=unnamed[0]) != key(dataset=unnamed[1])
    files[1].write_text("2")
    assert key(dataset=sets[0]) != key(dataset=sets[1])


@pytest.mark.parametrize(
    "other",
    [
        {"paper": "other"},
        {"of": replace(FOREIGN, id="other")},
        {"of": replace(FOREIGN, prepare="builtins:tuple")},
        {"of": replace(FOREIGN, prepare=f"{HERE}:prepare")},
        {"dataset": replace(PLAIN, id="other")},
        {"dataset": replace(PLAIN, load=f"{HERE}:load")},
        {"replicate": 4},
        {"replicate": None},
        {"size": 2},
    ],
)
def test_what_is_prepared_is_made_anew_where_something_else_is_asked(other: dict) -> None:
    assert prepared(**other) != prepared()


def test_what_is_prepared_serves_all_arms_and_trials() -> None:
    of = replace(FOREIGN, arms=(Arm("b", "builtins:dict"),), trial=f"{HERE}:noisy")
    assert prepared(of) == prepared()


def test_arms_share_a_trial_only_where_they_run_together() -> None:
    arms = (Arm("a", "builtins:dict"), Arm("b", "builtins:dict"))
    assert arm_groups(experiment(arms)) == [arms[:1], arms[1:]]
    assert arm_groups(experiment(arms, exclusive=True)) == [arms]


def test_sets_have_no_order_and_lists_have_one() -> None:
    letters = list("hgfedcba")

    def of(value: object) -> str:
        return key(replace(FOREIGN, arms=(replace(FOREIGN.arms[0], params={"a": value}),)))

    assert of(set(letters)) == of(frozenset(letters)) == of(sorted(letters))
    assert of(letters) == of(tuple(letters)) != of(sorted(letters))
