"""The public interface of methods, read from their sources without importing them.

So a page can show signatures of methods whose extras are not installed.
"""

from __future__ import annotations

import inspect
import logging
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import griffe
from markupsafe import Markup, escape

__all__ = ["Member", "Parameter", "Reference", "describe", "inline"]

# What the parser finds missing in a docstring is for whoever writes it, not for who reads a page.
logging.getLogger("griffe").setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class Parameter:
    """A parameter, or something returned or raised: its name, type and meaning."""

    name: str
    type: str
    text: str


@dataclass(frozen=True)
class Member:
    """A public method or property of a class."""

    signature: str
    summary: str


@dataclass(frozen=True)
class Reference:
    """One public name.

    ``example`` is what its docstring shows and the tests run; empty where there is none.
    """

    target: str
    module: str
    name: str
    kind: str
    signature: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    returns: tuple[Parameter, ...] = ()
    raises: tuple[Parameter, ...] = ()
    members: tuple[Member, ...] = ()
    example: str = ""
    problem: str = ""

    @property
    def imported(self) -> str:
        """The line that imports it."""
        return f"from {self.module} import {self.name}"


@cache
def _loader() -> griffe.GriffeLoader:
    return griffe.GriffeLoader(docstring_parser="numpy", allow_inspection=False)


def describe(target: str) -> Reference:
    """Describe what ``module:attribute`` names; ``problem`` says why where it can't be read.

    Examples
    --------
    >>> found = describe("probatum.sequential:oracle_weights")
    >>> found.imported
    'from probatum.sequential import oracle_weights'
    """
    module, _, name = target.partition(":")
    blank = Reference(target, module, name, "", "", "")
    try:
        loaded = _loader().modules_collection.get_member(module)
    except KeyError:
        try:
            loaded = _loader().load(module)
        except Exception as error:
            return _unread(blank, error)
    try:
        found: Any = loaded[name]
        return _described(blank, found.final_target if found.is_alias else found)
    except Exception as error:
        return _unread(blank, error)


def _unread(blank: Reference, error: Exception) -> Reference:
    said = f"its source can't be read ({type(error).__name__})"
    return Reference(blank.target, blank.module, blank.name, "", "", "", problem=said)


def _described(blank: Reference, found: Any) -> Reference:
    sections = found.docstring.parsed if found.docstring else []
    parts: dict[str, Any] = {}
    for section in sections:
        parts.setdefault(section.kind.value, section.value)
    return Reference(
        target=blank.target,
        module=blank.module,
        name=blank.name,
        kind=found.kind.value,
        signature=_signature(found, blank.name),
        summary=_first_paragraph(parts.get("text", "")),
        parameters=_parameters(parts.get("parameters", ())),
        returns=_parameters(parts.get("returns", ())),
        raises=_parameters(parts.get("raises", ())),
        members=tuple(_members(found)) if found.is_class else (),
        example=_example(parts.get("examples", ())),
    )


def _signature(found: Any, name: str) -> str:
    if not (found.is_function or found.is_class):
        return name
    if found.is_class and found.parameters == griffe.Parameters():
        return f"{name}()"
    text = found.signature(return_type=True)
    # A method is called on an object: self says nothing.
    return re.sub(r"\(self(, )?", "(", name + text[text.index("(") :], count=1)


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())


def _parameters(items: Any) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            str(getattr(item, "name", "") or ""),
            str(item.annotation) if item.annotation is not None else "",
            _first_paragraph(item.description),
        )
        for item in items
    )


def _members(found: Any) -> list[Member]:
    members = {**found.inherited_members, **found.members}
    shown = []
    for name, member in members.items():
        own = member.final_target if member.is_alias else member
        if name.startswith("_") or not (own.is_function or "property" in own.labels):
            continue
        text = _first_paragraph(inspect.cleandoc(own.docstring.value)) if own.docstring else ""
        signature = name if "property" in own.labels else _signature(own, name)
        shown.append(Member(signature, text))
    return shown


def _example(blocks: Any) -> str:
    """What a docstring shows, without the prompts: it can be pasted and run."""
    lines = [
        line for kind, text in blocks if kind.value == "examples" for line in text.splitlines()
    ]
    shown = []
    for line in lines:
        if line.startswith((">>> ", "... ")):
            shown.append(line[4:])
        elif line.rstrip() in (">>>", "..."):
            shown.append("")
        elif line:
            shown.append(f"# {line}")
    return "\n".join(shown)


_ROLE = re.compile(r":[a-z:]+:`~?([^`]+)`")
_LITERAL = re.compile(r"``?([^`]+)``?")


def inline(text: str) -> Markup:
    """Text of a docstring, its literals and references set as code.

    Examples
    --------
    >>> inline("a :class:`Policy` of ``n_arms`` < 9")
    Markup('a <code>Policy</code> of <code>n_arms</code> &lt; 9')
    """
    escaped = _ROLE.sub(r"``\1``", str(escape(text)))
    marked = _LITERAL.sub(r"<code>\1</code>", escaped)
    return Markup(marked)  # nosec B704
