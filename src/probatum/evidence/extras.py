"""Optional installs: which are there, and the line that brings what is missing."""

from __future__ import annotations

import re

__all__ = ["extras", "install_line", "missing_distributions"]

_MARKER = re.compile(r"extra\s*==\s*['\"]([\w.-]+)['\"]")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def extras() -> dict[str, list[str]]:
    """Distributions that each extra of the installed package asks for."""
    # Takes a tenth of the time that listing the catalog may take.
    from importlib import metadata

    found: dict[str, list[str]] = {}
    try:
        about = metadata.metadata("probatum")
    except metadata.PackageNotFoundError:
        return found
    for name in about.get_all("Provides-Extra") or []:
        found[name] = []
    for requirement in metadata.requires("probatum") or []:
        marker = _MARKER.search(requirement)
        name = _NAME.match(requirement)
        if marker and name:
            found.setdefault(marker.group(1), []).append(name.group())
    return found


def missing_distributions(extra: str) -> list[str]:
    """Distributions of an extra that are not installed."""
    from importlib import metadata

    lost = []
    for name in extras().get(extra, []):
        if name == "probatum":
            continue
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            lost.append(name)
    return lost


def install_line(*names: str) -> str:
    """The command that installs extras.

    Examples
    --------
    >>> install_line("supervised")
    "pip install 'probatum[supervised]'"
    """
    return f"pip install 'probatum[{','.join(names)}]'"
