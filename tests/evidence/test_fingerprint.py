"""Fingerprints: an edit makes exactly the trials that reach it stale."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from probatum.evidence.fingerprint import fingerprint, forget_sources, reached_modules

SOURCES = {
    "room/__init__.py": """
        from typing import TYPE_CHECKING
        from room.alpha import Alpha
        from .beta import Beta
        from .starred import *
        if TYPE_CHECKING:
            from room.delta import Delta
        __all__ = ["Alpha", "Beta", "Lazy"]
        _LATER = {"Lazy": "lazy", "Gamma": "gamma"}
        def __getattr__(name):
            import importlib
            return getattr(importlib.import_module(f"room.{_LATER[name]}"), name)
        """,
    "room/alpha.py": """
        '''Alpha.'''
        from ._shared import helper
        class Alpha:
            '''Doc.'''
            def fit(self):
                return helper() + 1
        """,
    "room/beta.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from room.gamma import Gamma
        class Beta:
            def fit(self, other: "Gamma"):
                from . import deferred
                return deferred.late()
        """,
    "room/deferred.py": "def late():\n    return 1\n",
    "room/gamma.py": "class Gamma:\n    pass\n",
    "room/delta.py": "class Delta:\n    pass\n",
    "room/lazy.py": "class Lazy:\n    pass\n",
    "room/starred.py": "class Starred:\n    pass\n",
    "room/_shared.py": "from room import ring_a\ndef helper():\n    return ring_a.go(2)\n",
    "room/ring_a.py": "from room import ring_b\ndef go(n):\n    return n and ring_b.go(n - 1)\n",
    "room/ring_b.py": "from room import ring_a\ndef go(n):\n    return n and ring_a.go(n - 1)\n",
    "books/__init__.py": "",
    "books/helpers.py": "def tidy(x):\n    return x\ndef other(x):\n    return -x\n",
    "books/paper.py": """
        import room
        import room as r
        from room import Alpha, Beta, Starred
        from books.helpers import *
        try:
            import room as attempted
        except ImportError:
            attempted = None
        LIMIT = 3
        TABLE = {}
        TABLE.update(a=1)
        def with_alpha(block):
            return Alpha().fit()
        def with_beta(block):
            return Beta().fit(None)
        def with_lazy(block):
            from room import Lazy
            return Lazy()
        def with_starred(block):
            return Starred()
        def with_module(block):
            return r.Beta()
        def with_attempt(block):
            return attempted.Beta()
        def with_whole(block):
            return vars(room)
        def with_star(block):
            return tidy(LIMIT)
        def with_table(block):
            return TABLE
        def load():
            return None
        CLAIM = "A statement."
        """,
    "single.py": "VALUE = 1\ndef trial(block):\n    return VALUE\n",
    "spaces/inner.py": "def trial(block):\n    return 1\n",
}

TRIALS = [
    *("alpha", "beta", "lazy", "starred", "module", "attempt", "whole", "star", "table"),
]


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write the sources; the function it gives replaces text in one of them."""
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_sources()

    def replaced(name: str, old: str, new: str) -> None:
        path = tmp_path / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        forget_sources()

    return replaced


def fingerprints() -> dict[str, str]:
    return {name: fingerprint([f"books.paper:with_{name}", "books.paper:load"]) for name in TRIALS}


def stale(edit: Callable[..., None], *change: str) -> set[str]:
    before = fingerprints()
    edit(*change)
    after = fingerprints()
    return {name for name in TRIALS if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "old", "new", "reach"),
    [
        ("room/alpha.py", "+ 1", "+ 2", {"alpha", "whole"}),
        ("room/beta.py", "deferred.late()", "-deferred.late()", {"beta", "module", "attempt"}),
        ("room/deferred.py", "1", "2", {"beta", "module", "attempt"}),
        ("room/lazy.py", "pass", "x = 1", {"lazy"}),
        ("room/gamma.py", "pass", "x = 1", set()),
        ("room/delta.py", "pass", "x = 1", set()),
        ("room/starred.py", "pass", "x = 1", {"starred"}),
        ("room/ring_b.py", "n - 1", "n - 2", {"alpha"}),
        ("books/helpers.py", "return x", "return +x", {"star"}),
        ("books/paper.py", "LIMIT = 3", "LIMIT = 4", {"star"}),
        ("books/paper.py", "a=1", "a=2", {"table"}),
        ("books/paper.py", "A statement.", "Another.", set()),
        ("books/paper.py", "Alpha().fit()", "-Alpha().fit()", {"alpha"}),
        ("room/__init__.py", '"Beta", "Lazy"]', '"Beta"]', set()),
        ("room/__init__.py", "from .beta import Beta", "from .beta import Beta, Beta as B", set()),
    ],
)
def test_an_edit_makes_exactly_the_trials_that_reach_it_stale(
    edit: Callable[..., None], file: str, old: str, new: str, reach: set[str]
) -> None:
    # Who takes the package as a whole (`vars(room)`) reaches all that it names.
    assert stale(edit, file, old, new) - {"whole"} == reach - {"whole"}


def test_a_whole_package_reaches_what_it_names(edit: Callable[..., None]) -> None:
    for file in ("alpha", "beta", "deferred", "lazy", "gamma", "starred", "ring_b", "_shared"):
        assert "whole" in stale(edit, f"room/{file}.py", "\n", "\nX = 1\n"), file


def test_comments_docstrings_and_layout_change_nothing(edit: Callable[..., None]) -> None:
    before = fingerprints()
    edit("room/alpha.py", "Doc.", "Another docstring.")
    edit("room/alpha.py", "'''Alpha.'''", "# a comment instead\n\n")
    edit("room/alpha.py", "return helper() + 1", "return (helper()\n                    + 1)")
    edit("room/deferred.py", "def late():", "def late():\n    '''A new docstring.'''")
    edit("books/paper.py", "LIMIT = 3", "# What it may be.\nLIMIT = 3  # three")
    assert fingerprints() == before


def test_a_new_target_of_an_import_is_seen(edit: Callable[..., None]) -> None:
    assert stale(edit, "books/paper.py", "Alpha, Beta", "Beta as Alpha, Beta") >= {"alpha"}
    assert "beta" not in stale(edit, "books/paper.py", "Beta as Alpha", "Gamma as Alpha")


def test_targets_may_name_attributes_through_packages(edit: Callable[..., None]) -> None:
    for target in ("room:beta.Beta", "books.paper:r.Beta", "room:Beta", "books:paper.Beta"):
        assert "room.deferred" in reached_modules([target]), target
        assert "room.alpha" not in reached_modules([target]), target
    assert reached_modules(["room:Lazy"]) == ["room", "room.lazy"]
    assert "room.starred" in reached_modules(["room:Starred"])


def test_modules_without_a_package_are_followed(edit: Callable[..., None]) -> None:
    for file, target in (("single.py", "single:trial"), ("spaces/inner.py", "spaces.inner:trial")):
        before = fingerprint([target])
        edit(file, "1", "2")
        assert fingerprint([target]) != before, file


def test_a_file_that_does_not_parse_is_no_obstacle(
    edit: Callable[..., None], tmp_path: Path
) -> None:
    before = fingerprint(["books.paper:with_alpha"])
    for broken in (b"def (", b"\xff\xfe", b"x = '\0'", b"# coding: nonsense\n"):
        (tmp_path / "room/alpha.py").write_bytes(broken)
        forget_sources()
        after = fingerprint(["books.paper:with_alpha"])
        assert after != before
        before = after


def test_odd_encodings_are_read(edit: Callable[..., None], tmp_path: Path) -> None:
    path = tmp_path / "single.py"
    plain = fingerprint(["single:trial"])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    forget_sources()
    assert fingerprint(["single:trial"]) == plain
    path.write_bytes(b"# coding: latin-1\nVALUE = '\xe9'\ndef trial(block):\n    return VALUE\n")
    forget_sources()
    assert fingerprint(["single:trial"]) != plain


def test_unknown_and_foreign_targets_have_a_fingerprint() -> None:
    assert reached_modules(["numpy:mean", "no_such_module:x", "json:loads"]) == []
    assert reached_modules(["probatum.evidence.run:execute"]) == []
    assert fingerprint([]) == fingerprint(["numpy:mean"])


def test_it_is_the_same_in_every_process_and_folder(
    edit: Callable[..., None], tmp_path: Path
) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from probatum.evidence.fingerprint import fingerprint\n"
        "print(fingerprint(['books.paper:with_alpha', 'books.paper:with_whole']))"
    )
    found = set()
    for seed, folder in (("0", tmp_path), ("1", tmp_path.parent), ("2", Path("/"))):
        root = os.path.relpath(tmp_path, folder) if seed == "1" else str(tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", code, root],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert not done.stderr
        found.add(done.stdout.strip())
    assert found == {fingerprint(["books.paper:with_whole", "books.paper:with_alpha"])}
