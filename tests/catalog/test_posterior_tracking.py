"""The trials of paper 34 measure what they say; readers' arms, logs and the tool."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probatum.bandits import LUCB, PosteriorTracking, Uniform, simulate_bai
from probatum.catalog import posterior_tracking as paper
from probatum.catalog.posterior_tracking import contenders, own, tool, trials
from probatum.evidence import Arm, Dataset
from probatum.evidence.trial import TrialBlock
from probatum.sequential import oracle_weights

EASY = trials.instance((0.8, 0.5, 0.2))


def block(arm: Arm, size: dict[str, Any], dataset: Dataset | None = None) -> TrialBlock:
    dataset = dataset or Dataset("easy", f"{trials.__name__}:instance", "x", {"means": EASY})
    return TrialBlock("posterior-tracking/x", (arm,), dataset, size, 0)


class OwnUniform:
    """A reader's policy: equal allocation, a fixed number of trials."""

    def __init__(self, n_arms: int, delta: float, random_state: int) -> None:
        self.n = [0] * n_arms
        self.s = [0.0] * n_arms

    @property
    def stopped(self) -> bool:
        return sum(self.n) >= 100 * len(self.n)

    @property
    def best_arm_(self) -> int:
        return int(np.argmax(self.s))

    def ask(self) -> int:
        return int(np.argmin(self.n))

    def tell(self, arm: int, reward: float) -> None:
        self.n[arm] += 1
        self.s[arm] += reward


def test_our_own_policy_through_the_readers_door_gives_the_kernels_pulls() -> None:
    asked = own.AskTell("probatum.bandits:PosteriorTracking")
    compiled = contenders.posterior(threshold="mixture")
    for seed in range(3):
        told = asked.identify(EASY, math.log(20), 4, seed, 10_000)
        ran = compiled.identify(EASY, math.log(20), 4, seed, 10_000)
        assert told.pulls.tolist() == ran.pulls.tolist()
        assert told.correct.tolist() == ran.correct.tolist()


def test_a_run_that_does_not_stop_is_wrong() -> None:
    asked = own.AskTell("probatum.bandits:PosteriorTracking")
    runs = asked.identify(EASY, 50.0, 2, 0, 30)
    assert not runs.correct.any()
    assert (runs.pulls == 30).all()
    assert not contenders.posterior().identify(EASY, 50.0, 2, 0, 30).correct.any()


def test_a_readers_class_without_an_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mute(OwnUniform):
        best_arm_ = property()  # type: ignore[assignment]

    monkeypatch.setattr(own, "resolve", lambda target: Mute)
    with pytest.raises(ValueError, match="no attribute 'best_arm_'"):
        own.AskTell("x:Mute").probe()
    monkeypatch.setattr(own, "resolve", lambda target: OwnUniform)
    assert own.AskTell("x:OwnUniform").probe().ask() == 0
    runs = own.AskTell("x:OwnUniform").identify(EASY, 1.0, 3, 0, 10_000)
    assert (runs.pulls == 300).all()
    assert runs.correct.all()


class Blind(OwnUniform):
    """Answers after one pull."""

    stopped = False  # type: ignore[assignment]
    best_arm_ = 2  # type: ignore[assignment]

    def tell(self, arm: int, reward: float) -> None:
        self.stopped = True


class Endless(Blind):
    def tell(self, arm: int, reward: float) -> None:
        pass


class Method(Endless):
    def stopped(self) -> bool:  # type: ignore[override]
        return False


class Half(Endless):
    def ask(self) -> int:
        return 0.5  # type: ignore[return-value]


class Done(Endless):
    stopped = True  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Blind, "wrong `best_arm_` in 1[34] of 20"),
        (Endless, "not stopped after 20000 pulls"),
        (Method, "'stopped' is a method"),
        (Half, "number of an arm, gave 0.5"),
        (Done, "stopped before its first pull"),
    ],
)
def test_a_policy_that_can_not_do_the_job_is_refused_before_anything_runs(
    policy: type, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "resolve", lambda target: policy)
    with pytest.raises(ValueError, match=said):
        own.AskTell("x:Policy").probe()


def test_arms_share_rewards_and_the_control_again_does_not() -> None:
    size = {"runs": 5, "delta": 0.1, "max_pulls": 10_000}
    arms = {arm.id: arm for arm in paper.captions.arms}
    rows = {
        name: trials.cost(block(arms[name], size))[0].values["pulls"]
        for name in ("uniform", "uniform-again")
    }
    again = trials.cost(block(arms["uniform"], size))[0].values["pulls"]
    assert rows["uniform"] == again != rows["uniform-again"]


@pytest.mark.parametrize(
    "experiment", [paper.moderate_delta, paper.captions, paper.tiny_delta], ids=lambda e: e.id
)
def test_every_arm_finds_the_best(experiment: Any) -> None:
    for arm in experiment.arms:
        runs = arm.build().identify(EASY, math.log(100), 5, 1, 100_000)
        assert runs.correct.all(), arm.id


def test_weakened_stop_errs_and_the_true_one_does_not() -> None:
    near = np.array([0.55, 0.5])
    weak = contenders.posterior_weakened().identify(near, math.log(10), 300, 0, 10**6)
    true = contenders.posterior().identify(near, math.log(10), 300, 0, 10**6)
    assert weak.correct.mean() < 0.75
    assert true.correct.mean() > 0.9


def test_small_delta_rows() -> None:
    size = {"runs": 2, "decades": (5, 10), "max_pulls": 10**6}
    rows = trials.small_delta(block(paper.POSTERIOR, size))
    time = oracle_weights(EASY)[1]
    by_case = {row.case: row for row in rows}
    assert by_case["1e-5"].x == pytest.approx(5 * math.log(10))
    ten = by_case["1e-10"].values
    assert ten["ratio"] == pytest.approx(ten["scaled_pulls"] / (10 * math.log(10)))
    assert by_case["smallest"].values["ratio"] == ten["ratio"]
    runs = simulate_bai(
        PosteriorTracking(3, log_inv_delta=10 * math.log(10), threshold="mixture"),
        EASY,
        2,
        trials._seed(block(paper.POSTERIOR, size), "mixture"),
    )
    expected = (runs["n_pulls"] / runs["threshold"]).mean() / time
    assert by_case["mixture"].values["per_threshold"] == pytest.approx(expected)


def test_exploration_rows_and_the_plug_in_that_gets_stuck() -> None:
    hard = Dataset("hard", f"{trials.__name__}:instance", "x", dict(paper.HARD.params))
    size = {"runs": 60, "times": (100, 1000), "early": 100}
    found = {}
    for arm in paper.log_exploration.arms:
        rows = trials.exploration(block(arm, size, hard))
        assert [row.case for row in rows] == ["t=100", "t=1000", "end"]
        assert "lagging" in rows[0].values
        assert "lagging" not in rows[1].values
        found[arm.id] = rows[-1].counts["starved"]
    assert found["posterior-tracking"][0] == 0
    assert found["plug-in-unforced"][0] > 6


def test_growth_of_uniform_is_slower_by_what_is_known() -> None:
    easy = Dataset("easy", f"{trials.__name__}:instance", "x", {"means": (0.8, 0.6, 0.5)})
    size = {"runs": 2, "times": (1000, 20_000)}
    rate = trials.growth(block(paper.EQUAL, size, easy))[-1].values["rate"]
    s, n = np.array([0.8, 0.6, 0.5]), 1 / 3
    m = (s[0] + s[1]) / 2

    def kl(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    expected = (kl(s[0], m) + kl(s[1], m)) * n * oracle_weights(s)[1]
    assert expected == pytest.approx(0.763, abs=0.001)
    assert rate == pytest.approx(expected, abs=0.15)


# --- a reader's log ------------------------------------------------------------------------------


def test_own_log_becomes_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "My log.csv"
    path.write_text("arm,successes,trials\na,30,60\nb,10,40\nc,3,30\n")
    dataset = own.own_log(path)
    assert dataset.id == "own-my-log"
    assert dataset.open().tolist() == [0.5, 0.25, 0.1]
    json.dumps(dict(dataset.params))
    first = own.rates_identity(**dataset.params)
    assert first == own.rates_identity(**json.loads(json.dumps(dict(dataset.params))))
    assert first != own.rates_identity([30, 10, 4], [60, 40, 30])
    size = {"runs": 2, "delta": 0.1, "max_pulls": 10**5}
    assert trials.cost(block(paper.UNIFORM, size, dataset))[0].values["pulls"] > 3


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("a,30,60\n", "1 arms; accepted are 2 to 50"),
        ("a,30,60\nb,5,10\n", "'b' has 10 trials; 20 are needed"),
        ("a,30,60\nb,15,30\n", "share the best rate"),
    ],
)
def test_own_log_that_is_no_problem(tmp_path: Path, rows: str, why: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,successes,trials\n" + rows)
    with pytest.raises(ValueError, match=why):
        own.own_log(path)


# --- the tool ------------------------------------------------------------------------------------


def test_tool_asks_for_what_was_not_tried(tmp_path: Path) -> None:
    tool.example_files(tmp_path)
    found = tool.next_trial(tmp_path / "log.csv", arms="red,green,blue,grey")
    assert found.values["next_arm"] == "grey"
    assert found.values["verdict"] == "undecided"
    assert found.values["trials"] == 240
    assert any("not tried yet: grey" in line for line in found.lines)


def test_tool_names_the_best_when_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,successes,trials\na,450,500\nb,100,200\nc,30,100\n")
    out = tmp_path / "answer.json"
    found = tool.next_trial(path, output=out)
    assert found.values["best_arm"] == "a"
    assert found.values["next_arm"] is None
    assert found.values["evidence"] > found.values["threshold"]
    assert found.files == (out,)
    assert found.warnings == ()
    saved = json.loads(out.read_text())
    assert saved["answer"]["best_arm"] == "a"
    policy = PosteriorTracking.from_json(json.dumps(saved["policy"]))
    assert policy.best_arm_ == 0
    json.dumps(found.values, allow_nan=False)


def test_tool_forecasts_where_there_is_something_to_go_by(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,successes,trials\na,45,70\nb,25,70\n")
    found = tool.next_trial(path)
    assert found.values["leader"] == "a"
    assert 10 < found.values["expected_more"] < 2000
    path.write_text("arm,successes,trials\na,35,70\nb,34,70\n")
    assert tool.next_trial(path).values["expected_more"] is None


def test_tool_draws_anew_for_each_trial_and_alike_for_one_log(tmp_path: Path) -> None:
    path, asked = tmp_path / "log.csv", []
    for more in range(12):
        path.write_text(f"arm,successes,trials\na,5,10\nb,5,{10 + more}\nc,5,10\n")
        asked.append(tool.next_trial(path).values["next_arm"])
        assert tool.next_trial(path).values["next_arm"] == asked[-1]
    assert len(set(asked)) > 1


def test_tool_plans() -> None:
    seen: list[float] = []
    found = tool.next_trial(
        None,
        plan="0.9,0.5,0.4",
        threshold="heuristic",
        progress=lambda done, total=None, what="": seen.append(done / (total or 1)),
    )
    plan = found.values["plan"]
    rules = {one["rule"]: one for one in plan["rules"]}
    assert set(rules) == {"posterior tracking", "track-and-stop", "every arm in turn"}
    for one in rules.values():
        assert one["trials"] > plan["lower_bound"]
        assert 0 < one["standard_error"] < one["trials"]
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert "no proof" in found.warnings[-1]
    direct = simulate_bai(Uniform(3, 0.05, "heuristic"), [0.9, 0.5, 0.4], 200, 99)["n_pulls"]
    gap = direct.mean() - rules["every arm in turn"]["trials"]
    assert abs(gap) < 5 * rules["every arm in turn"]["standard_error"]


def test_tool_does_not_simulate_for_minutes() -> None:
    found = tool.next_trial(None, plan="0.5,0.499")
    assert found.values["plan"]["rules"] == []
    assert found.values["plan"]["lower_bound"] > 10**6
    assert "too many to simulate" in found.warnings[0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "give a log"),
        ({"plan": "0.5"}, "at least 2"),
        ({"plan": "0.5,x"}, "must be numbers"),
        ({"plan": "0.5,1.5"}, r"\[0, 1\]"),
        ({"plan": "0.5,nan"}, r"\[0, 1\]"),
        ({"plan": "0.5,0.5"}, "share the best rate"),
        ({"plan": "0.5,0.4", "delta": 0.0}, "--delta"),
        ({"plan": "0.5,0.4", "delta": math.nan}, "--delta"),
        ({"plan": "0.5,0.4", "threshold": "none"}, "--threshold"),
        ({"plan": "0.5,0.4", "seed": -1}, "--seed"),
    ],
)
def test_tool_says_what_is_wrong(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        tool.next_trial(None, **options)


@pytest.mark.parametrize(
    ("arms", "why"),
    [("red,red", "each arm once"), ("red,", "each arm once"), ("red,green", "'blue', which is")],
)
def test_tool_checks_arms(tmp_path: Path, arms: str, why: str) -> None:
    tool.example_files(tmp_path)
    with pytest.raises(ValueError, match=why):
        tool.next_trial(tmp_path / "log.csv", arms=arms)


def test_tool_needs_two_arms_and_a_folder_to_write_to(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,outcome\na,1\n")
    with pytest.raises(ValueError, match=r"2 to \d+ arms, got 1"):
        tool.next_trial(path)
    with pytest.raises(OSError, match="no folder"):
        tool.next_trial(path, arms="a,b", output=tmp_path / "no" / "a.json")
    with pytest.raises(OSError, match="no file"):
        tool.next_trial(tmp_path / "lost.csv")


def test_kl_lucb_stands_for_itself_in_the_catalog() -> None:
    assert contenders.lucb().policy is LUCB


def test_tool_overwrites_no_log_and_writes_json_alone(tmp_path: Path) -> None:
    tool.example_files(tmp_path)
    log = tmp_path / "log.csv"
    before = log.read_bytes()
    (tmp_path / "link.json").hardlink_to(log)
    (tmp_path / "d.json").mkdir()
    for name, why in (
        ("log.csv", "would overwrite the log"),
        ("link.json", "would overwrite the log"),
        ("other.csv", r"must end in \.json"),
    ):
        with pytest.raises(ValueError, match=why):
            tool.next_trial(log, output=tmp_path / name)
    with pytest.raises(IsADirectoryError, match="folder"):
        tool.next_trial(log, output=tmp_path / "d.json")
    assert log.read_bytes() == before


def test_tool_says_what_it_read_and_its_state_goes_on(tmp_path: Path) -> None:
    tool.example_files(tmp_path)
    out = tmp_path / "state.json"
    found = tool.next_trial(tmp_path / "log.csv", output=out)
    assert found.values["columns"] == {"arm": "arm", "outcome": "clicked"}
    assert "read from log.csv: arm from 'arm', outcome from 'clicked'" in found.lines
    saved = json.loads(out.read_text())
    policy = PosteriorTracking.from_json(json.dumps(saved["policy"]))
    assert saved["answer"]["arms"][policy.ask()]["arm"] == found.values["next_arm"]
    with pytest.raises(ValueError, match="a saved answer, not a log"):
        tool.next_trial(out)
