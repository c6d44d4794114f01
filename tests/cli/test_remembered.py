"""The store remembers what `check` was asked, of what, and what came out."""

import sqlite3

import pytest

from probatum.evidence.store import Store

STORE = "sqlite:///.probatum/evidence.db"


def answers():
    """What the store in this folder remembers, by question."""
    with Store(STORE) as store:
        found = store.answers()
    assert len({answer.id for answer in found}) == len(found)
    return {answer.question: answer for answer in found}


@pytest.fixture
def level(toy_open):
    """A reader's file, in the folder one works in."""
    file = toy_open / "level.txt"
    file.write_text("y=3\nz=0\n")
    return file


def test_a_plain_check_is_remembered(probatum, toy_open):
    assert probatum("check", "openable", "--jobs", "0").code == 0
    found = answers()
    assert set(found) == {"higher", "high", "closed", "rested"}
    high = found["high"]
    assert (high.paper, high.profile, high.own, high.claim) == ("openable", "quick", {}, "high")
    assert (high.title, high.statement) == ("Throwing", "It throws above one.")
    assert high.criterion == "the mean height of skilled is at least 1.1, on one"
    assert high.decision["verdict"] == "holds"
    with Store(STORE) as store:
        assert high.environment in store.environments()


def test_data_and_methods_are_remembered_with_the_question_that_reads_them(probatum, level):
    ran = probatum(
        "check", "openable", "--data", "level.txt", "--target", "y", "--with", "scale=2",
        "--arm", "mine=toy_open.openable:Skilled", "--arm", "more=toy_open.openable:Skilled",
        "--jobs", "0", "--json", "--replicates", "15",
    )  # fmt: skip
    decided = {d["claim"]: d for d in ran.object("check")["decisions"]}
    level.unlink()
    found = answers()
    assert set(found) == set(decided)
    data = [{"file": "level.txt", "dataset": "own-level", "content": "6.0"}]
    options = {"target": "y", "scale": "2"}
    assert found["higher"].own == {"data": data, "options": options, "arms": {}}
    mine = {"mine": "toy_open.openable:Skilled"}
    assert found["higher+against-mine"].own == {"data": data, "options": options, "arms": mine}
    assert found["high+of-mine"].own["arms"] == mine
    assert found["high+of-mine"].claim == found["high"].claim == "high"
    assert found["higher+against-more"].claim == "higher"
    assert found["high+of-mine"].statement == "Asked of mine: It throws above one."
    for question, answer in found.items():
        assert answer.replicates == 15
        shown = {name: entry for name, entry in decided[question].items() if name != "controls"}
        assert answer.decision == shown


def test_questions_of_a_method_alone_name_no_data(probatum, toy_open):
    probatum("check", "openable/high", "--arm", "mine=toy_open.openable:Skilled", "--jobs", "0")
    assert answers()["high+of-mine"].own == {
        "data": [],
        "options": {},
        "arms": {"mine": "toy_open.openable:Skilled"},
    }


def test_each_profile_and_each_content_has_an_answer_of_its_own(probatum, level):
    def ask(*more):
        arguments = ("openable/high", "--data", "level.txt", "--target", "y", "--jobs", "0")
        assert probatum("check", *arguments, *more).code == 0
        with Store(STORE) as store:
            return store.answers()

    (first,) = ask()
    (again,) = ask()
    assert again.decided > first.decided
    assert again.decision == first.decision
    assert [answer.profile for answer in ask("--profile", "smoke")] == ["quick", "smoke"]
    level.write_text("y=0\n")
    found = ask()
    verdicts = {a.own["data"][0]["content"]: a.decision["verdict"] for a in found}
    assert len(found) == 3
    assert verdicts == {"3.0": "holds", "0.0": "fails"}


class Impatient:
    """A watcher that stops the run when a claim is decided."""

    def __init__(self, after):
        self.left = after

    def expect(self, run, trials):
        pass

    def finished(self, run, outcome):
        pass

    def decided(self, run, decision):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def stopped(after, **settings):
    import probatum

    with pytest.raises(KeyboardInterrupt):
        probatum.check("openable", jobs=0, watcher=Impatient(after), **settings)


def test_what_was_decided_before_a_stop_is_remembered_and_the_rest_follows(probatum, toy_open):
    stopped(1)
    (first,) = answers().values()
    assert first.decision["verdict"] == "holds"
    stopped(2)
    assert len(answers()) == 2
    assert probatum("check", "openable", "--jobs", "0").code == 0
    assert len(answers()) == 4


def test_fresh_forgets_the_answers_that_it_is_about_to_give(probatum, toy_open):
    import probatum as package

    probatum("check", "openable", "--jobs", "0")
    probatum("check", "openable/high", "--profile", "smoke", "--jobs", "0")
    before = answers()["higher"].decided
    with pytest.raises(ValueError, match="replicates can't decide"):
        package.check("openable", fresh=True, replicates=1, jobs=0)
    assert len(answers()) == 4
    stopped(1, fresh=True)
    with Store(STORE) as store:
        assert sorted(a.profile for a in store.answers()) == ["quick", "smoke"]
    assert probatum("check", "openable", "--fresh", "--jobs", "0").code == 0
    assert set(answers()) == {"higher", "high", "closed", "rested"}
    assert answers()["higher"].decided > before


def test_a_store_of_an_older_version_goes_on(probatum, toy_open):
    probatum("check", "openable/high", "--jobs", "0")
    with sqlite3.connect(".probatum/evidence.db") as connection:
        connection.execute("drop table answers")
    ran = probatum("check", "openable/high", "--jobs", "0", "--json")
    assert set(ran.object("check")["run"]["trials"]) == {"reused"}
    assert list(answers()) == ["high"]


def test_an_answer_that_cannot_be_written_is_told(probatum, toy_open, monkeypatch):
    from probatum.evidence.store import StoreError

    def full(self, given):
        raise StoreError("can't write to the store: database or disk is full")

    monkeypatch.setattr(Store, "remember", full)
    ran = probatum("check", "openable/high", "--jobs", "0", "--quiet")
    assert ran.code == 3
    # What was decided is not lost for that.
    assert "high" in ran.out
    assert "can't write to the store: database or disk is full" in ran.err
    stopped(1)


def test_nothing_is_remembered_of_a_plan(probatum, toy_open):
    probatum("check", "openable/high", "--jobs", "0")
    probatum("check", "openable", "--plan")
    assert list(answers()) == ["high"]
