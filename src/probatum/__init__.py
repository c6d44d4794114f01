"""Every method importable, every claim executable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from probatum.api import Checked, check, papers

__version__ = "0.1.0"

__all__ = ["Checked", "__version__", "check", "papers"]


def __getattr__(name: str) -> Any:
    # Lazy, so that `import probatum` stays light.
    if name in ("Checked", "check", "papers"):
        from probatum import api

        return getattr(api, name)
    raise AttributeError(f"module 'probatum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
