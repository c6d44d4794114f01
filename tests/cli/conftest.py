"""The command line on a toy catalog, in this process or in one of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parent.parent / "docs" / "schemas"


def validated(text, schema):
    """The object in a command's output, checked against a documented schema."""
    found = json.loads(text)
    jsonschema.validate(
        found,
        json.loads((SCHEMAS / f"{schema}.json").read_text()),
        cls=jsonschema.Draft202012Validator,
    )
    return found


@dataclass
class Ran:
    """What a command left."""

    code: int
    out: str
    err: str

    def object(self, schema):
        """Its JSON object."""
        return validated(self.out, schema)


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """The toy catalog in place of the real one, and an empty folder to work in."""
    from probatum import catalog
    from probatum.evidence import shipped_index

    load = catalog.load
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setattr(catalog, "load", lambda: load("toy_papers"))
    monkeypatch.setattr(shipped_index, "SHIPPED", tmp_path / "shipped")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def probatum(toy, capfd):
    """Call the command line in this process."""

    def call(*arguments):
        from probatum.cli import main

        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Ran(code, out, err)

    return call


def toy_command(package, shipped, *arguments):
    """A command that runs the command line on a toy catalog."""
    script = [sys.executable, str(HERE / "toy_probatum.py"), package, str(shipped)]
    return [*script, *map(str, arguments)]


@pytest.fixture
def own_process(tmp_path):
    """Call the command line in a process of its own."""

    def call(*arguments, package="toy_papers", path=HERE, **environment):
        done = subprocess.run(
            toy_command(package, tmp_path / "shipped", *arguments),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(path), **environment},
            timeout=60,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return call
