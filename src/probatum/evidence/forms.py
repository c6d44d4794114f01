"""What values that come from a file or a database must look like before they are believed.

A form is a predicate, a list of one form (a list of such values), or a mapping of forms by field.
A field whose name begins with ``?`` may be missing, ``*`` stands for every name; other fields are
left alone, so that newer versions may write more.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, get_args

from probatum.evidence.model import Guarantee, Row, Verdict
from probatum.evidence.trial import STATUSES

__all__ = [
    "ENVIRONMENT",
    "Form",
    "INDEX",
    "SIDECAR",
    "misfit",
    "moment",
    "number",
    "record_misfit",
    "row_misfit",
    "text",
    "whole",
]

Form: TypeAlias = "Callable[[Any], bool] | list[Any] | Mapping[str, Any]"

LATEST = datetime.datetime(9999, 1, 1, tzinfo=datetime.UTC).timestamp()
MOST = 2**53
"""Above it not every whole number is a float."""


def text(value: Any) -> bool:
    """Whether it is a text."""
    return isinstance(value, str)


def number(value: Any) -> bool:
    """Whether it is a finite number.

    Examples
    --------
    >>> number(0.5), number(True), number(float("inf")), number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= MOST if isinstance(value, int) else math.isfinite(value)


def whole(value: Any) -> bool:
    """Whether it is a whole number, not negative and not beyond counting."""
    return number(value) and isinstance(value, int) and value >= 0


def moment(value: Any) -> bool:
    """Whether it is a time in seconds since 1970, in a year of four digits."""
    return number(value) and 0 <= value < LATEST


def _or_nothing(form: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or form(value)


def _positive(value: Any) -> bool:
    return whole(value) and value > 0


def _day(value: Any) -> bool:
    try:
        return text(value) and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def _days(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_day, value))


def _ends(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(number, value))


def _anything(_: Any) -> bool:
    return True


def _verdict(value: Any) -> bool:
    return value in get_args(Verdict)


def _guarantee(value: Any) -> bool:
    return value in get_args(Guarantee)


ENVIRONMENT: Form = {
    "?host": text,
    "?system": text,
    "?cores": number,
    "?memory_gb": number,
    "versions": {"*": text},
}
SIDECAR: Form = {
    "*": {
        "?replicates": _positive,
        "?size": {"*": _anything},
        "?threads": number,
        "?measured": _days,
        "?environments": [ENVIRONMENT],
        "?cells": {"*": {"key": text, "fingerprint": text, "seconds": number, "peak_mb": number}},
    }
}
_NUMBERS: Mapping[str, Any] = {
    "?effect": _or_nothing(number),
    "?low": _or_nothing(number),
    "?high": _or_nothing(number),
    "?more_needed": _or_nothing(whole),
    "?n": whole,
    "?reason": text,
    "?guarantee": _guarantee,
    "verdict": _verdict,
}
INDEX: Form = {
    "*": {
        "*": {
            **_NUMBERS,
            **dict.fromkeys(("?paper", "?claim", "?scope", "?fidelity", "?unit"), text),
            "?level": number,
            "?failures": whole,
            "?exceptions": [text],
            "?parts": [
                {**_NUMBERS, "?label": text, "?replicates": whole, "?exact": _or_nothing(_ends)}
            ],
        }
    }
}


def misfit(value: Any, form: Form, at: str = "") -> str:
    """Where a value does not have its form: names and numbers with dots between; empty if it has.

    Examples
    --------
    >>> misfit({"a": {"seconds": "soon"}}, {"*": {"seconds": number}})
    'a.seconds'
    >>> misfit([1, None], [number]), misfit([], {"*": text}, "cells"), misfit([1, 2], [number])
    ('1', 'cells', '')
    """
    if callable(form):
        return "" if form(value) else at or "all of it"
    wanted = list if isinstance(form, list) else dict
    if not isinstance(value, wanted):
        return at or "all of it"
    for name, entry, inner in _entries(value, form):
        where = f"{at}.{name}" if at else name
        if entry is _MISSING:
            return where
        if found := misfit(entry, inner, where):
            return found
    return ""


_MISSING = object()


def _entries(value: Any, form: Form) -> Iterator[tuple[str, Any, Form]]:
    """Names, values and forms of what a value consists of."""
    if isinstance(form, list):
        yield from ((str(at), entry, form[0]) for at, entry in enumerate(value))
        return
    assert isinstance(form, Mapping)
    for name, inner in form.items():
        if name == "*":
            yield from ((str(key), entry, inner) for key, entry in value.items())
        elif not name.startswith("?"):
            yield name, value.get(name, _MISSING), inner
        elif name[1:] in value:
            yield name[1:], value[name[1:]], inner


_RECORD: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        (
            *("key", "paper", "experiment", "arm", "dataset", "fingerprint"),
            *("message", "traceback", "environment"),
        ),
        text,
    ),
    **dict.fromkeys(("replicate", "attempt"), whole),
    **dict.fromkeys(("seconds", "limit_seconds", "limit_gb"), number),
    "peak_mb": _or_nothing(number),
    "started": moment,
    "status": lambda value: value in STATUSES,
    "size": lambda value: isinstance(value, dict),
}


def record_misfit(fields: Mapping[str, Any]) -> str:
    """The first field of a stored trial, its rows aside, that does not have its form."""
    return next((name for name, form in _RECORD.items() if not form(fields[name])), "")


def row_misfit(row: Row) -> str:
    """The first field of a stored row that does not have its form.

    Examples
    --------
    >>> row_misfit(Row("a", values={"score": 0.5}, counts={"hit": (1, 2)}))
    ''
    >>> row_misfit(Row("a", counts={"hit": (3, 2)})), row_misfit(Row("a", x="far"))
    ('counts', 'x')
    """
    for name in ("arm", "case", "failed"):
        if not isinstance(getattr(row, name), str):
            return name
    if row.x is not None and not number(row.x):
        return "x"
    if not isinstance(row.values, dict) or not all(map(number, row.values.values())):
        return "values"
    if not all(whole(k) and whole(n) and k <= n for k, n in row.counts.values()):
        return "counts"
    return ""
