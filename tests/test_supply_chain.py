"""What could run code that came with data, and what the distributions hold."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "probatum"
TOOL = ROOT / "tools" / "build_twice.py"

# --- nothing that a user hands in is unpickled or evaluated ------------------------------------

ALLOWED = {
    ("evidence/executors.py", "pickle.loads"): "what a worker process of ours sent over our pipe",
    ("evidence/worker.py", "pickle.loads"): "what the engine sent to its worker over its own pipe",
    # Ray knows no users: whoever reaches a cluster (and has its token, if it asks for one) can run
    # code on it, with or without these two. docs/cluster.md says so.
    ("evidence/cluster.py", "pickle.loads"): "what a node sent to the run that it works for",
    ("evidence/node.py", "pickle.loads"): "what the run sent to its node, both of one Ray session",
}
UNPICKLERS = ("pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib")
LOADERS = {
    **dict.fromkeys(UNPICKLERS, ("load", "loads", "Unpickler", "open")),
    "torch": ("load",),
    "yaml": ("load", "load_all", "full_load", "unsafe_load"),
    "pandas": ("read_pickle", "read_hdf", "eval"),
    "ray": ("loads",),
    "numpy": ("load",),
}
ALIASES = {"np": "numpy", "pd": "pandas"}
BUILTINS = ("eval", "exec", "compile", "__import__")


def _named(tree: ast.AST) -> tuple[dict[str, str], dict[str, str]]:
    """Modules by the name they have here, and functions of them by theirs."""
    modules, functions = dict(ALIASES), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name.partition(".")[0]] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                functions[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return modules, functions


def _dangerous(full: str, call: ast.Call | None) -> bool:
    module, _, name = full.rpartition(".")
    if name not in LOADERS.get(module.partition(".")[0], ()):
        return False
    if module != "numpy":
        return True
    # NumPy unpickles only where it is told to.
    keywords = {keyword.arg: keyword.value for keyword in call.keywords} if call else {}
    allowed = keywords.get("allow_pickle", ast.Constant(value=None in keywords))
    return not isinstance(allowed, ast.Constant) or bool(allowed.value)


def unsafe(source: str) -> Iterator[str]:
    """Whatever in a module reads a format that can carry code, or runs text as code."""
    tree = ast.parse(source)
    modules, functions = _named(tree)
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        full = ""
        if isinstance(node, ast.Attribute):
            parts = ast.unparse(node).split(".")
            full = ".".join([modules.get(parts[0], functions.get(parts[0], "")), *parts[1:]])
        elif isinstance(node, ast.Name):
            full = functions.get(node.id, "")
            if node.id in BUILTINS and isinstance(node.ctx, ast.Load):
                yield node.id
        if full and _dangerous(full, calls.get(id(node))):
            yield full


def test_what_a_user_hands_in_is_never_unpickled_or_evaluated() -> None:
    found = {
        (str(path.relative_to(PACKAGE)), what)
        for path in PACKAGE.rglob("*.py")
        for what in unsafe(path.read_text(encoding="utf-8"))
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle\npickle.load(f)", ["pickle.load"]),
        ("import pickle as p\nread = p.loads", ["pickle.loads"]),
        ("from pickle import loads as read\nread(b)", ["pickle.loads"]),
        ("from pickle import Unpickler\nclass U(Unpickler): ...", ["pickle.Unpickler"]),
        (
            "import marshal, shelve\nmarshal.loads(b)\nshelve.open(f)",
            ["marshal.loads", "shelve.open"],
        ),
        ("import joblib\njoblib.load(f)", ["joblib.load"]),
        ("import torch\ntorch.load(f, weights_only=False)", ["torch.load"]),
        ("import yaml\nyaml.load(t)\nyaml.safe_load(t)", ["yaml.load"]),
        ("from ray import cloudpickle\ncloudpickle.loads(b)", ["ray.cloudpickle.loads"]),
        ("import pandas as pd\npd.read_pickle(f)", ["pandas.read_pickle"]),
        ("np.load(f)\nnp.load(f, allow_pickle=False)", []),
        ("np.load(f, allow_pickle=True)", ["numpy.load"]),
        ("np.load(f, allow_pickle=trusted)", ["numpy.load"]),
        ("np.load(f, **options)", ["numpy.load"]),
        ("eval(t)\nexec(t)\nframe.eval", ["eval", "exec"]),
        ("import json, pickle\njson.loads(t)\npickle.dumps(o)", []),
    ],
)
def test_the_search_finds_what_it_is_for(source: str, found: list[str]) -> None:
    assert sorted(unsafe(source)) == sorted(found)


# --- the distributions -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and source distribution, built twice on machines that differ."""
    if importlib.util.find_spec("hatchling") is None:
        if os.environ.get("PROBATUM_REQUIRE_DATA") == "1":
            pytest.fail("distributions must be built here, but hatchling is not installed")
        pytest.skip("hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(TOOL), "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_holds_the_package_and_nothing_else(dist: Path) -> None:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    about = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    package = {
        str(path.relative_to(PACKAGE.parent))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names - about == package
    for folder in ("templates", "assets", "text"):
        assert any(name.startswith(f"probatum/report/{folder}/") for name in names)
    assert {name.partition("/")[2] for name in about} >= {
        "METADATA",
        "entry_points.txt",
        "licenses/LICENSE",
        "licenses/src/probatum/data/tables/LICENSES.md",
        "licenses/src/probatum/report/assets/vega.LICENSES.md",
    }


def test_the_source_distribution_can_be_tested_and_holds_nothing_that_was_made(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "pyproject.toml", "tests/test_supply_chain.py"} <= names
    made = (".venv", ".probatum", "__pycache__", ".hypothesis", "dist", "build", "site")
    assert not {name for name in names if set(Path(name).parts) & set(made)}
