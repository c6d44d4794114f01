"""How names in a catalog are written, and one-line errors for those that are not."""

from __future__ import annotations

import re

__all__ = ["check_slug", "check_target", "check_unique", "one_of"]

_SLUG = re.compile(r"[a-z0-9]+([._+-][a-z0-9]+)*", re.IGNORECASE)
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def one_of(what: str, value: object, accepted: tuple[str, ...]) -> None:
    """ValueError unless the value is one of those accepted."""
    if value not in accepted:
        raise ValueError(f"{what} must be one of {', '.join(accepted)}, got {value!r}")


def check_slug(what: str, value: str) -> None:
    """ValueError unless the value can stand in a file name and on a command line."""
    if not _SLUG.fullmatch(value):
        raise ValueError(f"{what} must be letters, digits and single -_.+ between, got {value!r}")


def check_target(what: str, value: str) -> None:
    """ValueError unless the value reads ``module:attribute``."""
    if not _TARGET.fullmatch(value):
        raise ValueError(f"{what} must read 'module:attribute', got {value!r}")


def check_unique(what: str, ids: list[str]) -> None:
    """ValueError naming the ids that occur twice."""
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise ValueError(f"{what} must be unique, {', '.join(twice)} occurs twice")
