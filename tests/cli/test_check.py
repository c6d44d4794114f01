"""check: decisions, plans, exit codes, shipped evidence."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest

INLINE = ("--jobs", "0")


def test_check_decides_and_says_so(probatum):
    ran = probatum("check", "coins", *INLINE)
    assert ran.code == 0
    said = " ".join(ran.out.split())
    for word in ("better", "holds", "fails", "undecided", "untested", "asymptotic"):
        assert word in said
    assert "probatum show coins" in said
    assert "--profile standard" in said
    assert "coins/better: holds" in ran.err


def test_check_json_follows_its_schema(probatum):
    ran = probatum("check", "coins", "noisy", "--json", *INLINE)
    found = ran.object("check")
    assert ran.code == 0
    verdicts = {d["claim"]: d["verdict"] for d in found["decisions"] if d["paper"] == "coins"}
    assert verdicts["better"] == "holds"
    assert verdicts["far-better"] == "fails"
    assert verdicts["knife-edge"] == "undecided"
    assert verdicts["in-space"] == "untested"
    assert found["run"]["trials"]["ok"] > 0
    again = probatum("check", "coins", "noisy", "--json", *INLINE).object("check")
    assert again["decisions"] == found["decisions"]
    assert set(again["run"]["trials"]) == {"reused"}


def test_stdout_is_one_object_whatever_trials_print(own_process):
    for jobs in (0, 1):
        ran = own_process("check", "noisy", "--fresh", "--json", "--jobs", jobs)
        assert ran.code == 0
        assert ran.object("check")["run"]["trials"]["ok"] > 0


def test_single_claims_come_in_the_order_named(probatum):
    ran = probatum("check", "coins/often", "coins/better", "--json", *INLINE)
    assert [d["claim"] for d in ran.object("check")["decisions"]] == ["often", "better"]


def test_plan_runs_and_leaves_nothing(probatum, toy):
    ran = probatum("check", "coins", "--plan", "--json", *INLINE)
    found = ran.object("plan")
    assert ran.code == 0
    assert found["experiments"][0]["trials"] == 120
    assert found["experiments"][0]["stored"] == 0
    assert not list(toy.iterdir())
    assert "nothing was run" in probatum("check", "coins", "--plan").out
    assert probatum("check", "coins", "--quiet", *INLINE).code == 0
    planned = probatum("check", "coins", "--plan", "--json", *INLINE).object("plan")
    assert planned["experiments"][0]["stored"] == 120


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--all"),
        (("--all", "coins"), "--all"),
        (("coinz",), "nearest: coins"),
        (("coins/nothing-like-it",), "claim of coins"),
        (("coins", "--replicates", "0"), "replicates"),
        (("coins", "--replicates", "100001"), "replicates"),
        (("coins", "--jobs", "-1"), "jobs"),
        (("coins", "--jobs", "x"), "jobs"),
        (("coins", "--profile", "huge"), "profile"),
        (("coins", "--against", "nobody"), "against"),
        (("coins", "--foo"), "--foo"),
        (("coins/better", "--replicates", "2"), "at least"),
        (("coins", "--ship", "--profile", "quick"), "standard"),
        (("coins", "--ship", "--replicates", "30"), "replicates"),
        (("coins/better", "--ship"), "whole papers"),
        (("coins", "--plan", "--ship"), "--plan"),
        (("coins", "--plan", "--fresh"), "--plan"),
    ],
)
def test_misuse_gives_one_line(probatum, arguments, said):
    ran = probatum("check", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.strip().splitlines()) == 1
    assert said in ran.err


def test_each_claim_carries_its_controls(probatum):
    found = probatum("check", "coins", "--json", *INLINE).object("check")
    controls = {d["claim"]: d["controls"] for d in found["decisions"]}
    assert set(controls["better"]) == {"random"}
    assert controls["better"]["random"] != "holds"
    assert controls["in-space"] == {}
    assert f"control random: {controls['better']['random']}" in probatum("check", "coins").out


@pytest.fixture
def failing(toy, use_catalog):
    """A paper one of whose arms fails."""
    package = toy / "failing_papers"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "bad.py").write_text(
        "from dataclasses import replace\n"
        "from toy_papers import coins\n"
        "def trial(block):\n"
        "    if block.arms[0].id == 'fair':\n"
        "        raise ValueError('no coin\\nat hand')\n"
        "    return coins.trial(block)\n"
        "E = replace(coins.TOSSES, trial='failing_papers.bad:trial')\n"
        "C = replace(coins.PAPER.claims[0], experiment=E)\n"
        "PAPER = replace(coins.PAPER, slug='bad', claims=(C,))\n"
    )
    use_catalog("failing_papers", toy)


def test_why_trials_failed_is_said(probatum, failing, toy):
    for _ in range(2):
        found = probatum("check", "bad", "--json", *INLINE).object("check")["run"]["failures"]
        assert {(f["arm"], f["dataset"], f["status"]) for f in found} == {
            ("fair", "heads", "raised"),
            ("fair", "tails", "raised"),
        }
        assert "no coin at hand" in found[0]["message"]
        assert found[0]["count"] >= 10
    said = " ".join(probatum("check", "bad", *INLINE).out.split())
    assert "bad/tosses, fair on heads: raised" in said
    assert "no coin at hand" in said
    assert probatum("export", "bad", "-o", "t.csv").code == 0
    assert "no coin at hand" in (toy / "t.csv").read_text()


def test_against_shipped_where_nothing_is(probatum, toy):
    ran = probatum("check", "coins", "--against", "shipped", *INLINE)
    assert ran.code == 3
    assert "nothing is shipped for coins to compare with" in ran.err
    assert not (toy / ".probatum").exists()
    assert probatum("check", "noisy", "--ship", *INLINE).code == 0
    ran = probatum("check", "coins/often", "noisy", "--against", "shipped", *INLINE)
    assert ran.code == 3
    assert "nothing is shipped for coins to compare with" in ran.err
    assert "noisy/bounded: holds" in ran.err


def test_all_undecided_claims_are_named_to_go_on_with(probatum):
    said = probatum("check", "coins", "--profile", "smoke", "--replicates", "10", *INLINE)
    found = probatum("check", "coins", "--profile", "smoke", "--json", *INLINE).object("check")
    open_ = [d["claim"] for d in found["decisions"] if d["verdict"] == "undecided"]
    line = next(x for x in said.out.splitlines() if x.startswith("To spend more"))
    if 2 * len(open_) > 5 and len(open_) > 1:
        assert "probatum check coins --profile" in line
    else:
        assert all(f"coins/{claim}" in line for claim in open_)


def test_a_store_that_cannot_be_written_can_be_read(probatum, toy, monkeypatch):
    assert probatum("check", "coins", "--quiet", *INLINE).code == 0
    file = toy / ".probatum" / "evidence.db"
    before = file.read_bytes()
    monkeypatch.setattr("probatum.cli.options._writable", lambda _: False)
    planned = probatum("check", "coins", "--plan", "--json", *INLINE).object("plan")
    assert planned["experiments"][0]["stored"] == 120
    assert probatum("export", "coins", "-o", "t.csv").code == 0
    assert file.read_bytes() == before


def test_strict_exits_with_1_if_a_claim_fails(probatum):
    assert probatum("check", "coins/better", "--strict", *INLINE).code == 0
    assert probatum("check", "coins/far-better", "--strict", *INLINE).code == 1
    assert probatum("check", "coins/far-better", *INLINE).code == 0


def test_missing_data_exits_with_3_and_the_rest_goes_on(probatum):
    ran = probatum("check", "absent", "noisy", "--json", *INLINE)
    decisions = ran.object("check")["decisions"]
    assert ran.code == 3
    assert "PROBATUM_DATA" in ran.err
    assert [d["verdict"] for d in decisions] == ["untested", "holds"]
    assert "moon" in decisions[0]["reason"]


def test_a_missing_extra_exits_with_3_and_its_install_line(probatum, use_catalog, toy):
    package = toy / "needy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "fine.py").write_text("from toy_papers.noisy import PAPER\n")
    (package / "needs.py").write_text(
        "from dataclasses import replace\n"
        "from toy_papers.coins import PAPER\n"
        "PAPER = replace(PAPER, extras=('rockets',))\n"
    )
    use_catalog("needy", toy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("probatum.api.missing_distributions", lambda extra: [extra])
        ran = probatum("check", "--all", "--json", *INLINE)
        assert ran.code == 3
        assert "pip install 'probatum[rockets]'" in ran.err
        assert "holds" in {d["verdict"] for d in ran.object("check")["decisions"]}
        assert probatum("check", "coins", "--plan").code == 3


def test_an_unreadable_store_exits_with_3(probatum, toy):
    (toy / "text.db").write_text("this is no database, however long one looks at it")
    for store in ("text.db", "nodialect://x/y", "://", f"sqlite:///{toy}"):
        for verb in (("check", "coins"), ("check", "coins", "--plan")):
            ran = probatum(*verb, "--store", store, *INLINE)
            assert ran.code == 3
            assert len(ran.err.strip().splitlines()) == 1


def test_a_store_may_be_named_by_file_or_url(probatum, toy):
    assert probatum("check", "noisy", "--store", "a/b.db", *INLINE).code == 0
    assert (toy / "a" / "b.db").exists()
    ran = probatum("check", "noisy", "--store", "sqlite:///a/b.db", "--json", *INLINE)
    assert "ok" not in ran.object("check")["run"]["trials"]
    assert not (toy / ".probatum").exists()


def test_ship_status_and_against(probatum, toy):
    assert probatum("check", "coins", "--ship", *INLINE).code == 0
    assert {p.name for p in (toy / "shipped").iterdir()} >= {
        "coins.csv",
        "coins.json",
        "index.json",
    }
    status = probatum("status", "--json").object("status")
    assert status["fresh"] == 5
    assert status["stale"] == []
    assert "coins/better" in probatum("status").out
    again = ("check", "coins", "--against", "shipped", "--profile", "standard", *INLINE)
    assert probatum(*again).code == 0
    listed = probatum("list", "--json").object("list")["papers"]
    assert next(p for p in listed if p["slug"] == "coins")["verdicts"]["holds"] >= 2
    index = json.loads((toy / "shipped" / "index.json").read_text())
    index["coins"]["better"]["verdict"] = "fails"
    (toy / "shipped" / "index.json").write_text(json.dumps(index))
    ran = probatum(*again)
    assert ran.code == 1
    assert "coins/better: shipped evidence says fails, this run holds" in ran.err
    (toy / "shipped" / "index.json").write_text("{")
    assert probatum(*again).code == 3


def test_shipped_evidence_goes_stale_with_its_budget(probatum, toy):
    from toy_papers import coins

    from probatum.evidence import Budget

    assert probatum("check", "coins", "--ship", "--quiet", *INLINE).code == 0
    with pytest.MonkeyPatch.context() as patch:
        budgets = {**coins.TOSSES.budgets, "standard": Budget(30, size={"n": 3})}
        patch.setitem(coins.TOSSES.__dict__, "budgets", budgets)
        status = probatum("status", "--json").object("status")
    assert len(status["stale"]) == 5
    assert status["fresh"] == 0


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", [0, 2])
def test_a_signal_stops_at_once_and_the_next_run_goes_on(
    toy_command, own_process, tmp_path, jobs, asked, code
):
    command, environment = toy_command("check", "slow", "--jobs", jobs)
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _wait_for_trials(tmp_path / ".probatum" / "evidence.db", 2)
    started = time.monotonic()
    process.send_signal(asked)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - started < 2
    assert process.returncode == code
    assert "Traceback" not in out + err
    assert "resource_tracker" not in err
    kept = int(re.search(r"stopped; (\d+) finished trials? (?:is|are) kept", err).group(1))
    assert "run the same command again" in err
    assert kept >= 2
    ran = own_process("check", "slow", "--profile", "quick", "--jobs", 2, "--json")
    assert ran.code == 0
    trials = ran.object("check")["run"]["trials"]
    # A trial may be committed just before the interrupt and not be counted any more.
    assert trials["reused"] >= kept
    assert trials["ok"] == 8 - trials["reused"]


def _wait_for_trials(database, least):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if database.exists():
            try:
                with sqlite3.connect(database) as connection:
                    if connection.execute("select count(*) from trials").fetchone()[0] >= least:
                        return
            except sqlite3.OperationalError:
                pass
        time.sleep(0.05)
    raise AssertionError("no trial was stored")


def test_a_narrow_terminal_gets_whole_words(probatum, monkeypatch):
    for columns in ("80", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        ran = probatum("check", "coins", "--quiet", *INLINE)
        tables = ran.out.splitlines()
        assert max(map(len, tables)) <= int(columns)
        for word in ("asymptotic", "undecided", "replicates", "better"):
            assert word in ran.out


def test_quiet_says_nothing_on_stderr(probatum):
    assert probatum("check", "noisy/bounded", "--quiet", "--jobs", "1").err == ""


def test_output_that_is_no_terminal_has_no_control_codes(own_process):
    for verb in (("check", "coins", *INLINE), ("list",), ("show", "coins"), ("status",)):
        ran = own_process(*verb, TERM="xterm-256color")
        assert "\x1b" not in ran.out + ran.err
        assert "\r" not in ran.out + ran.err


def test_bars_on_a_terminal(toy_command, tmp_path):
    pty = pytest.importorskip("pty")
    main, other = pty.openpty()
    command, environment = toy_command("check", "coins", "--json", *INLINE, TERM="xterm")
    with open(tmp_path / "out.json", "w") as out:
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=out, stderr=other)
        os.close(other)
        seen = b""
        while True:
            try:
                chunk = os.read(main, 4096)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        assert process.wait(timeout=30) == 0
    os.close(main)
    assert b"trials" in seen
    assert b"claims" in seen
    json.loads((tmp_path / "out.json").read_text())


def test_ship_what_the_store_holds_already(probatum):
    again = ("check", "noisy", "--quiet", *INLINE)
    assert probatum(*again, "--profile", "standard").code == 0
    assert probatum(*again, "--ship").code == 0


def test_damaged_shipped_files_are_named(probatum, toy):
    assert probatum("check", "noisy", "--ship", "--quiet", *INLINE).code == 0
    assert probatum("status").code == 0
    table = toy / "shipped" / "noisy.csv"
    table.write_text(table.read_text()[:-20])
    for verb in (("status",), ("check", "noisy", "--against", "shipped", "--quiet", *INLINE)):
        ran = probatum(*verb)
        assert ran.code == 3
        assert "noisy.csv is not as it was shipped" in ran.err
