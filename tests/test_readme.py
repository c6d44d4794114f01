"""README says what is so: its examples run, its commands exist, its table is current."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from probatum import catalog
from probatum.evidence.model import resolve

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = re.findall(r"^probatum (.*?)(?:\s+#.*)?$", README, flags=re.MULTILINE)
# A listing whose first line names a file is that file.
FILES = {code.split()[1]: code for code in PYTHON if re.match(r"# \w+\.py\n", code)}
# These take minutes; the same verbs run in tests/cli at a smaller size.
LONG = {"check linear-fractional", "check linear-fractional --profile standard --against shipped"}


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_example_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() or "print(" not in code


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader of README works: with its files, and those of the tools' examples."""
    place = tmp_path_factory.mktemp("reader")
    for paper in catalog.load().papers:
        for tool in paper.tools:
            resolve(tool.make_example)(place)
    for name, code in FILES.items():
        (place / name).write_text(code, encoding="utf-8")
    subprocess.run([sys.executable, "make_table.py"], cwd=place, check=True, timeout=60)
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command: str, folder: Path) -> None:
    words = shlex.split(command)
    if command in LONG:
        words += ["--plan"]
        words = [word for word in words if word not in ("--against", "shipped")]
    done = subprocess.run(
        [sys.executable, "-m", "probatum", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_walk_through_decides_what_it_says(folder: Path) -> None:
    """One's own data and method: three questions, by the trials that README's commands ran."""
    command = next(command for command in COMMANDS if "--arm" in command)
    done = subprocess.run(
        [sys.executable, "-m", "probatum", *shlex.split(command), "--json", "--quiet"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    decisions = {d["claim"]: d for d in json.loads(done.stdout)["decisions"]}
    assert list(decisions) == [
        "no-validation",
        "no-validation+of-mine",
        "no-validation+against-mine",
    ]
    assert all(d["n"] >= 10 and d["failures"] == 0 for d in decisions.values())


def test_there_are_examples() -> None:
    assert len(PYTHON) >= 2
    assert len(COMMANDS) >= 5


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+?)\)", README)
    assert links
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_catalog_table_is_current() -> None:
    script = ROOT / "tools" / "readme_table.py"
    done = subprocess.run([sys.executable, str(script), "--check"], timeout=60)
    assert done.returncode == 0, "run `python tools/readme_table.py`"
