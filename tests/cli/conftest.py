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


@pytest.fixture(name="validated")
def _validated():
    """Check a command's output against a documented schema."""
    return validated


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
def use_catalog(monkeypatch):
    """Put the catalog of another package in place of the real one."""
    from probatum import catalog

    load = catalog.load

    def use(package, path=HERE):
        monkeypatch.syspath_prepend(str(path))
        monkeypatch.setattr(catalog, "load", lambda: load(package))

    return use


@pytest.fixture
def toy(use_catalog, monkeypatch, tmp_path):
    """The toy catalog, and an empty folder to work in."""
    from probatum.evidence import shipped_index

    use_catalog("toy_papers")
    monkeypatch.setattr(shipped_index, "SHIPPED", tmp_path / "shipped")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def toy_open(toy, use_catalog):
    """The toy catalog whose papers take a reader's data and methods, in an empty folder."""
    use_catalog("toy_open")
    return toy


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


@pytest.fixture
def toy_command(tmp_path):
    """The command that runs the command line on a toy catalog, and its environment."""

    def made(*arguments, package="toy_papers", path=HERE, **environment):
        script = [sys.executable, str(HERE / "toy_probatum.py"), package, tmp_path / "shipped"]
        surroundings = {**os.environ, "PYTHONPATH": str(path), **environment}
        return [str(word) for word in (*script, *arguments)], surroundings

    return made


@pytest.fixture
def own_process(toy_command, tmp_path):
    """Call the command line in a process of its own."""

    def call(*arguments, **settings):
        command, environment = toy_command(*arguments, **settings)
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60
        )
        assert "Traceback" not in done.stdout + done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return call
