"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["check_output", "same_file", "whole_file"]


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, which takes its place when the block ends well.

    Whoever reads `path` meanwhile, or after a kill, sees the old file or the new one.

    Raises
    ------
    OSError
        If the folder does not exist or can't be written to, or `path` is a folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "a.txt")) as draft:
    ...         _ = draft.write_text("all of it")
    ...     Path(folder, "a.txt").read_text()
    'all of it'
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder, not a file", str(path))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    draft = Path(name)
    try:
        os.chmod(draft, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths, which need not exist, lead to one file."""
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()


def check_output(
    option: str, output: Path, endings: tuple[str, ...], reads: Iterable[Path | None], what: str
) -> None:
    """Everything about a file to be written that can be wrong, before anything runs.

    Parameters
    ----------
    option : str
        How the output was given, such as ``--output``.
    output : Path
    endings : tuple of str
        Accepted ends of its name, in small letters.
    reads : iterable of Path or None
        Files that are read, which it must not overwrite.
    what : str
        What these are called, such as "the log".

    Raises
    ------
    ValueError
        If it is one of the files that are read, or its name ends otherwise.
    OSError
        If it is a folder, or lies in one that is not there or can't be written to.

    Examples
    --------
    >>> check_output("-o", Path("a.txt"), (".csv", ".json"), (), "the table")
    Traceback (most recent call last):
        ...
    ValueError: -o must end in .csv or .json, got a.txt
    """
    if any(file is not None and same_file(file, output) for file in reads):
        raise ValueError(f"{option} {output} would overwrite {what} that is read")
    if not output.name.lower().endswith(endings):
        raise ValueError(f"{option} must end in {' or '.join(endings)}, got {output}")
    if output.is_dir():
        raise IsADirectoryError(f"{option} {output} is a folder, not a file")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"{option} {output}: there is no folder {output.parent}")
    if not os.access(output.parent, os.W_OK):
        raise PermissionError(f"{option} {output}: its folder may not be written to")
