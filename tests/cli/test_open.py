"""Open experiments: the claims asked of a reader's data, and beside a reader's method."""

import os

import pytest


@pytest.fixture
def own(probatum, toy_open, monkeypatch):
    """`check openable` in a folder that holds a reader's module and data."""
    import sys

    (toy_open / "level.txt").write_text("y=3\nz=0\n")
    (toy_open / "my_players.py").write_text(
        "from toy_open.openable import Skilled\n"
        "class Better:\n"
        "    def throw(self, level, rng):\n"
        "        return level + 0.6 + 0.02 * rng.normal()\n"
        "class Bound:\n"
        "    def throw(self, level):\n"
        "        return level\n"
        "class Mute:\n"
        "    pass\n"
        "def made():\n"
        "    return Better()\n"
        "def fails():\n"
        "    raise KeyError('a ball')\n"
        "class Greedy:\n"
        "    def __init__(self, balls):\n"
        "        self.balls = balls\n"
        "    def throw(self, level, rng):\n"
        "        return level\n"
        "NUMBER = 3\n"
    )
    (toy_open / "exits.py").write_text("import sys\nsys.exit(7)\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield lambda *arguments: probatum("check", *arguments, "--jobs", "0", "--quiet")
    sys.modules.pop("my_players", None)


def verdicts(ran):
    return {d["claim"]: d["verdict"] for d in ran.object("check")["decisions"]}


def test_data_take_the_place_of_the_papers(own):
    ran = own("openable", "--data", "level.txt", "--target", "y", "--json")
    assert ran.code == 0
    assert verdicts(ran) == {"higher": "holds", "high": "holds"}
    found = ran.object("check")
    assert found["run"]["not_asked"] == [
        "closed, rested: asked of data of its own, takes no other",
        "moon: nothing here can try it",
    ]
    high = next(d for d in found["decisions"] if d["claim"] == "high")
    assert high["effect"] == pytest.approx(3.2, abs=0.05)


def test_what_the_data_say_decides(own):
    ran = own("openable/high", "--data", "level.txt", "--target", "z", "--json")
    assert verdicts(ran) == {"high": "fails"}


def test_a_method_is_asked_and_is_a_rival(own):
    ran = own("openable", "--arm", "mine=my_players:Better", "--json")
    assert verdicts(ran) == {
        "higher+of-mine": "holds",
        "higher+against-mine": "fails",
        "high+of-mine": "holds",
    }


def test_a_claim_that_asks_for_more_of_a_method_is_left_out(own):
    ran = own("openable", "--arm", "mine=my_players:Better", "--json")
    assert any("has no method 'rest'" in why for why in ran.object("check")["run"]["not_asked"])
    level = {d["level"] for d in ran.object("check")["decisions"]}
    alone = own("openable/high", "--arm", "mine=my_players:Better", "--json").object("check")
    assert {d["level"] for d in alone["decisions"]} == level
    ran = own("openable/rested", "--arm", "mine=my_players:Better")
    assert (ran.code, ran.out) == (2, "")
    assert "has no method 'rest'" in ran.err


def test_only_the_cells_of_a_new_arm_run(own, probatum):
    probatum("check", "openable/higher", "--jobs", "0")
    found = own("openable/higher", "--arm", "mine=my_players:Better", "--json").object("check")
    assert found["run"]["trials"] == {"ok": 10, "reused": 30}
    # An arm that no claim reads is left out.
    ran = own("openable/high", "--arm", "mine=my_players:Better", "--json")
    assert ran.object("check")["run"]["trials"] == {"reused": 40}


def test_an_edited_method_runs_anew(own, toy):
    import sys

    from probatum.evidence.fingerprint import forget_sources

    own("openable/high", "--arm", "mine=my_players:Better")
    (toy / "my_players.py").write_text((toy / "my_players.py").read_text().replace("0.6", "0.01"))
    sys.modules.pop("my_players")
    forget_sources()
    ran = own("openable/high", "--arm", "mine=my_players:Better", "--json")
    assert verdicts(ran) == {"high+of-mine": "fails"}
    assert ran.object("check")["run"]["trials"]["ok"] == 10


def test_a_module_that_prints_does_not_spoil_the_output(own, toy):
    (toy / "talks.py").write_text("from my_players import Better\nprint('hello')\n")
    ran = own("openable/high", "--arm", "mine=talks:Better", "--json")
    assert verdicts(ran) == {"high+of-mine": "holds"}
    assert "hello" in ran.err


def test_a_factory_is_probed(own):
    assert own("openable/high", "--arm", "mine=my_players:made").code == 0


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("mine=my_players:Mute", "my_players:Mute has no method 'throw'"),
        ("mine=my_players:Bound", "must take (level, rng)"),
        ("mine=my_players:Greedy", "can't be built"),
        ("mine=my_players:NUMBER", "is a int, not a class"),
        ("mine=my_players:fails", "KeyError: 'a ball'"),
        ("mine=my_players:Absent", "my_players has no 'Absent'"),
        ("mine=no_such_module:Thing", "can't import no_such_module"),
        ("mine", "NAME=MODULE:ATTR"),
        ("mine=thing", "'module:attribute'"),
        ("mine=my_players.py:Better", "give the module's name, my_players"),
        ("mine=exits:Better", "importing exits failed: SystemExit: 7"),
        ("average=my_players:Better", "'average' is there already"),
        ("a b=my_players:Better", "letters"),
    ],
)
def test_a_wrong_method_is_refused_before_anything_runs(own, toy, arm, said):
    ran = own("openable", "--arm", arm)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not (toy / ".probatum").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["openable", "--data", "nothing.txt", "--target", "y"], 3, "nothing.txt"),
        (["openable", "--data", "level.txt"], 2, "--target"),
        (["openable", "--data", "level.txt", "--target", "q"], 2, "'q'"),
        (["openable", "--target", "y"], 2, "no file is given"),
        (["openable", "--data", "level.txt", "--with", "speed=1"], 2, "unknown option 'speed'"),
        (["openable", "--data", "level.txt", "--with", "speed"], 2, "NAME=VALUE"),
        (["openable/closed", "--data", "level.txt", "--target", "y"], 2, "data of its own"),
        (["openable/moon", "--arm", "mine=my_players:Better"], 2, "nothing here can try it"),
        (["plain", "--data", "level.txt"], 2, "takes no other"),
        (["plain", "--arm", "mine=my_players:Better"], 2, "takes no other beside it"),
        (["plain", "openable", "--arm", "mine=my_players:Better"], 2, "one paper"),
        (["openable", "--arm", "mine=my_players:Better", "--ship"], 2, "can't be shipped"),
        (
            ["openable", "--arm", "mine=my_players:Better", "--against", "shipped"],
            2,
            "can't be shipped",
        ),
    ],
)
def test_what_makes_no_sense_is_said(own, toy, arguments, code, said):
    ran = own(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not (toy / ".probatum").exists()


def test_options_and_several_files(own, toy):
    (toy / "sub").mkdir()
    (toy / "sub" / "level.txt").write_text("y=5\n")
    ran = own(
        "openable/high", "--data", "level.txt", "--data", "sub/level.txt", "--target", "y",
        "--with", "scale=2", "--json",
    )  # fmt: skip
    (decision,) = ran.object("check")["decisions"]
    assert decision["effect"] == pytest.approx(8.2, abs=0.05)


def test_a_file_counts_once_and_may_be_moved(own, toy):
    twice = own("openable", "--data", "level.txt", "--data", "./level.txt", "--target", "y")
    assert (twice.code, twice.out) == (2, "")
    assert "hold the same data" in twice.err
    own("openable/high", "--data", "level.txt", "--target", "y")
    (toy / "sub").mkdir()
    (toy / "level.txt").rename(toy / "sub" / "level.txt")
    ran = own("openable/high", "--data", "sub/level.txt", "--target", "y", "--json")
    assert "ok" not in ran.object("check")["run"]["trials"]


def test_data_that_leave_nothing_to_chance_are_said_to(own, monkeypatch):
    from toy_open import openable

    monkeypatch.setattr(openable.Skilled, "throw", lambda self, level, rng: level + self.edge)
    (decision,) = own("openable/high", "--data", "level.txt", "--target", "y", "--json").object(
        "check"
    )["decisions"]
    assert (decision["verdict"], decision["more_needed"]) == ("undecided", None)
    assert "chance has nothing to decide" in decision["reason"]


def test_own_trials_are_kept_apart(own, probatum, toy):
    probatum("check", "openable", "--jobs", "0")
    ran = own("openable", "--arm", "mine=my_players:Better")
    assert ran.code == 0
    own("openable", "--data", "level.txt", "--target", "y")
    assert probatum("export", "openable", "-o", "trials.csv").code == 0
    text = (toy / "trials.csv").read_text()
    assert "skilled" in text
    assert "mine" not in text
    assert "own-level" not in text
    assert probatum("export", "openable", "--own", "-o", "own.csv").code == 0
    text = (toy / "own.csv").read_text()
    assert "mine" in text
    assert "own-level" in text
    assert all(",mine," in line or ",own-level," in line for line in text.splitlines()[1:])


def test_workers_find_the_method(own_process, tmp_path):
    (tmp_path / "my_players.py").write_text(
        "class Better:\n"
        "    def throw(self, level, rng):\n"
        "        return level + rng.normal() / 50\n"
    )
    ran = own_process(
        "check",
        "openable/high",
        "--arm",
        "mine=my_players:Better",
        "--jobs",
        "2",
        package="toy_open",
    )
    assert ran.code == 0
    assert "fails" in ran.out
    assert "raised" not in ran.out


def test_from_python(toy_open, monkeypatch):
    import probatum

    monkeypatch.chdir(toy_open)
    (toy_open / "level.txt").write_text("y=3\n")
    checked = probatum.check(
        "openable/high",
        data=toy_open / "level.txt",
        data_options={"target": "y"},
        arms={"mine": "toy_open.openable:Skilled"},
        jobs=0,
        profile="smoke",
    )
    assert [d.claim for d in checked.decisions] == ["high", "high+of-mine"]
    assert checked.controls["openable/high"]["clumsy"].verdict == "holds"
    assert checked.run["not_asked"] == []
    assert set(checked.trials["dataset"]) == {"own-level"}
    assert os.path.exists(".probatum/evidence.db")
