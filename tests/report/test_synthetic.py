"""Synthetic evidence is what the engine would have shipped, had such trials been run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile import PIECES
from synthetic import DOMAINS, KINDS, make

from probatum.evidence import Paper
from probatum.evidence.model import resolve
from probatum.evidence.shipped import freshness, index, read_index, read_records
from probatum.evidence.shipped_index import damaged

Made = tuple[Path, tuple[Paper, ...]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Every kind of claim with every verdict wanted, on few data."""
    folder = tmp_path_factory.mktemp("shipped")
    return folder, make(folder, 21, 8, small=True, stale=(1,))


def test_the_index_is_what_follows_from_the_tables(made: Made) -> None:
    folder, papers = made
    assert read_index(folder) == json.loads(json.dumps(index(papers, folder)))
    assert damaged(folder) == []


def test_evidence_is_fresh_unless_it_was_to_be_stale(made: Made) -> None:
    folder, papers = made
    stale = {p.slug for p in papers if not all(freshness(p, folder).values())}
    assert stale == {papers[1].slug}


def test_every_kind_of_claim_verdict_and_failure_occurs(made: Made) -> None:
    folder, papers = made
    decisions = [d for of in read_index(folder).values() for d in of.values()]
    claims = [claim for paper in papers for claim in paper.claims]
    assert {claim.id for claim in claims} == {kind.id for kind in KINDS}
    assert {d["verdict"] for d in decisions} == {"holds", "fails", "undecided"}
    assert any(claim.missing for claim in claims)
    guarantees = {"exact", "asymptotic", "enumeration", "deterministic", "descriptive"}
    assert {d["guarantee"] for d in decisions} == guarantees
    assert any(d["exceptions"] for d in decisions)
    assert any(d["failures"] for d in decisions)
    records = [record for paper in papers[:4] for record in read_records(paper.slug, folder)]
    assert {"ok", "raised", "timeout", "crashed", "out of memory", "bad result"} == {
        record.status for record in records
    }
    assert {claim.scope for claim in claims} == {"paper", "proxy", "target"}
    assert {paper.domain for paper in papers} == set(DOMAINS)
    assert len({paper.fidelity for paper in papers}) == 3


def test_what_it_names_is_there(made: Made) -> None:
    _, papers = made
    for experiment in (e for paper in papers[:2] for e in paper.experiments):
        targets = [experiment.trial, *(arm.make for arm in experiment.arms)]
        targets += [dataset.load for dataset in experiment.datasets]
        for more in (experiment.prepare, experiment.data_slot, experiment.arm_interface):
            targets += [more] if more else []
        assert all(resolve(target) for target in targets)


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        make(tmp_path / name, 1, 3, seed=seed, small=True)
    one, two, other = ((tmp_path / n / "SHA256SUMS").read_text() for n in ("one", "two", "other"))
    assert one == two != other


def test_markup_comes_back_as_it_was_put_in(tmp_path: Path) -> None:
    papers = make(tmp_path, 4, 8, markup=True, small=True)
    assert read_index(tmp_path) == json.loads(json.dumps(index(papers, tmp_path)))
    assert all(all(freshness(paper, tmp_path).values()) for paper in papers)
    told = "".join(repr(paper) for paper in papers)
    told += "".join(repr(read_records(paper.slug, tmp_path)) for paper in papers)
    fields = ("title", "summary", "audience", "statement", "analysis", "missing", "library")
    for field in (*fields, "licence", "metric", "case", "tool summary", "domain", "arm title"):
        marked = (piece.format(field) for piece in PIECES if "{0}" in piece)
        assert any(repr(text)[1:-1] in told or text in told for text in marked), field
