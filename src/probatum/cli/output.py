"""What is printed: JSON and tables on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from probatum.catalog import Catalog
from probatum.evidence import Decision

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "STYLES",
    "broken_modules",
    "console",
    "counted",
    "decision_line",
    "effect_text",
    "print_json",
    "verdict_text",
    "warn",
    "warn_broken",
]

STYLES = {"holds": "green", "fails": "red", "undecided": "yellow", "untested": "dim"}


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; numbers that JSON has no word for become null."""
    print(json.dumps(_finite(value), indent=2, allow_nan=False), flush=True)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is: titles and messages are no markup."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def warn(message: str) -> None:
    """One line on standard error."""
    with contextlib.suppress(OSError):
        print(f"probatum: {' '.join(message.split())}", file=sys.stderr, flush=True)


def counted(number: int, what: str) -> str:
    """A number of things; what is counted is named in the singular.

    Examples
    --------
    >>> counted(1, "paper"), counted(2, "paper")
    ('1 paper', '2 papers')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def broken_modules(catalog: Catalog) -> list[dict[str, str]]:
    """Catalog modules that can't be read, and why."""
    return [{"module": module, "error": error} for module, error in catalog.broken.items()]


def warn_broken(catalog: Catalog) -> None:
    """Name the catalog modules that can't be read."""
    for module, error in catalog.broken.items():
        warn(f"catalog module {module} can't be read: {error}")


def verdict_text(verdict: str) -> Text:
    """A verdict in its colour."""
    from rich.text import Text

    return Text(verdict, style=STYLES.get(verdict, ""))


def effect_text(decision: Decision) -> tuple[str, str]:
    """Effect and interval; an edge at infinity is left open, nothing measured is empty."""
    if decision.effect is None:
        return "", ""
    if decision.low is None and decision.high is None:
        return f"{decision.effect:.3g}", "(no interval yet)"
    if decision.low == decision.high:
        return f"{decision.effect:.3g}", ""
    low = "-inf" if decision.low is None else f"{decision.low:.3g}"
    high = "inf" if decision.high is None else f"{decision.high:.3g}"
    return f"{decision.effect:.3g}", f"[{low}, {high}]"


def decision_line(decision: Decision) -> str:
    """A decision in one line."""
    effect, interval = effect_text(decision)
    said: Iterable[str] = (
        f"effect {effect} {interval}".rstrip() if effect else "",
        f"n = {counted(decision.n, decision.unit.removesuffix('s'))}" if decision.n else "",
        decision.reason,
    )
    tail = ", ".join(part for part in said if part)
    line = f"{decision.paper}/{decision.claim}: {decision.verdict}"
    return f"{line} ({tail})" if tail else line
