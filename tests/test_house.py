"""The house: every room is in the import contract, and files keep their size."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "probatum"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
FILES = sorted(PACKAGE.rglob("*.py"))
# The engine and the doors stand apart from the layers; evidence that is shipped is no code.
NO_LAYER = {"evidence", "data", "shipped", "report"}


def test_every_room_is_in_the_import_contract():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - NO_LAYER
    layers = {
        name.strip().removeprefix("probatum.")
        for layer in CONTRACTS[0]["layers"]
        for name in layer.replace("|", ":").split(":")
    }
    assert rooms <= layers
    domains = rooms - {"cli", "catalog"}
    knows_no_claims = next(c for c in CONTRACTS if c["name"] == "domains know nothing of claims")
    assert {f"probatum.{room}" for room in domains} <= set(knows_no_claims["source_modules"])
    no_domain = next(c for c in CONTRACTS if c["name"].startswith("evidence knows"))
    kernels = {"stats"}
    assert {f"probatum.{room}" for room in domains - kernels} <= set(no_domain["forbidden_modules"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    assert path.stem not in ("utils", "helpers", "common")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = len((ast.get_docstring(node, clean=False) or "").splitlines())
            signature = node.body[0].lineno - node.lineno
            body = (node.end_lineno or 0) - node.lineno - docstring - signature
            assert body <= 65, f"{node.name} has {body} lines"
