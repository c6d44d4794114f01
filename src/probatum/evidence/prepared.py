"""Folders that ``prepare`` fills once and all arms read: content-addressed, complete, read-only.

A folder is filled under a temporary name and renamed when it is whole, so that a killed run
leaves nothing that looks finished; what it leaves is removed by the next run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from probatum.evidence.trial import Outcome, Task, run_task

__all__ = ["Draft", "begin", "commit", "discard", "folder_for", "is_ready", "run_prepare"]

MANIFEST = ".complete"
# Formats that run code when they are read.
_UNSAFE = frozenset({".pkl", ".pickle", ".pk", ".joblib", ".dill", ".cloudpickle"})


@dataclass(frozen=True)
class Draft:
    """A folder being filled; ``lock`` is an open file whose lock says that its owner lives."""

    folder: Path
    lock: int


def folder_for(root: Path, key: str) -> Path:
    """Where the prepared files of a key lie below a store's folder.

    Examples
    --------
    >>> folder_for(Path("store"), "3f2a").as_posix()
    'store/prepared/3f2a'
    """
    if not key or key.startswith(".") or "/" in key or os.sep in key:
        raise ValueError(f"a key must be a plain file name, got {key!r}")
    return root / "prepared" / key


def is_ready(folder: Path) -> bool:
    """Whether a folder was completed and its files still have the sizes they had then."""
    try:
        files = json.loads((folder / MANIFEST).read_text())["files"]
        return all((folder / name).stat().st_size == size for name, size in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def begin(root: Path, key: str) -> Draft:
    """Open a fresh temporary folder for a key and remove those that killed runs left."""
    parent = folder_for(root, key).parent
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    while True:
        name = f".{key}-{uuid.uuid4().hex[:12]}"
        path = parent / f"{name}.lock"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Between these two lines another run may have taken it for a leftover and removed it.
        if path.exists():
            folder = parent / name
            folder.mkdir()
            return Draft(folder, lock)
        os.close(lock)


def commit(draft: Draft, final: Path) -> None:
    """Make a filled draft the final folder, or drop it where another process was first.

    Raises
    ------
    ValueError
        If it holds pickles or anything that is neither a file nor a folder; it is dropped.
    """
    try:
        files = {}
        for path in _files(draft.folder):
            files[path.relative_to(draft.folder).as_posix()] = path.stat().st_size
            path.chmod(0o444)
        manifest = draft.folder / MANIFEST
        manifest.write_text(json.dumps({"files": files}, indent=1, sort_keys=True) + "\n")
        manifest.chmod(0o444)
        _rename(draft.folder, final)
    finally:
        discard(draft)


def discard(draft: Draft) -> None:
    """Remove a draft, if it still exists, and its lock."""
    _remove(draft.folder)
    draft.folder.with_name(f"{draft.folder.name}.lock").unlink(missing_ok=True)
    os.close(draft.lock)


def run_prepare(task: Task) -> Outcome:
    """Run a ``prepare`` task so that ``task.prepared`` appears whole, or not at all."""
    final = task.prepared
    if final is None:
        raise ValueError(f"task {task.key} prepares no folder")
    if is_ready(final):
        return Outcome("ok", message="was ready")
    draft = begin(final.parent.parent, final.name)
    try:
        outcome = run_task(replace(task, prepared=draft.folder))
    except BaseException:
        discard(draft)
        raise
    if outcome.status != "ok":
        discard(draft)
        return outcome
    try:
        commit(draft, final)
    except ValueError as error:
        return replace(outcome, status="bad result", message=str(error))
    return outcome


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ValueError(f"a prepared folder holds plain files only, got {name}")
        if path.is_dir():
            continue
        if any(suffix.lower() in _UNSAFE for suffix in path.suffixes):
            raise ValueError(
                f"a prepared folder holds no pickles, got {name}: "
                "write safetensors, npz, Parquet, CSV or JSON"
            )
        yield path


def _rename(folder: Path, final: Path) -> None:
    if final.exists() and not is_ready(final):
        # Damaged since it was made, as its own name never shows a folder half made.
        aside = folder.with_name(f"{folder.name}.damaged")
        with contextlib.suppress(FileNotFoundError):
            final.rename(aside)
        _remove(aside)
    try:
        folder.rename(final)
    except OSError:
        if is_ready(final):
            return
        raise
    for path in (final, *final.rglob("*")):
        if path.is_dir():
            path.chmod(0o555)


def _sweep(parent: Path) -> None:
    """Remove the drafts whose owners died, known by locks that nobody holds."""
    for path in parent.glob(".*.lock"):
        try:
            lock = os.open(path, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path.with_suffix(""))
            path.unlink(missing_ok=True)
        except OSError:
            pass
        finally:
            os.close(lock)


def _remove(folder: Path) -> None:
    if not folder.exists():
        return
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
