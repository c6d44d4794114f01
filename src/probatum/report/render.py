"""Pages from templates. Everything that comes from outside a template is escaped."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from probatum import __version__
from probatum.evidence.words import duration
from probatum.report.reference import inline
from probatum.report.wording import number

__all__ = ["ASSETS", "page", "script_of"]

HERE = Path(__file__).resolve().parent
ASSETS = HERE / "assets"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'"
)
MARKS = {"holds": "✓", "fails": "✗", "undecided": "?", "untested": "○"}
PLURAL = {"holds": "hold", "fails": "fail", "undecided": "undecided", "untested": "untested"}
NAVIGATION = (
    ("Catalog", "index.html"),
    ("Verdicts", "verdicts.html"),
    ("Evidence", "evidence.html"),
    ("Yours", "own.html"),
)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(inline=inline, number=number, duration=duration)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.globals.update(
        csp=CSP, marks=MARKS, plural=PLURAL, version=__version__, navigation=NAVIGATION
    )
    return environment


def page(template: str, here: str, **content: Any) -> str:
    """A page; ``here`` is its path below the site's folder."""
    root = "../" * here.count("/")
    return _environment().get_template(template).render(root=root, here=here, **content)


def script_of(name: str, value: Any) -> str:
    """A script that puts a plain value where other scripts find it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return f"globalThis.{name}={text};\n"
