"""What code is reached: imports of every form, followed as far as they lead and no farther."""

from __future__ import annotations

import site
import textwrap
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from probatum.evidence.fingerprint import fingerprint, forget_sources, reached_modules

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write modules, by name with `/` for `.`, into a folder that is imported from."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(**modules: str) -> None:
        for name, text in modules.items():
            path = tmp_path / f"{name.replace('__dot__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        forget_sources()

    put(
        shop__dot____init__="from .till import Till\n",
        shop__dot__till="class Till:\n    pass\n",
        shop__dot__shelf="def stock():\n    return 1\n",
        shop__dot__back__dot____init__="from ..shelf import stock\nfrom .. import till\nROOM = 1\n",
        shop__dot__back__dot__yard="from ...shop import shelf\ndef load():\n    return 2\n",
    )
    return put


def reached(body: str, write: Write) -> list[str]:
    """Modules reached from ``trial`` in a module of that text, besides itself."""
    write(book=body)
    return [module for module in reached_modules(["book:trial"]) if module != "book"]


@pytest.mark.parametrize(
    ("body", "modules"),
    [
        # A dotted import binds its first name.
        ("import shop.shelf\ndef trial(b):\n    return shop.shelf.stock()", {"shop.shelf"}),
        ("import shop.shelf as s\ndef trial(b):\n    return s.stock()", {"shop.shelf"}),
        ("import shop.shelf\ndef trial(b):\n    return 1", set()),
        ("def trial(b):\n    import shop.shelf\n    return 1", {"shop.shelf"}),
        ("from shop import shelf as s\ndef trial(b):\n    return s.stock()", {"shop.shelf"}),
        ("from shop import Till as T\ndef trial(b):\n    return T()", {"shop", "shop.till"}),
        # A package of which an attribute is used, or that is handed on as such.
        ("import shop\ndef trial(b):\n    return shop.Till()", {"shop", "shop.till"}),
        ("import shop\ndef trial(b):\n    return shop.Till(), vars(shop)", {"shop", "shop.till"}),
        ("import shop\ndef trial(b):\n    return vars(shop)", {"shop", "shop.till"}),
        # A package inside a package, and what it takes from above.
        (
            "from shop import back\ndef trial(b):\n    return back.stock()",
            {"shop.back", "shop.shelf"},
        ),
        ("from shop import back\ndef trial(b):\n    return back.ROOM", {"shop.back"}),
        (
            "from shop import back\ndef trial(b):\n    return dir(back)",
            {"shop.back", "shop.shelf", "shop.till"},
        ),
        (
            "def trial(b):\n    from shop import back\n    return back.stock()",
            {"shop.back", "shop.shelf"},
        ),
        (
            "from shop.back.yard import load\ndef trial(b):\n    return load()",
            {"shop.back.yard", "shop.shelf"},
        ),
        # Neighbours count where they are used, however they are bound.
        (
            "try:\n    from shop.shelf import stock\nexcept ImportError:\n    stock = None\n"
            "def trial(b):\n    return stock()",
            {"shop.shelf"},
        ),
        (
            "from shop.shelf import stock\nTABLE = {}\nTABLE['x'] = stock\n"
            "def trial(b):\n    return TABLE",
            {"shop.shelf"},
        ),
        (
            "from shop.shelf import stock\nclass Box: pass\nBox.fill = stock\n"
            "def trial(b):\n    return Box",
            {"shop.shelf"},
        ),
        (
            "from shop.shelf import stock\nwith open('x') as f:\n    LINES = stock(f)\n"
            "def trial(b):\n    return LINES",
            {"shop.shelf"},
        ),
        (
            "from shop.shelf import stock\nasync def other():\n    return stock()\n"
            "def trial(b):\n    return other",
            {"shop.shelf"},
        ),
        (
            "import typing\ndef trial(b):\n    if typing.TYPE_CHECKING:\n"
            "        import shop.till\n    else:\n        import shop.shelf\n    return 1",
            {"shop.shelf"},
        ),
        (
            "import sys\ndef trial(b):\n    if sys.flags:\n        import shop.till\n    return 1",
            {"shop.till"},
        ),
        # Of several names in one statement those that are used.
        ("import os, shop as s\ndef trial(b):\n    return s.Till()", {"shop", "shop.till"}),
        ("from shop import back, shelf as s\ndef trial(b):\n    return s.stock()", {"shop.shelf"}),
        (
            "from shop.shelf import stock\nif stock:\n    def other():\n        return 1\n"
            "else:\n    class other: pass\ndef trial(b):\n    return other",
            {"shop.shelf"},
        ),
        ("from shop.shelf import stock\ndef other():\n    return stock()\ndef trial(b): 1", set()),
        # What only a type checker sees is not run, its other branch is.
        (
            "from typing import TYPE_CHECKING\ndef trial(b):\n    if TYPE_CHECKING:\n"
            "        import shop.till\n    else:\n        import shop.shelf\n    return 1",
            {"shop.shelf"},
        ),
    ],
)
def test_imports_of_every_form_are_followed(body: str, modules: set[str], write: Write) -> None:
    assert set(reached(body, write)) == modules


def test_a_package_handed_on_reaches_what_its_attributes_alone_do_not(write: Write) -> None:
    write(shop__dot____init__="from .till import Till\nfrom .shelf import stock\n")
    used = "import shop as s\ndef trial(b):\n    return s.Till()"
    assert "shop.shelf" not in reached(used, write)
    for more in ("vars(s)", "dict(x=s)", "[s]"):
        body = f"import shop as s\ndef trial(b):\n    return s.Till(), {more}"
        assert "shop.shelf" in reached(body, write), more


def test_starred_imports_are_followed_past_foreign_ones_and_in_circles(write: Write) -> None:
    write(
        left="from right import *\ndef mine():\n    return 1\n",
        right="from left import *\ndef yours():\n    return 2\n",
        far="from os.path import *\nfrom left import *\n",
    )
    body = (
        "from os.path import *\nfrom math import *\nfrom far import *\ndef trial(b):\n    return "
    )
    assert set(reached(body + "yours()", write)) == {"far", "left", "right"}
    assert "left" in reached(body + "mine()", write)
    assert reached(body + "nowhere()", write) == []
    # A module that counts whole takes all that its star names.
    write(whole="from shop.shelf import *\ndef go():\n    return stock()\n")
    assert set(reached("from whole import go\ndef trial(b):\n    return go()", write)) == {
        "whole",
        "shop.shelf",
    }


def test_tables_of_lazy_names_say_which_module_is_meant(write: Write) -> None:
    write(
        lazy__dot____init__="""
            NAMES = {"One": "one", "Two": ".two", "Three": "lazy.three:Three", "Four": "four Four"}
            def __getattr__(name):
                return NAMES[name]
            """,
        lazy__dot__one="class One: pass",
        lazy__dot__two="class Two: pass",
        lazy__dot__three="class Three: pass",
        lazy__dot__four="class Four: pass",
    )
    for name in ("One", "Two", "Four"):
        body = f"from lazy import {name}\ndef trial(b):\n    return {name}()"
        assert set(reached(body, write)) == {"lazy", f"lazy.{name.lower()}"}, name
    for whole in (
        "import lazy\ndef trial(b):\n    return vars(lazy)",
        "import lazy as z\ntrial = z",
    ):
        assert {"lazy.one", "lazy.two", "lazy.four"} <= set(reached(whole, write)), whole
    other = "from lazy import Other\ndef trial(b):\n    return Other()"
    assert {"lazy.one", "lazy.two", "lazy.four"} <= set(reached(other, write))


def test_words_in_a_package_that_are_no_modules_name_none(write: Write) -> None:
    write(
        odd__dot____init__="WORDS = ['one/', 'one two', '/one', 'o-ne', '..one', 'odd', '']\n",
        odd__dot__one="X = 1",
        odd__dot__two="X = 1",
    )
    assert set(reached("import odd\ndef trial(b):\n    return odd", write)) == {"odd", "odd.one"}
    write(odd__dot____init__="WORDS = ['one/', '/one', 'o-ne', 'odd', '']\n")
    assert reached("import odd\ndef trial(b):\n    return odd", write) == ["odd"]


def test_targets_name_definitions_and_attributes_of_them(write: Write) -> None:
    write(
        book="import shop\nfrom shop.shelf import stock\nclass Trial:\n    run = stock\n"
        "def trial(b):\n    return 1\nS = shop\n"
    )
    assert reached_modules(["book:Trial.run"]) == ["book", "shop.shelf"]
    assert reached_modules(["book:trial"]) == ["book"]
    assert reached_modules(["book:shop.Till"]) == ["book", "shop", "shop.till"]
    assert reached_modules(["shop:back.yard.load"]) == ["shop.back.yard"]
    assert reached_modules(["shop.back:ROOM"]) == ["shop.back"]
    assert reached_modules(["book:trial", "shop:Till"]) == ["book", "shop", "shop.till"]


def test_what_is_installed_is_not_followed(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "from shop.shelf import stock\ndef trial(b):\n    return stock()"
    assert reached(body, write) == ["shop.shelf"]
    for name, places in (("getsitepackages", [str(tmp_path)]), ("getusersitepackages", None)):
        with monkeypatch.context() as patched:
            patched.setattr(site, name, lambda places=places: places or str(tmp_path))
            assert reached(body, write) == []
    forget_sources()


def test_our_own_code_is_followed_and_what_is_compiled_is_not(write: Write, tmp_path: Path) -> None:
    assert "probatum.stats.beta_binomial" in reached_modules(["probatum.stats:rate_interval"])
    (tmp_path / f"built{EXTENSION_SUFFIXES[0]}").write_bytes(b"not a library")
    body = "from built import go\ndef trial(b):\n    return go()"
    assert reached(body, write) == []
    assert reached_modules(["sys:exit", "no_such_module:x", "built:go"]) == []


def test_order_and_repetition_of_targets_do_not_matter(write: Write) -> None:
    targets = ["shop:Till", "shop.shelf:stock"]
    assert fingerprint(targets) == fingerprint(targets[::-1]) == fingerprint([*targets, *targets])
    assert fingerprint(targets[:1]) != fingerprint(targets[1:])


def test_fingerprints_of_the_same_code_are_the_same_in_later_versions(write: Write) -> None:
    """Literal fingerprints: when this fails, all evidence there is counts as stale."""
    write(
        book='''
            """A book."""
            from __future__ import annotations
            import shop
            from shop.shelf import stock as s
            LIMIT: int = 3  # at most
            class Reader(dict):
                """Reads."""
                pages: list[str] = []
                def read(self, *, n=1, **more):
                    """Read."""
                    return [p for p in self.pages if p and n > -LIMIT] or s() @ more["x"][1:2]
            async def trial(block):
                with open("x") as f:
                    yield f"{Reader()}" % (lambda x: not x)(f), shop.Till, b"y", 1j, ...
            '''
    )
    assert fingerprint(["book:trial"]) == "f3a584c830a033b3"
    assert fingerprint(["shop.back.yard:load", "shop:Till"]) == "d4b9457811bc42b2"


def test_a_change_of_any_kind_is_seen(write: Write) -> None:
    seen = set()
    for text in (
        "return x + 1",
        "return x - 1",
        "return x + 2",
        "return x + 1.0",
        "return x + True",
        "return y + 1",
        "return x + '1'",
        "return x + b'1'",
        "yield x + 1",
        "return [x, 1]",
        "return (x, 1)",
        "return {x, 1}",
        "return not x",
        "return None",
        "return",
        "pass",
        "return 'None'",
        "'A docstring.'\n    return 3",
    ):
        write(book=f"def trial(x, y=1):\n    {text}\n")
        seen.add(fingerprint(["book:trial"]))
    assert len(seen) == 18
