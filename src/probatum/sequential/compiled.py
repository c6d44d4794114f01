"""Compiled functions whose cache on disk follows the code.

numba keeps compiled functions on disk and forgets one when the file that it stands in changes, but
not when a function that it calls changes in another file. A number measured with stale code is
worse than a slow one, so the stamp here is a hash of all sources of both packages that a kernel
can reach: the one it stands in and this one.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

try:
    import numba
except ImportError as error:
    _missing = ImportError("needs numba: pip install 'probatum[bandits]'")
    _missing.remedy = "pip install 'probatum[bandits]'"  # type: ignore[attr-defined]
    raise _missing from error


@cache
def _stamp(folder: Path) -> str:
    """Hash of the sources of a package and of this one."""
    digest = hashlib.sha256()
    for place in (Path(__file__).parent, folder):
        for source in sorted(place.glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def kernel(function: Function) -> Function:
    """Compile a function to machine code at its first call, and keep the result on disk.

    The compiled function releases the interpreter lock, so that threads run side by side.

    Examples
    --------
    >>> @kernel
    ... def twice(x: float) -> float:
    ...     return 2 * x
    >>> twice(4.0)
    8.0
    """
    source = inspect.getsourcefile(function)
    # Division by zero gives infinity or NaN, as in NumPy: solvers fall back on their brackets.
    plain: Any = numba.njit(nogil=True, error_model="numpy")
    cached: Any = numba.njit(nogil=True, error_model="numpy", cache=True)
    if source is None or not Path(source).is_file():
        # Typed into a console: there is no place to keep it.
        return plain(function)  # type: ignore[no-any-return]
    try:
        compiled = cached(function)
    except RuntimeError:
        # Neither the package's folder nor the user's cache folder can be written to.
        return plain(function)  # type: ignore[no-any-return]
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if not hasattr(file, "_source_stamp"):
        return plain(function)  # type: ignore[no-any-return]
    file._source_stamp = _stamp(Path(source).parent)
    return compiled  # type: ignore[no-any-return]
