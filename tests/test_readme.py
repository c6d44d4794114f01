"""README says what is so: its examples run, its commands exist, its table is current."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = re.findall(r"^probatum (.*?)(?:\s+#.*)?$", README, flags=re.MULTILINE)
# These take minutes; the same verbs run in tests/cli at a smaller size.
LONG = {"check linear-fractional", "check linear-fractional --profile standard --against shipped"}


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_example_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command: str, tmp_path: Path) -> None:
    words = shlex.split(command)
    if command in LONG:
        words += ["--plan"]
        words = [word for word in words if word not in ("--against", "shipped")]
    done = subprocess.run(
        [sys.executable, "-m", "probatum", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


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
