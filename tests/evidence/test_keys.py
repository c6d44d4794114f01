"""Keys: what makes two trials the same, and what one run may use of another."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from trials_for_engine import HERE, arm, dataset, experiment, paper, selection

from probatum.evidence import Budget, Claim, Dataset, Metric, Paper, Stat, Within
from probatum.evidence.keys import trial_key
from probatum.evidence.model import Experiment
from probatum.evidence.run import execute
from probatum.evidence.store import Store

GOOD, POOR, NEW = (
    arm("good", "method", mean=1.0),
    arm("poor", mean=0.0),
    arm("new", mean=0.5),
)
BASE = experiment((GOOD, POOR))


def better(of: Experiment, low: float = 0.5) -> Paper:
    criterion = Within(Stat("m"), "good", to=("poor",), low=low)
    return paper(Claim("better", "It is better.", "paper", of, criterion))


def key(of: Experiment = BASE, slug: str = "toy", **changes: object) -> str:
    settings = {
        "arms": (of.arms[0],),
        "dataset": of.datasets[0],
        "replicate": 3,
        "budget": of.budgets["quick"],
        **changes,
    }
    return trial_key(slug, of, **settings)  # type: ignore[arg-type]


SIZED = Budget(20, {"n": (1, 2), "mode": "x"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (key(), key(replace(BASE, arms=(GOOD, POOR, NEW)))),
        (key(), key(replace(BASE, arms=(GOOD,)))),
        (key(), key(replace(BASE, metrics={"m": Metric("lower", (-50.0, 50.0))}))),
        (key(), key(budget=Budget(5, seconds=1, memory_gb=2))),
        (key(budget=SIZED), key(budget=Budget(1, {"mode": "x", "n": [1, 2]}))),
        (
            key(arms=(replace(GOOD, params={"a": 1, "b": {"x": 1, "y": 2}}),)),
            key(arms=(replace(GOOD, params={"b": {"y": 2, "x": 1}, "a": 1}),)),
        ),
        (key(arms=(GOOD, POOR)), key(arms=(POOR, GOOD))),
        (key(arms=(GOOD,)), key(arms=(replace(GOOD, role="control", library="other 1.0"),))),
        (
            key(dataset=replace(BASE.datasets[0], licence="MIT")),
            key(dataset=replace(BASE.datasets[0], licence="CC0")),
        ),
    ],
)
def test_what_leaves_a_trial_as_it_is_leaves_its_key(one: str, other: str) -> None:
    assert one == other


@pytest.mark.parametrize(
    "other",
    [
        key(slug="other"),
        key(replace(BASE, id="other")),
        key(replace(BASE, trial=f"{HERE}:same")),
        key(replace(BASE, source="deterministic")),
        key(replace(BASE, prepare=f"{HERE}:prepare")),
        key(replace(BASE, metrics={"m": Metric("higher", (0.0, 50.0))})),
        key(replace(BASE, metrics={**BASE.metrics, "k": Metric("higher")})),
        key(replicate=4),
        key(budget=Budget(20, {"n": 1})),
        key(arms=(replace(GOOD, params={"mean": 2.0}),)),
        key(arms=(replace(GOOD, make="builtins:list"),)),
        key(arms=(POOR,)),
        key(dataset=BASE.datasets[1]),
        key(dataset=replace(BASE.datasets[0], params={"a": 1})),
    ],
)
def test_what_changes_a_trial_changes_its_key(other: str) -> None:
    assert key() != other


def test_the_content_of_a_dataset_is_in_the_key(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("1")
    mine = Dataset("mine", f"{HERE}:load", "own", {"file": str(file)}, f"{HERE}:content")
    before = key(dataset=mine)
    file.write_text("2")
    assert key(dataset=mine) != before
    file.write_text("1")
    assert key(dataset=mine) == before


def test_parameters_must_be_plain() -> None:
    with pytest.raises(TypeError, match="plain JSON values"):
        key(arms=(replace(GOOD, params={"a": object()}),))
    sets = [key(arms=(replace(GOOD, params={"a": s}),)) for s in ({"x", "y"}, ["x", "y"])]
    assert sets[0] == sets[1]
    key(arms=(replace(GOOD, params=MappingProxyType({"a": 1})),))


def test_the_key_is_the_same_in_every_process() -> None:
    code = "import test_keys; print(test_keys.key(), test_keys.key(budget=test_keys.SIZED))"
    found = set()
    for seed in ("0", "1"):
        folder = str(Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd="/",
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": folder},
            capture_output=True,
            text=True,
            timeout=60,
        )
        found.add(done.stdout.strip())
    assert found == {f"{key()} {key(budget=SIZED)}"}


def ran(of: Paper, store: Store, **settings: object) -> tuple[int, int]:
    """Trials that ran and trials that were there already."""
    report = execute(selection(of), store=store, jobs=0, **settings)  # type: ignore[arg-type]
    return sum(report.statuses.values()), report.reused


def test_swapping_arms_or_editing_a_claim_runs_nothing(store: Store) -> None:
    assert ran(better(BASE), store) == (40, 0)
    swapped = replace(BASE, arms=(POOR, GOOD), datasets=(dataset("d2"), dataset("d1")))
    assert ran(better(swapped), store) == (0, 40)
    assert ran(better(BASE, low=0.6), store) == (0, 40)
    other = better(BASE)
    reworded = replace(other, claims=(replace(other.claims[0], statement="Surely."),))
    assert ran(reworded, store) == (0, 40)


def test_adding_an_arm_runs_its_cells_only(store: Store) -> None:
    assert ran(better(BASE), store) == (40, 0)
    assert ran(better(replace(BASE, arms=(NEW, POOR, GOOD))), store) == (20, 40)


def test_profiles_share_trials_of_equal_size(store: Store) -> None:
    small, large = {"n": 1}, {"n": 2}
    budgets = {
        "smoke": Budget(5, small),
        "quick": Budget(20, small),
        "standard": Budget(30, small),
        "full": Budget(30, large),
    }
    # Too close to call, so that every replicate runs.
    of = better(replace(BASE, budgets=budgets), low=1.0)
    assert ran(of, store, profile="smoke") == (20, 0)
    assert ran(of, store, profile="quick") == (60, 20)
    assert ran(of, store, profile="standard") == (40, 80)
    assert ran(of, store, profile="full") == (120, 0)
    assert ran(of, store, profile="quick") == (0, 80)
