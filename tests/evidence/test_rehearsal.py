"""A rehearsal for heavy papers: prepared once, many cells a trial, rank correlations, shared
measurements, a rival that gives up."""

import sys
from pathlib import Path

import pytest

from probatum.evidence.run import execute
from probatum.evidence.shipped import read_records, ship
from probatum.evidence.store import Store


@pytest.fixture(scope="module")
def heavy():
    sys.path.insert(0, str(Path(__file__).parent))
    import heavy_rehearsal

    yield heavy_rehearsal
    sys.path.remove(str(Path(__file__).parent))


@pytest.fixture(scope="module")
def ran(heavy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    selection = [(heavy.PAPER, claim) for claim in heavy.PAPER.claims]
    with Store(f"sqlite:///{folder}/e.db") as store:
        report = execute(selection, store=store, profile="smoke", jobs=2)
        again = execute(selection, store=store, profile="smoke", jobs=0)
        yield report, again, folder, store


def test_the_model_was_trained_once(ran):
    report, _, folder, _ = ran
    assert report.statuses == {"ok": 20}
    assert len(list((folder / "prepared").iterdir())) == 1


def test_rank_correlations_decide(ran):
    found = {d.claim: d for d in ran[0].decisions}
    assert found["ranks-better"].verdict == "holds"
    assert found["ranks-within"].verdict == "holds"
    assert found["ranks-within"].effect < found["ranks-well"].effect
    assert "given what train prepared" in found["ranks-better"].reason
    controls = ran[0].controls()
    for claim in ("ranks-better", "ranks-within", "ranks-well"):
        assert controls[f"rehearsal/{claim}"]["drawn"].verdict != "holds"


def test_a_rival_that_gave_up_leaves_the_claim_open(ran):
    decision = next(d for d in ran[0].decisions if d.claim == "beats-one-that-gives-up")
    assert decision.verdict == "undecided"
    assert decision.failures == decision.parts[0].replicates
    assert "gives-up never ran" in decision.reason


def test_the_others_keep_their_measurements(ran):
    assert all(record.status == "ok" for record in ran[3].records("rehearsal"))
    evidence = ran[0].runs[0].evidence
    assert {arm for arm, _, _ in evidence.failed} == {"gives-up"}
    assert {arm for arm, _, _ in evidence.rows} == {
        "price",
        "reconstruction",
        "weight-error",
        "drawn",
    }


def test_a_second_run_reads_all_of_it(ran):
    assert (ran[1].reused, ran[1].statuses) == (20, {})
    assert ran[1].decisions == ran[0].decisions


def test_failed_arms_survive_shipping(ran, tmp_path, monkeypatch):
    monkeypatch.setattr("probatum.evidence.shipped._is_standard", lambda run: True)
    ship(ran[0].runs, ran[3], tmp_path)
    statuses = {(record.arm, record.status) for record in read_records("rehearsal", tmp_path)}
    assert ("gives-up", "raised") in statuses
    assert ("price", "ok") in statuses
