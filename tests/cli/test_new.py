"""`probatum new`: a skeleton that runs, in a checkout, and nothing where it can't be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import probatum as package
from probatum.cli import main

SOURCE = Path(package.__file__).parent


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A small checkout: the package without its data and evidence."""
    shutil.copytree(
        SOURCE,
        tmp_path / "src" / "probatum",
        ignore=shutil.ignore_patterns("__pycache__", "shipped"),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(checkout, *arguments):
    """The command line of the checkout, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "src"), "COLUMNS": "80"},
        timeout=120,
    )


def test_the_skeleton_runs_and_knows_that_it_is_one(checkout):
    done = run(checkout, "probatum", "new", "toy-trim", "--domain", "supervised", "--name", "Trim")
    assert done.returncode == 0, done.stderr
    written = [line for line in done.stdout.splitlines() if line.endswith(".py")]
    assert written == [
        "src/probatum/supervised/toy_trim.py",
        "src/probatum/supervised/__init__.py",
        "src/probatum/catalog/toy_trim.py",
        "tests/supervised/test_toy_trim.py",
    ]
    checked = run(checkout, "probatum", "check", "toy-trim", "--profile", "smoke", "--jobs", "0")
    assert checked.returncode == 0, checked.stderr
    assert "holds      lower-error" in checked.stdout
    assert "control first-value: fails" in checked.stdout
    (checkout / "values.txt").write_text("1\n2\n3\n4\n1000\n")
    used = run(checkout, "probatum", "use", "toy-trim", "values.txt", "--cut", "0.2", "-o", "x.txt")
    assert used.returncode == 0, used.stderr
    assert "centre: 3, of 5 numbers" in used.stdout
    assert (checkout / "x.txt").read_text() == "3.0\n"
    tested = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "tests/supervised")
    assert "1 failed, 4 passed" in tested.stdout
    assert "test_nothing_of_the_skeleton_is_left" in tested.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Toy", "--domain", "supervised"], "small letters"),
        (["toy", "--domain", "nowhere"], "no room 'nowhere'"),
        (["toy", "--domain", "stats"], "no room 'stats'"),
        (["linear-fractional", "--domain", "supervised"], "is there already"),
        (["metrics", "--domain", "supervised"], "has a module metrics"),
        (["toy", "--domain", "supervised", "--name", "2x"], "name of a class"),
        (["toy", "--domain", "supervised", "--name", "ThresholdRule"], "has a ThresholdRule"),
        (["toy", "--domain", "supervised", "--title", 'The "best"'], "a title has no"),
    ],
)
def test_what_cannot_be_written_is_said(checkout, capsys, arguments, said):
    before = sorted(checkout.rglob("*"))
    assert main(["new", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert sorted(checkout.rglob("*")) == before


def test_json(checkout, validated, capsys):
    assert main(["new", "toy", "--domain", "supervised", "--json"]) == 0
    assert validated(capsys.readouterr().out, "new")["slug"] == "toy"


def test_outside_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "toy", "--domain", "supervised"]) == 2
    assert "in no checkout" in capsys.readouterr().err
