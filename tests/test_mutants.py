"""The mutation tool: what it changes, what it leaves alone, and that its reasons are of changes."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"
SOURCE = '''
"""Nothing is changed in words."""

LIMIT: int = 3


class Box:
    """A box."""

    def full(self, n: int | None, *, strict: bool = False) -> bool:
        """Whether it is."""
        assert n is not None
        if n < 0 or self.broken:
            raise ValueError(f"n must be at least {0}")
        self.note(n)
        return not strict and min(n, 2) + 1 >= LIMIT


def pairs(a, b):
    for x, y in zip(a, b, strict=True):
        if x in y:
            continue
        yield x if x else isinstance(y, int | float)
'''
CHANGES = [
    "(module): LIMIT: int = 3 -> LIMIT: int = 4",
    "(module): LIMIT: int = 3 -> LIMIT: int = 2",
    "Box.full: n < 0 -> n <= 0",
    "Box.full: n < 0 -> n < -1",
    "Box.full: n < 0 -> n < 1",
    "Box.full: n < 0 or self.broken -> n < 0 and self.broken",
    "Box.full: raise ValueError(f'n must be at least {0}') -> (left out)",
    "Box.full: self.note(n) -> (left out)",
    "Box.full: return not strict and min(n, 2) + 1 >= LIMIT -> return None",
    "Box.full: not strict and min(n, 2) + 1 >= LIMIT -> not strict or min(n, 2) + 1 >= LIMIT",
    "Box.full: not strict and min(n, 2) + 1 >= LIMIT -> strict and min(n, 2) + 1 >= LIMIT",
    "Box.full: min(n, 2) + 1 >= LIMIT -> min(n, 2) + 1 > LIMIT",
    "Box.full: min(n, 2) + 1 -> min(n, 2) - 1",
    "Box.full: min(n, 2) + 1 -> min(n, 2) + 2",
    "Box.full: min(n, 2) + 1 -> min(n, 2) + 0",
    "Box.full: min(n, 2) -> max(n, 2)",
    "Box.full: min(n, 2) -> min(n, 3)",
    "Box.full: min(n, 2) -> min(n, 1)",
    "Box.full: False -> True",
    "pairs: x in y -> x not in y",
    "pairs: continue -> break",
    "pairs: x if x else isinstance(y, int | float) -> x if not x else isinstance(y, int | float)",
]


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("mutants", TOOLS / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "room.py"
    path.write_text(SOURCE)
    return path


def test_each_change_is_made_once_and_words_are_left_alone(tool: Any, file: Path) -> None:
    found = [mutant.key.removeprefix("room:") for mutant in tool.mutants_of("room", file)]
    assert sorted(found) == sorted(CHANGES)


def test_a_mutant_is_the_module_with_one_change(tool: Any, file: Path) -> None:
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in tool.mutants_of("room", file):
        tree = tool.mutated(mutant, file)
        compile(tree, "room.py", "exec")
        other = ast.unparse(tree).splitlines()
        assert sum(a != b for a, b in zip(plain, other, strict=True)) == 1, mutant.key


def test_names_of_mutants_do_not_depend_on_where_the_lines_are(tool: Any, file: Path) -> None:
    before = tool.mutants_of("room", file)
    file.write_text(
        "# A comment.\n\n" + SOURCE.replace("    assert", "    # Sure.\n        assert")
    )
    after = tool.mutants_of("room", file)
    assert [mutant.key for mutant in before] == [mutant.key for mutant in after]
    assert [mutant.line for mutant in before] != [mutant.line for mutant in after]
    assert len({mutant.key for mutant in before}) == len(before)


def test_every_reason_is_of_a_change_that_the_tool_makes(tool: Any) -> None:
    groups = json.loads((TOOLS / "mutation_reasons.json").read_text(encoding="utf-8"))
    keys = [key for group in groups for key in group["mutants"]]
    assert len(keys) == len(set(keys))
    there = set()
    for module in {key.split(":")[0] for key in keys}:
        path = ROOT.joinpath("src", *module.split(".")).with_suffix(".py")
        there |= {mutant.key for mutant in tool.mutants_of(module, path)}
    assert set(keys) <= there
    for group in groups:
        assert group["kind"] in ("equivalent", "harmless", "open")
        assert len(group["why"]) > 20
