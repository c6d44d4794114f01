"""list, show, status and doctor."""

import json
import os

import pytest


def test_list_names_every_paper_with_its_claims(probatum):
    ran = probatum("list")
    assert ran.code == 0
    assert all(slug in ran.out for slug in ("absent", "coins", "noisy", "slow"))
    assert "1 untested" in ran.out
    assert "5 not shipped" in ran.out
    assert "[bold]that[/bold]" in ran.out


def test_list_json_follows_its_schema(probatum):
    ran = probatum("list", "--json")
    found = ran.object("list")
    assert ran.code == 0
    assert [paper["slug"] for paper in found["papers"]] == ["absent", "coins", "noisy", "slow"]
    assert found["broken"] == []


def test_list_counts_shipped_verdicts(probatum, toy):
    (toy / "shipped").mkdir()
    index = {"coins": {"better": {"verdict": "holds"}, "often": {"verdict": "fails"}}}
    (toy / "shipped" / "index.json").write_text(json.dumps(index))
    papers = probatum("list", "--json").object("list")["papers"]
    coins = next(paper for paper in papers if paper["slug"] == "coins")
    assert coins["verdicts"] == {"holds": 1, "fails": 1, "undecided": 0, "untested": 1}
    assert coins["not_shipped"] == 3


@pytest.mark.parametrize("text", ["{", "[]", '{"coins": 3}', '{"coins": {"better": []}}'])
@pytest.mark.parametrize("verb", ["list", "status"])
def test_a_damaged_index_gives_one_line_or_no_verdicts(probatum, toy, verb, text):
    (toy / "shipped").mkdir()
    (toy / "shipped" / "index.json").write_text(text)
    ran = probatum(verb)
    assert ran.code in (0, 3)
    assert (ran.code == 3) == ("index.json" in ran.err)


def test_a_broken_module_is_named_and_the_rest_listed(toy, probatum, use_catalog):
    package = toy / "half_broken"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "bad.py").write_text("import a_module_that_is_not_there\n")
    (package / "worse.py").write_text("PAPER = 3\n")
    (package / "fine.py").write_text("from toy_papers.noisy import PAPER\n")
    use_catalog("half_broken", toy)
    ran = probatum("list", "--json")
    found = ran.object("list")
    assert ran.code == 3
    assert [paper["slug"] for paper in found["papers"]] == ["noisy"]
    assert [b["module"] for b in found["broken"]] == ["half_broken.bad", "half_broken.worse"]
    assert "half_broken.bad" in ran.err
    assert "a_module_that_is_not_there" in ran.err
    assert probatum("status").code == 3
    assert probatum("show", "noisy").code == 0
    missing = probatum("check", "bad")
    assert missing.code == 2
    assert "half_broken.bad" in missing.err


def test_show_says_what_decides_a_claim(probatum):
    ran = probatum("show", "coins")
    assert ran.code == 0
    said = " ".join(ran.out.split())
    assert "the mean score of good is at least 0.05 higher than that of fair" in said
    assert "a rocket" in said
    assert "fair (baseline, scikit-learn 1.9)" in said
    assert "controls random" in said
    assert "People who toss [coins]." in said


def test_show_json_follows_its_schema(probatum):
    found = probatum("show", "coins", "--json").object("show")
    claims = {claim["id"]: claim for claim in found["claims"]}
    better = claims["better"]
    assert better["control"] == ["random"]
    assert better["arms"][1] == {
        "name": "fair",
        "title": "a fair [coin]",
        "role": "baseline",
        "library": "scikit-learn",
        "version": "1.9",
    }
    assert better["criterion"]["parameters"]["parts"][0]["high"] is None
    assert claims["in-space"]["criterion"] is None
    assert claims["in-space"]["needs"] == "a rocket"
    assert set(better["profiles"]) == {"smoke", "quick", "standard"}
    assert found["audience"] == "People who toss [coins]."
    assert better["datasets"][0]["title"] == ""
    assert better["metrics"][:2] == [
        {"name": "score", "title": "score of a [coin]", "better": "higher"},
        {"name": "gap", "title": "", "better": "lower"},
    ]
    assert better["abscissa"] == ""
    assert claims["in-space"]["metrics"] == []


def test_show_one_claim(probatum):
    found = probatum("show", "coins/often", "--json").object("show")
    assert [claim["id"] for claim in found["claims"]] == ["often"]


@pytest.mark.parametrize("name", ["coinz", "coins/bettr", "", "/", "coins/better/x"])
def test_unknown_names_give_the_nearest(probatum, name):
    ran = probatum("show", name)
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert ran.out == ""
    if name == "coinz":
        assert "nearest: coins" in ran.err
    if name == "coins/bettr":
        assert "better" in ran.err


def test_status_without_shipped_evidence(probatum):
    ran = probatum("status", "--json")
    found = ran.object("status")
    assert ran.code == 0
    assert found["rows"] == []
    assert (found["papers"], found["claims"], found["fresh"]) == (4, 9, 0)
    assert "coins/better" in found["missing"]
    assert "coins/in-space" not in found["missing"]
    said = " ".join(probatum("status").out.split())
    assert "4 papers, 9 claims: 0 fresh, 0 stale, 8 not shipped, 1 untested" in said


def test_status_goes_on_past_an_unreadable_sidecar(probatum, toy):
    assert probatum("check", "coins", "--ship", "--jobs", "0", "--quiet").code == 0
    (toy / "shipped" / "noisy.json").write_text("{")
    ran = probatum("status", "--json")
    assert ran.code == 3
    assert "noisy.json" in ran.err
    assert ran.object("status")["fresh"] == 5
    (toy / "shipped" / "coins.json").write_text('{"tosses": []}')
    assert probatum("status").code == 3


def test_doctor_json_follows_its_schema(probatum):
    ran = probatum("doctor", "--json")
    found = ran.object("doctor")
    assert ran.code == 0
    assert found["hardware"]["cores"] >= 1


def test_doctor_says_what_would_mend_things(probatum, monkeypatch):
    from probatum.cli import doctor

    monkeypatch.setattr(doctor, "extras", lambda: {"supervised": ["imbalanced-learn"]})
    monkeypatch.setattr(doctor, "missing_distributions", lambda _: ["imbalanced-learn"])
    monkeypatch.setattr("probatum.data.available", lambda _: False)
    said = " ".join(probatum("doctor").out.split())
    assert "pip install 'probatum[supervised]'" in said
    assert "PROBATUM_DATA" in said


def test_doctor_names_a_data_folder_that_is_not_there(probatum, toy, monkeypatch):
    monkeypatch.setenv("PROBATUM_DATA", str(toy / "nowhere"))
    ran = probatum("doctor", "--json")
    assert ran.object("doctor")
    assert f"PROBATUM_DATA is {toy / 'nowhere'}" in ran.err


def test_doctor_asks_nvidia_smi(probatum, toy, monkeypatch):
    program = toy / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'Some GPU'\necho 'Other GPU'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{toy}:{os.environ['PATH']}")
    gpus = probatum("doctor", "--json").object("doctor")["hardware"]["gpus"]
    assert gpus == ["Some GPU", "Other GPU"]
    program.write_text("#!/bin/sh\nexit 9\n")
    assert probatum("doctor", "--json").object("doctor")["hardware"]["gpus"] == []


def test_the_real_catalog_fits_the_schemas(capfd, validated):
    from probatum import catalog
    from probatum.cli import main

    commands = [("list",), ("status",), ("doctor",)]
    commands += [("show", paper.slug) for paper in catalog.load().papers]
    for command in commands:
        code = main([*command, "--json"])
        found = validated(capfd.readouterr().out, command[0])
        assert found
        # Data that lie elsewhere may be missing on a reader's machine.
        assert code == 0 or (command == ("doctor",) and "missing" in found["data"].values())
